//! The plan of an upgrade: each cluster with its steps, what is missing, and the sum.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{Format, counted};
use crate::model::plan::{Blocked, ClusterPlan};
use crate::printer::Printer;

/// Prints the plans of clusters. `goal` is the minor version that they are to run.
pub fn plan(
    plans: &[ClusterPlan],
    goal: &str,
    format: Format,
    out: &mut Printer,
) -> io::Result<()> {
    if format == Format::Json {
        return out.json(&serde_json::json!({"version": 1, "goal": goal, "clusters": plans}));
    }
    for plan in plans {
        cluster(plan, out)?;
    }
    if !plans.is_empty() {
        writeln!(out)?;
    }
    missing(plans, out)?;
    let count =
        |wanted: &dyn Fn(&ClusterPlan) -> bool| plans.iter().filter(|plan| wanted(plan)).count();
    let blocked = count(&|plan| plan.blocked.is_some());
    let there = count(&|plan| plan.blocked.is_none() && plan.steps.is_empty());
    let steps: usize = plans.iter().map(|plan| plan.steps.len()).sum();
    writeln!(
        out,
        "{}: {} to upgrade in {}, {there} at {goal} or newer, {blocked} blocked",
        counted(plans.len(), "cluster"),
        plans.len() - blocked - there,
        counted(steps, "step")
    )
}

/// A cluster's versions on one line, and the images of each step below.
fn cluster(plan: &ClusterPlan, out: &mut Printer) -> io::Result<()> {
    let versions = plan
        .from
        .iter()
        .chain(plan.steps.iter().map(|step| &step.version));
    let versions: Vec<&str> = versions.map(String::as_str).collect();
    let versions = versions.join(" → ");
    match &plan.blocked {
        None => writeln!(out, "{}: {versions}", plan.cluster)?,
        Some(Blocked {
            before: None,
            reason,
            ..
        }) => {
            writeln!(out, "{}: not planned: {reason}", plan.cluster)?;
        }
        Some(Blocked {
            before: Some(minor),
            reason,
            ..
        }) => {
            writeln!(
                out,
                "{}: {versions}, blocked before {minor}: {reason}",
                plan.cluster
            )?;
        }
    }
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
fn missing(plans: &[ClusterPlan], out: &mut Printer) -> io::Result<()> {
    let mut wanted: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for blocked in plans.iter().filter_map(|plan| plan.blocked.as_ref()) {
        let Some(minor) = &blocked.before else {
            continue;
        };
        let mut images: Vec<&str> = blocked.lacking.values().map(|key| &**key).collect();
        images.sort_unstable();
        images.dedup();
        for image in images {
            *wanted.entry((minor, image)).or_default() += 1;
        }
    }
    for ((minor, image), clusters) in wanted {
        let clusters = counted(clusters, "cluster");
        writeln!(
            out,
            "missing: an image of {minor} in the line of `{image}`, for {clusters}"
        )?;
    }
    Ok(())
}
