//! E16, E17: turns that stop between two super-steps, or when their time is over, and go on as if nothing had been.

use std::future::{Future, IntoFuture, ready};
use std::time::Duration;

use behaviour_tests::{BoxNode, Runs, TestStore, Times, Trip, TripUpdate, after, note};
use futures_util::StreamExt;
use graph_engine::{
    Command, Ctx, Graph, In, MemoryStore, Mode, NodeError, NodeExt, Parallel, Retry, Route, RunError, Runner, START,
    Slow, Status, StreamOptions, TurnEnd,
};
use tokio::time::sleep;

const BOTH: [Parallel; 2] = [Parallel::Joined, Parallel::Spawned];

const fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// `a`, `b`, `c`, each 10 ms, one after another.
fn line() -> Graph<Trip> {
    Graph::<Trip>::builder("g")
        .node("a", after(10, "a"))
        .node("b", after(10, "b"))
        .node("c", after(10, "c"))
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", "c")
        .compile()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_drained_turn_finishes_its_step_and_proceed_goes_on() {
    // What ends at the moment of a signal has ended before it, so at 10 the next step begins.
    for (at, ends, log, next) in [(0, 0, 0, "a"), (5, 10, 1, "b"), (10, 20, 2, "c"), (11, 20, 2, "c"), (19, 20, 2, "c")]
    {
        let times = Times::new();
        let store = TestStore::lasting();
        let thread = line().runner().store(store.clone()).thread("t");
        let end = thread.run(Trip::update()).drain_on(sleep(millis(at))).await.unwrap();
        assert_eq!((end.status, times.now(), end.state.log.len()), (Status::Drained, ends, log), "{at}");
        assert_eq!((end.report.steps, &*end.report.pending), (log as u64, &[next.into()][..]), "{at}");
        assert_eq!(store.commits(), 1 + log, "the input and a step each, nothing more");
        assert_eq!(thread.state().await.unwrap().next, [next]);
        assert!(matches!(*thread.run(Trip::update()).await.unwrap_err(), RunError::Unfinished { .. }));
        let end = thread.proceed().await.unwrap();
        assert_eq!((end.status, times.now()), (Status::Done, 30));
        assert_eq!(end.state.log, ["a", "b", "c"]);
    }
}

#[tokio::test(start_paused = true)]
async fn in_the_last_step_nothing_is_left_and_the_turn_is_done() {
    for at in [21, 25, 30, 99] {
        let thread = line().runner().store(MemoryStore::new()).thread("t");
        let end = thread.run(Trip::update()).drain_on(sleep(millis(at))).await.unwrap();
        assert_eq!((end.status, end.state.log.len()), (Status::Done, 3), "{at}");
        assert!(matches!(*thread.proceed().await.unwrap_err(), RunError::NothingToProceed { .. }));
    }
}

#[tokio::test(start_paused = true)]
async fn before_the_start_only_the_input_is_kept() {
    let thread = line().runner().store(MemoryStore::new()).thread("t");
    let turn = thread.run(Trip::update().city("Oslo"));
    turn.control().drain();
    let end = turn.await.unwrap();
    assert_eq!((end.status, end.report.tasks, &*end.state.city), (Status::Drained, 0, "Oslo"));
    for _ in 0..2 {
        let turn = thread.proceed();
        turn.control().drain();
        assert_eq!(turn.await.unwrap().status, Status::Drained);
    }
    let end = thread.proceed().await.unwrap();
    assert_eq!((&*end.state.city, end.state.log.len(), end.report.steps), ("Oslo", 3, 3));
}

#[tokio::test(start_paused = true)]
async fn what_has_happened_before_the_start_stops_also_nodes_that_never_wait() {
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("g").node("n", runs.node("n")).edge(START, "n").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let end = thread.run(Trip::update()).drain_on(ready(())).await.unwrap();
    assert_eq!((end.status, end.report.tasks), (Status::Drained, 0));
    let end = thread.proceed().cancel_on(ready(())).await.unwrap();
    assert_eq!((end.status, end.report.attempts), (Status::Cancelled, 0));
    assert_eq!(runs.count("n"), 0);
    assert_eq!(thread.proceed().await.unwrap().state.log, ["n"]);
}

#[tokio::test(start_paused = true)]
async fn a_graph_that_has_nothing_to_do_is_done_and_not_drained() {
    #[derive(Route)]
    enum Start {
        A,
        #[route(end)]
        Stop,
    }
    let graph = Graph::<Trip>::builder("g")
        .node("a", note("a"))
        .route(START, |trip: &Trip| if trip.city.is_empty() { Start::Stop } else { Start::A })
        .compile()
        .unwrap();
    let turn = graph.runner().thread("t").run(Trip::update());
    turn.control().drain();
    assert_eq!(turn.await.unwrap().status, Status::Done);
}

#[tokio::test(start_paused = true)]
async fn a_step_that_waits_for_a_retry_is_finished_first() {
    for parallel in BOTH {
        let (runs, times) = (Runs::new(), Times::new());
        let graph = Graph::<Trip>::builder("g")
            .node("flaky", runs.failing(2, "flaky").retry(Retry::fixed(3, millis(100))))
            .node("beside", note("beside"))
            .node("then", note("then"))
            .edge(START, "flaky")
            .edge(START, "beside")
            .edge("flaky", "then")
            .compile()
            .unwrap();
        let thread = graph.runner().parallel(parallel).store(MemoryStore::new()).thread("t");
        let end = thread.run(Trip::update()).drain_on(sleep(millis(50))).await.unwrap();
        assert_eq!((end.status, times.now(), end.report.attempts), (Status::Drained, 200, 4));
        assert_eq!(end.state.log, ["beside", "flaky"]);
        assert_eq!(thread.proceed().await.unwrap().state.log, ["beside", "flaky", "then"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_that_fails_is_a_failure_and_not_drained() {
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("g")
        .node("bad", runs.failing(1, "bad"))
        .node("then", note("then"))
        .edge(START, "bad")
        .edge("bad", "then")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let turn = thread.run(Trip::update());
    let control = turn.control();
    let drain = async move {
        control.drain();
        std::future::pending::<()>().await;
    };
    // The failure of a step that was begun is told: drained is only a turn that can go on by itself.
    let ended = tokio::select! { biased; ended = turn.into_future() => ended, () = drain => unreachable!() };
    assert_eq!(ended.unwrap_err().failures().len(), 1);
    assert_eq!(thread.proceed().await.unwrap().state.log, ["bad", "then"]);
}

#[derive(Route)]
enum Each {
    Work(u64),
}

/// Sends, joins of unequal branches, deferred nodes, stays and retries; every task takes a while.
fn rich() -> Graph<Trip> {
    let split = || async {
        sleep(millis(10)).await;
        Command::<Trip, Each>::fan_out([5, 3, 7].map(Each::Work)).with(Trip::update().log(["split".to_owned()]))
    };
    let work = |In(n): In<u64>, ctx: Ctx| async move {
        sleep(millis(*n)).await;
        if *n == 3 && ctx.attempt() == 1 {
            return Err(NodeError::retryable("once"));
        }
        Ok(Trip::update().log([format!("work {n}")]).total((*n).try_into().unwrap()))
    };
    let gate = |trip: graph_engine::Snap<Trip>| {
        let again = trip.log.iter().filter(|line| *line == "draft").count() < 3;
        ready(if again { Command::<Trip, Again>::stay("again") } else { Command::declared() })
    };
    #[derive(Route)]
    #[route(stay)]
    enum Again {}
    Graph::<Trip>::builder("rich")
        .node("split", split)
        .node("work", work.retry(Retry::fixed(2, millis(2))))
        .node("left", after(10, "left"))
        .node("right", after(10, "right"))
        .node("far", after(10, "far"))
        .node("both", after(10, "both"))
        .node("last", after(10, "last").deferred())
        .cluster("stage", "draft", |c| c.node("draft", after(10, "draft")).node("gate", gate).edge("draft", "gate"))
        .edge(START, "split")
        .edge(START, "left")
        .edge(START, "right")
        .edge("right", "far")
        .join(["left", "far"], "both")
        .edge("left", "last")
        .edge("both", "draft")
        .compile()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn drained_anywhere_a_turn_ends_as_if_never_drained() {
    for parallel in BOTH {
        let graph = rich();
        let calm = graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(calm.report.stays, 2);
        let begin = tokio::time::Instant::now();
        graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap();
        let whole = u64::try_from(begin.elapsed().as_millis()).unwrap();
        for at in 0..=whole {
            let thread = graph.runner().parallel(parallel).store(TestStore::lasting()).thread("t");
            let first = thread.run(Trip::update()).drain_on(sleep(millis(at))).await.unwrap();
            let (mut end, mut steps): (TurnEnd<Trip>, u64) = (first.clone(), first.report.steps);
            while end.status == Status::Drained {
                end = thread.proceed().await.unwrap();
                steps += end.report.steps;
            }
            assert_eq!((*end.state).clone(), *calm.state, "{at} {parallel:?}");
            assert_eq!(steps, calm.report.steps, "{at}");
        }
        // At every boundary, one after another.
        let thread = graph.runner().parallel(parallel).store(TestStore::lasting()).thread("t");
        let turn = thread.run(Trip::update());
        turn.control().drain();
        let mut end = turn.await.unwrap();
        let mut steps = 0;
        while end.status == Status::Drained {
            // It is drained during the step that runs now.
            end = thread.proceed().drain_on(sleep(millis(1))).await.unwrap();
            steps += end.report.steps;
        }
        assert_eq!((&*end.state, steps), (&*calm.state, calm.report.steps));
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_store_a_drained_turn_ends_and_cannot_go_on() {
    let thread = line().runner().thread("t");
    let end = thread.run(Trip::update()).drain_on(sleep(millis(5))).await.unwrap();
    assert_eq!((end.status, &*end.state.log), (Status::Drained, &["a".to_owned()][..]));
    assert!(matches!(*thread.proceed().await.unwrap_err(), RunError::NoStore { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_controlled_from_another_task_and_clones_control_the_same_turn() {
    for parallel in BOTH {
        let thread = line().runner().parallel(parallel).store(MemoryStore::new()).thread("t");
        let turn = thread.run(Trip::update());
        let (control, other) = (turn.control(), turn.control().clone());
        let running = tokio::spawn(turn.into_future());
        sleep(millis(5)).await;
        control.drain();
        assert_eq!(running.await.unwrap().unwrap().status, Status::Drained);
        // Afterwards it controls nothing.
        other.cancel();
        let turn = thread.proceed();
        let control = turn.control();
        let running = tokio::spawn(turn.into_future());
        sleep(millis(5)).await;
        control.drain();
        control.cancel();
        let end = running.await.unwrap().unwrap();
        assert_eq!((end.status, end.state.log.len()), (Status::Cancelled, 1), "cancelled before its step was over");
        assert_eq!(thread.proceed().await.unwrap().state.log, ["a", "b", "c"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_drained_stream_says_how_it_ended() {
    let thread = line().runner().store(MemoryStore::new()).thread("t");
    let mut stream = thread.run(Trip::update()).drain_on(sleep(millis(5))).stream();
    let mut last = String::new();
    while let Some(event) = stream.next().await {
        last = event.to_string();
    }
    assert_eq!(last, "1 ended: drained");
    assert_eq!(stream.end().await.unwrap().status, Status::Drained);
}

/// A turn that ends at a deadline.
async fn deadline(
    turn: impl Future<Output = Result<TurnEnd<Trip>, graph_engine::TurnError>>,
) -> (u64, Duration, Vec<String>) {
    let failed = turn.await.unwrap_err();
    match &*failed {
        RunError::Deadline { step, limit, pending, .. } => {
            (*step, *limit, pending.iter().map(ToString::to_string).collect())
        }
        other => panic!("{other}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_the_turn_at_exactly_its_time() {
    for parallel in BOTH {
        for (at, step, next) in [(0, 0, "a"), (9, 0, "a"), (15, 1, "b"), (29, 2, "c")] {
            let times = Times::new();
            let runner = line().runner().parallel(parallel).deadline(millis(at)).store(MemoryStore::new());
            let thread = runner.thread("t");
            let found = deadline(thread.run(Trip::update()).into_future()).await;
            assert_eq!(found, (step, millis(at), vec![next.to_owned()]), "{at}");
            assert_eq!(times.now(), at);
            let end = thread.proceed().deadline(Duration::from_secs(60)).await.unwrap();
            assert_eq!(end.state.log, ["a", "b", "c"]);
        }
        for at in [31, 1_000] {
            let end = line().runner().parallel(parallel).deadline(millis(at)).thread("t").run(Trip::update()).await;
            assert_eq!(end.unwrap().status, Status::Done);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_text_of_a_deadline_says_what_to_do() {
    let runner = line().runner().deadline(millis(15));
    let failed = runner.thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!(
        failed.to_string(),
        "thread `t`, super-step 1: the turn has not ended within 15ms; unfinished: `b`; raise the limit with \
         `Runner::deadline` or `Turn::deadline`; the state of this turn is lost, because the runner has no store"
    );
    assert_eq!((failed.report.steps, &*failed.report.pending), (1, &["b".into()][..]));
    let failed = runner.store(MemoryStore::new()).thread("t").run(Trip::update()).await.unwrap_err();
    assert!(failed.to_string().ends_with("; `proceed` goes on with a new deadline"), "{failed}");
}

#[tokio::test(start_paused = true)]
async fn the_deadline_of_a_turn_beats_that_of_the_runner_in_both_directions() {
    let runner: Runner<Trip> = line().runner().deadline(millis(15));
    let times = Times::new();
    assert!(runner.thread("t").run(Trip::update()).deadline(millis(100)).await.is_ok());
    assert_eq!(times.now(), 30);
    let found = deadline(runner.thread("t").run(Trip::update()).deadline(millis(5)).into_future()).await;
    assert_eq!((found.1, times.now()), (millis(5), 35));
}

#[tokio::test(start_paused = true)]
async fn the_time_begins_with_the_turn_and_not_with_its_description() {
    let turn = line().runner().thread("t").run(Trip::update()).deadline(millis(100));
    sleep(millis(500)).await;
    let turn = turn.into_future();
    sleep(millis(500)).await;
    assert_eq!(turn.await.unwrap().status, Status::Done);
}

#[tokio::test(start_paused = true)]
async fn proceeding_has_the_whole_deadline_again() {
    let thread = line().runner().deadline(millis(15)).store(MemoryStore::new()).thread("t");
    let times = Times::new();
    assert_eq!(deadline(thread.run(Trip::update()).into_future()).await.0, 1);
    assert_eq!(deadline(thread.proceed().into_future()).await.0, 2);
    assert_eq!(thread.proceed().await.unwrap().state.log, ["a", "b", "c"]);
    assert_eq!(times.now(), 15 + 15 + 10);
}

/// `bad` fails at 10; `slow` ends at 50.
fn failing() -> Graph<Trip> {
    let bad = || -> BoxNode<Result<TripUpdate, NodeError>> {
        Box::pin(async {
            sleep(millis(10)).await;
            Err(NodeError::fatal("broken"))
        })
    };
    Graph::<Trip>::builder("g")
        .node("bad", bad)
        .node("slow", after(50, "slow"))
        .edge(START, "bad")
        .edge(START, "slow")
        .compile()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_failure_before_the_deadline_wins_and_the_rest_is_cancelled_at_its_time() {
    for parallel in BOTH {
        for (at, ends, wins) in [(5, 5, false), (20, 20, true), (49, 49, true), (60, 50, true)] {
            let times = Times::new();
            let runner = failing().runner().parallel(parallel).deadline(millis(at));
            let failed = runner.thread("t").run(Trip::update()).await.unwrap_err();
            assert_eq!(matches!(*failed, RunError::Step { .. }), wins, "{at}: {failed}");
            assert_eq!(matches!(*failed, RunError::Deadline { .. }), !wins, "{at}");
            assert_eq!(times.now(), ends);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn whichever_comes_first_of_cancel_and_deadline_is_told() {
    let run = async |cancel: u64, after: u64| {
        line().runner().deadline(millis(after)).thread("t").run(Trip::update()).cancel_on(sleep(millis(cancel))).await
    };
    assert_eq!(run(5, 8).await.unwrap().status, Status::Cancelled);
    assert!(matches!(*run(8, 5).await.unwrap_err(), RunError::Deadline { .. }));
    assert_eq!(run(5, 5).await.unwrap().status, Status::Cancelled, "of two at once somebody's wish stands");
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_does_not_hold_the_deadline_up() {
    for parallel in BOTH {
        let chatty = |ctx: Ctx| async move {
            for at in 0..100 {
                ctx.emit(at).await.unwrap();
            }
        };
        let graph = Graph::<Trip>::builder("g").node("n", chatty).edge(START, "n").compile().unwrap();
        let mut turn = graph.runner().parallel(parallel).deadline(millis(100)).thread("t").run(Trip::update());
        let reader = turn.reader(StreamOptions::default().modes([Mode::Custom]).buffer(2).slow(Slow::Block));
        let mut other = turn.reader(StreamOptions::default().modes([Mode::Custom]));
        let times = Times::new();
        assert_eq!(deadline(turn.into_future()).await.2, ["n"]);
        assert_eq!(times.now(), 100);
        assert_eq!(reader.collect::<Vec<_>>().await.len(), 2, "what had room; it was cut off");
        let mut last = String::new();
        while let Some(event) = other.next().await {
            last = event.to_string();
        }
        assert!(last.starts_with("0 ended: thread `t`, super-step 0: the turn has not ended within 100ms"), "{last}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_reaches_tasks_that_wait_for_a_retry_or_a_place() {
    for parallel in BOTH {
        let (runs, times) = (Runs::new(), Times::new());
        let graph = Graph::<Trip>::builder("g")
            .node("flaky", runs.failing(9, "flaky").retry(Retry::fixed(9, Duration::from_secs(60))))
            .node("waits", runs.slow(10, "waits"))
            .edge(START, "flaky")
            .edge(START, "waits")
            .compile()
            .unwrap();
        let runner = graph.runner().parallel(parallel).max_concurrency(1).deadline(millis(100));
        let found = deadline(runner.thread("t").run(Trip::update()).into_future()).await;
        assert_eq!((times.now(), found.2), (100, vec!["flaky".to_owned(), "waits".to_owned()]));
        assert_eq!(runs.take(), ["flaky"]);
    }
}
