//! Artifacts as the Open Container Initiative names and describes them: references, digests, manifests; and the one
//! interface behind which they lie, be it a registry or a folder.
//!
//! Pure: knows no network and no disk. `crate::registry` and `crate::layout` implement [`Store`].
//!
//! Source: OCI image-spec and distribution-spec 1.1, <https://github.com/opencontainers/distribution-spec/blob/main/spec.md>.

mod choose;
mod digest;
mod failure;
mod manifest;
mod reference;

pub use choose::{Chosen, images};
pub use digest::{Digest, DigestError};
pub use failure::{Failure, FailureKind};
pub use manifest::{Content, Descriptor, MANIFEST_LIMIT, Manifest, ManifestError};
pub use reference::{Reference, ReferenceError, SCHEME, Target};

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
