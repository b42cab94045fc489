//! The hotel concierge in the terminal. See `hotel --help`.

use clap::Parser as _;
use demos::hotel::terminal::{Failure, Options, Style, run};
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use tokio::io::BufReader;

fn main() -> ExitCode {
    let options = Options::parse();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return complain(error),
    };
    let is_interactive = io::stdin().is_terminal();
    let style = Style::detect(io::stdout().is_terminal(), std::env::var_os("NO_COLOR").as_deref());
    let input = BufReader::new(tokio::io::stdin());
    let ended = runtime.block_on(run(&options, input, &mut io::stdout().lock(), is_interactive, style));
    // A read of the terminal that is under way cannot be ended and must not be waited for.
    runtime.shutdown_background();
    match ended {
        Ok(_) => ExitCode::SUCCESS,
        // Whoever read the output has seen enough, such as `head`.
        Err(Failure::Terminal(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => complain(failure),
    }
}

/// Says what went wrong, with its causes.
fn complain(error: impl Into<anyhow::Error>) -> ExitCode {
    // Where nothing can be written, nothing can be said.
    let _ = writeln!(io::stderr(), "hotel: {:#}", error.into());
    ExitCode::FAILURE
}
