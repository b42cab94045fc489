//! What happened outside, in order: a list in memory, or a file to which lines are only ever added.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use graph_engine::Ctx;
use serde::{Deserialize, Serialize};

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// A process began.
    Start,
    /// A thread was found at this step.
    At {
        /// Super-steps that its state holds.
        step: u64,
    },
    /// Somebody was told that this is stored.
    Stored {
        /// Super-steps that it holds.
        step: u64,
    },
    /// Something was done outside.
    Effect {
        /// The idempotency key.
        key: String,
        /// The super-step in which it was done.
        step: u64,
        /// The task and what it did.
        what: String,
    },
}

/// Where lines go.
#[derive(Debug)]
pub struct Ledger(Mutex<Lines>);

#[derive(Debug)]
enum Lines {
    Memory(Vec<Line>),
    File(File),
}

impl Ledger {
    /// A ledger in memory.
    #[must_use]
    pub fn in_memory() -> Self {
        Self(Mutex::new(Lines::Memory(Vec::new())))
    }

    /// A ledger in a file, which is made if there is none.
    ///
    /// # Errors
    /// What the file system says.
    pub fn in_file(path: &Path) -> std::io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self(Mutex::new(Lines::File(file))))
    }

    /// Adds a line, in one write.
    ///
    /// # Panics
    /// If it can't be written.
    pub fn write(&self, line: &Line) {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Lines::Memory(lines) => lines.push(line.clone()),
            Lines::File(file) => {
                let mut text = serde_json::to_vec(line).expect("a line is JSON");
                text.push(b'\n');
                file.write_all(&text).expect("the ledger can be written");
            }
        }
    }

    /// Notes what a task did outside.
    pub fn effect(&self, ctx: &Ctx, what: &str) {
        let key = ctx.idempotency_key();
        let what = format!("{} {} {what}", ctx.node(), without_hashes(&key));
        let step = step_of(&key).unwrap_or_else(|| ctx.step());
        self.write(&Line::Effect { key, step, what });
    }

    /// What a ledger in memory holds.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Lines::Memory(lines) => lines.clone(),
            Lines::File(_) => Vec::new(),
        }
    }

    /// What a file holds. A last line that was cut off is left out.
    ///
    /// # Errors
    /// What the file system says.
    ///
    /// # Panics
    /// If a whole line is not one of a ledger.
    pub fn read(path: &Path) -> std::io::Result<Vec<Line>> {
        let text = std::fs::read_to_string(path)?;
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        Ok(whole.lines().map(|line| serde_json::from_str(line).expect("a line of a ledger")).collect())
    }
}

/// The same for every run of a script on any thread: ids of checkpoints are hashes of turns, whose ids are random.
fn without_hashes(key: &str) -> String {
    let (mut plain, mut run) = (String::new(), String::new());
    let within = key.split_once('/').map_or(key, |(_, within)| within);
    for letter in within.chars().chain(['\0']) {
        if letter.is_ascii_hexdigit() {
            run.push(letter);
            continue;
        }
        // One hash after the other may stand behind the last letter of a name.
        plain.push_str(&run[..run.len() % 32]);
        run.clear();
        plain.push(letter);
    }
    plain.pop();
    plain
}

/// The super-step of the thread itself in which a child graph's task ran; `None` for a task of the thread itself. A child
/// that is kept per thread doesn't say.
fn step_of(key: &str) -> Option<u64> {
    let place = key.split('/').nth(1)?;
    if place.len() <= 32 {
        return None;
    }
    let step = place.split(':').nth(1).and_then(|task| task.split('.').next()?.parse().ok());
    Some(step.unwrap_or(u64::MAX))
}
