//! The program itself, as a person or a script starts it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The folder in which the program runs and keeps its conversations: one for all tests of this file, new each time.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("program");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    })
}

fn hotel(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotel"));
    command.args(arguments).current_dir(folder()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn talk(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = hotel(arguments).spawn().unwrap();
    // A program that leaves early closes its input: that is its right.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn text(output: &[u8]) -> &str {
    std::str::from_utf8(output).unwrap()
}

#[test]
fn a_piped_session_shows_offers_a_comparison_and_a_goodbye() {
    let input = b"a double room in Lisbon 3-6 July for 2 under 200 with wifi\ncompare the first two\nquit\n";
    let output = talk(&[], input);
    assert!(output.status.success());
    assert_eq!(text(&output.stderr), "");
    let said = text(&output.stdout);
    assert!(said.starts_with("Hotel concierge. I am a rule-based program and offline"), "{said}");
    for part in [
        "I found ",
        " 1. Casa Limoa, Alfama",
        "hotel      Casa Limoa",
        "Tram Bell Inn",
        "Goodbye, and have a good trip!",
    ] {
        assert!(said.contains(part), "{part} in {said}");
    }
    assert!(!said.contains('\u{1b}'), "a pipe gets no colours");
}

#[test]
fn the_end_of_the_input_leaves_without_a_complaint() {
    for input in ["", "hello", "hello\n"] {
        let output = talk(&["--today", "2026-06-10"], input.as_bytes());
        assert!(output.status.success(), "{input:?}");
        assert_eq!(text(&output.stderr), "");
    }
}

#[test]
fn a_script_is_read_line_by_line_and_the_input_left_alone() {
    let script = Path::new(env!("CARGO_TARGET_TMPDIR")).join("script.txt");
    std::fs::write(&script, "Oslo, 3-6 July, for 2\nquit").unwrap();
    let output = talk(&["--today", "2026-06-10", "--script", script.to_str().unwrap()], b"Lisbon\n");
    let said = text(&output.stdout);
    assert!(said.contains("> Oslo, 3-6 July, for 2\nI found 11 hotels: Oslo") && !said.contains("Lisbon, "), "{said}");
}

#[test]
fn mistakes_of_the_caller_are_named() {
    let output = talk(&["--script", "/no/such/file"], b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("hotel: `/no/such/file` cannot be read"), "{}", text(&output.stderr));
    assert_eq!(talk(&["--today", "31 June"], b"").status.code(), Some(2));
    assert_eq!(talk(&["--dot", "--mermaid"], b"").status.code(), Some(2));
    let not_ours = Path::new(env!("CARGO_TARGET_TMPDIR")).join("not_ours.db");
    std::fs::write(&not_ours, "something else, long enough to be read as a database's header or not").unwrap();
    let output = talk(&["--db", not_ours.to_str().unwrap()], b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("is not a usable hotel catalogue"), "{}", text(&output.stderr));
}

#[test]
fn a_catalogue_file_is_made_once_and_used_again() {
    let db = Path::new(env!("CARGO_TARGET_TMPDIR")).join("made.db");
    let _ = std::fs::remove_file(&db);
    for _ in 0..2 {
        let output = talk(&["--today", "2026-06-10", "--db", db.to_str().unwrap()], b"Porto 3-6 July for 2\n");
        assert!(text(&output.stdout).contains("I found 11 hotels: Porto"));
    }
    assert!(db.metadata().unwrap().len() > 1000);
}

#[test]
fn hostile_bytes_do_no_harm() {
    let long = vec![b'a'; 10 * 1024];
    let spaced = "hotel ".repeat(1600).into_bytes();
    let input = [
        &long[..],
        b"\n",
        &spaced,
        b"\n\0\x01\x1b]0;title\x07\x9b2J\xff\xfe\x80 Lisbon\xc3\x28\n\x1b[2J\x1b[31mfor two\n\r\n",
        "3-6 July\u{202e}\u{200f}\u{85}\n".as_bytes(),
        b"quit",
    ]
    .concat();
    let output = talk(&["--today", "2026-06-10"], &input);
    assert!(output.status.success());
    let said = text(&output.stdout);
    assert_eq!(said.matches("That is too long for me.").count(), 2, "{said}");
    assert!(said.contains("I found 11 hotels: Lisbon, 3 to 6 July 2026 (3 nights), 2 guests."), "{said}");
    let bad = said.chars().find(|c| c.is_control() && *c != '\n' || matches!(c, '\u{202e}' | '\u{200f}'));
    assert_eq!(bad, None);
}

#[test]
fn no_color_and_pipes_are_plain() {
    for colour in ["", "1"] {
        let mut child = hotel(&["--trace", "--today", "2026-06-10"]).env("NO_COLOR", colour).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"hello\n").unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(text(&output.stdout).contains("explore_gate: wrote"));
        assert!(!output.stdout.contains(&0x1b));
    }
}

/// The pictures of the guide are what the program draws.
#[test]
fn the_pictures_of_the_guide_are_fresh() {
    for (argument, file) in [("--dot", "hotel.dot"), ("--mermaid", "hotel.mmd")] {
        let drawn = text(&talk(&[argument], b"").stdout).to_owned();
        fresh(&docs().join(file), &drawn);
        if argument == "--mermaid" {
            let guide = docs().join("hotel.md");
            let found = std::fs::read_to_string(&guide).unwrap();
            let (head, rest) = found.split_once("```mermaid\n").expect("the guide has a diagram");
            let (_, tail) = rest.split_once("```").expect("the diagram ends");
            fresh(&guide, &format!("{head}```mermaid\n{drawn}```{tail}"));
        }
    }
    let json = talk(&["--json"], b"").stdout;
    let topology: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(topology["name"], "hotel");
}

/// `--check` finds the pictures of the guide fresh, and an old one stale, with the command that mends it.
#[test]
fn a_stale_picture_is_found_and_mended() {
    let [dot, mermaid] = ["hotel.dot", "hotel.mmd"].map(|file| docs().join(file));
    let output = talk(&["--check", dot.to_str().unwrap(), mermaid.to_str().unwrap()], b"");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("", ""));

    let old = Path::new(env!("CARGO_TARGET_TMPDIR")).join("old.mmd");
    let name = old.to_str().unwrap();
    let drawn = std::fs::read_to_string(&mermaid).unwrap();
    std::fs::write(&old, drawn.replacen("apology", "excuse", 1)).unwrap();
    let output = talk(&["--check", name], b"");
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.starts_with(&format!("hotel: `{name}` is stale: line ")), "{said}");
    assert!(said.contains("\n-  n0[\"excuse\"]\n+  n0[\"apology\"]\n"), "{said}");
    assert!(said.ends_with(&format!("\nto write it again: hotel --mermaid {name}\n")), "{said}");
    assert!(talk(&["--mermaid", name], b"").status.success());
    assert_eq!(std::fs::read_to_string(&old).unwrap(), drawn);
    assert_eq!(talk(&["--check"], b"").status.code(), Some(2));
}

#[test]
fn the_graph_is_drawn_for_the_terminal() {
    let output = talk(&["--text"], b"");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.starts_with("hotel\n\n"), "{said}");
    assert!(said.contains("\n  explore_gate -> explore_agent: stay\n"), "{said}");
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

fn fresh(path: &Path, expected: &str) {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, expected).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(found, expected, "{}: run with UPDATE_EXPECT=1", path.display());
}

/// Ctrl-C at the prompt asks once and leaves at the second time, with code 0.
#[cfg(unix)]
#[test]
fn ctrl_c_twice_leaves() {
    let mut child = hotel(&["--today", "2026-06-10", "--store", "memory"]).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let output = Watched::new(child.stdout.take().unwrap());
    input.write_all(b"hello\n").unwrap();
    // The answer is there and waits for no disk, so the program waits for the next line.
    output.wait_for("people are coming?\n");
    interrupt(&child);
    output.wait_for("Press Ctrl-C again to leave.\n");
    interrupt(&child);
    let limit = Instant::now() + Duration::from_secs(20);
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if Instant::now() > limit => panic!("the program does not leave"),
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    assert!(status.success(), "{status:?}");
    drop(input);
}

#[cfg(unix)]
fn interrupt(child: &Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Output that is read beside the test, so that nothing waits forever.
#[cfg(unix)]
struct Watched(std::sync::mpsc::Receiver<u8>);

#[cfg(unix)]
impl Watched {
    fn new(output: impl std::io::Read + Send + 'static) -> Self {
        let (sender, bytes) = std::sync::mpsc::channel();
        let output = std::io::BufReader::new(output);
        std::thread::spawn(move || {
            std::io::Read::bytes(output).map_while(Result::ok).try_for_each(|byte| sender.send(byte))
        });
        Self(bytes)
    }

    fn wait_for(&self, end: &str) {
        let mut seen = Vec::new();
        while !seen.ends_with(end.as_bytes()) {
            match self.0.recv_timeout(Duration::from_secs(20)) {
                Ok(byte) => seen.push(byte),
                Err(_) => panic!("no {end:?} in {:?}", String::from_utf8_lossy(&seen)),
            }
        }
    }
}
