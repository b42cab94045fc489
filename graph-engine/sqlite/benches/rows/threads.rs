//! Threads of a graph that adds a message of 100 bytes in each super-step.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use graph_engine::{
    CheckpointStore, Durability, Filter, Keep, Log, Node, NodeError, Outcome, Place, Route, Runner, START, State, Task,
};
use graph_engine_sqlite::{Format, SqliteOptions, SqliteStore, Synchronous};
use tokio::runtime::{Builder, Runtime};

use crate::limit::Limit;
use crate::measure::{Clock, heading, pair};

pub(crate) const STEPS: u64 = 1_000;

/// Bytes of a message as a store is given it.
pub(crate) const DELTA: usize = 140;

const MANY: u64 = 1_000;
const SHORT: u64 = 5;

#[derive(State, Default, Clone)]
struct Chat {
    #[state(append)]
    messages: Log<Message>,
}

#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Message {
    role: String,
    content: String,
}

/// A message of 100 letters that nothing can compress away.
fn message(id: u64) -> Message {
    let mut x = (id as u32).wrapping_mul(2_654_435_761).wrapping_add(12_345);
    let letter = |_| {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b"abcdefghijklmnopqrstuvwxyz012345"[(x >> 27) as usize])
    };
    Message { role: "assistant".to_owned(), content: (0..100).map(letter).collect() }
}

impl Limit {
    /// Reads all messages of the first thread.
    fn messages(&self) -> Vec<Message> {
        let mut query = self.connection.prepare_cached("SELECT bytes FROM deltas WHERE thread = 1").expect("SQL");
        let mut rows = query.query([]).expect("rows");
        let mut messages: Vec<Message> = Vec::new();
        while let Some(row) = rows.next().expect("a row") {
            let bytes = row.get_ref(0).expect("a column").as_blob().expect("bytes");
            messages.extend(serde_json::from_slice::<Vec<Message>>(bytes).expect("JSON"));
        }
        messages
    }
}

struct Append;

#[async_trait]
impl Node<Chat> for Append {
    async fn run(&self, task: &Task<Chat>) -> Result<Outcome<Chat>, NodeError> {
        let next = task.state().messages.len() as u64;
        Ok(Outcome::of(Chat::update().messages([message(next)])))
    }
}

#[derive(Route)]
enum Again {
    Tick,
    #[route(end)]
    End,
}

fn runner(store: SqliteStore, durability: Durability, steps: u64) -> Runner<Chat> {
    let again = move |chat: &Chat| {
        if (chat.messages.len() as u64).is_multiple_of(steps) { Again::End } else { Again::Tick }
    };
    let graph = graph_engine::Graph::<Chat>::builder("chat")
        .node("tick", Append)
        .edge(START, "tick")
        .route("tick", again)
        .compile()
        .expect("compiles");
    graph.runner().step_limit(steps + 1).timings(false).store(store).durability(durability)
}

pub(crate) struct Bench {
    runtime: Runtime,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { runtime: Builder::new_current_thread().enable_time().build().expect("a runtime") }
    }

    fn open(path: &Path, synchronous: Synchronous, format: Format) -> SqliteStore {
        SqliteOptions::new().synchronous(synchronous).format(format).open(path).expect("a file")
    }

    /// One turn of so many super-steps in a new file: its time and the size of the file.
    pub(crate) fn turn(
        &self,
        synchronous: Synchronous,
        format: Format,
        durability: Durability,
        steps: u64,
        clock: Clock,
    ) -> (Duration, u64) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("threads.sqlite");
        let runner = runner(Self::open(&path, synchronous, format), durability, steps);
        let took = clock.time(|| {
            let end = self.runtime.block_on(runner.thread("guest-7").run(Chat::update()).into_future()).expect("runs");
            assert_eq!(end.state.messages.len() as u64, steps);
        });
        drop(runner);
        (took, fs::metadata(&path).expect("a file").len())
    }

    pub(crate) fn bytes(&self, format: Format, steps: u64) -> u64 {
        self.turn(Synchronous::Off, format, Durability::Sync, steps, Clock::Cpu).1
    }

    /// Rows 13 and 15: a thread of 1,000 checkpoints and 100 kB.
    pub(crate) fn resume(&self) {
        const READS: u64 = 50;
        let folder = tempfile::tempdir().expect("a folder");
        let store = Self::open(&folder.path().join("threads.sqlite"), Synchronous::Off, Format::Json);
        let runner = runner(store.clone(), Durability::Sync, STEPS);
        self.runtime.block_on(runner.thread("guest-7").run(Chat::update()).into_future()).expect("runs");
        let limit = || -> Box<dyn FnOnce()> {
            let limit = Limit::new(Synchronous::Off);
            (0..STEPS).for_each(|step| {
                limit.insert(1, step, &serde_json::to_vec(&[message(step)]).expect("JSON"));
            });
            Box::new(move || {
                for _ in 0..READS {
                    assert_eq!(limit.messages().len() as u64, STEPS);
                }
            })
        };
        let thread = runner.thread("guest-7");
        let state = |clock: Clock| {
            clock.time(|| {
                for _ in 0..READS {
                    let state = self.runtime.block_on(thread.state()).expect("a state");
                    assert_eq!(state.state.messages.len() as u64, STEPS);
                }
            })
        };
        pair("13 state of 1,000 checkpoints, 100 kB", "call", READS, Clock::Cpu, limit, state, 1.2);
        let newest = || -> Box<dyn FnOnce()> {
            let limit = Limit::new(Synchronous::Off);
            (0..STEPS).for_each(|step| limit.insert(1, step, &[b'x'; DELTA]));
            Box::new(move || {
                for _ in 0..READS {
                    let sql = "SELECT step, bytes FROM deltas WHERE thread = 1 ORDER BY step DESC LIMIT 10";
                    let mut query = limit.connection.prepare_cached(sql).expect("SQL");
                    let rows: Vec<(i64, Vec<u8>)> = query
                        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
                        .expect("rows")
                        .collect::<Result<_, _>>()
                        .expect("rows");
                    assert_eq!(rows.len(), 10);
                }
            })
        };
        let history = |clock: Clock| {
            clock.time(|| {
                for _ in 0..READS {
                    let infos = self.runtime.block_on(thread.history(&Filter::default().limit(10))).expect("a list");
                    assert_eq!(infos.len(), 10);
                }
            })
        };
        pair("15 history, limit 10", "call", READS, Clock::Cpu, newest, history, 10.0);
    }

    /// Row 14: a thread of 1,000 messages goes on by one super-step, in a process that is warm.
    pub(crate) fn go_on(&self) {
        const TURNS: u64 = 20;
        let by_hand = Limit::new(Synchronous::Normal);
        let delta = |step: u64| serde_json::to_vec(&[message(step)]).expect("JSON");
        (0..STEPS).for_each(|step| by_hand.insert(1, step, &delta(step)));
        let by_hand = Rc::new(by_hand);
        let limit = || -> Box<dyn FnOnce()> {
            let limit = by_hand.clone();
            Box::new(move || {
                for _ in 0..TURNS {
                    let next = limit.messages().len() as u64;
                    limit.insert(1, next, &delta(next));
                }
            })
        };
        for (name, durability) in [
            ("14 continue by one super-step", Durability::Sync),
            ("14 continue by one super-step, durability exit", Durability::Exit),
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            let store = Self::open(&folder.path().join("threads.sqlite"), Synchronous::Normal, Format::Json);
            let first = runner(store.clone(), Durability::Sync, STEPS);
            self.runtime.block_on(first.thread("guest-7").run(Chat::update()).into_future()).expect("runs");
            let thread = runner(store, durability, 1).thread("guest-7");
            let turns = |clock: Clock| {
                clock.time(|| {
                    for _ in 0..TURNS {
                        let end = self.runtime.block_on(thread.run(Chat::update()).into_future()).expect("runs");
                        assert!(end.state.messages.len() as u64 > STEPS);
                    }
                })
            };
            pair(name, "call", TURNS, Clock::Cpu, limit, turns, 1.4);
        }
    }

    /// Row 16: 1,000 threads of 5 super-steps at once.
    pub(crate) fn many_threads(&self) {
        let limit = || -> Box<dyn FnOnce()> {
            let limit = Limit::new(Synchronous::Normal);
            Box::new(move || {
                // One writer, commits shared by a hundred.
                for group in 0..MANY * SHORT / 100 {
                    limit.connection.execute_batch("BEGIN").expect("begins");
                    (0..100).for_each(|at| limit.insert(group * 100 + at, 0, &[b'x'; DELTA]));
                    limit.connection.execute_batch("COMMIT").expect("commits");
                }
            })
        };
        let store = |clock: Clock| {
            let folder = tempfile::tempdir().expect("a folder");
            let store = Self::open(&folder.path().join("threads.sqlite"), Synchronous::Normal, Format::Json);
            let runner = runner(store, Durability::Sync, SHORT);
            clock.time(|| {
                let turns = (0..MANY).map(|at| runner.thread(format!("guest-{at}")).run(Chat::update()).into_future());
                let ends = self.runtime.block_on(join_all(turns));
                assert!(ends.iter().all(Result::is_ok));
            })
        };
        pair("16 threads:1000 of 5 super-steps", "thread", MANY, Clock::Cpu, limit, store, 3.0);
    }

    /// What a load costs depends on the state and not on how many checkpoints there are.
    pub(crate) fn laws(&self) {
        const READS: u64 = 200;
        heading(&["law", "unit", "1,000 checkpoints", "10,000 checkpoints", "ratio", "target"]);
        let folder = tempfile::tempdir().expect("a folder");
        let make = |steps: u64| {
            let path = folder.path().join(format!("{steps}.sqlite"));
            let store = Self::open(&path, Synchronous::Off, Format::Json);
            let place = Place::thread("guest-7");
            let mut parent = None;
            self.runtime.block_on(async {
                for step in 0..steps {
                    let next = counter(parent, step);
                    store.commit(&place, &next).await.expect("stored");
                    parent = Some(next.id);
                }
                store.prune(&place, Keep::Since(0)).await.expect("pruned");
            });
            store
        };
        let (few, many) = (make(1_000), make(10_000));
        // Both sides on one runtime: its threads are warm for both.
        let runtime = Rc::new(Bench::new());
        let load = |store: SqliteStore| {
            let runtime = runtime.clone();
            move || {
                for _ in 0..READS {
                    let stored = runtime.runtime.block_on(store.load(&Place::thread("guest-7"), None)).expect("loads");
                    assert_eq!(stored.expect("stored").fields.len(), 1);
                }
            }
        };
        let first = || -> Box<dyn FnOnce()> { Box::new(load(few.clone())) };
        pair("load of a small state", "call", READS, Clock::Cpu, first, |clock| clock.time(load(many.clone())), 1.1);
        // Both sides leave as many checkpoints in a file of their own.
        let kept = RefCell::new(Vec::new());
        let grow = |threads: u64| {
            let folder = tempfile::tempdir().expect("a folder");
            let steps = 10_000 / threads;
            let store = Self::open(&folder.path().join("threads.sqlite"), Synchronous::Normal, Format::Json);
            let runner = runner(store, Durability::Sync, steps);
            // A file is closed when the next one is made, outside of the time.
            *kept.borrow_mut() = vec![(folder, runner.clone())];
            move || {
                for at in 0..threads {
                    let turn = runner.thread(format!("guest-{at}")).run(Chat::update());
                    self.runtime.block_on(turn.into_future()).expect("runs");
                }
            }
        };
        let first = || -> Box<dyn FnOnce() + '_> { Box::new(grow(10)) };
        pair("growing state", "super-step", 10_000, Clock::Cpu, first, |clock| clock.time(grow(1)), 1.1);
    }
}

/// A commit of one field that is written whole.
fn counter(parent: Option<graph_engine::CheckpointId>, step: u64) -> graph_engine::Commit {
    let mut commit = graph_engine::Commit::default();
    commit.id = graph_engine::CheckpointId::derive("guest-7", "", parent, "turn", step);
    (commit.parent, commit.turn, commit.step) = (parent, "turn".into(), step);
    commit.bytes.extend_from_slice(step.to_string().as_bytes());
    let bytes = 0..commit.bytes.len();
    commit.fields.push(graph_engine::FieldRow::new("count", graph_engine::Encoding::Base, 0..0, bytes));
    commit.bytes.extend_from_slice(b"{}");
    commit
}
