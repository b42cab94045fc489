//! A folder of its own for each test, and the program in it.

use demos::hotel::graph::graph;
use demos::hotel::state::Hotel;
use demos::hotel::terminal::DEFAULT_STORE;
use graph_engine::{Thread, ThreadState};
use graph_engine_sqlite::SqliteStore;
use rusqlite::Connection;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

/// Where one test runs the program.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("threads").join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.0.join(DEFAULT_STORE)
    }

    /// The words are arguments.
    pub(crate) fn start(&self, arguments: &str) -> Talk {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hotel"));
        command.args(["--today", "2026-06-10"]).args(arguments.split_whitespace()).current_dir(&self.0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Talk { child, input: Some(input), output: BufReader::new(output) }
    }

    /// A whole talk.
    pub(crate) fn talk(&self, arguments: &str, lines: &[&str]) -> Output {
        let mut talk = self.start(arguments);
        talk.say(lines);
        talk.end()
    }

    /// What the program says after its welcome, or what it complains of.
    pub(crate) fn said(&self, arguments: &str, lines: &[&str]) -> String {
        let output = self.talk(arguments, lines);
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        masked(&said.lines().filter(|line| !is_welcome(line)).map(|line| format!("{line}\n")).collect::<String>())
    }

    pub(crate) fn thread(&self, name: &str) -> Thread<Hotel> {
        graph().unwrap().runner().store(SqliteStore::open(self.file()).unwrap()).thread(name)
    }

    pub(crate) fn state(&self, name: &str) -> ThreadState<Hotel> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(self.thread(name).state()).unwrap()
    }

    /// Nobody else can write as long as this lives.
    pub(crate) fn lock(&self) -> Connection {
        let connection = Connection::open(self.file()).unwrap();
        connection.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        connection
    }
}

/// A running program. Its input stays open until the end.
pub(crate) struct Talk {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Talk {
    pub(crate) fn say(&mut self, lines: &[&str]) {
        for line in lines {
            // A program that leaves early closes its input: that is its right.
            let _ = writeln!(self.input.as_mut().unwrap(), "{line}");
        }
    }

    /// The next line of the output; `None` at its end.
    pub(crate) fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        (self.output.read_line(&mut line).unwrap() > 0).then_some(line)
    }

    pub(crate) fn read_to(&mut self, end: &str) {
        while !self.line().unwrap_or_else(|| panic!("no {end:?}")).starts_with(end) {}
    }

    /// SIGKILL: the program learns nothing of it.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn end(mut self) -> Output {
        drop(self.input.take());
        let mut said = Vec::new();
        std::io::Read::read_to_end(&mut self.output, &mut said).unwrap();
        let rest = self.child.wait_with_output().unwrap();
        Output { stdout: said, ..rest }
    }
}

fn is_welcome(line: &str) -> bool {
    line.starts_with("Hotel concierge. ") || line.starts_with("Tell me what you need, such as: ")
}

/// Ids and times are other ones in every run.
fn masked(text: &str) -> String {
    let word = |word: &str| {
        let hex = word.len() == 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let time = word.len() == 20 && word.starts_with("20") && word.ends_with('Z');
        if hex {
            "<id>".to_owned()
        } else if time {
            "<time>".to_owned()
        } else {
            word.to_owned()
        }
    };
    text.lines().map(|line| format!("{}\n", line.split(' ').map(word).collect::<Vec<_>>().join(" "))).collect()
}
