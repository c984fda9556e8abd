//! Writes the lock and its evidence.

use std::path::Path;

use crate::catalog::locking::Locked;
use crate::catalog::sources;
use crate::error::Error;
use crate::files::FILE_LIMIT;
use crate::output::{self, Held};
use crate::read::Workspace;

/// The bytes of the lock and of its evidence before the run; none where there are none yet.
pub(in crate::commands) struct Before {
    lock: Option<Vec<u8>>,
    evidence: Option<Vec<u8>>,
}

impl Before {
    /// Whether there was a lock.
    pub(in crate::commands) fn has_lock(&self) -> bool {
        self.lock.is_some()
    }

    pub(in crate::commands) fn read(workspace: &Workspace) -> Result<Self, Error> {
        let bytes = |path: &Path| sources::lock_bytes(&*workspace.files, path);
        Ok(Self {
            lock: bytes(&workspace.lock)?,
            evidence: bytes(&sources::evidence_path(&workspace.lock))?,
        })
    }
}

/// Writes the lock and its evidence where their bytes change. Where nothing is locked and nothing was, there are none. The evidence
/// comes first: more of it than the lock needs does no harm where a run ends in between.
pub(super) fn save(
    workspace: &Workspace,
    locked: &Locked,
    before: &Before,
    held: Option<&mut Held>,
) -> Result<bool, Error> {
    let root = &workspace.settings.root;
    let evidence = sources::evidence_text(&locked.lock);
    let lock = sources::lock_text(&locked.lock);
    let lock = (!locked.lock.images().is_empty() || before.lock.is_some()).then_some(lock);
    let mut files = vec![
        (
            sources::evidence_path(&workspace.lock),
            &before.evidence,
            evidence,
        ),
        (workspace.lock.clone(), &before.lock, lock),
    ];
    files.retain(|(_, before, text)| {
        let text = text.as_deref().unwrap_or_default().as_bytes();
        before.as_deref().unwrap_or_default() != text
    });
    if files.is_empty() {
        return Ok(false);
    }
    for (path, _, text) in &files {
        // No later run could read it.
        if text
            .as_ref()
            .is_some_and(|text| text.len() as u64 > FILE_LIMIT)
        {
            let path = root.join(path);
            let cause = std::io::Error::other(format!(
                "it would be larger than {} MiB\n\
                 help: lock fewer images, or images whose manifests have shorter annotations",
                FILE_LIMIT >> 20
            ));
            return Err(Error::Write { path, cause });
        }
    }
    output::holding(held, root, |held| {
        files.iter().try_for_each(|(path, before, text)| {
            let text = text.as_deref().unwrap_or_default();
            output::write_owned_file(held, &root.join(path), before.as_deref(), text)
        })
    })?;
    Ok(true)
}
