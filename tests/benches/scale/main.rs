//! What one process holds, and what it does at most: conversations that are paused, idle and running, a compiled graph, and
//! super-steps a second. Each measurement is a process of its own, so that memory is its own. `docs/scale.md` says what
//! came out.
//!
//! ```text
//! cargo bench -p behaviour-tests --bench scale                     everything, with a million paused threads in SQLite
//! cargo bench -p behaviour-tests --bench scale -- --threads 10000  fewer of them
//! cargo bench -p behaviour-tests --bench scale -- running          measurements whose name contains `running`
//! cargo bench -p behaviour-tests --bench scale -- --list           the names
//! ```

mod case;
mod idle;
mod machine;
mod parts;
mod paused;
mod process;
mod running;
mod steps;
mod talk;
#[path = "../workloads/mod.rs"]
#[expect(dead_code, reason = "the rows measure more of it")]
mod workloads;

use std::process::ExitCode;

use crate::case::Case;

const USAGE: &str = "usage: scale [--threads N] [--list] [PART_OF_NAME]...";

/// How many threads are paused in SQLite when nobody says otherwise.
const THREADS: u64 = 1_000_000;

/// What the command line asks for.
struct Args {
    threads: u64,
    list: bool,
    wanted: Vec<String>,
    /// This process is one measurement.
    child: Option<Case>,
}

fn read(mut words: impl Iterator<Item = String>) -> Result<Args, String> {
    let mut args = Args { threads: THREADS, list: false, wanted: Vec::new(), child: None };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("`{word}` needs a value\n{USAGE}"));
        match word.as_str() {
            // Cargo says so to every bench.
            "--bench" => {}
            "--list" => args.list = true,
            "--threads" => args.threads = number(&value()?)?.max(1_000),
            "--child" => args.child = Some(Case { name: value()?, size: number(&value()?)? }),
            _ if word.starts_with('-') => return Err(format!("`{word}` is no option\n{USAGE}")),
            _ => args.wanted.push(word),
        }
    }
    Ok(args)
}

fn number(word: &str) -> Result<u64, String> {
    word.parse().map_err(|_| format!("`{word}` is no number\n{USAGE}"))
}

#[expect(clippy::print_stdout, reason = "a bench shows what it measured")]
#[expect(clippy::print_stderr, reason = "a program says why it does nothing")]
fn main() -> ExitCode {
    let args = match read(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    if let Some(case) = &args.child {
        measure(case).iter().for_each(|figure| println!("{}", figure.line()));
        return ExitCode::SUCCESS;
    }
    let mut cases = paused::cases(args.threads);
    cases.extend([idle::cases(), running::cases(), parts::cases(), steps::cases()].into_iter().flatten());
    cases.retain(|case| args.wanted.is_empty() || args.wanted.iter().any(|wanted| case.name.contains(wanted)));
    if args.list {
        cases.iter().for_each(|case| println!("{} {}", case.name, case.size));
        return ExitCode::SUCCESS;
    }
    println!("{}\n", machine::describe());
    println!("| measurement | size | what | figure | unit |\n| --- | --- | --- | --- | --- |");
    for case in &cases {
        for figure in case.in_a_process() {
            println!("| {} | {} | {} |", case.name, case::grouped(case.size as f64), figure.columns());
        }
    }
    println!("\nload average at the end: {}", machine::load());
    ExitCode::SUCCESS
}

/// What one process measures.
fn measure(case: &Case) -> Vec<case::Figure> {
    let group = case.name.split(' ').next().unwrap_or_default();
    match group {
        "paused" => paused::measure(case),
        "idle" => idle::measure(case),
        "running" => running::measure(case),
        "part" => parts::measure(case),
        _ => steps::measure(case),
    }
}
