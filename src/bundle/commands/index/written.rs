//! Parses the file of an index.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Place, Source, Spot};
use yaml_tree::suggest::key_help;
use yaml_tree::value::{Node, Value};

use crate::error::Error;
use crate::files;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;

/// The keys of an index.
const KEYS: &[&str] = &["bundles", "provided", "version"];

/// The keys of a bundle of an index.
const BUNDLE_KEYS: &[&str] = &["from", "name", "requires"];

/// The longest index that is read, in bytes.
const LONGEST: u64 = 4 << 20;

/// The maximum number of bundles in one index.
const MOST: usize = 1000;

/// One bundle of an index.
pub(super) struct Child {
    pub(super) name: Arc<str>,
    pub(super) from: Arc<str>,
    pub(super) from_place: Place,
    pub(super) requires: Vec<(Arc<str>, Place)>,
}

/// What an index says.
pub(super) struct Index {
    source: Arc<Source>,
    pub(super) provided: BTreeSet<Arc<str>>,
    pub(super) children: Vec<Child>,
    pub(super) findings: Vec<Finding>,
}

/// The index in a file; what is wrong with it is among its findings.
///
/// # Errors
/// The file cannot be read.
pub(super) fn read(written: &Path, path: &Path) -> Result<Index, Error> {
    let mut bytes = Vec::new();
    let opened = files::body(path).open();
    let read = opened.and_then(|reader| reader.take(LONGEST + 1).read_to_end(&mut bytes));
    read.map_err(Error::reading(path))?;
    let is_whole = bytes.len() as u64 <= LONGEST;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let mut index = Index {
        source: Arc::new(Source::new(written.to_string_lossy(), text)),
        provided: BTreeSet::new(),
        children: Vec::new(),
        findings: Vec::new(),
    };
    let source = Arc::clone(&index.source);
    match yaml_tree::read(&source.text, FileId(0), Engine::Kubectl) {
        _ if !is_whole => {
            let message = format!("an index has at most {} MiB", LONGEST >> 20);
            index.refuse(Place::NONE, &message);
        }
        Ok(read) => {
            index.document(read.documents.first());
            if let Some(second) = read.documents.get(1) {
                index.refuse(second.place, "an index is one document");
            }
        }
        Err(error) => {
            let spot = index.spot(error.place);
            index.findings.push(Finding::from_syntax(error, spot));
        }
    }
    Ok(index)
}

impl Index {
    fn document(&mut self, document: Option<&Node>) {
        let Some(document) = document else {
            let finding = Finding::new(RuleId::BundleEmpty, "the index names no bundle");
            self.findings.push(finding);
            return;
        };
        self.expect_keys("an index", document, KEYS);
        let version = document.get_path(&["version"]);
        if let Some(version) = version.filter(|it| it.value != Value::from(1)) {
            self.refuse(version.place, "the `version` of an index is 1");
        }
        for item in self.list(document, "provided").unwrap_or_default() {
            let name = self.text(item, "what is provided");
            self.provided.extend(name);
        }
        match self.list(document, "bundles") {
            Some(items) if items.len() > MOST => {
                self.refuse(
                    document.place,
                    &format!("an index names at most {MOST} bundles"),
                );
            }
            Some(items) => items.iter().for_each(|item| self.add(item)),
            None if document
                .get_path(&["bundles"])
                .is_some_and(|it| !it.value.is_null()) => {}
            None => self.refuse(document.place, "an index has a list `bundles`"),
        }
    }

    fn add(&mut self, node: &Node) {
        self.expect_keys("a bundle of an index", node, BUNDLE_KEYS);
        let (Some(name), Some(from)) = (node.get_path(&["name"]), node.get_path(&["from"])) else {
            self.refuse(node.place, "a bundle of an index has `name` and `from`");
            return;
        };
        let from_place = from.place;
        let (Some(name), Some(from)) = (self.text(name, "`name`"), self.text(from, "`from`"))
        else {
            return;
        };
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if name.len() > 63 || !name.bytes().all(is_plain) {
            let message = "a bundle's name is at most 63 lower-case letters, digits and dashes";
            self.refuse(node.place, message);
            return;
        }
        if self.children.iter().any(|child| child.name == name) {
            self.refuse(node.place, &format!("the index has two bundles `{name}`"));
            return;
        }
        let mut requires = Vec::new();
        for item in self.list(node, "requires").unwrap_or_default() {
            let needed = self.text(item, "what is required");
            requires.extend(needed.map(|needed| (needed, item.place)));
        }
        self.children.push(Child {
            name,
            from,
            from_place,
            requires,
        });
    }

    /// A place in the index.
    pub(super) fn spot(&self, place: Place) -> Option<Spot> {
        Some(Spot::new(&self.source, place))
    }

    fn refuse(&mut self, place: Place, message: &str) {
        let spot = self.spot(place);
        let finding = Finding::new(RuleId::ManifestInvalid, message).with_label(spot, "");
        self.findings.push(finding);
    }

    fn text(&mut self, node: &Node, what: &str) -> Option<Arc<str>> {
        let text = node.value.as_str().filter(|text| !text.is_empty()).cloned();
        if text.is_none() {
            self.refuse(node.place, &format!("{what} is a text"));
        }
        text
    }

    /// The list under a key; null is none, and anything else is refused.
    fn list<'n>(&mut self, node: &'n Node, key: &str) -> Option<&'n [Node]> {
        let node = node.get_path(&[key]).filter(|it| !it.value.is_null())?;
        let list = node.value.as_list();
        if list.is_none() {
            self.refuse(node.place, &format!("`{key}` is a list"));
        }
        list
    }

    /// Refuses the keys that nobody reads: what they say would not count.
    fn expect_keys(&mut self, what: &str, node: &Node, known: &[&str]) {
        for entry in node.entries(&[]) {
            if known.contains(&&*entry.key) {
                continue;
            }
            let message = format!("{what} has no key `{}`", entry.key);
            let spot = self.spot(entry.key_place);
            let finding = Finding::new(RuleId::ManifestInvalid, message).with_label(spot, "");
            self.findings
                .push(finding.help(key_help(&entry.key, known)));
        }
    }
}
