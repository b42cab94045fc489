//! `with` needs a path; `item` needs `with`.
use graph_engine::State;

#[derive(State, Clone, Default)]
struct Trip {
    #[state(with)]
    a: u32,
    #[state(with = "add")]
    b: u32,
    #[state(with = |a, b| Ok(a + b))]
    c: u32,
    #[state(with = )]
    d: u32,
    #[state(item = u8)]
    e: u32,
    #[state(append, item = u8)]
    f: Vec<u8>,
    #[state(with = add, item)]
    g: u32,
    #[state(with = add, item = "u8")]
    h: u32,
}

fn add(total: &u32, item: u32) -> Result<u32, String> {
    Ok(total + item)
}

fn main() {
    let _ = Trip::update();
}
