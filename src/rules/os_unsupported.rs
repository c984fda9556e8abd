//! A node pool's operating system does not support the Kubernetes version that the pool must run.

use std::sync::Arc;

use capi::image::fact;
use capi::systems::{find_talos_release, find_talos_support};
use yaml_tree::place::Located;

use crate::decide::proof;
use crate::model::cluster_view::SelectedPool;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::version::Version;
use crate::rules::ClusterInput;

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    for it in input.pools() {
        for release in talos_releases(input, it) {
            let wanted = input.view.cluster.k8s_version_of(it.pool);
            let version = wanted.and_then(|wanted| Version::parse(&wanted.value));
            let support = find_talos_support(&release.value);
            let (Some(wanted), Some(version), Some(support)) = (wanted, version, support) else {
                continue;
            };
            if (1, support.from) <= (version.major, version.minor)
                && (version.major, version.minor) <= (1, support.to)
            {
                continue;
            }
            let message = format!(
                "Talos `{}` supports Kubernetes 1.{} to 1.{}, and machines are to run `{}`",
                release.value, support.from, support.to, wanted.value
            );
            findings.push(
                Finding::new(RuleId::OsUnsupported, message)
                    .with_subject(input.subject(Some(it.pool)))
                    .with_label(input.spot(release.place), "this release of Talos")
                    .with_label(input.spot(wanted.place), "this version is required")
                    .help(format!("{}, read on {}", support.source, support.read_on)),
            );
        }
    }
}

/// The releases of Talos that a pool's image is of, and that its configuration installs.
fn talos_releases(input: &ClusterInput<'_>, it: SelectedPool<'_>) -> Vec<Located<Arc<str>>> {
    let place = it.pool.choice.place();
    let booted = proof::booted_image(input.view, it.pool, it.selection);
    let of_facts = booted.as_ref().and_then(|booted| {
        let is_talos = booted.facts.text(fact::OS) == Some("talos");
        booted.facts.text(fact::OS_RELEASE).filter(|_| is_talos)
    });
    let names = [&it.pool.choice.url, &it.pool.choice.name];
    let of_name =
        || { names.into_iter().flatten() }.find_map(|name| find_talos_release(&name.value));
    let of_image = of_facts.or_else(of_name);
    let of_image = of_image.map(|release| Located::new(Arc::from(release), place));
    let installed = it.pool.talos.iter().cloned();
    of_image.into_iter().chain(installed).collect()
}
