//! Budgets: the engine never copies the state by itself; a snapshot that is kept costs exactly one copy.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use graph_engine::{
    Ctx, EventKind, Graph, In, MemoryStore, Mode, Next, Parallel, Route, RunReport, START, Snap, State, StreamOptions,
};

/// A value whose copies are counted, and refused once it is armed.
#[derive(Debug, Default)]
struct Precious {
    armed: Arc<AtomicBool>,
    copies: Arc<AtomicUsize>,
}

impl Clone for Precious {
    fn clone(&self) -> Self {
        assert!(!self.armed.load(Ordering::SeqCst), "the state was copied");
        self.copies.fetch_add(1, Ordering::SeqCst);
        Self { armed: self.armed.clone(), copies: self.copies.clone() }
    }
}

#[derive(State, Clone, Debug, Default)]
struct Guarded {
    #[state(transient)]
    precious: Precious,
    #[state(append)]
    log: Vec<u64>,
}

#[derive(Route)]
enum Loop {
    Again,
    Each(u64),
    #[route(end)]
    End,
}

/// The first node arms the state, so that no copy is possible from then on.
async fn arm(state: Snap<Guarded>) {
    state.precious.armed.store(true, Ordering::SeqCst);
}

async fn again(state: Snap<Guarded>, ctx: Ctx) -> GuardedUpdate {
    assert_eq!(state.log.len() as u64 + 1, ctx.step());
    Guarded::update().log([ctx.step()])
}

async fn each(state: Snap<Guarded>, In(item): In<u64>) -> GuardedUpdate {
    assert!(state.log.is_empty());
    Guarded::update().log([*item])
}

/// 1,000 steps, then a fan-out of 1,000.
fn graph(wide: bool) -> Graph<Guarded> {
    let next = move |state: &Guarded| match (wide, state.log.len()) {
        (true, _) => Next::fan_out((0..1_000).map(Loop::Each)),
        (false, 1_000) => Next::go(Loop::End),
        (false, _) => Next::go(Loop::Again),
    };
    Graph::<Guarded>::builder("g")
        .node("arm", arm)
        .node("again", again)
        .node("each", each)
        .edge(START, "arm")
        .route("arm", next)
        .route("again", next)
        .compile()
        .unwrap()
}

#[tokio::test]
async fn a_thousand_steps_and_a_thousand_tasks_copy_nothing() {
    for wide in [false, true] {
        for store in [false, true] {
            for parallel in [Parallel::Joined, Parallel::Spawned] {
                let runner = graph(wide).runner().step_limit(2_000).parallel(parallel);
                let runner = if store { runner.store(MemoryStore::new()) } else { runner };
                let end = runner.thread("t").run(Guarded::update()).await.unwrap();
                assert_eq!(end.report.copies, 0);
                assert_eq!(end.state.log.len(), 1_000);
                assert_eq!(end.report.tasks, 1_001);
            }
        }
    }
}

/// Three steps of `log`; `first` sees the snapshot of the first.
async fn three<M>(first: impl graph_engine::IntoNode<Guarded, M>) -> (RunReport, usize) {
    let precious = Precious::default();
    let copies = precious.copies.clone();
    let initial = Guarded { precious, log: Vec::new() };
    let log = || std::future::ready(Guarded::update().log([1]));
    let graph = Graph::starting_from("g", initial)
        .node("first", first)
        .node("second", log)
        .node("third", log)
        .edge(START, "first")
        .edge("first", "second")
        .edge("second", "third")
        .compile()
        .unwrap();
    // A transient field is set to its default at the start, so the copies of the state are counted by the report, and
    // those of the field by itself before.
    let before = copies.load(Ordering::SeqCst);
    let end = graph.runner().thread("t").run(Guarded::update()).await.unwrap();
    (end.report, copies.load(Ordering::SeqCst) - before)
}

#[tokio::test]
async fn a_kept_snapshot_costs_exactly_one_copy_and_keeps_what_it_saw() {
    let kept: Arc<Mutex<Vec<Snap<Guarded>>>> = Arc::default();
    let keep = {
        let kept = kept.clone();
        move |state: Snap<Guarded>| {
            kept.lock().unwrap().push(state);
            std::future::ready(Guarded::update().log([7]))
        }
    };
    let (report, _) = three(keep).await;
    assert_eq!((report.copies, report.steps), (1, 3));
    assert_eq!(kept.lock().unwrap()[0].log, [0_u64; 0], "the snapshot is that of its step");
}

#[tokio::test]
async fn a_snapshot_that_is_dropped_in_time_costs_nothing() {
    let drop_late = |state: Snap<Guarded>| async move {
        let other = state.clone();
        tokio::task::yield_now().await;
        assert_eq!(other.log.len(), state.log.len());
        Guarded::update().log([7])
    };
    let (report, copies) = three(drop_late).await;
    assert_eq!(report.copies, 0);
    assert_eq!(copies, 1, "only the start copies, from the graph's initial state");
}

#[tokio::test]
async fn a_context_that_is_kept_costs_nothing() {
    let kept: Arc<Mutex<Vec<Ctx>>> = Arc::default();
    let keep = {
        let kept = kept.clone();
        move |ctx: Ctx| {
            kept.lock().unwrap().push(ctx);
            std::future::ready(Guarded::update().log([7]))
        }
    };
    assert_eq!(three(keep).await.0.copies, 0);
    assert_eq!(kept.lock().unwrap()[0].node(), "first");
}

#[tokio::test]
async fn the_state_of_a_turn_that_is_kept_costs_the_next_turn_nothing_with_a_store() {
    let node = || std::future::ready(Guarded::update().log([1]));
    let graph = Graph::<Guarded>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let mut kept = Vec::new();
    for turn in 1..5 {
        let end = thread.run(Guarded::update()).await.unwrap();
        assert_eq!((end.report.copies, end.state.log.len()), (0, turn));
        kept.push(end.state);
    }
    let lengths: Vec<usize> = kept.iter().map(|state| state.log.len()).collect();
    assert_eq!(lengths, [1, 2, 3, 4]);
}

#[tokio::test]
async fn readers_of_states_cost_a_copy_for_each_step_they_keep() {
    let node = |state: Snap<Guarded>| std::future::ready(Guarded::update().log([state.log.len() as u64]));
    let graph = Graph::<Guarded>::builder("g")
        .node("again", node)
        .edge(START, "again")
        .route("again", |state: &Guarded| if state.log.len() < 10 { Plain::Again } else { Plain::End })
        .compile()
        .unwrap();
    let with = async |mode: Mode| {
        let mut turn = graph.runner().thread("t").run(Guarded::update());
        let reader = turn.reader(StreamOptions::default().modes([mode]));
        let end = turn.await.unwrap();
        let events: Vec<_> = reader.collect().await;
        let states: Vec<usize> = events
            .iter()
            .filter_map(|event| match &event.kind {
                EventKind::InputMerged { state, .. } | EventKind::StepFinished { state, .. } => {
                    state.as_ref().map(|state| state.log.len())
                }
                _ => None,
            })
            .collect();
        (end.report.copies, states)
    };
    assert_eq!(with(Mode::Nodes).await, (0, vec![]));
    // The state after the input is one too; the last one is never written again.
    assert_eq!(with(Mode::State).await, (10, (0..=10).collect::<Vec<_>>()));
}

#[derive(Route)]
enum Plain {
    Again,
    #[route(end)]
    End,
}
