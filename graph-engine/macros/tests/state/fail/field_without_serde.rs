//! Types that a checkpoint can't hold: of a field, of an item, of a reducer's item.
use graph_engine::{Log, State};

#[derive(Clone, Default)]
struct Draft;

#[derive(Clone, Default)]
struct Note;

#[derive(Clone, Default)]
struct Step;

#[derive(State, Clone, Default)]
struct Trip {
    draft: Draft,
    #[state(append)]
    notes: Log<Note>,
    #[state(with = count, item = Step)]
    steps: u32,
}

fn count(total: &u32, _: Step) -> Result<u32, String> {
    Ok(total + 1)
}

fn main() {
    let _ = Trip::update();
}
