//! Facts from the lock: what `metalmark lock` wrote, read back; and the text that it writes.

mod evidence;
mod read;
mod text;

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use super::{FactsFile, Fault, ImageSource, Wanted};
use crate::error::Error;
use crate::files::Files;
use crate::model::catalog::Described;
use crate::model::lock::{Lock, LockedImage};
use crate::model::rule::RuleId;
use capi::image::{Facts, Origin};
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Place, Source};

pub use evidence::{RESTORE, path as evidence_path, text as evidence_text};
pub use text::text;

/// A lock's images, ready for queries.
pub(super) struct LockFile {
    lock: Arc<Lock>,
    /// In the order of the lock's images.
    described: Vec<Arc<Described>>,
}

impl ImageSource for LockFile {
    fn describe(&self, wanted: &[Wanted<'_>]) -> Vec<Result<Option<Arc<Described>>, Error>> {
        wanted.iter().map(|wanted| Ok(self.find(wanted))).collect()
    }
}

impl LockFile {
    fn new(lock: Arc<Lock>) -> Self {
        let described = lock
            .images()
            .iter()
            .map(description)
            .map(Arc::new)
            .collect();
        Self { lock, described }
    }

    /// An entry counts for the very reference that it was locked for: facts of another version would prove the wrong thing.
    fn find(&self, wanted: &Wanted<'_>) -> Option<Arc<Described>> {
        let index = self.lock.position(wanted.key, wanted.uri?)?;
        self.described.get(index).cloned()
    }
}

fn description(image: &LockedImage) -> Described {
    let facts = image.facts.iter();
    let facts = facts.map(|(name, fact)| (name, Arc::clone(&fact.value), fact.place));
    Described {
        name: Arc::clone(&image.key.value),
        place: image.key.place,
        facts: Facts::new(Origin::Lock, facts),
        digest: Some(image.digest.clone()),
    }
}

/// A lock as read, with the evidence beside it.
pub(super) struct Read {
    pub lock: Arc<Lock>,
    pub file: FactsFile,
    /// The file with the evidence.
    pub evidence: Source,
}

/// Reads a lock and its evidence; the places in them get these numbers. A lock that is not there yet is empty. What cannot be
/// read in it is a fault; everything else of it counts.
///
/// # Errors
/// A file cannot be read.
pub(super) fn read(
    tree: &dyn Files,
    path: &Path,
    (file, evidence_file): (FileId, FileId),
    architecture: &str,
) -> Result<Read, Error> {
    let shown = path.to_string_lossy().replace('\\', "/");
    let bytes = bytes(tree, path)?.unwrap_or_default();
    let (text, (lock, mut faults)) = match yaml_tree::decode(&bytes, Engine::Kubectl) {
        Ok(text) if bytes.is_empty() => (text, Default::default()),
        Ok(text) => {
            let read = read::lock(&text, file);
            (text, read)
        }
        Err(error) => {
            let start = Place {
                file,
                start: 0,
                end: 0,
            };
            let fault = invalid(error.to_string(), start, REPLACE);
            (String::new(), (Lock::default(), vec![fault]))
        }
    };
    let beside = evidence::path(path);
    let witnessed = self::bytes(tree, &beside)?.unwrap_or_default();
    // What is not UTF-8 in it is a fault of its line.
    let witnessed = String::from_utf8_lossy(&witnessed);
    let (lock, found) = evidence::attach(lock.images(), &witnessed, evidence_file, architecture);
    faults.extend(found);
    let lock = Arc::new(lock);
    Ok(Read {
        file: FactsFile {
            images: Box::new(LockFile::new(Arc::clone(&lock))),
            source: Source::new(shown, text),
            faults,
        },
        lock,
        evidence: Source::new(
            beside.to_string_lossy().replace('\\', "/"),
            witnessed.into_owned(),
        ),
    })
}

/// The bytes of a lock or of its evidence; `None` if the file does not exist.
///
/// # Errors
/// The file cannot be read.
pub fn bytes(tree: &dyn Files, path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match tree.read_file(path) {
        Err(Error::Read { cause, .. }) if cause.kind() == ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// What to do about a lock that is lost.
const REPLACE: &str = "take the file back from git, or delete it and run `metalmark lock`, which fetches every image again";

fn invalid(message: String, place: Place, help: &str) -> Fault {
    Fault {
        rule: RuleId::LockInvalid,
        message,
        place,
        help: Some(help.to_owned()),
    }
}

#[cfg(test)]
mod tests;
