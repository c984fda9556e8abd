//! `metalmark fn`: a KRM function, as kustomize and kpt run it: a ResourceList on stdin, a ResourceList on stdout.
//!
//! The contract is kustomize's functions specification (cmd/config/docs/api-conventions/functions-spec.md). What was not
//! requested keeps its bytes. Hosts swallow results or show nothing else, so errors and warnings are in the list and on stderr; while
//! there is an error the items are passed on as they came.

mod config;
mod generate;
mod list;
mod result;
mod selection;
mod stamp;

use std::io::{Read, Write};
use std::path::PathBuf;

use crate::error::Error;
use crate::files::repository_top;
use crate::model::date::Date;
use crate::model::finding::Judged;
use crate::model::rule::Level;
use crate::read::Request;

use crate::pipeline::{Terminal, Verdict};
use config::{Config, Function};
use list::List;
use result::{Outcome, Severity};

/// More than any reader of YAML here takes.
const LONGEST: u64 = 17 << 20;

/// The text of a ResourceList.
///
/// # Errors
/// It cannot be read, or is not UTF-8.
pub fn read_list(stdin: impl Read) -> Result<String, Error> {
    let mut input = Vec::new();
    let read = stdin.take(LONGEST).read_to_end(&mut input);
    read.map_err(Error::reading("stdin"))?;
    String::from_utf8(input).map_err(|_| Error::usage("stdin is not UTF-8"))
}

/// The repository that a function runs in, which is all that it reads; the folder that it starts in where that is in none.
pub fn function_folder(request: &Request) -> PathBuf {
    let start = request.directory.clone().unwrap_or_else(|| ".".into());
    repository_top(&start).unwrap_or(start)
}

/// Runs the function that the list's `functionConfig` names.
///
/// # Errors
/// The input is no ResourceList, its configuration is not understood, or reading failed; nothing is printed then.
pub fn function(
    request: &Request,
    input: &str,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let list = List::read(input)?;
    let config = Config::read(list.config.as_ref())?;
    // The configuration is the repository's text: a project that it names is in the repository, too.
    let confined = Some(function_folder(request));
    let mut request = config.request(request);
    request.flags.confined = confined;
    let outcome = match config.function {
        Function::Generator => generate::run(&request, &config, &list, today),
        Function::Transformer => stamp::transform(&request, &config, &list, today),
        Function::Validator => stamp::validate(&request, &config, &list, today),
    };
    let outcome = match outcome {
        Err(Error::Project { finding, .. }) => {
            let finding = *finding;
            let level = Level::Error;
            pass_through(&list, result::results(&[Judged { finding, level }]))
        }
        outcome => outcome?,
    };
    let text = list::with_results(&outcome)?;
    terminal.out.product(text.as_bytes())?;
    let mut verdict = Verdict::Clean;
    for result in &outcome.results {
        if result.severity != Severity::Info {
            writeln!(terminal.err, "{result}")?;
        }
        if result.severity == Severity::Error {
            verdict = Verdict::Findings;
        }
    }
    Ok(verdict)
}

/// The items as they came, with what was found.
fn pass_through(list: &List<'_>, results: Vec<result::FunctionResult>) -> Outcome {
    Outcome {
        text: list.text.to_owned(),
        has_results: list.has_results,
        results,
    }
}
