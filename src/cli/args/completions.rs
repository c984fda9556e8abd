//! `metalmark completions` on the command line.

use clap::{Args, CommandFactory};

use super::Arguments;
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
        terminal.out.product(&self.script())?;
        Ok(Verdict::Clean)
    }

    /// The script. In memory first: the generator panics where it cannot write.
    fn script(&self) -> Vec<u8> {
        let mut script = Vec::new();
        clap_complete::generate(
            self.shell,
            &mut Arguments::command(),
            "metalmark",
            &mut script,
        );
        script
    }
}
