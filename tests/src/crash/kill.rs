//! Kills processes at random moments and starts them again.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use graph_engine::{CheckpointStore, MemoryStore};

use super::{Ledger, Line, SCRIPTS, Script, Work, finish, verify, verify_state};

/// Splitmix64: the only source of chance.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) % n.max(1)
    }
}

/// How an undisturbed thread of the script ends, and what it does.
async fn calm(script: &Script) -> (Work, Vec<Line>) {
    let ledger = Arc::new(Ledger::in_memory());
    let runner = script.runner().store(MemoryStore::new()).provide_arc(ledger.clone());
    let end = finish(&runner, "calm", &ledger).await.unwrap_or_else(|error| panic!("{script:?}: {error}"));
    (end, ledger.lines())
}

/// Where the child process is, what it stores in, where ledgers go.
#[derive(Debug)]
pub struct Killing<'a> {
    /// The program.
    pub child: &'a str,
    /// A path or URL.
    pub store: &'a str,
    /// A folder for ledgers.
    pub folder: &'a Path,
    /// How often somebody is killed.
    pub kills: usize,
    /// Where the random numbers begin.
    pub seed: u64,
}

impl Killing<'_> {
    fn ledger(&self, thread: &str) -> PathBuf {
        self.folder.join(format!("{thread}.ledger"))
    }

    /// Runs the script once to its end, or until it is killed after so long; whether it came to its end.
    fn run(&self, script: &str, ledger: &Path, killed_after: Option<Duration>) -> bool {
        let mut child = Command::new(self.child)
            .args([self.store, script])
            .arg(ledger)
            .stdin(Stdio::null())
            .spawn()
            .expect("the child process starts");
        let Some(after) = killed_after else {
            let status = child.wait().expect("it ends");
            assert!(status.success(), "{script}: {status}");
            return true;
        };
        std::thread::sleep(after);
        if let Some(status) = child.try_wait().expect("it can be asked") {
            assert!(status.success(), "{script}: {status}");
            return true;
        }
        child.kill().expect("it can be killed");
        let status = child.wait().expect("it ends");
        status.success()
    }

    /// Kills and starts again, script after script, and checks every thread that came to its end with a reader of its own
    /// of the store.
    ///
    /// # Panics
    /// If a thread ends in another way than an undisturbed one.
    #[expect(clippy::print_stdout, reason = "a long test says how much it did")]
    pub async fn go(&self, open: impl AsyncFn() -> Arc<dyn CheckpointStore>) {
        let mut rng = Rng(self.seed);
        let (mut killed, mut over) = (0, 0);
        // How long a process that nobody disturbs takes.
        let mut took: Vec<Duration> = Vec::new();
        for script in SCRIPTS {
            let began = Instant::now();
            let thread = format!("{}-warm", script.name);
            self.run(&format!("{}@{thread}", script.name), &self.ledger(&thread), None);
            took.push(began.elapsed());
        }
        'all: for round in 0.. {
            for (script, took) in SCRIPTS.iter().zip(&took) {
                if killed >= self.kills {
                    break 'all;
                }
                let thread = format!("{}-{round}", script.name);
                let ledger = self.ledger(&thread);
                let what = format!("{}@{thread}", script.name);
                let most = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
                while !self.run(&what, &ledger, Some(Duration::from_micros(rng.below(most)))) {
                    killed += 1;
                }
                over += 1;
                let (end, done) = calm(script).await;
                let lines = Ledger::read(&ledger).expect("a ledger");
                let state = script.runner().store_arc(open().await).thread(thread).state().await;
                let state = state.unwrap_or_else(|error| panic!("{what}: {error}"));
                verify_state(&state.state, &end).unwrap_or_else(|why| panic!("{what}, seed {}: {why}", self.seed));
                verify(&lines, &done).unwrap_or_else(|why| panic!("{what}, seed {}: {why}", self.seed));
                std::fs::remove_file(&ledger).expect("it can be removed");
            }
        }
        println!("{killed} kills, {over} threads came to their end");
    }

    /// Lets two processes run turns of one thread against each other.
    ///
    /// # Panics
    /// If one of them fails.
    pub fn race(&self) {
        let start = |number: &str| {
            let mut command = Command::new(self.child);
            command.args([self.store, "race", number]).stdin(Stdio::null()).spawn().expect("the child process starts")
        };
        let (mut one, mut other) = (start("1"), start("2"));
        for child in [&mut one, &mut other] {
            let status = child.wait().expect("it ends");
            assert!(status.success(), "{status}");
        }
    }
}
