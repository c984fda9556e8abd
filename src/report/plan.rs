//! The plan of an upgrade: each cluster with its steps, what is missing, and the sum.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use serde_json::Value;

use super::{CommentFormat, counted};
use crate::model::plan::{Blocked, ClusterPlan, Goal};
use crate::model::waves::Wave;
use crate::printer::{Printer, Safe};

/// What is planned.
pub struct PlanScope<'a> {
    /// What clusters are to run.
    pub goal: Goal,
    /// The version of the image builder whose images are taken, instead of those of the catalog.
    pub builder: Option<&'a str>,
}

impl PlanScope<'_> {
    /// The goal in words, for a cluster that is there.
    fn reached(&self) -> String {
        match self.goal {
            Goal::Minor(..) => format!("{} or newer", self.goal),
            Goal::Patches | Goal::BuiltSince(_) => self.goal.to_string(),
        }
    }

    /// What an image that is missing has to be, behind its line.
    fn wanted(&self) -> String {
        match self.goal {
            Goal::BuiltSince(day) => format!(" built on {day} or later"),
            Goal::Minor(..) | Goal::Patches => String::new(),
        }
    }

    /// Whose images are taken, in words behind a sentence.
    fn images(&self) -> String {
        let of = self
            .builder
            .map(|version| format!(", with the images of {version}"));
        of.unwrap_or_default()
    }
}

/// The plan as JSON.
fn json((plans, waves): (&[ClusterPlan], &[Wave]), scope: &PlanScope<'_>) -> Value {
    let minor = match scope.goal {
        Goal::Minor(..) => Some(scope.goal.to_string()),
        Goal::Patches | Goal::BuiltSince(_) => None,
    };
    let since = match scope.goal {
        Goal::BuiltSince(day) => Some(day.to_string()),
        Goal::Minor(..) | Goal::Patches => None,
    };
    serde_json::json!({
        "version": 1, "goal": minor, "built_since": since, "builder": scope.builder, "clusters": plans, "waves": waves
    })
}

/// Prints the plans of clusters, and what they are to run.
pub fn plan(
    (plans, waves): (&[ClusterPlan], &[Wave]),
    scope: &PlanScope<'_>,
    format: CommentFormat,
    out: &mut Printer,
) -> io::Result<()> {
    match format {
        CommentFormat::Json => out.json(&json((plans, waves), scope)),
        CommentFormat::Markdown => markdown((plans, waves), scope, out),
        CommentFormat::Human => {
            for plan in plans {
                cluster(plan, out)?;
            }
            if !plans.is_empty() {
                writeln!(out)?;
            }
            for missing in missing(plans, scope) {
                writeln!(out, "missing: {missing}")?;
            }
            for wave in waves {
                writeln!(out, "{}", self::wave(wave))?;
            }
            writeln!(out, "{}", sum(plans, scope))
        }
    }
}

/// A wave on one line.
fn wave(wave: &Wave) -> String {
    /// Clusters that are named; the JSON has all.
    const NAMED: usize = 10;
    let names = wave.clusters.iter().map(|it| match &it.window {
        Some(window) => format!("{} ({window})", it.cluster),
        None => it.cluster.to_string(),
    });
    let mut names = names.take(NAMED).collect::<Vec<String>>().join(", ");
    if wave.clusters.len() > NAMED {
        names += &format!(" and {} more", wave.clusters.len() - NAMED);
    }
    let machines = wave
        .machines
        .map(|count| format!(", {}", counted(count, "machine")));
    let machines = machines.unwrap_or_default();
    format!("wave {}, to {}{machines}: {names}", wave.number, wave.to)
}

/// How many clusters are to be upgraded, are there, and are blocked.
pub(super) fn sum(plans: &[ClusterPlan], scope: &PlanScope<'_>) -> String {
    let count =
        |wanted: &dyn Fn(&ClusterPlan) -> bool| plans.iter().filter(|plan| wanted(plan)).count();
    let blocked = count(&|plan| plan.blocked.is_some());
    let there = count(&|plan| plan.blocked.is_none() && plan.steps.is_empty());
    let steps: usize = plans.iter().map(|plan| plan.steps.len()).sum();
    format!(
        "{}: {} to upgrade in {}, {there} at {}, {blocked} blocked{}",
        counted(plans.len(), "cluster"),
        plans.len() - blocked - there,
        counted(steps, "step"),
        scope.reached(),
        scope.images()
    )
}

/// The sum first, then what is missing, then a table.
fn markdown(
    (plans, waves): (&[ClusterPlan], &[Wave]),
    scope: &PlanScope<'_>,
    out: &mut Printer,
) -> io::Result<()> {
    let text = |text: &str| Safe::markdown(text);
    let title = match scope.goal {
        Goal::Minor(..) => format!("Kubernetes {}", scope.goal),
        Goal::Patches | Goal::BuiltSince(_) => scope.goal.to_string(),
    };
    out.markup(&Safe::of([
        "### The way to ".into(),
        text(&title),
        "\n\n**".into(),
        text(&sum(plans, scope)),
        "**\n".into(),
    ]))?;
    let missing = missing(plans, scope);
    if !missing.is_empty() {
        out.markup(&"\nMissing:\n\n".into())?;
    }
    for missing in &missing {
        out.markup(&Safe::of(["- ".into(), text(missing), "\n".into()]))?;
    }
    for wave in waves {
        let mark = if wave.number == 1 { "\n- " } else { "- " };
        out.markup(&Safe::of([
            mark.into(),
            text(&self::wave(wave)),
            "\n".into(),
        ]))?;
    }
    if !plans.is_empty() {
        out.markup(&"\n| cluster | Kubernetes | images | blocked |\n|---|---|---|---|\n".into())?;
    }
    for plan in plans {
        let images = plan.steps.iter().map(|step| {
            let mut images: Vec<&str> = step.images.values().map(|image| &**image).collect();
            images.sort_unstable();
            images.dedup();
            format!("{}: {}", step.version, images.join(", "))
        });
        let images: Vec<String> = images.collect();
        out.markup(&Safe::of([
            "| ".into(),
            text(&plan.cluster),
            " | ".into(),
            text(&versions(plan)),
            " | ".into(),
            text(&images.join("; ")),
            " | ".into(),
            text(&blocked(plan)),
            " |\n".into(),
        ]))?;
    }
    Ok(())
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
pub(super) fn blocked(plan: &ClusterPlan) -> String {
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

/// A cluster's versions on one line, and the images of each step below.
fn cluster(plan: &ClusterPlan, out: &mut Printer) -> io::Result<()> {
    let words = [versions(plan), blocked(plan)];
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
    }
    let mut by_image: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (pool, image) in plan.blocked.iter().flat_map(|blocked| &blocked.lacking) {
        by_image.entry(image).or_default().push(pool);
    }
    for (image, pools) in by_image {
        writeln!(out, "  nothing follows `{image}`: {}", pools.join(", "))?;
    }
    Ok(())
}

/// The images that are missing, over all clusters: what the builder has to build.
pub(super) fn missing(plans: &[ClusterPlan], scope: &PlanScope<'_>) -> Vec<String> {
    let mut wanted: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for blocked in plans.iter().filter_map(|plan| plan.blocked.as_ref()) {
        let Some(minor) = &blocked.before else {
            continue;
        };
        let images: BTreeSet<&str> = blocked.lacking.values().map(|key| &**key).collect();
        for image in images {
            *wanted.entry((minor, image)).or_default() += 1;
        }
    }
    let built = scope.wanted();
    let wanted = wanted.into_iter().map(|((minor, image), clusters)| {
        let clusters = counted(clusters, "cluster");
        format!("an image of {minor}{built} in the line of `{image}`, for {clusters}")
    });
    wanted.collect()
}
