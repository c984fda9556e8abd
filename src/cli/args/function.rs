//! `metalmark fn` on the command line.

use std::io::Read;

use clap::Args;

use super::workspace::ProjectArguments;
use crate::error::Error;
use crate::files::sandbox;
use crate::hosts;
use crate::model::date::Date;
use crate::pipeline::{Terminal, Verdict};

/// More than any reader of YAML here takes.
const LONGEST: u64 = 17 << 20;

#[derive(Debug, Args)]
pub(super) struct FunctionArguments {}

impl FunctionArguments {
    /// Runs the command.
    pub(in crate::cli) fn run(
        &self,
        place: &ProjectArguments,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        let mut input = Vec::new();
        let read = std::io::stdin()
            .lock()
            .take(LONGEST)
            .read_to_end(&mut input);
        read.map_err(Error::reading("stdin"))?;
        let text = String::from_utf8(input).map_err(|_| Error::Usage {
            message: "stdin is not UTF-8".to_owned(),
        })?;
        let request = place.request();
        sandbox(&hosts::function_folder(&request));
        hosts::function(&request, &text, today, terminal)
    }
}
