//! Facts from the lock: what `metalmark lock` wrote, read back; and the text that it writes.

mod conflict;
mod evidence;
mod read;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use capi::image::{Facts, Origin, fact};
use oci_artifacts::Platform;
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Located, Place, Source};
use yaml_tree::value::{Entry, Map, Node, Value};

use super::{FactsFile, Fault, ImageSource, Wanted};
use crate::error::Error;
use crate::files::Files;
use crate::model::catalog::Described;
use crate::model::lock::{LOCK_VERSION, Lock, LockedImage};
use crate::model::rule::RuleId;

pub use evidence::{RESTORE, path as evidence_path, text as evidence_text};

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
    // What is proven counts before what the artifact says of itself.
    let names = [fact::SOURCE, fact::REVISION, fact::BUILDER];
    let proven = { names.iter() }.filter_map(|name| image.provenance.get_key_value(*name));
    let is_unproven = |name: &str| !names.contains(&name) || !image.provenance.contains_key(name);
    let facts = image.facts.iter().filter(|(name, _)| is_unproven(name));
    let facts = facts.chain(proven);
    let facts = facts.map(|(name, fact)| (name, Arc::clone(&fact.value), fact.place));
    // What nothing proves is worth no more than a name.
    let origin = if image.lacks_evidence() {
        Origin::Name
    } else {
        Origin::Lock
    };
    Described {
        name: Arc::clone(&image.key.value),
        place: image.key.place,
        facts: Facts::new(origin, facts),
        digest: Some(image.digest.clone()),
        pulled: Some(image.manifest_digest()),
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
    file: FileId,
    evidence_file: FileId,
    platform: &Platform,
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
    let (lock, found) = evidence::attach(&lock, &witnessed, evidence_file, platform);
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
    fault(RuleId::LockInvalid, message, place, help)
}

/// Where git could not merge the lines of two people.
fn conflict(place: Place) -> Fault {
    let help = "`metalmark lock` merges both sides";
    fault(RuleId::LockConflict, CONFLICT.to_owned(), place, help)
}

const CONFLICT: &str = "git left a conflict here";

fn fault(rule: RuleId, message: String, place: Place, help: &str) -> Fault {
    Fault {
        rule,
        message,
        place,
        help: Some(help.to_owned()),
    }
}

/// The note for readers of the file.
const HEAD: &str = "# Written by `metalmark lock`; commit it. Each image's digest, and what the artifact says of itself.";

/// The whole file. The same lock is the same bytes; what is read back is the same lock.
pub fn text(lock: &Lock) -> String {
    let mut text = format!("{HEAD}\nversion: {LOCK_VERSION}\nimages:");
    let entries = lock.entries();
    if entries.is_empty() {
        text.push_str(" []\n");
    } else {
        text.push('\n');
    }
    for image in entries {
        text.push('\n');
        text.push_str(&block(image));
    }
    text
}

/// One image, its fields in the order in which people look for them.
fn block(image: &LockedImage) -> String {
    let mut block = String::new();
    let mut field = |name: &str, value: Value| {
        let map: Map = [Entry::from_value(name, value)].into_iter().collect();
        block.push_str(&yaml_tree::emit_at(&Value::from(map), 2));
    };
    field("key", string(&image.key.value));
    field("reference", string(image.reference.value.text()));
    field("digest", Value::from(image.digest.value.as_str()));
    if let Some(mirror) = &image.mirror {
        field("mirror", string(mirror));
    }
    let mut fields = |name: &str, texts: &BTreeMap<Arc<str>, Located<Arc<str>>>| {
        let texts = texts.iter();
        let texts = texts.map(|(name, text)| (Arc::clone(name), Some(&text.value)));
        if let Some(texts) = map(texts) {
            field(name, texts);
        }
    };
    fields("facts", &image.facts);
    fields("provenance", &image.provenance);
    let origin = [
        ("registry".into(), image.origin.registry.as_ref()),
        ("version".into(), image.origin.version.as_ref()),
    ];
    if let Some(origin) = map(origin) {
        field("origin", origin);
    }
    let signers = image.verified.iter().filter_map(|verified| {
        map([
            ("key".into(), Some(&verified.key)),
            ("form".into(), Some(&verified.form)),
        ])
    });
    let mut signers: Vec<Value> = signers.collect();
    match signers.len() {
        0 => {}
        1 => field("verified", signers.remove(0)),
        _ => field("verified", list(signers)),
    }
    block.replace_range(..2, "- ");
    block
}

fn list(items: Vec<Value>) -> Value {
    let node = |value| Node {
        value,
        place: Place::NONE,
    };
    Value::List(Arc::new(items.into_iter().map(node).collect()))
}

fn string(text: &Arc<str>) -> Value {
    Value::String(Arc::clone(text))
}

/// The present entries as a map; `None` if there are none.
fn map<'a>(entries: impl IntoIterator<Item = (Arc<str>, Option<&'a Arc<str>>)>) -> Option<Value> {
    let entries = entries.into_iter();
    let entries = entries.filter_map(|(name, text)| Some(Entry::from_value(name, string(text?))));
    let map: Map = entries.collect();
    (!map.is_empty()).then(|| Value::from(map))
}

#[cfg(test)]
mod tests;
