//! Outside programs: where their input is put, and what happens without them.

use std::path::PathBuf;

pub(crate) fn scratch(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(file)
}

/// Passes without the outside program on a developer's machine, but never in CI.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn skip(why: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{why}");
    eprintln!("skipped. {why}");
}
