//! The artifacts of the Open Container Initiative: references, digests and manifests, the client of registries, image layouts on
//! disk, archives, and signatures. What an artifact means to a cluster does not belong here.
//!
//! [`Store`] and [`Sink`] are the interfaces of what holds artifacts; [`registry`] and [`layout`] implement them, and they alone use
//! network and disk.
//!
//! Source: OCI image-spec and distribution-spec 1.1, <https://github.com/opencontainers/distribution-spec/blob/main/spec.md>.

#![warn(missing_docs)]

mod address;
pub mod archive;
mod artifact;
mod choose;
mod digest;
pub mod evidence;
mod failure;
pub mod layout;
mod manifest;
pub mod portable_path;
mod reference;
pub mod registries;
pub mod registry;
mod registry_name;
pub mod signature;
mod streamed;
pub mod whole;

use std::io::Write;

pub use address::{Address, is_oci};
pub use artifact::{Artifact, Blob, Body, Digested, Digesting};
pub use choose::{Chosen, NoPart, Platform, find_part, image, images};
pub use digest::{Digest, DigestError, sha256};
pub use failure::{Failure, FailureKind, write_failures};
pub use manifest::{
    CONFIG_TYPE, Content, Descriptor, INDEX_TYPE, MANIFEST_LIMIT, MANIFEST_TYPE, Manifest,
    ManifestError,
};
pub use reference::{Reference, ReferenceError, SCHEME, Target};
pub use registry_name::RegistryName;

/// A destination for artifacts: a registry, or an image layout in a folder.
///
/// Content is stored completely or not at all, and existing content is not sent again.
pub trait Sink: Send + Sync {
    /// Stores an artifact under a reference: its blobs first, then its manifest. A reference with a digest and no tag stores the
    /// manifest under its digest only. The manifests of an index are stored before it, each under its digest.
    ///
    /// # Errors
    /// The sink cannot be reached, refuses it, or reports another digest; a blob cannot be read, or does not match its
    /// descriptor.
    fn put(&self, to: &Reference, artifact: &Artifact) -> Result<Put, Failure>;
}

/// The result of storing an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Put {
    /// The number of blobs that were sent, because they did not exist there.
    pub sent: usize,
    /// Whether the reference already named this manifest.
    pub is_unchanged: bool,
}

/// A source of artifacts: a registry, or an image layout in a folder.
///
/// Every call takes all requests at once and returns the results in their order: concurrency, connections and retries are
/// internal to the store. One failure does not affect the other results.
pub trait Store: Send + Sync {
    /// The manifests or indexes of references, verified against the requested digests. An index is returned as such:
    /// [`Manifest::content`] shows which it is.
    fn manifests(&self, requests: &[Reference]) -> Vec<Result<Manifest, Failure>>;

    /// The manifest or index of one reference.
    ///
    /// # Errors
    /// It cannot be fetched, or does not have the requested digest.
    fn manifest(&self, of: &Reference) -> Result<Manifest, Failure> {
        let answer = self.manifests(std::slice::from_ref(of)).pop();
        answer.unwrap_or_else(|| Err(Failure::no_answer(of)))
    }

    /// Small blobs as a whole, verified against their descriptors. None is longer than its descriptor declares or than `limit`
    /// bytes. The references name the repositories.
    fn blobs(
        &self,
        requests: &[(Reference, Descriptor)],
        limit: u64,
    ) -> Vec<Result<Vec<u8>, Failure>>;

    /// Copies a blob of any length into a writer, at most as many bytes as its descriptor declares, and verifies length and digest:
    /// until this returns, the written bytes must not be used. This default implementation holds the blob in memory; a store that
    /// receives content in chunks writes each chunk.
    ///
    /// # Errors
    /// The blob cannot be read, does not match its descriptor, or the writer fails.
    fn copy(
        &self,
        of: &Reference,
        blob: &Descriptor,
        into: &mut (dyn Write + Send),
    ) -> Result<(), Failure> {
        let mut got = self.blobs(&[(of.clone(), blob.clone())], blob.size);
        let bytes = got.pop().unwrap_or_else(|| Ok(Vec::new()))?;
        into.write_all(&bytes).map_err(|error| {
            let message = format!("blob `{}` cannot be stored: {error}", blob.digest);
            Failure::new(of, FailureKind::Unreachable, message)
        })
    }

    /// The sizes of blobs in bytes, as the store reports them without sending the blobs; none if the store may omit them. The
    /// references name the repositories.
    fn sizes(&self, requests: &[(Reference, Digest)]) -> Vec<Result<Option<u64>, Failure>>;

    /// The referrers of manifests by `subject` (distribution-spec, listing referrers), by the API or by the fallback tag. Empty if
    /// there are none.
    fn referrers(&self, requests: &[(Reference, Digest)]) -> Vec<Result<Vec<Descriptor>, Failure>>;

    /// The tags of the repository of a reference, sorted.
    ///
    /// # Errors
    /// There is no such repository, or it cannot be queried.
    fn tags(&self, of: &Reference) -> Result<Vec<String>, Failure>;

    /// The tags of many repositories, each sorted.
    fn tag_lists(&self, of: &[Reference]) -> Vec<Result<Vec<String>, Failure>> {
        of.iter().map(|of| self.tags(of)).collect()
    }

    /// The repositories in the registry of a reference, sorted, from `_catalog`, which many registries do not offer.
    ///
    /// # Errors
    /// It cannot be queried, or offers no such list.
    fn repositories(&self, of: &Reference) -> Result<Vec<String>, Failure>;
}
