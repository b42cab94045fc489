//! What is left of a child graph without a store: all that its task needs to go on within the turn, and nothing else.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use graph_engine::{
    Builder, ChildError, Ctx, Graph, IntoNode, Layer, Node, NodeError, NodeExt, NodeInfo, Outcome, Retry, RunError,
    START, State, Subgraph, Task, child,
};
use serde::{Deserialize, Serialize, Serializer};

/// A value that says how often it was written as JSON.
#[derive(Clone, Debug, Default, Deserialize)]
struct Counted(u32);

static WRITTEN: AtomicUsize = AtomicUsize::new(0);

impl Serialize for Counted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WRITTEN.fetch_add(1, Ordering::SeqCst);
        serializer.serialize_u32(self.0)
    }
}

/// An item that can't be cloned.
#[derive(Serialize, Deserialize)]
struct Once(u64);

fn add(total: &u64, item: Once) -> Result<u64, String> {
    Ok(total + item.0)
}

#[derive(State, Clone, Default, Debug)]
struct Talk {
    #[state(append)]
    log: Vec<String>,
    #[state(with = add, item = Once)]
    total: u64,
    #[state(append, transient)]
    seen: Vec<String>,
}

#[derive(State, Clone, Default, Debug)]
struct Heavy {
    value: Counted,
}

fn said(text: impl Into<String>) -> TalkUpdate {
    Talk::update().log([text.into()])
}

fn talk(name: &str) -> Builder<Talk> {
    Graph::<Talk>::builder(name)
}

fn alone<M>(name: &str, node: impl IntoNode<Talk, M>) -> Graph<Talk> {
    talk("alone").node(name, node).edge(START, name).compile().unwrap()
}

async fn run(graph: &Graph<Talk>) -> Talk {
    (*graph.runner().thread("t").run(Talk::update()).await.unwrap().state).clone()
}

/// What nodes did, in order.
#[derive(Clone, Default)]
struct Trail(Arc<Mutex<Vec<String>>>);

impl Trail {
    fn add(&self, text: &str) -> usize {
        let mut all = self.0.lock().unwrap();
        all.push(text.to_owned());
        all.iter().filter(|one| *one == text).count()
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// `first`, then `second`, which fails as often.
fn first_second(trail: &Trail, fails: usize) -> Graph<Talk> {
    let (one, two) = (trail.clone(), trail.clone());
    let first = move || {
        one.add("first");
        async { said("first") }
    };
    let second = move || {
        let failed = two.add("second") <= fails;
        async move { if failed { Err(NodeError::retryable("boom")) } else { Ok(said("second")) } }
    };
    let inner = talk("inner").node("first", first).node("second", second);
    inner.edge(START, "first").edge("first", "second").compile().unwrap()
}

fn twice() -> Retry {
    Retry::fixed(2, Duration::from_secs(1))
}

#[tokio::test]
async fn nothing_of_a_child_is_written_when_nobody_can_call_it_again() {
    let next = |heavy: graph_engine::Snap<Heavy>| async move { Heavy::update().value(Counted(heavy.value.0 + 1)) };
    let inner = Graph::<Heavy>::builder("inner").node("a", next).node("b", next).edge(START, "a").edge("a", "b");
    let inner = inner.compile().unwrap();
    let node = Subgraph::new(
        &inner,
        |_: &Talk| Heavy::update(),
        |heavy: &Heavy, written| said(format!("{} {}", heavy.value.0, written.value.unwrap().0)),
    );
    let outer = alone("child", node);
    let before = WRITTEN.load(Ordering::SeqCst);
    assert_eq!(run(&outer).await.log, ["2 2"]);
    assert_eq!(WRITTEN.load(Ordering::SeqCst), before);
    let call = move |ctx: Ctx| {
        let inner = inner.clone();
        async move { Ok::<_, NodeError>(said(ctx.call(&inner, Heavy::update()).await?.state.value.0.to_string())) }
    };
    assert_eq!(run(&alone("calls", call)).await.log, ["2"]);
    assert_eq!(WRITTEN.load(Ordering::SeqCst), before);
}

#[tokio::test]
async fn what_a_child_has_written_is_all_that_is_stored_whether_its_items_can_be_cloned_or_not() {
    let write = |ctx: Ctx| async move {
        let name = ctx.node().to_string();
        said(&name).total(Once(ctx.step() + 1)).seen([name])
    };
    let inner = talk("inner").node("a", write).node("b", write).edge(START, "a").edge("a", "b").compile().unwrap();
    let outer = talk("outer").node("x", child(&inner)).node("y", write).edge(START, "x").edge("x", "y");
    let end = run(&outer.compile().unwrap()).await;
    assert_eq!((&end.log[..], end.total), (&["a".to_owned(), "b".to_owned(), "y".to_owned()][..], 1 + 2 + 2));
    assert_eq!(end.seen, ["y"], "what lives for the turn stays in the child");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_has_ended_gives_its_result_again_when_its_node_is_tried_again() {
    let trail = Trail::default();
    let (inner, tries) = (first_second(&trail, 0), Arc::new(AtomicUsize::new(0)));
    let node = move |ctx: Ctx| {
        let (inner, broken) = (inner.clone(), tries.fetch_add(1, Ordering::SeqCst) == 0);
        async move {
            let log = ctx.call(&inner, Talk::update()).await?.state.log.join(",");
            if broken { Err(NodeError::retryable("once")) } else { Ok(said(log)) }
        }
    };
    assert_eq!(run(&alone("calls", node.retry(twice()))).await.log, ["first,second"]);
    assert_eq!(trail.take(), ["first", "second"]);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_took_too_long_goes_on_in_the_child() {
    let trail = Trail::default();
    let (one, two) = (trail.clone(), trail.clone());
    let first = move || {
        one.add("first");
        async { said("first") }
    };
    let slow = move || {
        let wait = if two.add("slow") == 1 { 60 } else { 0 };
        async move {
            tokio::time::sleep(Duration::from_secs(wait)).await;
            said("slow")
        }
    };
    let inner = talk("inner").node("first", first).node("slow", slow).edge(START, "first").edge("first", "slow");
    let node = child(&inner.compile().unwrap()).timeout(Duration::from_secs(5)).retry(twice());
    assert_eq!(run(&alone("child", node)).await.log, ["first", "slow"]);
    assert_eq!(trail.take(), ["first", "slow", "slow"]);
}

#[tokio::test(start_paused = true)]
async fn a_retry_further_out_goes_on_in_the_innermost_child() {
    let trail = Trail::default();
    let middle = alone("low", child(&first_second(&trail, 1)));
    let outer = alone("child", child(&middle).retry(twice()));
    assert_eq!(run(&outer).await.log, ["first", "second"]);
    assert_eq!(trail.take(), ["first", "second", "second"]);
}

/// Runs what it wraps a second time when it fails, or in any case.
struct Stubborn {
    inner: Arc<dyn Node<Talk>>,
    always: bool,
}

#[async_trait]
impl Node<Talk> for Stubborn {
    async fn run(&self, task: &Task<Talk>) -> Result<Outcome<Talk>, NodeError> {
        match self.inner.run(task).await {
            Ok(_) if self.always => self.inner.run(task).await,
            Err(_) => self.inner.run(task).await,
            done => done,
        }
    }

    fn describe(&self) -> NodeInfo {
        self.inner.describe()
    }
}

struct Stubbornly;

impl Layer<Talk> for Stubbornly {
    fn wrap(&self, inner: Arc<dyn Node<Talk>>) -> Arc<dyn Node<Talk>> {
        Arc::new(Stubborn { inner, always: false })
    }
}

#[tokio::test]
async fn a_layer_that_tries_again_by_itself_goes_on_in_the_child() {
    let trail = Trail::default();
    let outer = alone("child", child(&first_second(&trail, 1)).layer(Stubbornly));
    assert_eq!(run(&outer).await.log, ["first", "second"]);
    assert_eq!(trail.take(), ["first", "second", "second"]);
}

#[tokio::test]
async fn a_node_around_a_child_that_runs_it_twice_gets_the_same_result_twice() {
    let trail = Trail::default();
    let inner: Arc<dyn Node<Talk>> = Arc::new(child(&first_second(&trail, 0)));
    let outer = alone("child", Stubborn { inner, always: true });
    assert_eq!(run(&outer).await.log, ["first", "second"]);
    assert_eq!(trail.take(), ["first", "second"]);
}

#[tokio::test]
async fn a_failing_child_that_nobody_tries_again_names_its_step_and_leaves_its_sibling_alone() {
    let trail = Trail::default();
    let inner = first_second(&trail, 9);
    let slow = trail.clone();
    let sibling = move || {
        let slow = slow.clone();
        async move {
            tokio::task::yield_now().await;
            slow.add("sibling");
            said("sibling")
        }
    };
    let outer = talk("outer").node("child", child(&inner)).node("sibling", sibling);
    let outer = outer.edge(START, "child").edge(START, "sibling").compile().unwrap();
    let failed = outer.runner().thread("t").run(Talk::update()).await.unwrap_err();
    let [failure] = failed.failures() else { panic!("{failed}") };
    let error: &ChildError = failure.source.downcast_ref().unwrap();
    let RunError::Step { step, failures, .. } = &*error.error else { panic!("{error}") };
    assert_eq!((*step, &*failures[0].task.node, failures.len()), (1, "second", 1));
    assert_eq!(failed.report.children["child"].steps, 1);
    let mut trail = trail.take();
    trail.sort();
    assert_eq!(trail, ["first", "second", "sibling"]);
}

#[tokio::test]
async fn tasks_of_one_child_called_again_and_again_have_keys_of_their_own() {
    let keys = Trail::default();
    let noted = keys.clone();
    let note = move |ctx: Ctx| {
        noted.add(&ctx.idempotency_key());
        async {}
    };
    let inner =
        talk("inner").node("a", note.clone()).node("b", note).edge(START, "a").edge("a", "b").compile().unwrap();
    let node = move |ctx: Ctx| {
        let inner = inner.clone();
        async move {
            for _ in 0..2 {
                ctx.call(&inner, Talk::update()).await?;
            }
            Ok::<_, NodeError>(())
        }
    };
    let outer = talk("outer").node("x", node.clone()).node("y", node).edge(START, "x").edge(START, "y");
    run(&outer.compile().unwrap()).await;
    let mut keys = keys.take();
    assert_eq!(keys.len(), 8);
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 8, "{keys:?}");
}
