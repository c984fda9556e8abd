//! What overlays do to names: namespace, prefix, suffix, the hash of a generated object, and the references that follow.

use std::sync::Arc;

use crate::model::value::Node;

use super::object::{Object, items, text};

/// Kinds whose name a prefix or suffix leaves alone.
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
    for object in objects.iter_mut().filter(|object| !UNNAMED.contains(&object.kind())) {
        let name = [prefix, Some(object.name()), suffix].map(Option::unwrap_or_default).concat();
        object.rename("name", &name);
    }
}

/// That a HelmRelease's `valuesFrom` names objects of a kind, as a file under `configurations` says.
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
                    && text(spec, &["path"]).is_some_and(|path| path.trim_matches('/') == "spec/valuesFrom/name")
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

/// The object that a HelmRelease's reference leads to.
pub(super) enum Referred<'o> {
    /// This one.
    Object(&'o Object),
    /// None: the object of this name gets another one, and the reference does not follow it.
    Renamed(&'o Object),
    /// None.
    Nothing,
}

/// Finds what `kind` `name` means to an object in `namespace`.
pub(super) fn referred<'o>(
    objects: &'o [Object],
    references: &[Reference],
    release: &Object,
    kind: &str,
    name: &str,
) -> Referred<'o> {
    let namespace: Arc<str> = release.current().namespace;
    let of_kind = || {
        objects
            .iter()
            .filter(|object| object.kind() == kind && object.group().is_empty())
            .filter(|object| object.current().namespace == namespace)
    };
    let follows = references.iter().any(|reference| reference.kind() == kind);
    let before = || of_kind().find(|object| object.names().any(|named| *named.name == *name));
    if follows && let Some(object) = before() {
        return Referred::Object(object);
    }
    if let Some(object) = of_kind().find(|object| object.name() == name && !object.is_hashed) {
        return Referred::Object(object);
    }
    before().map_or(Referred::Nothing, Referred::Renamed)
}

