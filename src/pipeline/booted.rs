//! The machines of each node pool, compared before and after an update.
//!
//! What is stamped decides, as for `impact`. Where it proves nothing, since the catalog changes before the lock does, the references
//! and the digests of the images count: an update says rather too often that machines are replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::image::ImageKey;
use oci_artifacts::Digest;

use crate::catalog::offers::PoolChange;
use crate::error::Error;
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::model::lock::Locking;
use crate::model::lock_gaps::gaps;
use crate::render::Renderer;
use crate::report::impact::Booted;

use super::fleet::Fleet;

/// What the machines of all pools are made from.
#[derive(Default)]
pub(crate) struct FleetMachines {
    /// By cluster and pool; those that select no image are not in it.
    pub(crate) by_pool: BTreeMap<(String, String), Machine>,
    /// The images of clusters with a lock that it does not hold.
    pub(crate) unlocked: BTreeSet<ImageKey>,
}

/// What the machines of a pool are made from.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// The image's key.
    pub(crate) key: ImageKey,
    /// `NAME:TAG` of the image's reference, else the key, for people.
    pub(crate) image: String,
    /// The digest that the lock holds for the reference.
    pub(crate) digest: Option<Digest>,
    /// What is stamped.
    pub(crate) booted: Option<Booted>,
    /// The Kubernetes version.
    pub(crate) version: Option<Arc<str>>,
}

/// What the machines of every pool of the fleet are made from.
pub(crate) fn read_machines(fleet: &Fleet) -> Result<FleetMachines, Error> {
    let workspace = &fleet.workspace;
    // `check` and `render` report what is wrong with a template.
    let renderer = Renderer::new(
        &workspace.settings,
        &workspace.templates,
        None,
        &mut Vec::new(),
    );
    let fleet_check =
        fleet.check(|view, _, _| Ok((machines(view, &renderer), keys_without_lock(view))))?;
    let mut all = FleetMachines::default();
    for (machines, unlocked) in fleet_check.results {
        all.by_pool.extend(machines);
        all.unlocked.extend(unlocked);
    }
    Ok(all)
}

fn keys_without_lock(view: &ClusterView) -> Vec<ImageKey> {
    let gaps = gaps(view, Locking::Loose);
    let missing = gaps.missing.iter().chain(&gaps.stale);
    missing.map(|gap| Arc::clone(&gap.image.key)).collect()
}

fn machines(view: &ClusterView, renderer: &Renderer<'_>) -> Vec<((String, String), Machine)> {
    let stamps = renderer.stamps(view, &mut Vec::new());
    let pools = view.pools().zip(stamps);
    pools
        .filter_map(
            |(
                SelectedPool {
                    pool, selection, ..
                },
                stamp,
            )| {
                let image = view.selected_image(selection)?;
                let uri = image.uri.as_ref();
                let version = view.cluster.k8s_version_of(pool);
                let machine = Machine {
                    key: Arc::clone(&image.key),
                    image: uri.map_or_else(|| image.key.to_string(), |uri| last_part(&uri.value)),
                    digest: image.digest.as_ref().map(|digest| digest.value.clone()),
                    booted: stamp.map(|stamp| Booted::from_stamp(view, pool, &stamp)),
                    version: version.map(|version| Arc::clone(&version.value)),
                };
                let name = (view.cluster.name.to_string(), pool.name.to_string());
                Some((name, machine))
            },
        )
        .collect()
}

/// `NAME:TAG` of a reference: what changes with a version, without the registry.
pub(crate) fn last_part(uri: &str) -> String {
    uri.rsplit('/').next().unwrap_or(uri).to_owned()
}

/// The pools whose machines are replaced, sorted.
pub(crate) fn changes(before: &FleetMachines, after: &FleetMachines) -> Vec<PoolChange> {
    let (before, after) = (&before.by_pool, &after.by_pool);
    let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let change = |name: &(String, String)| {
        let (was, is) = (before.get(name), after.get(name));
        let text: fn(&Machine) -> String = match (was, is) {
            (Some(was), Some(is)) if !is_other_image(was, is) => {
                if was.version.is_none() || was.version == is.version {
                    return None;
                }
                describe_version
            }
            _ => |machine| machine.image.clone(),
        };
        Some(PoolChange {
            cluster: name.0.clone(),
            pool: name.1.clone(),
            before: was.map(text),
            after: is.map(text),
        })
    };
    names.into_iter().filter_map(change).collect()
}

/// Whether machines get another image. One build is another one unless it is proven to be the same: by what is stamped, or by
/// the digest where nothing is stamped on one side.
fn is_other_image(was: &Machine, is: &Machine) -> bool {
    if let (Some(was), Some(is)) = (&was.booted, &is.booted) {
        if is.is_other(was) {
            return true;
        }
        if was.checksum.is_some() || was.is_stored && is.is_stored {
            return false;
        }
    }
    let is_same_build = was.digest.is_some() && was.digest == is.digest;
    was.image != is.image && !is_same_build
}

fn describe_version(machine: &Machine) -> String {
    let version = machine.version.as_deref().unwrap_or("none");
    format!("{} with Kubernetes {version}", machine.image)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{FleetMachines, Machine, changes};
    use crate::report::impact::Booted;
    use oci_artifacts::Digest;

    fn machine(image: &str) -> Machine {
        Machine {
            key: "a".into(),
            image: image.to_owned(),
            digest: None,
            booted: None,
            version: None,
        }
    }

    fn stamped(image: &str, url: &str, checksum: Option<&str>) -> Machine {
        Machine {
            booted: Some(Booted {
                key: None,
                uri: None,
                url: Some(url.into()),
                name: None,
                checksum: checksum.map(Arc::from),
                is_stored: false,
            }),
            ..machine(image)
        }
    }

    fn is_change(was: Machine, is: Machine) -> bool {
        let fleet = |machine| FleetMachines {
            by_pool: [(("edge".to_owned(), "md0".to_owned()), machine)].into(),
            ..FleetMachines::default()
        };
        !changes(&fleet(was), &fleet(is)).is_empty()
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
        // What a provider stores is booted, whatever the artifact beside it is.
        let stored = |image: &str, is_stored| {
            let mut machine = stamped(image, "u", None);
            machine.booted = machine.booted.map(|booted| Booted {
                is_stored,
                ..booted
            });
            machine
        };
        assert!(!is_change(stored("a:1", true), stored("a:2", true)));
        assert!(is_change(stored("a:1", true), stored("a:2", false)));
        assert!(is_change(stored("a:1", false), stored("a:2", true)));
    }

    #[test]
    fn a_digest_proves_where_nothing_was_stamped() {
        let locked = |image: &str, bytes: &[u8]| Machine {
            digest: Some(Digest::compute(bytes)),
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
