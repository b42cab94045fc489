//! Reducers that don't fit their fields.
use graph_engine::State;

#[derive(State, Clone, Default)]
struct Trip {
    #[state(with = by_value)]
    a: u32,
    #[state(with = add, item = String)]
    b: u32,
    #[state(with = sure)]
    c: u32,
    #[state(with = three)]
    d: u32,
    #[state(with = missing)]
    e: u32,
    #[state(with = odd_error)]
    f: u32,
}

struct NotAnError;

fn by_value(total: u32, item: u32) -> Result<u32, String> {
    Ok(total + item)
}

fn add(total: &u32, item: u32) -> Result<u32, String> {
    Ok(total + item)
}

fn sure(total: &u32, item: u32) -> u32 {
    total + item
}

fn three(total: &u32, item: u32, more: u32) -> Result<u32, String> {
    Ok(total + item + more)
}

fn odd_error(total: &u32, item: u32) -> Result<u32, NotAnError> {
    Ok(total + item)
}

fn main() {
    let _ = Trip::update();
}
