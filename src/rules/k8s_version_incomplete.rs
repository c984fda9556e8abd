//! A Kubernetes version lacks its patch level, or the build of its distribution.

use crate::model::cluster::PoolName;
use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};
use crate::model::version::Version;
use crate::rules::ClusterInput;

/// The distributions whose releases have a build, by their bootstrap provider.
const BUILDS: [(&str, &str); 2] = [("cabpr", "rke2r"), ("cabpk3s", "k3s")];

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let cluster = &input.view.cluster;
    for pool in &cluster.pools {
        let Some(version) = cluster.k8s_version_of(pool) else {
            continue;
        };
        let text = &version.value;
        let (Some(parsed), Some(provider)) = (
            Version::parse(text),
            cluster.bootstrap_provider_of(pool).map(|it| &*it.value),
        ) else {
            continue;
        };
        let build = BUILDS.iter().find(|(known, _)| *known == provider);
        let (lack, help, is_refused) = match build {
            // The webhooks of Cluster API want three numbers.
            None if provider == "cabpk" && parsed.is_partial() && !input.is_of_values() => {
                let help = format!("write the whole version: `{text}.N`");
                ("patch level".to_owned(), help, true)
            }
            Some((_, build)) if !text.contains(&format!("+{build}")) => (
                format!("`+{build}N`"),
                format!("name a release of the distribution: `…+{build}1`"),
                // The schema of RKE2ControlPlane has a pattern; of the others, the installation on the machine fails.
                !input.is_of_values() && provider == "cabpr" && pool.name == PoolName::ControlPlane,
            ),
            _ => continue,
        };
        let message = format!("Kubernetes `{text}` has no {lack}");
        let finding = Finding::new(RuleId::K8sVersionIncomplete, message)
            .with_subject(input.subject(Some(pool)))
            .with_label(input.spot(version.place), "this version is required")
            .help(help);
        findings.push(if is_refused {
            finding
        } else {
            finding.unless_set(Level::Warning)
        });
    }
}
