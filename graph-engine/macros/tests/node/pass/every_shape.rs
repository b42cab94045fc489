//! Every kind of argument and result; the functions stay what they are.
#![deny(warnings)]
#![deny(missing_docs)]

use graph_engine::{Command, Ctx, In, IntoNode, IntoOutcome, Next, NodeError, NodeSpec, Res, Route, Snap, State, node};

#[derive(State, Clone, Default)]
struct Hotel {
    city: String,
}

#[derive(Route)]
#[route(stay)]
enum FromExplore {
    Compare,
}

trait Model: Send + Sync {
    fn ask(&self) -> String;
}

/// Any pattern of argument.
#[node(Hotel)]
async fn explore(hotel: Snap<Hotel>, In(name): In<String>, model: Res<dyn Model>, _: Ctx) -> HotelUpdate {
    Hotel::update().city(format!("{name} {} {}", hotel.city, model.ask()))
}

#[node(Hotel)]
async fn nothing() {}

#[node(Hotel)]
async fn command() -> Result<Command<Hotel, FromExplore>, NodeError> {
    Ok(Command::stay("again"))
}

#[node(Hotel)]
async fn next() -> Next<FromExplore> {
    Next::declared()
}

#[node(Hotel)]
async fn route() -> FromExplore {
    FromExplore::Compare
}

#[node(Hotel)]
async fn hidden() -> impl IntoOutcome<Hotel> {
    FromExplore::Compare
}

#[node(Hotel)]
#[cfg(any())]
async fn left_out(_: NoSuchType) {}

mod inner {
    #[graph_engine::node(super::Hotel)]
    pub(super) async fn path(_: graph_engine::Ctx) -> super::HotelUpdate {
        super::Hotel::update()
    }
}

fn is_node<M>(node: impl IntoNode<Hotel, M>) -> NodeSpec<Hotel> {
    node.into_node()
}

fn main() {
    let _ = (is_node(explore), is_node(nothing), is_node(command), is_node(next), is_node(route), is_node(inner::path));
    let _ = hidden();
    let _ = left_out;
}

/// Not that of the attribute: that one is left out.
#[allow(non_upper_case_globals)]
const left_out: () = ();
