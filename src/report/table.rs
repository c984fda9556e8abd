//! Tables with aligned columns.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;

use capi::image::{ImageKey, fact};
use oci_artifacts::Digest;

use crate::catalog::locking::{Verification, VerifiedImage};
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::model::judgment::Grade;
use crate::model::lock::LockedImage;
use crate::model::rule::{Level, RuleId};
use crate::printer::Printer;

use super::format::Format;

/// Rows of cells; the first one is the head.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(head: &[&str]) -> Self {
        Self {
            rows: vec![head.iter().map(|cell| cell.to_uppercase()).collect()],
        }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Two spaces between columns, none at the end of a line.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
        };
        let widths: Vec<usize> = (0..columns)
            .map(|column| width(column).unwrap_or(0))
            .collect();
        for row in &self.rows {
            let cells = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| pad(cell, *width));
            writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// With spaces up to a width, which Rust's own formatting takes no more than 16 bits of.
fn pad(cell: &str, width: usize) -> String {
    let spaces = width.saturating_sub(cell.chars().count());
    format!("{cell}{}", " ".repeat(spaces))
}

/// Prints rows below their head.
pub fn rows<const N: usize>(
    head: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    out: &mut Printer,
) -> io::Result<()> {
    let mut table = Table::new(&head);
    rows.into_iter().for_each(|row| table.row(row));
    table.write(out)
}

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
pub fn names(names: &[String], format: Format, out: &mut Printer) -> io::Result<()> {
    match format {
        Format::Human => names.iter().try_for_each(|name| writeln!(out, "{name}")),
        format => format.data(&names, out),
    }
}

/// Prints an image with its facts.
pub fn registry_image(image: &RegistryImage, format: Format, out: &mut Printer) -> io::Result<()> {
    match format {
        Format::Human => registry_table(image).write(out),
        format => format.data(image, out),
    }
}

fn registry_table(image: &RegistryImage) -> Table {
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

/// One rule, with its level in this project.
#[derive(Debug, Serialize)]
pub struct RuleRow {
    /// Its id.
    pub rule: RuleId,
    /// The level of what it finds.
    pub level: Level,
    /// What it finds, in one line.
    pub summary: &'static str,
}

/// Prints the rules, a line each.
pub fn rules(rows: &[RuleRow], format: Format, out: &mut Printer) -> io::Result<()> {
    if format != Format::Human {
        return format.data(&rows, out);
    }
    let mut table = Table::new(&["rule", "level", "what it finds"]);
    for row in rows {
        let cells = [row.rule.as_str(), row.level.as_str(), row.summary];
        table.row(cells.map(str::to_owned));
    }
    table.write(out)
}

/// One image of the catalog, over all clusters.
#[derive(Clone, Debug, Serialize)]
pub struct ImageRow {
    /// Its key.
    pub key: ImageKey,
    /// The OCI reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<Arc<str>>,
    /// The digest that the lock holds for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Arc<str>>,
    /// Whether any cluster is served it.
    pub served: bool,
    /// The pools that boot it, as `cluster/pool`.
    pub used_by: Vec<String>,
    /// Whether it fits each of them.
    pub judgments: BTreeMap<String, Grade>,
    /// Its facts, by name.
    pub facts: BTreeMap<Arc<str>, Arc<str>>,
}

impl ImageRow {
    /// Adds a pool that boots it.
    pub fn add_user(&mut self, view: &ClusterView, of: SelectedPool<'_>) {
        let pool = format!("{}/{}", view.cluster.name, of.pool.name);
        self.used_by.push(pool.clone());
        self.judgments.insert(pool, of.judgment.grade());
    }
}

/// Prints the rows.
pub fn images(rows: &[ImageRow], format: Format, out: &mut Printer) -> io::Result<()> {
    match format {
        Format::Human => image_table(rows).write(out),
        format => format.data(&rows, out),
    }
}

fn image_table(rows: &[ImageRow]) -> Table {
    const FACTS: [&str; 6] = [
        fact::OS,
        fact::OS_RELEASE,
        fact::HARDENED,
        fact::K8S_FLAVOR,
        fact::K8S_VERSION,
        fact::IMAGE_FORMAT,
    ];
    let head = [
        "image",
        "os",
        "release",
        "hardened",
        "flavor",
        "kubernetes",
        "format",
        "served",
        "fits",
        "used by",
        "reference",
    ];
    let mut table = Table::new(&head);
    for row in rows {
        let facts = FACTS
            .iter()
            .map(|name| row.facts.get(*name).map_or("–", |value| value).to_owned());
        let used = match row.used_by.as_slice() {
            [] => "–".to_owned(),
            [first] => first.clone(),
            [first, others @ ..] => format!("{first} and {} more", others.len()),
        };
        let served = if row.served { "yes" } else { "no" };
        let uri = row.uri.as_deref().unwrap_or("–").to_owned();
        let cells = std::iter::once(row.key.to_string()).chain(facts);
        let worst = row.judgments.values().max();
        let fits = worst.map_or("–", |worst| worst.words()).to_owned();
        table.row(cells.chain([served.to_owned(), fits, used, uri]));
    }
    table
}

#[derive(Serialize)]
struct VerificationDocument<'a> {
    version: u32,
    images: Vec<VerificationRow<'a>>,
}

#[derive(Serialize)]
struct VerificationRow<'a> {
    key: &'a str,
    reference: &'a str,
    in_place: Option<bool>,
    signed_by: Option<String>,
}

fn verification_row(image: &VerifiedImage) -> VerificationRow<'_> {
    let keys: Vec<&str> = image.signed_by.iter().map(|key| &**key).collect();
    VerificationRow {
        key: &image.key,
        reference: &image.reference,
        in_place: image.in_place,
        signed_by: (!keys.is_empty()).then(|| keys.join(", ")),
    }
}

/// Prints what the registries have now of each image of the lock.
pub fn verification(verified: &Verification, format: Format, out: &mut Printer) -> io::Result<()> {
    if format != Format::Human {
        let document = VerificationDocument {
            version: 1,
            images: verified.images.iter().map(verification_row).collect(),
        };
        return format.data(&document, out);
    }
    let mut table = Table::new(&["image", "tag", "signed by", "reference"]);
    for image in &verified.images {
        let tag = match image.in_place {
            Some(true) => "as locked",
            Some(false) => "not as locked",
            None => "unknown",
        };
        let signed = shorten_signers(image.signed_by.iter().map(|key| &**key));
        let cells = [&*image.key, tag, &*signed, &*image.reference];
        table.row(cells.map(str::to_owned));
    }
    table.write(out)
}

#[derive(Serialize)]
struct RestingDocument<'a> {
    version: u32,
    key: &'a Digest,
    images: Vec<RestingRow<'a>>,
}

#[derive(Serialize)]
struct RestingRow<'a> {
    key: &'a str,
    reference: &'a str,
    digest: &'a Digest,
    /// The other keys whose holders signed it.
    others: Vec<&'a str>,
}

/// Prints the locked images that the holder of a key signed, and who else did.
pub fn resting<'i>(
    images: &[&'i LockedImage],
    fingerprint: &'i Digest,
    format: Format,
    out: &mut Printer,
) -> io::Result<()> {
    let row = |image: &&'i LockedImage| -> RestingRow<'i> {
        let keys = image.signing_keys().into_iter();
        RestingRow {
            key: &image.key.value,
            reference: &image.reference.value,
            digest: &image.digest.value,
            others: keys.filter(|key| *key != fingerprint.as_str()).collect(),
        }
    };
    let images: Vec<RestingRow<'i>> = images.iter().map(row).collect();
    if format != Format::Human {
        let document = RestingDocument {
            version: 1,
            key: fingerprint,
            images,
        };
        return format.data(&document, out);
    }
    if images.is_empty() {
        return writeln!(out, "no locked image is signed by the key {fingerprint}");
    }
    let mut table = Table::new(&["image", "signed by others", "reference"]);
    for row in images {
        let others = shorten_signers(row.others);
        table.row([row.key.to_owned(), others, row.reference.to_owned()]);
    }
    table.write(out)
}

/// The beginnings of the fingerprints of keys; a dash where there is none.
fn shorten_signers<'a>(fingerprints: impl IntoIterator<Item = &'a str>) -> String {
    let shorten = |key: &str| key.chars().take(19).collect::<String>();
    let all: Vec<String> = fingerprints.into_iter().map(shorten).collect();
    match all.as_slice() {
        [] => "–".to_owned(),
        all => all.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn a_very_long_cell_is_written_whole() {
        let long = "x".repeat(100_000);
        let mut table = Table::new(&["a", "b"]);
        table.row([long.clone(), "y".to_owned()]);
        let mut text = Vec::new();
        table.write(&mut text).expect("memory");
        assert!(String::from_utf8_lossy(&text).ends_with(&format!("{long}  y\n")));
    }

    #[test]
    fn columns_line_up_and_lines_end_in_text() {
        let mut table = Table::new(&["a", "b"]);
        table.row(["long".to_owned(), "x".to_owned()]);
        let mut text = Vec::new();
        table.write(&mut text).expect("memory");
        assert_eq!(String::from_utf8_lossy(&text), "A     B\nlong  x\n");
    }
}
