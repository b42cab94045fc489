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
    /// Print the graph in Graphviz' language and leave
    #[arg(long, conflicts_with_all = ["mermaid", "json"])]
    pub dot: bool,
    /// Print the graph as a Mermaid diagram and leave
    #[arg(long, conflicts_with = "json")]
    pub mermaid: bool,
    /// Print the graph as JSON and leave
    #[arg(long)]
    pub json: bool,
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
