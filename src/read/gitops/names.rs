//! Changes of names by overlays: namespace, prefix, suffix, the hash of a generated object, and the updated references.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::model::place::Place;
use crate::model::value::{Map, Node};

use super::object::{Object, items, text};
use super::set::{self, Step};

/// Kinds whose names get no prefix or suffix.
const UNNAMED: &[&str] = &["Namespace", "CustomResourceDefinition", "APIService"];

/// Applies a kustomization's `namespace`, `namePrefix` and `nameSuffix`.
pub(super) fn rename(kustomization: &Node, objects: &mut [Object]) {
    let field = |name: &str| text(kustomization, &[name]).filter(|text| !text.is_empty());
    if let Some(namespace) = field("namespace") {
        for object in objects.iter_mut() {
            match object.kind() {
                "Namespace" => object.rename("name", namespace),
                _ => object.rename("namespace", namespace),
            }
        }
    }
    let (prefix, suffix) = (field("namePrefix"), field("nameSuffix"));
    if prefix.is_none() && suffix.is_none() {
        return;
    }
    for object in objects
        .iter_mut()
        .filter(|object| !UNNAMED.contains(&object.kind()))
    {
        let name = [prefix, Some(object.name()), suffix]
            .map(Option::unwrap_or_default)
            .concat();
        object.rename("name", &name);
    }
}

/// A `configurations` file's declaration that a HelmRelease's `valuesFrom` refers to objects of a kind by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    ConfigMap,
    Secret,
}

impl Reference {
    /// The references of a `configurations` file.
    pub(super) fn of(configuration: &Node) -> Vec<Self> {
        let mut found = Vec::new();
        for reference in items(configuration, &["nameReference"]) {
            let kind = match text(reference, &["kind"]) {
                Some("ConfigMap") => Self::ConfigMap,
                Some("Secret") => Self::Secret,
                _ => continue,
            };
            let is_release = |spec: &Node| {
                text(spec, &["kind"]).is_none_or(|kind| kind == "HelmRelease")
                    && text(spec, &["path"])
                        .is_some_and(|path| path.trim_matches('/') == "spec/valuesFrom/name")
            };
            if items(reference, &["fieldSpecs"]).iter().any(is_release) {
                found.push(kind);
            }
        }
        found
    }

    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
        }
    }
}

/// The number of references by name in HelmReleases.
pub(super) fn count_references(objects: &[Object]) -> usize {
    let releases = objects
        .iter()
        .filter(|object| object.kind() == "HelmRelease");
    releases
        .map(|release| items(&release.tree, &["spec", "valuesFrom"]).len())
        .sum()
}

/// Completes a build: generated names get the hash of their content, and references are updated.
pub(super) fn finish(objects: &mut [Object], references: &[Reference]) {
    for object in objects.iter_mut().filter(|object| object.is_hashed) {
        let name = format!("{}-{}", object.name(), hash(object));
        object.rename("name", &name);
    }
    let mut followed = Vec::new();
    for (at, release) in objects
        .iter()
        .enumerate()
        .filter(|(_, object)| object.kind() == "HelmRelease")
    {
        for (index, item) in items(&release.tree, &["spec", "valuesFrom"])
            .iter()
            .enumerate()
        {
            let kind = text(item, &["kind"]).unwrap_or_default();
            let name = text(item, &["name"]).unwrap_or_default();
            let target = by_any_name(objects, release, kind, name);
            if let Some(target) = target.filter(|_| references.iter().any(|one| one.kind() == kind))
            {
                followed.push((at, index, target.name().to_owned()));
            }
        }
    }
    for (at, index, name) in followed {
        let valid = vec![
            Step::Key("spec".into()),
            Step::Key("valuesFrom".into()),
            Step::Index(index),
            Step::Key("name".into()),
        ];
        let path = ["spec", "valuesFrom"];
        let item = items(&objects[at].tree, &path)
            .get(index)
            .and_then(|item| item.at(&["name"]));
        let place = item.map_or(Place::NONE, |node| node.place);
        // The path exists: it was found above.
        let _ = set::assign(
            &mut objects[at].tree,
            &valid,
            &Node {
                value: name.into(),
                place,
            },
        );
    }
}

/// The hash of a generated object in kustomize's form: SHA-256 of its content as JSON, without its name, in a code without
/// vowels.
fn hash(object: &Object) -> String {
    let mut fields = vec![("kind", quoted(object.kind())), ("name", quoted(""))];
    for field in ["data", "binaryData", "stringData"] {
        match object
            .tree
            .at(&[field])
            .and_then(|node| node.value.as_map())
        {
            Some(map) => fields.push((field, json(map))),
            None if field == "data" => fields.push((field, quoted(""))),
            None => {}
        }
    }
    if object.kind() == "Secret" {
        fields.push((
            "type",
            quoted(text(&object.tree, &["type"]).unwrap_or_default()),
        ));
    }
    fields.sort_unstable();
    let fields: Vec<String> = fields
        .into_iter()
        .map(|(key, value)| format!("\"{key}\":{value}"))
        .collect();
    let digest = Sha256::digest(format!("{{{}}}", fields.join(",")));
    let mut digits = String::new();
    for byte in digest.iter().take(5) {
        let _ = write!(digits, "{byte:02x}");
    }
    let spelled = |digit| match digit {
        '0' => 'g',
        '1' => 'h',
        '3' => 'k',
        'a' => 'm',
        'e' => 't',
        other => other,
    };
    digits.chars().map(spelled).collect()
}

fn json(map: &Map) -> String {
    let entries: Vec<String> = map
        .iter()
        .map(|entry| {
            let value = entry
                .node
                .value
                .as_str()
                .map_or("null".to_owned(), |text| quoted(text));
            format!("{}:{value}", quoted(&entry.key))
        })
        .collect();
    format!("{{{}}}", entries.join(","))
}

/// A string in JSON as Go writes it, with HTML characters escaped.
fn quoted(text: &str) -> String {
    let plain = serde_json::Value::from(text).to_string();
    let mut safe = String::with_capacity(plain.len());
    for character in plain.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(safe, "\\u{:04x}", u32::from(character));
            }
            other => safe.push(other),
        }
    }
    safe
}

/// The object that a HelmRelease's reference leads to.
pub(super) enum Referred<'o> {
    /// It exists.
    Object(&'o Object),
    /// The object with this name was renamed, and the reference was not updated.
    Renamed(&'o Object),
    /// There is none.
    Nothing,
}

/// Resolves a reference of a release by kind and name.
pub(super) fn referred<'o>(
    objects: &'o [Object],
    release: &'o Object,
    kind: &'o str,
    name: &str,
) -> Referred<'o> {
    if let Some(object) = candidates(objects, release, kind).find(|object| object.name() == name) {
        return Referred::Object(object);
    }
    by_any_name(objects, release, kind, name).map_or(Referred::Nothing, Referred::Renamed)
}

/// The object with this name now or before.
fn by_any_name<'o>(
    objects: &'o [Object],
    release: &'o Object,
    kind: &'o str,
    name: &str,
) -> Option<&'o Object> {
    candidates(objects, release, kind)
        .find(|object| object.names().any(|named| *named.name == *name))
}

/// The objects of a kind in the release's namespace, and those without one, whose namespace is set when they are applied.
fn candidates<'o>(
    objects: &'o [Object],
    release: &'o Object,
    kind: &'o str,
) -> impl Iterator<Item = &'o Object> {
    objects.iter().filter(move |object| {
        let (one, other) = (object.namespace(), release.namespace());
        let meet = one == other || one.is_empty() || other.is_empty();
        object.kind() == kind && object.group().is_empty() && meet
    })
}
