//! A process that is killed: it goes on with the thread of a script in a store that outlives it, and writes to a ledger
//! what it does outside and what it was told to be stored.
//!
//! `crash-child STORE SCRIPT LEDGER` with STORE a path of a SQLite file or a URL of PostgreSQL. With `race` for SCRIPT it
//! runs turns against another process on the same thread, and LEDGER is its number.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use behaviour_tests::crash::{Ledger, Line, SCRIPTS, finish, race};
use graph_engine::CheckpointStore;
use graph_engine_postgres::PostgresStore;
use graph_engine_sqlite::SqliteStore;

async fn open(store: &str) -> Result<Arc<dyn CheckpointStore>, String> {
    if store.starts_with("postgres") {
        return Ok(Arc::new(PostgresStore::connect(store).await.map_err(|error| error.to_string())?));
    }
    Ok(Arc::new(SqliteStore::open(store).map_err(|error| error.to_string())?))
}

async fn run(arguments: &[String]) -> Result<(), String> {
    let [store, script, ledger] = arguments else {
        return Err("three arguments: a store, a script, a ledger".into());
    };
    if script == "race" {
        let number = ledger.parse().map_err(|_| format!("`{ledger}` is no number"))?;
        return race(open(store).await?, number).await;
    }
    let (script, thread) = script.split_once('@').ok_or("a script is SCRIPT@THREAD")?;
    let known = SCRIPTS.iter().find(|known| known.name == script);
    let script = known.ok_or_else(|| format!("there is no script `{script}`"))?;
    let ledger = Arc::new(Ledger::in_file(Path::new(ledger)).map_err(|error| error.to_string())?);
    ledger.write(&Line::Start);
    let runner = script.runner().store_arc(open(store).await?).provide_arc(ledger.clone());
    finish(&runner, thread, &ledger).await.map(drop)
}

#[expect(clippy::print_stderr, reason = "whoever started it reads why it failed")]
#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
