//! The edits of a cluster's own values that take it one step of a plan: its Kubernetes version, and the images of its pools.

use std::sync::Arc;

use capi::image::fact;
use yaml_tree::place::{Located, Place};

use crate::decide::plan::PlanStep;
use crate::model::cluster::Pool;
use crate::model::cluster_view::ClusterView;
use crate::model::fix::Fix;
use crate::model::selector::Wanted;
use crate::model::version::Version;
use crate::rules::exact_pattern;

/// The edits, each place once.
///
/// # Errors
/// The value to edit is computed, secret or missing; the text names its place and the reason.
pub(crate) fn edits(view: &ClusterView, step: &PlanStep) -> Result<Vec<Fix>, String> {
    let mut edits: Vec<Fix> = Vec::new();
    for pool in &view.cluster.pools {
        for fix in pool_edits(view, pool, step)? {
            if !edits.contains(&fix) {
                edits.push(fix);
            }
        }
    }
    Ok(edits)
}

fn pool_edits(view: &ClusterView, pool: &Pool, step: &PlanStep) -> Result<Vec<Fix>, String> {
    let mut edits = Vec::new();
    let replaced = |old: &str, place: Place, new: &str, setting: &str| {
        let spot = view.sources.resolve(place);
        let at = spot
            .as_ref()
            .map_or(String::new(), |spot| format!(" at {spot}"));
        let fix = Fix::replace(spot, old, new, format!("{setting}: {new}"));
        fix.ok_or_else(|| {
            format!("`{setting}`{at} is computed or secret: edit what it is made from")
        })
    };
    if let Some(version) = view.cluster.k8s_version_of(pool) {
        let new = like(&version.value, &step.version);
        let edit = replaced(&version.value, version.place, &new, "k8s_version");
        // Sylva's chart computes it from the minor.
        edits.push(match (edit, &view.cluster.k8s_minor) {
            (Err(_), Some(minor)) => {
                let new = like(&minor.value, &step.version);
                replaced(&minor.value, minor.place, &new, "k8s_version_short")?
            }
            (edit, _) => edit?,
        });
    }
    let choice = &pool.choice;
    if let Some(place) = [&choice.url, &choice.name].into_iter().flatten().next() {
        let at = view.sources.resolve(place.place);
        let at = at.map_or(String::new(), |at| format!(" at {at}"));
        return Err(format!(
            "node pool `{}` names its image by URL or by name{at}: edit it manually, or write a key of the catalog",
            pool.name
        ));
    }
    if let (Some(key), Some(image)) = (&choice.key, step.images.get(&pool.name.to_string())) {
        let keys = [Some(key), choice.other_key.as_ref()];
        for Located { value, place } in keys
            .into_iter()
            .flatten()
            .filter(|key| !key.value.is_empty())
        {
            edits.push(replaced(
                value,
                *place,
                view.catalog_name(image),
                choice.key_name,
            )?);
        }
    }
    let selector = choice.selector.iter();
    for term in selector.flat_map(|selector| &selector.value.terms) {
        let Wanted::Pattern(pattern) = &term.wanted else {
            continue;
        };
        if &*term.fact == fact::K8S_VERSION {
            let new = exact_pattern(&step.version);
            edits.push(replaced(pattern, term.place, &new, fact::K8S_VERSION)?);
        }
    }
    Ok(edits)
}

/// A version written as another one is: with `v` or without, with its build or without, as a minor or as a patch.
fn like(written: &str, version: &str) -> Arc<str> {
    let v = if written.starts_with('v') { "v" } else { "" };
    let known = Version::parse(written).zip(Version::parse(version));
    let Some((old, new)) = known else {
        return format!("{v}{version}").into();
    };
    let text = match (
        old.patch,
        new.build.as_ref().filter(|_| old.build.is_some()),
    ) {
        (None, _) => format!("{v}{}.{}", new.major, new.minor),
        (Some(_), Some(_)) => format!("{v}{new}"),
        (Some(_), None) => format!("{v}{}", Version { build: None, ..new }),
    };
    text.into()
}

#[cfg(test)]
mod tests {
    use super::like;

    #[test]
    fn a_version_is_written_as_it_was() {
        for (written, version, expected) in [
            ("v1.30.2", "1.31.4", "v1.31.4"),
            ("1.30.2", "1.31.4", "1.31.4"),
            ("v1.30.2+rke2r1", "1.31.4+rke2r2", "v1.31.4+rke2r2"),
            ("v1.30.2", "1.31.4+rke2r2", "v1.31.4"),
            ("1.30", "1.31.4", "1.31"),
        ] {
            assert_eq!(&*like(written, version), expected, "{written}");
        }
    }
}
