//! A tag stands for other bytes than when it was locked.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found by `metalmark lock` and `metalmark verify`.
pub(super) struct TagMoved;

impl Rule for TagMoved {
    fn id(&self) -> RuleId {
        RuleId::TagMoved
    }

    fn summary(&self) -> &'static str {
        "a tag stands for other bytes than when it was locked"
    }

    fn explanation(&self) -> &'static str {
        "\
A released tag is never written twice. Where it is, somebody made a mistake or attacks: nodes that are made tomorrow would boot
another image than those of today. The lock keeps the old digest. `metalmark lock --upgrade` and `metalmark verify` see it; where
the publisher says that it was meant, `metalmark lock --accept-moved KEY` takes the new one, and the review sees it.

Wrong, where the registry now answers with another digest:

    reference: oci://registry.example.org/os/ubuntu-noble-plain-rke2-1-31-8:0.4.12
    digest: sha256:31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8

Right, a new release with a tag of its own:

    reference: oci://registry.example.org/os/ubuntu-noble-plain-rke2-1-31-8:0.4.13"
    }
}
