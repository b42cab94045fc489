//! The state and the small nodes of most errors.

use std::fmt::Display;
use std::future::{Ready, ready};

use graph_engine::{
    Builder, Graph, Node, NodeError, NodeInfo, Outcome, Runner, Seams, State, Task, TurnError, async_trait,
};

/// One field of every merge rule, and one that can't always be stored.
#[derive(State, Clone, Default)]
pub(crate) struct Trip {
    pub(crate) city: String,
    pub(crate) price: f64,
    #[state(append)]
    pub(crate) notes: Vec<String>,
    #[state(with = add)]
    pub(crate) total: i64,
    #[state(transient)]
    pub(crate) draft: String,
}

/// A sum that refuses negative items and panics at 666.
fn add(total: &i64, item: i64) -> Result<i64, String> {
    match item {
        666 => panic!("the beast"),
        ..0 => Err(format!("{item} is negative")),
        _ => Ok(total + item),
    }
}

/// A node that does nothing.
pub(crate) async fn rest() {}

/// A node that takes a second.
pub(crate) async fn slow() {
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
}

/// A node that names the city.
pub(crate) async fn name_city() -> TripUpdate {
    Trip::update().city("Oslo")
}

/// A node that always fails.
pub(crate) fn fails(error: impl Display) -> impl Fn() -> Ready<Result<(), NodeError>> + Clone {
    let text = error.to_string();
    move || ready(Err(NodeError::fatal(text.clone())))
}

/// A node that always writes the same.
pub(crate) fn writes(update: impl Fn() -> TripUpdate) -> impl Fn() -> Ready<TripUpdate> {
    move || ready(update())
}

/// An empty description.
pub(crate) fn trip() -> Builder<Trip> {
    Graph::<Trip>::builder("trip")
}

/// A repeatable runner.
pub(crate) fn runner<S: State>(graph: Builder<S>) -> Runner<S> {
    graph.compile().expect("the graph compiles").runner().seams(Seams::default().numbered_turns().seed(7))
}

/// The error of a turn of a new thread without input.
pub(crate) async fn fail(graph: Builder<Trip>) -> TurnError {
    run(&runner(graph)).await
}

/// The same for a runner.
pub(crate) async fn run(runner: &Runner<Trip>) -> TurnError {
    error_of(runner.thread("guest-7").run(Trip::update())).await
}

/// The error that a turn must end with.
pub(crate) async fn error_of<T, E>(turn: impl IntoFuture<Output = Result<T, E>>) -> E {
    match turn.into_future().await {
        Ok(_) => panic!("the turn did not fail"),
        Err(error) => error,
    }
}

/// A hand-written node: what it says of itself, and what it gives back.
pub(crate) struct ByHand<F> {
    pub(crate) info: NodeInfo,
    pub(crate) outcome: F,
}

#[async_trait]
impl<F: Fn() -> Outcome<Trip> + Send + Sync + 'static> Node<Trip> for ByHand<F> {
    async fn run(&self, _: &Task<Trip>) -> Result<Outcome<Trip>, NodeError> {
        Ok((self.outcome)())
    }

    fn describe(&self) -> NodeInfo {
        self.info.clone()
    }
}
