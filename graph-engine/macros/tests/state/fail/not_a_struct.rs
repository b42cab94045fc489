//! What a state can't be.
use graph_engine::State;

#[derive(State, Clone)]
enum Choice {
    A,
}

#[derive(State, Clone)]
struct Pair(u32, u32);

#[derive(State, Clone)]
struct Nothing;

#[derive(State, Clone)]
struct Empty {}

#[derive(State, Clone, Copy)]
union Bits {
    a: u32,
}

fn main() {}
