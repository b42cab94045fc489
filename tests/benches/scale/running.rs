//! Turns that all wait inside a node at the same time, each in a task of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use graph_engine::{END, Graph, MemoryStore, Node, NodeError, Outcome, Runner, START, StreamOptions, Task};
use graph_engine_sqlite::{Format, Synchronous};
use tokio::sync::Semaphore;

use crate::case::{Case, Figure};
use crate::process::{Since, each, peak, resident};
use crate::talk::{id, said};
use crate::workloads::Here;
use crate::workloads::chat::Chat;
use crate::workloads::sqlite::Filed;

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for store in ["no store", "memory", "SQLite"] {
        for reader in ["", ", with a reader"] {
            let case = |size| Case::new(format!("running {store}{reader}"), size);
            cases.extend([case(10_000), case(100_000)]);
        }
    }
    cases
}

/// Waits until it is let go, as for the answer of a model.
struct Waits {
    begun: Arc<AtomicU64>,
    open: Arc<Semaphore>,
}

#[async_trait]
impl Node<Chat> for Waits {
    async fn run(&self, task: &Task<Chat>) -> Result<Outcome<Chat>, NodeError> {
        self.begun.fetch_add(1, Ordering::Relaxed);
        // It is closed rather than given places: then everybody goes on.
        drop(self.open.acquire().await);
        Ok(Outcome::of(Chat::update().n(task.state().n + 1)))
    }
}

fn waiting(begun: &Arc<AtomicU64>, open: &Arc<Semaphore>) -> Runner<Chat> {
    let node = Waits { begun: begun.clone(), open: open.clone() };
    let graph = Graph::builder("waits").node("wait", node).edge(START, "wait").edge("wait", END);
    graph.compile().expect("compiles").runner().timings(false)
}

pub(crate) fn measure(case: &Case) -> Vec<Figure> {
    let (begun, open) = (Arc::default(), Arc::new(Semaphore::new(0)));
    let runner = waiting(&begun, &open);
    let filed = case.has("SQLite").then(|| Filed::new(Synchronous::Normal, Format::Json));
    let runner = match &filed {
        Some(filed) => runner.store(filed.store.clone()),
        None if case.has("memory") => runner.store(MemoryStore::new()),
        None => runner,
    };
    Here::new().run(async {
        let mut turns = Vec::with_capacity(case.size as usize);
        let (before, since) = (resident(), Since::now());
        for i in 0..case.size {
            let mut turn = runner.thread(id(i)).run(said(i));
            if case.has("reader") {
                let events = turn.reader(StreamOptions::default());
                tokio::spawn(events.for_each(|_| std::future::ready(())));
            }
            turns.push(tokio::spawn(turn.into_future()));
        }
        while begun.load(Ordering::Relaxed) < case.size {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let bytes = each(before, case.size);
        open.close();
        for (i, turn) in turns.into_iter().enumerate() {
            assert_eq!(turn.await.expect("no panic").expect("it ends").state.n, i as u64 + 1);
        }
        let (_, cpu) = since.seconds();
        vec![
            Figure::new("resident", bytes, "bytes a turn"),
            Figure::new("CPU from start to end", cpu * 1e6 / case.size as f64, "us a turn"),
            Figure::new("process peak", peak() as f64, "bytes"),
        ]
    })
}
