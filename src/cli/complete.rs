//! Completion while typing: the shell's script runs metalmark with what is typed so far.

use std::ffi::{OsStr, OsString};

use clap::CommandFactory;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::Shells;

use super::args::Arguments;
use super::today;
use super::watchdog::{self, Watched};
use crate::budget::Limits;
use crate::commands::{self, Name, Named};
use crate::error::Error;
use crate::pipeline::{Terminal, Verdict};

/// The shell that a script runs metalmark for. Not clap's `COMPLETE`, which anything may set.
const SHELL: &str = "METALMARK_COMPLETE";

/// Prints the script that makes a shell complete metalmark's commands.
pub(super) fn print_script(
    shell: clap_complete::Shell,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let mut script = Vec::new();
    if let Some(completer) = Shells::builtins().completer(&shell.to_string()) {
        completer.write_registration(SHELL, "metalmark", "metalmark", "metalmark", &mut script)?;
    }
    terminal.out.product(&script)?;
    Ok(Verdict::Clean)
}

/// Prints what may come next, where a shell's script runs metalmark for that; none in any other run.
pub(super) fn complete(terminal: &mut Terminal) -> Option<Result<(), Error>> {
    let shell = std::env::var(SHELL).ok()?;
    // A shell shows nothing of a completion that fails.
    watchdog::start(Limits::SERVED, Watched::Run, shell.clone()).ok()?;
    let shells = Shells::builtins();
    let completer = shells.completer(&shell)?;
    let mut printed = Vec::new();
    let folder = std::env::current_dir().ok();
    let written =
        completer.write_complete(&mut command(), words(), folder.as_deref(), &mut printed);
    Some(
        written
            .and_then(|()| terminal.out.product(&printed))
            .map_err(Error::from),
    )
}

/// The words on the command line that is typed: those behind the script's `--`.
fn words() -> Vec<OsString> {
    let words = std::env::args_os().skip_while(|word| word != "--");
    words.skip(1).collect()
}

/// The command line, with the names of the project where one is an argument.
fn command() -> clap::Command {
    let completed = |command: clap::Command, argument, wanted| {
        command.mut_arg(argument, |argument| {
            argument.add(ArgValueCompleter::new(move |typed: &OsStr| {
                candidates(typed, wanted)
            }))
        })
    };
    Arguments::command()
        .mut_subcommand("explain", |command| {
            completed(command, "subject", Named::Subjects)
        })
        .mut_subcommand("values", |command| {
            completed(command, "first", Named::Clusters)
        })
}

/// The names that begin with what is typed. None where the project cannot be read: a command says why, completion does not.
fn candidates(typed: &OsStr, wanted: Named) -> Vec<CompletionCandidate> {
    let names = || {
        let mut request = Arguments::place(words())?;
        // Elsewhere the manifests below a folder may be all files of a machine.
        request.flags.discovers = commands::has_place(&request);
        commands::names(&request, typed.to_str()?, wanted, today::today().ok()?).ok()
    };
    let names = names().unwrap_or_default();
    let safe = names.into_iter().filter(|name| is_plain(&name.name));
    let candidate =
        |Name { name, about }: Name| CompletionCandidate::new(name).help(Some(about.into()));
    safe.map(candidate).collect()
}

/// Whether a shell takes a name as it is. Others come from somebody's repository, and completion would type them.
fn is_plain(name: &str) -> bool {
    name.chars()
        .all(|letter| letter.is_ascii_alphanumeric() || "-_./+:@".contains(letter))
}
