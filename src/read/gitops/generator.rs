//! ConfigMap and Secret generators: from files, literals and env files, and how their objects merge with existing ones.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use capi::secrets::seal_value;
use yaml_tree::bytes::BASE64;
use yaml_tree::message::Message;
use yaml_tree::place::Place;
use yaml_tree::value::{Entry, Map, Node, Value};

use super::files::resolve_path;
use super::object::{Named, Object};
use super::reader::{LayerReader, Load};
use crate::read::error::ReadError;

/// The kinds of objects that generators create, with the fields of a kustomization that list them.
const KINDS: [(&str, &str); 2] = [
    ("ConfigMap", "configMapGenerator"),
    (SECRET, "secretGenerator"),
];

const SECRET: &str = "Secret";

/// Runs the generators of a kustomization in `folder`, and adds their objects to `objects`.
pub(super) fn generate_all(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    kustomization: &Node,
    objects: &mut Vec<Object>,
) -> Result<(), ReadError> {
    let mut known = Known::default();
    for (kind, field) in KINDS {
        for generator in kustomization.items(&[field]) {
            let object = generate(reader, folder, kind, generator, kustomization)?;
            known.add(reader, generator, object, objects)?;
        }
    }
    Ok(())
}

/// Runs a generator that is a file, if it is built in.
pub(super) fn generate_of_file(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    file: &Node,
    objects: &mut Vec<Object>,
) -> Result<bool, ReadError> {
    let named = file
        .text(&["kind"])
        .and_then(|kind| kind.strip_suffix("Generator"));
    let mut kinds = KINDS.into_iter().map(|(kind, _)| kind);
    let kind = kinds.find(|kind| named == Some(kind));
    let Some(kind) = kind.filter(|_| file.text(&["apiVersion"]) == Some("builtin")) else {
        return Ok(false);
    };
    let mut generator = file.clone();
    for field in ["name", "namespace"] {
        let of_file = file.get_path(&["metadata", field]);
        if let Some(node) = of_file.filter(|_| file.get_path(&[field]).is_none()) {
            generator
                .map_mut(&[])
                .insert(Entry::holding(field, node.clone()));
        }
    }
    let whole = Node::from_value(Value::empty_map());
    let object = generate(reader, folder, kind, &generator, &whole)?;
    Known::default().add(reader, &generator, object, objects)?;
    Ok(true)
}

/// Where the objects of each kind and name are, those that are noted.
#[derive(Default)]
struct Known {
    places: HashMap<(String, Named), Vec<usize>>,
    noted: usize,
}

impl Known {
    /// Adds what a generator makes to the objects.
    fn add(
        &mut self,
        reader: &LayerReader<'_>,
        generator: &Node,
        object: Object,
        objects: &mut Vec<Object>,
    ) -> Result<(), ReadError> {
        let behavior = generator.text(&["behavior"]).unwrap_or("create");
        self.note(objects);
        let joined = join(objects, self, object, behavior);
        joined.map_err(|message| reader.refusal(message, generator.place))
    }

    /// Notes the objects behind those that are noted.
    fn note(&mut self, objects: &[Object]) {
        for (index, object) in objects.iter().enumerate().skip(self.noted) {
            for name in object.names() {
                let places = self.places.entry((object.kind().to_owned(), name));
                let places = places.or_default();
                if places.last() != Some(&index) {
                    places.push(index);
                }
            }
        }
        self.noted = objects.len();
    }

    /// The objects that may be this one, in their order.
    fn like(&self, object: &Object) -> &[usize] {
        let found = self
            .places
            .get(&(object.kind().to_owned(), object.current()));
        found.map_or(&[], Vec::as_slice)
    }
}

/// Runs one generator of the kustomization `whole`, and returns its object.
fn generate(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    kind: &'static str,
    generator: &Node,
    whole: &Node,
) -> Result<Object, ReadError> {
    let Some(name) = generator.text(&["name"]) else {
        return Err(reader.refusal("a generator lacks its `name`", generator.place));
    };
    let mut tree = Node::new(Value::empty_map(), generator.place);
    tree.set(&["apiVersion"], "v1");
    tree.set(&["kind"], kind);
    tree.set(&["metadata", "name"], name);
    if kind == SECRET {
        let secret_type = generator.text(&["type"]).unwrap_or("Opaque");
        tree.set(&["type"], secret_type);
    }
    if let Some(namespace) = generator.text(&["namespace"]) {
        tree.set(&["metadata", "namespace"], namespace);
    }
    let is_on = |option: &str| {
        generator.flag(&["options", option]) || whole.flag(&["generatorOptions", option])
    };
    for field in ["labels", "annotations"] {
        let of_all = whole.entries(&["generatorOptions", field]);
        for entry in of_all.chain(generator.entries(&["options", field])) {
            let path = ["metadata", field, &entry.key];
            tree.set(&path, entry.node.value.clone());
        }
    }
    if is_on("immutable") {
        tree.set(&["immutable"], true);
    }
    let mut data = Data {
        kind,
        entries: Vec::new(),
        known: HashSet::new(),
        binary: Map::default(),
    };
    data.env_files(reader, folder, generator)?;
    data.literals(reader, generator)?;
    data.files(reader, folder, generator)?;
    let entries: Map = data.entries.into_iter().collect();
    for (field, map) in [("data", entries), ("binaryData", data.binary)] {
        // Kustomize prints `data: {}` for a Secret without data.
        if !map.is_empty() || (kind == SECRET && field == "data") {
            tree.set(&[field], map);
        }
    }
    let mut object = Object::new(tree);
    object.is_hashed = !is_on("disableNameSuffixHash");
    Ok(object)
}

/// Adds an object, or merges it with or replaces the existing one, according to its behavior.
fn join(
    objects: &mut Vec<Object>,
    known: &Known,
    mut object: Object,
    behavior: &str,
) -> Result<(), String> {
    let like = known.like(&object).iter().copied();
    let mut matches = like.filter(|index| objects[*index].is_same_as(&object));
    let (found, more) = (matches.next(), matches.next());
    let shown = format!("{} `{}`", object.kind(), object.name());
    match (found, more, behavior) {
        (_, Some(_), _) => Err(format!("several objects are {shown}")),
        (None, _, "merge" | "replace") => Err(format!(
            "there is no {shown} that `behavior: {behavior}` could change"
        )),
        (None, ..) => {
            objects.push(object);
            Ok(())
        }
        (Some(index), _, "merge" | "replace") => {
            let old = &objects[index];
            object.take_names_of(old);
            if behavior == "merge" {
                for field in ["data", "binaryData"] {
                    merge_data(&mut object.tree, &old.tree, field);
                }
            }
            for field in ["labels", "annotations"] {
                merge_marks(&mut object.tree, &old.tree, field);
            }
            objects[index] = object;
            Ok(())
        }
        (Some(_), ..) => Err(format!(
            "{shown} is there already: its `behavior` must be `merge` or `replace`"
        )),
    }
}

/// Adds the old entries that the new object does not have.
fn merge_data(new: &mut Node, old: &Node, field: &str) {
    let Some(old) = old.get_path(&[field]).and_then(|node| node.value.as_map()) else {
        return;
    };
    let data = new.map_mut(&[field]);
    for entry in old.iter() {
        data.get_or_insert(entry.clone());
    }
}

fn merge_marks(new: &mut Node, old: &Node, field: &str) {
    for entry in old.entries(&["metadata", field]) {
        if new.get_path(&["metadata", field, &entry.key]).is_none() {
            let value = entry.node.value.clone();
            new.set(&["metadata", field, &entry.key], value);
        }
    }
}

/// The data of an object while its generator runs.
struct Data {
    kind: &'static str,
    entries: Vec<Entry>,
    /// Their keys.
    known: HashSet<Arc<str>>,
    binary: Map,
}

impl Data {
    fn add(
        &mut self,
        reader: &LayerReader<'_>,
        key: &str,
        value: Value,
        place: Place,
    ) -> Result<(), ReadError> {
        let node = Node { value, place };
        let key: Arc<str> = key.into();
        if !self.known.insert(Arc::clone(&key)) {
            return Err(reader.refusal(format!("the key `{key}` is generated twice"), place));
        }
        self.entries.push(Entry {
            key,
            key_place: place,
            node,
        });
        Ok(())
    }

    /// A value as the object holds it, with the place of its text.
    fn value(&self, reader: &LayerReader<'_>, key: &str, text: &str, place: Place) -> Value {
        let source = reader.source(place.file);
        let is_secret = source.hides(place.start..place.end);
        if self.kind != SECRET && !is_secret {
            return text.into();
        }
        match seal_value(text, &source.path, key) {
            Value::String(text) if self.kind == SECRET => encode_base64(text.as_bytes()).into(),
            sealed => sealed,
        }
    }

    fn files(
        &mut self,
        reader: &mut LayerReader<'_>,
        folder: &Path,
        generator: &Node,
    ) -> Result<(), ReadError> {
        for item in generator.items(&["files"]) {
            let named = reader.path_text(item)?;
            let (key, path) = named
                .split_once('=')
                .unwrap_or_else(|| (named.rsplit('/').next().unwrap_or_default(), named));
            if key.is_empty() || path.is_empty() {
                let say = |named: &str| format!("`{named}` is neither a path nor `key=path`");
                return Err(no_file(reader, Message::quoting(named, say), item.place));
            }
            let Some(load) = open(reader, folder, path, item.place)? else {
                self.add(reader, key, "".into(), Place::NONE)?;
                continue;
            };
            let source = reader.source(load.file);
            let place = Place::whole(load.file, &source.text);
            if load.is_text {
                let whole = (load.file, self.kind == SECRET);
                let value = match reader.generated.get(&whole) {
                    Some(known) => known.clone(),
                    None => self.value(reader, key, &source.text, place),
                };
                reader.generated.insert(whole, value.clone());
                self.add(reader, key, value, place)?;
            } else {
                self.binary.insert(Entry::from_value(key, ""));
            }
        }
        Ok(())
    }

    fn literals(&mut self, reader: &LayerReader<'_>, generator: &Node) -> Result<(), ReadError> {
        for item in generator.items(&["literals"]) {
            let Some(literal) = item.value.text_with_labels() else {
                continue;
            };
            let Some((key, value)) = literal.split_once('=').filter(|(key, _)| !key.is_empty())
            else {
                return Err(reader.refusal("a literal is `key=value`", item.place));
            };
            let value = unquote(value);
            let start = value.as_ptr().addr() - literal.as_ptr().addr();
            let source = reader.source(item.place.file);
            let place = yaml_tree::locate(
                &source.text,
                item.place,
                literal,
                start..start + value.len(),
            );
            let value = self.value(reader, key, value, place);
            self.add(reader, key, value, place)?;
        }
        Ok(())
    }

    fn env_files(
        &mut self,
        reader: &mut LayerReader<'_>,
        folder: &Path,
        generator: &Node,
    ) -> Result<(), ReadError> {
        let one = generator.get_path(&["env"]);
        for item in generator.items(&["envs"]).iter().chain(one) {
            let Some(path) = item.value.as_str() else {
                continue;
            };
            let Some(Load { file, .. }) = open(reader, folder, path, item.place)? else {
                continue;
            };
            let source = reader.source(file);
            for line in source.text.lines() {
                let line = line.trim_start();
                if line.is_empty() || line.starts_with('#') {
                    continue;
                }
                let start = line.as_ptr().addr() - source.text.as_ptr().addr();
                let place = Place::new(file, start..start + line.len());
                let Some((key, value)) = line.split_once('=') else {
                    // Not the line itself: it may be one of a secret that goes over several.
                    let message =
                        "a line without `=` takes its value from the environment of the build";
                    return Err(reader.refusal(message, place));
                };
                let value = self.value(reader, key, value, place);
                self.add(reader, key, value, place)?;
            }
        }
        Ok(())
    }
}

/// The file that a generator names; none if metalmark has not rendered it yet.
fn open(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    path: &str,
    place: Place,
) -> Result<Option<Load>, ReadError> {
    let Some(file) = resolve_path(folder, path) else {
        let say = |path: &str| format!("`{path}` lies outside of the repository");
        return Err(no_file(reader, Message::quoting(path, say), place));
    };
    match reader.open(&file)? {
        Some(load) => Ok(Some(load)),
        None if reader.is_own_object(&file, place)? => Ok(None),
        None => {
            let say = |path: &str| format!("there is no file `{path}`");
            Err(no_file(reader, Message::quoting(path, say), place))
        }
    }
}

/// The error for an item that names no file; it quotes nothing of one that may be a secret.
fn no_file(reader: &LayerReader<'_>, message: Message, place: Place) -> ReadError {
    let is_secret = reader.source(place.file).hides(place.start..place.end);
    let message = if is_secret { message.seal() } else { message };
    reader.refusal(message, place)
}

/// A literal's value without the quotes around it.
fn unquote(value: &str) -> &str {
    let inner = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    { ['"', '\''].into_iter() }.find_map(inner).unwrap_or(value)
}

/// Encodes bytes, in lines of 70 characters if there is more than one.
fn encode_base64(bytes: &[u8]) -> String {
    let text = BASE64.encode(bytes);
    if text.len() < LINE {
        return text;
    }
    let mut lines = String::with_capacity(text.len() + text.len() / LINE + 1);
    let mut rest = &*text;
    while !rest.is_empty() {
        let (line, behind) = rest.split_at(LINE.min(rest.len()));
        lines.extend([line, "\n"]);
        rest = behind;
    }
    lines
}

const LINE: usize = 70;

#[cfg(test)]
mod tests {
    use super::encode_base64;

    #[test]
    fn examples_of_the_standard_are_encoded() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode_base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn a_long_text_has_lines() {
        let lines = [
            "YWFh".repeat(17) + "YW",
            "FhYWFhYWFh".to_owned(),
            String::new(),
        ];
        assert_eq!(encode_base64(&[b'a'; 60]), lines.join("\n"));
    }
}
