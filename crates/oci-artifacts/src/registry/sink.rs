//! Pushes artifacts, and copies blobs that are too large for memory.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use crate::{Artifact, Blob, Descriptor, Failure, FailureKind, Put, Reference, Sink, Target};

use super::meter::Meter;
use super::options::Limits;
use super::repository::Repository;
use super::session::Sessions;
use super::{Registries, copy, document, for_reference, push};

/// The lowest transfer rate that is waited for, in bytes per second.
const SLOWEST: u64 = 64 << 10;

impl Sink for Registries {
    fn put(&self, to: &Reference, artifact: &Artifact) -> Result<Put, Failure> {
        if let Some(failure) = digest_mismatch(to, artifact) {
            return Err(failure);
        }
        let sizes = artifact.blobs.iter().map(|blob| blob.descriptor.size);
        let limits = with_time_to_transfer(&self.options.limits, sizes.clone());
        let size = sizes.fold(0u64, u64::saturating_add);
        let meter = Arc::new(Meter::new(self.options.progress.clone(), size));
        let destination = to.clone();
        let each = move |sessions: Arc<Sessions>, blob: Blob, context| {
            let (destination, meter) = (destination.clone(), Arc::clone(&meter));
            async move {
                let repository = Repository::for_push(&sessions, &destination, context);
                push::blob(&repository, &blob, &meter).await
            }
        };
        let mut sent = 0;
        for answer in self.batch_within(limits, artifact.blobs.clone(), false, each) {
            sent += usize::from(for_reference(answer, to)?);
        }
        let artifacts = vec![(to.clone(), artifact.clone())];
        type Item = (Reference, Artifact);
        let each = |sessions: Arc<Sessions>, (to, artifact): Item, context| async move {
            let repository = Repository::for_push(&sessions, &to, context);
            push::manifest(&repository, &to, &artifact).await
        };
        let answer = self.batch(artifacts, false, each).pop();
        let is_unchanged = for_reference(answer.unwrap_or(Ok(false)), to)?;
        Ok(Put { sent, is_unchanged })
    }
}

/// An error if the reference or the descriptor names another digest than that of the manifest.
fn digest_mismatch(to: &Reference, artifact: &Artifact) -> Option<Failure> {
    let own = &artifact.descriptor.digest;
    match to.target() {
        Target::Digest(digest) if digest != own => {
            let message = format!("the pushed artifact has the digest `{own}`");
            Some(Failure::new(to, FailureKind::Corrupt, message))
        }
        _ if !own.is_of(&artifact.manifest) => {
            let message = format!("its manifest does not have the digest `{own}`");
            Some(Failure::new(to, FailureKind::Corrupt, message))
        }
        _ => None,
    }
}

/// Limits with additional time for large blobs.
fn with_time_to_transfer(limits: &Limits, sizes: impl Iterator<Item = u64>) -> Limits {
    let (mut longest, mut all) = (0, 0u64);
    for size in sizes {
        longest = size.max(longest);
        all = all.saturating_add(size);
    }
    Limits {
        request: limits.request + Duration::from_secs(longest / SLOWEST),
        batch: limits.batch + Duration::from_secs(all / SLOWEST),
        ..*limits
    }
}

impl Registries {
    /// Writes the file at a web address as its bytes arrive, without credentials. A connection that breaks is not resumed.
    ///
    /// # Errors
    /// The address is invalid, the request or the writer fails, or it takes longer than a whole batch may. The message does not contain the
    /// parts of the address that may be secret.
    pub fn download(&self, address: &str, into: &mut (dyn Write + Send)) -> Result<(), Failure> {
        let shown = document::display_url(address);
        let downloaded = self.run_one(self.options.limits.batch, async |context| {
            document::file(&self.sessions, address, context, into).await
        });
        downloaded.map_err(|error| error.failure(&shown))
    }

    /// [`crate::Store::copy`]: writes the bytes as they arrive.
    pub(super) fn copy_blob(
        &self,
        of: &Reference,
        blob: &Descriptor,
        into: &mut (dyn Write + Send),
    ) -> Result<(), Failure> {
        let limits = with_time_to_transfer(&self.options.limits, std::iter::once(blob.size));
        let meter = Meter::new(self.options.progress.clone(), blob.size);
        let copied = self.run_one(limits.request, async |context| {
            let repository = Repository::for_pull(&self.sessions, of, context);
            copy::blob(&repository, blob, into, &meter).await
        });
        for_reference(copied, of)
    }
}
