//! The server is stopped as by a crash and started again, 20 times, while graphs run.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use common::{Server, patient, server};
use graph_engine::{CheckpointKind, Filter, Graph, RunError, Runner, START, Snap, State, StoreError, Thread};
use graph_engine_postgres::PostgresStore;

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Work {
    /// What was done, in order.
    #[state(append)]
    log: Vec<String>,
    /// The last input.
    input: u64,
}

async fn first(work: Snap<Work>) -> WorkUpdate {
    Work::update().log([format!("{} first", work.input)])
}

async fn second(work: Snap<Work>) -> WorkUpdate {
    Work::update().log([format!("{} second", work.input)])
}

fn runner(store: PostgresStore) -> Runner<Work> {
    let graph = Graph::<Work>::builder("work")
        .node("first", first)
        .node("second", second)
        .edge(START, "first")
        .edge("first", "second");
    graph.compile().unwrap().runner().store(store)
}

/// What the log must be after so many turns, each applied once.
fn expected(turns: u64) -> Vec<String> {
    (0..turns).flat_map(|n| ["input", "first", "second"].map(|what| format!("{n} {what}"))).collect()
}

/// Whether a failure is one that a restart of the server may cause.
fn of_the_server(error: &RunError) -> bool {
    matches!(error, RunError::Store { cause: StoreError::Unavailable { .. }, .. })
}

/// One turn, as often as it takes until it is acknowledged as a whole. After a failure the thread is asked what is
/// stored, as a program does that was restarted.
async fn turn(thread: &Thread<Work>, n: u64) {
    let mut result = thread.run(Work::update().input(n).log([format!("{n} input")])).await;
    while let Err(failed) = result {
        assert!(of_the_server(&failed.error), "{}: turn {n}: {failed}", thread.id());
        let state = loop {
            match thread.state().await {
                Ok(state) => break state,
                Err(error) => assert!(of_the_server(&error), "{}: turn {n}: {error}", thread.id()),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        result = if !state.next.is_empty() {
            thread.proceed().await
        } else if state.state.log.last() == Some(&format!("{n} second")) {
            return;
        } else {
            assert_eq!(state.state.log, expected(n), "{}: all acknowledged turns and nothing else", thread.id());
            thread.run(Work::update().input(n).log([format!("{n} input")])).await
        };
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_that_crashes_20_times_under_load_loses_nothing_and_holds_up_nobody() {
    if server().is_none() {
        return;
    }
    let server = Arc::new(tokio::task::spawn_blocking(Server::start).await.unwrap());
    let options = patient().pool_size(4).statement_timeout(Duration::from_secs(5));
    let store = PostgresStore::connect_with(&server.url, options).await.unwrap();
    let runner = runner(store);
    let stop = Arc::new(AtomicBool::new(false));
    let done: Vec<Arc<AtomicU64>> = (0..6).map(|_| Arc::default()).collect();
    let workers: Vec<_> = (0..6)
        .map(|worker| {
            let (thread, stop, done) = (runner.thread(format!("guest-{worker}")), stop.clone(), done[worker].clone());
            tokio::spawn(async move {
                while !stop.load(Ordering::SeqCst) {
                    let n = done.load(Ordering::SeqCst);
                    turn(&thread, n).await;
                    done.store(n + 1, Ordering::SeqCst);
                }
            })
        })
        .collect();

    for crash in 0..20 {
        let before: Vec<u64> = done.iter().map(|n| n.load(Ordering::SeqCst)).collect();
        let began = Instant::now();
        // Every thread gets on after each restart: none is stuck.
        while done.iter().zip(&before).any(|(now, before)| now.load(Ordering::SeqCst) < before + 2) {
            assert!(began.elapsed() < Duration::from_secs(60), "after {crash} crashes: {before:?} {done:?}");
            assert!(!workers.iter().any(tokio::task::JoinHandle::is_finished), "a worker failed");
            tokio::time::sleep(Duration::from_millis(5 + crash)).await;
        }
        let server = server.clone();
        let restarted = tokio::task::spawn_blocking(move || {
            server.kill();
            server.again();
        });
        restarted.await.unwrap();
    }
    stop.store(true, Ordering::SeqCst);
    for worker in workers {
        tokio::time::timeout(Duration::from_secs(60), worker).await.expect("no thread is stuck").unwrap();
    }
    for (worker, done) in done.iter().enumerate() {
        let (thread, turns) = (runner.thread(format!("guest-{worker}")), done.load(Ordering::SeqCst));
        assert!(turns >= 40, "guest-{worker} made {turns} turns");
        assert_eq!(thread.state().await.unwrap().state.log, expected(turns), "guest-{worker}");
        // The input and two super-steps each, nothing twice; a turn that went on says so beside them.
        let history = thread.history(&Filter::default()).await.unwrap();
        let count = |kind| history.iter().filter(|info| info.kind == kind).count() as u64;
        assert_eq!((count(CheckpointKind::Input), count(CheckpointKind::Step)), (turns, turns * 2), "guest-{worker}");
    }
    let server = Arc::into_inner(server).expect("nobody else has it");
    tokio::task::spawn_blocking(move || drop(server)).await.unwrap();
}
