//! The page of a fleet: one HTML file that needs nothing else.
//!
//! What `check`, `images`, `explain` and `impact` know of each cluster is gathered while the stages run, cluster by cluster, and
//! then becomes tables in which each text is stored once. The page's own script draws them: nothing is decided there. All
//! text goes through [`crate::printer`]: masked, and escaped so that it cannot end the element that holds it.

mod change;
mod cluster;
mod findings;
mod gather;
mod image;
mod plan;
mod pool;
mod site;
mod tables;

use std::io;
use std::path::PathBuf;
use std::str::FromStr;

use serde::Serialize;
use sha2::{Digest, Sha256};

use yaml_tree::bytes::BASE64;

use crate::decide::pool_counts::PoolCounts;
use crate::model::finding::Judged;
use crate::printer::{Printer, Safe};

use super::impact::Impact;
use super::{Color, Findings, PlanReport, Run};

use change::ChangeTable;
use cluster::ClusterRow;
use findings::{FindingRow, Found};
use image::{Catalog, ImageRow};
use plan::PlanTable;
use pool::{NearestRow, ReasonRow};
use tables::{Ids, Site, Tables};

pub use cluster::ClusterPart;
pub use gather::Gatherer;

/// Grows when the page's script has to read another shape.
const VERSION: u32 = 1;

/// What the page of a fleet is made from.
pub struct Page<'a> {
    /// Its heading.
    pub title: &'a str,
    /// Where a code host shows files.
    pub source_url: Option<&'a SourceUrl>,
    /// What was gathered of each cluster.
    pub clusters: Vec<ClusterPart>,
    /// What was gathered of their images.
    pub gatherer: Gatherer,
    /// What the rules found.
    pub findings: &'a Findings<'a>,
    /// What a change does, with what was found before it.
    pub change: Option<(&'a Impact, &'a [Judged])>,
    /// The plan of an upgrade: of each cluster, in their order, and its waves.
    pub plan: Option<PlanReport<'a>>,
}

/// The data of the page's script.
#[derive(Serialize)]
struct Data<'a> {
    version: u32,
    made_by: &'static str,
    title: &'a str,
    source_url: Option<&'a SourceUrl>,
    /// The project's folder below the repository's.
    folder: &'a str,
    counts: &'a PoolCounts,
    strings: Vec<&'a str>,
    places: Vec<Site>,
    reasons: Vec<ReasonRow>,
    nearest: Vec<NearestRow>,
    clusters: Vec<ClusterRow>,
    images: Vec<ImageRow>,
    /// Kubernetes versions with their minors, the oldest first.
    kubernetes: Vec<(u32, u32)>,
    /// Versions of the image builder, the newest first.
    builders: Vec<u32>,
    /// The rules that found something: id and summary.
    rules: Vec<(u32, u32)>,
    findings: Vec<FindingRow>,
    change: Option<ChangeTable>,
    plan: Option<PlanTable>,
}

/// Prints the page.
///
/// # Errors
/// The stream fails.
pub fn page(page: Page<'_>, out: &mut Printer) -> io::Result<()> {
    let mut tables = Tables::default();
    let mut images = Catalog::new(page.gatherer.into_images(), &mut tables);
    let names = cluster::indexes(&page.clusters);
    let mut reasons = Ids::default();
    let mut clusters = Vec::with_capacity(page.clusters.len());
    for part in &page.clusters {
        images.serve(part.images());
        clusters.push(part.row(&mut tables, &mut reasons, &images));
    }
    let (reasons, nearest) = pool::reasons(&reasons, &mut tables);
    // Files are named from the project's folder, wherever the run was started.
    let run = Run {
        root: PathBuf::new(),
        ..page.findings.run.clone()
    };
    let mut found = Found::new(&names, &run);
    let findings = found.rows(page.findings, &mut tables);
    cluster::judge(&mut clusters, &findings);
    let change = page.change.map(|(impact, before)| {
        let before = Findings::new(before, 0, Color::Never);
        ChangeTable::new(impact, found.rows(&before, &mut tables), &findings)
    });
    let plan = page.plan.map(|report| PlanTable::new(&report, &mut tables));
    let summary = page.findings.summary.text();
    let data = Data {
        version: VERSION,
        made_by: concat!("metalmark ", env!("CARGO_PKG_VERSION")),
        title: page.title,
        source_url: page.source_url,
        folder: match page.source_url {
            Some(_) => &run.folder,
            None => "",
        },
        counts: &page.findings.summary.pools,
        rules: found.rules(&mut tables),
        kubernetes: cluster::versions(&clusters, &mut tables),
        builders: images.builders(),
        images: images.into_rows(),
        places: tables.sites(),
        strings: tables.texts(),
        reasons,
        nearest,
        clusters,
        findings,
        change,
        plan,
    };
    print(&data, page.title, &summary, out)
}

/// The placeholders of an address.
const PATH: &str = "{path}";
const LINE: &str = "{line}";

/// An address with `{path}`, and mostly `{line}`, in it: `https://gitlab.example/lab/fleet/-/blob/main/{path}#L{line}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceUrl(String);

impl FromStr for SourceUrl {
    type Err = String;

    /// A page must not hold a link that runs a script, so only addresses of web servers are accepted.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let example = "https://gitlab.example/GROUP/PROJECT/-/blob/main/{path}#L{line}";
        let is_web = text.starts_with("https://") || text.starts_with("http://");
        let rest = text.replacen(PATH, "", 1).replacen(LINE, "", 1);
        if is_web && text.contains(PATH) && !rest.contains(['{', '}']) {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!(
                "write an address with `{PATH}` and `{LINE}`, such as {example}"
            ))
        }
    }
}

// `default-src 'none'` forbids every request; the style and the script are allowed by their SHA-256 alone, so that text of a
// repository could not run even if it became markup. The data is JSON in an element that no browser runs.

const SHELL: &str = include_str!("../../../templates/page/page.html");
const STYLE: &str = include_str!("../../../templates/page/page.css");

/// One script, whose files share a scope.
const SCRIPT: &[&str] = &[
    "\"use strict\";\n(() => {\n",
    include_str!("../../../templates/page/data.js"),
    include_str!("../../../templates/page/dom.js"),
    include_str!("../../../templates/page/state.js"),
    include_str!("../../../templates/page/overview.js"),
    include_str!("../../../templates/page/map.js"),
    include_str!("../../../templates/page/table.js"),
    include_str!("../../../templates/page/fields.js"),
    include_str!("../../../templates/page/fleet.js"),
    include_str!("../../../templates/page/why.js"),
    include_str!("../../../templates/page/cluster.js"),
    include_str!("../../../templates/page/images.js"),
    include_str!("../../../templates/page/findings.js"),
    include_str!("../../../templates/page/change.js"),
    include_str!("../../../templates/page/plan.js"),
    include_str!("../../../templates/page/main.js"),
    "})();\n",
];

/// Prints the document. `title` and `summary` are shown without the script as well.
fn print(data: &impl Serialize, title: &str, summary: &str, out: &mut Printer) -> io::Result<()> {
    let mut rest = SHELL;
    while let Some((before, behind)) = rest.split_once("[[") {
        let (hole, behind) = behind.split_once("]]").unwrap_or((behind, ""));
        out.markup(&before.into())?;
        match hole {
            "policy" => out.markup(&policy())?,
            "title" => out.markup(&Safe::xml(title))?,
            "summary" => out.markup(&Safe::xml(summary))?,
            "style" => out.markup(&STYLE.into())?,
            "data" => out.embed_json(data)?,
            _ => {
                for part in SCRIPT {
                    out.markup(&(*part).into())?;
                }
            }
        }
        rest = behind;
    }
    out.markup(&rest.into())
}

/// What the page may load: its own style and script, and its own icon.
fn policy() -> Safe {
    let style = hash(&[STYLE]);
    let script = hash(SCRIPT);
    Safe::xml(&format!(
        "default-src 'none'; style-src {style}; script-src {script}; img-src data:; base-uri 'none'; form-action 'none'"
    ))
}

fn hash(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    format!("'sha256-{}'", BASE64.encode(&hasher.finalize()))
}

#[cfg(test)]
mod tests {
    use super::SourceUrl;

    #[test]
    fn only_addresses_of_web_servers_with_a_path_are_accepted() {
        for (text, is_valid) in [
            ("https://a.example/{path}#L{line}", true),
            ("http://a.example/{path}", true),
            ("https://a.example/", false),
            ("javascript:{path}", false),
            ("https://a.example/{path}{path}", false),
            ("https://a.example/{path}?{ref}", false),
        ] {
            assert_eq!(text.parse::<SourceUrl>().is_ok(), is_valid, "{text}");
        }
    }
}
