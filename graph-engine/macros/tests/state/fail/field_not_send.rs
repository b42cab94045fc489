//! Tasks run on several threads.
use std::rc::Rc;

use graph_engine::State;

#[derive(State, Clone, Default)]
struct Trip {
    #[state(transient)]
    city: Rc<u8>,
}

fn main() {
    let _ = Trip::update();
}
