//! The image that each node pool boots, compared before and after a change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::offers::PoolChange;
use crate::error::Error;
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::model::lock::Locking;
use crate::model::lock_gaps::gaps;
use crate::render::Renderer;
use capi::image::ImageKey;
use oci_artifacts::Digest;

use super::fleet::Fleet;

/// What all pools boot.
#[derive(Default)]
pub(crate) struct Booted {
    /// By cluster and pool; those without an image are not in it.
    pub(crate) machines: BTreeMap<(String, String), Machine>,
    /// The images of clusters with a lock that it does not hold.
    pub(crate) unlocked: BTreeSet<ImageKey>,
}

/// What the machines of a pool are made from.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// The image's key.
    pub(crate) key: ImageKey,
    /// The reference that the values give it.
    pub(crate) uri: Option<Arc<str>>,
    /// `NAME:TAG` of the reference, else the key, for people.
    pub(crate) image: String,
    /// The digest that the lock holds for the reference.
    pub(crate) digest: Option<Digest>,
    /// The URL and the checksum that are stamped.
    pub(crate) stamp: Option<(Arc<str>, Option<Arc<str>>)>,
    /// The Kubernetes version.
    pub(crate) version: Option<Arc<str>>,
}

/// What every pool of the fleet boots.
pub(crate) fn read_booted(fleet: &Fleet) -> Result<Booted, Error> {
    let workspace = &fleet.workspace;
    // `check` and `render` report what is wrong with a template.
    let renderer = Renderer::new(
        &workspace.settings,
        &workspace.templates,
        None,
        &mut Vec::new(),
    );
    let fleet_check = fleet.check(|view, _, _| Ok((of(view, &renderer), unlocked(view))))?;
    let mut booted = Booted::default();
    for (machines, unlocked) in fleet_check.results {
        booted.machines.extend(machines);
        booted.unlocked.extend(unlocked);
    }
    Ok(booted)
}

fn unlocked(view: &ClusterView) -> Vec<ImageKey> {
    let gaps = gaps(view, Locking::Loose);
    let missing = gaps.missing.iter().chain(&gaps.stale);
    missing.map(|gap| Arc::clone(&gap.image.key)).collect()
}

fn of(view: &ClusterView, renderer: &Renderer<'_>) -> Vec<((String, String), Machine)> {
    let stamps = renderer.stamps(view, &mut Vec::new());
    let pools = view.pools().zip(stamps);
    pools
        .filter_map(|(SelectedPool { pool, selection }, stamp)| {
            let key = selection.image().selected()?;
            let image = view.images.get(key);
            let uri = image.and_then(|image| image.uri.as_ref());
            let uri = uri.map(|uri| Arc::clone(&uri.value));
            let digest = image.and_then(|image| image.digest.as_ref());
            let version = view.cluster.k8s_version_of(pool);
            let machine = Machine {
                key: Arc::clone(key),
                image: uri.as_deref().map_or_else(|| key.to_string(), last_part),
                uri,
                digest: digest.map(|digest| digest.value.clone()),
                stamp: stamp.map(|stamp| (stamp.url, stamp.checksum)),
                version: version.map(|version| Arc::clone(&version.value)),
            };
            let name = (view.cluster.name.to_string(), pool.name.to_string());
            Some((name, machine))
        })
        .collect()
}

/// `NAME:TAG` of a reference: what changes with a version, without the registry.
pub(crate) fn last_part(uri: &str) -> String {
    uri.rsplit('/').next().unwrap_or(uri).to_owned()
}

/// The pools whose machines are replaced, sorted.
pub(crate) fn changes(
    mut before: BTreeMap<(String, String), Machine>,
    after: BTreeMap<(String, String), Machine>,
) -> Vec<PoolChange> {
    let mut changes = Vec::new();
    let mut add = |(cluster, pool): (String, String), images: (Option<String>, Option<String>)| {
        let (before, after) = images;
        changes.push(PoolChange {
            cluster,
            pool,
            before,
            after,
        });
    };
    for (name, is) in after {
        match before.remove(&name) {
            None => add(name, (None, Some(is.image))),
            Some(was) if is_other_image(&was, &is) => {
                add(name, (Some(was.image), Some(is.image)));
            }
            Some(was) if was.version.is_some() && was.version != is.version => {
                add(name, (versioned(&was), versioned(&is)));
            }
            Some(_) => {}
        }
    }
    for (name, was) in before {
        add(name, (Some(was.image), None));
    }
    changes.sort();
    changes
}

/// Whether machines get another image. One build is another one unless it is proven to be the same: by what is stamped, or by
/// the digest where nothing is stamped on one side.
fn is_other_image(was: &Machine, is: &Machine) -> bool {
    if let (Some(was), Some(is)) = (&was.stamp, &is.stamp) {
        match was == is {
            false => return true,
            true if was.1.is_some() => return false,
            true => {}
        }
    }
    let is_same_build = was.digest.is_some() && was.digest == is.digest;
    was.image != is.image && !is_same_build
}

fn versioned(machine: &Machine) -> Option<String> {
    let version = machine.version.as_deref().unwrap_or("none");
    Some(format!("{} with Kubernetes {version}", machine.image))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Machine, changes};
    use oci_artifacts::Digest;

    fn machine(image: &str) -> Machine {
        Machine {
            key: "a".into(),
            uri: None,
            image: image.to_owned(),
            digest: None,
            stamp: None,
            version: None,
        }
    }

    fn stamped(image: &str, url: &str, checksum: Option<&str>) -> Machine {
        Machine {
            stamp: Some((url.into(), checksum.map(Arc::from))),
            ..machine(image)
        }
    }

    fn is_change(was: Machine, is: Machine) -> bool {
        let name = ("edge".to_owned(), "md0".to_owned());
        !changes([(name.clone(), was)].into(), [(name, is)].into()).is_empty()
    }

    #[test]
    fn machines_are_others_unless_they_are_proven_the_same() {
        assert!(is_change(machine("a:1"), machine("a:2")));
        assert!(!is_change(machine("a:1"), machine("a:1")));
        // What is stamped decides, whatever the reference is.
        assert!(!is_change(
            stamped("a:1", "u", Some("c")),
            stamped("a:2", "u", Some("c"))
        ));
        assert!(is_change(
            stamped("a:1", "u", Some("c")),
            stamped("a:1", "u", Some("d"))
        ));
        assert!(is_change(
            stamped("a:1", "u", Some("c")),
            stamped("a:2", "v", Some("c"))
        ));
        assert!(is_change(
            stamped("a:1", "u", None),
            stamped("a:2", "u", None)
        ));
        assert!(!is_change(
            stamped("a:1", "u", None),
            stamped("a:1", "u", None)
        ));
    }

    #[test]
    fn a_digest_proves_where_nothing_was_stamped() {
        let locked = |image: &str, bytes: &[u8]| Machine {
            digest: Some(Digest::of(bytes)),
            ..machine(image)
        };
        assert!(!is_change(locked("a:1", b"1"), locked("a:2", b"1")));
        assert!(is_change(locked("a:1", b"1"), locked("a:2", b"2")));
    }

    #[test]
    fn a_kubernetes_version_rolls_by_itself() {
        let at = |version: &str| Machine {
            version: Some(version.into()),
            ..machine("a:1")
        };
        assert!(is_change(at("v1.31.8"), at("v1.31.9")));
        assert!(!is_change(at("v1.31.8"), at("v1.31.8")));
    }
}
