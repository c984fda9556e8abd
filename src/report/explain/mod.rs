//! Explains the image of a pool, an image and a rule: as data, and as text made from the data.

mod image;
mod next;
mod pool;
mod text;

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;

use super::format::Format;
use crate::model::rule::{Level, RuleId};
use crate::printer::Printer;
use crate::rules::Rule;

pub use image::ImageAccount;
pub use next::next_versions;
pub use pool::PoolAccount;
pub(super) use pool::{
    CandidateAccount, PlacedValue, candidate_accounts, describe_outcome, facts, levels, outcome,
    terms,
};

/// A rule's page.
#[derive(Debug, Serialize)]
pub struct RuleAccount {
    pub(super) rule: RuleId,
    pub(super) level: Level,
    pub(super) summary: &'static str,
    pub(super) explanation: Cow<'static, str>,
}

impl RuleAccount {
    /// The account of a rule.
    pub fn new(rule: &'static Rule) -> Self {
        Self {
            rule: rule.id,
            level: rule.id.level(),
            summary: rule.summary(),
            explanation: rule.explanation(),
        }
    }
}

/// Prints a rule's page.
pub fn rule(rule: &RuleAccount, format: Format, out: &mut Printer) -> io::Result<()> {
    print(rule, format, out, |rule, out| text::rule(rule, out))
}

/// Prints the pools of a cluster.
pub fn pools(pools: &[PoolAccount], format: Format, out: &mut Printer) -> io::Result<()> {
    print(&pools, format, out, |pools, out| text::pools(pools, out))
}

/// Prints the images of a key.
pub fn images(images: &[ImageAccount], format: Format, out: &mut Printer) -> io::Result<()> {
    print(&images, format, out, |images, out| {
        text::images(images, out)
    })
}

fn print<T: Serialize>(
    data: &T,
    format: Format,
    out: &mut Printer,
    human: impl Fn(&T, &mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match format {
        Format::Human => human(data, out),
        Format::Json => out.json(data),
    }
}
