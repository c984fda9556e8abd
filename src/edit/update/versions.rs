//! The Kubernetes versions that move with the images: the values' map of them, and those of clusters and pools.

use crate::catalog::offers::{Drift, moves, replacements};
use crate::error::Error;
use crate::model::fix::Fix;
use crate::pipeline::fleet::Fleet;
use crate::read::Workspace;
use yaml_tree::edit::{Edit, Target};
use yaml_tree::place::{FileId, Source, Spot};

/// Where values keep the Kubernetes version of each minor version.
const VERSION_MAPS: [&[&str]; 2] = [&["k8s_version_map"], &["_internal", "k8s_version_map"]];

/// The Kubernetes versions that clusters and pools write themselves and that entries of their distribution moved away from:
/// where, the text there and the new one.
pub(super) fn cluster_versions(
    fleet: &Fleet,
    drift: &Drift,
) -> Result<Vec<(Spot, String, String)>, Error> {
    let moves = moves(drift);
    let fleet_check = fleet.check(|view, _, _| {
        let cluster = &view.cluster;
        let own = cluster
            .pools
            .iter()
            .filter_map(|pool| cluster.k8s_version_of(pool));
        let mut found = Vec::new();
        for version in cluster.k8s_version.iter().chain(own) {
            let spot = view.sources.resolve(version.place);
            let written = Fix::replace(spot, &version.value, "", "");
            let replacements = replacements(&version.value, &moves).into_iter();
            if let (Some(fix), Some((from, to))) = (written, replacements.last()) {
                found.push((fix.spot, from, to));
            }
        }
        Ok(found)
    })?;
    let mut all: Vec<(Spot, String, String)> = Vec::new();
    for found in fleet_check.results.into_iter().flatten() {
        if all.iter().all(|(spot, ..)| *spot != found.0) {
            all.push(found);
        }
    }
    Ok(all)
}

/// The edits of a file's map of Kubernetes versions: where an entry moved to a newer patch, so does the version.
pub(super) fn version_map(workspace: &Workspace, source: &Source, drift: &Drift) -> Vec<Edit> {
    let Ok(values) = yaml_tree::values(&source.text, FileId(0), workspace.engine) else {
        return Vec::new();
    };
    let moves = moves(drift);
    let mut edits = Vec::new();
    for path in VERSION_MAPS {
        for entry in values.entries(path) {
            let Some(text) = entry.node.value.as_str() else {
                continue;
            };
            let place = entry.node.place;
            for (from, to) in replacements(text, &moves) {
                let at = Target::Place(place.start as usize..place.end as usize);
                edits.push(Edit::Replace { at, from, to });
            }
        }
    }
    edits
}
