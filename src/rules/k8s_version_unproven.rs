//! Nothing proves that a node pool's image holds the Kubernetes version that the pool is to run.

use crate::model::cluster::Pool;
use crate::model::finding::{Finding, Level};
use crate::model::image::{Fact, fact};
use crate::model::matching::Outcome;
use crate::model::proof::{self, PoolProof, Proof};
use crate::rules::{ClusterInput, Rule};

/// Looks at every node pool.
pub(super) struct K8sVersionUnproven;

impl Rule for K8sVersionUnproven {
    fn id(&self) -> &'static str {
        "k8s-version-unproven"
    }

    fn summary(&self) -> &'static str {
        "nothing proves that a node pool's image holds the Kubernetes version that the pool is to run"
    }

    fn explanation(&self) -> &'static str {
        "\
Names lose the patch level (`ubuntu-noble-hardened-rke2-1-35`), and the same name at two releases of the builder is two images.
A name may narrow a choice; only the artifact's own facts, or what you declare, prove it. It is an error where no patch
level is known, and a warning where the name holds the whole version and only the proof is missing.

Wrong, with nothing known but the name:

    cluster:
      k8s_version: v1.35.6+rke2r1
      capm3:
        image_key: ubuntu-noble-hardened-rke2-1-35

Right, in metalmark.yaml:

    images:
      facts: [os-images-info.yaml]      # kubectl get configmap os-images-info -o yaml"
    }

    fn cluster(&self, input: &ClusterInput<'_>, report: &mut dyn FnMut(Finding)) {
        for (pool, selection) in input.pools() {
            let weighed = proof::of_pool(input.view, pool, selection, input.settings.matching);
            let Some(weighed) = weighed else {
                continue;
            };
            if !matches!(weighed.proof, Proof::Proven | Proof::Refuted) {
                let explicit = selection.outcome == Outcome::Explicit;
                report(doubt(self.id(), input, pool, &weighed, explicit));
            }
        }
    }
}

fn doubt(
    id: &'static str,
    input: &ClusterInput<'_>,
    pool: &Pool,
    weighed: &PoolProof<'_>,
    explicit: bool,
) -> Finding {
    let (image, wanted) = (weighed.image, &weighed.wanted.value);
    let message = format!("nothing proves that image `{image}` holds Kubernetes `{wanted}`");
    let finding = Finding::new(id, message)
        .about(input.subject_with(pool, image))
        .at(
            input.spot(pool.choice.place()),
            known(weighed.held.as_deref(), weighed.proof),
        )
        .at(
            input.spot(weighed.wanted.place),
            "this version is asked for",
        );
    let finding = match weighed.proof {
        Proof::NameOnly | Proof::BuildUnknown => finding.unless_set(Level::Warning),
        _ => finding,
    };
    if explicit {
        finding.help("choose the image by `image_key`, so that its facts are known".to_string())
    } else {
        let version = wanted.strip_prefix('v').unwrap_or(wanted);
        finding
            .help("give its facts: `images: {facts: [os-images-info.yaml]}` in metalmark.yaml")
            .help(format!(
                "or declare it: `os_images.{image}.{}: \"{version}\"`",
                fact::K8S_VERSION
            ))
    }
}

fn known(held: Option<&Fact>, proof: Proof) -> String {
    match (held, proof) {
        (Some(fact), Proof::Partial) => {
            format!("{} says only `{}`, no patch level", fact.origin, fact.value)
        }
        (Some(fact), Proof::BuildUnknown) => {
            format!("{} says `{}`", fact.origin, fact.value)
        }
        (Some(fact), _) => format!("only {} says `{}`", fact.origin, fact.value),
        (None, _) => "no source says which version it holds".to_string(),
    }
}
