//! A turn together with everything it told.

use std::future::IntoFuture;

use futures_util::StreamExt;

use crate::driver::{Event, StreamOptions, canonical_log};
use crate::run::{Turn, TurnEnd};
use crate::run_error::TurnError;
use crate::state::State;

/// Runs a turn and returns its end beside its canonical event log.
///
/// ```
/// use graph_engine::testing::run_logged;
/// use graph_engine::{Graph, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn explore() -> TripUpdate {
///     Trip::update().city("Oslo")
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip").node("explore", explore).edge(START, "explore").compile().unwrap();
/// let (end, log) = run_logged(graph.runner().thread("t").run(Trip::update())).await;
/// assert_eq!(end.unwrap().state.city, "Oslo");
/// assert_eq!(log, "0 started\n0.0 explore#1 start\n0.0 explore#1 finish, wrote `city`\n0 merged\n1 ended: done\n");
/// # });
/// ```
pub async fn run_logged<S: State>(mut turn: Turn<S>) -> (Result<TurnEnd<S>, TurnError>, String) {
    let mut reader = turn.reader(StreamOptions::default());
    let collect = async {
        let mut events: Vec<Event<S>> = Vec::new();
        while let Some(event) = reader.next().await {
            events.push(event);
        }
        events
    };
    let (end, events) = futures_util::future::join(turn.into_future(), collect).await;
    (end, canonical_log(&events))
}
