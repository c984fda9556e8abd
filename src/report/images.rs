//! The image catalog as a list.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use serde::Serialize;

use super::format::ListFormat;
use super::table::Table;
use crate::printer::Printer;
use capi::image::{ImageKey, fact};

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
    /// Its facts, by name.
    pub facts: BTreeMap<Arc<str>, Arc<str>>,
}

/// Prints the rows.
pub fn images(rows: &[ImageRow], format: ListFormat, out: &mut Printer) -> io::Result<()> {
    match format {
        ListFormat::Human => table(rows).write(out),
        format => format.data(&rows, out),
    }
}

fn table(rows: &[ImageRow]) -> Table {
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
        table.row(cells.chain([served.to_owned(), used, uri]));
    }
    table
}
