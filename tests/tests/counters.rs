//! Tasks that are spawned, and polls of nodes and readers: exact on any machine.

use std::collections::HashSet;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::StreamExt;
use graph_engine::{
    EventKind, Graph, In, Mode, Next, Node, NodeError, Outcome, Parallel, Route, START, State, StreamOptions, Task,
};
use tokio::task::Id;

#[derive(State, Clone, Default)]
struct Count {
    n: u64,
    #[state(append)]
    out: Vec<u64>,
}

#[derive(Route)]
enum Each {
    Work(u64),
    #[route(end)]
    End,
}

/// The tasks in which nodes ran, other than the one that awaits the turn.
async fn spawned(parallel: Parallel, width: u64) -> usize {
    let ids: Arc<Mutex<HashSet<Id>>> = Arc::default();
    let note = {
        let ids = ids.clone();
        move || ids.lock().unwrap().extend(tokio::task::try_id())
    };
    let work = {
        let note = note.clone();
        move |In(item): In<u64>| {
            note();
            std::future::ready(Count::update().out([*item]))
        }
    };
    let source = move || {
        note();
        std::future::ready(Count::update().n(1))
    };
    let graph = Graph::<Count>::builder("g")
        .node("source", source)
        .node("work", work)
        .edge(START, "source")
        .route("source", move |_: &Count| match width {
            0 => Next::go(Each::End),
            _ => Next::fan_out((0..width).map(Each::Work)),
        })
        .compile()
        .unwrap();
    let runner = graph.runner().parallel(parallel);
    // Awaited outside of any task, so that every task that is seen was spawned by the engine.
    let end = runner.thread("t").run(Count::update()).await.unwrap();
    assert_eq!(end.state.out.len() as u64, width);
    ids.lock().unwrap().len()
}

#[test]
fn a_task_is_spawned_for_each_of_several_branches_and_for_no_single_one() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let spawned = |parallel, width| runtime.block_on(spawned(parallel, width));
    assert_eq!([0, 1, 100].map(|width| spawned(Parallel::Joined, width)), [0, 0, 0]);
    assert_eq!([0, 1, 100].map(|width| spawned(Parallel::Spawned, width)), [0, 0, 100]);
}

/// Emits, and counts how often it is polled.
struct Emits {
    events: u64,
    polls: Arc<AtomicU64>,
}

#[async_trait]
impl Node<Count> for Emits {
    async fn run(&self, task: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        let mut emit = pin!(async {
            for i in 0..self.events {
                task.ctx().emit(i).await?;
            }
            Ok(Outcome::default())
        });
        std::future::poll_fn(|context| {
            self.polls.fetch_add(1, Ordering::Relaxed);
            emit.as_mut().poll(context)
        })
        .await
    }
}

/// Polls of the node, of the stream, and events, when the stream is polled until it is over.
async fn polls(events: u64, buffer: usize) -> (u64, u64, u64) {
    let polls = Arc::new(AtomicU64::new(0));
    let node = Emits { events, polls: polls.clone() };
    let graph = Graph::<Count>::builder("g").node("emits", node).edge(START, "emits").compile().unwrap();
    let options = StreamOptions::default().modes([Mode::Custom]).buffer(buffer);
    let mut stream = graph.runner().thread("t").run(Count::update()).stream_with(options);
    let (mut polled, mut read) = (0, 0);
    loop {
        let next = std::future::poll_fn(|context| {
            polled += 1;
            stream.poll_next_unpin(context)
        });
        match next.await {
            Some(event) => read += u64::from(matches!(event.kind, EventKind::Custom(_))),
            None => break,
        }
    }
    (polls.load(Ordering::Relaxed), polled, read)
}

#[tokio::test]
async fn a_reader_is_polled_once_an_event_and_the_node_once_a_full_queue() {
    let (few, many) = (polls(1_000, 100).await, polls(3_000, 100).await);
    assert_eq!((few.2, many.2), (1_000, 3_000));
    let polls = (many.0 - few.0, many.1 - few.1);
    assert_eq!(polls, (20, 2_020), "polls of the node and of the reader for 2,000 events and a queue of 100");
}
