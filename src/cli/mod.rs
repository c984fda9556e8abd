//! What can be typed, and the exit status. Nothing below sees a flag.

mod args;
mod terminal;
mod today;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::commands::{self, Terminal, Verdict};
use crate::error::Error;
use args::{Arguments, Command};

/// The usage was wrong, or the world failed.
const FAILED: u8 = 2;

/// Runs the command line and answers with the exit status: 0 clean, 1 findings or drift, 2 usage or the world failed.
pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    let mut terminal = terminal::open(arguments.color);
    let outcome = dispatch(&arguments, &mut terminal).and_then(|verdict| {
        terminal.out.flush()?;
        Ok(verdict)
    });
    let status = match outcome {
        Ok(verdict) => verdict.status(),
        // Whoever read our output has read enough.
        Err(Error::Print { cause }) if cause.kind() == ErrorKind::BrokenPipe => 0,
        Err(error) => {
            terminal::say(&mut terminal, &error);
            FAILED
        }
    };
    // Nothing is left to tell anyone when stderr itself is gone.
    let _ = terminal.err.flush();
    ExitCode::from(status)
}

fn dispatch(arguments: &Arguments, terminal: &mut Terminal) -> Result<Verdict, Error> {
    let today = today::today()?;
    let place = &arguments.place;
    match &arguments.command {
        Command::Render(render) => {
            commands::render(&render.request(place), &render.options(today), terminal)
        }
        Command::Check(check) => commands::check(
            &check.workspace.request(place),
            &check.options(today),
            terminal,
        ),
        Command::Images(images) => commands::images(
            &images.workspace.request(place),
            &images.options(today),
            terminal,
        ),
        Command::Explain(explain) => commands::explain(
            &explain.workspace.request(place),
            &explain.options(today),
            terminal,
        ),
        Command::Values(values) => commands::values(
            &values.workspace.request(place),
            &values.options(today),
            terminal,
        ),
        Command::Completions(completions) => {
            terminal.out.write_all(&completions.script())?;
            Ok(Verdict::Clean)
        }
    }
}
