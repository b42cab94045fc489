//! A key that is given to a turn is nowhere afterwards: not stored, not told, not traced, in no error.

use std::fmt::Write as _;

use behaviour_tests::{Traced, Trip, TripUpdate};
use futures_util::StreamExt;
use graph_engine::{
    Cache, CheckpointStore, Ctx, Filter, Graph, MemoryStore, Mode, NodeError, NodeExt, Place, Res, Retry, Runner,
    START, Snap, StreamOptions, Turn, TurnError,
};
use graph_engine_sqlite::SqliteStore;
use tracing_subscriber::layer::SubscriberExt;

const OF_THE_TURN: &str = "canary-turn-5c1f0d";
const OF_THE_RUNNER: &str = "canary-runner-93ab77";
/// What the nodes write and emit themselves is everywhere; so the search would find a key.
const SEEN: &str = "canary-seen-20e4c8";

/// A key whose author has forgotten to hide it.
#[derive(Debug)]
struct ApiKey(String);

#[derive(Debug)]
struct Password(String);

/// A graph that uses both keys in every way that is stored or told: a memo, a question, sends, a cached result, a
/// result beside a failure, and an attempt that is repeated.
fn runner(store: impl CheckpointStore) -> Runner<Trip> {
    let call = |key: Res<ApiKey>, password: Res<Password>, ctx: Ctx| async move {
        assert_eq!((key.0.as_str(), password.0.as_str()), (OF_THE_TURN, OF_THE_RUNNER));
        let length: usize = ctx.memo("length", async { Ok::<_, NodeError>(key.0.len()) }).await?;
        ctx.emit(format!("{SEEN} {length}")).await?;
        ctx.token(SEEN).await;
        let answer: String = ctx.interrupt(format!("{SEEN}?"))?;
        Ok::<_, NodeError>(Trip::update().log([answer, SEEN.to_owned()]))
    };
    let beside = |_: Res<ApiKey>| std::future::ready(Trip::update().log([format!("beside {SEEN}")]));
    // It fails until the state says otherwise, and says what it was about to do.
    let fails = |_: Res<ApiKey>, trip: Snap<Trip>| {
        let fixed = trip.city == "fixed";
        async move { if fixed { Ok(()) } else { Err(NodeError::from(format!("{SEEN} is refused"))) } }
    };
    let graph = Graph::<Trip>::builder("g")
        .node("call", call)
        .node("beside", beside.cache(Cache::by(|trip: &Trip| trip.city.clone())))
        .node("fails", fails.retry(Retry::fixed(2, std::time::Duration::ZERO)))
        .edge(START, "call")
        .edge("call", "beside")
        .edge("call", "fails");
    graph.compile().unwrap().runner().store(store).trace_content(true).provide(Password(OF_THE_RUNNER.to_owned()))
}

/// Reads all that a turn tells, and what is said of it in the end.
async fn read(turn: Turn<Trip>, said: &mut String) -> Result<graph_engine::TurnEnd<Trip>, TurnError> {
    let turn = turn.with(ApiKey(OF_THE_TURN.to_owned())).tag("tenant", "acme");
    writeln!(said, "{turn:?}").unwrap();
    let all = [Mode::Nodes, Mode::Updates, Mode::State, Mode::Custom, Mode::Tokens, Mode::Checkpoints];
    let mut events = turn.stream_with(StreamOptions::default().modes(all));
    writeln!(said, "{events:?}").unwrap();
    while let Some(event) = events.next().await {
        writeln!(said, "{event} {event:?} {:?}", event.kind).unwrap();
        if let graph_engine::EventKind::NodeFinished { update: Some(update), .. } = &event.kind {
            writeln!(said, "{update}").unwrap();
        }
    }
    let ended = events.end().await;
    match &ended {
        Ok(end) => writeln!(said, "{end:?} {:?} {:?}", end.report, end.state).unwrap(),
        Err(failed) => {
            writeln!(said, "{failed} {failed:?} {:?} {:?}", failed.error, failed.report).unwrap();
            for failure in failed.failures() {
                writeln!(said, "{failure} {failure:?}").unwrap();
            }
        }
    }
    ended
}

/// A question, its answer, a failure beside a finished task, and a turn without its key: all that is said and traced.
async fn talk(runner: &Runner<Trip>) -> String {
    let mut said = String::new();
    let thread = runner.thread("t");
    let paused = read(thread.run(Trip::update()), &mut said).await.unwrap();
    assert_eq!(paused.interrupts().len(), 1);
    let failed = read(thread.resume("yes"), &mut said).await.unwrap_err();
    assert_eq!(failed.failures().len(), 1);
    let missing = thread.proceed().await.unwrap_err();
    assert!(missing.to_string().contains("ApiKey"), "{missing}");
    writeln!(said, "{missing} {missing:?} {runner:?} {thread:?} {:?}", thread.state().await.unwrap()).unwrap();
    let mut lines = Vec::new();
    thread.export(&mut lines).await.unwrap();
    said.push_str(std::str::from_utf8(&lines).unwrap());
    said
}

fn check(what: &str, bytes: &[u8]) {
    let holds = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(holds(SEEN), "{what}: not even what the nodes wrote is there");
    assert!(!holds(OF_THE_TURN), "{what} holds the key of the turn");
    assert!(!holds(OF_THE_RUNNER), "{what} holds the key of the runner");
}

#[tokio::test]
async fn d15_a_key_is_in_no_row_event_span_error_or_export_in_memory() {
    let traced = Traced::default();
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(traced.clone()));
    let store = MemoryStore::new();
    let said = talk(&runner(store.clone())).await;
    check("what is said", said.as_bytes());
    check("what is traced", traced.take().as_bytes());
    let place = Place::thread("t");
    let mut rows = Vec::new();
    for info in store.list(&place, &Filter::default()).await.unwrap() {
        let row = store.row(&place, info.id).await.unwrap().unwrap();
        rows.extend_from_slice(&row.bytes);
        rows.extend(format!("{row:?} {info:?}").into_bytes());
    }
    check("the rows", &rows);
    check("where the thread stands", &store.load(&place, None).await.unwrap().unwrap().position);
    let tags: Vec<_> =
        store.list(&place, &Filter::default()).await.unwrap().into_iter().map(|info| info.tags).collect();
    assert!(tags.iter().all(|tags| tags.iter().map(|(k, v)| (k.as_str(), v.as_str())).eq([("tenant", "acme")])));
}

#[tokio::test]
async fn d15_a_key_is_nowhere_in_the_bytes_of_a_sqlite_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.sqlite");
    {
        let runner = runner(SqliteStore::open(&path).unwrap());
        check("what is said", talk(&runner).await.as_bytes());
        // While it is open, part of it is in the log beside the file.
        check("the folder", &bytes(&folder));
    }
    check("the closed folder", &bytes(&folder));
}

/// All files of a folder.
fn bytes(folder: &tempfile::TempDir) -> Vec<u8> {
    let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path());
    files.flat_map(|file| std::fs::read(file).unwrap()).collect()
}

#[tokio::test]
async fn d15_the_resume_needs_the_key_again_because_nobody_kept_it() {
    let runner = runner(MemoryStore::new());
    let thread = runner.thread("t");
    thread.run(Trip::update()).with(ApiKey(OF_THE_TURN.to_owned())).await.unwrap();
    let refused = thread.resume("yes").await.unwrap_err();
    assert!(
        matches!(&*refused.error, graph_engine::RunError::MissingResource { resource, .. } if resource.ends_with("ApiKey"))
    );
    let fixed: TripUpdate = Trip::update().city("fixed");
    thread.edit(fixed).in_place().await.unwrap();
    let end = thread.resume("yes").with(ApiKey(OF_THE_TURN.to_owned())).await.unwrap();
    assert_eq!(end.state.log, ["yes", SEEN, &format!("beside {SEEN}")]);
}
