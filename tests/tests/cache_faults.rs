//! E14: a cache that fails, forgets or lies never fails a task, and is asked once a task.

use std::future::{IntoFuture, ready};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use behaviour_tests::{Runs, Trip, TripUpdate};
use futures_util::StreamExt;
use graph_engine::{
    Cache, CacheKey, Command, Ctx, EventKind, Graph, In, MemoryCache, NodeCache, NodeExt, NodeSpec, Parallel, Retry,
    Route, RunReport, START, Snap, StoreError, async_trait,
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

fn numbers(lines: &[&str]) -> TripUpdate {
    Trip::update().log(lines.iter().map(|line| (*line).to_owned()))
}

/// A cache that counts, and fails or lies on demand.
#[derive(Clone, Default)]
struct Odd {
    inner: Arc<MemoryCache>,
    gets: Arc<AtomicUsize>,
    puts: Arc<AtomicUsize>,
    fail_get: bool,
    fail_put: bool,
    answer: Option<Vec<u8>>,
    /// Filled when a task has failed once, as another process would.
    keys: Arc<Mutex<Vec<CacheKey>>>,
}

#[async_trait]
impl NodeCache for Odd {
    async fn get(&self, key: &CacheKey, now: Duration) -> Result<Option<Vec<u8>>, StoreError> {
        self.gets.fetch_add(1, Ordering::SeqCst);
        self.keys.lock().unwrap().push(key.clone());
        if self.fail_get {
            return Err(StoreError::unavailable("the cache is down"));
        }
        if self.answer.is_some() {
            return Ok(self.answer.clone());
        }
        self.inner.get(key, now).await
    }

    async fn put(
        &self,
        key: &CacheKey,
        result: Vec<u8>,
        ttl: Option<Duration>,
        now: Duration,
    ) -> Result<(), StoreError> {
        self.puts.fetch_add(1, Ordering::SeqCst);
        if self.fail_put {
            return Err(StoreError::unavailable("the cache is full"));
        }
        self.inner.put(key, result, ttl, now).await
    }

    async fn clear(&self, graph: &str, node: Option<&str>) -> Result<(), StoreError> {
        self.inner.clear(graph, node).await
    }
}

#[tokio::test(start_paused = true)]
async fn the_cache_is_asked_once_a_task_and_not_before_every_attempt() {
    let cache = Odd::default();
    let runs = Runs::new();
    let node = runs.failing(2, "n").cache(by_city()).retry(Retry::fixed(3, millis(10)));
    let runner = one(node).runner().cache(cache.clone());
    let end = runner.thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(counts(&end.report), (1, 3, 0));
    assert_eq!((cache.gets.load(Ordering::SeqCst), cache.puts.load(Ordering::SeqCst)), (1, 1));
    assert_eq!(runner.thread("t").run(Trip::update()).await.unwrap().report.cached, 1);
    let key = CacheKey { graph: "g".into(), node: "n".into(), key: "\"\"".into() };
    assert_eq!(*cache.keys.lock().unwrap(), [key.clone(), key]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_task_whose_result_comes_from_elsewhere_meanwhile_keeps_no_place_from_others() {
    for parallel in BOTH {
        let cache = Arc::new(MemoryCache::default());
        let work = |fails: bool| {
            move |In(n): In<u32>, ctx: Ctx| async move {
                tokio::time::sleep(millis(10)).await;
                if fails && ctx.attempt() == 1 {
                    return Err("again");
                }
                Ok(Trip::update().total(i64::from(*n)))
            }
        };
        let graph = |fails| {
            let node = work(fails).cache(Cache::by_payload::<u32>()).limit(1).retry(Retry::fixed(2, millis(100)));
            fanned(node).runner().parallel(parallel).cache_arc(cache.clone())
        };
        let (slow, quick) = (graph(true).thread("slow"), graph(false).thread("quick"));
        let both = async {
            tokio::join!(slow.run(numbers(&["1", "2"])).into_future(), quick.run(numbers(&["1"])).into_future())
        };
        let (slow, quick) = tokio::time::timeout(Duration::from_secs(60), both).await.expect("nobody waits for ever");
        assert_eq!((slow.unwrap().state.total, quick.unwrap().state.total), (3, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_fails_costs_a_warning_and_the_node_runs() {
    let runs = Runs::new();
    let graph = one(runs.node("n").cache(by_city()));
    let runner = graph.runner().cache(Odd { fail_get: true, ..Odd::default() });
    let end = runner.thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["n"]);
    assert_eq!(end.report.warnings.len(), 1);
    assert!(end.report.warnings[0].starts_with("the cache failed: "), "{}", end.report.warnings[0]);
    assert!(end.report.warnings[0].contains("the cache is down"));
    let runner = graph.runner().cache(Odd { fail_put: true, ..Odd::default() });
    let end = runner.thread("t").run(Trip::update()).await.unwrap();
    assert_eq!((end.state.log.len(), end.report.warnings.len()), (1, 1));
    assert!(end.report.warnings[0].starts_with("the result of `n` was not cached: "), "{}", end.report.warnings[0]);
    assert_eq!(runs.count("n"), 2);
}

#[tokio::test(start_paused = true)]
async fn rubbish_from_a_cache_costs_a_warning_and_the_node_runs() {
    let undeclared = json!({"update": {}, "next": {"many": [{"to": "n"}]}});
    let rubbish = [
        ("nothing", Vec::new()),
        ("no JSON", b"\xff{".to_vec()),
        ("no result", b"[1,2]".to_vec()),
        ("another state's field", json!({"update": {"hotels": 3}, "next": "declared"}).to_string().into_bytes()),
        ("another type of a field", json!({"update": {"city": {"a": 1}}, "next": "declared"}).to_string().into_bytes()),
        ("an unknown move", json!({"update": {}, "next": {"fly": 1}}).to_string().into_bytes()),
        ("an undeclared move", undeclared.to_string().into_bytes()),
        ("a stay", json!({"update": {}, "next": {"stay": null}}).to_string().into_bytes()),
        ("a finish", json!({"update": {}, "next": {"finish": 1}}).to_string().into_bytes()),
        (
            "an error route",
            json!({"update": {}, "next": {"rescue": {"to": "n", "sent": true}}}).to_string().into_bytes(),
        ),
    ];
    for (what, answer) in rubbish {
        let runs = Runs::new();
        let runner = one(runs.node("n").cache(by_city())).runner();
        let runner = runner.cache(Odd { answer: Some(answer), ..Odd::default() });
        let events: Vec<_> = runner.thread("t").run(Trip::update()).stream().collect().await;
        assert!(events.iter().all(|e| !matches!(e.kind, EventKind::NodeFinished { cached: true, .. })), "{what}");
        let end = runner.thread("t").run(Trip::update()).await.unwrap();
        assert_eq!((end.state.log.len(), counts(&end.report), runs.count("n")), (1, (1, 1, 0), 2), "{what}");
        assert_eq!(end.report.warnings.len(), 1, "{what}");
        let warning = &end.report.warnings[0];
        assert!(warning.starts_with("the cached result of `n` can't be "), "{what}: {warning}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_kept_write_of_a_field_that_the_node_no_longer_declares_is_not_used() {
    let cache = Arc::new(MemoryCache::default());
    let runs = Runs::new();
    let old = one(runs.node("n").cache(by_city())).runner().cache_arc(cache.clone());
    old.thread("t").run(Trip::update()).await.unwrap();
    let renewed = || ready(Trip::update().city("Oslo"));
    let new = one(renewed.writes(Trip::CITY).cache(by_city())).runner().cache_arc(cache);
    let end = new.thread("t").run(Trip::update()).await.unwrap();
    assert_eq!((&*end.state.city, end.report.warnings.len()), ("Oslo", 1));
    let end = new.thread("t").run(Trip::update()).await.unwrap();
    assert_eq!((&*end.state.city, end.report.cached, end.report.warnings.len()), ("Oslo", 1, 0), "it was replaced");
}
