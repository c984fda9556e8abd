//! The facts of an image in its manifest's annotations: Sylva's builder writes them there.
//!
//! Source: sylva-core, `scripts/create-os-images-info.sh`; diskimage-builder, `templates-build-tests.yml` (docs/sylva.md#facts).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::component::annotation::PREFIX;

/// The longest value that is taken for a fact, in bytes; the builder's longest are digests.
pub const FACT_LIMIT: usize = 4096;

/// The most annotations that are taken for facts of one artifact; the builder writes some twenty.
pub const FACTS_LIMIT: usize = 256;

/// What marks an annotation as the builder's, anywhere in its key.
const MARK: &str = "sylva";

/// The facts of some annotations, and what is odd about them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotated {
    /// The facts by name: the text behind the key's last `/` (docs/sylva.md#facts). Values are taken whole.
    pub facts: BTreeMap<Arc<str>, Arc<str>>,
    /// What is odd, sorted by key.
    pub oddities: Vec<Oddity>,
}

/// More annotations than any builder writes: the artifact is refused, for no part of them is better than the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it has {0} annotations of facts, and at most {FACTS_LIMIT} are read")]
pub struct TooManyFacts(pub usize);

/// Something about an annotation that its reader should know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Oddity {
    /// Sylva's own script cuts a value at its last `/` (docs/sylva.md#facts), so its clusters see another fact than this one.
    #[error(
        "the value of annotation `{key}` holds a `/`: Sylva's own job keeps only what follows the last one"
    )]
    Slash {
        /// The annotation's key.
        key: String,
    },
    /// Not taken for a fact.
    #[error("annotation `{key}` has {bytes} bytes, and at most {FACT_LIMIT} are taken for a fact")]
    TooLong {
        /// The annotation's key.
        key: String,
        /// The length of its value.
        bytes: usize,
    },
    /// The index says another thing than its part, which counts.
    #[error("the index says `{index}` for `{name}`, and its part `{part}`, which counts")]
    OfIndex {
        /// The fact's name.
        name: String,
        /// What the index says.
        index: String,
        /// What its part says.
        part: String,
    },
    /// Two keys end in the same name and say different things; the first in the alphabet counts.
    #[error(
        "annotations `{first}` and `{second}` give different values for `{name}`; the first one counts"
    )]
    Twice {
        /// The fact's name.
        name: String,
        /// The key that counts.
        first: String,
        /// The key that does not.
        second: String,
    },
}

/// The fact that an annotation of this key holds; none where it holds none.
fn fact_name(key: &str) -> Option<&str> {
    match key.strip_prefix(PREFIX) {
        Some(name) => Some(name),
        None if key.contains(MARK) => Some(key.rsplit('/').next().unwrap_or(key)),
        None => None,
    }
}

/// The facts that annotations hold: those whose key contains `sylva`, named by what follows the key's last `/`
/// (docs/sylva.md#facts); and those of component bundles, named by what follows [`PREFIX`].
///
/// # Errors
/// There are more of them than [`FACTS_LIMIT`].
pub fn facts(annotations: &BTreeMap<String, String>) -> Result<Annotated, TooManyFacts> {
    let named = annotations.iter();
    let marked = || {
        let facts = named.clone();
        facts.filter_map(|(key, value)| Some((fact_name(key)?, key, value)))
    };
    let count = marked().count();
    if count > FACTS_LIMIT {
        return Err(TooManyFacts(count));
    }
    let mut annotated = Annotated::default();
    let mut keys: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, key, value) in marked() {
        if name.is_empty() {
            continue;
        }
        if value.len() > FACT_LIMIT {
            let (key, bytes) = (key.clone(), value.len());
            annotated.oddities.push(Oddity::TooLong { key, bytes });
            continue;
        }
        if let Some(first) = keys.get(name) {
            if annotated
                .facts
                .get(name)
                .is_some_and(|known| **known != **value)
            {
                annotated.oddities.push(Oddity::Twice {
                    name: name.to_owned(),
                    first: (*first).to_owned(),
                    second: key.clone(),
                });
            }
            continue;
        }
        if value.contains('/') && !key.starts_with(PREFIX) {
            annotated.oddities.push(Oddity::Slash { key: key.clone() });
        }
        keys.insert(name, key);
        annotated.facts.insert(name.into(), value.as_str().into());
    }
    Ok(annotated)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Annotated, FACT_LIMIT, FACTS_LIMIT, Oddity, TooManyFacts};

    fn facts(annotations: &BTreeMap<String, String>) -> Annotated {
        super::facts(annotations).expect("few of them")
    }

    fn annotations(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn a_fact_is_named_by_what_follows_the_last_slash() {
        let annotated = facts(&annotations(&[
            ("sylvaproject.org/diskimage/os-release", "noble"),
            ("sylvaproject.org/diskimage/k8s-version", "1.31.8+rke2r1"),
            ("org.opencontainers.image.created", "2026-01-01"),
            ("sylva-mark", "kept"),
            ("sylvaproject.org/", "nameless"),
        ]));
        let read: Vec<_> = annotated
            .facts
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .collect();
        assert_eq!(
            read,
            [
                ("k8s-version", "1.31.8+rke2r1"),
                ("os-release", "noble"),
                ("sylva-mark", "kept")
            ]
        );
        assert_eq!(annotated.oddities, []);
    }

    #[test]
    fn component_bundles_have_facts_of_their_own() {
        let annotated = facts(&annotations(&[
            ("dev.metalmark.component.k8s-version", "1.31.8"),
            ("dev.metalmark.component.distros", "a/b"),
            ("dev.metalmark.other", "nothing"),
        ]));
        let names: Vec<&str> = annotated.facts.keys().map(|name| &**name).collect();
        assert_eq!(names, ["distros", "k8s-version"]);
        assert_eq!(annotated.oddities, []);
    }

    #[test]
    fn a_slash_in_a_value_is_kept_and_reported() {
        let annotated = facts(&annotations(&[("sylva/filename", "a/b.raw")]));
        assert_eq!(annotated.facts["filename"].as_ref(), "a/b.raw");
        let key = "sylva/filename".to_owned();
        assert_eq!(annotated.oddities, [Oddity::Slash { key }]);
    }

    #[test]
    fn what_is_too_long_is_no_fact() {
        let long = "x".repeat(FACT_LIMIT + 1);
        let annotated = facts(&annotations(&[("sylva/os", &long)]));
        assert!(annotated.facts.is_empty());
        assert!(
            matches!(annotated.oddities[..], [Oddity::TooLong { bytes, .. }] if bytes == FACT_LIMIT + 1)
        );
    }

    #[test]
    fn of_two_keys_with_one_name_the_first_counts() {
        let both = [
            ("a.sylva/os", "ubuntu"),
            ("b.sylva/os", "suse"),
            ("c.sylva/os", "ubuntu"),
        ];
        let annotated = facts(&annotations(&both));
        assert_eq!(annotated.facts["os"].as_ref(), "ubuntu");
        assert!(
            matches!(&annotated.oddities[..], [Oddity::Twice { second, .. }] if second == "b.sylva/os")
        );
    }

    #[test]
    fn more_annotations_than_anybody_writes_are_refused() {
        let of = |count: usize| -> BTreeMap<String, String> {
            let others = (0..FACTS_LIMIT).map(|number| (format!("other/{number}"), String::new()));
            let marked = (0..count).map(|number| (format!("sylva/{number}"), String::new()));
            others.chain(marked).collect()
        };
        assert_eq!(facts(&of(FACTS_LIMIT)).facts.len(), FACTS_LIMIT);
        let count = FACTS_LIMIT + 1;
        assert_eq!(super::facts(&of(count)), Err(TooManyFacts(count)));
    }
}
