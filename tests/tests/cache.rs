//! E14: a task with a known key isn't run again: keys, times, bounds, and caches that misbehave.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use behaviour_tests::{BoxNode, Runs, TestStore, Times, Trip, TripUpdate, note};
use futures_util::StreamExt;
use graph_engine::{
    Cache, Command, EventKind, Graph, In, MemoryCache, MemoryStore, NodeError, NodeExt, NodeSpec, Outcome, Parallel,
    Retry, Route, RunReport, START, Snap, State,
};
use serde_json::json;

const BOTH: [Parallel; 2] = [Parallel::Joined, Parallel::Spawned];

const fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn one(node: NodeSpec<Trip>) -> Graph<Trip> {
    Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap()
}

fn by_city() -> Cache<Trip> {
    Cache::by(|trip: &Trip| trip.city.clone())
}

/// What a report says of tasks, attempts and the cache.
fn counts(report: &RunReport) -> (u64, u64, u64) {
    (report.tasks, report.attempts, report.cached)
}

#[tokio::test(start_paused = true)]
async fn a_hit_skips_the_node_and_counts_no_attempt() {
    let runs = Runs::new();
    let runner = one(runs.slow(50, "n").cache(by_city())).runner();
    let times = Times::new();
    let first = runner.thread("a").run(Trip::update().city("Oslo")).await.unwrap();
    assert_eq!((counts(&first.report), times.now()), ((1, 1, 0), 50));
    let second = runner.thread("b").run(Trip::update().city("Oslo")).await.unwrap();
    assert_eq!((counts(&second.report), times.now()), ((1, 0, 1), 50));
    assert_eq!(*second.state, *first.state);
    assert_eq!(second.report.node_time.get("n"), None);
    assert!(second.report.to_string().contains("1 taken from the cache"), "{}", second.report);
    runner.thread("c").run(Trip::update().city("Porto")).await.unwrap();
    assert_eq!(runs.count("n"), 2);
    assert_eq!((second.report.copies, first.report.copies), (0, 0), "the cache keeps no snapshot");
}

#[tokio::test(start_paused = true)]
async fn the_event_of_a_hit_says_so_and_no_start_is_told() {
    let runner = one(note("n").cache(by_city())).runner();
    runner.thread("a").run(Trip::update()).await.unwrap();
    let events: Vec<_> = runner.thread("b").run(Trip::update()).stream().collect().await;
    let told: Vec<_> = events.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        ["0 started", "0.0 n#1 finish, cached, wrote `log`", "0 merged", "1 ended: done"],
        "only the end of the task"
    );
    assert_eq!(events[1].index, 0);
    assert!(matches!(events[1].kind, EventKind::NodeFinished { cached: true, .. }));
    let events: Vec<_> = runner.thread("b").run(Trip::update().city("Porto")).stream().collect().await;
    assert!(events.iter().any(|e| matches!(e.kind, EventKind::NodeFinished { cached: false, .. })));
}

#[tokio::test(start_paused = true)]
async fn a_result_is_good_for_exactly_its_time_from_the_end_of_the_run() {
    let runs = Runs::new();
    let runner = one(runs.slow(50, "n").cache(by_city().ttl(millis(1_000)))).runner();
    let run = async || runner.thread("t").run(Trip::update()).await.unwrap().report.cached;
    assert_eq!(run().await, 0);
    tokio::time::advance(millis(999)).await;
    assert_eq!(run().await, 1, "asking does not make it younger");
    tokio::time::advance(millis(1)).await;
    assert_eq!(run().await, 0, "the time begins when the result is kept");
    tokio::time::advance(millis(999)).await;
    assert_eq!((run().await, runs.count("n")), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn a_time_of_zero_keeps_nothing_and_a_huge_one_for_ever() {
    let runs = Runs::new();
    let runner = one(runs.node("n").cache(by_city().ttl(Duration::ZERO))).runner();
    for _ in 0..3 {
        runner.thread("t").run(Trip::update()).await.unwrap();
    }
    assert_eq!(runs.count("n"), 3);
    let runs = Runs::new();
    for cache in [by_city(), by_city().ttl(Duration::MAX)] {
        let runner = one(runs.node("n").cache(cache)).runner();
        runner.thread("t").run(Trip::update()).await.unwrap();
        tokio::time::advance(Duration::from_secs(60 * 60 * 24 * 365)).await;
        runner.thread("t").run(Trip::update()).await.unwrap();
    }
    assert_eq!(runs.count("n"), 2);
}

#[tokio::test(start_paused = true)]
async fn a_cache_of_several_runners_counts_the_same_time_for_all() {
    let (runs, cache) = (Runs::new(), Arc::new(MemoryCache::default()));
    let graph = one(runs.node("n").cache(by_city().ttl(millis(1_000))));
    tokio::time::advance(millis(5_000)).await;
    let early = graph.runner().cache_arc(cache.clone());
    tokio::time::advance(millis(5_000)).await;
    early.thread("t").run(Trip::update()).await.unwrap();
    // This runner is made later, so its clock would show less if every runner had its own beginning of time.
    let late = graph.runner().cache_arc(cache);
    tokio::time::advance(millis(999)).await;
    assert_eq!(late.thread("t").run(Trip::update()).await.unwrap().report.cached, 1);
    tokio::time::advance(millis(1)).await;
    assert_eq!(late.thread("t").run(Trip::update()).await.unwrap().report.cached, 0);
    assert_eq!(early.thread("t").run(Trip::update()).await.unwrap().report.cached, 1);
}

#[derive(Route)]
enum Each {
    Work(u32),
}

/// `split` sends the log's lines, read as numbers, to `work`.
fn fanned(work: NodeSpec<Trip>) -> Graph<Trip> {
    let split = |trip: Snap<Trip>| {
        let payloads: Vec<_> = trip.log.iter().map(|line| Each::Work(line.parse().unwrap())).collect();
        ready(Command::<Trip, Each>::fan_out(payloads))
    };
    Graph::<Trip>::builder("g").node("split", split).node("work", work).edge(START, "split").compile().unwrap()
}

fn squaring(runs: &Runs) -> impl Fn(In<u32>, Snap<Trip>) -> BoxNode<TripUpdate> + Clone + use<> {
    let runs = runs.clone();
    move |In(n): In<u32>, trip: Snap<Trip>| {
        runs.hit(&n.to_string());
        let total = i64::from(*n * *n);
        let city = trip.city.clone();
        drop(trip);
        Box::pin(async move { Trip::update().total(total).log([format!("{city}{n}")]) })
    }
}

fn numbers(lines: &[&str]) -> TripUpdate {
    Trip::update().log(lines.iter().map(|line| (*line).to_owned()))
}

#[tokio::test(start_paused = true)]
async fn a_key_of_the_payload_tells_tasks_of_one_fan_out_apart() {
    for parallel in BOTH {
        let runs = Runs::new();
        let runner = fanned(squaring(&runs).cache(Cache::by_payload::<u32>())).runner().parallel(parallel);
        let first = runner.thread("a").run(numbers(&["2", "3"])).await.unwrap();
        assert_eq!((first.state.total, counts(&first.report)), (13 - 4 + 4, (3, 3, 0)));
        let second = runner.thread("b").run(numbers(&["3", "5", "2"]).city("Oslo")).await.unwrap();
        assert_eq!((second.state.total, counts(&second.report)), (38, (4, 2, 2)), "{parallel:?}");
        // The city isn't part of the key, so what was kept is given back as it was; the order is that of the tasks.
        assert_eq!(second.state.log, ["3", "5", "2", "3", "Oslo5", "2"]);
        assert_eq!(runs.take().len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_of_both_tells_states_and_payloads_apart() {
    let runs = Runs::new();
    let cache = Cache::by_both(|trip: &Trip, n: &u32| (trip.city.clone(), *n));
    let runner = fanned(squaring(&runs).cache(cache)).runner();
    let run = async |city: &str, n: &str| runner.thread("t").run(numbers(&[n]).city(city)).await.unwrap().report.cached;
    assert_eq!((run("Oslo", "2").await, run("Porto", "2").await, run("Oslo", "3").await), (0, 0, 0));
    assert_eq!((run("Oslo", "2").await, run("Porto", "2").await, run("Oslo", "3").await), (1, 1, 1));
    assert_eq!(runs.take(), ["2", "2", "3"]);
}

#[tokio::test(start_paused = true)]
async fn tasks_of_one_step_with_one_key_all_run_because_nothing_is_kept_yet() {
    for parallel in BOTH {
        let work = |In(n): In<u32>| async move {
            tokio::time::sleep(millis(1)).await;
            Trip::update().total((*n).into())
        };
        let runner = fanned(work.cache(Cache::by_payload::<u32>())).runner().parallel(parallel);
        let end = runner.thread("t").run(numbers(&["2", "2"])).await.unwrap();
        assert_eq!((end.report.cached, end.state.total), (0, 4));
    }
}

#[tokio::test(start_paused = true)]
async fn equal_keys_of_two_nodes_or_two_graphs_do_not_meet() {
    let runs = Runs::new();
    let cache = Arc::new(MemoryCache::default());
    let graph = |name: &'static str| {
        let node = |node: &'static str| runs.node(node).cache(Cache::by(|_: &Trip| 1));
        Graph::<Trip>::builder(name).node("a", node("a")).node("b", node("b")).edge(START, "a").edge("a", "b")
    };
    let (one, two) = (graph("one").compile().unwrap(), graph("two").compile().unwrap());
    for (graph, hits) in [(&one, 0), (&two, 0), (&one, 2), (&two, 2)] {
        let end = graph.runner().cache_arc(cache.clone()).thread("t").run(Trip::update()).await.unwrap();
        assert_eq!((end.report.cached, &end.state.log), (hits, &vec!["a".to_owned(), "b".to_owned()]));
    }
    assert_eq!(cache.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn failures_timeouts_and_cancelled_attempts_are_never_kept() {
    let cache = Arc::new(MemoryCache::default());
    let runs = Runs::new();
    let node = {
        let runs = runs.clone();
        move || {
            let run = runs.hit("n");
            async move {
                match run {
                    0 => Err(NodeError::fatal("an error")),
                    1 => panic!("a panic"),
                    2 | 3 => {
                        tokio::time::sleep(millis(500)).await;
                        Ok(Trip::update().log(["late".to_owned()]))
                    }
                    _ => Ok(Trip::update().log(["n".to_owned()])),
                }
            }
        }
    };
    let runner = one(node.cache(by_city()).timeout(millis(100))).runner().cache_arc(cache.clone());
    for _ in 0..3 {
        runner.thread("t").run(Trip::update()).await.unwrap_err();
    }
    runner.thread("t").run(Trip::update()).cancel_on(tokio::time::sleep(millis(50))).await.unwrap();
    assert!(cache.is_empty());
    assert_eq!(runner.thread("t").run(Trip::update()).await.unwrap().state.log, ["n"]);
    assert_eq!((cache.len(), runs.count("n")), (1, 5));
}

#[tokio::test(start_paused = true)]
async fn only_the_attempt_that_succeeds_is_kept_and_the_next_turn_has_no_attempt() {
    for parallel in BOTH {
        let runs = Runs::new();
        let node = runs.failing(2, "n").cache(by_city()).retry(Retry::fixed(3, millis(10)));
        let graph = Graph::<Trip>::builder("g")
            .node("n", node)
            .node("other", note("other"))
            .edge(START, "n")
            .edge(START, "other")
            .compile()
            .unwrap();
        let runner = graph.runner().parallel(parallel);
        let first = runner.thread("a").run(Trip::update()).await.unwrap();
        assert_eq!(counts(&first.report), (2, 4, 0));
        let second = runner.thread("b").run(Trip::update()).await.unwrap();
        assert_eq!((counts(&second.report), &second.state.log), ((2, 1, 1), &first.state.log), "{parallel:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_that_writes_a_transient_field_is_not_kept_and_a_warning_says_so() {
    let runs = Runs::new();
    let node = {
        let runs = runs.clone();
        move || {
            runs.hit("n");
            ready(Trip::update().draft("secret").last("x"))
        }
    };
    let runner = one(node.cache(by_city())).runner();
    for _ in 0..2 {
        let end = runner.thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(&*end.state.draft, "secret");
        assert_eq!(end.report.warnings, ["the result of `n` was not cached: it writes `draft`, which is never stored"]);
    }
    assert_eq!(runs.count("n"), 2);
}

#[tokio::test(start_paused = true)]
async fn a_write_of_an_undeclared_field_is_not_kept() {
    let cache = Arc::new(MemoryCache::default());
    let runner = one(note("n").writes(Trip::CITY).cache(by_city())).runner().cache_arc(cache.clone());
    let failed = runner.thread("t").run(Trip::update()).await.unwrap_err();
    assert!(failed.failures()[0].to_string().contains("it wrote field `log`"));
    assert!(cache.is_empty());
    assert_eq!(failed.report.warnings, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_no_json_is_not_kept() {
    #[derive(State, Clone, Default)]
    struct Weights {
        weight: f64,
    }
    let runs = Runs::new();
    let node = {
        let runs = runs.clone();
        move || {
            runs.hit("n");
            ready(Weights::update().weight(f64::NAN))
        }
    };
    let graph = Graph::<Weights>::builder("g")
        .node("n", node.cache(Cache::by(|_: &Weights| 1)))
        .edge(START, "n")
        .compile()
        .unwrap();
    let runner = graph.runner();
    for _ in 0..2 {
        let end = runner.thread("t").run(Weights::update()).await.unwrap();
        assert!(end.state.weight.is_nan());
        assert!(end.report.warnings[0].starts_with("the result of `n` was not cached: "), "{:?}", end.report.warnings);
    }
    assert_eq!(runs.count("n"), 2);
}

#[tokio::test(start_paused = true)]
async fn the_result_that_was_not_asked_for_the_longest_goes_first() {
    let runs = Runs::new();
    let node = {
        let runs = runs.clone();
        move |trip: Snap<Trip>| {
            runs.hit(&trip.city);
            ready(Trip::update().total(1))
        }
    };
    let cache = Arc::new(MemoryCache::new(2));
    let runner = one(node.cache(by_city())).runner().cache_arc(cache.clone());
    let ask = async |city: &str| runner.thread("t").run(Trip::update().city(city)).await.unwrap().report.cached;
    assert_eq!((ask("a").await, ask("b").await, ask("a").await), (0, 0, 1));
    assert_eq!(ask("c").await, 0, "`b` goes");
    assert_eq!((ask("a").await, ask("c").await, ask("b").await), (1, 1, 0), "`a` goes");
    assert_eq!((ask("c").await, ask("b").await, ask("a").await), (1, 1, 0));
    assert_eq!((cache.len(), runs.take()), (2, ["a", "b", "c", "b", "a"].map(str::to_owned).to_vec()));
    let none = one(runs.node("n").cache(by_city())).runner().cache(MemoryCache::new(0));
    for _ in 0..2 {
        assert_eq!(none.thread("t").run(Trip::update()).await.unwrap().report.cached, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_kept_fan_out_sends_its_payloads_again_with_their_timeout() {
    let runs = Runs::new();
    let split = {
        let runs = runs.clone();
        move || {
            runs.hit("split");
            ready(Command::<Trip, Each>::fan_out_within(millis(100), [Each::Work(7), Each::Work(60_000)]))
        }
    };
    let work = |In(n): In<u32>| async move {
        tokio::time::sleep(millis((*n).into())).await;
        Trip::update().total((*n).into())
    };
    let graph = Graph::<Trip>::builder("g")
        .node("split", split.cache(by_city()))
        .node("work", work)
        .edge(START, "split")
        .compile()
        .unwrap();
    let runner = graph.runner().store(MemoryStore::new());
    for (turn, cached) in [("a", 0), ("b", 1)] {
        let times = Times::new();
        let failed = runner.thread(turn).run(Trip::update()).await.unwrap_err();
        assert_eq!((times.now(), failed.failures().len(), failed.report.cached), (100, 1, cached));
        assert_eq!(failed.failures()[0].task.id.rank, 1);
    }
    assert_eq!(runs.count("split"), 1);
}

#[tokio::test(start_paused = true)]
async fn kept_stays_direct_replies_and_ends_do_the_same_again() {
    let runs = Runs::new();
    let node = {
        let runs = runs.clone();
        move |trip: Snap<Trip>| {
            runs.hit("n");
            ready(match trip.total {
                0 => Command::<Trip, Moves>::stay("again").with(Trip::update().total(1)),
                1 => Command::go(Moves::Other).with(Trip::update().total(1)),
                _ => Command::direct("done"),
            })
        }
    };
    #[derive(Route)]
    #[route(stay, direct, finish)]
    enum Moves {
        Other,
    }
    let other = || ready(Command::<Trip, Moves>::finish(json!({"bye": true})));
    let graph = Graph::<Trip>::builder("g")
        .node("n", node.cache(Cache::by(|trip: &Trip| trip.total)))
        .node("other", other.cache(Cache::by(|trip: &Trip| trip.total)))
        .edge(START, "n")
        .compile()
        .unwrap();
    let runner = graph.runner();
    let first = runner.thread("a").run(Trip::update()).await.unwrap();
    let second = runner.thread("b").run(Trip::update()).await.unwrap();
    assert_eq!(runs.count("n"), 2);
    assert_eq!((second.report.cached, second.report.stays, second.report.steps), (3, 1, 3));
    assert_eq!((first.status, first.reply(), first.state.total), (second.status, second.reply(), second.state.total));
    assert_eq!(second.reply(), Some(&json!({"bye": true})));
    let direct = async || runner.thread("c").run(Trip::update().total(5)).await.unwrap();
    assert_eq!((direct().await.report.cached, direct().await.reply().cloned()), (0, Some(json!("done"))));
    assert_eq!(runs.count("n"), 3);
}

#[tokio::test(start_paused = true)]
async fn an_overwrite_is_kept_as_an_overwrite() {
    let node = || ready(Trip::update().total(1).overwrite_total(10).total(3));
    let runner = one(node.cache(Cache::by(|_: &Trip| 1))).runner();
    for cached in [0, 1] {
        let end = runner.thread("t").run(Trip::update().total(100)).await.unwrap();
        assert_eq!((end.state.total, end.report.cached), (13, cached));
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_that_cannot_be_made_is_a_warning_and_the_node_runs() {
    let runs = Runs::new();
    let caches = [
        Cache::by(|_: &Trip| -> u8 { panic!("no key today") }),
        Cache::by_payload::<u32>(),
        Cache::by(|_: &Trip| f64::NAN),
        Cache::by(|_: &Trip| std::collections::BTreeMap::from([((1, 2), 3)])),
    ];
    let said = ["it panicked: no key today", "reached without one", "", ""];
    for (cache, said) in caches.into_iter().zip(said) {
        let end = one(runs.node("n").cache(cache)).runner().thread("t").run(Trip::update()).await.unwrap();
        assert_eq!((end.state.log.len(), end.report.cached, end.report.warnings.len()), (1, 0, 1));
        let warning = &end.report.warnings[0];
        assert!(warning.starts_with("the cache key of `n` can't be made: ") && warning.contains(said), "{warning}");
        assert!(warning.ends_with("; the node was run"), "{warning}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_payload_of_another_type_than_the_key_asks_for_is_a_warning_and_the_node_runs() {
    let runs = Runs::new();
    let runner = fanned(squaring(&runs).cache(Cache::by_payload::<String>())).runner();
    let end = runner.thread("t").run(numbers(&["2", "3"])).await.unwrap();
    assert_eq!((end.state.total, end.report.warnings.len()), (13, 1), "the same text once");
}

#[tokio::test(start_paused = true)]
async fn clearing_forgets_one_node_or_all_and_no_other_graph() {
    let runs = Runs::new();
    let cache = Arc::new(MemoryCache::default());
    let runner = |name: &'static str| {
        let node = |node: &'static str| runs.node(node).cache(Cache::by(|_: &Trip| 1));
        let graph =
            Graph::<Trip>::builder(name).node("a", node("a")).node("b", node("b")).edge(START, "a").edge("a", "b");
        graph.compile().unwrap().runner().cache_arc(cache.clone())
    };
    let (one, two) = (runner("one"), runner("two"));
    let hits =
        async |runner: &graph_engine::Runner<Trip>| runner.thread("t").run(Trip::update()).await.unwrap().report.cached;
    assert_eq!((hits(&one).await, hits(&two).await), (0, 0));
    one.clear_cache(Some("a")).await.unwrap();
    assert_eq!((cache.len(), hits(&one).await, hits(&one).await), (3, 1, 2));
    one.clear_cache(None).await.unwrap();
    assert_eq!((cache.len(), hits(&one).await, hits(&two).await), (2, 0, 2));
    one.clear_cache(Some("nobody")).await.unwrap();
    assert_eq!(cache.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn what_comes_from_the_cache_is_not_saved_early() {
    for parallel in BOTH {
        let (runs, store) = (Runs::new(), TestStore::lasting());
        let quick = runs.node("quick").cache(Cache::by(|_: &Trip| 1));
        let graph = Graph::<Trip>::builder("g").node("quick", quick).node("slow", runs.slow(10, "slow"));
        let graph = graph.edge(START, "quick").edge(START, "slow").compile().unwrap();
        let runner = graph.runner().parallel(parallel).store(store.clone());
        runner.thread("a").run(Trip::update()).await.unwrap();
        assert_eq!(store.saves().len(), 1, "{parallel:?}: one sibling is over while the other still runs");
        runner.thread("b").run(Trip::update()).await.unwrap();
        assert_eq!((runs.count("quick"), store.saves().len()), (1, 1), "{parallel:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cached_task_beside_a_failed_one_is_kept_and_proceeding_runs_only_the_other() {
    for parallel in BOTH {
        let runs = Runs::new();
        let work = {
            let runs = runs.clone();
            move |In(n): In<u32>| {
                ready(match (runs.hit(&n.to_string()), *n) {
                    (0, 9) => Err(NodeError::fatal("once")),
                    _ => Ok(Trip::update().total((*n).into())),
                })
            }
        };
        let runner =
            fanned(work.cache(Cache::by_payload::<u32>())).runner().parallel(parallel).store(MemoryStore::new());
        runner.thread("warm").run(numbers(&["2"])).await.unwrap();
        let thread = runner.thread("t");
        let failed = thread.run(numbers(&["2", "9", "3"])).await.unwrap_err();
        assert_eq!((failed.failures().len(), failed.report.cached, failed.report.attempts), (1, 1, 3));
        runner.clear_cache(None).await.unwrap();
        let end = thread.proceed().await.unwrap();
        assert_eq!((end.state.total, counts(&end.report)), (14, (1, 1, 0)));
        assert_eq!(runs.take(), ["2", "9", "3", "9"], "{parallel:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cached_node_with_an_error_route_keeps_no_failure() {
    let runs = Runs::new();
    let node = runs.failing(1, "n").cache(by_city()).on_error("sorry");
    let graph =
        Graph::<Trip>::builder("g").node("n", node).node("sorry", note("sorry")).edge(START, "n").compile().unwrap();
    let runner = graph.runner();
    assert_eq!(runner.thread("t").run(Trip::update()).await.unwrap().state.log, ["sorry"]);
    assert_eq!(runner.thread("t").run(Trip::update()).await.unwrap().state.log, ["n"]);
    let end = runner.thread("t").run(Trip::update()).await.unwrap();
    assert_eq!((&end.state.log, end.report.cached), (&vec!["n".to_owned()], 1));
}

#[tokio::test(start_paused = true)]
async fn a_hand_written_outcome_is_kept_too() {
    let runs = Runs::new();
    let node = {
        let runs = runs.clone();
        move || {
            runs.hit("n");
            ready(Outcome::<Trip>::of(Trip::update().total(1)).fan_out("work", [3_u32, 4]))
        }
    };
    let work = |In(n): In<u32>| ready(Trip::update().total((*n).into()));
    let graph = Graph::<Trip>::builder("g")
        .node("n", node.cache(by_city()))
        .node("work", work)
        .edge(START, "n")
        .edge("n", "work")
        .lint(graph_engine::Lint::PayloadMismatch, graph_engine::Level::Ignore)
        .compile()
        .unwrap();
    for cached in [0, 1] {
        let runner = graph.runner();
        runner.thread("t").run(Trip::update()).await.unwrap();
        let end = runner.thread("t").run(Trip::update()).await.unwrap();
        assert_eq!((end.state.total, end.report.cached), (8, 1), "{cached}");
    }
    assert_eq!(runs.count("n"), 2);
}
