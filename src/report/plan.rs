//! The plan of an upgrade: each cluster with its steps, what is missing, and the sum.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::Value;

use super::{CommentFormat, Format, quantity};
use crate::decide::build_list::{MissingImage, build_list};
use crate::decide::followers::NearMiss;
use crate::decide::image_server::{NeedTime, NeededImage, ServerPlan, ServerStage};
use crate::decide::plan::{Blocked, ClusterPlan, Goal, PlanStep, RemovedName};
use crate::decide::waves::Wave;
use crate::printer::{Printer, Safe};

/// The plans of clusters, and what they are to run.
#[derive(Clone, Copy)]
pub struct PlanReport<'a> {
    /// The clusters.
    pub plans: &'a [ClusterPlan],
    /// The waves that they are spread over; none where they are not to be applied.
    pub waves: &'a [Wave],
    /// What management clusters have to serve meanwhile.
    pub servers: &'a [ServerPlan],
    /// What clusters are to run.
    pub goal: Goal,
    /// The version of the image builder whose images are taken, instead of those of the catalog.
    pub builder: Option<&'a str>,
}

impl PlanReport<'_> {
    /// The goal in words, for a cluster that is there.
    fn goal_text(&self) -> String {
        match self.goal {
            Goal::Minor(..) => format!("{} or newer", self.goal),
            Goal::Patches | Goal::BuiltSince(_) => self.goal.to_string(),
        }
    }

    /// Whose images are taken, in words behind a sentence.
    fn images(&self) -> String {
        let of = self
            .builder
            .map(|version| format!(", with the images of {version}"));
        of.unwrap_or_default()
    }

    /// The plan as JSON.
    pub(super) fn json(&self) -> Value {
        let minor = match self.goal {
            Goal::Minor(..) => Some(self.goal.to_string()),
            Goal::Patches | Goal::BuiltSince(_) => None,
        };
        let since = self.goal.earliest_day().map(|day| day.to_string());
        serde_json::json!({
            "version": 1, "goal": minor, "built_since": since, "builder": self.builder, "clusters": self.plans, "missing": self.missing(),
            "waves": self.waves, "servers": self.servers
        })
    }

    /// How many clusters have steps to make, are there, are blocked (behind a step too), and cannot be planned.
    pub(super) fn sum(&self) -> String {
        let count = |wanted: &dyn Fn(&ClusterPlan) -> bool| {
            self.plans.iter().filter(|plan| wanted(plan)).count()
        };
        let is_planned = |plan: &ClusterPlan| plan.from.is_some();
        let blocked = count(&|plan| is_planned(plan) && plan.blocked.is_some());
        let there = count(&|plan| plan.blocked.is_none() && plan.steps.is_empty());
        let steps: usize = self.plans.iter().map(|plan| plan.steps.len()).sum();
        let unplanned = match count(&|plan| !is_planned(plan)) {
            0 => String::new(),
            count => format!(", {count} not planned"),
        };
        format!(
            "{}: {} to upgrade in {}, {there} at {}, {blocked} blocked{unplanned}{}",
            quantity(self.plans.len(), "cluster"),
            count(&|plan| !plan.steps.is_empty()),
            quantity(steps, "step"),
            self.goal_text(),
            self.images()
        )
    }

    /// The sum first, then what is missing, then a table.
    fn markdown(&self, out: &mut Printer) -> io::Result<()> {
        let text = |text: &str| Safe::markdown(text);
        let title = match self.goal {
            Goal::Minor(..) => format!("Kubernetes {}", self.goal),
            Goal::Patches | Goal::BuiltSince(_) => self.goal.to_string(),
        };
        out.markup(&Safe::concat([
            "### The way to ".into(),
            text(&title),
            "\n\n**".into(),
            text(&self.sum()),
            "**\n".into(),
        ]))?;
        let missing = self.missing();
        if !missing.is_empty() {
            out.markup(&"\nMissing:\n\n".into())?;
        }
        for missing in &missing {
            out.markup(&Safe::concat([
                "- ".into(),
                text(&missing_text(missing)),
                "\n".into(),
            ]))?;
        }
        for wave in self.waves {
            let mark = if wave.number == 1 { "\n- " } else { "- " };
            out.markup(&Safe::concat([
                mark.into(),
                text(&self::wave(wave)),
                "\n".into(),
            ]))?;
        }
        for server in self.servers {
            out.markup(&Safe::concat([
                "\nWhat ".into(),
                text(&server.management),
                " has to serve:\n\n| when | image | clusters | their machines | |\n|---|---|---|---|---|\n".into(),
            ]))?;
            for words in server.needs().map(|(stage, needed)| row(stage, needed)) {
                let cells = words.map(|cell| Safe::concat(["| ".into(), text(&cell), " ".into()]));
                out.markup(&Safe::concat([Safe::concat(cells), "|\n".into()]))?;
            }
            for edit in server.edits() {
                out.markup(&Safe::concat([
                    "\nAdd to its values:\n\n".into(),
                    Safe::markdown_block(&edit),
                    "\n".into(),
                ]))?;
            }
        }
        if !self.plans.is_empty() {
            out.markup(
                &"\n| cluster | Kubernetes | images | blocked |\n|---|---|---|---|\n".into(),
            )?;
        }
        for plan in self.plans {
            let images = plan.steps.iter().map(|step| {
                let mut images: Vec<&str> = step.images.values().map(|image| &**image).collect();
                images.sort_unstable();
                images.dedup();
                let lines = [images.join(", ")].into_iter().chain(requirements(step));
                let lines: Vec<String> = lines.collect();
                format!("{}: {}", step.version, lines.join(", "))
            });
            let images: Vec<String> = images.collect();
            out.markup(&Safe::concat([
                "| ".into(),
                text(&plan.cluster),
                " | ".into(),
                text(&versions(plan)),
                " | ".into(),
                text(&images.join("; ")),
                " | ".into(),
                text(&block_reason(plan)),
                " |\n".into(),
            ]))?;
        }
        Ok(())
    }

    /// What the builder has to build for all clusters.
    pub(super) fn missing(&self) -> Vec<MissingImage> {
        build_list(self.plans, self.goal.earliest_day())
    }
}

/// Prints the plans of clusters, and what they are to run.
pub fn plan(report: &PlanReport<'_>, format: CommentFormat, out: &mut Printer) -> io::Result<()> {
    match format {
        CommentFormat::Json | CommentFormat::Yaml => Format::from(format).data(&report.json(), out),
        CommentFormat::Markdown => report.markdown(out),
        CommentFormat::Human => {
            for plan in report.plans {
                cluster(plan, out)?;
            }
            if !report.plans.is_empty() {
                writeln!(out)?;
            }
            for missing in &report.missing() {
                writeln!(out, "missing: {}", missing_text(missing))?;
            }
            for wave in report.waves {
                writeln!(out, "{}", self::wave(wave))?;
            }
            for server in report.servers {
                self::server(server, out)?;
            }
            writeln!(out, "{}", report.sum())
        }
    }
}

/// The first names of clusters; the JSON has all.
pub(super) fn first_names(names: impl ExactSizeIterator<Item = String>) -> String {
    const NAMED: usize = 10;
    let count = names.len();
    let mut text = names.take(NAMED).collect::<Vec<String>>().join(", ");
    if count > NAMED {
        text += &format!(" and {} more", count - NAMED);
    }
    text
}

/// An image to build on one line: for how many clusters, and what comes near.
pub(super) fn missing_text(missing: &MissingImage) -> String {
    let name = missing.name.as_ref().map(|name| format!("`{name}`, "));
    let since = missing.built_since.as_ref();
    let since = since.map(|day| format!(" built on {day} or later"));
    let nearest = missing.nearest.iter();
    let nearest: String = nearest
        .map(|NearMiss { image, difference }| format!("; `{image}` {difference}"))
        .collect();
    format!(
        "{}an image of {}{} in the line of `{}`, for {}{nearest}",
        name.unwrap_or_default(),
        missing.version,
        since.unwrap_or_default(),
        missing.line,
        quantity(missing.pools.len(), "cluster"),
    )
}

/// A wave on one line.
pub(super) fn wave(wave: &Wave) -> String {
    let names = first_names(wave.clusters.iter().map(|it| it.cluster.to_string()));
    let words = [format!("wave {}", wave.number), format!("to {}", wave.to)].into_iter();
    let words = words.chain(wave.machines.map(|count| quantity(count, "machine")));
    let words = words.chain(
        wave.window
            .iter()
            .chain(&wave.owners)
            .map(ToString::to_string),
    );
    let words: Vec<String> = words.collect();
    format!("{}: {names}", words.join(", "))
}

/// What a management cluster has to serve: a line an image, and the selectors that it lacks.
fn server(server: &ServerPlan, out: &mut Printer) -> io::Result<()> {
    writeln!(out, "{} has to serve:", server.management)?;
    for words in server.needs().map(|(stage, needed)| row(stage, needed)) {
        writeln!(out, "  {}", words.join("  "))?;
    }
    for edit in server.edits() {
        writeln!(out, "add to {}: `{edit}`", server.management)?;
    }
    writeln!(out)
}

/// An image that is needed, in words: when, which, by whom, until when, and whether it is served.
pub(super) fn row(stage: &ServerStage, needed: &NeededImage) -> [String; 5] {
    let minor = stage.to.as_ref();
    let need = match needed.need {
        NeedTime::Stays => "still run it",
        NeedTime::Begins => "new",
        NeedTime::Ends => "until they are replaced",
    };
    let served = match (needed.served, &needed.key) {
        (true, _) => "served",
        _ if needed.by_name => "served if it is what its name says: `metalmark lock`",
        (false, Some(_)) => "not selected",
        (false, None) => "not in the catalog",
    };
    [
        minor.map_or_else(|| "now".to_owned(), |minor| format!("to {minor}")),
        needed.image.to_string(),
        first_names(needed.clusters.iter().map(ToString::to_string)),
        need.to_owned(),
        served.to_owned(),
    ]
}

/// The versions that a cluster goes through.
fn versions(plan: &ClusterPlan) -> String {
    let versions = plan
        .from
        .iter()
        .chain(plan.steps.iter().map(|step| &step.version));
    let versions: Vec<&str> = versions.map(String::as_str).collect();
    versions.join(" → ")
}

/// What stops a cluster; empty where nothing does.
pub(super) fn block_reason(plan: &ClusterPlan) -> String {
    match &plan.blocked {
        None => String::new(),
        Some(Blocked {
            before: None,
            reason,
            ..
        }) => format!("not planned: {reason}"),
        Some(Blocked {
            before: Some(minor),
            reason,
            ..
        }) => {
            format!("blocked before {minor}: {reason}")
        }
    }
}

/// What has to be done for a step beside its edits.
fn requirements(step: &PlanStep) -> impl Iterator<Item = String> {
    let let_in = step.let_in.iter().map(|(registry, pools)| {
        format!(
            "{}  selectors do not let registry `{registry}` in: write it to \
             `cluster.os_image_selector_autoselect_registries` or `oci-image-registry-key` with the step",
            pools.join(", ")
        )
    });
    let_in.chain(step.removed.iter().map(removal_text))
}

/// What has to go before a step, and where it is.
fn removal_text(removed: &RemovedName) -> String {
    let RemovedName { pool, name, at } = removed;
    let at = at.as_ref().map(|at| format!(" at {at}"));
    format!("{pool}  has no {name}: remove it{}", at.unwrap_or_default())
}

/// A cluster's versions on one line, and the images of each step below.
fn cluster(plan: &ClusterPlan, out: &mut Printer) -> io::Result<()> {
    let words = [versions(plan), block_reason(plan)];
    let words: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|it| !it.is_empty())
        .collect();
    writeln!(out, "{}: {}", plan.cluster, words.join(", "))?;
    for step in &plan.steps {
        for (pool, image) in &step.images {
            writeln!(out, "  {}  {pool}  {image}", step.version)?;
        }
        for line in requirements(step) {
            writeln!(out, "  {}  {line}", step.version)?;
        }
    }
    let mut by_image: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (pool, image) in plan.blocked.iter().flat_map(|blocked| &blocked.lacking) {
        by_image.entry(image).or_default().push(pool);
    }
    for (image, pools) in by_image {
        writeln!(out, "  no successor of `{image}`: {}", pools.join(", "))?;
    }
    Ok(())
}
