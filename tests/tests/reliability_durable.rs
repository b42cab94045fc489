//! Faults of durable threads that were reported of other systems: crashes, late writes, answers for the wrong task.

use std::sync::Arc;
use std::time::Duration;

use behaviour_tests::{Runs, TestStore, Trip, TripUpdate};
use futures_util::StreamExt;
use graph_engine::{
    CheckpointKind, Ctx, Durability, EventKind, Filter, Graph, Mode, NodeError, RunError, Runner, START, Snap, Status,
    StoreError, StreamOptions, Turn,
};
use tokio::time::{Instant, sleep, timeout};

/// `a`, `b`, `c`; `c` takes so long.
fn chain(runs: &Runs, store: &TestStore, millis: u64) -> Runner<Trip> {
    let graph = Graph::<Trip>::builder("g")
        .node("a", runs.node("a"))
        .node("b", runs.node("b"))
        .node("c", runs.slow(millis, "c"))
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", "c");
    graph.compile().unwrap().runner().store(store.clone())
}

/// Lets a turn run so long, and drops it as a crash would.
async fn crash_after(millis: u64, turn: Turn<Trip>, streamed: bool) {
    let work = async {
        match streamed {
            false => drop(turn.await),
            true => {
                let mut events = turn.stream();
                while events.next().await.is_some() {}
            }
        }
    };
    assert!(timeout(Duration::from_millis(millis), work).await.is_err(), "it was over before the crash");
    // What was spawned is gone too.
    sleep(Duration::from_millis(1)).await;
}

#[tokio::test(start_paused = true)]
async fn d5_after_a_crash_finished_nodes_are_not_run_again_streamed_or_not_and_a_finished_thread_has_its_result() {
    use CheckpointKind::{Input, Pending, Step};
    for streamed in [false, true] {
        let (runs, store) = (Runs::new(), TestStore::lasting());
        crash_after(50, chain(&runs, &store, 1_000).thread("t").run(Trip::update()), streamed).await;
        assert_eq!(runs.take(), ["a", "b", "c"]);
        let after = chain(&runs, &store, 10).thread("t");
        let state = after.state().await.unwrap();
        assert_eq!(
            (&state.state.log[..], state.step, &state.next[..]),
            (&["a".into(), "b".into()][..], 2, &["c".into()][..])
        );
        let mut kinds: Vec<_> = after.history(&Filter::default()).await.unwrap().iter().map(|info| info.kind).collect();
        kinds.reverse();
        // A stream runs by itself: once nobody holds it, it ends as a cancelled turn and stores that.
        let end: &[CheckpointKind] = if streamed { &[Pending] } else { &[] };
        assert_eq!(kinds, [&[Input, Step, Step], end].concat());
        let end = after.proceed().await.unwrap();
        assert_eq!((end.status, &end.state.log[..]), (Status::Done, &["a", "b", "c"].map(String::from)[..]));
        assert_eq!(runs.take(), ["c"]);
        // A finished thread: its result is there, and there is nothing to go on with.
        let error = after.proceed().await.unwrap_err();
        assert!(matches!(&*error.error, RunError::NothingToProceed { .. }), "{error}");
        assert_eq!(after.state().await.unwrap().state.log, ["a", "b", "c"]);
        assert!(runs.take().is_empty(), "streamed: {streamed}");
    }
}

#[tokio::test]
async fn d5_a_question_of_a_streamed_turn_is_stored_and_answered_by_another_runner_that_streams() {
    let ask = |ctx: Ctx| async move { Ok::<_, NodeError>(Trip::update().log([ctx.interrupt::<String>("city?")?])) };
    let store = TestStore::lasting();
    let runner = || {
        let graph = Graph::<Trip>::builder("g").node("ask", ask).edge(START, "ask").compile().unwrap();
        graph.runner().store(store.clone())
    };
    let paused = runner().thread("t").run(Trip::update()).stream().end().await.unwrap();
    assert_eq!((paused.status, paused.interrupts().len()), (Status::Paused, 1));
    assert_eq!(runner().thread("t").state().await.unwrap().interrupts, paused.interrupts());
    let end = runner().thread("t").resume("Oslo").stream().end().await.unwrap();
    assert_eq!((end.status, &end.state.log[..]), (Status::Done, &["Oslo".to_owned()][..]));
}

#[tokio::test]
async fn d5_with_streamed_tokens_each_node_runs_once_and_the_tokens_are_those_of_the_stored_result() {
    let runs = Runs::new();
    let talk = |name: &'static str| {
        let runs = runs.clone();
        move |ctx: Ctx| {
            // The text differs from call to call, so that a second call would show.
            let call = runs.hit(name);
            async move {
                let text = format!("{name} call {call}");
                for letter in text.chars() {
                    ctx.token(letter.to_string()).await;
                }
                Trip::update().log([text])
            }
        }
    };
    let graph = Graph::<Trip>::builder("g").node("a", talk("a")).node("b", talk("b")).edge(START, "a").edge("a", "b");
    let thread = graph.compile().unwrap().runner().store(TestStore::lasting()).thread("t");
    let mut events = thread.run(Trip::update()).stream_with(StreamOptions::default().modes([Mode::Tokens]));
    let mut heard = std::collections::BTreeMap::<String, String>::new();
    while let Some(event) = events.next().await {
        if let EventKind::Token(text) = event.kind {
            heard.entry(event.node.unwrap().to_string()).or_default().push_str(&text);
        }
    }
    events.end().await.unwrap();
    let stored = thread.state().await.unwrap().state.log.clone();
    assert_eq!(stored, ["a call 0", "b call 0"]);
    assert_eq!(heard.into_values().collect::<Vec<_>>(), stored);
    assert_eq!(runs.take(), ["a", "b"]);
}

#[tokio::test]
async fn d7_of_two_pending_tasks_only_the_one_that_asked_gets_the_answer() {
    let runs = Runs::new();
    let failing = runs.clone();
    let ask = |ctx: Ctx| async move { Ok::<_, NodeError>(Trip::update().log([ctx.interrupt::<String>("a?")?])) };
    // It fails before it asks anything, then asks.
    let later = move |ctx: Ctx| {
        let run = failing.hit("b");
        async move {
            if run == 0 {
                return Err(NodeError::fatal("no line"));
            }
            Ok(Trip::update().log([ctx.interrupt::<String>("b?")?]))
        }
    };
    let graph = Graph::<Trip>::builder("g").node("a", ask).node("b", later).edge(START, "a").edge(START, "b");
    let thread = graph.compile().unwrap().runner().store(TestStore::lasting()).thread("t");
    let failed = thread.run(Trip::update()).await.unwrap_err();
    assert_eq!((failed.failures().len(), failed.report.interrupts.len()), (1, 1));
    let state = thread.state().await.unwrap();
    assert_eq!((&state.next[..], state.interrupts.len()), (&["a".into(), "b".into()][..], 1));
    let half = thread.resume("for a").await.unwrap();
    let open: Vec<_> = half.interrupts().iter().map(|open| (&*open.node, &open.question)).collect();
    assert_eq!((half.status, open), (Status::Paused, vec![("b", &"b?".into())]), "`b` hasn't seen the answer");
    assert_eq!(thread.resume("for b").await.unwrap().state.log, ["for a", "for b"]);
}

/// Counts to so many numbers, each taking 10 ms.
fn counting(store: &TestStore, until: i64, durability: Durability) -> Runner<Trip> {
    #[derive(graph_engine::Route)]
    enum Again {
        Count,
        #[route(end)]
        End,
    }
    let count = |trip: Snap<Trip>| {
        let at = trip.total;
        async move {
            sleep(Duration::from_millis(10)).await;
            Trip::update().total(1).log([at.to_string()])
        }
    };
    let more = move |trip: &Trip| if trip.total < until { Again::Count } else { Again::End };
    let graph = Graph::<Trip>::builder("g").node("count", count).edge(START, "count").route("count", more);
    graph.compile().unwrap().runner().store(store.clone()).durability(durability)
}

#[tokio::test(start_paused = true)]
async fn d7_beside_the_work_with_a_slow_first_write_the_newest_checkpoint_is_the_head() {
    for slow in [0, 1] {
        let store = TestStore::lasting();
        let thread = counting(&store, 5, Durability::Async).thread("t");
        store.slow_commit_after(slow, Duration::from_secs(1));
        let end = thread.run(Trip::update()).await.unwrap();
        let stored = thread.state().await.unwrap();
        assert_eq!((stored.step, stored.state.total), (5, 5), "commit {slow} was slow");
        assert_eq!((&*stored.state, stored.next.len()), (&*end.state, 0));
        let history = thread.history(&Filter::default()).await.unwrap();
        assert_eq!(Some(history[0].id), stored.checkpoint);
        assert!(history.is_sorted_by(|newer, older| newer.step >= older.step));
        assert!(history.windows(2).all(|pair| pair[0].parent == Some(pair[1].id)), "one after the other");
    }
}

#[tokio::test(start_paused = true)]
async fn d7_an_abort_waits_for_the_write_under_way_and_stores_what_was_merged() {
    let store = TestStore::lasting();
    let thread = counting(&store, 20, Durability::Async).thread("t");
    store.slow_commit_after(1, Duration::from_secs(1));
    let began = Instant::now();
    let end = thread.run(Trip::update()).cancel_on(sleep(Duration::from_millis(55))).await.unwrap();
    assert_eq!((end.status, end.state.total, end.report.steps), (Status::Cancelled, 5, 5));
    // The write of the first step began after 10 ms and is over at 1,010 ms.
    assert_eq!(began.elapsed(), Duration::from_millis(1_010));
    let stored = thread.state().await.unwrap();
    assert_eq!((stored.step, &*stored.state, &stored.next[..]), (5, &*end.state, &["count".into()][..]));
    let after = store.commits();
    sleep(Duration::from_secs(5)).await;
    assert_eq!(store.commits(), after, "nothing comes later");
    assert_eq!(thread.proceed().await.unwrap().state.total, 20);
}

#[tokio::test(start_paused = true)]
async fn d7_an_abort_keeps_what_had_finished_beside_the_work_while_its_checkpoint_was_slow() {
    let (runs, store) = (Runs::new(), TestStore::lasting());
    let graph = Graph::<Trip>::builder("g")
        .node("first", runs.node("first"))
        .node("fast", runs.slow(5, "fast"))
        .node("slow", runs.slow(60_000, "slow"))
        .edge(START, "first")
        .edge("first", "fast")
        .edge("first", "slow");
    let thread = graph.compile().unwrap().runner().store(store.clone()).durability(Durability::Async).thread("t");
    // The checkpoint of `first`, to which the result of `fast` belongs, takes a second.
    store.slow_commit_after(1, Duration::from_secs(1));
    let end = thread.run(Trip::update()).cancel_on(sleep(Duration::from_millis(50))).await.unwrap();
    assert_eq!((end.status, &end.state.log[..]), (Status::Cancelled, &["first".to_owned()][..]));
    let state = thread.state().await.unwrap();
    let finished: Vec<_> = state.finished.iter().map(|task| task.node.as_str()).collect();
    assert_eq!((finished, &state.next[..]), (vec!["fast"], &["slow".into()][..]));
    assert_eq!(thread.proceed().await.unwrap().state.log, ["first", "fast", "slow"]);
    assert_eq!((runs.count("first"), runs.count("fast"), runs.count("slow")), (1, 1, 2));
}

#[tokio::test(start_paused = true)]
async fn d8_the_late_write_of_a_cancelled_turn_comes_before_the_next_turn_of_the_same_process() {
    let store = TestStore::lasting();
    let thread = Arc::new(counting(&store, 3, Durability::Exit).thread("t"));
    thread.run(Trip::update()).await.unwrap();
    store.slow_commit_after(0, Duration::from_secs(1));
    let cancelled = thread.run(Trip::update().total(-3)).cancel_on(sleep(Duration::from_millis(15)));
    let cancelled = tokio::spawn(cancelled.into_future());
    sleep(Duration::from_millis(100)).await;
    // The first turn is over but for its write.
    let busy = thread.proceed().await.unwrap_err();
    assert!(matches!(&*busy.error, RunError::Busy { .. }), "{busy}");
    let first = cancelled.await.unwrap().unwrap();
    assert_eq!((first.status, first.state.total), (Status::Cancelled, 1));
    assert_eq!(thread.state().await.unwrap().state.total, 1);
    assert_eq!(thread.proceed().await.unwrap().state.log, ["0", "1", "2", "0", "1", "2"]);
}

#[tokio::test(start_paused = true)]
async fn d8_the_late_write_of_a_cancelled_turn_of_another_process_is_refused_and_what_is_newer_stays() {
    let store = TestStore::lasting();
    let (one, two) = (counting(&store, 3, Durability::Exit), counting(&store, 3, Durability::Exit));
    one.thread("t").run(Trip::update()).await.unwrap();
    store.slow_commit_after(0, Duration::from_secs(1));
    let cancelled = one.thread("t").run(Trip::update().total(-3)).cancel_on(sleep(Duration::from_millis(15)));
    let cancelled = tokio::spawn(cancelled.into_future());
    sleep(Duration::from_millis(100)).await;
    let newer = two.thread("t").run(Trip::update().total(-1)).await.unwrap();
    assert_eq!((newer.status, &newer.state.log[..]), (Status::Done, &["0", "1", "2", "2"].map(String::from)[..]));
    let late = cancelled.await.unwrap().unwrap_err();
    let RunError::Store { cause: StoreError::Conflict { thread, .. }, .. } = &*late.error else { panic!("{late}") };
    assert_eq!(thread, "t");
    let thread = one.thread("t");
    assert_eq!(*thread.state().await.unwrap().state, *newer.state);
    assert_eq!(thread.history(&Filter::default()).await.unwrap().len(), 2, "nothing of the late write is left");
}

fn input(text: &str) -> TripUpdate {
    Trip::update().log([text.to_owned()])
}

#[tokio::test(start_paused = true)]
async fn d11_a_turn_that_is_cancelled_dropped_or_left_by_its_reader_stops_within_its_next_await_and_says_so() {
    let (runs, store) = (Runs::new(), TestStore::lasting());
    let runner = chain(&runs, &store, 60_000);
    // Cancelled and waited for: it is over when the wait is, and its status says so.
    let began = Instant::now();
    let end = runner.thread("waits").run(input("in")).cancel_on(sleep(Duration::from_millis(50))).await.unwrap();
    assert_eq!((end.status, began.elapsed()), (Status::Cancelled, Duration::from_millis(50)));
    assert_eq!(runner.thread("waits").state().await.unwrap().next, ["c"]);
    // Deleted: first cancelled, because a running turn is not deleted below.
    let turn = runner.thread("gone").run(input("in"));
    let control = turn.control();
    let running = tokio::spawn(turn.into_future());
    sleep(Duration::from_millis(10)).await;
    let busy = runner.thread("gone").delete().await.unwrap_err();
    assert!(matches!(busy, RunError::Busy { .. }), "{busy}");
    control.cancel();
    assert_eq!(running.await.unwrap().unwrap().status, Status::Cancelled);
    assert!(runner.thread("gone").delete().await.unwrap());
    // A client that is gone: its stream is dropped.
    let mut events = runner.thread("left").run(input("in")).stream();
    events.next().await.unwrap();
    sleep(Duration::from_millis(10)).await;
    drop(events);
    sleep(Duration::from_millis(1)).await;
    assert_eq!(runs.count("c"), 3, "each of the three turns had begun it");
    let state = runner.thread("left").state().await.unwrap();
    assert_eq!((&state.state.log[..], &state.next[..]), (&["in", "a", "b"].map(String::from)[..], &["c".into()][..]));
    // What was stopped doesn't go on behind anybody's back.
    sleep(Duration::from_secs(600)).await;
    assert_eq!(runner.thread("left").state().await.unwrap().state.log.len(), 3);
}
