//! A selector over image facts, as it is written in values. Matching is in [`crate::decide::matching`].

use std::sync::Arc;

use yaml_tree::place::Place;
use yaml_tree::value::{Entry, Map, Value};

/// An `os_image_selector`: facts and the pattern each must match.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selector {
    /// The terms, sorted by fact name.
    pub terms: Vec<Term>,
}

/// One fact and what it must be.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The fact's name.
    pub fact: Arc<str>,
    /// What it must match.
    pub wanted: Wanted,
    /// The place of the value; [`Place::NONE`] for a term that was added by finalizing.
    pub place: Place,
    /// The place of the key.
    pub key_place: Place,
}

/// A term's value (docs/sylva.md#patterns).
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// An RE2 pattern, anchored by `^(` and `)$`.
    Pattern(Arc<str>),
    /// Matches the fact's text `true` or `false`.
    Bool(bool),
    /// Any other type is an error; what it is, in words.
    Invalid(&'static str),
}

impl Selector {
    /// The terms of a map, whatever their types: rules check those (docs/sylva.md#patterns).
    pub fn from_map(map: &Map) -> Self {
        let term = |entry: &Entry| Term {
            fact: Arc::clone(&entry.key),
            wanted: match &entry.node.value {
                Value::String(pattern) => Wanted::Pattern(Arc::clone(pattern)),
                Value::Bool(flag) => Wanted::Bool(*flag),
                other => Wanted::Invalid(other.kind()),
            },
            place: entry.node.place,
            key_place: entry.key_place,
        };
        Self {
            terms: map.iter().map(term).collect(),
        }
    }

    /// The term of a fact.
    pub fn term(&self, fact: &str) -> Option<&Term> {
        self.terms.iter().find(|term| &*term.fact == fact)
    }
}

/// A version of sylva-library, as far as versions match images differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Library {
    /// Before 0.7: selectors do not know the registry that an image comes from.
    WithoutRegistries,
    /// 0.7 and later.
    #[default]
    WithRegistries,
}

/// How Kubernetes versions are compared while matching.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    serde::Deserialize,
    serde::Serialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Matching {
    /// Bit for bit as Sylva's library does it (docs/sylva.md).
    Exact,
    /// A leading `v` is dropped, and `-rke2r1` equals `+rke2r1` (docs/sylva.md#what-is-added-to-a-selector).
    #[default]
    Normalized,
}
