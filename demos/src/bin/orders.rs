//! The demo `orders` in the terminal; `docs/demos.md` describes it.

use std::process::ExitCode;

fn main() -> ExitCode {
    demos::console::program("orders", demos::orders::console())
}
