//! `metalmark images`: the catalog as a table.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::error::Error;
use crate::model::cluster::ClusterOrigin;
use crate::model::image::{Fact, Image, ImageKey, fact};
use crate::model::policy::Date;
use crate::model::proof;
use crate::model::workspace::ClusterView;
use crate::read::{self, Request};

use super::table::Table;
use crate::pipeline::{Terminal, Verdict, fleet};

/// What `images` was asked for.
#[derive(Clone, Debug)]
pub struct ImagesOptions {
    /// The format of the list.
    pub format: ListFormat,
    /// The day that waivers are held against.
    pub today: Date,
}

/// The format of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListFormat {
    /// A table for people.
    Human,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

/// One image of the catalog, over all clusters.
#[derive(Clone, Debug, Serialize)]
struct Row {
    /// Its key.
    key: ImageKey,
    /// The OCI reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<Arc<str>>,
    /// The digest that the lock holds for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<Arc<str>>,
    /// Whether any cluster is served it.
    served: bool,
    /// The pools that boot it, as `cluster/pool`.
    used_by: Vec<String>,
    /// Its facts, by name.
    facts: BTreeMap<Arc<str>, Arc<str>>,
}

/// Rows by key and reference: two clusters may mean two images by one key.
type Rows = BTreeMap<(ImageKey, Option<Arc<str>>), Row>;

/// Lists the images of all clusters' catalogs: on stdout, whatever the rules say; findings go to stderr.
///
/// # Errors
/// The world failed, or there is no project.
pub fn images(
    request: &Request,
    options: &ImagesOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let mut workspace = read::workspace(request)?;
    let tools = fleet::tools(&mut workspace, options.today)?;
    let survey = fleet::survey(&workspace, &tools, |view, _| Ok((rows(view), Vec::new())))?;
    let mut all = Rows::new();
    for (identity, row) in survey.results.iter().flatten() {
        let known = all.entry(identity.clone()).or_insert_with(|| Row {
            used_by: Vec::new(),
            ..row.clone()
        });
        known.served |= row.served;
        known.used_by.extend(row.used_by.iter().cloned());
    }
    let rows: Vec<Row> = all.into_values().collect();
    match options.format {
        ListFormat::Human => table(&rows).write(&mut terminal.out)?,
        ListFormat::Json => {
            terminal.out.json(&rows)?;
        }
        ListFormat::Yaml => {
            terminal.out.yaml(&rows)?;
        }
    }
    Ok(Verdict::Clean)
}

/// One cluster's catalog, with images that no pool selects; and the images outside of it that its manifests name.
fn rows(view: &ClusterView) -> Rows {
    let mut rows = named_rows(view);
    for image in view.images.values() {
        let uri = image.uri.as_ref();
        let uri = uri.map(|uri| view.sources.shown(&uri.value, uri.place).into());
        rows.insert((Arc::clone(&image.key), uri.clone()), row(view, image, uri));
    }
    rows
}

/// The images that pools of manifests name, and no record describes: of them their names say what is known.
fn named_rows(view: &ClusterView) -> Rows {
    let mut rows = Rows::new();
    if view.cluster.origin == ClusterOrigin::Values {
        return rows;
    }
    for (pool, selection) in view.cluster.pools.iter().zip(&view.selections) {
        let is_outside = proof::known(view, selection).is_none();
        let booted = proof::booted(view, pool, selection).filter(|_| is_outside);
        let Some(booted) = booted else { continue };
        let text = |(name, fact): (&Arc<str>, &Fact)| (Arc::clone(name), Arc::clone(&fact.value));
        let key: ImageKey = booted.name.into();
        let row = rows.entry((Arc::clone(&key), None)).or_insert_with(|| Row {
            key,
            uri: None,
            digest: None,
            served: false,
            used_by: Vec::new(),
            facts: booted.facts.iter().map(text).collect(),
        });
        row.used_by
            .push(format!("{}/{}", view.cluster.name, pool.name));
    }
    rows
}

fn row(view: &ClusterView, image: &Image, uri: Option<Arc<str>>) -> Row {
    let booted = view.cluster.pools.iter().zip(&view.selections);
    let used_by = booted
        .filter(|(_, selection)| {
            let known = proof::known(view, selection);
            known.is_some_and(|known| known.key == image.key)
        })
        .filter(|(pool, selection)| !view.selects_by_secret(pool, selection))
        .map(|(pool, _)| format!("{}/{}", view.cluster.name, pool.name));
    Row {
        key: Arc::clone(&image.key),
        uri,
        digest: image
            .digest
            .as_ref()
            .map(|digest| digest.value.as_str().into()),
        served: view.served.binary_search(&image.key).is_ok(),
        used_by: used_by.collect(),
        facts: image
            .facts
            .iter()
            .map(|(name, fact)| {
                let value = view.sources.shown(&fact.value, fact.place);
                (Arc::clone(name), value.into())
            })
            .collect(),
    }
}

fn table(rows: &[Row]) -> Table {
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
