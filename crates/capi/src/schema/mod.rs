//! Validates rendered objects against CustomResourceDefinitions, offline: reports what the API server would refuse or drop.
//!
//! An object is compared with the `openAPIV3Schema` of its group, version and kind. An unknown field is refused, since an API
//! server would drop it silently. Of formats only `int32` and `int64` are checked. Rules in CEL
//! (`x-kubernetes-validations`) are evaluated for built-in definitions. Webhooks are not called: they may refuse an object that is
//! valid here. Objects of an undefined kind are not checked.
//!
//! Files are parsed when an object of their kind is first checked: until then they are only searched for the two lines with group
//! and kind. The definitions of rendered kinds are built in, from their providers' newest releases; a definition in the user's
//! files replaces the built-in one of its kind.

mod cel;
mod compile;
mod validate;
mod values;

use std::collections::BTreeMap;
use std::io::Read;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use flate2::read::GzDecoder;
use memchr::memmem;
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Place, Source};
use yaml_tree::value::Node;

use compile::Schema;
pub use values::{Mismatch, ValuesSchema};

/// The definitions of the rendered kinds, each after the URL of its source. `tests/interop/schemas.py` writes the file.
const BUILT_IN: &[u8] = include_bytes!("builtin.yaml.gz");

/// Definitions by group and kind.
#[derive(Debug, Default)]
pub struct Schemas {
    definitions: BTreeMap<DefinedKind, Definition>,
}

/// A problem with an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The field, as `kubectl explain` names it: `spec.template.spec.image.url`.
    pub path: String,
    /// What is wrong with it, in one clause.
    pub message: String,
    /// The field's place in the object's text.
    pub place: Place,
    /// Whether it is an unknown field, which an API server drops.
    pub is_unknown: bool,
    /// Whether the definition is built in, so that the cluster's own may differ.
    pub is_built_in: bool,
}

/// The kind that a definition defines. The groups begin alike, so the kinds are compared first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DefinedKind {
    kind: String,
    group: String,
}

#[derive(Debug)]
struct Definition {
    source: Arc<Source>,
    range: Range<usize>,
    is_built_in: bool,
    versions: OnceLock<Versions>,
}

/// The schemas by version, or why the definition cannot be read.
type Versions = Result<BTreeMap<Arc<str>, Schema>, String>;

impl Schemas {
    /// The definitions in files; other objects in them are ignored. If two files define one kind, the later one applies.
    pub fn new(files: impl IntoIterator<Item = Arc<Source>>) -> Self {
        Self::from_files(files, false)
    }

    /// The built-in definitions, replaced by the user's own for the same kinds.
    pub fn builtin(own: Option<Self>) -> Self {
        // Its length ends the file (RFC 1952, section 2.3.1). So memory that is short is an error of the allocator, and not of the reader.
        let length = BUILT_IN.last_chunk().copied().map(u32::from_le_bytes);
        let mut text = String::with_capacity(length.unwrap_or(0) as usize + 64);
        let read = GzDecoder::new(BUILT_IN).read_to_string(&mut text);
        debug_assert!(read.is_ok(), "the file is our own");
        let mut all = Self::from_files([Arc::new(Source::new("built in", text))], true);
        all.definitions.extend(own.unwrap_or_default().definitions);
        all
    }

    fn from_files(files: impl IntoIterator<Item = Arc<Source>>, is_built_in: bool) -> Self {
        let mut definitions = BTreeMap::new();
        for source in files {
            for range in documents(&source.text) {
                if let Some(kind) = parse_kind(&source.text[range.clone()]) {
                    let definition = Definition {
                        source: Arc::clone(&source),
                        range,
                        is_built_in,
                        versions: OnceLock::new(),
                    };
                    definitions.insert(kind, definition);
                }
            }
        }
        Self { definitions }
    }

    /// The number of defined kinds.
    pub fn len(&self) -> usize {
        self.definitions.len()
    }

    /// Whether no kind is defined.
    pub fn is_empty(&self) -> bool {
        self.definitions.is_empty()
    }

    /// Whether some version of a kind requires a field in the map at a path; none where its definition, or the path in it, is not known.
    pub fn requires(&self, group: &str, kind: &str, path: &[&str], field: &str) -> Option<bool> {
        let defined = DefinedKind {
            group: group.to_owned(),
            kind: kind.to_owned(),
        };
        let definition = self.definitions.get(&defined)?;
        let versions = definition.versions.get_or_init(|| definition.read());
        let maps = versions.as_ref().ok()?.values().filter_map(|schema| {
            let mut path = path.iter();
            path.try_fold(schema, |schema, key| schema.properties.get(*key))
        });
        maps.map(|map| map.required.iter().any(|key| **key == *field))
            .max()
    }

    /// The problems of an object; none for an undefined kind.
    pub fn check(&self, object: &Node) -> Vec<Problem> {
        let text = |key| object.text(&[key]);
        let (Some(api_version), Some(kind)) = (text("apiVersion"), text("kind")) else {
            return Vec::new();
        };
        let Some((group, version)) = api_version.split_once('/') else {
            return Vec::new();
        };
        let defined = DefinedKind {
            group: group.to_owned(),
            kind: kind.to_string(),
        };
        let Some(definition) = self.definitions.get(&defined) else {
            return Vec::new();
        };
        let problems = match definition.versions.get_or_init(|| definition.read()) {
            // An older or newer release may have this version.
            Ok(versions) if definition.is_built_in && !versions.contains_key(version) => Vec::new(),
            Err(why) => vec![problem(
                "",
                format!("{}: {why}", definition.source.path),
                object,
            )],
            Ok(versions) => match versions.get(version) {
                Some(schema) => validate::object(schema, object, definition.is_built_in),
                None => {
                    let known: Vec<&str> = versions.keys().map(|version| &**version).collect();
                    let message = format!(
                        "{kind} has no version `{version}`, only {}",
                        known.join(", ")
                    );
                    vec![problem(
                        "apiVersion",
                        message,
                        object.get_path(&["apiVersion"]).unwrap_or(object),
                    )]
                }
            },
        };
        let of_built_in = |problem| Problem {
            is_built_in: definition.is_built_in,
            ..problem
        };
        problems.into_iter().map(of_built_in).collect()
    }
}

impl Definition {
    fn read(&self) -> Versions {
        let text = &self.source.text[self.range.clone()];
        let read =
            yaml_tree::read(text, FileId(0), Engine::Kubectl).map_err(|error| error.to_string())?;
        let definition = read.documents.first().ok_or("there is no definition")?;
        let versions = definition
            .get_path(&["spec", "versions"])
            .and_then(|node| node.value.as_list())
            .ok_or("the definition has no list `spec.versions`")?;
        let served = |version: &&Node| {
            let flag = version.get_path(&["served"]).map(|node| &node.value);
            flag != Some(&yaml_tree::value::Value::Bool(false))
        };
        versions
            .iter()
            .filter(served)
            .map(|version| {
                let name = version.text(&["name"]);
                let schema = version.get_path(&["schema", "openAPIV3Schema"]);
                let (Some(name), Some(schema)) = (name, schema) else {
                    return Err("a version has no name or no schema".to_owned());
                };
                Ok((Arc::from(name), compile::root(schema)?))
            })
            .collect()
    }
}

fn problem(path: &str, message: String, node: &Node) -> Problem {
    Problem {
        path: path.to_owned(),
        message,
        place: node.place,
        is_unknown: false,
        is_built_in: false,
    }
}

/// The documents of a file, split at lines that start with `---`.
fn documents(text: &str) -> Vec<Range<usize>> {
    let mut documents = Vec::new();
    let mut start = 0;
    let mut from = 0;
    while let Some(found) = memmem::find(&text.as_bytes()[from..], b"\n---") {
        let end = from + found + 1;
        documents.push(start..end);
        start = text[end..]
            .find('\n')
            .map_or(text.len(), |line| end + line + 1);
        from = start.max(end);
    }
    documents.push(start..text.len());
    documents
}

/// What a definition defines, from the first lines that contain them; another layout is parsed.
fn parse_kind(text: &str) -> Option<DefinedKind> {
    if !text.contains("CustomResourceDefinition") {
        return None;
    }
    let first = |key: &str| {
        let found = text.find(key)?;
        let line = text[found + key.len()..].lines().next()?;
        let value = line.trim().trim_matches(['"', '\'']);
        (!value.is_empty() && !value.contains([' ', '#'])).then(|| value.to_owned())
    };
    if let (Some(group), Some(kind)) = (first("\n  group: "), first("\n    kind: ")) {
        return Some(DefinedKind { group, kind });
    }
    let read = yaml_tree::read(text, FileId(0), Engine::Kubectl).ok()?;
    let definition = read.documents.first()?;
    let text = |path: &[&str]| Some(definition.get_path(path)?.value.as_str()?.to_string());
    if text(&["kind"])? != "CustomResourceDefinition" {
        return None;
    }
    Some(DefinedKind {
        group: text(&["spec", "group"])?,
        kind: text(&["spec", "names", "kind"])?,
    })
}
