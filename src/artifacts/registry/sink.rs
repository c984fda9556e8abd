//! Registries as a place to put artifacts, and to have blobs from that are too long to hold.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::oci::{Artifact, Blob, Descriptor, Failure, FailureKind, Put, Reference, Sink, Target};

use super::meter::Meter;
use super::options::Limits;
use super::session::{Sessions, Turn};
use super::trouble::Trouble;
use super::{Registries, copy, push, told};

/// The slowest line that blobs are still waited for on, in bytes a second.
const SLOWEST: u64 = 64 << 10;

impl Sink for Registries {
    fn put(&self, to: &Reference, artifact: &Artifact) -> Result<Put, Failure> {
        if let Some(failure) = misnamed(to, artifact) {
            return Err(failure);
        }
        let sizes = artifact.blobs.iter().map(|blob| blob.descriptor.size);
        let limits = within(&self.options.limits, sizes.clone());
        let size = sizes.fold(0u64, u64::saturating_add);
        let meter = Arc::new(Meter::new(self.options.progress.clone(), size));
        let at = to.clone();
        let each = move |sessions: Arc<Sessions>, blob: Blob, turn| {
            let (at, meter) = (at.clone(), Arc::clone(&meter));
            async move { push::blob(&sessions, &at, &blob, &meter, turn).await }
        };
        let mut sent = 0;
        for answer in self.batch_within(limits, artifact.blobs.clone(), false, each) {
            sent += usize::from(told(answer, to)?);
        }
        let wanted = vec![(to.clone(), artifact.clone())];
        type Wanted = (Reference, Artifact);
        let each = |sessions: Arc<Sessions>, (to, artifact): Wanted, turn| async move {
            push::manifest(&sessions, &to, &artifact, turn).await
        };
        let answer = self.batch(wanted, false, each).pop();
        let is_unchanged = told(answer.unwrap_or(Ok(false)), to)?;
        Ok(Put { sent, is_unchanged })
    }
}

/// What is asked for by a digest has it.
fn misnamed(to: &Reference, artifact: &Artifact) -> Option<Failure> {
    let own = &artifact.descriptor.digest;
    match to.target() {
        Target::Digest(digest) if digest != own => {
            let message = format!("what is to be put there has the digest `{own}`");
            Some(Failure::new(to, FailureKind::Corrupt, message))
        }
        _ if !own.is_of(&artifact.manifest) => {
            let message = format!("its manifest does not have the digest `{own}`");
            Some(Failure::new(to, FailureKind::Corrupt, message))
        }
        _ => None,
    }
}

/// Longer limits for what has to be sent.
fn within(limits: &Limits, sizes: impl Iterator<Item = u64>) -> Limits {
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
    /// [`crate::oci::Store::copy`], the bytes passed on as they come.
    pub(super) fn copied(
        &self,
        of: &Reference,
        blob: &Descriptor,
        into: &mut (dyn Write + Send),
    ) -> Result<(), Failure> {
        let Some(runtime) = self.runtime() else {
            let message = "the system gives no threads";
            return Err(Failure::new(of, FailureKind::Unreachable, message));
        };
        let limits = within(&self.options.limits, std::iter::once(blob.size));
        let copied = async {
            let turn = Turn {
                batch: self.next_batch(),
                deadline: Instant::now() + limits.request,
            };
            let meter = Meter::new(self.options.progress.clone(), blob.size);
            let copied = copy::blob(&self.sessions, of, blob, (into, &meter), turn);
            let copied = timeout_at(turn.deadline, copied).await;
            copied.unwrap_or_else(|_| {
                let message = format!("it was not sent within {:?}", limits.request);
                Err(Trouble::new(FailureKind::Unreachable, message))
            })
        };
        told(runtime.block_on(copied), of)
    }
}
