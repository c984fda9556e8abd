//! A change takes a node pool back to an older Kubernetes version.

use crate::model::cluster::PoolName;
use crate::model::finding::{Finding, Level};
use crate::model::rule::RuleId;
use crate::model::version::Version;
use crate::rules::{ChangeInput, Rule};

/// Looks at every pool that is on both sides.
pub(super) struct VersionDowngrade;

impl Rule for VersionDowngrade {
    fn id(&self) -> RuleId {
        RuleId::VersionDowngrade
    }

    fn summary(&self) -> &'static str {
        "a change takes a node pool back to an older Kubernetes version"
    }

    fn explanation(&self) -> &'static str {
        "\
Kubernetes does not go back: what a newer API server has stored, an older one may not read, and no provider's webhook stops it.
`metalmark impact` compares both sides of a change. A control plane that goes back by a minor is an error; workers, and a patch
or a rebuild of the same minor, are a warning. (<https://kubernetes.io/releases/version-skew-policy/>)

Wrong, where the cluster runs v1.31.8+rke2r1:

    cluster:
      k8s_version: v1.30.12+rke2r1

Right: leave the version, and boot another image of it:

    cluster:
      k8s_version: v1.31.8+rke2r1"
    }

    fn is_of_change(&self) -> bool {
        true
    }

    fn change(&self, input: &ChangeInput<'_>, report: &mut dyn FnMut(Finding)) {
        for pool in input.pools() {
            let Some([was, is]) = input.versions(pool) else {
                continue;
            };
            let (Some(from), Some(to)) = (Version::parse(&was.value), Version::parse(&is.value))
            else {
                continue;
            };
            if to >= from || to.admits(&from) {
                continue;
            }
            let name = &input.after.view.cluster.pools[pool.1].name;
            let message = format!(
                "`{name}` would go back from Kubernetes `{}` to `{}`",
                was.value, is.value
            );
            let finding = Finding::new(self.id(), message)
                .about(input.subject(pool.1))
                .at(input.spot(is.place), "this version is asked for")
                .at(input.spot_before(was.place), "this one runs")
                .help(format!("keep `{}`, or make a new cluster", was.value));
            let is_minor = (to.major, to.minor) != (from.major, from.minor);
            report(match is_minor && *name == PoolName::ControlPlane {
                true => finding,
                false => finding.unless_set(Level::Warning),
            });
        }
    }
}
