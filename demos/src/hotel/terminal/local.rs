//! The small language model of this machine: its server is started with the program and ends with it.

use std::env;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The script, as seen from the repository.
const SCRIPT: &str = "scripts/local-llm";

/// What `local-llm status` ends with when there is nothing installed.
const NOT_INSTALLED: i32 = 3;

/// How long the server may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// Why the language model of this machine cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocalError {
    /// There is no script.
    #[error(
        "`{SCRIPT}` is not found above the working folder or above the program; start the program in the repository, or start a server of your own and name it with `--llm`"
    )]
    NoScript,
    /// The script cannot be run.
    #[error("`{script} {verb}` can't be run; it needs bash", script = script.display())]
    Run {
        /// The script.
        script: PathBuf,
        /// What it was told.
        verb: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The model cannot be installed.
    #[error("the language model can't be installed; what `{SCRIPT} install` said stands above")]
    Install,
    /// The server did not begin to answer.
    #[error("the server of the language model doesn't start; `{SCRIPT} serve` says why")]
    Start,
}

/// A server that ends when this is dropped, or with the process, however that one ends.
#[derive(Debug)]
pub(super) struct LocalServer {
    child: Child,
    url: String,
}

impl LocalServer {
    /// Installs the model if it isn't there, which is told on the error output, and starts its server.
    pub(super) fn start() -> Result<Self, LocalError> {
        let script = script().ok_or(LocalError::NoScript)?;
        let script = &script;
        let told = |verb: &'static str| {
            let mut command = Command::new(script);
            // What the script says is no part of the conversation.
            command.arg(verb).stdin(Stdio::null()).stdout(io::stderr());
            let failed = move |source| LocalError::Run { script: script.clone(), verb, source };
            (command, failed)
        };
        let (mut status, failed) = told("status");
        if status.stdout(Stdio::null()).status().map_err(failed)?.code() == Some(NOT_INSTALLED) {
            let (mut install, failed) = told("install");
            if !install.status().map_err(failed)?.success() {
                return Err(LocalError::Install);
            }
        }
        let (mut serve, failed) = told("serve");
        // The server serves until its input ends, and only this process holds the other end.
        serve.stdin(Stdio::piped()).stdout(Stdio::piped());
        // Ctrl-C means the conversation and not the server.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut serve, 0);
        let child = serve.spawn().map_err(failed)?;
        let mut server = Self { child, url: String::new() };
        let mut line = String::new();
        if let Some(output) = server.child.stdout.take() {
            // An error is like an end: there is no address.
            let _ = BufReader::new(output).read_line(&mut line);
        }
        line.trim().clone_into(&mut server.url);
        if server.url.is_empty() { Err(LocalError::Start) } else { Ok(server) }
    }

    /// The base URL.
    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let limit = Instant::now() + GRACE;
        while Instant::now() < limit {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(10)),
                Ok(Some(_)) | Err(_) => return,
            }
        }
        // It is gone already if this fails.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The script above the working folder, above the program, or where the program was built.
fn script() -> Option<PathBuf> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR"));
    let places = [env::current_dir().ok(), env::current_exe().ok(), Some(built.to_owned())];
    let mut folders = places.iter().flatten().flat_map(|place| place.ancestors());
    folders.find_map(|folder| Some(folder.join(SCRIPT)).filter(|script| script.is_file()))
}
