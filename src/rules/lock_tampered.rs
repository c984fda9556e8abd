//! The lock says something else than the artifacts that it names.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while reading the lock, and by `metalmark verify`.
pub(super) struct LockTampered;

impl Rule for LockTampered {
    fn id(&self) -> RuleId {
        RuleId::LockTampered
    }

    fn summary(&self) -> &'static str {
        "the lock says something else than the artifacts that it names"
    }

    fn explanation(&self) -> &'static str {
        "\
A lock entry has the digest of an artifact, and what the artifact's annotations say. The manifest that both are derived from is in
the evidence beside the lock (`metalmark.evidence`), so that every gate compares them without a network. A checksum, a file name or
a Kubernetes version that is in the lock and not in the manifest was written by somebody else than `metalmark lock`, and machines
would boot other bytes than those that were signed. `metalmark lock` takes the facts from the artifact again.

Wrong, where the artifact is annotated with another checksum:

    - key: ubuntu-noble-plain-rke2-1-31-8
      digest: sha256:31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8
      facts:
        sha256: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb

Right, as `metalmark lock` writes it:

    - key: ubuntu-noble-plain-rke2-1-31-8
      digest: sha256:31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8
      facts:
        sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    }
}
