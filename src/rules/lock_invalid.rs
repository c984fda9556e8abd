//! The lock cannot be relied on as it stands.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while reading the lock.
pub(super) struct LockInvalid;

impl Rule for LockInvalid {
    fn id(&self) -> RuleId {
        RuleId::LockInvalid
    }

    fn summary(&self) -> &'static str {
        "the lock cannot be relied on as it stands"
    }

    fn explanation(&self) -> &'static str {
        "\
The lock says which bytes every image stands for. A conflict that git left, an entry that stands twice, a digest that is none, or
a format of a newer metalmark leave that open, and nothing is guessed. `metalmark lock` does not write over such a lock: what it
held would be asked for again, and a tag that has moved meanwhile would go by unseen.

Wrong:

    images:

    - key: ubuntu-noble-plain-rke2-1-31-8
      reference: oci://registry.example.org/os/ubuntu-noble-plain-rke2-1-31-8:0.4.12
      digest: sha256:unknown

Right, after the entry was removed and `metalmark lock` was run:

    images:

    - key: ubuntu-noble-plain-rke2-1-31-8
      reference: oci://registry.example.org/os/ubuntu-noble-plain-rke2-1-31-8:0.4.12
      digest: sha256:31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8"
    }
}
