//! The command line.

use clap::Parser;
use jiff::civil::Date;
use std::path::PathBuf;

/// A hotel concierge in the terminal. Rule-based and offline: it needs no key,
/// no server and no network.
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
}
