//! Signatures that a node cannot have, all in one run.
use graph_engine::{State, node};

#[derive(State, Clone, Default)]
struct Hotel {
    city: String,
}

use graph_engine::{Ctx, FromTask};

struct Agent;

impl Agent {
    #[node(Hotel)]
    async fn explore(&self) {}
}

#[node(Hotel)]
async fn generic<T: FromTask<Hotel>>(_: T) {}

#[node(Hotel)]
async fn hidden(_: impl FromTask<Hotel>) {}

#[node(Hotel)]
async unsafe fn danger() {}

#[node(Hotel)]
async fn many(_: Ctx, _: Ctx, _: Ctx, _: Ctx, _: Ctx, _: Ctx, _: Ctx, _: Ctx, _: Ctx) {}

fn main() {}
