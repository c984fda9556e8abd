//! The page of a fleet: one HTML file that needs nothing else.
//!
//! What `check`, `images`, `explain` and `impact` know of each cluster is gathered while the stages run, cluster by cluster, and
//! then becomes tables in which each text is stored once. The page's own script draws them: nothing is decided there. All
//! text goes through [`crate::printer`]: masked, and escaped so that it cannot end the element that holds it.

mod change;
mod cluster;
mod document;
mod findings;
mod gather;
mod image;
mod plan;
mod pool;
mod site;
mod source;
mod tables;

use std::io;
use std::path::PathBuf;

use serde::Serialize;

use super::impact::Impact;
use super::{Color, Findings, PlanReport, Run};
use crate::decide::pool_counts::PoolCounts;
use crate::model::finding::Judged;
use crate::printer::Printer;

pub use cluster::ClusterPart;
pub use gather::Gatherer;
pub use source::SourceUrl;

use change::ChangeTable;
use cluster::ClusterRow;
use findings::{FindingRow, Found};
use image::{Catalog, ImageRow};
use plan::PlanTable;
use pool::{NearestRow, ReasonRow};
use tables::{Ids, Site, Tables};

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
    document::print(&data, (page.title, &summary), out)
}
