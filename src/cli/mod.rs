//! What can be typed, and the exit status. Nothing below sees a flag.

mod args;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use crate::commands;
use args::{Arguments, Command};

/// Runs the command line and answers with the exit status: 0 clean, 1 findings or drift, 2 usage or the world failed.
pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    let mut terminal = terminal::open(arguments.color);
    let outcome = match &arguments.command {
        Command::Render(render) => commands::render(&render.request(&arguments.place), &render.options(), &mut terminal),
        Command::Check(check) => commands::check(&check.workspace.request(&arguments.place), &check.report.options(), &mut terminal),
        Command::Images(images) => {
            commands::images(&images.workspace.request(&arguments.place), &images.options(), &mut terminal)
        }
        Command::Explain(explain) => {
            commands::explain(&explain.workspace.request(&arguments.place), &explain.options(), &mut terminal)
        }
    };
    match outcome {
        Ok(verdict) => ExitCode::from(verdict.status()),
        Err(error) => {
            terminal.error(&error);
            ExitCode::from(2)
        }
    }
}
