//! The diagrams of a user's own program: written to files, printed, and checked against what is committed.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::stale::{self, StaleDiagram};
use super::{SvgError, Topology};

/// A form in which a graph is drawn.
///
/// ```
/// use std::path::Path;
///
/// use graph_engine::DiagramFormat;
///
/// assert_eq!(DiagramFormat::of(Path::new("docs/trip.mmd")), Some(DiagramFormat::Mermaid));
/// assert_eq!(DiagramFormat::of(Path::new("docs/trip.png")), None);
/// assert_eq!(DiagramFormat::Mermaid.option(), "--mermaid");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DiagramFormat {
    /// Graphviz's language: `.dot`, `.gv`.
    Dot,
    /// Mermaid's language: `.mmd`, `.mermaid`.
    Mermaid,
    /// The topology as data: `.json`.
    Json,
    /// A picture, drawn by the system's Graphviz: `.svg`.
    Svg,
    /// For the terminal: `.txt`. Needs the feature `ascii-dag`.
    Text,
}

impl DiagramFormat {
    const ALL: [Self; 5] = [Self::Dot, Self::Mermaid, Self::Json, Self::Svg, Self::Text];

    /// The form that the extension of a file stands for.
    #[must_use]
    pub fn of(file: &Path) -> Option<Self> {
        match file.extension()?.to_str()? {
            "dot" | "gv" => Some(Self::Dot),
            "mmd" | "mermaid" => Some(Self::Mermaid),
            "json" => Some(Self::Json),
            "svg" => Some(Self::Svg),
            "txt" => Some(Self::Text),
            _ => None,
        }
    }

    /// The option that asks for it on a command line.
    #[must_use]
    pub const fn option(self) -> &'static str {
        match self {
            Self::Dot => "--dot",
            Self::Mermaid => "--mermaid",
            Self::Json => "--json",
            Self::Svg => "--svg",
            Self::Text => "--text",
        }
    }
}

/// Why a diagram was not drawn, not written, or is not what is committed.
///
/// ```
/// use graph_engine::Topology;
///
/// let topology = Topology::new("trip", vec![], vec![], vec![]);
/// let error = topology.export(["mybin", "--check"], &mut std::io::sink()).unwrap_err();
/// assert_eq!(error.to_string(), "`--check` needs a file, such as `docs/graph.dot`");
/// assert_eq!(error.exit_code(), 2);
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The command line can't be understood.
    #[error("{0}")]
    Usage(String),
    /// Committed diagrams are not what the graph looks like now. All of them are listed.
    #[error("{}", list(.0))]
    Stale(Vec<StaleDiagram>),
    /// The file can't be read.
    #[error("`{}` can't be read", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file can't be written.
    #[error("`{}` can't be written, check that its folder exists", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The output broke.
    #[error("the diagram can't be printed")]
    Print(#[source] io::Error),
    /// Graphviz drew no picture.
    #[error(transparent)]
    Svg(#[from] SvgError),
    /// The topology is no JSON.
    #[error("the graph can't be written as JSON")]
    Json(#[from] serde_json::Error),
    /// The program was built without drawings for the terminal.
    #[error("there are no drawings for the terminal: build the program with the feature `ascii-dag` of graph-engine")]
    NoText,
}

fn list(stale: &[StaleDiagram]) -> String {
    stale.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n")
}

impl ExportError {
    /// What a program should exit with: 2 if it was called in a wrong way, else 1.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        if matches!(self, Self::Usage(_)) { 2 } else { 1 }
    }
}

impl Topology {
    /// The graph in one of its forms, ending in a line end.
    ///
    /// ```
    /// use graph_engine::{DiagramFormat, Topology};
    ///
    /// let topology = Topology::new("trip", vec![], vec![], vec![]);
    /// assert_eq!(topology.drawn(DiagramFormat::Dot)?, topology.dot().to_string());
    /// # Ok::<(), graph_engine::ExportError>(())
    /// ```
    ///
    /// # Errors
    /// [`ExportError::Svg`] and [`ExportError::NoText`] when what draws this form is missing or fails.
    pub fn drawn(&self, format: DiagramFormat) -> Result<String, ExportError> {
        match format {
            DiagramFormat::Dot => Ok(self.dot().to_string()),
            DiagramFormat::Mermaid => Ok(self.mermaid().to_string()),
            DiagramFormat::Json => Ok(self.json()? + "\n"),
            DiagramFormat::Svg => Ok(self.dot().svg()?),
            #[cfg(feature = "ascii-dag")]
            DiagramFormat::Text => Ok(self.text().to_string()),
            #[cfg(not(feature = "ascii-dag"))]
            DiagramFormat::Text => Err(ExportError::NoText),
        }
    }

    /// Draws the graph into a file, or to the output if the file is `-`.
    ///
    /// # Errors
    /// [`ExportError`] when it can't be drawn or written.
    pub fn save(&self, format: DiagramFormat, file: &Path, out: &mut dyn Write) -> Result<(), ExportError> {
        let drawn = self.drawn(format)?;
        if file == Path::new("-") {
            return out.write_all(drawn.as_bytes()).and_then(|()| out.flush()).map_err(ExportError::Print);
        }
        fs::write(file, drawn).map_err(|source| ExportError::Write { file: file.to_owned(), source })
    }

    /// Compares files with what the graph looks like now. The form is the one that the extension stands for. `program`
    /// is named in the command that writes a file again, which is `program --dot FILE` or the like.
    ///
    /// # Errors
    /// [`ExportError::Stale`] with every file that differs or doesn't exist; another [`ExportError`] when a file can't
    /// be read or drawn, or has an extension that stands for no form.
    pub fn check<'a>(&self, program: &str, files: impl IntoIterator<Item = &'a Path>) -> Result<(), ExportError> {
        let mut stale = Vec::new();
        for file in files {
            let name = file.to_string_lossy();
            let Some(format) = DiagramFormat::of(file) else {
                let known = "`.dot`, `.mmd`, `.json`, `.svg` or `.txt`";
                return Err(ExportError::Usage(format!(
                    "the name of a diagram ends in {known}, but not that of `{name}`"
                )));
            };
            let expected = self.drawn(format)?;
            let command = stale::command([program, format.option(), &name]);
            let read = |source| ExportError::Read { file: file.to_owned(), source };
            stale.extend(stale::compare(self, format, file, &expected, command).map_err(read)?);
        }
        if stale.is_empty() { Ok(()) } else { Err(ExportError::Stale(stale)) }
    }

    /// Does what the command line of a program asks for, if it asks for diagrams: its first argument is one of
    ///
    /// | option | does |
    /// | --- | --- |
    /// | `--dot [FILE]` | writes Graphviz's language to the file, or to the output |
    /// | `--mermaid [FILE]` | the same in Mermaid's language |
    /// | `--json [FILE]` | the same as JSON |
    /// | `--svg [FILE]` | the same as a picture, drawn by the system's Graphviz |
    /// | `--text [FILE]` | the same for a terminal |
    /// | `--check FILE..` | compares committed diagrams with the graph |
    ///
    /// Several may follow each other. The first of `args` is the program, as in [`std::env::args_os`]. Returns whether
    /// diagrams were asked for: if not, nothing was done, and the program goes on.
    ///
    /// ```
    /// use graph_engine::Topology;
    ///
    /// let topology = Topology::new("trip", vec![], vec![], vec![]);
    /// let mut out = Vec::new();
    /// assert!(!topology.export(["mybin", "serve"], &mut out)?);
    /// assert!(topology.export(["mybin", "--mermaid"], &mut out)?);
    /// assert_eq!(String::from_utf8_lossy(&out), "flowchart TD\n  %% trip\n");
    /// # Ok::<(), graph_engine::ExportError>(())
    /// ```
    ///
    /// # Errors
    /// [`ExportError`], with the exit code that the program should end with.
    pub fn export(
        &self,
        args: impl IntoIterator<Item = impl Into<OsString>>,
        out: &mut dyn Write,
    ) -> Result<bool, ExportError> {
        let mut args = args.into_iter().map(Into::into);
        let program = args.next().unwrap_or_default();
        let args: Vec<OsString> = args.collect();
        if !args.first().is_some_and(|first| is_ours(first)) {
            return Ok(false);
        }
        // Everything is read before anything is written.
        let mut tasks: Vec<(Option<DiagramFormat>, Vec<&Path>)> = Vec::new();
        for arg in &args {
            let asked = DiagramFormat::ALL.into_iter().find(|format| arg.as_os_str() == format.option());
            match tasks.last_mut() {
                _ if asked.is_some() => tasks.push((asked, Vec::new())),
                _ if arg == CHECK => tasks.push((None, Vec::new())),
                Some((format, files)) if !is_option(arg) && (format.is_none() || files.is_empty()) => {
                    files.push(Path::new(arg));
                }
                _ => return Err(unexpected(arg)),
            }
        }
        if tasks.iter().any(|(format, files)| format.is_none() && files.is_empty()) {
            return Err(ExportError::Usage("`--check` needs a file, such as `docs/graph.dot`".to_owned()));
        }
        let checked = tasks.iter().filter(|(format, _)| format.is_none()).flat_map(|(_, files)| files.iter().copied());
        for (format, files) in &tasks {
            if let Some(format) = format {
                self.save(*format, files.first().copied().unwrap_or(Path::new("-")), out)?;
            }
        }
        self.check(&program.to_string_lossy(), checked)?;
        Ok(true)
    }
}

const CHECK: &str = "--check";

fn is_ours(arg: &OsStr) -> bool {
    arg == CHECK || DiagramFormat::ALL.into_iter().any(|format| arg == format.option())
}

/// `-` alone is the output.
fn is_option(arg: &OsStr) -> bool {
    arg != "-" && arg.as_encoded_bytes().starts_with(b"-")
}

fn unexpected(arg: &OsStr) -> ExportError {
    let options: Vec<&str> = DiagramFormat::ALL.into_iter().map(DiagramFormat::option).chain([CHECK]).collect();
    let arg = Topology::visible(&arg.to_string_lossy()).into_owned();
    ExportError::Usage(format!("`{arg}` is not understood here: diagrams have the options {}", options.join(", ")))
}
