//! A text of a node pool's machine template seems to name another Kubernetes version than the pool must run.

use capi::unknown::Unknown;

use crate::decide::proof;
use crate::model::cluster_view::SelectedPool;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::version::Version;
use crate::rules::ClusterInput;

/// The most characters of a text that a message repeats.
const SHOWN: usize = 120;

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    for SelectedPool { pool, judgment, .. } in input.pools() {
        // What is known of the image is weighed by `k8s-version-mismatch`, and says more than the texts beside it.
        if judgment.fact().is_some() || judgment.reason() == Some(Unknown::Bare) {
            continue;
        }
        let wanted = input.view.cluster.k8s_version_of(pool);
        let Some((wanted, version)) = wanted.and_then(|it| Some((it, Version::parse(&it.value)?)))
        else {
            continue;
        };
        let seen = proof::version_texts(input.view, pool);
        // Whether a checksum is of another file is what `checksum-other-file` says.
        let checksum = pool.choice.checksum.as_ref().map(|sum| sum.place);
        let other = seen.filter(|seen| seen.version.contradicts(&version));
        let other = other.filter(|seen| Some(seen.text.place) != checksum);
        for seen in other {
            let text = match seen.text.value.trim() {
                long if long.len() > SHOWN || long.contains('\n') => "a text".to_owned(),
                text => format!("`{text}`"),
            };
            let message = format!(
                "{text} seems to name Kubernetes `{}`, not `{}`",
                seen.version.version, wanted.value
            );
            findings.push(
                Finding::new(RuleId::K8sVersionSuspected, message)
                    .help(format!(
                        "if machines boot it, name an image with `{}` in a machine template of a new name",
                        wanted.value
                    ))
                    .help("if such names mean something else, describe the image under `images.records`, or the names under `names`")
                    .with_subject(input.subject(Some(pool)))
                    .with_label(
                        input.spot(seen.text.place),
                        "this text of its machine template",
                    )
                    .with_label(input.spot(wanted.place), "this version is required"),
            );
        }
    }
}
