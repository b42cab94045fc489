//! Every transcript in `transcripts/` is what the program says, letter by letter.
//!
//! The block `console` begins with the command line; its lines that begin with
//! `> ` are what the guest types, unless a block `input` says it with escapes.
//! `UPDATE_EXPECT=1` writes the answers anew. Each conversation must leave a
//! history that a provider would take.

use clap::Parser as _;
use demos::hotel::terminal::{Options, Style, run};
use graph_nodes::message::check_history;
use std::fs;
use std::path::{Path, PathBuf};

struct Transcript {
    path: PathBuf,
    /// The text up to and with the line that opens the block.
    head: String,
    block: String,
    /// The text from the line that closes the block on.
    tail: String,
}

impl Transcript {
    fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).unwrap();
        let opening = "```console\n";
        let start =
            text.find(opening).unwrap_or_else(|| panic!("{}: no block `console`", path.display())) + opening.len();
        let end = start + text[start..].find("```").expect("the block is closed");
        let (head, block, tail) = (text[..start].to_owned(), text[start..end].to_owned(), text[end..].to_owned());
        Self { path, head, block, tail }
    }

    fn options(&self) -> Options {
        let command = self.block.lines().next().unwrap_or_default();
        let words = command.strip_prefix("$ ").expect("the first line is `$ hotel ..`");
        Options::try_parse_from(words.split_whitespace()).unwrap()
    }

    /// What the guest types.
    fn input(&self) -> String {
        if let Some((_, rest)) = self.head.split_once("```input\n") {
            let (lines, _) = rest.split_once("```").expect("the block is closed");
            return unescaped(lines);
        }
        self.block.lines().filter_map(|line| line.strip_prefix("> ")).map(|line| format!("{line}\n")).collect()
    }

    async fn check(&self) {
        // What was kept of other runs must not matter.
        let options = Options { store: Some("memory".into()), ..self.options() };
        let input = self.input();
        let mut output = Vec::new();
        let chat = run(&options, input.as_bytes(), &mut output, false, Style::PLAIN).await.unwrap().unwrap();
        for conversation in chat.conversations().await.unwrap() {
            assert_eq!(check_history(conversation.state.history.iter()), Ok(()), "{}", self.path.display());
            assert!(conversation.state.draft.is_none(), "{}: a draft is left", self.path.display());
            assert!(conversation.next.is_empty(), "{}: something is left to run", self.path.display());
        }
        let output = String::from_utf8(output).unwrap();
        let command = self.block.lines().next().unwrap_or_default();
        let block = format!("{command}\n{output}");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&self.path, format!("{}{block}{}", self.head, self.tail)).unwrap();
            return;
        }
        assert_eq!(block, self.block, "{}: read the change, then run with UPDATE_EXPECT=1", self.path.display());
    }
}

/// `\e`, `\a`, `\0`, `\r`, `\t`, `\b` and `\u202e` as the characters that they name.
fn unescaped(text: &str) -> String {
    text.replace(r"\e", "\u{1b}")
        .replace(r"\a", "\u{7}")
        .replace(r"\0", "\0")
        .replace(r"\r", "\r")
        .replace(r"\t", "\t")
        .replace(r"\b", "\u{8}")
        .replace(r"\u202e", "\u{202e}")
}

fn transcripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    paths
}

#[tokio::test(start_paused = true)]
async fn transcripts_are_what_the_program_says() {
    let paths = transcripts();
    assert!(paths.len() >= 6, "only {} transcripts", paths.len());
    for path in paths {
        Transcript::read(path).check().await;
    }
}
