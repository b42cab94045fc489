//! Readers of a turn's events: one that sees everything, one that is slow, one that leaves.

use std::time::Duration;

use futures_util::StreamExt;
use graph_engine::{Event, EventKind, EventReader, RunError, Thread};
use tokio::time::sleep;

use super::state::Sim;

/// Reads everything; meanwhile somebody else finds the thread busy.
pub(super) async fn read_all(mut reader: EventReader<Sim>, intruder: Option<Thread<Sim>>) -> Vec<Event<Sim>> {
    let mut events = Vec::new();
    let mut intruder = intruder;
    while let Some(event) = reader.next().await {
        let started = matches!(event.kind, EventKind::NodeStarted);
        events.push(event);
        if let (true, Some(thread)) = (started, intruder.take()) {
            let refused = thread.run(Sim::update()).await;
            let busy = matches!(&refused, Err(failed) if matches!(**failed, RunError::Busy { .. }));
            assert!(busy, "I9 a thread that runs is not busy: {refused:?}");
        }
    }
    events
}

pub(super) async fn read_slowly(reader: Option<EventReader<Sim>>) -> Option<Vec<Event<Sim>>> {
    let mut reader = reader?;
    let mut events = Vec::new();
    while let Some(event) = reader.next().await {
        events.push(event);
        if events.len() > 3 {
            sleep(Duration::from_millis(2)).await;
        }
    }
    Some(events)
}

pub(super) async fn read_some(leaver: Option<(usize, EventReader<Sim>)>) -> Option<Vec<Event<Sim>>> {
    let (limit, mut reader) = leaver?;
    let mut events = Vec::new();
    while events.len() < limit
        && let Some(event) = reader.next().await
    {
        events.push(event);
    }
    Some(events)
}
