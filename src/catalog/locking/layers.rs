//! Checks that the layers in the manifests of locked artifacts exist and have the declared length.

use std::collections::{BTreeMap, BTreeSet};

use super::verification::{Verification, entry_finding};
use crate::model::lock::LockedImage;
use crate::model::rule::RuleId;
use oci_artifacts::{Descriptor, Digest, Failure, FailureKind, Reference, Store};
use yaml_tree::place::Sources;

/// The layers of one locked image.
pub(super) struct Promised<'a> {
    pub(super) image: &'a LockedImage,
    pub(super) reference: &'a Reference,
    pub(super) layers: &'a [Descriptor],
}

/// Queries the length of each layer, once a repository, and reports those that are not as promised.
pub(super) fn compare(
    promised: &[Promised<'_>],
    sources: &Sources,
    store: &dyn Store,
    out: &mut Verification,
) {
    let mut wanted: BTreeMap<(String, &Digest), (Reference, Digest)> = BTreeMap::new();
    for image in promised {
        for layer in image.layers {
            let question = (image.reference.clone(), layer.digest.clone());
            wanted.insert((image.reference.name(), &layer.digest), question);
        }
    }
    if wanted.is_empty() {
        return;
    }
    let questions: Vec<(Reference, Digest)> = wanted.values().cloned().collect();
    let answers = store.sizes(&questions);
    let answers: BTreeMap<_, _> = wanted.into_keys().zip(answers).collect();
    for image in promised {
        // A manifest may name one layer twice.
        let layers = image.layers.iter();
        let layers: BTreeSet<_> = layers.map(|layer| (&layer.digest, layer.size)).collect();
        for (digest, size) in layers {
            if let Some(answer) = answers.get(&(image.reference.name(), digest)) {
                judge(image.image, (digest, size), answer, sources, out);
            }
        }
    }
}

fn judge(
    image: &LockedImage,
    (digest, promised): (&Digest, u64),
    answer: &Result<Option<u64>, Failure>,
    sources: &Sources,
    out: &mut Verification,
) {
    let key = &image.key.value;
    let message = match answer {
        Ok(Some(size)) if *size != promised => {
            format!(
                "layer `{digest}` of `{key}` has {size} bytes, and its manifest says {promised}"
            )
        }
        Ok(_) => return,
        Err(failure) if failure.kind == FailureKind::NotFound => {
            format!("layer `{digest}` of `{key}` is gone: {}", failure.message)
        }
        Err(failure) => {
            out.fail(failure.clone(), image, sources);
            return;
        }
    };
    let finding = entry_finding(image, RuleId::ImageIncomplete, message);
    let spot = sources.resolve(image.digest.place);
    out.findings.push(
        finding
            .with_label(spot, "of this artifact")
            .help(PUSH_AGAIN),
    );
}

const PUSH_AGAIN: &str = "no node can pull it: have the same artifact pushed or copied there again; \
                          its digest stays the same";
