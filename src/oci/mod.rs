//! Artifacts as the Open Container Initiative names and describes them: references, digests, manifests; and the one
//! interface behind which they lie, be it a registry or a folder.
//!
//! Pure: knows no network and no disk. `crate::artifacts::registry` and `crate::artifacts::layout` implement [`Store`].
//!
//! Source: OCI image-spec and distribution-spec 1.1, <https://github.com/opencontainers/distribution-spec/blob/main/spec.md>.

mod artifact;
mod choose;
mod digest;
mod failure;
mod manifest;
mod reference;

use std::io::Write;

pub use artifact::{Artifact, Blob, Body, Digesting};
pub use choose::{Chosen, images};
pub use digest::{Digest, DigestError};
pub use failure::{Failure, FailureKind, listed as listed_failures};
pub use manifest::{Content, Descriptor, MANIFEST_LIMIT, Manifest, ManifestError};
pub use reference::{Reference, ReferenceError, SCHEME, Target};

/// Where artifacts are put: a registry, or an image layout in a folder.
///
/// Whatever is put is there whole or not at all, and what is there already is not sent again.
pub trait Sink: Send + Sync {
    /// Puts an artifact under a reference: its blobs first, then its manifest. A reference with a digest and no tag puts the
    /// manifest under its digest alone. What an index names is put before it, each by its digest.
    ///
    /// # Errors
    /// The sink cannot be reached, refuses it, or names it by another digest; a body cannot be read, or its bytes are not those
    /// of its descriptor.
    fn put(&self, to: &Reference, artifact: &Artifact) -> Result<Put, Failure>;
}

/// What was sent to a sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Put {
    /// How many blobs were sent, and not only found there.
    pub sent: usize,
    /// Whether the reference named that very manifest before.
    pub is_unchanged: bool,
}

/// Where artifacts lie: a registry, or an image layout in a folder.
///
/// Every call takes all that is wanted at once and answers in the order asked: concurrency, connections and retries are the
/// store's own affair. One failure never hides another.
pub trait Store: Send + Sync {
    /// The manifests, or indexes, that references name, their bytes proven against the digest asked for. An index stays an
    /// index: [`Manifest::content`] tells.
    fn manifests(&self, wanted: &[Reference]) -> Vec<Result<Manifest, Failure>>;

    /// Small blobs, whole, their bytes proven against their descriptors. None is longer than its descriptor says or than
    /// `limit` bytes. The reference says in which repository each lies.
    fn blobs(
        &self,
        wanted: &[(Reference, Descriptor)],
        limit: u64,
    ) -> Vec<Result<Vec<u8>, Failure>>;

    /// Copies a blob of any length into a writer, never more bytes than its descriptor says, its length and digest proven:
    /// until this returns, what was written is not to be relied on. As it stands here it holds the blob meanwhile; where
    /// content comes in pieces, a store passes the pieces on.
    ///
    /// # Errors
    /// It cannot be had, its bytes are not those of its descriptor, or the writer takes no more.
    fn copy(
        &self,
        of: &Reference,
        blob: &Descriptor,
        into: &mut (dyn Write + Send),
    ) -> Result<(), Failure> {
        let mut got = self.blobs(&[(of.clone(), blob.clone())], blob.size);
        let bytes = got.pop().unwrap_or_else(|| Ok(Vec::new()))?;
        into.write_all(&bytes).map_err(|error| {
            let message = format!("blob `{}` cannot be kept: {error}", blob.digest);
            Failure::new(of, FailureKind::Unreachable, message)
        })
    }

    /// How many bytes the blobs of those digests have, as the store tells without sending them; none where it need not hold
    /// them. The references say in which repository each lies.
    fn sizes(&self, wanted: &[(Reference, Digest)]) -> Vec<Result<Option<u64>, Failure>>;

    /// What refers to the manifest of that digest by `subject` (distribution-spec, listing referrers), by the API or by the
    /// fallback tag. Empty where nothing does.
    fn referrers(&self, wanted: &[(Reference, Digest)]) -> Vec<Result<Vec<Descriptor>, Failure>>;

    /// The tags of the repository of a reference, sorted.
    ///
    /// # Errors
    /// There is no such repository, or it cannot be asked.
    fn tags(&self, of: &Reference) -> Result<Vec<String>, Failure>;

    /// The tags of many repositories, each sorted.
    fn tag_lists(&self, of: &[Reference]) -> Vec<Result<Vec<String>, Failure>> {
        of.iter().map(|of| self.tags(of)).collect()
    }

    /// The repositories that the store of a reference lists, sorted: `_catalog`, which many registries do not offer.
    ///
    /// # Errors
    /// It cannot be asked, or offers no such list.
    fn repositories(&self, of: &Reference) -> Result<Vec<String>, Failure>;
}
