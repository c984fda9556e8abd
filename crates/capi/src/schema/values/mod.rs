//! Validates values against a chart's `values.schema.json`, as Helm does before it installs the chart.
//!
//! The language is JSON Schema, 2020-12 and the drafts before it
//! (<https://helm.sh/docs/topics/charts/#schema-files>, <https://json-schema.org/draft/2020-12>). Helm up to 3.17 validates formats, and
//! later versions do not: what only one of them refuses is valid here. What is not understood is refused in words.

mod check;
mod keywords;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use go_template::regexp::Regexp;
use parking_lot::{Mutex, MutexGuard};
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Place};
use yaml_tree::value::{Node, Value};

use check::Check;

/// The memory limit of one compiled pattern, in bytes: a schema may contain thousands of patterns.
const COMPILED_LIMIT: usize = 256 << 10;

/// A chart's schema of its values.
#[derive(Debug)]
pub struct ValuesSchema {
    root: Node,
    /// Whether what is beside a `$ref` counts: not before draft 2019-09.
    has_siblings: bool,
    /// Compiled patterns.
    patterns: Mutex<HashMap<Arc<str>, Arc<Regexp>>>,
    /// What is valid already, by the addresses of the schema and of the value.
    valid: Mutex<HashMap<(usize, usize), Valid>>,
}

/// A map or list that is valid for one of the schemas. Clusters share most of their values, those of the chart.
#[derive(Debug)]
struct Valid {
    /// Kept, so that no other value has its address.
    _value: Value,
    cost: Cost,
}

/// What it took to find a value valid.
#[derive(Clone, Copy, Debug)]
struct Cost {
    /// How many schemas were applied.
    applied: u64,
    /// How deep schemas were applied in one another below it.
    levels: usize,
    /// Whether a text in it is not of its format.
    has_unmet_format: bool,
}

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// The value's path; empty for all values together.
    pub path: String,
    /// What is wrong with it, in one clause.
    pub message: String,
    /// The end of that clause, which shows the value: `, not 0`.
    pub shown: String,
    /// Its place.
    pub place: Place,
    /// The types that it should have had, where that is what is wrong.
    types: Vec<&'static str>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            message,
            shown,
            ..
        } = self;
        match &**path {
            "" => write!(f, "the map of all values {message}{shown}"),
            path => write!(f, "`{path}` {message}{shown}"),
        }
    }
}

impl ValuesSchema {
    /// Reads a schema.
    ///
    /// # Errors
    /// It is no JSON, with the line and the reason.
    pub fn parse(text: &str) -> Result<Self, String> {
        let root = yaml_tree::values(text, FileId(0), Engine::Helm3).map_err(|error| {
            let before = text.get(..error.place.start as usize).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            format!("line {line}: {}", error.message)
        })?;
        let draft = root.text(&["$schema"]);
        let old = ["draft-03", "draft-04", "draft-06", "draft-07"];
        let is_old = draft.is_some_and(|draft| old.iter().any(|old| draft.contains(old)));
        Ok(Self {
            root,
            has_siblings: !is_old,
            patterns: Mutex::default(),
            valid: Mutex::default(),
        })
    }

    /// What is wrong with values, in the order of their keys.
    ///
    /// # Errors
    /// The schema cannot be applied, with the reason: it has something that is not understood.
    pub fn check(&self, values: &Node) -> Result<Vec<Mismatch>, String> {
        let check = |has_formats| Check::new(self, has_formats).all_of(values);
        let Check {
            mut found,
            has_unmet_format,
            ..
        } = check(false)?;
        // Where each text is of its format, both ways find the same.
        if !found.is_empty() && has_unmet_format {
            let with_formats = check(true)?.found;
            let refused: BTreeSet<_> = { with_formats.iter() }
                .map(|mismatch| (&mismatch.path, &mismatch.message))
                .collect();
            found.retain(|mismatch| refused.contains(&(&mismatch.path, &mismatch.message)));
        }
        Ok(found)
    }

    fn valid(&self) -> MutexGuard<'_, HashMap<(usize, usize), Valid>> {
        self.valid.lock()
    }

    /// A pattern, compiled.
    fn pattern(&self, pattern: &str) -> Result<Arc<Regexp>, String> {
        let mut known = self.patterns.lock();
        if let Some(compiled) = known.get(pattern) {
            return Ok(Arc::clone(compiled));
        }
        let compiled = Regexp::with_limit(COMPILED_LIMIT, pattern)
            .map_err(|error| format!("its pattern `{pattern}` cannot be used: {error}"))?;
        let compiled = Arc::new(compiled);
        known.insert(pattern.into(), Arc::clone(&compiled));
        Ok(compiled)
    }

    /// What a reference leads to.
    fn resolve(&self, reference: &str) -> Result<&Node, String> {
        let unknown = || format!("it refers to `{reference}`, which is not in it");
        let pointer = reference.strip_prefix('#').ok_or_else(unknown)?;
        let mut node = &self.root;
        for part in pointer.split('/').skip(1) {
            let key = part.replace("%24", "$").replace("%25", "%");
            let key = key.replace("~1", "/").replace("~0", "~");
            node = match &node.value {
                Value::List(items) => key.parse().ok().and_then(|index: usize| items.get(index)),
                _ => node.get_path(&[&key]),
            }
            .ok_or_else(unknown)?;
        }
        if pointer.is_empty() || pointer.starts_with('/') {
            Ok(node)
        } else {
            Err(unknown())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ValuesSchema;
    use yaml_tree::engine::Engine;
    use yaml_tree::opaque::{Opaque, OpaqueKind, label};
    use yaml_tree::place::FileId;
    use yaml_tree::value::{Node, Value};

    fn schema(patterns: impl Iterator<Item = String>) -> ValuesSchema {
        let patterns: Vec<String> = patterns.map(|one| format!("\"{one}\": {{}}")).collect();
        let text = format!("{{\"patternProperties\": {{{}}}}}", patterns.join(","));
        ValuesSchema::parse(&text).expect("a schema")
    }

    #[test]
    fn the_largest_pattern_of_a_schema_is_compiled_and_a_larger_one_is_not() {
        let values = yaml_tree::values("k: 1\n", FileId(0), Engine::Helm4).expect("values");
        let check = |pattern: &str| schema([pattern.to_owned()].into_iter()).check(&values);
        assert_eq!(check("^(ab|[^x]y){1,100}$"), Ok(Vec::new()));
        let why = check("^(ab|[^x]y){1,900}$").expect_err("too large");
        assert!(why.contains("more than the limit of 262144 bytes"), "{why}");
    }

    #[test]
    fn a_secret_has_each_type_that_it_may_have() {
        for (kind, types) in [
            (OpaqueKind::String, "string"),
            (OpaqueKind::Number, "number integer"),
            (OpaqueKind::Scalar, "string number integer boolean"),
        ] {
            let secret = Opaque {
                text: label("secrets.yaml", "a").into(),
                kind,
            };
            let secret = Node::from_value(Value::from(secret));
            for name in [
                "string", "number", "integer", "boolean", "array", "object", "null",
            ] {
                let schema = ValuesSchema::parse(&format!("{{\"type\": \"{name}\"}}"));
                let found = schema.expect("a schema").check(&secret).expect("checked");
                let may_be = types.split(' ').any(|one| one == name);
                assert_eq!(found.is_empty(), may_be, "{kind:?} as {name}");
            }
        }
    }
}
