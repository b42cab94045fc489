//! Super-steps a second of one process, by threads of the runtime, turns at once and store: what gives way first.

use cpu_time::ThreadTime;
use graph_engine::{MemoryStore, Runner};
use graph_engine_sqlite::{Format, SqliteStats, Synchronous};
use tokio::runtime::{Builder, Runtime};

use crate::case::{Case, Figure};
use crate::process::{Since, median};
use crate::talk::id;
use crate::workloads::count::{Count, Tick, looping};
use crate::workloads::sqlite::Filed;

/// Measurements of a case; the median of each figure counts.
const TIMES: usize = 3;

const STORES: [&str; 4] = ["no store", "memory", "SQLite normal", "SQLite full"];

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for store in STORES {
        for threads in [1, 2] {
            cases.extend([1, 100, 10_000].map(|turns| Case::new(format!("steps {threads} threads, {store}"), turns)));
        }
    }
    cases
}

/// How many super-steps are measured at least, all turns together.
fn total(case: &Case) -> u64 {
    if case.has("full") {
        2_000
    } else if case.has("normal") {
        20_000
    } else {
        200_000
    }
}

/// One thread runs everything but the blocking tasks of SQLite, so its time is the engine's, and the rest is the writer's.
fn runtime(case: &Case) -> Runtime {
    let mut builder = if case.has("1") { Builder::new_current_thread() } else { Builder::new_multi_thread() };
    builder.worker_threads(2).enable_time().build().expect("a runtime")
}

/// What a round took, for each super-step.
struct Round {
    a_second: f64,
    cpu: f64,
    here: f64,
    commits: f64,
    transactions: f64,
}

pub(crate) fn measure(case: &Case) -> Vec<Figure> {
    let runtime = runtime(case);
    round(case, &runtime);
    let rounds: Vec<Round> = (0..TIMES).map(|_| round(case, &runtime)).collect();
    let middle = |of: fn(&Round) -> f64| median(rounds.iter().map(of).collect());
    let mut figures = vec![
        Figure::new("super-steps", middle(|round| round.a_second), "a second"),
        Figure::new("CPU, all threads", middle(|round| round.cpu), "ns a super-step"),
    ];
    if case.has("SQLite") {
        if case.has("1") {
            figures.push(Figure::new("CPU, runtime's thread", middle(|round| round.here), "ns a super-step"));
            let writer = middle(|round| round.cpu - round.here);
            figures.push(Figure::new("CPU, blocking threads", writer, "ns a super-step"));
        }
        figures.push(Figure::new("commits", middle(|round| round.commits), "a super-step"));
        let group = middle(|round| round.commits / round.transactions);
        figures.push(Figure::new("commits in a transaction", group, ""));
    }
    figures
}

fn round(case: &Case, runtime: &Runtime) -> Round {
    let turns = case.size;
    let each = (total(case) / turns).max(2);
    let steps = (turns * each) as f64;
    let synchronous = if case.has("full") { Synchronous::Full } else { Synchronous::Normal };
    let filed = case.has("SQLite").then(|| Filed::new(synchronous, Format::Json));
    let runner = looping(|graph| graph.node("step", Tick));
    let runner = match &filed {
        Some(filed) => runner.store(filed.store.clone()),
        None if case.has("memory") => runner.store(MemoryStore::new()),
        None => runner,
    };
    let (since, thread) = (Since::now(), ThreadTime::now());
    runtime.block_on(at_once(&runner, turns, each));
    let (wall, cpu) = since.seconds();
    let here = thread.elapsed().as_secs_f64();
    let stats = filed.as_ref().map_or_else(SqliteStats::default, |filed| filed.store.stats());
    Round {
        a_second: steps / wall,
        cpu: cpu * 1e9 / steps,
        here: here * 1e9 / steps,
        commits: stats.changes as f64 / steps,
        transactions: stats.transactions as f64 / steps,
    }
}

/// So many turns at once, each in a task of its own.
async fn at_once(runner: &Runner<Count>, turns: u64, steps: u64) {
    let turn = |i| tokio::spawn(runner.thread(id(i)).run(Count::update().limit(steps)).into_future());
    let turns: Vec<_> = (0..turns).map(turn).collect();
    for turn in turns {
        assert_eq!(turn.await.expect("no panic").expect("it ends").state.n, steps);
    }
}
