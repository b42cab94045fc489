//! A schema of its own for each test, on the server that the environment names.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    clippy::print_stderr,
    reason = "each test program uses a part of this"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use graph_engine::{CheckpointId, CheckpointStore, Commit, Encoding, FieldRow, Place};
use graph_engine_postgres::{PostgresOptions, PostgresStore};

/// Which server the tests use.
pub const VARIABLE: &str = "GRAPH_ENGINE_POSTGRES_URL";

/// The server's URL. Without one the test says so and passes, but not in CI, where a server is part of the run.
pub fn server() -> Option<String> {
    let url = std::env::var(VARIABLE).ok();
    if url.is_none() {
        let why = format!("skipped: {VARIABLE} names no server; `scripts/postgres run cargo test` starts one");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{why}");
        eprintln!("{why}");
    }
    url
}

/// Options for a machine of any speed.
pub fn patient() -> PostgresOptions {
    let long = Duration::from_secs(120);
    PostgresOptions::default().acquire_timeout(long).statement_timeout(long)
}

/// A schema that nobody else uses.
pub struct Schema {
    pub url: String,
    pub name: String,
}

impl Schema {
    pub fn new(url: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("test {} {}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
        Self { url: url.to_owned(), name }
    }

    /// A store in it.
    pub async fn store(&self, options: PostgresOptions) -> PostgresStore {
        PostgresStore::connect_with(&self.url, options.schema(&self.name)).await.unwrap()
    }

    /// A connection past the store.
    pub async fn client(&self) -> tokio_postgres::Client {
        client(&self.url).await
    }

    /// One number out of the tables; `{schema}` is this one.
    pub async fn number(&self, sql: &str) -> i64 {
        let sql = sql.replace("{schema}", &format!("\"{}\"", self.name));
        self.client().await.query_one(&sql, &[]).await.unwrap().get(0)
    }
}

/// A connection past the store.
pub async fn client(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// A server of its own, for what a shared one can't stand.
pub struct Server {
    folder: PathBuf,
    pub url: String,
}

fn script(verb: &str, folder: &Path) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/postgres");
    let done = Command::new(script).arg(verb).arg(folder).output().expect("the script runs");
    assert!(done.status.success(), "{verb}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

impl Server {
    pub fn start() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("graph-engine-postgres-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
        let folder = std::env::temp_dir().join(name);
        let url = script("start", &folder);
        Self { folder, url }
    }

    /// Stops it at once, as a crash would.
    pub fn kill(&self) {
        script("kill", &self.folder);
    }

    /// Starts it again where it was.
    pub fn again(&self) {
        assert_eq!(script("start", &self.folder), self.url);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        script("stop", &self.folder);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A commit that follows `parent`: one item more of a log, and a counter that is written whole.
pub fn link(place: &Place, parent: Option<CheckpointId>, turn: &str, step: u64) -> Commit {
    let mut commit = Commit::default();
    commit.id = CheckpointId::derive(&place.thread, &place.namespace, parent, turn, step);
    (commit.parent, commit.turn, commit.step, commit.time_ms) = (parent, turn.into(), step, step);
    let encoding = if step == 0 { Encoding::Base } else { Encoding::Delta };
    let (item, count) = (format!("[\"{turn} {step}\"]"), step.to_string());
    commit.bytes.extend_from_slice(item.as_bytes());
    commit.bytes.extend_from_slice(count.as_bytes());
    commit.fields.push(FieldRow::new("log", encoding, step..step + 1, 0..item.len()));
    commit.fields.push(FieldRow::new("count", Encoding::Base, 0..0, item.len()..commit.bytes.len()));
    commit.bytes.extend_from_slice(b"{}");
    commit
}

/// So many links after each other.
pub async fn chain(store: &PostgresStore, place: &Place, steps: u64) -> Vec<CheckpointId> {
    let mut ids = Vec::new();
    for step in 0..steps {
        let next = link(place, ids.last().copied(), "turn", step);
        store.commit(place, &next).await.unwrap();
        ids.push(next.id);
    }
    ids
}
