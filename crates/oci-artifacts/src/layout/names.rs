//! The names of a layout's artifacts, and how references resolve to them.
//!
//! `skopeo` writes the `registry/repository:tag` that the user passes, other tools `repository:tag`, most the bare tag. A bare
//! tag does not include the repository: it matches only if the layout names no other repository.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::{Descriptor, Reference, RegistryName, SCHEME};

/// The annotation that names an artifact (image-spec, annotations.md).
pub(super) const NAME: &str = "org.opencontainers.image.ref.name";

/// The annotation in which `docker save` and BuildKit write the full name; their [`NAME`] is the bare tag.
const CONTAINERD_NAME: &str = "io.containerd.image.name";

/// The most names in a help text.
const LISTED: usize = 5;

/// The names of a layout.
pub(super) struct Names {
    /// The entries of each name, as indexes into the index; several only if their digests differ.
    entries: BTreeMap<String, Vec<usize>>,
    /// The repositories in names, with a registry if they have one.
    repositories: BTreeSet<String>,
}

/// The result of looking up a name.
pub(super) struct Found<'n> {
    /// The name, as in references.
    pub(super) name: &'n str,
    /// The entries with this name.
    pub(super) entries: &'n [usize],
    /// Whether it is only a tag.
    pub(super) is_bare: bool,
}

/// The name of an entry of the index, without scheme, in the normal form of references.
pub(super) fn name_of(entry: &Descriptor) -> Option<Cow<'_, str>> {
    let annotation = |key: &str| entry.annotations.get(key).map(String::as_str);
    let name = match (annotation(NAME), annotation(CONTAINERD_NAME)) {
        (Some(name), Some(whole)) if !name.contains([':', '/']) => whole,
        (name, whole) => name.or(whole)?,
    };
    let name = name.strip_prefix(SCHEME).unwrap_or(name);
    (!name.is_empty()).then(|| normal(name))
}

impl Names {
    /// The names of the entries of an index.
    pub(super) fn new(index: &[Descriptor]) -> Self {
        let mut entries: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut repositories = BTreeSet::new();
        for (place, entry) in index.iter().enumerate() {
            let Some(name) = name_of(entry) else { continue };
            let places = entries.entry(name.clone().into_owned()).or_default();
            if places
                .iter()
                .all(|other| index[*other].digest != entry.digest)
            {
                places.push(place);
            }
            if let Some((repository, _)) = split(&name) {
                repositories.insert(repository.to_owned());
            }
        }
        Self {
            entries,
            repositories,
        }
    }

    /// All names, sorted.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// The entries for a repository and tag: by the full name, without the registry, or by the tag only.
    pub(super) fn find(&self, reference: &Reference, tag: &str) -> Option<Found<'_>> {
        let get = |name: &str, is_bare| {
            let (name, entries) = self.entries.get_key_value(name)?;
            Some(Found {
                name,
                entries,
                is_bare,
            })
        };
        get(&format!("{}:{tag}", reference.name()), false)
            .or_else(|| get(&format!("{}:{tag}", reference.repository), false))
            .or_else(|| {
                if self.has_only(reference) {
                    get(tag, self.repositories.is_empty())
                } else {
                    None
                }
            })
    }

    /// The tags of the repository of a reference, sorted.
    pub(super) fn tags(&self, of: &Reference) -> Vec<String> {
        let has_only = self.has_only(of);
        let tag = |name: &str| match split(name) {
            Some((repository, tag)) => is_of(repository, of).then(|| tag.to_owned()),
            None => has_only.then(|| name.to_owned()),
        };
        let tags: BTreeSet<String> = self.all().filter_map(tag).collect();
        tags.into_iter().collect()
    }

    /// The repositories of a registry, and those without a registry; sorted.
    pub(super) fn repositories(&self, registry: &RegistryName) -> Vec<String> {
        let within = |repository: &String| match repository.split_once('/') {
            Some((host, rest)) if host == registry.as_str() => Some(rest.to_owned()),
            Some((host, _)) if is_host(host) => None,
            _ => Some(repository.clone()),
        };
        let found: BTreeSet<String> = self.repositories.iter().filter_map(within).collect();
        found.into_iter().collect()
    }

    /// The help for an unknown name: the tags of the repository, else all names.
    pub(super) fn advise(&self, requested: &Reference, tag: &str) -> String {
        let tags = self.tags(requested);
        if !tags.is_empty() {
            return format!("of `{}` it has {}", requested.repository, list_names(&tags));
        }
        let all: Vec<String> = self.all().map(str::to_owned).collect();
        if all.is_empty() {
            format!(
                "name its artifacts in index.json, by the annotation `{NAME}`: `{}:{}`",
                requested.name(),
                if tag.is_empty() { "TAG" } else { tag }
            )
        } else {
            format!("it has {}", list_names(&all))
        }
    }

    /// Whether all names are of this repository or bare tags.
    fn has_only(&self, reference: &Reference) -> bool {
        self.repositories.iter().all(|name| is_of(name, reference))
    }
}

/// A name in the normal form of references, if it starts with a registry; a tag as registries spell it.
pub(super) fn normal(name: &str) -> Cow<'_, str> {
    let reference = Reference::parse(name).ok();
    match (name.split_once('/'), reference) {
        (Some((host, _)), Some(reference)) if is_host(host) => {
            let whole = reference.to_string();
            Cow::Owned(whole.strip_prefix(SCHEME).unwrap_or(&whole).to_owned())
        }
        _ if name.contains('+') => Cow::Owned(name.replace('+', "_")),
        _ => Cow::Borrowed(name),
    }
}

fn is_of(repository: &str, reference: &Reference) -> bool {
    *repository == *reference.repository || repository == reference.name()
}

/// Repository and tag of a name; none for a bare tag or a name with a digest.
fn split(name: &str) -> Option<(&str, &str)> {
    let slash = name.rfind('/').map_or(0, |slash| slash + 1);
    let colon = slash + name[slash..].find(':')?;
    (!name.contains('@')).then(|| (&name[..colon], &name[colon + 1..]))
}

/// Whether the first part of a name is a registry, by the rule of container tools.
fn is_host(part: &str) -> bool {
    part == "localhost" || part.contains(['.', ':'])
}

/// `a`, `b` and 3 more
fn list_names(names: &[String]) -> String {
    let shown: Vec<String> = names
        .iter()
        .take(LISTED)
        .map(|name| format!("`{name}`"))
        .collect();
    let rest = names.len() - shown.len();
    match rest {
        0 => shown.join(", "),
        _ => format!("{} and {rest} more", shown.join(", ")),
    }
}
