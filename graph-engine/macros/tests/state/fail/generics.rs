//! A state has no parameters of any kind.
use graph_engine::State;

#[derive(State, Clone)]
struct Holds<T: Clone> {
    value: T,
}

#[derive(State, Clone)]
struct Borrows<'a> {
    value: &'a str,
}

#[derive(State, Clone)]
struct Sized<const N: usize> {
    value: u32,
}

fn main() {}
