//! E19: what a task remembers by key is stored before it is given back, and given back in every later attempt.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use behaviour_tests::TestStore;
use futures_util::future::join;
use graph_engine::{
    CheckpointStore, Ctx, Graph, MemoryStore, NodeError, NodeExt, Place, Retry, Runner, START, State, Status,
};

#[derive(State, Clone, Default)]
struct Trip {
    #[state(append)]
    log: Vec<String>,
}

/// Counts calls and gives their number.
#[derive(Clone, Default)]
struct Calls(Arc<AtomicUsize>);

impl Calls {
    fn next(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    fn made(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Works once under a key, then fails so often, then asks.
fn node(
    calls: &Calls,
    fails: usize,
) -> impl Fn(Ctx) -> std::pin::Pin<Box<dyn Future<Output = Result<TripUpdate, NodeError>> + Send>> + Clone + use<> {
    let (calls, attempts) = (calls.clone(), Calls::default());
    move |ctx: Ctx| {
        let (calls, attempt) = (calls.clone(), attempts.next());
        Box::pin(async move {
            let work = async { Ok::<_, NodeError>(format!("quote {}", calls.next())) };
            let quote = ctx.memo("quote", work).await?;
            if attempt <= fails {
                return Err("the line is dead".into());
            }
            let answer: String = ctx.interrupt(&quote)?;
            Ok(Trip::update().log([quote, answer]))
        })
    }
}

fn runner(store: impl CheckpointStore, calls: &Calls, fails: usize, attempts: u32) -> Runner<Trip> {
    let node = node(calls, fails).retry(Retry::fixed(attempts, Duration::ZERO));
    Graph::<Trip>::builder("trip").node("a", node).edge(START, "a").compile().unwrap().runner().store(store)
}

#[tokio::test]
async fn a_result_is_given_back_in_retries_after_failures_and_after_an_answer() {
    for store in [TestStore::new(), TestStore::lasting()] {
        let calls = Calls::default();
        let thread = runner(store, &calls, 3, 2).thread("t");
        thread.run(Trip::update()).await.unwrap_err();
        let paused = thread.proceed().await.unwrap();
        assert_eq!((paused.status, &paused.interrupts()[0].question), (Status::Paused, &"quote 1".into()));
        assert_eq!(thread.resume("yes").await.unwrap().state.log, ["quote 1", "yes"]);
        assert_eq!(calls.made(), 1);
    }
}

#[tokio::test]
async fn it_is_stored_before_it_is_given_back_so_that_a_crash_right_after_finds_it() {
    let store = TestStore::lasting();
    let calls = Calls::default();
    let stored = store.clone();
    let made = calls.clone();
    let looks = move |ctx: Ctx| {
        let (stored, made) = (stored.clone(), made.clone());
        async move {
            ctx.memo("quote", async { Ok::<_, NodeError>(made.next()) }).await?;
            let saved = stored.load(&Place::thread("t"), None).await?.unwrap().saved;
            let saved: Vec<_> = saved.iter().map(|saved| (saved.key.to_string(), saved.bytes.clone())).collect();
            assert_eq!(saved, [("5:quote".to_owned(), b"1".to_vec())]);
            // The process dies here.
            std::future::pending::<()>().await;
            Ok::<_, NodeError>(())
        }
    };
    let graph = Graph::<Trip>::builder("trip").node("a", looks).edge(START, "a").compile().unwrap();
    let turn = graph.runner().store(store.clone()).thread("t").run(Trip::update()).into_future();
    assert!(tokio::time::timeout(Duration::from_millis(50), turn).await.is_err());

    let again = move |ctx: Ctx| {
        let made = calls.clone();
        async move {
            let number = ctx.memo("quote", async { Ok::<_, NodeError>(made.next()) }).await?;
            Ok::<_, NodeError>(Trip::update().log([number.to_string()]))
        }
    };
    let graph = Graph::<Trip>::builder("trip").node("a", again).edge(START, "a").compile().unwrap();
    let end = graph.runner().store(store).thread("t").proceed().await.unwrap();
    assert_eq!(end.state.log, ["1"]);
}

#[tokio::test]
async fn errors_are_not_stored_and_the_key_is_free_again() {
    let calls = Calls::default();
    let made = calls.clone();
    let node = move |ctx: Ctx| {
        let made = made.clone();
        async move {
            let try_it = async || {
                let work = async { if made.next() < 3 { Err("busy") } else { Ok(7_u32) } };
                ctx.memo("k", work).await
            };
            let first = try_it().await.unwrap_err();
            let number = match try_it().await {
                Ok(number) => number,
                Err(_) => try_it().await?,
            };
            Ok::<_, NodeError>(Trip::update().log([format!("{first} {number}")]))
        }
    };
    let graph = Graph::<Trip>::builder("trip").node("a", node).edge(START, "a").compile().unwrap();
    let end = graph.runner().store(MemoryStore::new()).thread("t").run(Trip::update()).await.unwrap();
    assert_eq!((end.state.log[0].as_str(), calls.made()), ("busy 7", 3));
}

#[tokio::test]
async fn the_same_key_twice_is_an_error_and_scopes_tell_keys_apart() {
    async fn twice(ctx: Ctx) -> Result<TripUpdate, NodeError> {
        let one = |n: u32| async move { Ok::<_, NodeError>(n) };
        let (a, b) = (ctx.scope("a"), ctx.scope("b"));
        let (x, y) = join(a.memo("k", one(1)), b.memo("k", one(2))).await;
        let outer = ctx.memo("k", one(3)).await?;
        let error = ctx.memo("k", one(4)).await.unwrap_err();
        Ok(Trip::update().log([format!("{} {} {outer}", x?, y?), error.to_string()]))
    }
    let graph = Graph::<Trip>::builder("trip").node("a", twice).edge(START, "a").compile().unwrap();
    let end = graph.runner().store(MemoryStore::new()).thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(
        end.state.log,
        ["1 2 3", "the memo key `k` is used twice in one attempt; use one key for each piece of work, or a `scope`"]
    );
}

#[tokio::test]
async fn another_type_and_what_is_no_json_are_clear_errors() {
    let attempt = Calls::default();
    let node = move |ctx: Ctx| {
        let attempt = attempt.next();
        async move {
            if attempt == 1 {
                ctx.memo("k", async { Ok::<_, NodeError>("text".to_owned()) }).await?;
                return Err("the first attempt fails".into());
            }
            let changed = ctx.memo("k", async { Ok::<_, NodeError>(1_u32) }).await.unwrap_err();
            let nan = ctx.memo("nan", async { Ok::<_, NodeError>(f64::NAN) }).await.unwrap_err();
            Ok::<_, NodeError>(Trip::update().log([changed.to_string(), nan.to_string()]))
        }
    };
    let node = node.retry(Retry::fixed(2, Duration::ZERO));
    let graph = Graph::<Trip>::builder("trip").node("a", node).edge(START, "a").compile().unwrap();
    let end = graph.runner().store(MemoryStore::new()).thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(
        end.state.log,
        [
            "what is stored under the memo key `k` is no `u32`: invalid type: string \"text\", expected u32 at line 1 \
             column 6; its type changed since, use another key or `abandon` the thread's unfinished work",
            "the result under the memo key `nan` can't be written as JSON: it holds a float that is not finite (NaN), \
             which JSON can't store"
        ]
    );
}

#[tokio::test]
async fn without_a_store_it_is_a_fatal_error_that_names_the_node() {
    let calls = Calls::default();
    let graph = Graph::<Trip>::builder("trip").node("a", node(&calls, 0)).edge(START, "a").compile().unwrap();
    let error = graph.runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert!(
        error.to_string().contains("`a` (task 0.0) failed after 1 attempt: `memo` needs a checkpoint store"),
        "{error}"
    );
    assert_eq!(calls.made(), 0);
}

#[tokio::test]
async fn memos_of_a_finished_step_are_gone_and_tasks_dont_share_them() {
    let calls = Calls::default();
    let made = calls.clone();
    let node = move |ctx: Ctx| {
        let made = made.clone();
        async move {
            let number = ctx.memo("k", async { Ok::<_, NodeError>(made.next()) }).await?;
            Ok::<_, NodeError>(Trip::update().log([format!("{}{number}", ctx.node())]))
        }
    };
    let graph = Graph::<Trip>::builder("trip")
        .node("a", node.clone())
        .node("b", node.clone())
        .node("c", node)
        .edge(START, "a")
        .edge(START, "b")
        .edge("b", "c")
        .compile()
        .unwrap();
    let store = TestStore::lasting();
    let end = graph.runner().store(store.clone()).thread("t").run(Trip::update()).await.unwrap();
    assert_eq!((end.state.log.len(), calls.made()), (3, 3));
    assert!(store.load(&Place::thread("t"), None).await.unwrap().unwrap().saved.is_empty());
}
