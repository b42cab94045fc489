//! The server of `--local` ends with the program, however that one ends.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

struct Local {
    hotel: Child,
    output: BufReader<ChildStdout>,
    /// The server's process.
    server: String,
}

impl Local {
    /// The program once it has greeted, so that its server runs.
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hotel"));
        command.args(["--local", "--store", "memory", "--today", "2026-06-10"]);
        let mut hotel = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(hotel.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert!(line.starts_with("Hotel concierge. A language model of 135 million parameters"), "{line}");
        let parent = hotel.id().to_string();
        let server = processes().into_iter().find(|[_, of, _]| *of == parent).expect("a server");
        assert!(server[2].contains("python"), "{server:?}");
        let [server, ..] = server;
        Self { hotel, output, server }
    }

    fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.hotel.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// Waits until both processes are gone.
    fn ends(mut self) {
        self.hotel.wait().unwrap();
        let limit = Instant::now() + Duration::from_secs(20);
        while processes().iter().any(|[pid, _, state]| *pid == self.server && !state.starts_with("Z")) {
            assert!(Instant::now() < limit, "the server {} is left over", self.server);
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Every process: its id, its parent's, its state and command.
fn processes() -> Vec<[String; 3]> {
    let output = Command::new("ps").args(["-A", "-o", "pid=,ppid=,stat=,args="]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let process = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        let (pid, parent) = (words.next()?, words.next()?);
        Some([pid, parent, words.collect::<Vec<_>>().join(" ")])
    };
    text.lines().filter_map(process).collect()
}

#[test]
fn it_ends_with_a_goodbye_with_ctrl_c_and_with_a_crash() {
    if crate::server().is_none() {
        return;
    }
    let mut left = Local::start();
    left.hotel.stdin.take();
    left.ends();

    // Ctrl-C ends the turn and not the server; the second one at the prompt leaves.
    let mut interrupted = Local::start();
    writeln!(interrupted.hotel.stdin.as_ref().unwrap(), "Lisbon 3-6 July for 2").unwrap();
    let mut line = String::new();
    while !line.starts_with("> Lisbon") {
        line.clear();
        assert!(interrupted.output.read_line(&mut line).unwrap() > 0);
    }
    interrupted.signal("-INT");
    while !line.starts_with("What was not finished is dropped.") && !line.starts_with("Press Ctrl-C again") {
        line.clear();
        assert!(interrupted.output.read_line(&mut line).unwrap() > 0);
    }
    assert!(processes().iter().any(|[pid, ..]| *pid == interrupted.server), "the server ended with the turn");
    for _ in 0..2 {
        interrupted.signal("-INT");
        std::thread::sleep(Duration::from_millis(300));
    }
    interrupted.ends();

    let killed = Local::start();
    killed.signal("-KILL");
    killed.ends();
}
