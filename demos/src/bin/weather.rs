//! The demo `weather` in the terminal; `docs/demos.md` describes it.

use std::process::ExitCode;

fn main() -> ExitCode {
    demos::console::program("weather", demos::weather::console())
}
