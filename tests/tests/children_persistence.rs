//! What is stored of child graphs, and that it fits to the checkpoint of the graph around them.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use behaviour_tests::TestStore;
use graph_engine::{
    Builder, CheckpointStore, Ctx, Durability, Filter, Graph, IntoNode, Keep, MemoryStore, Name, NodeError, NodeExt,
    Place, Runner, START, Snap, State, Status, Subgraph, Thread,
};

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

fn inner_said(text: impl Into<String>) -> InnerUpdate {
    Inner::update().log([text.into()])
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

/// `s1`, then `s2` that asks.
fn s1_s2(trail: &Trail) -> Graph<Inner> {
    let trail = trail.clone();
    let first = move || {
        trail.add("s1");
        async { inner_said("s1") }
    };
    let ask = |ctx: Ctx| async move { Ok::<_, NodeError>(inner_said(format!("s2:{}", ctx.interrupt::<String>("?")?))) };
    let graph = Graph::<Inner>::builder("inner").node("s1", first).node("s2", ask);
    graph.edge(START, "s1").edge("s1", "s2").compile().unwrap()
}

/// Shows the whole state of the child at its end.
fn shown(graph: &Graph<Inner>) -> Subgraph<Outer, Inner> {
    Subgraph::new(graph, |_: &Outer| Inner::update(), |inner: &Inner, _| Outer::update().log([inner.log.join(",")]))
}

fn outer(name: &str) -> Builder<Outer> {
    Graph::<Outer>::builder(name)
}

fn alone<M>(node: impl IntoNode<Outer, M>) -> Graph<Outer> {
    outer("outer").node("child", node).edge(START, "child").compile().unwrap()
}

async fn two_turns(node: Subgraph<Outer, Inner>) -> Vec<String> {
    let thread = alone(node).runner().store(MemoryStore::new()).thread("t");
    for answer in ["R", "R2"] {
        assert_eq!(thread.run(Outer::update()).await.unwrap().status, Status::Paused);
        assert_eq!(thread.resume(answer).await.unwrap().status, Status::Done);
    }
    thread.state().await.unwrap().state.log.clone()
}

#[tokio::test]
async fn b88_per_turn_a_second_turn_begins_anew() {
    let trail = Trail::default();
    assert_eq!(two_turns(shown(&s1_s2(&trail))).await, ["s1,s2:R", "s1,s2:R2"]);
    assert_eq!(trail.take(), ["s1", "s1"]);
}

#[tokio::test]
async fn b88_per_thread_the_state_is_kept_across_turns() {
    let trail = Trail::default();
    assert_eq!(two_turns(shown(&s1_s2(&trail)).per_thread()).await, ["s1,s2:R", "s1,s2:R,s1,s2:R2"]);
    assert_eq!(trail.take(), ["s1", "s1"]);
}

#[tokio::test]
async fn b88_not_kept_a_resume_begins_with_the_first_node_and_gives_the_same_results() {
    let trail = Trail::default();
    assert_eq!(two_turns(shown(&s1_s2(&trail)).not_kept()).await, ["s1,s2:R", "s1,s2:R2"]);
    assert_eq!(trail.take(), ["s1", "s1", "s1", "s1"]);
}

#[tokio::test]
async fn not_kept_two_questions_are_answered_one_after_the_other() {
    let ask = |ctx: Ctx| async move {
        let answer: String = ctx.interrupt(ctx.node().as_str())?;
        Ok::<_, NodeError>(inner_said(answer))
    };
    let inner = Graph::<Inner>::builder("inner").node("a", ask).node("b", ask).edge(START, "a").edge("a", "b");
    let thread = alone(shown(&inner.compile().unwrap()).not_kept()).runner().store(MemoryStore::new()).thread("t");
    thread.run(Outer::update()).await.unwrap();
    let second = thread.resume("A").await.unwrap();
    assert_eq!((second.interrupts().len(), &second.interrupts()[0].question), (1, &"b".into()));
    assert_eq!(thread.resume("B").await.unwrap().state.log, ["A,B"]);
}

#[tokio::test]
async fn calls_of_one_per_thread_child_in_one_task_keep_histories_of_their_own() {
    let note = || async { inner_said("k") };
    let inner = Graph::<Inner>::builder("inner").node("n", note).edge(START, "n").compile().unwrap();
    let node = move |ctx: Ctx| {
        let inner = inner.clone();
        async move {
            let first = ctx.call(&inner, Inner::update()).per_thread().await?.state.log.join(",");
            let second = ctx.call(&inner, Inner::update()).per_thread().await?.state.log.join(",");
            Ok::<_, NodeError>(Outer::update().log([first, second]))
        }
    };
    let thread = alone(node).runner().store(MemoryStore::new()).thread("t");
    thread.run(Outer::update()).await.unwrap();
    assert_eq!(thread.run(Outer::update()).await.unwrap().state.log, ["k", "k", "k,k", "k,k"]);
}

#[tokio::test]
async fn without_a_store_a_per_thread_child_keeps_its_state_for_the_turn() {
    let note = || async { inner_said("k") };
    let again = |outer: &Outer| if outer.log.len() < 3 { Loop::Child } else { Loop::End };
    let inner = Graph::<Inner>::builder("inner").node("n", note).edge(START, "n").compile().unwrap();
    let graph = outer("outer").node("child", shown(&inner).per_thread()).edge(START, "child").route("child", again);
    let thread = graph.compile().unwrap().runner().thread("t");
    assert_eq!(thread.run(Outer::update()).await.unwrap().state.log, ["k", "k,k", "k,k,k"]);
    assert_eq!(thread.run(Outer::update()).await.unwrap().state.log, ["k", "k,k", "k,k,k"]);
}

#[derive(graph_engine::Route)]
enum Loop {
    Child,
    #[route(end)]
    End,
}

#[derive(graph_engine::Route)]
enum Fan {
    Child(u32),
}

#[tokio::test]
async fn parallel_calls_of_one_per_thread_child_are_an_error_of_each_of_them_also_when_it_proceeds() {
    let note = || async { inner_said("k") };
    let inner = Graph::<Inner>::builder("inner").node("n", note).edge(START, "n").compile().unwrap();
    let fan = || async { graph_engine::Next::fan_out([1, 2].map(Fan::Child)) };
    let node =
        Subgraph::for_each(&inner, |_: &Outer, n: u32| inner_said(n.to_string()), |_: &Inner, _| Outer::update());
    let graph = |node| outer("outer").node("fan", fan).node("child", node).edge(START, "fan").compile().unwrap();
    let thread = graph(node.clone().per_thread()).runner().store(MemoryStore::new()).thread("t");
    for failed in [thread.run(Outer::update()).await.unwrap_err(), thread.proceed().await.unwrap_err()] {
        assert_eq!(failed.failures().len(), 2, "{failed}");
        assert!(failed.to_string().contains("several tasks of one super-step call it at `child`"), "{failed}");
    }
    assert_eq!(graph(node).runner().thread("t").run(Outer::update()).await.unwrap().status, Status::Done);
}

/// Runs the future so many polls, and drops it. What it has spawned runs between them.
async fn polls<F: Future>(future: F, count: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    for _ in 0..count {
        let polled = std::future::poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await;
        if let Poll::Ready(output) = polled {
            return Some(output);
        }
        tokio::task::yield_now().await;
    }
    None
}

/// Lets others go first, and is woken at once.
async fn pass() {
    let mut passed = false;
    std::future::poll_fn(|cx| {
        cx.waker().wake_by_ref();
        if std::mem::replace(&mut passed, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

fn steps(trail: &Trail) -> Graph<Inner> {
    let node = |name: &'static str| {
        let trail = trail.clone();
        move || {
            let trail = trail.clone();
            async move {
                // A node that was just begun is polled more than once.
                for _ in 0..6 {
                    pass().await;
                }
                trail.add(name);
                pass().await;
                inner_said(name)
            }
        }
    };
    let graph = Graph::<Inner>::builder("inner").node("a", node("a")).node("b", node("b")).node("c", node("c"));
    let graph = graph.node("d", node("d")).edge(START, "a").edge("a", "b").edge("a", "c");
    graph.join(["b", "c"], "d").compile().unwrap()
}

fn joined(runner: Runner<Outer>) -> Thread<Outer> {
    runner.parallel(graph_engine::Parallel::Joined).thread("t")
}

#[tokio::test]
async fn case_15_a_crash_at_any_moment_goes_on_in_the_child_and_finished_steps_of_it_are_not_run_again() {
    for per_thread in [false, true] {
        let (mut crashes, mut ended_alone) = (0, false);
        for count in 1..200 {
            let (trail, store) = (Trail::default(), TestStore::lasting());
            let node = if per_thread { shown(&steps(&trail)).per_thread() } else { shown(&steps(&trail)) };
            let graph = alone(node);
            // Each crash is that of a process: a new runner on the same store.
            let thread = || joined(graph.runner().store(store.clone()));
            let ended = polls(thread().run(Outer::update()).into_future(), count).await;
            let head = thread().state().await.unwrap();
            if let Some(end) = ended {
                assert_eq!(end.unwrap().state.log, ["a,b,c,d"]);
                ended_alone = true;
                break;
            }
            crashes += 1;
            let end = match (head.checkpoint, head.next.is_empty()) {
                (None, _) => thread().run(Outer::update()).await.unwrap(),
                (Some(_), false) => thread().proceed().await.unwrap(),
                (Some(_), true) => continue,
            };
            assert_eq!(end.state.log, ["a,b,c,d"], "after {count} polls");
            // Each polls' worth of work is done at most twice: what was in flight.
            let done = trail.take();
            for name in ["a", "b", "c", "d"] {
                let times = done.iter().filter(|step| *step == name).count();
                assert!((1..=2).contains(&times), "after {count} polls `{name}` ran {times} times: {done:?}");
            }
            assert!(done.len() <= 6, "after {count} polls at most one step ran again: {done:?}");
        }
        assert!(ended_alone && crashes > 8, "{crashes}");
    }
}

#[tokio::test]
async fn a_result_of_the_child_that_a_sibling_outlives_is_saved_with_where_the_child_stands() {
    let note = || async { inner_said("k") };
    let inner = Graph::<Inner>::builder("inner").node("n", note).edge(START, "n").compile().unwrap();
    let (gate, store) = (Arc::new(tokio::sync::Semaphore::new(0)), TestStore::lasting());
    let waits = {
        let gate = gate.clone();
        move || {
            let gate = gate.clone();
            async move { drop(gate.acquire().await.unwrap()) }
        }
    };
    let graph = outer("outer").node("child", shown(&inner).per_thread()).node("slow", waits);
    let graph = graph.edge(START, "child").edge(START, "slow").compile().unwrap();
    let thread = || joined(graph.runner().store(store.clone()));
    assert!(polls(thread().run(Outer::update()).into_future(), 200).await.is_none());
    assert_eq!(store.saves().len(), 2);
    gate.add_permits(9);
    assert_eq!(thread().proceed().await.unwrap().state.log, ["k"]);
    assert_eq!(thread().run(Outer::update()).await.unwrap().state.log, ["k", "k,k"]);
}

#[tokio::test(start_paused = true)]
async fn case_26_d11_a_dropped_cancelled_or_late_turn_stops_the_child_within_a_poll() {
    let trail = Trail::default();
    let told = trail.clone();
    let node = move || {
        let told = told.clone();
        async move {
            told.add("begins");
            tokio::time::sleep(std::time::Duration::from_secs(5)).await;
            told.add("ends");
        }
    };
    let inner =
        Graph::<Inner>::builder("inner").node("n", node.clone()).node("m", node).edge(START, "n").edge(START, "m");
    let thread = alone(shown(&inner.compile().unwrap())).runner().store(MemoryStore::new()).thread("t");
    let ms = std::time::Duration::from_millis;
    let began = tokio::time::Instant::now();
    let end = thread.run(Outer::update()).cancel_on(tokio::time::sleep(ms(10))).await.unwrap();
    assert_eq!((end.status, began.elapsed()), (Status::Cancelled, ms(10)));
    assert!(tokio::time::timeout(ms(10), thread.proceed().into_future()).await.is_err());
    let late = thread.proceed().deadline(ms(10)).await.unwrap_err();
    assert_eq!(late.error.kind(), "deadline");
    tokio::time::sleep(ms(60_000)).await;
    let seen = trail.take();
    assert!(seen.iter().all(|step| step == "begins") && seen.len() == 6, "{seen:?}");
    assert_eq!(thread.proceed().await.unwrap().status, Status::Done);
}

#[tokio::test(start_paused = true)]
async fn a_sibling_that_fails_and_stops_the_others_stops_a_child() {
    let trail = Trail::default();
    let told = trail.clone();
    let node = move || {
        let told = told.clone();
        async move {
            tokio::time::sleep(std::time::Duration::from_secs(5)).await;
            told.add("ends");
        }
    };
    let inner = Graph::<Inner>::builder("inner").node("n", node).edge(START, "n").compile().unwrap();
    let fail = || async {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        Err::<(), _>(NodeError::fatal("boom"))
    };
    let graph = outer("outer").siblings(graph_engine::Siblings::Cancel).node("child", shown(&inner)).node("fail", fail);
    let began = tokio::time::Instant::now();
    let graph = graph.edge(START, "child").edge(START, "fail").compile().unwrap();
    graph.runner().thread("t").run(Outer::update()).await.unwrap_err();
    assert_eq!(began.elapsed(), std::time::Duration::from_millis(1));
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    assert!(trail.take().is_empty());
}

async fn spaces(store: &dyn CheckpointStore) -> Vec<Name> {
    store.namespaces("t").await.unwrap().into_iter().filter(|name| !name.is_empty()).collect()
}

#[tokio::test]
async fn d7_a_paused_child_goes_on_after_everything_but_the_newest_checkpoint_was_pruned() {
    for per_thread in [false, true] {
        let (trail, store) = (Trail::default(), MemoryStore::new());
        let node = if per_thread { shown(&s1_s2(&trail)).per_thread() } else { shown(&s1_s2(&trail)) };
        let thread = alone(node).runner().store(store.clone()).thread("t");
        thread.run(Outer::update()).await.unwrap();
        let mut dropped = 0;
        for namespace in store.namespaces("t").await.unwrap() {
            dropped += store.prune(&Place::new("t", namespace), Keep::Last(1)).await.unwrap();
        }
        assert!(dropped >= 2, "{dropped}");
        assert_eq!(thread.resume("R").await.unwrap().state.log, ["s1,s2:R"]);
        assert_eq!(trail.take(), ["s1"]);
    }
}

#[tokio::test]
async fn what_a_call_that_never_stopped_has_stored_is_dropped_when_its_turn_ends() {
    let (trail, store) = (Trail::default(), MemoryStore::new());
    let thread = alone(shown(&steps(&trail))).runner().store(store.clone()).thread("t");
    for _ in 0..3 {
        thread.run(Outer::update()).await.unwrap();
    }
    assert_eq!(spaces(&store).await, Vec::<Name>::new());
    let thread = alone(shown(&steps(&trail)).per_thread()).runner().store(store.clone()).thread("t");
    thread.run(Outer::update()).await.unwrap();
    assert_eq!(spaces(&store).await, ["child"]);
    assert!(thread.delete().await.unwrap());
    assert_eq!(spaces(&store).await, Vec::<Name>::new());
}

#[tokio::test]
async fn a_per_thread_child_whose_task_was_taken_over_stands_where_it_stood_before() {
    let fails = Trail::default();
    let told = fails.clone();
    let break_once = move |inner: Snap<Inner>| {
        told.add("n");
        let broken = inner.log.len() == 3;
        async move { if broken { Err(NodeError::fatal("boom")) } else { Ok(inner_said("n")) } }
    };
    let note = || async { inner_said("k") };
    let inner = Graph::<Inner>::builder("inner").node("k", note).node("n", break_once).edge(START, "k").edge("k", "n");
    let rescue = |_: graph_engine::In<graph_engine::FailedTask>| async { Outer::update().log(["rescued".to_owned()]) };
    let node = shown(&inner.compile().unwrap()).per_thread().on_error("rescue");
    let graph = outer("outer").node("child", node).node("rescue", rescue).edge(START, "child").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    for _ in 0..3 {
        thread.run(Outer::update()).await.unwrap();
    }
    // The second and the third turn both begin at the end of the first one.
    assert_eq!(thread.state().await.unwrap().state.log, ["k,n", "rescued", "rescued"]);
}

#[tokio::test]
async fn every_durability_keeps_a_paused_child_and_a_kept_one() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let trail = Trail::default();
        let store = TestStore::lasting();
        let graph = alone(shown(&s1_s2(&trail)).per_thread());
        let thread = || graph.runner().store(store.clone()).durability(durability).thread("t");
        for answer in ["R", "R2"] {
            thread().run(Outer::update()).await.unwrap();
            thread().resume(answer).await.unwrap();
        }
        assert_eq!(thread().state().await.unwrap().state.log, ["s1,s2:R", "s1,s2:R,s1,s2:R2"], "{durability:?}");
        assert_eq!(trail.take(), ["s1", "s1"], "{durability:?}");
    }
}

#[tokio::test]
async fn a_child_that_pauses_twice_goes_on_twice_and_no_node_that_has_finished_runs_again() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for readers in [false, true] {
            let trail = Trail::default();
            let note = |text: &'static str| {
                let trail = trail.clone();
                move || {
                    trail.add(text);
                    async move { inner_said(text) }
                }
            };
            let ask = |ctx: Ctx| async move { Ok::<_, NodeError>(inner_said(ctx.interrupt::<String>("?")?)) };
            let inner = Graph::<Inner>::builder("inner");
            let inner = inner.node("a", note("a")).node("b", note("b")).node("c", ask).node("d", note("d"));
            let inner = inner.node("e", ask).node("f", note("f")).edge(START, "a").edge("a", "b").edge("b", "c");
            let inner = inner.edge("c", "d").edge("d", "e").edge("e", "f").compile().unwrap();
            let thread = alone(shown(&inner)).runner().store(MemoryStore::new()).durability(durability).thread("t");
            for (turn, status) in [
                (thread.run(Outer::update()), Status::Paused),
                (thread.resume("one"), Status::Paused),
                (thread.resume("two"), Status::Done),
            ] {
                let ended = match readers {
                    true => turn.stream().end().await.unwrap(),
                    false => turn.await.unwrap(),
                };
                assert_eq!(ended.status, status, "{durability:?}");
            }
            assert_eq!(thread.state().await.unwrap().state.log, ["a,b,one,d,two,f"]);
            assert_eq!(trail.take(), ["a", "b", "d", "f"], "{durability:?}");
        }
    }
}

#[tokio::test]
async fn a_child_whose_end_alone_is_stored_makes_one_checkpoint_a_call() {
    let inner = Graph::<Inner>::builder("inner").node("a", || async { inner_said("a") }).node("b", || async {});
    let inner = inner.edge(START, "a").edge("a", "b").compile().unwrap();
    for (durability, commits) in [(Durability::Exit, 2), (Durability::Sync, 6)] {
        let store = MemoryStore::new();
        let graph = alone(shown(&inner).per_thread());
        let thread = graph.runner().store(store.clone()).durability(durability).thread("t");
        for _ in 0..2 {
            thread.run(Outer::update()).await.unwrap();
        }
        let of_child = store.list(&Place::new("t", "child"), &Filter::default()).await.unwrap();
        assert_eq!(of_child.len(), commits, "{durability:?}");
        assert_eq!(thread.state().await.unwrap().state.log, ["a", "a,a"]);
    }
}

#[tokio::test]
async fn checkpoints_of_a_child_carry_the_turn_around_them() {
    let (trail, store) = (Trail::default(), MemoryStore::new());
    let thread = alone(shown(&s1_s2(&trail))).runner().store(store.clone()).thread("t");
    thread.run(Outer::update()).tag("tenant", "acme").await.unwrap();
    let turn = thread.history(&Filter::default()).await.unwrap()[0].turn.clone();
    let [namespace] = &spaces(&store).await[..] else { panic!("one child") };
    let of_child = store.list(&Place::new("t", namespace), &Filter::default()).await.unwrap();
    assert!(of_child.iter().all(|info| info.turn == turn && info.tags["tenant"] == "acme"), "{of_child:?}");
}
