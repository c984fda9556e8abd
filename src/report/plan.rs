//! The plan of an upgrade: each cluster with its steps, what is missing, and the sum.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::{CommentFormat, counted};
use crate::model::plan::{Blocked, ClusterPlan, Goal};
use crate::model::waves::Wave;
use crate::printer::{Printer, Safe};

/// Prints the plans of clusters, and what they are to run.
pub fn plan(
    (plans, waves): (&[ClusterPlan], &[Wave]),
    goal: Goal,
    format: CommentFormat,
    out: &mut Printer,
) -> io::Result<()> {
    match format {
        CommentFormat::Json => {
            let minor = match goal {
                Goal::Minor(..) => Some(goal.to_string()),
                Goal::Patches => None,
            };
            out.json(
                &serde_json::json!({"version": 1, "goal": minor, "clusters": plans, "waves": waves}),
            )
        }
        CommentFormat::Markdown => markdown((plans, waves), goal, out),
        CommentFormat::Human => {
            for plan in plans {
                cluster(plan, out)?;
            }
            if !plans.is_empty() {
                writeln!(out)?;
            }
            for missing in missing(plans) {
                writeln!(out, "missing: {missing}")?;
            }
            for wave in waves {
                writeln!(out, "{}", self::wave(wave))?;
            }
            writeln!(out, "{}", sum(plans, goal))
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
    format!("wave {}, to {}: {names}", wave.number, wave.to)
}

/// How many clusters are to be upgraded, are there, and are blocked.
fn sum(plans: &[ClusterPlan], goal: Goal) -> String {
    let count =
        |wanted: &dyn Fn(&ClusterPlan) -> bool| plans.iter().filter(|plan| wanted(plan)).count();
    let blocked = count(&|plan| plan.blocked.is_some());
    let there = count(&|plan| plan.blocked.is_none() && plan.steps.is_empty());
    let goal = match goal {
        Goal::Minor(..) => format!("{goal} or newer"),
        Goal::Patches => goal.to_string(),
    };
    let steps: usize = plans.iter().map(|plan| plan.steps.len()).sum();
    format!(
        "{}: {} to upgrade in {}, {there} at {goal}, {blocked} blocked",
        counted(plans.len(), "cluster"),
        plans.len() - blocked - there,
        counted(steps, "step")
    )
}

/// The sum first, then what is missing, then a table.
fn markdown(
    (plans, waves): (&[ClusterPlan], &[Wave]),
    goal: Goal,
    out: &mut Printer,
) -> io::Result<()> {
    let text = |text: &str| Safe::markdown(text);
    let title = match goal {
        Goal::Minor(..) => format!("Kubernetes {goal}"),
        Goal::Patches => goal.to_string(),
    };
    out.markup(&Safe::of([
        "### The way to ".into(),
        text(&title),
        "\n\n**".into(),
        text(&sum(plans, goal)),
        "**\n".into(),
    ]))?;
    let missing = missing(plans);
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
fn blocked(plan: &ClusterPlan) -> String {
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
fn missing(plans: &[ClusterPlan]) -> Vec<String> {
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
    let wanted = wanted.into_iter().map(|((minor, image), clusters)| {
        let clusters = counted(clusters, "cluster");
        format!("an image of {minor} in the line of `{image}`, for {clusters}")
    });
    wanted.collect()
}
