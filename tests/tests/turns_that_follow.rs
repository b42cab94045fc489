//! A plain turn leaves its parts to the next one of its runner. Nothing of the turn may be among them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use graph_engine::{Graph, MemoryStore, Node, NodeError, Outcome, Runner, START, State, Status, Task};

#[derive(State, Clone, Default, PartialEq, Debug)]
struct Count {
    n: u32,
}

struct Guest(&'static str);

#[derive(Clone, PartialEq, Debug)]
struct Told {
    thread: String,
    turn: String,
    guest: Option<&'static str>,
    step: u64,
}

/// Counts, and writes down what it is told of its turn.
#[derive(Clone, Default)]
struct Counting(Arc<Mutex<Vec<Told>>>);

#[async_trait]
impl Node<Count> for Counting {
    async fn run(&self, task: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        let ctx = task.ctx();
        let guest = task.resource::<Guest>().map(|guest| guest.0);
        let told = Told { thread: ctx.thread().to_string(), turn: ctx.turn().to_string(), guest, step: ctx.step() };
        self.0.lock().unwrap().push(told);
        if task.state().n == 7 {
            return Err(NodeError::fatal("seven"));
        }
        Ok(Outcome::of(Count::update().n(task.state().n + 1)))
    }
}

fn chain(node: &Counting) -> Runner<Count> {
    let graph = Graph::builder("count").node("a", node.clone()).node("b", node.clone());
    graph.edge(START, "a").edge("a", "b").compile().unwrap().runner()
}

#[tokio::test]
async fn a_turn_is_told_nothing_of_the_one_before() {
    let node = Counting::default();
    let runner = chain(&node);
    let first = runner.thread("first").run(Count::update()).with(Guest("Ada"));
    let control = first.control();
    let first = first.await.unwrap();
    // Whoever still has the first one's control stops nothing with it.
    control.cancel();
    let second = runner.thread("second").run(Count::update().n(4)).await.unwrap();
    assert_eq!((first.state.n, second.state.n), (2, 6));
    assert_eq!((first.status, second.status), (Status::Done, Status::Done));
    assert_eq!((first.report.steps, second.report.steps, second.report.tasks), (2, 2, 2));
    let told = node.0.lock().unwrap().clone();
    let threads: Vec<_> = told.iter().map(|told| (&*told.thread, told.guest)).collect();
    let (one, two) = (("first", Some("Ada")), ("second", None));
    assert_eq!(threads, [one, one, two, two]);
    assert_eq!(
        told.iter().map(|told| told.step).collect::<Vec<_>>(),
        [told[0].step, told[1].step, told[0].step, told[1].step]
    );
    assert_eq!(told.iter().map(|told| &told.turn).collect::<BTreeSet<_>>().len(), 2);
}

#[tokio::test]
async fn a_turn_after_one_that_failed_or_was_cancelled_or_dropped_is_like_any_other() {
    let node = Counting::default();
    let runner = chain(&node);
    let clean = || async { runner.thread("clean").run(Count::update()).await.unwrap() };
    let expected = clean().await;
    assert!(runner.thread("fails").run(Count::update().n(7)).await.is_err());
    assert_eq!(clean().await.report.tasks, expected.report.tasks);
    let cancelled = runner.thread("cancelled").run(Count::update());
    cancelled.control().cancel();
    assert_eq!(cancelled.await.unwrap().status, Status::Cancelled);
    drop(runner.thread("dropped").run(Count::update()));
    for _ in 0..20 {
        let end = clean().await;
        assert_eq!((end.state.n, end.status), (2, Status::Done));
        assert_eq!((end.report.steps, end.report.warnings), (expected.report.steps, expected.report.warnings.clone()));
    }
}

#[tokio::test]
async fn turns_at_once_share_nothing() {
    let runner = chain(&Counting::default()).store(MemoryStore::new());
    for round in 0..3_u32 {
        let turns = (0..30_u32).map(|at| {
            let runner = runner.clone();
            async move { runner.thread(format!("{round}/{at}")).run(Count::update().n(100 + at)).await.unwrap() }
        });
        let ends = futures_util::future::join_all(turns).await;
        let counts: Vec<u32> = ends.iter().map(|end| end.state.n).collect();
        assert_eq!(counts, (102..132).collect::<Vec<_>>());
    }
    assert_eq!(runner.thread("1/5").state().await.unwrap().state.n, 107);
}

/// A value whose end is a fault of the user's.
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
struct Bomb(bool);

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(!self.0, "dropped");
    }
}

#[derive(State, Clone, Default)]
struct Armed {
    bomb: Bomb,
}

#[tokio::test]
async fn a_value_that_panics_when_it_is_forgotten_does_not_panic_at_whoever_awaits_the_turn() {
    async fn arms() -> ArmedUpdate {
        Armed::update().bomb(Bomb(true))
    }
    async fn fails() -> Result<(), NodeError> {
        Err(NodeError::fatal("no"))
    }
    let graph = Graph::<Armed>::builder("armed").node("arms", arms).node("fails", fails);
    let runner = graph.edge(START, "arms").edge(START, "fails").compile().unwrap().runner();
    for _ in 0..3 {
        let error = runner.thread("t").run(Armed::update()).await.expect_err("it fails");
        assert!(error.to_string().contains("no"), "{error}");
    }
}
