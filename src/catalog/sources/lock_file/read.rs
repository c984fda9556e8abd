//! The lock's text to a [`Lock`], every fault at its line. A lock is data that others rely on, so nothing is guessed.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use capi::image::ImageKey;
use oci_artifacts::{Address, Digest, Reference};
use yaml_tree::NoticeKind;
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Located, Place};
use yaml_tree::suggest::did_you_mean;
use yaml_tree::value::{Map, Node, Number, Value};

use super::conflict::{self, Conflicted};
use super::{CONFLICT, Fault, REPLACE, fault, invalid};
use crate::model::checksum::is_url;
use crate::model::lock::{LOCK_VERSION, Lock, LockOrigin, LockedImage, Verified};
use crate::model::rule::RuleId;

/// The fields of one entry.
const FIELDS: [&str; 8] = [
    "key",
    "reference",
    "digest",
    "mirror",
    "facts",
    "origin",
    "verified",
    "provenance",
];

/// What to do about one entry that is wrong.
const REDO: &str = "remove the entry and run `metalmark lock`";

/// Reads a lock and reports what is wrong with it. Of a conflict, what both sides hold counts, and what only one holds.
pub(super) fn lock(text: &str, file: FileId) -> (Lock, Vec<Fault>) {
    let mut reader = LockReader { faults: Vec::new() };
    let images = match conflict::split(text) {
        None => reader.document(text, file),
        Some(conflicted) => reader.sides(conflicted, file),
    };
    reader.report_repeated(&images);
    (Lock::new(images), reader.faults)
}

struct LockReader {
    faults: Vec<Fault>,
}

impl LockReader {
    fn fault(&mut self, message: impl Into<String>, place: Place, help: &str) {
        self.faults.push(invalid(message.into(), place, help));
    }

    /// The entries of both sides where git left a conflict.
    fn sides(&mut self, conflicted: Conflicted, file: FileId) -> Vec<LockedImage> {
        let starts = conflicted.starts.into_iter().map(|start| Place {
            file,
            start: start.start as u32,
            end: start.end as u32,
        });
        let Some([ours, theirs]) = conflicted.sides else {
            let help = "git's marks are not in order: take the file of one side from git, then run `metalmark lock`";
            let faults = starts.map(|start| invalid(CONFLICT.to_owned(), start, help));
            self.faults.extend(faults);
            return Vec::new();
        };
        self.faults.extend(starts.map(super::conflict));
        let before = self.faults.len();
        let mut images = self.document(&ours, file);
        // What both sides share is wrong once.
        if self.faults.len() == before {
            let mut theirs = self.document(&theirs, file);
            let mut known: HashMap<(&str, &Address), Vec<&LockedImage>> = HashMap::new();
            for image in &images {
                known.entry(image.identity()).or_default().push(image);
            }
            theirs.retain(|their| {
                let ours = known.get(&their.identity());
                !ours.is_some_and(|ours| ours.iter().any(|our| our.says_the_same(their)))
            });
            images.extend(theirs);
        }
        images
    }

    /// What is locked twice for one reference, as a merge can leave it, also without a conflict.
    fn report_repeated(&mut self, images: &[LockedImage]) {
        let mut known: HashMap<(&str, &Address), &LockedImage> = HashMap::new();
        for image in images {
            let first = *known.entry(image.identity()).or_insert(image);
            if std::ptr::eq(first, image) {
                continue;
            }
            let key = &image.key.value;
            let mut message = format!("`{key}` is locked twice for one reference");
            if !first.says_the_same(image) {
                message.push_str(", and not the same");
            }
            let help = if first.digest.value == image.digest.value {
                "`metalmark lock` keeps one of the two"
            } else {
                "`metalmark lock` requests the image again"
            };
            let place = image.key.place;
            self.faults
                .push(fault(RuleId::LockConflict, message, place, help));
        }
    }

    fn document(&mut self, text: &str, file: FileId) -> Vec<LockedImage> {
        let read = match yaml_tree::read(text, file, Engine::Kubectl) {
            Ok(read) => read,
            Err(error) => {
                self.fault(error.message, error.place, REPLACE);
                return Vec::new();
            }
        };
        for notice in &read.notices {
            if let NoticeKind::DuplicateKey { key, .. } = &notice.kind {
                let message = format!("`{key}` occurs twice in one map");
                self.fault(message, notice.place, "remove one of the two");
            }
        }
        let whole = Place {
            file,
            start: 0,
            end: 0,
        };
        match read.documents.as_slice() {
            [document] => match &document.value {
                Value::Map(map) => return self.file(map, document.place),
                other => {
                    let message = format!("a lock is a map, and this is {}", other.kind());
                    self.fault(message, document.place, REPLACE);
                }
            },
            _ => self.fault("a lock is one YAML document", whole, REPLACE),
        }
        Vec::new()
    }

    fn file(&mut self, map: &Map, place: Place) -> Vec<LockedImage> {
        let place = Place {
            end: place.start,
            ..place
        };
        if !self.version(map, place) {
            return Vec::new();
        }
        self.report_unknown_keys(map, &["version", "images"], "a lock");
        match map.get("images").map(|node| (&node.value, node.place)) {
            Some((Value::List(items), _)) => {
                let images = items.iter().filter_map(|item| self.image(item));
                images.collect()
            }
            Some((other, place)) => {
                let message = format!("`images` is {} where a list is needed", other.kind());
                self.fault(message, place, REPLACE);
                Vec::new()
            }
            None => {
                self.fault("a lock has `images`", place, REPLACE);
                Vec::new()
            }
        }
    }

    /// Whether the rest can be read at all.
    fn version(&mut self, map: &Map, place: Place) -> bool {
        let Some(node) = map.get("version") else {
            let help = "write `version: 1` at its top";
            self.fault("the lock does not say its `version`", place, help);
            return false;
        };
        match &node.value {
            Value::Number(Number::Int(LOCK_VERSION)) => return true,
            Value::Number(Number::Int(newer)) if *newer > LOCK_VERSION => {
                let message = format!(
                    "the lock has format version {newer}, and this metalmark reads version {LOCK_VERSION}"
                );
                let help = "install the metalmark that wrote it, or a newer one";
                self.fault(message, node.place, help);
            }
            _ => {
                let message = "the lock's `version` is none that metalmark ever wrote";
                self.fault(message, node.place, "write `version: 1`");
            }
        }
        false
    }

    /// One entry; none where it cannot be relied on.
    fn image(&mut self, item: &Node) -> Option<LockedImage> {
        let faults = self.faults.len();
        let Value::Map(map) = &item.value else {
            let message = format!("an image is {} where a map is needed", item.value.kind());
            self.fault(message, item.place, REDO);
            return None;
        };
        self.report_unknown_keys(map, &FIELDS, "an image of a lock");
        let key: Option<Located<ImageKey>> = self.require(map, "key", item.place);
        let reference = self.require(map, "reference", item.place);
        let digest = self.require(map, "digest", item.place);
        let digest = digest.and_then(|digest| self.digest(&digest));
        if let (Some(reference), Some(digest)) = (&reference, &digest) {
            self.reference(reference, digest);
        }
        let image = LockedImage {
            key: key?,
            reference: reference?.map(Address::new),
            digest: digest?,
            mirror: self.text(map, "mirror").map(|mirror| mirror.value),
            facts: self.texts(map, "facts"),
            origin: self.origin(map),
            verified: self.signers(map),
            provenance: self.texts(map, "provenance"),
            evidence: None,
        };
        (self.faults.len() == faults).then_some(image)
    }

    fn digest(&mut self, text: &Located<Arc<str>>) -> Option<Located<Digest>> {
        match Digest::parse(&text.value) {
            Ok(digest) => Some(Located::new(digest, text.place)),
            Err(error) => {
                self.fault(error.to_string(), text.place, REDO);
                None
            }
        }
    }

    /// That the reference is one, and, where it names a digest itself, names this one.
    fn reference(&mut self, text: &Located<Arc<str>>, digest: &Located<Digest>) {
        // A file that a web server lists; its digest is of the file as it is served.
        if is_url(&text.value) {
            return;
        }
        match Reference::parse(&text.value) {
            Err(error) => self.fault(error.to_string(), text.place, REDO),
            Ok(reference) => {
                if reference.digest.is_some_and(|own| own != digest.value) {
                    let message = "the reference names another digest than the entry";
                    self.fault(message, digest.place, REDO);
                }
            }
        }
    }

    fn texts(&mut self, map: &Map, name: &str) -> BTreeMap<Arc<str>, Located<Arc<str>>> {
        let Some(texts) = self.map(map, name) else {
            return BTreeMap::new();
        };
        let read = texts.iter().filter_map(|entry| {
            let text = self.text(&texts, &entry.key)?;
            Some((Arc::clone(&entry.key), text))
        });
        read.collect()
    }

    fn origin(&mut self, map: &Map) -> LockOrigin {
        let Some(origin) = self.map(map, "origin") else {
            return LockOrigin::default();
        };
        self.report_unknown_keys(&origin, &["registry", "version"], "`origin`");
        LockOrigin {
            registry: self.text(&origin, "registry").map(|text| text.value),
            version: self.text(&origin, "version").map(|text| text.value),
        }
    }

    /// One key, or a list of them.
    fn signers(&mut self, map: &Map) -> Vec<Verified> {
        let Some(node) = map.get("verified") else {
            return Vec::new();
        };
        let read = match &node.value {
            Value::List(items) => items.iter().map(|item| self.signer(item)).collect(),
            _ => vec![self.signer(node)],
        };
        let mut verified: Vec<Verified> = read.into_iter().flatten().collect();
        verified.sort();
        verified
    }

    fn signer(&mut self, node: &Node) -> Option<Verified> {
        let Value::Map(verified) = &node.value else {
            let kind = node.value.kind();
            let message = format!("`verified` is {kind} where a map is needed");
            self.fault(message, node.place, REDO);
            return None;
        };
        self.report_unknown_keys(verified, &["key", "form"], "`verified`");
        let key = self.require(verified, "key", node.place);
        let form = self.require(verified, "form", node.place);
        let key = key.and_then(|key| self.digest(&key))?;
        Some(Verified {
            key: key.value.as_str().into(),
            form: form?.value,
        })
    }

    fn require(&mut self, map: &Map, name: &str, place: Place) -> Option<Located<Arc<str>>> {
        if map.get(name).is_none() {
            let place = Place {
                end: place.start.saturating_add(1).min(place.end),
                ..place
            };
            self.fault(format!("`{name}` is missing"), place, REDO);
            return None;
        }
        let text = self.text(map, name)?;
        if text.value.is_empty() {
            self.fault(format!("`{name}` is empty"), text.place, REDO);
            return None;
        }
        Some(text)
    }

    /// A string; anything else is a fault, for a number may have lost its digits.
    fn text(&mut self, map: &Map, name: &str) -> Option<Located<Arc<str>>> {
        let node = map.get(name)?;
        match &node.value {
            Value::String(text) => Some(Located::new(Arc::clone(text), node.place)),
            other => {
                let message = format!("`{name}` is {} where a string is needed", other.kind());
                self.fault(message, node.place, "put it in quotes");
                None
            }
        }
    }

    fn map(&mut self, map: &Map, name: &str) -> Option<Arc<Map>> {
        let node = map.get(name)?;
        match &node.value {
            Value::Map(inner) => Some(Arc::clone(inner)),
            other => {
                let message = format!("`{name}` is {} where a map is needed", other.kind());
                self.fault(message, node.place, REDO);
                None
            }
        }
    }

    fn report_unknown_keys(&mut self, map: &Map, known: &[&str], what: &str) {
        for entry in map.iter().filter(|entry| !known.contains(&&*entry.key)) {
            let message = format!("{what} has no `{}`", entry.key);
            let help = match did_you_mean(&entry.key, known.iter().copied()) {
                Some(name) => format!("did you mean `{name}`?"),
                None => "remove it".to_owned(),
            };
            self.fault(message, entry.key_place, &help);
        }
    }
}
