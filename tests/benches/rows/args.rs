//! What the command line asks for.

use std::path::PathBuf;

/// The words after `cargo bench -p behaviour-tests --`.
pub(crate) struct Args {
    /// Numbers of rows and parts of names; all rows if there is none.
    wanted: Vec<String>,
    /// One JSON object a line instead of tables.
    pub(crate) json: bool,
    /// Name the rows instead of measuring them.
    pub(crate) list: bool,
    /// How often limit and engine are measured in turn.
    pub(crate) pairs: usize,
    /// Draw curves into this folder instead of measuring rows.
    pub(crate) curves: Option<PathBuf>,
    /// Measure one's own memory: the process is a child of a row.
    pub(crate) child: Option<(String, u64)>,
}

const USAGE: &str = "usage: rows [--row NUMBER | --row PART_OF_NAME | PART_OF_NAME]... [--json] [--list] [--pairs N] \
                     [--curves FOLDER]";

impl Args {
    /// Reads the words, or says which of them isn't one.
    pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut args = Self { wanted: Vec::new(), json: false, list: false, pairs: 9, curves: None, child: None };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("`{word}` needs a value\n{USAGE}"));
            match word.as_str() {
                // Cargo says so to every bench.
                "--bench" => {}
                "--json" => args.json = true,
                "--list" => args.list = true,
                "--row" => args.wanted.push(value()?),
                "--pairs" => args.pairs = number(&value()?)?.max(1),
                "--curves" => args.curves = Some(value()?.into()),
                "--child" => args.child = Some((value()?, number(&value()?)? as u64)),
                _ if word.starts_with('-') => return Err(format!("`{word}` is no option\n{USAGE}")),
                _ => args.wanted.push(word),
            }
        }
        Ok(args)
    }

    /// Whether these rows, under this name, are asked for.
    pub(crate) fn want(&self, rows: &[u8], name: &str) -> bool {
        let names = |wanted: &String| match wanted.parse::<u8>() {
            Ok(number) => rows.contains(&number),
            Err(_) => name.contains(wanted.as_str()),
        };
        self.wanted.is_empty() || self.wanted.iter().any(names)
    }
}

fn number(word: &str) -> Result<usize, String> {
    word.parse().map_err(|_| format!("`{word}` is no number\n{USAGE}"))
}
