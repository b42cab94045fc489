//! A type that is no state.
use graph_engine::{Ctx, node};

struct Hotel;

#[node(Hotel)]
async fn explore(_: Ctx) {}

fn main() {}
