//! The store beside the least that can be done with PostgreSQL by hand (a table of deltas, one row a commit, one
//! connection), on one server: wall time, because the server is another process; limit and store in turn, the median of
//! the ratios of nine pairs.
//!
//! ```text
//! scripts/postgres run cargo bench --package graph-engine-postgres
//! ```

use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::future::join_all;
use graph_engine::{Filter, Graph, Log, Node, NodeError, Outcome, Route, Runner, START, State, Task};
use graph_engine_postgres::{Format, PostgresOptions, PostgresStore, SynchronousCommit};
use tokio_postgres::{Client, NoTls};

const PAIRS: usize = 9;
const STEPS: i64 = 500;
/// Bytes of a message as a store is given it.
const DELTA: usize = 140;

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

struct Append;

#[async_trait]
impl Node<Chat> for Append {
    async fn run(&self, task: &Task<Chat>) -> Result<Outcome<Chat>, NodeError> {
        Ok(Outcome::of(Chat::update().messages([message(task.state().messages.len() as u64)])))
    }
}

#[derive(Route)]
enum Again {
    Tick,
    #[route(end)]
    End,
}

/// A server with a schema for each measurement.
struct Bench {
    url: String,
    admin: Client,
}

impl Bench {
    async fn fresh(&self) {
        self.admin.batch_execute("DROP SCHEMA IF EXISTS bench CASCADE").await.expect("dropped");
    }

    async fn runner(&self, promise: SynchronousCommit, format: Format, pool: usize, steps: i64) -> Runner<Chat> {
        self.fresh().await;
        let options = PostgresOptions::default().schema("bench").synchronous_commit(promise).format(format);
        let store = PostgresStore::connect_with(&self.url, options.pool_size(pool)).await.expect("a store");
        let again = move |chat: &Chat| {
            if (chat.messages.len() as u64).is_multiple_of(steps as u64) { Again::End } else { Again::Tick }
        };
        let graph = Graph::<Chat>::builder("chat").node("tick", Append).edge(START, "tick").route("tick", again);
        let graph = graph.compile().expect("compiles");
        graph.runner().step_limit(steps as u64 + 1).timings(false).store(store)
    }

    async fn turn(&self, promise: SynchronousCommit, format: Format, steps: i64) -> (Duration, Runner<Chat>) {
        let runner = self.runner(promise, format, 2, steps).await;
        let began = Instant::now();
        let end = runner.thread("guest-7").run(Chat::update()).await.expect("runs");
        let took = began.elapsed();
        assert_eq!(end.state.messages.len() as i64, steps);
        (took, runner)
    }

    /// The same by hand.
    async fn by_hand(&self, promise: SynchronousCommit, steps: i64) -> (Duration, Client) {
        self.fresh().await;
        let client = connect(&self.url).await;
        let promise = if promise == SynchronousCommit::Off { "off" } else { "on" };
        let table = format!(
            "SET synchronous_commit = {promise}; CREATE SCHEMA bench;
             CREATE TABLE bench.deltas (thread bigint, step bigint, bytes bytea, PRIMARY KEY (thread, step))"
        );
        client.batch_execute(&table).await.expect("a table");
        let insert = client.prepare("INSERT INTO bench.deltas VALUES (1, $1, $2)").await.expect("a statement");
        let delta = vec![b'x'; DELTA];
        let began = Instant::now();
        for step in 0..steps {
            client.execute(&insert, &[&step, &delta]).await.expect("a row");
        }
        (began.elapsed(), client)
    }

    async fn bytes(&self) -> i64 {
        let sum = "SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c
            JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'bench' AND c.relkind = 'r'";
        self.admin.query_one(sum, &[]).await.expect("a sum").get(0)
    }
}

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("a server");
    tokio::spawn(connection);
    client
}

#[expect(clippy::print_stdout, reason = "a benchmark prints its table")]
fn print(line: &str) {
    println!("{line}");
}

/// Measures both sides in turn and prints the line.
async fn pair(name: &str, unit: &str, units: i64, one: impl AsyncFn() -> Duration, two: impl AsyncFn() -> Duration) {
    let per_unit = |took: Duration| took.as_secs_f64() * 1e6 / units as f64;
    let mut pairs = Vec::new();
    for _ in 0..PAIRS {
        pairs.push((per_unit(one().await), per_unit(two().await)));
    }
    let median = |value: &dyn Fn(&(f64, f64)) -> f64| {
        let mut values: Vec<f64> = pairs.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let (limit, store, ratio) = (median(&|p| p.0), median(&|p| p.1), median(&|p| p.1 / p.0));
    print(&format!("| {name} | {unit} | {limit:.0} us | {store:.0} us | {ratio:.2} |"));
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let Ok(url) = std::env::var("GRAPH_ENGINE_POSTGRES_URL") else {
        print("skipped: GRAPH_ENGINE_POSTGRES_URL names no server; see scripts/postgres");
        return;
    };
    let bench = Bench { admin: connect(&url).await, url };
    print("| row | unit | limit | store | ratio |\n| --- | --- | --- | --- | --- |");
    for (name, promise) in
        [("9 grow, synchronous_commit on", SynchronousCommit::On), ("10 grow, off", SynchronousCommit::Off)]
    {
        let limit = async || bench.by_hand(promise, STEPS).await.0;
        pair(name, "super-step", STEPS, limit, async || bench.turn(promise, Format::Json, STEPS).await.0).await;
    }
    reads(&bench).await;
    many_threads(&bench).await;
    print("\n| row 12 | steps | limit | store | ratio |\n| --- | --- | --- | --- | --- |");
    for format in [Format::Json, Format::MessagePack] {
        for steps in [1_000, 2_000, 4_000] {
            let _client = bench.by_hand(SynchronousCommit::Off, steps).await.1;
            let limit = bench.bytes().await / steps;
            let _runner = bench.turn(SynchronousCommit::Off, format, steps).await.1;
            let store = bench.bytes().await / steps;
            print(&format!("| {format:?} | {steps} | {limit} B | {store} B | {:.2} |", store as f64 / limit as f64));
        }
    }
}

/// So many calls after each other.
async fn times(calls: i64, call: impl AsyncFn()) -> Duration {
    let began = Instant::now();
    for _ in 0..calls {
        call().await;
    }
    began.elapsed()
}

/// Rows 13 and 15: a thread of 1,000 checkpoints and 100 kB.
async fn reads(bench: &Bench) {
    const READS: i64 = 50;
    let client = connect(&bench.url).await;
    let table = "DROP SCHEMA IF EXISTS by_hand CASCADE; CREATE SCHEMA by_hand;
        CREATE TABLE by_hand.deltas (thread bigint, step bigint, bytes bytea, PRIMARY KEY (thread, step))";
    client.batch_execute(table).await.expect("a table");
    for step in 0..1_000_i64 {
        let bytes = serde_json::to_vec(&[message(step as u64)]).expect("JSON");
        client.execute("INSERT INTO by_hand.deltas VALUES (1, $1, $2)", &[&step, &bytes]).await.expect("a row");
    }
    let all = client.prepare("SELECT bytes FROM by_hand.deltas WHERE thread = 1 ORDER BY step").await.expect("SQL");
    let newest = "SELECT step, bytes FROM by_hand.deltas WHERE thread = 1 ORDER BY step DESC LIMIT 10";
    let newest = client.prepare(newest).await.expect("SQL");
    let runner = bench.turn(SynchronousCommit::Off, Format::Json, 1_000).await.1;
    let thread = runner.thread("guest-7");
    let limit = async || {
        times(READS, async || {
            let rows = client.query(&all, &[]).await.expect("rows");
            let parsed = rows.iter().map(|row| serde_json::from_slice::<Vec<Message>>(row.get(0)).expect("JSON"));
            assert_eq!(parsed.flatten().count(), 1_000);
        })
        .await
    };
    let store = async || {
        times(READS, async || assert_eq!(thread.state().await.expect("a state").state.messages.len(), 1_000)).await
    };
    pair("13 state of 1,000 checkpoints, 100 kB", "call", READS, limit, store).await;
    let limit =
        async || times(READS, async || assert_eq!(client.query(&newest, &[]).await.expect("rows").len(), 10)).await;
    let filter = Filter::default().limit(10);
    let store =
        async || times(READS, async || assert_eq!(thread.history(&filter).await.expect("a list").len(), 10)).await;
    pair("15 history, limit 10", "call", READS, limit, store).await;
}

/// Row 16: 200 threads of 5 super-steps at once over 8 connections.
async fn many_threads(bench: &Bench) {
    const MANY: i64 = 200;
    const SHORT: i64 = 5;
    let limit = async || {
        let client = bench.by_hand(SynchronousCommit::On, 0).await.1;
        let sql = "INSERT INTO bench.deltas VALUES ($1, $2, $3)";
        let delta = vec![b'x'; DELTA];
        let mut writers = Vec::new();
        for _ in 0..8 {
            let writer = connect(&bench.url).await;
            let statement = writer.prepare(sql).await.expect("a statement");
            writers.push((writer, statement));
        }
        let began = Instant::now();
        join_all(writers.iter().enumerate().map(async |(at, (writer, statement))| {
            // The input and every super-step.
            for n in 0..MANY * (SHORT + 1) / 8 {
                writer.execute(statement, &[&(at as i64), &n, &delta]).await.expect("a row");
            }
        }))
        .await;
        drop(client);
        began.elapsed()
    };
    let store = async || {
        let runner = bench.runner(SynchronousCommit::On, Format::Json, 8, SHORT).await;
        let began = Instant::now();
        let turns = (0..MANY).map(|at| runner.thread(format!("guest-{at}")).run(Chat::update()).into_future());
        assert!(join_all(turns).await.iter().all(Result::is_ok));
        began.elapsed()
    };
    pair("16 threads:200 of 5 super-steps, 8 connections", "thread", MANY, limit, store).await;
}
