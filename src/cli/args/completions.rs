//! `metalmark completions` on the command line.

use clap::Args;

use crate::cli::complete;
use crate::error::Error;
use crate::pipeline::{Terminal, Verdict};

#[derive(Debug, Args)]
pub(super) struct CompletionArguments {
    /// The shell.
    shell: clap_complete::Shell,
}

impl CompletionArguments {
    /// Prints the script.
    pub(in crate::cli) fn run(&self, terminal: &mut Terminal) -> Result<Verdict, Error> {
        terminal.out.product(&complete::script(self.shell)?)?;
        Ok(Verdict::Clean)
    }
}
