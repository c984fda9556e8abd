//! argv → exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    metalmark::cli::run()
}
