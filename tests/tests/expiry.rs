//! E18: a question with a deadline is answered by its default, when somebody asks for it or the thread is next loaded.

use std::time::{Duration, SystemTime};

use graph_engine::{
    BoxFuture, CheckpointStore, Clock, Ctx, Graph, MemoryStore, NodeError, RunError, Runner, START, Seams, State,
    Status, ThreadFilter,
};

#[derive(State, Clone, Default)]
struct Trip {
    #[state(append)]
    log: Vec<String>,
}

/// The time of day stands at 1,000 seconds since 1970.
struct Still;

impl Clock for Still {
    fn now(&self) -> SystemTime {
        at(1_000)
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn sleep(&self, duration: Duration) -> BoxFuture {
        Box::pin(tokio::time::sleep(duration))
    }
}

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

async fn ask(ctx: Ctx) -> Result<TripUpdate, NodeError> {
    let sure: bool = ctx.ask("sure?").expires(Duration::from_secs(60), false).answer()?;
    let room: String = ctx.ask("room?").expires(Duration::from_secs(30), "any").answer()?;
    Ok(Trip::update().log([format!("{sure} {room}")]))
}

async fn forever(ctx: Ctx) -> Result<TripUpdate, NodeError> {
    Ok(Trip::update().log([ctx.interrupt::<String>("name?")?]))
}

fn runner(store: MemoryStore) -> Runner<Trip> {
    let graph = Graph::<Trip>::builder("trip").node("ask", ask).edge(START, "ask").compile().unwrap();
    graph.runner().store(store).seams(Seams::default().clock(Still))
}

#[tokio::test]
async fn it_is_answered_by_its_default_at_its_deadline_and_not_before() {
    let store = MemoryStore::new();
    let runner = runner(store.clone());
    let thread = runner.thread("t");
    let paused = thread.run(Trip::update()).await.unwrap();
    assert_eq!(paused.interrupts()[0].expires_ms, Some(1_060_000));
    assert_eq!(store.threads(&ThreadFilter::default()).await.unwrap()[0].due_ms, Some(1_060_000));
    let early = at(1_059) + Duration::from_millis(999);
    assert!(runner.expire(early).await.unwrap().is_empty());

    let first = runner.expire(at(1_060)).await.unwrap();
    let end = first[0].end.as_ref().unwrap();
    assert_eq!((end.status, &end.interrupts()[0].question), (Status::Paused, &"room?".into()));
    // The second question was first asked by the clock of the runner.
    assert_eq!(end.interrupts()[0].expires_ms, Some(1_030_000));
    let second = runner.expire(at(1_060)).await.unwrap();
    assert_eq!(second[0].end.as_ref().unwrap().state.log, ["false any"]);
    assert!(runner.expire(at(9_999)).await.unwrap().is_empty(), "nothing is due any more");
    assert_eq!(store.threads(&ThreadFilter::default()).await.unwrap()[0].due_ms, None);
}

#[tokio::test]
async fn an_answer_in_time_counts_and_a_question_without_a_deadline_never_expires() {
    let runner = runner(MemoryStore::new());
    let thread = runner.thread("t");
    thread.run(Trip::update()).await.unwrap();
    thread.resume(true).await.unwrap();
    assert_eq!(thread.resume("7").await.unwrap().state.log, ["true 7"]);

    let graph = Graph::<Trip>::builder("trip").node("f", forever).edge(START, "f").compile().unwrap();
    let runner = graph.runner().store(MemoryStore::new());
    runner.thread("t").run(Trip::update()).await.unwrap();
    assert!(runner.expire(at(u32::MAX.into())).await.unwrap().is_empty());
}

/// A clock of another process, an hour later.
struct Later;

impl Clock for Later {
    fn now(&self) -> SystemTime {
        at(4_600)
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn sleep(&self, duration: Duration) -> BoxFuture {
        Box::pin(tokio::time::sleep(duration))
    }
}

#[tokio::test]
async fn a_thread_that_is_loaded_after_the_deadline_goes_on_with_the_default() {
    let store = MemoryStore::new();
    runner(store.clone()).thread("t").run(Trip::update()).await.unwrap();
    let later = runner(store).seams(Seams::default().clock(Later));
    let thread = later.thread("t");
    // Too late: the question is answered already.
    let error = thread.resume(true).await.unwrap_err();
    assert!(matches!(&*error.error, RunError::NothingToAnswer { .. }), "{error}");
    let paused = thread.proceed().await.unwrap();
    assert_eq!(&paused.interrupts()[0].question, "room?");
}

#[tokio::test]
async fn a_deadline_without_a_store_and_expire_without_one_are_clear_errors() {
    let graph = Graph::<Trip>::builder("trip").node("ask", ask).edge(START, "ask").compile().unwrap();
    let error = graph.runner().expire(at(0)).await.unwrap_err();
    assert!(matches!(error, RunError::NoStore { operation: "expire", .. }), "{error}");
}
