//! `scripts/local-llm` with a program in the place of the model's server: however the script ends, nothing is left.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Says its process id and an address, and serves until it is ended, or until its input ends if it is told to.
const SERVER: &str = r#"#!/usr/bin/env bash
echo $$ >"$(dirname "$0")/../../id"
echo http://127.0.0.1:1/v1
case "$*" in *--until-eof*) read -r; exit ;; esac
while :; do sleep 0.1; done
"#;

/// An installation, in a folder with a space in its name.
fn installed(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("local llm {name}"));
    let _ = fs::remove_dir_all(&folder);
    let python = folder.join("venv/bin/python3");
    fs::create_dir_all(python.parent().unwrap()).unwrap();
    fs::write(&python, SERVER).unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    fs::copy(scripts().join("llm/requirements.txt"), folder.join("requirements.txt")).unwrap();
    folder
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts")
}

fn run(folder: &Path, command: &[&str]) -> Command {
    let mut script = Command::new(scripts().join("local-llm"));
    script.arg("run").args(command).env("GRAPH_ENGINE_LLM_DIR", folder).env("TMPDIR", folder);
    script
}

/// Waits for something that is there within 30 seconds.
fn wait_for<T>(what: &str, found: impl Fn() -> Option<T>) -> T {
    let limit = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < limit, "no {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn id(folder: &Path) -> String {
    wait_for("server", || {
        fs::read_to_string(folder.join("id")).ok().filter(|id| id.ends_with('\n')).map(|id| id.trim().to_owned())
    })
}

/// Waits until the process is gone.
fn is_gone(id: &str) {
    wait_for("end of the server", || {
        let status = Command::new("kill").args(["-0", id]).stderr(Stdio::null()).status().unwrap();
        (!status.success()).then_some(())
    });
}

#[test]
fn the_server_ends_with_the_command_also_where_lines_are_short() {
    let folder = installed("short");
    let output =
        run(&folder, &["sh", "-c", "echo $GRAPH_ENGINE_LLM_URL; exit 7"]).env("COLUMNS", "20").output().unwrap();
    assert_eq!((output.status.code(), &*output.stdout), (Some(7), &b"http://127.0.0.1:1/v1\n"[..]));
    is_gone(&id(&folder));
}

#[test]
fn the_server_ends_with_the_script_also_when_that_is_killed() {
    let folder = installed("killed");
    let mut script = run(&folder, &["cat"]).stdin(Stdio::piped()).spawn().unwrap();
    let id = id(&folder);
    script.kill().unwrap();
    script.wait().unwrap();
    is_gone(&id);
}
