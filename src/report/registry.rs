//! Lists what a registry has.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;

use super::format::ListFormat;
use super::table::Table;
use crate::printer::Printer;

/// One image.
#[derive(Debug, Serialize)]
pub struct RegistryImage {
    /// The reference, as the user wrote it.
    pub reference: String,
    /// The digest of its manifest.
    pub digest: String,
    /// The digest of the index that names it, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// The mirror that it comes from, if it does not come from its registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mirror: Option<String>,
    /// Its facts, by name.
    pub facts: BTreeMap<Arc<str>, Arc<str>>,
}

/// Prints names, a line each.
pub fn names(names: &[String], format: ListFormat, out: &mut Printer) -> io::Result<()> {
    match format {
        ListFormat::Human => names.iter().try_for_each(|name| writeln!(out, "{name}")),
        format => format.data(&names, out),
    }
}

/// Prints an image with its facts.
pub fn registry_image(
    image: &RegistryImage,
    format: ListFormat,
    out: &mut Printer,
) -> io::Result<()> {
    match format {
        ListFormat::Human => table(image).write(out),
        format => format.data(image, out),
    }
}

fn table(image: &RegistryImage) -> Table {
    let mut table = Table::new(&["fact", "value"]);
    let mut row = |name: &str, value: &str| table.row([name.to_owned(), value.to_owned()]);
    row("reference", &image.reference);
    row("digest", &image.digest);
    image.index.iter().for_each(|index| row("index", index));
    image.mirror.iter().for_each(|mirror| row("mirror", mirror));
    image
        .facts
        .iter()
        .for_each(|(name, value)| row(name, value));
    table
}
