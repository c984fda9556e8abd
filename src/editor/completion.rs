//! What fits where one types: images by the version that a pool runs, facts of the catalog, keys of the project file.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use lsp_types::{CompletionItem, CompletionItemKind, CompletionTextEdit, Documentation, TextEdit};
use serde_json::Value;

use capi::image::{Image, fact};
use oci_artifacts::Reference;

use crate::decide::proof;
use crate::error::Error;
use crate::model::cluster::{KEY_NAMES, PoolName};
use crate::model::cluster_view::ClusterView;
use crate::model::judgment::Judgment;
use crate::model::rule::RuleId;
use crate::printer::plain;
use crate::read;
use crate::rules::rule;

use super::answers::Answers;
use super::cursor::{Cursor, Slot, cursor};
use super::position::Lines;

/// The key of a selector.
pub(super) const SELECTOR: &str = "os_image_selector";

/// The key of a catalog's entry that names its registry.
const REGISTRY: &str = "os_images_oci_registry";

const VALUE: CompletionItemKind = CompletionItemKind::VALUE;

/// A candidate.
struct Candidate {
    text: String,
    detail: String,
    about: Option<String>,
    kind: CompletionItemKind,
    /// The lower, the earlier.
    rank: u8,
}

impl Answers<'_> {
    /// What fits at a byte.
    ///
    /// # Errors
    /// A file cannot be read any more.
    pub(super) fn completion(&self, offset: usize) -> Result<Vec<CompletionItem>, Error> {
        let Some(cursor) = cursor(self.text, offset) else {
            return Ok(Vec::new());
        };
        let candidates = match self.is_project_file() {
            true if names_registries(&cursor) => self.registry_prefixes()?,
            true => project_file_candidates(&cursor),
            false => self.value_candidates(&cursor)?,
        };
        let range = Lines::new(self.text, self.encoding).range(cursor.word);
        let item = |candidate: Candidate| CompletionItem {
            sort_text: Some(format!("{}{}", candidate.rank, candidate.text)),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit {
                range,
                new_text: candidate.text.clone(),
            })),
            label: candidate.text,
            kind: Some(candidate.kind),
            detail: Some(candidate.detail).filter(|detail| !detail.is_empty()),
            documentation: candidate.about.map(Documentation::String),
            ..CompletionItem::default()
        };
        // A name that would be shown in another way is a secret, or hostile.
        let is_plain = |candidate: &Candidate| plain(&candidate.text) == candidate.text;
        Ok(candidates.into_iter().filter(is_plain).map(item).collect())
    }

    /// Whether the document is the project file.
    pub(super) fn is_project_file(&self) -> bool {
        self.path.as_os_str() == crate::read::PROJECT_FILE_NAME
    }

    fn value_candidates(&self, cursor: &Cursor) -> Result<Vec<Candidate>, Error> {
        let last = cursor.keys.last().map_or("", String::as_str);
        let parent = cursor.keys.iter().rev().nth(1).map_or("", String::as_str);
        let is_value = cursor.slot == Slot::Value;
        let is_known = KEY_NAMES.contains(&last)
            || ["k8s_version", REGISTRY].contains(&last)
            || parent == SELECTOR;
        if !(is_value && is_known || !is_value && last == SELECTOR) {
            return Ok(Vec::new());
        }
        let Some(view) = self.view(self.cluster())? else {
            return Ok(Vec::new());
        };
        Ok(match (is_value, parent) {
            (false, _) => facts(&view),
            (true, SELECTOR) if last == "oci-image-registry-key" => registries(&view),
            (true, SELECTOR) => fact_values(&view, last),
            (true, _) if last == REGISTRY => registries(&view),
            (true, _) if last == "k8s_version" => versions(&view),
            (true, _) => self.images(&view, &cursor.keys),
        })
    }

    /// The registries of the first cluster's catalog, with their folders: what the prefixes of the project file match.
    fn registry_prefixes(&self) -> Result<Vec<Candidate>, Error> {
        let Some(view) = self.view(0)? else {
            return Ok(Vec::new());
        };
        let uris = view.images.values().filter_map(|image| image.uri.as_ref());
        let references = uris.filter_map(|uri| Reference::parse(&uri.value).ok());
        let mut prefixes = BTreeSet::new();
        for Reference {
            registry,
            repository,
            ..
        } in references
        {
            let ends = repository.match_indices('/').map(|(end, _)| end);
            let folders = ends.map(|end| format!("{registry}/{}", &repository[..end]));
            prefixes.extend(folders);
            prefixes.insert(registry.to_string());
        }
        let prefixes = prefixes.iter();
        let candidate = |prefix: &String| word(prefix, "images of the catalog", VALUE);
        Ok(prefixes.map(candidate).collect())
    }

    /// The images, those that hold the version of the pool first.
    fn images(&self, view: &ClusterView, keys: &[String]) -> Vec<Candidate> {
        let wanted = pool_version(view, keys);
        let matching = self.analysis.workspace().settings.matching;
        let candidate = |image: &Image| {
            let held = image.facts.get(fact::K8S_VERSION);
            let judged = wanted.map(|wanted| proof::judge_version(wanted, held, matching));
            let (rank, verdict) = match judged {
                Some(Judgment::Proven(_)) => (0, ", fits"),
                Some(Judgment::ByName(_)) => (1, ", fits by its name"),
                Some(Judgment::Mismatched(_) | Judgment::Disputed { .. }) => (3, ", does not fit"),
                _ => (2, ""),
            };
            let version = match (image.facts.is_bare(), held) {
                (true, _) => "without Kubernetes".to_owned(),
                (_, None) => "Kubernetes is not known".to_owned(),
                (_, Some(held)) => {
                    format!("Kubernetes {}", held.value)
                }
            };
            Candidate {
                text: image.key.to_string(),
                detail: format!("{version}{verdict}"),
                about: None,
                kind: VALUE,
                rank,
            }
        };
        view.images.values().map(candidate).collect()
    }
}

/// The Kubernetes version of the pool that these keys are of.
fn pool_version<'v>(view: &'v ClusterView, keys: &[String]) -> Option<&'v str> {
    let cluster = &view.cluster;
    let level: Vec<&str> = keys.iter().skip(1).map(String::as_str).collect();
    let name = match &*level {
        ["control_plane", ..] => Some(PoolName::ControlPlane),
        ["machine_deployments", name, ..] => Some(PoolName::MachineDeployment((*name).into())),
        _ => None,
    };
    let mut pools = cluster.pools.iter();
    let pool = name.and_then(|name| pools.find(|pool| pool.name == name));
    let version = pool.and_then(|pool| cluster.k8s_version_of(pool));
    let version = version.or(cluster.k8s_version.as_ref())?;
    Some(&*version.value)
}

/// Whether the keys that are typed are the prefixes of registries.
fn names_registries(cursor: &Cursor) -> bool {
    let keys: Vec<&str> = cursor.keys.iter().map(String::as_str).collect();
    let is_map = matches!(&*keys, ["registries", "mirrors"] | ["policy", "signatures"]);
    cursor.slot == Slot::Key && is_map
}

/// The registries of the catalog, by name.
fn registries(view: &ClusterView) -> Vec<Candidate> {
    let names = view.registries.keys();
    names.map(|name| word(name, "a registry", VALUE)).collect()
}

/// The facts that images of the catalog have.
fn facts(view: &ClusterView) -> Vec<Candidate> {
    let images = view.images.values();
    let names: BTreeSet<&str> = images
        .flat_map(|image| image.facts.iter().map(|(name, _)| &**name))
        .filter(|name| !name.starts_with(fact::LOCATIONS))
        .collect();
    let names = names.into_iter();
    names
        .map(|name| word(name, "a fact of images", CompletionItemKind::PROPERTY))
        .collect()
}

/// The values of a fact, as patterns that match them.
fn fact_values(view: &ClusterView, name: &str) -> Vec<Candidate> {
    let images = view
        .images
        .values()
        .filter_map(|image| image.facts.get(name));
    let shown = |fact| {
        let fact: &capi::image::Fact = fact;
        &*fact.value
    };
    let values: BTreeSet<&str> = images.map(shown).collect();
    let values = values.into_iter();
    // A build's plus would repeat the character before it.
    let pattern = |value: &str| value.replace('+', "[+]");
    values
        .map(|value| word(&pattern(value), value, VALUE))
        .collect()
}

/// The Kubernetes versions that images hold.
fn versions(view: &ClusterView) -> Vec<Candidate> {
    let found = fact_values(view, fact::K8S_VERSION).into_iter();
    let version = |candidate: Candidate| Candidate {
        text: format!("v{}", candidate.detail),
        detail: "the catalog has an image".to_owned(),
        ..candidate
    };
    found.map(version).collect()
}

fn project_file_candidates(cursor: &Cursor) -> Vec<Candidate> {
    let of_schema = |suggestion: Suggestion<'_>| Candidate {
        about: suggestion.about.map(str::to_owned),
        ..word(suggestion.name, "", CompletionItemKind::PROPERTY)
    };
    match (cursor.slot, cursor.keys.last().map(String::as_str)) {
        (Slot::Key, _) => schema_keys(&cursor.keys)
            .into_iter()
            .map(of_schema)
            .collect(),
        (Slot::Value, Some("rule")) => {
            let rules = RuleId::ALL.iter();
            let name = |id: &RuleId| word(id.as_str(), rule(*id).summary(), VALUE);
            rules.map(name).collect()
        }
        (Slot::Value, _) => schema_words(&cursor.keys)
            .into_iter()
            .map(of_schema)
            .collect(),
    }
}

fn word(text: &str, detail: &str, kind: CompletionItemKind) -> Candidate {
    Candidate {
        text: text.to_owned(),
        detail: detail.to_owned(),
        about: None,
        kind,
        rank: 0,
    }
}

/// A key or a word that fits.
#[derive(Debug)]
struct Suggestion<'s> {
    name: &'s str,
    about: Option<&'s str>,
}

fn project_schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(read::project_schema)
}

/// The keys of the map at these keys.
fn schema_keys(path: &[String]) -> Vec<Suggestion<'static>> {
    let mut found = Vec::new();
    for schema in subschemas(project_schema(), path) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let properties = properties.into_iter().flatten();
        found.extend(properties.map(|(name, property)| Suggestion {
            name,
            about: property.get("description").and_then(Value::as_str),
        }));
    }
    found
}

/// The words that the value at these keys may be.
fn schema_words(path: &[String]) -> Vec<Suggestion<'static>> {
    let mut found = Vec::new();
    for schema in subschemas(project_schema(), path) {
        let about = schema.get("description").and_then(Value::as_str);
        let listed = schema.get("enum").and_then(Value::as_array);
        let words = listed.into_iter().flatten().chain(schema.get("const"));
        let words = words.filter_map(Value::as_str);
        found.extend(words.map(|name| Suggestion { name, about }));
    }
    found
}

/// The schemas of the value at these keys: several where one of several forms is allowed.
fn subschemas<'s>(schema: &'s Value, path: &[String]) -> Vec<&'s Value> {
    let mut here = forms(schema);
    for key in path {
        let inner = here.iter().filter_map(|schema| {
            let property = schema.get("properties").and_then(|all| all.get(key));
            property.or_else(|| {
                schema
                    .get("additionalProperties")
                    .filter(|schema| schema.is_object())
            })
        });
        here = inner.flat_map(forms).collect();
    }
    here
}

/// A schema, the forms that it allows, and those of the items where it is of a list.
fn forms(schema: &Value) -> Vec<&Value> {
    let named = schema.get("$ref").and_then(Value::as_str);
    let named = named.and_then(|name| project_schema().pointer(name.strip_prefix('#')?));
    let mut found = vec![schema];
    found.extend(named.into_iter().flat_map(forms));
    for name in ["anyOf", "oneOf", "allOf"] {
        let listed = schema.get(name).and_then(Value::as_array);
        found.extend(listed.into_iter().flatten().flat_map(forms));
    }
    found.extend(schema.get("items").into_iter().flat_map(forms));
    found
}
