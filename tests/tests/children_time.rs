//! Child graphs and time: a branch finds each child as of the checkpoint from which it begins.

use std::sync::{Arc, Mutex};

use graph_engine::{CheckpointId, Ctx, Filter, Graph, MemoryStore, NodeError, START, State, Status, Subgraph, Thread};

#[derive(State, Clone, Default, Debug)]
struct Outer {
    #[state(append)]
    log: Vec<String>,
}

#[derive(State, Clone, Default, Debug)]
struct Inner {
    #[state(append)]
    log: Vec<String>,
}

/// What nodes did, in order.
#[derive(Clone, Default)]
struct Trail(Arc<Mutex<Vec<String>>>);

impl Trail {
    fn add(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn wrote(text: impl Into<String>) -> InnerUpdate {
    Inner::update().log([text.into()])
}

fn shown(graph: &Graph<Inner>) -> Subgraph<Outer, Inner> {
    Subgraph::new(graph, |_: &Outer| Inner::update(), |inner: &Inner, _| Outer::update().log([inner.log.join(",")]))
}

fn thread_of(node: Subgraph<Outer, Inner>) -> Thread<Outer> {
    let graph = Graph::<Outer>::builder("outer").node("child", node).edge(START, "child").compile().unwrap();
    graph.runner().store(MemoryStore::new()).thread("t")
}

/// A child that writes one line.
fn note(trail: &Trail) -> Graph<Inner> {
    let trail = trail.clone();
    let node = move || {
        trail.add("n");
        async { wrote("k") }
    };
    Graph::<Inner>::builder("inner").node("n", node).edge(START, "n").compile().unwrap()
}

/// Asks twice, after a node that doesn't.
fn s1_ask_ask(trail: &Trail) -> Graph<Inner> {
    let trail = trail.clone();
    let first = move || {
        trail.add("s1");
        async { wrote("s1") }
    };
    let ask = |ctx: Ctx| async move {
        let answer: String = ctx.interrupt(ctx.node().as_str())?;
        Ok::<_, NodeError>(wrote(format!("{}:{answer}", ctx.node())))
    };
    let graph = Graph::<Inner>::builder("inner").node("s1", first).node("s2", ask).node("s3", ask);
    graph.edge(START, "s1").edge("s1", "s2").edge("s2", "s3").compile().unwrap()
}

async fn head(thread: &Thread<Outer>) -> CheckpointId {
    thread.state().await.unwrap().checkpoint.unwrap()
}

/// The checkpoint of the input of the newest turn.
async fn input(thread: &Thread<Outer>) -> CheckpointId {
    let history = thread.history(&Filter::default()).await.unwrap();
    history.iter().find(|info| info.kind == graph_engine::CheckpointKind::Input).unwrap().id
}

#[tokio::test]
async fn b86_case_28_a_per_thread_child_on_a_replay_sees_its_state_as_of_that_time_and_not_later() {
    let trail = Trail::default();
    let thread = thread_of(shown(&note(&trail)).per_thread());
    thread.run(Outer::update()).await.unwrap();
    let (first_input, after_first) = (input(&thread).await, head(&thread).await);
    thread.run(Outer::update()).await.unwrap();
    let after_second = head(&thread).await;
    thread.run(Outer::update()).await.unwrap();
    assert_eq!(thread.state().await.unwrap().state.log, ["k", "k,k", "k,k,k"]);
    // The first turn again: the child has seen nothing.
    assert_eq!(thread.at(first_input).proceed().await.unwrap().state.log, ["k"]);
    // A second turn after the first.
    assert_eq!(thread.at(after_first).run(Outer::update()).await.unwrap().state.log, ["k", "k,k"]);
    // And on from that branch, and from the old one.
    assert_eq!(thread.run(Outer::update()).await.unwrap().state.log, ["k", "k,k", "k,k,k"]);
    assert_eq!(thread.at(after_second).run(Outer::update()).await.unwrap().state.log, ["k", "k,k", "k,k,k"]);
    assert_eq!(trail.take().len(), 7, "each of them ran the child");
}

#[tokio::test]
async fn b87_a_per_turn_child_on_a_replay_begins_anew() {
    let trail = Trail::default();
    let thread = thread_of(shown(&note(&trail)));
    thread.run(Outer::update()).await.unwrap();
    let before = input(&thread).await;
    assert_eq!(trail.take(), ["n"]);
    assert_eq!(thread.at(before).proceed().await.unwrap().state.log, ["k"]);
    assert_eq!(trail.take(), ["n"]);

    let thread = thread_of(shown(&s1_ask_ask(&trail)));
    thread.run(Outer::update()).await.unwrap();
    let before = input(&thread).await;
    let again = thread.at(before).proceed().await.unwrap();
    assert_eq!((again.status, again.interrupts().len()), (Status::Paused, 1));
    assert_eq!(trail.take(), ["s1", "s1"]);
}

#[tokio::test]
async fn a_resume_from_an_older_paused_checkpoint_resumes_the_child_as_of_then() {
    for per_thread in [false, true] {
        let trail = Trail::default();
        let node = if per_thread { shown(&s1_ask_ask(&trail)).per_thread() } else { shown(&s1_ask_ask(&trail)) };
        let thread = thread_of(node);
        let first = thread.run(Outer::update()).await.unwrap();
        let at_s2 = head(&thread).await;
        let second = thread.resume("A").await.unwrap();
        let at_s3 = head(&thread).await;
        assert_eq!(thread.resume("B").await.unwrap().state.log, ["s1,s2:A,s3:B"]);
        // The first question again, with another answer, by its id.
        let other = thread.at(at_s2).resume_by_id([(first.interrupts()[0].id, "X")]).await.unwrap();
        assert_eq!((other.status, &*other.interrupts()[0].node), (Status::Paused, "s3"));
        assert_eq!(thread.resume("Y").await.unwrap().state.log, ["s1,s2:X,s3:Y"]);
        // The second one of the old branch still knows its own first answer.
        let end = thread.at(at_s3).resume_by_id([(second.interrupts()[0].id, "Z")]).await.unwrap();
        assert_eq!(end.state.log, ["s1,s2:A,s3:Z"]);
        // Twice the same branch.
        let end = thread.at(at_s3).resume("W").await.unwrap();
        assert_eq!(end.state.log, ["s1,s2:A,s3:W"]);
        assert_eq!(trail.take(), ["s1"]);
    }
}

#[tokio::test]
async fn a_child_in_a_child_is_set_back_with_it() {
    let trail = Trail::default();
    let low = s1_ask_ask(&trail);
    let middle =
        Subgraph::<Inner, Inner>::new(&low, |_: &Inner| Inner::update(), |low: &Inner, _| wrote(low.log.join("+")));
    let middle = Graph::<Inner>::builder("middle").node("low", middle).edge(START, "low").compile().unwrap();
    let thread = thread_of(shown(&middle));
    thread.run(Outer::update()).await.unwrap();
    let at_s2 = head(&thread).await;
    thread.resume("A").await.unwrap();
    let at_s3 = head(&thread).await;
    assert_eq!(thread.resume("B").await.unwrap().state.log, ["s1+s2:A+s3:B"]);
    thread.at(at_s2).resume("X").await.unwrap();
    assert_eq!(thread.resume("Y").await.unwrap().state.log, ["s1+s2:X+s3:Y"]);
    assert_eq!(thread.at(at_s3).resume("Z").await.unwrap().state.log, ["s1+s2:A+s3:Z"]);
    assert_eq!(trail.take(), ["s1"]);
}

#[tokio::test]
async fn a_fork_of_a_thread_takes_its_paused_child_along_and_the_two_share_nothing() {
    let trail = Trail::default();
    let thread = thread_of(shown(&s1_ask_ask(&trail)).per_thread());
    thread.run(Outer::update()).await.unwrap();
    let other = thread.fork("what if").await.unwrap();
    other.resume("X").await.unwrap();
    assert_eq!(other.resume("Y").await.unwrap().state.log, ["s1,s2:X,s3:Y"]);
    thread.resume("A").await.unwrap();
    assert_eq!(thread.resume("B").await.unwrap().state.log, ["s1,s2:A,s3:B"]);
    assert_eq!(trail.take(), ["s1"]);
}

#[tokio::test]
async fn a_branch_whose_child_was_pruned_says_which_checkpoint_is_gone() {
    let trail = Trail::default();
    let thread = thread_of(shown(&note(&trail)).per_thread());
    thread.run(Outer::update()).await.unwrap();
    let after_first = head(&thread).await;
    thread.run(Outer::update()).await.unwrap();
    thread.at(after_first).abandon().await.unwrap();
    let other = thread.at(after_first).run(Outer::update()).await.unwrap();
    assert_eq!(other.state.log, ["k", "k,k"]);
    thread.prune(graph_engine::Keep::Last(1)).await.unwrap();
    assert_eq!(thread.run(Outer::update()).await.unwrap().state.log, ["k", "k,k", "k,k,k"]);
    let gone = thread.at(after_first).run(Outer::update()).await.unwrap_err();
    assert_eq!(gone.error.kind(), "unknown_checkpoint");
}
