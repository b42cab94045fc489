//! Policies of nodes as people know them from LangGraph: several retry policies, idle and run timeouts, error routes,
//! defaults of a graph, draining and cached results, with the values that this engine gives.

use std::future::{IntoFuture, ready};
use std::time::Duration;

use behaviour_tests::{BoxNode, Runs, TestStore, Trip, TripUpdate, after, note};
use expect_test::expect;
use futures_util::StreamExt;
use graph_engine::testing::run_logged;
use graph_engine::{
    Builder, Cache, Command, Ctx, EventKind, FailedTask, FaultKind, Graph, In, MemoryCache, MemoryStore, Mode, Next,
    NodeDefaults, NodeError, NodeExt, Retry, Route, RunError, START, Slow, Snap, Status, StreamOptions,
};
use tokio::time::{Instant, sleep};

const SECOND: Duration = Duration::from_secs(1);

fn graph() -> Builder<Trip> {
    Graph::<Trip>::builder("g")
}

fn says(what: &'static str) -> impl Fn(&NodeError) -> bool + Send + Sync + 'static {
    move |error| error.to_string().contains(what)
}

/// Fails with these texts, one an attempt, then succeeds. Gives the attempts and how long they took.
async fn retried(fails: &[&'static str], retry: Retry) -> (Result<u64, u32>, u128) {
    let fails = fails.to_vec();
    let node = move |ctx: Ctx| {
        ready(match fails.get(ctx.attempt() as usize - 1) {
            Some(text) => Err(NodeError::from(*text)),
            None => Ok(()),
        })
    };
    let graph = graph().node("n", node.retry(retry)).edge(START, "n").compile().unwrap();
    let begin = Instant::now();
    let ended = graph.runner().thread("t").run(Trip::update()).await;
    let attempts = ended.map(|end| end.report.attempts).map_err(|error| error.failures()[0].attempts);
    (attempts, begin.elapsed().as_millis())
}

#[tokio::test(start_paused = true)]
async fn of_several_retry_policies_the_first_that_accepts_the_failure_decides() {
    let policies = || {
        let busy = Retry::fixed(4, SECOND).when(says("busy"));
        let odd = Retry::fixed(2, 10 * SECOND).when(says("odd"));
        busy.or(odd).or(Retry::fixed(3, Duration::from_millis(1)).when(says("s")))
    };
    assert_eq!(retried(&["busy", "busy", "busy"], policies()).await, (Ok(4), 3_000));
    assert_eq!(retried(&["odd"], policies()).await, (Ok(2), 10_000));
    assert_eq!(retried(&["lost", "lost"], policies()).await, (Ok(3), 2));
    assert_eq!(retried(&["unknown"], policies()).await, (Err(1), 0), "nobody accepts it");
    // `busy` holds an `s` as well: the first that accepts it decides, although the last would have tried it again.
    assert_eq!(retried(&["busy"; 4], policies()).await, (Err(4), 3_000));
}

#[tokio::test(start_paused = true)]
async fn attempts_are_counted_over_all_retry_policies() {
    let policies = || Retry::fixed(3, SECOND).when(says("a")).or(Retry::fixed(2, SECOND).when(says("b")));
    assert_eq!(retried(&["a", "a"], policies()).await, (Ok(3), 2_000));
    // The second failure is the second attempt, which is all that the second policy allows.
    assert_eq!(retried(&["a", "b"], policies()).await, (Err(2), 1_000));
    assert_eq!(retried(&["b", "a"], policies()).await, (Ok(3), 2_000));
}

/// Says something every 600 ms, so often.
fn talks(times: u32, how: Sign) -> impl Fn(Ctx) -> BoxNode<TripUpdate> + Clone {
    move |ctx: Ctx| {
        Box::pin(async move {
            for _ in 0..times {
                sleep(Duration::from_millis(600)).await;
                how(ctx.clone()).await;
            }
            Trip::update().log(["talked".to_owned()])
        })
    }
}

/// A sign of life.
type Sign = fn(Ctx) -> BoxNode<()>;

const WAYS: [(&str, Sign); 3] = [
    ("heartbeat", |ctx| {
        Box::pin(async move {
            ctx.heartbeat();
        })
    }),
    ("emit", |ctx| {
        Box::pin(async move {
            ctx.emit(1).await.unwrap();
        })
    }),
    ("token", |ctx| {
        Box::pin(async move {
            ctx.token("x").await;
        })
    }),
];

#[tokio::test(start_paused = true)]
async fn emits_tokens_and_heartbeats_begin_the_idle_timeout_anew() {
    for (way, how) in WAYS {
        let talking = graph().node("n", talks(10, how).idle_timeout(SECOND)).edge(START, "n").compile().unwrap();
        let begin = Instant::now();
        let end = talking.runner().thread("t").run(Trip::update()).await;
        assert_eq!(end.unwrap().state.log, ["talked"], "{way}");
        assert_eq!(begin.elapsed().as_millis(), 6_000, "{way}");
    }
    let silent = graph().node("n", after(1_001, "n").idle_timeout(SECOND)).edge(START, "n").compile().unwrap();
    let begin = Instant::now();
    let error = silent.runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!(begin.elapsed(), SECOND);
    assert_eq!(error.failures()[0].kind, FaultKind::Idle);
    assert_eq!(
        error.failures()[0].to_string(),
        "`n` (task 0.0) failed after 1 attempt: it was silent for 1s; emit, call `Ctx::heartbeat`, or raise \
         `.idle_timeout(..)`"
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_begins_the_run_timeout_anew() {
    for (way, how) in WAYS {
        let node = talks(10, how).idle_timeout(SECOND).timeout(Duration::from_millis(2_500));
        let talking = graph().node("n", node).edge(START, "n").compile().unwrap();
        let begin = Instant::now();
        let error = talking.runner().thread("t").run(Trip::update()).await.unwrap_err();
        assert_eq!((begin.elapsed().as_millis(), error.failures()[0].kind), (2_500, FaultKind::TimedOut), "{way}");
    }
}

#[derive(Route)]
enum Work {
    Work(u64),
}

async fn work(In(millis): In<u64>) -> TripUpdate {
    sleep(Duration::from_millis(*millis)).await;
    Trip::update().log([millis.to_string()])
}

#[tokio::test(start_paused = true)]
async fn the_timeout_of_a_send_beats_that_of_its_node() {
    let sends = |within: Option<u64>, sent: [u64; 2]| {
        let graph = graph().node("work", work.timeout(SECOND)).route(START, move |_: &Trip| match within {
            Some(millis) => Next::fan_out_within(Duration::from_millis(millis), sent.map(Work::Work)),
            None => Next::fan_out(sent.map(Work::Work)),
        });
        graph.compile().unwrap().runner().store(MemoryStore::new()).thread("t")
    };
    // Longer than the node's, and shorter.
    assert_eq!(sends(Some(5_000), [2_000, 500]).run(Trip::update()).await.unwrap().state.log, ["2000", "500"]);
    let error = sends(Some(100), [50, 500]).run(Trip::update()).await.unwrap_err();
    let failed: Vec<_> = error.failures().iter().map(|failure| (failure.task.id.rank, failure.kind)).collect();
    assert_eq!(failed, [(1, FaultKind::TimedOut)]);
    assert_eq!(sends(None, [500, 900]).run(Trip::update()).await.unwrap().state.log, ["500", "900"]);
    let error = sends(None, [500, 1_500]).run(Trip::update()).await.unwrap_err();
    assert_eq!(error.failures().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_timeout_of_a_send_holds_when_the_thread_proceeds() {
    let graph = graph()
        .node("send", || ready(Next::fan_out_within(5 * SECOND, [2_000, 6_000].map(Work::Work))))
        .node("work", work.timeout(SECOND))
        .edge(START, "send")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    for _ in 0..2 {
        let at = thread.state().await.unwrap();
        let begin = Instant::now();
        let error = if at.checkpoint.is_none() { thread.run(Trip::update()).await } else { thread.proceed().await };
        assert_eq!(error.unwrap_err().failures().len(), 1);
        assert_eq!(begin.elapsed(), 5 * SECOND, "the send's own timeout");
    }
}

#[derive(Route)]
enum AfterError {
    Recovered,
}

/// Notes what it takes over and goes on to `recovered`.
async fn apologise(In(failed): In<FailedTask>) -> Command<Trip, AfterError> {
    let FailedTask { node, attempts, message, .. } = &*failed;
    let update = Trip::update().log([format!("{node} failed after {attempts} attempts: {message}")]);
    Command::go(AfterError::Recovered).with(update)
}

#[tokio::test(start_paused = true)]
async fn an_error_route_takes_over_after_all_attempts_and_may_lead_on() {
    let runs = Runs::new();
    let graph = graph()
        .node("bad", runs.failing(9, "bad").retry(Retry::fixed(3, SECOND)).on_error("apologise"))
        .node("apologise", apologise)
        .node("recovered", note("recovered"))
        .node("never", note("never"))
        .edge(START, "bad")
        .edge("bad", "never")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["bad failed after 3 attempts: no luck at run 2", "recovered"]);
    assert_eq!((end.report.steps, end.report.attempts, end.report.rescued), (3, 5, 1));
}

#[tokio::test]
async fn an_error_route_that_leads_nowhere_ends_its_branch_and_the_siblings_go_on() {
    let runs = Runs::new();
    let graph = graph()
        .node("bad", runs.failing(9, "bad").on_error("shrug"))
        .node("shrug", |In(failed): In<FailedTask>| ready(Trip::update().log([format!("shrug at {}", failed.node)])))
        .node("good", note("good"))
        .node("then", note("then"))
        .node("both", note("both"))
        .edge(START, "bad")
        .edge(START, "good")
        .edge("good", "then")
        .join(["bad", "then"], "both")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["good", "then", "shrug at bad"]);
    assert_eq!(end.report.waiting_joins[0].to_string(), "join `both` waits for `bad`", "a failure is no arrival");
}

#[tokio::test]
async fn a_failure_of_the_error_route_fails_the_turn() {
    let runs = Runs::new();
    let clumsy = {
        let runs = runs.clone();
        move |_: In<FailedTask>| ready(if runs.hit("clumsy") == 0 { Err("dropped it") } else { Ok(()) })
    };
    let graph = graph()
        .node("bad", runs.failing(1, "bad").on_error("clumsy"))
        .node("clumsy", clumsy)
        .edge(START, "bad")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let error = thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(error.failures()[0].to_string(), "`clumsy` (task 1.0) failed after 1 attempt: dropped it");
    assert_eq!(thread.state().await.unwrap().next, ["clumsy"]);
    assert_eq!(thread.proceed().await.unwrap().status, Status::Done);
    assert_eq!((runs.count("bad"), runs.count("clumsy")), (1, 2), "what was taken over isn't run again");
}

#[tokio::test(start_paused = true)]
async fn what_an_error_route_was_given_survives_a_crash() {
    let runs = Runs::new();
    let slow_handler = {
        let runs = runs.clone();
        move |In(failed): In<FailedTask>| -> BoxNode<Result<TripUpdate, NodeError>> {
            let run = runs.hit("handler");
            Box::pin(async move {
                sleep(if run == 0 { 60 * SECOND } else { SECOND }).await;
                let number = failed.payload::<u64>()?;
                Ok(Trip::update().log([format!("{} of {number:?}, {:?}", failed.message, failed.kind)]))
            })
        }
    };
    let fails = |In(n): In<u64>| ready(Err::<(), _>(format!("can't do {n}")));
    let graph = graph()
        .node("work", fails.on_error("handler"))
        .node("handler", slow_handler)
        .route(START, |_: &Trip| Next::fan_out([7].map(Work::Work)))
        .compile()
        .unwrap();
    let store = TestStore::lasting();
    let dropped =
        tokio::time::timeout(SECOND, graph.runner().store(store.clone()).thread("t").run(Trip::update()).into_future());
    assert!(dropped.await.is_err(), "the process ends while the handler runs");
    let thread = graph.runner().store(store).thread("t");
    assert_eq!(thread.state().await.unwrap().next, ["handler"]);
    assert_eq!(thread.proceed().await.unwrap().state.log, ["can't do 7 of Some(7), Retryable"]);
}

#[tokio::test(start_paused = true)]
async fn a_policy_of_a_node_beats_the_default_of_its_graph() {
    let runs = Runs::new();
    let defaults = NodeDefaults::new().retry(Retry::fixed(3, SECOND)).timeout(SECOND).on_error("default");
    let graph = graph()
        .defaults(defaults)
        .node("plain", runs.failing(9, "plain"))
        .node("own", runs.failing(9, "own").retry(Retry::fixed(2, SECOND)).on_error("special"))
        .node("long", after(2_000, "long").timeout(3 * SECOND))
        .node("late", after(2_000, "late").retry(Retry::fixed(1, SECOND)))
        .node("default", |In(failed): In<FailedTask>| ready(Trip::update().log([format!("default: {}", failed.node)])))
        .node("special", |In(failed): In<FailedTask>| ready(Trip::update().log([format!("special: {}", failed.node)])))
        .edge(START, "plain")
        .edge(START, "own")
        .edge(START, "long")
        .edge(START, "late")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["long", "default: late", "special: own", "default: plain"]);
    assert_eq!((runs.count("plain"), runs.count("own")), (3, 2));
}

fn chain(runs: &Runs) -> graph_engine::Runner<Trip> {
    graph()
        .node("a", runs.slow(100, "a"))
        .node("b", runs.slow(100, "b"))
        .edge(START, "a")
        .edge("a", "b")
        .compile()
        .unwrap()
        .runner()
        .store(MemoryStore::new())
}

#[tokio::test(start_paused = true)]
async fn a_drained_turn_finishes_its_step_names_what_is_next_and_proceeds() {
    let runs = Runs::new();
    let thread = chain(&runs).thread("t");
    let end = thread.run(Trip::update()).drain_on(sleep(Duration::from_millis(50))).await.unwrap();
    assert_eq!((end.status, &end.state.log[..], end.report.steps), (Status::Drained, &["a".to_owned()][..], 1));
    assert_eq!(end.report.pending, ["b"]);
    assert_eq!(thread.state().await.unwrap().next, ["b"]);
    assert!(matches!(&*thread.run(Trip::update()).await.unwrap_err().error, RunError::Unfinished { .. }));
    let end = thread.proceed().await.unwrap();
    assert_eq!((end.status, end.state.log.len(), runs.count("a")), (Status::Done, 2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_drained_in_its_last_step_ends_as_done() {
    let thread = chain(&Runs::new()).thread("t");
    let end = thread.run(Trip::update()).drain_on(sleep(Duration::from_millis(150))).await.unwrap();
    assert_eq!((end.status, end.state.log.len()), (Status::Done, 2));
}

#[tokio::test(start_paused = true)]
async fn a_drain_waits_for_retries_of_the_running_step() {
    let runs = Runs::new();
    let graph = graph()
        .node("a", runs.failing(2, "a").retry(Retry::fixed(3, SECOND)))
        .node("b", runs.node("b"))
        .edge(START, "a")
        .edge("a", "b")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let end = thread.run(Trip::update()).drain_on(sleep(Duration::from_millis(500))).await.unwrap();
    assert_eq!((end.status, runs.count("a"), runs.count("b")), (Status::Drained, 3, 0));
    assert_eq!(thread.proceed().await.unwrap().state.log, ["a", "b"]);
}

/// `n` writes how often it ran, cached by the city for ten seconds; `next` follows.
fn cached(runs: &Runs) -> Builder<Trip> {
    let runs = runs.clone();
    let node = move |trip: Snap<Trip>| {
        let run = runs.hit("n");
        ready(Trip::update().log([format!("{} run {run}", trip.city)]).total(1))
    };
    graph()
        .node("n", node.cache(Cache::by(|trip: &Trip| trip.city.clone()).ttl(10 * SECOND)))
        .node("next", note("next"))
        .edge(START, "n")
        .edge("n", "next")
}

#[tokio::test(start_paused = true)]
async fn a_cached_result_is_taken_without_running_the_node_until_its_time_is_over() {
    let runs = Runs::new();
    let runner = cached(&runs).compile().unwrap().runner();
    let run = async |city: &str| runner.thread("t").run(Trip::update().city(city)).await.unwrap();
    assert_eq!(run("Oslo").await.state.log, ["Oslo run 0", "next"]);
    sleep(9 * SECOND).await;
    let hit = run("Oslo").await;
    assert_eq!((&hit.state.log[..], hit.state.total), (&["Oslo run 0".to_owned(), "next".to_owned()][..], 1));
    assert_eq!((hit.report.cached, hit.report.attempts, hit.report.tasks), (1, 1, 2));
    assert_eq!(run("Bergen").await.state.log[0], "Bergen run 1", "another key");
    sleep(SECOND).await;
    assert_eq!(run("Oslo").await.state.log[0], "Oslo run 2", "ten seconds are over");
    runner.clear_cache(Some("n")).await.unwrap();
    assert_eq!(run("Oslo").await.state.log[0], "Oslo run 3", "forgotten");
}

#[tokio::test]
async fn a_cached_result_is_told_as_such_and_leads_where_the_node_would() {
    let runner = cached(&Runs::new()).compile().unwrap().runner();
    runner.thread("t").run(Trip::update().city("Oslo")).await.unwrap();
    let (_, log) = run_logged(runner.thread("t").run(Trip::update().city("Oslo"))).await;
    expect![[r#"
        0 started
        0.0 n#1 finish, cached, wrote `log`, `total`
        0 merged, next `next`
        1.0 next#1 start
        1.0 next#1 finish, wrote `log`
        1 merged
        2 ended: done
    "#]]
    .assert_eq(&log);
}

#[tokio::test(start_paused = true)]
async fn a_cached_result_beside_a_slow_sibling_is_not_saved_once_more() {
    let runs = Runs::new();
    let graph = cached(&runs).node("slow", after(100, "slow")).edge(START, "slow").compile().unwrap();
    let (store, cache) = (TestStore::lasting(), std::sync::Arc::new(MemoryCache::new(10)));
    let runner = graph.runner().store(store.clone()).cache_arc(cache.clone());
    let saves = async |thread: &str| {
        let before = (store.saves().len(), store.commits());
        runner.thread(thread).run(Trip::update().city("Oslo")).await.unwrap();
        (store.saves().len() - before.0, store.commits() - before.1)
    };
    assert_eq!(saves("one").await, (1, 3));
    assert_eq!(saves("two").await, (0, 3));
    assert_eq!((runs.count("n"), cache.len()), (1, 1));
}

#[tokio::test]
async fn failures_are_not_cached() {
    let runs = Runs::new();
    let node = runs.failing(1, "n").cache(Cache::by(|_: &Trip| 1));
    let graph = graph().node("n", node).edge(START, "n").compile().unwrap();
    let runner = graph.runner();
    runner.thread("t").run(Trip::update()).await.unwrap_err();
    for _ in 0..3 {
        assert_eq!(runner.thread("t").run(Trip::update()).await.unwrap().state.log, ["n"]);
    }
    assert_eq!(runs.count("n"), 2);
}

#[tokio::test]
async fn the_result_of_a_sent_task_is_cached_by_its_payload() {
    let runs = Runs::new();
    let work = {
        let runs = runs.clone();
        move |In(n): In<u64>| {
            runs.hit("work");
            ready(Trip::update().log([n.to_string()]))
        }
    };
    let graph = graph()
        .node("work", work.cache(Cache::by_payload::<u64>()).limit(1))
        .route(START, |_: &Trip| Next::fan_out([3, 1, 3].map(Work::Work)))
        .compile()
        .unwrap();
    let runner = graph.runner();
    // Tasks of one step don't find each other's results: it would depend on who is first.
    for runs_so_far in [3, 3] {
        assert_eq!(runner.thread("t").run(Trip::update()).await.unwrap().state.log, ["3", "1", "3"]);
        assert_eq!(runs.count("work"), runs_so_far);
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_waits_for_a_slow_reader_is_not_silent_of_its_own_accord() {
    let node = |ctx: Ctx| async move {
        for at in 0..4 {
            ctx.emit(at).await?;
        }
        Ok::<_, NodeError>(())
    };
    let graph = graph().node("n", node.idle_timeout(SECOND)).edge(START, "n").compile().unwrap();
    let mut turn = graph.runner().thread("t").run(Trip::update());
    let reader = turn.reader(StreamOptions::default().modes([Mode::Custom]).buffer(1).slow(Slow::Block));
    let slow = reader.then(|event| async move {
        sleep(5 * SECOND).await;
        event
    });
    let (ended, events) = futures_util::future::join(turn.into_future(), slow.collect::<Vec<_>>()).await;
    ended.expect("the reader is slow, not the node");
    assert_eq!(events.iter().filter(|event| matches!(event.kind, EventKind::Custom(_))).count(), 4);
}

#[tokio::test]
async fn a_cached_result_of_an_older_graph_that_leads_nowhere_now_is_a_warning_and_the_node_runs() {
    #[derive(Route)]
    enum Old {
        Gone,
    }
    #[derive(Route)]
    enum New {
        Here,
    }
    let cache = std::sync::Arc::new(MemoryCache::new(10));
    let old = graph()
        .node("n", (|| ready(Old::Gone)).cache(Cache::by(|_: &Trip| 1)))
        .node("gone", note("gone"))
        .edge(START, "n")
        .compile()
        .unwrap();
    assert_eq!(
        old.runner().cache_arc(cache.clone()).thread("t").run(Trip::update()).await.unwrap().state.log,
        ["gone"]
    );
    let new = graph()
        .node("n", (|| ready(New::Here)).cache(Cache::by(|_: &Trip| 1)))
        .node("here", note("here"))
        .edge(START, "n")
        .compile()
        .unwrap();
    let end = new.runner().cache_arc(cache).thread("t").run(Trip::update()).await;
    let end = end.expect("a cached result never fails a node that would succeed");
    assert_eq!((&end.state.log[..], end.report.warnings.len()), (&["here".to_owned()][..], 1));
}
