//! The commands: which stages each one calls, in which order.

mod check;
mod explain;
mod fix;
mod fleet;
mod images;
mod outputs;
mod render;
mod table;
mod terminal;
mod update;
mod values;

pub use check::{CheckOptions, check};
pub use explain::{ExplainOptions, explain};
pub use images::{ImagesOptions, ListFormat, images};
pub use render::{RenderMode, RenderOptions, render};
pub use terminal::{Stream, Terminal};
pub use update::{OfferSource, UpdateOptions, update};
pub use values::{Show, Stage, ValuesOptions, values};

/// The format of what a command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Human,
    /// For machines; docs/json.md gives the shape.
    Json,
}

impl Format {
    /// The report of that format.
    fn name(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Json => "json",
        }
    }
}

/// What a run came to. The output's format never changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing to complain of.
    Clean,
    /// Findings at error level.
    Findings,
    /// `--check`, and the tree is not what would be rendered.
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
