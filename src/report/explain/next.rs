//! The Kubernetes versions that a cluster can go to next.

use std::io::{self, Write};

use crate::decide::plan::{ClusterPlan, Goal, for_cluster};
use crate::model::cluster_view::ClusterView;
use crate::model::version::Version;

/// Prints the newest patch and the next minor version that every node pool of a cluster has an image for, or why there is none.
///
/// # Errors
/// The output is gone.
pub fn next_versions(view: &ClusterView, out: &mut dyn Write) -> io::Result<()> {
    let patches = for_cluster(view, &view.images, Goal::Patches);
    let Some(from) = patches.from.as_deref().and_then(Version::parse) else {
        return write_block_reason(&patches, out);
    };
    match patches.steps.last() {
        Some(step) => writeln!(out, "newest patch: {}", step.version)?,
        None => writeln!(out, "newest patch: {from}, which it runs")?,
    }
    let minor = from.minor + 1;
    let plan = for_cluster(view, &view.images, Goal::Minor(from.major, minor));
    match plan.steps.last() {
        Some(step) => writeln!(out, "next minor: {}", step.version),
        None => {
            write!(out, "next minor: {}.{minor}, ", from.major)?;
            write_block_reason(&plan, out)
        }
    }
}

/// Why a cluster cannot be planned, or which pools have no image.
fn write_block_reason(plan: &ClusterPlan, out: &mut dyn Write) -> io::Result<()> {
    let Some(blocked) = &plan.blocked else {
        return Ok(());
    };
    let pools: Vec<&str> = blocked.lacking.keys().map(String::as_str).collect();
    if pools.is_empty() {
        writeln!(out, "{}", blocked.reason)
    } else {
        writeln!(out, "{} for {}", blocked.reason, pools.join(", "))
    }
}
