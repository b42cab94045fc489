//! E14: attempts include the first, waits are exact, and a task that is tried again neither waits for its siblings nor
//! makes them wait.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use behaviour_tests::{Runs, Trip, TripUpdate, after};
use expect_test::expect;
use futures_util::StreamExt;
use graph_engine::testing::run_logged;
use graph_engine::{
    Ctx, FaultKind, Graph, MemoryStore, Mode, NodeError, NodeExt, Parallel, Retry, START, Seams, StreamOptions,
};
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);

/// When each attempt began, in milliseconds since the first.
#[derive(Clone, Default)]
struct Starts(Arc<Mutex<Vec<Instant>>>);

impl Starts {
    fn note(&self) {
        self.0.lock().unwrap().push(Instant::now());
    }

    fn gaps(&self) -> Vec<u128> {
        let all = self.0.lock().unwrap();
        all.windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect()
    }
}

/// Fails so often, noting when it begins.
async fn waits(fails: usize, retry: Retry, seed: u64) -> (Vec<u128>, Result<u64, String>) {
    let (starts, runs) = (Starts::default(), Runs::new());
    let node = {
        let (starts, node) = (starts.clone(), runs.failing(fails, "n"));
        move || {
            starts.note();
            node()
        }
    };
    let graph = Graph::<Trip>::builder("g").node("n", node.retry(retry)).edge(START, "n").compile().unwrap();
    let runner = graph.runner().seams(Seams::default().seed(seed));
    let ended = runner.thread("t").run(Trip::update()).await;
    let ended = ended.map(|end| end.report.attempts).map_err(|failed| match failed.failures() {
        [failure] => failure.to_string(),
        _ => failed.to_string(),
    });
    (starts.gaps(), ended)
}

#[tokio::test(start_paused = true)]
async fn attempts_include_the_first() {
    let retry = |attempts| Retry::fixed(attempts, SECOND);
    assert_eq!(waits(2, retry(3), 0).await, (vec![1_000, 1_000], Ok(3)));
    let failed = "`n` (task 0.0) failed after 3 attempts: no luck at run 2".to_owned();
    assert_eq!(waits(3, retry(3), 0).await, (vec![1_000, 1_000], Err(failed)));
    let failed = "`n` (task 0.0) failed after 1 attempt: no luck at run 0".to_owned();
    assert_eq!(waits(1, retry(1), 0).await, (vec![], Err(failed.clone())));
    assert_eq!(waits(1, retry(0), 0).await, (vec![], Err(failed)));
}

#[tokio::test(start_paused = true)]
async fn exponential_waits_double_up_to_a_cap() {
    let retry = Retry::exponential(6, Duration::from_millis(100));
    assert_eq!(waits(5, retry.clone(), 0).await, (vec![100, 200, 400, 800, 1_600], Ok(6)));
    let capped = retry.max_wait(Duration::from_millis(350));
    assert_eq!(waits(5, capped, 0).await, (vec![100, 200, 350, 350, 350], Ok(6)));
    // One minute is the cap when nobody says otherwise.
    let long = Retry::exponential(4, 25 * SECOND);
    assert_eq!(waits(3, long, 0).await, (vec![25_000, 50_000, 60_000], Ok(4)));
}

#[tokio::test(start_paused = true)]
async fn no_wait_is_no_wait() {
    assert_eq!(waits(3, Retry::fixed(9, Duration::ZERO), 0).await, (vec![0, 0, 0], Ok(4)));
}

#[tokio::test(start_paused = true)]
async fn jitter_adds_up_to_its_part_and_is_given_by_the_seed() {
    let retry = || Retry::fixed(9, 10 * SECOND).jitter(0.5);
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..50 {
        let (gaps, ended) = waits(8, retry(), seed).await;
        assert_eq!(ended, Ok(9));
        assert!(gaps.iter().all(|gap| (10_000..=15_001).contains(gap)), "{gaps:?}");
        assert_eq!(waits(8, retry(), seed).await.0, gaps, "a run can be repeated exactly");
        seen.extend(gaps);
    }
    assert!(seen.len() > 350, "the waits are spread: {}", seen.len());
    let (low, high) = (*seen.first().unwrap(), *seen.last().unwrap());
    assert!(low < 10_100 && high > 14_900, "the whole range is used: {low} to {high}");
    assert_eq!(waits(2, Retry::fixed(3, SECOND), 7).await.0, [1_000, 1_000], "without jitter the seed is nothing");
}

#[tokio::test(start_paused = true)]
async fn parallel_tasks_have_jitter_of_their_own() {
    let starts: [Starts; 2] = Default::default();
    let mut builder = Graph::<Trip>::builder("g");
    for (name, starts) in ["a", "b"].into_iter().zip(&starts) {
        let (starts, node) = (starts.clone(), Runs::new().failing(1, name));
        let node = move || {
            starts.note();
            node()
        };
        builder = builder.node(name, node.retry(Retry::fixed(2, 10 * SECOND).jitter(1.0))).edge(START, name);
    }
    let runner = builder.compile().unwrap().runner().seams(Seams::default().seed(3));
    runner.thread("t").run(Trip::update()).await.unwrap();
    assert_ne!(starts[0].gaps(), starts[1].gaps());
}

#[test]
fn no_policy_makes_waiting_panic() {
    let retry = Retry::exponential(100, Duration::MAX).max_wait(Duration::MAX).jitter(1.0);
    for attempt in [0, 1, 2, 64, 1_000_000, u32::MAX] {
        for spread in [0.0, 0.5, 1.0, f64::NAN, f64::INFINITY, -1.0] {
            assert!(retry.wait(attempt, spread) > Duration::from_secs(u64::MAX / 4));
        }
    }
    let retry = Retry::fixed(2, SECOND).jitter(f64::NAN);
    assert_eq!(retry.wait(1, 1.0), SECOND);
    assert_eq!(Retry::fixed(2, SECOND).jitter(7.0).wait(1, 1.0), 2 * SECOND);
    assert_eq!(Retry::fixed(2, SECOND).jitter(-7.0).wait(1, 1.0), SECOND);
}

#[tokio::test(start_paused = true)]
async fn the_predicate_decides_and_sees_the_error() {
    let retry = Retry::fixed(5, SECOND).when(|error| error.to_string() == "no luck at run 0");
    let failed = "`n` (task 0.0) failed after 2 attempts: no luck at run 1".to_owned();
    assert_eq!(waits(9, retry, 0).await, (vec![1_000], Err(failed)));
}

#[tokio::test(start_paused = true)]
async fn the_predicate_sees_the_source_of_the_error() {
    let runs = Runs::new();
    let node = {
        let runs = runs.clone();
        move || {
            let number = if runs.hit("n") < 2 { "x" } else { "1" };
            std::future::ready(number.parse::<i64>().map(|n| Trip::update().total(n)))
        }
    };
    let retry = Retry::fixed(5, SECOND).when(|error| error.source().is::<std::num::ParseIntError>());
    let graph = Graph::<Trip>::builder("g").node("n", node.retry(retry)).edge(START, "n").compile().unwrap();
    assert_eq!(graph.runner().thread("t").run(Trip::update()).await.unwrap().report.attempts, 3);
}

#[tokio::test(start_paused = true)]
async fn a_panicking_predicate_is_a_failure_of_the_task() {
    let retry = Retry::fixed(5, SECOND).when(|_| panic!("no opinion"));
    let (gaps, ended) = waits(9, retry, 0).await;
    assert_eq!(gaps, [0_u128; 0]);
    let text = ended.unwrap_err();
    assert!(text.starts_with("`n` (task 0.0) failed after 1 attempt"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn fatal_failures_and_panics_are_not_tried_again() {
    let run = async |fatal: bool| {
        let node = move || {
            let failed: Result<TripUpdate, NodeError> =
                if fatal { Err(NodeError::fatal("never")) } else { panic!("at the disco") };
            std::future::ready(failed)
        };
        let node = node.retry(Retry::fixed(5, SECOND));
        let graph = Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
        let error = graph.runner().thread("t").run(Trip::update()).await.unwrap_err();
        (error.failures()[0].kind, error.failures()[0].attempts)
    };
    assert_eq!(run(true).await, (FaultKind::Fatal, 1));
    assert_eq!(run(false).await, (FaultKind::Panicked, 1));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_tried_again_does_not_wait_for_a_slow_sibling() {
    for parallel in [Parallel::Joined, Parallel::Spawned] {
        let (starts, runs) = (Starts::default(), Runs::new());
        let flaky = {
            let (starts, node) = (starts.clone(), runs.failing(3, "flaky"));
            move || {
                starts.note();
                node()
            }
        };
        let graph = Graph::<Trip>::builder("g")
            .node("flaky", flaky.retry(Retry::fixed(4, SECOND)))
            .node("slow", after(60_000, "slow"))
            .edge(START, "flaky")
            .edge(START, "slow")
            .compile()
            .unwrap();
        let begin = Instant::now();
        let end = graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(starts.gaps(), [1_000, 1_000, 1_000]);
        assert_eq!(begin.elapsed().as_millis(), 60_000);
        assert_eq!(end.state.log, ["flaky", "slow"]);
        assert_eq!((end.report.tasks, end.report.attempts), (2, 5));
    }
}

#[tokio::test(start_paused = true)]
async fn a_sibling_does_not_wait_for_a_task_that_is_tried_again() {
    for parallel in [Parallel::Joined, Parallel::Spawned] {
        let done = Starts::default();
        let steady = {
            let done = done.clone();
            move || {
                let done = done.clone();
                async move {
                    done.note();
                    for _ in 0..5 {
                        tokio::time::sleep(SECOND).await;
                        done.note();
                    }
                }
            }
        };
        let graph = Graph::<Trip>::builder("g")
            .node("flaky", Runs::new().failing(1, "flaky").retry(Retry::fixed(2, 60 * SECOND)))
            .node("steady", steady)
            .edge(START, "flaky")
            .edge(START, "steady")
            .compile()
            .unwrap();
        graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(done.gaps(), [1_000; 5]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_attempt_leaves_no_update_and_its_events_are_discarded() {
    async fn flaky(ctx: Ctx) -> Result<TripUpdate, NodeError> {
        if ctx.attempt() == 1 {
            // Fails before it says anything.
            return Err("mute".into());
        }
        ctx.token("to").await;
        ctx.emit(ctx.attempt()).await?;
        if ctx.attempt() == 2 {
            return Err("loud".into());
        }
        Ok(Trip::update().log([format!("attempt {}", ctx.attempt())]))
    }
    let graph = Graph::<Trip>::builder("g")
        .node("flaky", flaky.retry(Retry::fixed(3, SECOND)))
        .edge(START, "flaky")
        .compile()
        .unwrap();
    let (end, log) = run_logged(graph.runner().thread("t").run(Trip::update())).await;
    assert_eq!(end.unwrap().state.log, ["attempt 3"]);
    expect![[r#"
        0 started
        0.0 flaky#1 start
        0.0 flaky#1 fail (Retryable): mute
        0.0 flaky#2 start
        0.0 flaky#2 token "to"
        0.0 flaky#2 custom 2
        0.0 flaky#2 fail (Retryable): loud
        0.0 flaky#2 discarded
        0.0 flaky#3 start
        0.0 flaky#3 token "to"
        0.0 flaky#3 custom 3
        0.0 flaky#3 finish, wrote `log`
        0 merged
        1 ended: done
    "#]]
    .assert_eq(&log);
}

#[tokio::test(start_paused = true)]
async fn readers_of_tokens_alone_learn_what_to_forget() {
    async fn flaky(ctx: Ctx) -> Result<(), NodeError> {
        ctx.token("half a sen").await;
        if ctx.attempt() == 1 { Err("cut".into()) } else { Ok(()) }
    }
    let graph = Graph::<Trip>::builder("g")
        .node("flaky", flaky.retry(Retry::fixed(2, SECOND)))
        .edge(START, "flaky")
        .compile()
        .unwrap();
    let mut turn = graph.runner().thread("t").run(Trip::update());
    let reader = turn.reader(StreamOptions::default().modes([Mode::Tokens]));
    turn.await.unwrap();
    let events: Vec<String> = reader.map(|event| event.kind.to_string()).collect().await;
    let expected = ["started", "token \"half a sen\"", "discarded", "token \"half a sen\"", "ended: done"];
    assert_eq!(events, expected);
}

#[tokio::test(start_paused = true)]
async fn proceeding_gives_all_attempts_anew() {
    let runs = Runs::new();
    let node = runs.failing(5, "n").retry(Retry::fixed(3, SECOND));
    let graph = Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let error = thread.run(Trip::update()).await.unwrap_err();
    assert_eq!((error.failures()[0].attempts, error.report.attempts), (3, 3));
    let end = thread.proceed().await.unwrap();
    assert_eq!((end.report.attempts, end.report.tasks), (3, 1));
    assert_eq!(runs.count("n"), 6);
}

#[tokio::test(start_paused = true)]
async fn the_key_for_effects_is_the_same_in_every_attempt_and_in_no_other_task() {
    let keys: Arc<Mutex<Vec<String>>> = Arc::default();
    let node = {
        let keys = keys.clone();
        move |ctx: Ctx| {
            keys.lock().unwrap().push(ctx.idempotency_key());
            std::future::ready(if ctx.attempt() == 1 { Err(NodeError::from("no")) } else { Ok(()) })
        }
    };
    let node = node.retry(Retry::fixed(2, SECOND));
    let graph = Graph::<Trip>::builder("g")
        .node("a", node.clone())
        .node("b", node)
        .edge(START, "a")
        .edge("a", "b")
        .compile()
        .unwrap();
    let stored = graph.runner().store(MemoryStore::new());
    let bare = graph.runner();
    let turns = [stored.thread("t"), stored.thread("t"), bare.thread("t"), bare.thread("t")];
    for (at, thread) in turns.iter().enumerate() {
        if at == 1 {
            // A deleted thread begins anew, and so do its effects.
            assert!(thread.delete().await.unwrap());
        }
        thread.run(Trip::update()).await.unwrap();
    }
    let keys = keys.lock().unwrap();
    assert_eq!(keys.len(), 16);
    assert!(keys.chunks(2).all(|pair| pair[0] == pair[1]), "{keys:?}");
    let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
    assert_eq!(distinct.len(), 8, "{keys:?}");
}

#[tokio::test(start_paused = true)]
async fn node_time_is_that_of_attempts_without_the_waits_between() {
    let runs = Runs::new();
    let node = {
        let runs = runs.clone();
        move || {
            let run = runs.hit("n");
            async move {
                tokio::time::sleep(Duration::from_millis(250)).await;
                if run < 2 { Err(NodeError::from("no")) } else { Ok(()) }
            }
        }
    };
    let node = node.retry(Retry::fixed(3, 10 * SECOND));
    let graph = Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.report.node_time.get("n"), Some(&Duration::from_millis(750)));
    let end = graph.runner().timings(false).thread("t").run(Trip::update()).await.unwrap();
    assert!(end.report.node_time.is_empty());
}
