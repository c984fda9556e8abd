//! A change takes a control plane past a Kubernetes minor.

use crate::model::cluster::PoolName;
use crate::model::finding::Finding;
use crate::model::image::fact;
use crate::model::rule::RuleId;
use crate::model::version::Version;
use crate::rules::{ChangeInput, Rule};

/// Looks at the control plane on both sides.
pub(super) struct VersionSkip;

impl Rule for VersionSkip {
    fn id(&self) -> RuleId {
        RuleId::VersionSkip
    }

    fn summary(&self) -> &'static str {
        "a change takes a control plane past a Kubernetes minor"
    }

    fn explanation(&self) -> &'static str {
        "\
A control plane is upgraded one minor at a time: etcd data and API versions are only carried from one minor to the next.
KubeadmControlPlane's webhook refuses more; RKE2's and K3s's do not look, and the upgrade breaks half-way. `metalmark impact`
compares both sides of a change. (<https://kubernetes.io/releases/version-skew-policy/>)

Wrong, where the cluster runs v1.29.15+rke2r1:

    cluster:
      k8s_version: v1.31.8+rke2r1

Right, in a change of its own before that:

    cluster:
      k8s_version: v1.30.12+rke2r1"
    }

    fn is_of_change(&self) -> bool {
        true
    }

    fn change(&self, input: &ChangeInput<'_>, report: &mut dyn FnMut(Finding)) {
        let pools = &input.after.view.cluster.pools;
        let control_planes = input.pools().into_iter();
        for pool in control_planes.filter(|pool| pools[pool.1].name == PoolName::ControlPlane) {
            let Some([was, is]) = input.versions(pool) else {
                continue;
            };
            let (Some(from), Some(to)) = (Version::parse(&was.value), Version::parse(&is.value))
            else {
                continue;
            };
            let skipped = to.minors_passed_from(&from);
            let Some(next) = skipped.first() else {
                continue;
            };
            let message = format!(
                "the control plane would go from Kubernetes `{}` to `{}`, past {}",
                was.value,
                is.value,
                listed(&skipped)
            );
            let finding = Finding::new(self.id(), message)
                .about(input.subject(pool.1))
                .at(input.spot(is.place), "this version is asked for")
                .at(input.spot_before(was.place), "this one runs");
            report(finding.help(advice(input, next)));
        }
    }
}

/// What to do first, with the newest image of the catalog that serves for it.
fn advice(input: &ChangeInput<'_>, next: &str) -> String {
    let step = Version::parse(next);
    let fits = |version: &Version| {
        let step = step.as_ref();
        step.is_some_and(|step| (step.major, step.minor) == (version.major, version.minor))
    };
    let images = input.after.view.images.values();
    let newest = images
        .filter_map(|image| {
            let version = Version::parse(image.facts.text(fact::K8S_VERSION)?)?;
            fits(&version).then_some((version, &image.key))
        })
        .max();
    match newest {
        Some((version, key)) => {
            format!("go to {next} first, in a change of its own: image `{key}` holds `{version}`")
        }
        None => format!("go to {next} first, in a change of its own"),
    }
}

fn listed(minors: &[String]) -> String {
    match minors {
        [one] => one.clone(),
        [first, .., last] => format!("{first} to {last}"),
        [] => String::new(),
    }
}
