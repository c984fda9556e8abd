//! The last line of `cargo test`: how many tests were skipped, and for want of what. Cargo runs this after the other test
//! binaries; it has no tests of its own. Fails where `METALMARK_REQUIRE` names what was missing.

#[path = "support/skips.rs"]
mod skips;

use std::process::ExitCode;

#[expect(clippy::print_stdout, reason = "it is what this is for")]
fn main() -> ExitCode {
    // nextest lists the tests of each binary, and starts a process for each test: there is nothing to count here.
    if std::env::args().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let notes = skips::take();
    println!("\n{}", skips::summary(&notes));
    let required = std::env::var("METALMARK_REQUIRE").unwrap_or_default();
    let mut lacking = notes.lines().filter_map(|line| line.split('\t').nth(1));
    if lacking.any(|name| skips::names(&required, name)) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
