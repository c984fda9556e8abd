//! The commands: which stages each one calls, in which order.

pub mod bundle;
mod check;
pub mod cmp;
mod explain;
mod fix;
mod fleet;
mod images;
mod impact;
mod init;
mod krm;
mod lock;
mod outputs;
mod registry;
mod render;
mod rendered;
mod reporting;
mod schema;
mod stamp;
mod stores;
mod table;
mod terminal;
mod texts;
mod update;
mod values;
mod verify;

pub use check::{CheckOptions, check};
pub use explain::{ExplainOptions, explain};
pub use images::{ImagesOptions, ListFormat, images};
pub use impact::{ImpactFormat, ImpactOptions, impact};
pub use init::{InitOptions, init};
pub use krm::{function, function_folder};
pub use lock::{LockMode, LockOptions, lock};
pub use registry::{RegistryOptions, registry_facts, registry_list};
pub use render::{RenderMode, RenderOptions, render};
pub use reporting::{ReportFile, Reporting};
pub use schema::schema;
pub use stamp::{StampOptions, stamp};
pub use terminal::Terminal;
pub use update::{OfferSource, UpdateOptions, VersionSource, update};
pub use values::{Show, Stage, ValuesOptions, values};
pub use verify::{VerifyOptions, verify};

use std::io;

use std::io::Write as _;

use crate::error::Error;
use crate::model::finding::Judged;
use crate::printer::Printer;
use crate::read::{self, Request};
use crate::report::{self, Findings, REPORTS, Report};
use crate::write;

/// What a killed run has edited is taken back before a run that may write reads anything.
fn recover(request: &Request, terminal: &mut Terminal) -> Result<(), Error> {
    for path in write::recover(&read::location(request)?.root)? {
        let path = path.display();
        writeln!(
            terminal.err,
            "undid the edit of `{path}` that a killed run left"
        )?;
    }
    Ok(())
}

/// The format of an answer that is data: not of findings, which [`crate::report::REPORTS`] lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Human,
    /// For machines; docs/json.md gives the shape.
    Json,
}

impl Format {
    /// The report that tells findings beside such an answer.
    pub fn report(self) -> &'static dyn Report {
        let name = match self {
            Self::Human => "human",
            Self::Json => "json",
        };
        report::by_name(name).unwrap_or(REPORTS[0])
    }
}

/// Prints findings beside an answer.
fn print_findings(
    out: &mut Printer,
    judged: &[Judged],
    checked: usize,
    format: Format,
) -> io::Result<()> {
    let findings = Findings::new(judged, checked, out.color);
    format.report().findings(&findings, out)
}

/// What a run came to. The output's format never changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing to complain of.
    Clean,
    /// Findings at error level.
    Findings,
    /// `--check`, and the tree is not what would be rendered; or `--fail-on-change`, and it was not.
    Drift,
}

impl Verdict {
    /// The exit status.
    pub fn status(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Findings | Self::Drift => 1,
        }
    }
}
