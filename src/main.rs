//! argv → exit code.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Trees are many small pieces, made and dropped on every core: a third of the run goes into the C library's allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    metalmark::cli::run()
}
