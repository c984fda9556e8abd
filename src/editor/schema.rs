//! What the project file may say at a place, from its JSON Schema.

use std::sync::OnceLock;

use serde_json::Value;

use crate::read;

/// A key or a word that fits.
#[derive(Debug)]
pub(super) struct Suggestion<'s> {
    pub(super) name: &'s str,
    pub(super) about: Option<&'s str>,
}

fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(read::project_schema)
}

/// The keys of the map at these keys.
pub(super) fn keys(path: &[String]) -> Vec<Suggestion<'static>> {
    let mut found = Vec::new();
    for schema in subschemas(schema(), path) {
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
pub(super) fn words(path: &[String]) -> Vec<Suggestion<'static>> {
    let mut found = Vec::new();
    for schema in subschemas(schema(), path) {
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
    let named = named.and_then(|name| self::schema().pointer(name.strip_prefix('#')?));
    let mut found = vec![schema];
    found.extend(named.into_iter().flat_map(forms));
    for name in ["anyOf", "oneOf", "allOf"] {
        let forms = schema.get(name).and_then(Value::as_array);
        found.extend(forms.into_iter().flatten().flat_map(self::forms));
    }
    found.extend(schema.get("items").into_iter().flat_map(forms));
    found
}

#[cfg(test)]
mod tests {
    use super::{keys, words};

    fn names(found: Vec<super::Suggestion<'_>>) -> Vec<&str> {
        found.into_iter().map(|found| found.name).collect()
    }

    fn path(keys: &[&str]) -> Vec<String> {
        keys.iter().map(|key| (*key).to_owned()).collect()
    }

    #[test]
    fn keys_and_words_are_those_of_the_place() {
        assert!(names(keys(&[])).contains(&"outputs"));
        let waiver = names(keys(&path(&["policy", "waivers"])));
        assert!(
            ["rule", "where", "reason", "until"]
                .iter()
                .all(|key| waiver.contains(key))
        );
        assert!(names(keys(&path(&["policy", "rules"]))).contains(&"k8s-version-mismatch"));
        let levels = names(words(&path(&[
            "policy",
            "clusters",
            "edge-*",
            "k8s-version-mismatch",
        ])));
        assert!(
            ["off", "warning", "error"]
                .iter()
                .all(|level| levels.contains(level))
        );
        assert!(keys(&path(&["no", "such", "place"])).is_empty());
    }
}
