//! E20: new threads made of old ones, and what is dropped of their history.

use behaviour_tests::{Runs, TestStore, Trip};
use graph_engine::{
    CheckpointInfo, CheckpointKind, CheckpointStore, Commit, Filter, Graph, Keep, MemoryStore, Place, RunError, Runner,
    START, Thread, ThreadFilter,
};

fn chain(runs: &Runs) -> Runner<Trip> {
    let graph = Graph::<Trip>::builder("chain")
        .node("a", runs.node("a"))
        .node("b", runs.node("b"))
        .edge(START, "a")
        .edge("a", "b");
    graph.compile().unwrap().runner().store(MemoryStore::new())
}

async fn history(thread: &Thread<Trip>) -> Vec<CheckpointInfo> {
    thread.history(&Filter::default()).await.unwrap()
}

#[tokio::test]
async fn a_fork_has_the_whole_history_and_shares_nothing_from_then_on() {
    let thread = chain(&Runs::new()).thread("t");
    thread.run(Trip::update().log(["in"])).await.unwrap();
    let old = history(&thread).await;
    let other = thread.fork("u").await.unwrap();
    assert_eq!((other.id().as_str(), history(&other).await), ("u", old.clone()));
    other.run(Trip::update().log(["more"])).await.unwrap();
    assert_eq!(history(&thread).await, old);
    assert_eq!(other.state().await.unwrap().state.log.join(" "), "in a b more a b");
    thread.run(Trip::update().log(["own"])).await.unwrap();
    assert_eq!(other.state().await.unwrap().state.log.join(" "), "in a b more a b");
}

#[tokio::test]
async fn a_fork_of_an_unfinished_step_takes_along_what_was_finished() {
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("halves")
        .node("a", runs.node("a"))
        .node("b", runs.failing(1, "b"))
        .edge(START, "a")
        .edge(START, "b");
    let thread = graph.compile().unwrap().runner().store(TestStore::lasting()).thread("t");
    thread.run(Trip::update()).await.unwrap_err();
    let other = thread.fork("u").await.unwrap();
    assert_eq!(other.proceed().await.unwrap().state.log.join(" "), "a b");
    assert_eq!(runs.take(), ["a", "b", "b"]);
    assert_eq!(thread.state().await.unwrap().next, ["b"]);
}

#[tokio::test]
async fn a_fork_at_a_checkpoint_ends_there_and_has_only_what_led_to_it() {
    let runs = Runs::new();
    let thread = chain(&runs).thread("t");
    thread.run(Trip::update()).await.unwrap();
    let old = history(&thread).await;
    // Another branch, which the fork of the first one doesn't have.
    thread.at(old[1].id).proceed().await.unwrap();
    let other = thread.at(old[1].id).fork("u").await.unwrap();
    assert_eq!(history(&other).await, old[1..]);
    drop(runs.take());
    assert_eq!(other.proceed().await.unwrap().state.log.join(" "), "a b");
    assert_eq!(runs.take(), ["b"]);
}

#[tokio::test]
async fn a_fork_of_a_later_branch_follows_its_own_parents() {
    let thread = chain(&Runs::new()).thread("t");
    thread.run(Trip::update().city("old")).await.unwrap();
    let old = history(&thread).await;
    thread.at(old[1].id).edit(Trip::update().city("new")).in_place().await.unwrap();
    thread.proceed().await.unwrap();
    let new = history(&thread).await;
    let other = thread.at(new[0].id).fork("u").await.unwrap();
    let forked = history(&other).await;
    let kinds: Vec<_> = forked.iter().map(|info| info.kind.as_str()).collect();
    // The edit began the branch, the pending one is where `proceed` went on.
    assert_eq!(kinds, ["step", "pending", "fork", "step", "input"]);
    assert_eq!(other.state().await.unwrap().state.city, "new");
    for (at, info) in forked.iter().enumerate() {
        let (there, here) = (other.at(info.id).state().await.unwrap(), thread.at(info.id).state().await.unwrap());
        assert_eq!((&*there.state, there.next, there.step), (&*here.state, here.next, here.step), "{at}");
    }
}

#[tokio::test]
async fn a_fork_never_overwrites_a_thread_and_needs_one_to_copy() {
    let runner = chain(&Runs::new());
    let (thread, other) = (runner.thread("t"), runner.thread("u"));
    let error = thread.fork("u").await.unwrap_err();
    assert!(matches!(&error, RunError::UnknownThread { thread } if thread == "t"), "{error}");
    for thread in [&thread, &other] {
        thread.run(Trip::update().log([thread.id().to_string()])).await.unwrap();
    }
    let head = history(&thread).await[0].id;
    for error in [
        thread.fork("u").await.unwrap_err(),
        thread.fork("t").await.map(drop).err().unwrap(),
        thread.at(head).fork("u").await.unwrap_err(),
    ] {
        assert!(matches!(error, RunError::ThreadExists { .. }), "{error}");
    }
    assert_eq!(other.state().await.unwrap().state.log.join(" "), "u a b");
}

#[tokio::test]
async fn a_fork_at_a_checkpoint_takes_what_the_same_turns_stored_of_child_graphs() {
    let store = MemoryStore::new();
    let graph = Graph::<Trip>::builder("g").node("a", Runs::new().node("a")).edge(START, "a").compile().unwrap();
    let thread = graph.runner().store(store.clone()).thread("t");
    let child = Place::new("t", "child");
    let mut commits = Vec::new();
    for turn in ["first", "second"] {
        thread.run(Trip::update()).await.unwrap();
        let mut commit = Commit::default();
        commit.turn = history(&thread).await[0].turn.clone();
        commit.parent = commits.last().copied();
        commit.id = graph_engine::CheckpointId::derive("t", "child", commit.parent, turn, 0);
        commit.bytes.extend_from_slice(b"{}");
        store.commit(&child, &commit).await.unwrap();
        commits.push(commit.id);
    }
    let all = history(&thread).await;
    thread.at(all[2].id).fork("u").await.unwrap();
    let copied = |place: Place| {
        let store = store.clone();
        async move { store.list(&place, &Filter::default()).await.unwrap().iter().map(|info| info.id).collect::<Vec<_>>() }
    };
    assert_eq!(copied(Place::new("u", "child")).await, commits[..1]);
    thread.at(all[0].id).fork("v").await.unwrap();
    assert_eq!(copied(Place::new("v", "child")).await, [commits[1], commits[0]]);
    let ids: Vec<_> =
        store.threads(&ThreadFilter::default()).await.unwrap().into_iter().map(|info| info.thread).collect();
    assert_eq!(ids, ["t", "u", "v"]);
}

#[tokio::test]
async fn a_fork_that_fails_leaves_no_thread() {
    let store = TestStore::new();
    let graph = Graph::<Trip>::builder("g").node("a", Runs::new().node("a")).edge(START, "a").compile().unwrap();
    let thread = graph.runner().store(store.clone()).thread("t");
    thread.run(Trip::update()).await.unwrap();
    let head = history(&thread).await[0].id;
    store.fail_commit_after(1);
    let error = thread.at(head).fork("u").await.unwrap_err();
    assert!(matches!(error, RunError::Store { .. }), "{error}");
    let threads = store.threads(&ThreadFilter::default()).await.unwrap();
    assert_eq!(threads.iter().map(|info| info.thread.as_str()).collect::<Vec<_>>(), ["t"]);
    thread.at(head).fork("u").await.unwrap();
}

#[tokio::test]
async fn pruning_keeps_the_newest_and_the_thread_goes_on() {
    let thread = chain(&Runs::new()).thread("t");
    for text in ["one", "two"] {
        thread.run(Trip::update().log([text])).await.unwrap();
    }
    let old = history(&thread).await;
    assert_eq!(thread.prune(Keep::Last(2)).await.unwrap(), 4);
    assert_eq!(history(&thread).await, old[..2]);
    assert_eq!(thread.at(old[1].id).state().await.unwrap().state.log.join(" "), "one a b two a");
    let error = thread.at(old[2].id).state().await.unwrap_err();
    assert!(matches!(error, RunError::UnknownCheckpoint { .. }), "{error}");
    assert_eq!(thread.run(Trip::update()).await.unwrap().state.log.join(" "), "one a b two a b a b");
    // A fork of what is left stands for itself.
    let other = thread.at(old[0].id).fork("u").await.unwrap();
    assert_eq!(other.state().await.unwrap().state.log.join(" "), "one a b two a b");
}

#[tokio::test]
async fn a_thread_that_waits_goes_on_after_it_was_pruned_and_so_does_what_children_stored() {
    let store = MemoryStore::new();
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("g")
        .node("a", runs.node("a"))
        .node("b", runs.node("b"))
        .edge(START, "a")
        .edge("a", "b")
        .compile()
        .unwrap();
    let thread = graph.runner().store(store.clone()).thread("t");
    thread.run(Trip::update()).break_before("b").await.unwrap();
    let child = Place::new("t", "child");
    let mut commit = Commit::default();
    for step in 0..3 {
        commit.parent = (step > 0).then_some(commit.id);
        commit.id = graph_engine::CheckpointId::derive("t", "child", commit.parent, "turn", step);
        commit.step = step;
        store.commit(&child, &commit).await.unwrap();
    }
    // Input and step of the thread; two of the child.
    assert_eq!(thread.prune(Keep::Last(1)).await.unwrap(), 4);
    assert_eq!(store.load(&child, None).await.unwrap().unwrap().info.id, commit.id);
    assert_eq!(thread.proceed().break_before("b").await.unwrap().state.log.join(" "), "a b");
}

#[tokio::test]
async fn threads_are_listed_and_pruned_by_their_ids() {
    let runner = chain(&Runs::new());
    for id in ["acme/1", "acme/2", "other/1"] {
        runner.thread(id).run(Trip::update()).await.unwrap();
    }
    let ids = async |filter: ThreadFilter| {
        let found = runner.threads(&filter).await.unwrap();
        found.into_iter().map(|info| info.thread.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(ids(ThreadFilter::default()).await, ["acme/1", "acme/2", "other/1"]);
    assert_eq!(ids(ThreadFilter::default().prefix("acme/").after("acme/1")).await, ["acme/2"]);
    let dropped = runner.prune_all(&ThreadFilter::default().prefix("acme/"), Keep::Last(1)).await.unwrap();
    assert_eq!(dropped, 4);
    assert_eq!(runner.prune_all(&ThreadFilter::default().limit(1), Keep::Last(1)).await.unwrap(), 0);
    assert_eq!(history(&runner.thread("other/1")).await.len(), 3);
    assert_eq!(runner.prune_all(&ThreadFilter::default(), Keep::Last(2)).await.unwrap(), 1);
    assert!(runner.thread("acme/1").delete().await.unwrap());
    assert_eq!(ids(ThreadFilter::default()).await, ["acme/2", "other/1"]);
    let error = runner.graph().runner().threads(&ThreadFilter::default()).await.unwrap_err();
    assert!(matches!(error, RunError::NoStore { operation: "threads", .. }), "{error}");
}

#[tokio::test]
async fn a_fork_of_a_checkpoint_that_waits_at_a_breakpoint_waits_there_too() {
    let thread = chain(&Runs::new()).thread("t");
    thread.run(Trip::update()).break_before("b").await.unwrap();
    let head = history(&thread).await[0].clone();
    assert_eq!(head.kind, CheckpointKind::Pending);
    let other = thread.at(head.id).fork("u").await.unwrap();
    assert_eq!(other.proceed().break_before("b").await.unwrap().state.log.join(" "), "a b");
}
