//! Transcripts of the small demos: what the program says, letter by letter.
//!
//! The lines of the block `console` that begin with `> ` are what a person types. `UPDATE_EXPECT=1` writes the answers
//! anew.

use demos::console::Console;
use graph_engine::State;
use std::fs;
use std::path::{Path, PathBuf};

/// Every transcript of a demo, with what the program says to the same input: nothing may differ. Afterwards `check` is
/// given the state of each conversation.
pub(crate) async fn check<S: State>(demo: &str, console: impl Fn() -> anyhow::Result<Console<S>>, check: impl Fn(&S)) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts").join(demo);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let opening = format!("```console\n$ {demo}\n");
        let (head, rest) = text.split_once(&opening).expect("a block `console` with the command");
        let (block, tail) = rest.split_once("```").expect("the block is closed");
        let input = block.lines().filter_map(|line| line.strip_prefix("> ")).map(|line| format!("{line}\n"));
        let input: String = input.collect();
        let (mut console, mut said) = (console().unwrap(), Vec::new());
        console.talk(input.as_bytes(), &mut said, false).await.unwrap();
        let said = String::from_utf8(said).unwrap();
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&path, format!("{head}{opening}{said}```{tail}")).unwrap();
        } else {
            assert_eq!(said, block, "{}: read the change, then run with UPDATE_EXPECT=1", path.display());
        }
        check(&console.thread.state().await.unwrap().state);
    }
}
