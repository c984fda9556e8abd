//! The plan of an upgrade: the steps and waves of each cluster.

use serde::Serialize;

use super::tables::{Ids, Tables};
use crate::decide::image_server::ServerPlan;
use crate::decide::plan::PlanStep;
use crate::report::plan::{self, PlanReport};

/// The plan of a page. Clusters are numbers of the page's list, whose order the plans have.
#[derive(Serialize)]
pub(super) struct PlanTable {
    goal: String,
    /// What is planned, in one line.
    sum: String,
    missing: Vec<String>,
    /// What management clusters have to serve.
    servers: Vec<ServerTable>,
    /// Steps that clusters make alike, each once.
    steps: Vec<StepRow>,
    clusters: Vec<WayRow>,
    waves: Vec<WaveRow>,
}

/// A step: its version, and pools with their images.
#[derive(Clone, PartialEq, Eq, Hash, Serialize)]
struct StepRow(u32, Vec<(u32, u32)>);

/// The way of a cluster.
#[derive(Serialize)]
struct WayRow {
    /// The version that it runs.
    #[serde(rename = "v")]
    from: u32,
    #[serde(rename = "s")]
    steps: Vec<u32>,
    /// What stops it.
    #[serde(rename = "b", skip_serializing_if = "super::tables::is_zero")]
    blocked: u32,
    /// The pools that no image follows, with the image that they boot.
    #[serde(rename = "l", skip_serializing_if = "Vec::is_empty")]
    lacking: Vec<(u32, u32)>,
}

/// What a management cluster has to serve: the words of each image, and the edits that make it serve the rest.
#[derive(Serialize)]
struct ServerTable {
    name: String,
    images: Vec<[String; 5]>,
    edits: Vec<String>,
}

/// A wave: the minor, the machines, the window and the owners in words, and the clusters.
#[derive(Serialize)]
struct WaveRow {
    to: u32,
    machines: Option<usize>,
    words: Vec<u32>,
    clusters: Vec<usize>,
}

impl PlanTable {
    pub(super) fn new(report: &PlanReport<'_>, tables: &mut Tables) -> Self {
        let mut steps = Ids::default();
        let mut ways = Vec::with_capacity(report.plans.len());
        for of_cluster in report.plans {
            let lacking = of_cluster.blocked.iter().flat_map(|it| &it.lacking);
            ways.push(WayRow {
                from: tables.optional(of_cluster.from.as_deref()),
                steps: of_cluster
                    .steps
                    .iter()
                    .map(|step| steps.id(StepRow::new(step, tables)))
                    .collect(),
                lacking: lacking
                    .map(|(pool, image)| (tables.text(pool), tables.text(image)))
                    .collect(),
                blocked: tables.text(&plan::block_reason(of_cluster)),
            });
        }
        let waves = report.waves.iter().map(|wave| WaveRow {
            to: tables.text(&wave.to),
            machines: wave.machines,
            words: wave
                .window
                .iter()
                .chain(&wave.owners)
                .map(|words| tables.text(words))
                .collect(),
            clusters: wave.clusters.iter().map(|it| it.plan).collect(),
        });
        Self {
            waves: waves.collect(),
            goal: report.goal.to_string(),
            sum: report.sum(),
            missing: report.missing().iter().map(plan::missing_text).collect(),
            servers: report.servers.iter().map(ServerTable::new).collect(),
            steps: steps.values().into_iter().cloned().collect(),
            clusters: ways,
        }
    }
}

impl ServerTable {
    fn new(server: &ServerPlan) -> Self {
        let images = server.needs();
        Self {
            name: server.management.to_string(),
            images: images
                .map(|(stage, needed)| plan::row(stage, needed))
                .collect(),
            edits: server.edits().collect(),
        }
    }
}

impl StepRow {
    fn new(step: &PlanStep, tables: &mut Tables) -> Self {
        let images = step.images.iter();
        let images = images.map(|(pool, image)| (tables.text(pool), tables.text(image)));
        let images = images.collect();
        Self(tables.text(&step.version), images)
    }
}
