//! The command line.

use clap::{Parser, ValueEnum};
use jiff::civil::Date;
use std::path::PathBuf;

/// A hotel concierge in the terminal. Rule-based and offline, unless it is told otherwise: it needs no key, no server
/// and no network.
#[derive(Clone, Debug, Default, Parser)]
#[command(name = "hotel", version)]
pub struct Options {
    /// The day on which the conversation takes place, YYYY-MM-DD [default: the system's calendar]
    #[arg(long, value_name = "DATE")]
    pub today: Option<Date>,
    /// Write the graph in Graphviz' language to this file and leave [default: print it]
    #[arg(long, group = "drawing", value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub dot: Option<PathBuf>,
    /// The same as a Mermaid diagram
    #[arg(long, group = "drawing", value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub mermaid: Option<PathBuf>,
    /// The same as JSON
    #[arg(long, group = "drawing", value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// The same as an SVG picture, drawn by the system's Graphviz
    #[arg(long, group = "drawing", value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub svg: Option<PathBuf>,
    /// The same for a terminal
    #[arg(long, group = "drawing", value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub text: Option<PathBuf>,
    /// Compare these files with the graph and leave, with exit code 1 if one is stale
    #[arg(long, group = "drawing", value_name = "FILE", num_args = 1..)]
    pub check: Vec<PathBuf>,
    /// Let a language model talk: the base URL of an OpenAI-compatible server; its key is taken from OPENAI_API_KEY,
    /// which a server on this machine may do without
    #[arg(long, group = "language", value_name = "URL", requires = "model", conflicts_with = "faults")]
    pub llm: Option<String>,
    /// The name that the server knows the language model by
    #[arg(long, value_name = "NAME", requires = "llm")]
    pub model: Option<String>,
    /// How the language model calls tools: by the server's own tool calls, or by structured output where it has none
    #[arg(long, value_name = "MODE", value_enum, default_value_t, requires = "language")]
    pub tool_mode: Mode,
    /// For a small language model: it only chooses what to do, and the program does the talking
    #[arg(long, requires = "llm")]
    pub guided: bool,
    /// The same with a small language model on this machine, started by scripts/local-llm, which installs it at the
    /// first time (127 MB)
    #[arg(long, group = "language", conflicts_with_all = ["llm", "faults"])]
    pub local: bool,
    /// Print what the gates counted at the end
    #[arg(long)]
    pub ledger: bool,
    /// Show every super-step: which vertex ran, what it wrote, where it went
    #[arg(long)]
    pub trace: bool,
    /// Read the guest's lines from this file instead of the terminal
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// Let the model err at every third request, and print what the gates counted at the end
    #[arg(long)]
    pub faults: bool,
    /// Keep the hotel catalogue in this file, made on first use [default: in memory]
    #[arg(long, value_name = "FILE")]
    pub db: Option<PathBuf>,
    /// Keep conversations in this file, made on first use; `memory` keeps nothing [default: hotel.sqlite]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Which conversation [default: a person goes on with the newest guest-N unless it is complete; piped input and
    /// scripts begin a new one; --history, --fork and --resume take the newest]
    #[arg(long, value_name = "NAME", value_parser = thread_name)]
    pub thread: Option<String>,
    /// List the checkpoints of the conversation and leave
    #[arg(long, conflicts_with_all = ["fork", "resume", "script"])]
    pub history: bool,
    /// Go on in a new conversation that begins as this one was at entry N of its history
    #[arg(long, value_name = "N")]
    pub fork: Option<usize>,
    /// The name of the new conversation [default: the next number]
    #[arg(long = "as", value_name = "NAME", requires = "fork", value_parser = thread_name)]
    pub fork_as: Option<String>,
    /// Go on with what is unfinished, without asking
    #[arg(long)]
    pub resume: bool,
}

/// How a language model calls tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// By the server's own tool calls.
    #[default]
    Native,
    /// By structured output.
    Schema,
}

/// Names are shown, typed and used as tenants, so they are plain.
fn thread_name(name: &str) -> Result<String, String> {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if plain && (1..=128).contains(&name.len()) {
        return Ok(name.to_owned());
    }
    Err("use 1 to 128 letters, digits, `_` and `-`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Options::command().debug_assert();
    }

    #[test]
    fn every_language_model_calls_tools_as_it_is_told() {
        let parse = |args: &[&str]| Options::try_parse_from([&["hotel"], args].concat());
        for model in [&["--local"][..], &["--llm", "http://127.0.0.1/v1", "--model", "m"]] {
            assert_eq!(parse(&[model, &["--tool-mode", "schema"]].concat()).unwrap().tool_mode, Mode::Schema);
        }
        assert!(parse(&["--tool-mode", "schema"]).is_err());
        assert!(parse(&["--local", "--llm", "http://127.0.0.1/v1", "--model", "m"]).is_err());
    }
}
