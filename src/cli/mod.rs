//! What can be typed, and the exit status. Nothing below sees a flag.

mod args;
mod complete;
mod terminal;
mod today;
mod watchdog;

use std::io::Write;
use std::process::ExitCode;

use args::Arguments;

use crate::error::Error;

/// A usage, I/O or network error.
const FAILED: u8 = 2;

/// Runs the command line and answers with the exit status: 0 clean, 1 findings or drift, 2 a usage, I/O or network error.
pub fn run() -> ExitCode {
    watchdog::handle_signals();
    let mut unread = terminal::open(terminal::ColorMode::Never);
    if let Some(printed) = complete::complete(&mut unread) {
        // A shell shows nothing of a completion that fails.
        return ExitCode::from(match printed.and_then(|()| Ok(unread.out.flush()?)) {
            Ok(()) => 0,
            Err(_) => FAILED,
        });
    }
    let (arguments, name) = match Arguments::parse_named() {
        Ok(parsed) => parsed,
        Err(error) if error.use_stderr() => return refuse(&error),
        Err(help) => help.exit(),
    };
    let (limits, watched) = arguments.budget();
    let mut terminal = terminal::open(arguments.color);
    let detail = arguments.detail();
    (terminal.out.detail, terminal.err.detail) = (detail, detail);
    let outcome = watchdog::start(limits, watched, name)
        .and_then(|()| today::today())
        .and_then(|today| arguments.run(today, &mut terminal))
        .and_then(|verdict| {
            terminal.out.flush()?;
            Ok(verdict)
        });
    let outcome = outcome.or_else(|error| match error {
        Error::Project { finding, root } => arguments.report(*finding, &root, &mut terminal),
        error => Err(error),
    });
    let status = match outcome {
        Ok(verdict) => verdict.status(),
        Err(error) => {
            terminal::say(&mut terminal, &error);
            FAILED
        }
    };
    // There is nowhere to report that stderr itself is gone.
    let _ = terminal.err.flush();
    ExitCode::from(status)
}

/// Prints what is wrong with a command line. It quotes what was typed, which may hold a password or what a terminal obeys.
fn refuse(error: &clap::Error) -> ExitCode {
    let mut terminal = terminal::open(terminal::ColorMode::Never);
    // There is nowhere to report that stderr itself is gone.
    let _ = write!(terminal.err, "{}", error.render());
    let _ = terminal.err.flush();
    ExitCode::from(FAILED)
}
