//! `metalmark man`: the manual pages, made of the command line's own help.

use std::path::Path;

use clap::CommandFactory;

use super::args::Arguments;
use crate::error::Error;
use crate::output;
use crate::pipeline::{Terminal, Verdict};

/// Prints the page of the whole, or writes all pages into a folder.
pub(super) fn run(folder: Option<&Path>, terminal: &mut Terminal) -> Result<Verdict, Error> {
    let mut whole = Arguments::command().disable_help_subcommand(true);
    // Gives the commands below it their full names.
    whole.build();
    match folder {
        None => terminal.out.product(&page(whole)?)?,
        Some(folder) => {
            for (name, page) in pages(&whole)? {
                output::file(&folder.join(format!("{name}.1")), &page)?;
            }
        }
    }
    Ok(Verdict::Clean)
}

fn page(command: clap::Command) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    Ok(text)
}

/// The pages of a command and of those below it, by their names.
fn pages(command: &clap::Command) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let mut all = vec![(name.to_owned(), page(command.clone())?)];
    for below in command.get_subcommands() {
        all.extend(pages(below)?);
    }
    Ok(all)
}
