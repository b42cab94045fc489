//! Pictures drawn by the system's Graphviz: a program with an input, an output, and limits.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Dot, Topology};

/// The system's `dot`, and how much time and room it gets.
///
/// The graph goes in by the standard input and the picture comes out by the standard output: no shell, no file, and
/// nothing of the graph in an argument. The call blocks the thread, so don't make it inside of a node.
///
/// ```
/// use std::time::Duration;
///
/// use graph_engine::{Graphviz, SvgError, Topology};
///
/// let topology = Topology::new("trip", vec![], vec![], vec![]);
/// let graphviz = Graphviz::new().program("/no/such/dot").timeout(Duration::from_secs(5));
/// let error = graphviz.svg(&topology.dot()).unwrap_err();
/// assert!(matches!(error, SvgError::NotInstalled { .. }));
/// ```
#[derive(Clone, Debug)]
pub struct Graphviz {
    program: PathBuf,
    timeout: Duration,
    max_bytes: usize,
}

/// Why there is no picture.
///
/// ```
/// use graph_engine::{Graphviz, Topology};
///
/// let topology = Topology::new("trip", vec![], vec![], vec![]);
/// let error = Graphviz::new().program("/no/such/dot").svg(&topology.dot()).unwrap_err();
/// assert!(error.to_string().contains("install Graphviz"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SvgError {
    /// There is no such program.
    #[error(
        "there is no program `{}`: install Graphviz (the package is called `graphviz`), or write the DOT file and draw \
         it on a machine that has it",
        program.display()
    )]
    NotInstalled {
        /// What was looked for.
        program: PathBuf,
    },
    /// The program can't be started, or a pipe to it broke.
    #[error("`{}` can't be run, check that it is Graphviz's `dot`", program.display())]
    Broken {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The program didn't like its input or its system.
    #[error("`dot` ended with {status} and said: {said}")]
    Failed {
        /// How it ended.
        status: ExitStatus,
        /// The first 4 kB of what it wrote to its standard error, without control characters.
        said: String,
    },
    /// The program took too long and was ended.
    #[error("`dot` took longer than {limit:?}: give it more by `Graphviz::timeout`, or draw a smaller graph")]
    TooSlow {
        /// The time that it had.
        limit: Duration,
    },
    /// The picture is too large, and the program was ended.
    #[error("the picture is larger than {limit} bytes: allow more by `Graphviz::max_bytes`, or draw a smaller graph")]
    TooLarge {
        /// The most bytes that were allowed.
        limit: usize,
    },
    /// What came out is no text.
    #[error("what Graphviz wrote is not UTF-8, check its version with `dot -V`")]
    NotText,
}

impl Default for Graphviz {
    fn default() -> Self {
        Self { program: "dot".into(), timeout: Duration::from_secs(30), max_bytes: 64 << 20 }
    }
}

impl Graphviz {
    /// `dot` from the search path, with 30 seconds and 64 MiB.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets which program is run.
    #[must_use]
    pub fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    /// Sets the wall time after which the program is ended.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the most bytes that a picture may have.
    #[must_use]
    pub fn max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// Draws a graph as SVG. Blocks until the program has ended.
    ///
    /// # Errors
    /// [`SvgError`] when the program is missing, fails, or needs more than it was given.
    pub fn svg(&self, dot: &Dot<'_>) -> Result<String, SvgError> {
        let began = Instant::now();
        let left = || self.timeout.saturating_sub(began.elapsed());
        let broken = |source| SvgError::Broken { program: self.program.clone(), source };

        let mut command = Command::new(&self.program);
        command.arg("-Tsvg").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => SvgError::NotInstalled { program: self.program.clone() },
            _ => broken(source),
        })?;
        let mut running = Running(child);

        // All three pipes at once, or both sides could wait for each other.
        let source = dot.to_string();
        if let Some(mut input) = running.0.stdin.take() {
            // A program that ends early closes its input; its exit status says more than the broken pipe.
            let write = move || drop(input.write_all(source.as_bytes()));
            thread::Builder::new().spawn(write).map_err(broken)?;
        }
        let picture = read(running.0.stdout.take(), self.max_bytes, false).map_err(broken)?;
        let complaint = read(running.0.stderr.take(), COMPLAINT, true).map_err(broken)?;
        let slow = |_: RecvTimeoutError| SvgError::TooSlow { limit: self.timeout };
        let picture = picture.recv_timeout(left()).map_err(slow)?.map_err(broken)?;
        if picture.len() > self.max_bytes {
            return Err(SvgError::TooLarge { limit: self.max_bytes });
        }
        let complaint = complaint.recv_timeout(left()).map_err(slow)?.map_err(broken)?;
        let status = running.wait(left).map_err(broken)?.ok_or(SvgError::TooSlow { limit: self.timeout })?;
        if !status.success() {
            let said = String::from_utf8_lossy(&complaint[..complaint.len().min(COMPLAINT)]);
            return Err(SvgError::Failed { status, said: Topology::visible(said.trim()).into_owned() });
        }
        String::from_utf8(picture).map_err(|_| SvgError::NotText)
    }
}

impl Dot<'_> {
    /// The picture as SVG, drawn by the system's Graphviz: [`Graphviz::svg`] with its usual limits.
    ///
    /// # Errors
    /// [`SvgError`] when `dot` is missing, fails, or takes too long.
    pub fn svg(&self) -> Result<String, SvgError> {
        Graphviz::new().svg(self)
    }
}

/// The most bytes of a complaint that are kept.
const COMPLAINT: usize = 4096;

/// Reads a pipe in a thread of its own: at most one byte more than allowed. The thread isn't joined, because a program
/// that was ended may leave the pipe to another one. What is `drained` is read on to its end, so that the writer isn't
/// held up.
fn read(
    pipe: Option<impl Read + Send + 'static>,
    limit: usize,
    drained: bool,
) -> io::Result<mpsc::Receiver<io::Result<Vec<u8>>>> {
    let (send, receive) = mpsc::channel();
    thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        let Some(mut pipe) = pipe else {
            return drop(send.send(Ok(bytes)));
        };
        let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        let result = pipe.by_ref().take(most).read_to_end(&mut bytes);
        if drained && result.is_ok() {
            // Whatever more there is isn't kept, so its errors don't matter.
            let _ = io::copy(&mut pipe, &mut io::sink());
        }
        // Nobody listens any more when the time was over.
        drop(send.send(result.map(|_| bytes)));
    })?;
    Ok(receive)
}

/// A program that is ended, and waited for, when nobody needs it any more.
struct Running(Child);

impl Running {
    /// Its exit status, or nothing if the time is over before it ends.
    fn wait(&mut self, left: impl Fn() -> Duration) -> io::Result<Option<ExitStatus>> {
        loop {
            if let Some(status) = self.0.try_wait()? {
                return Ok(Some(status));
            }
            if left().is_zero() {
                return Ok(None);
            }
            // The pipes are closed already, so this takes a moment at most.
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail when it has ended already, which is what is wanted.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
