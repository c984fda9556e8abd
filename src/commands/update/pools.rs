//! Which image each node pool boots, before an update and after it.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::model::matching::Outcome;
use crate::model::workspace::ClusterView;
use crate::read::Workspace;
use crate::update::PoolChange;

use super::fleet::{self, Tools};

/// By cluster and pool, the reference of the image that it boots, else its key.
pub(super) type Booted = BTreeMap<(String, String), String>;

/// What every pool of the workspace boots.
pub(super) fn booted(workspace: &Workspace, tools: &Tools) -> Result<Booted, Error> {
    let survey = fleet::survey(workspace, tools, |view, _| Ok((of(view), Vec::new())))?;
    Ok(survey.results.into_iter().flatten().collect())
}

fn of(view: &ClusterView) -> Vec<((String, String), String)> {
    let pools = view.cluster.pools.iter().zip(&view.selections);
    pools
        .filter_map(|(pool, selection)| {
            let Outcome::Image(key) = &selection.outcome else {
                return None;
            };
            let uri = view.images.get(key).and_then(|image| image.uri.as_ref());
            let image = uri.map_or(key.to_string(), |uri| last_part(&uri.value));
            let name = (view.cluster.name.to_string(), pool.name.to_string());
            Some((name, image))
        })
        .collect()
}

/// `NAME:TAG` of a reference: what changes with a version, without the registry.
fn last_part(uri: &str) -> String {
    uri.rsplit('/').next().unwrap_or(uri).to_owned()
}

/// The pools that boot another image.
pub(super) fn changes(mut before: Booted, after: Booted) -> Vec<PoolChange> {
    let mut changes = Vec::new();
    let mut add = |(cluster, pool): (String, String), before, after| {
        if before != after {
            changes.push(PoolChange {
                cluster,
                pool,
                before,
                after,
            });
        }
    };
    for (name, image) in after {
        let old = before.remove(&name);
        add(name, old, Some(image));
    }
    for (name, image) in before {
        add(name, Some(image), None);
    }
    changes.sort();
    changes
}
