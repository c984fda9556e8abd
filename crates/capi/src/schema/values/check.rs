//! Walks through a schema and values together, and compares values as JSON Schema does.

use std::collections::HashMap;
use std::sync::Arc;

use yaml_tree::json::{Html, format_number, to_json};
use yaml_tree::place::Place;
use yaml_tree::suggest::Words;
use yaml_tree::value::{Map, Node, Number, Value};

use super::{Cost, Mismatch, Valid, ValuesSchema};

/// How deep schemas are applied in one another.
const DEPTH: usize = 400;

/// The most schemas that are applied in one check: a few references to one another may double the work at each.
const APPLIED_LIMIT: u64 = 20_000_000;

/// The maximum number of valid maps and lists that are kept, so that memory does not grow with the fleet.
const KEPT: usize = 65_536;

/// Keywords of JSON Schema that change what is valid and are not understood.
const UNSUPPORTED: [&str; 6] = [
    "$dynamicRef",
    "$recursiveRef",
    "unevaluatedItems",
    "unevaluatedProperties",
    "extends",
    "disallow",
];

/// One check of values.
pub(super) struct Check<'s> {
    pub(super) schema: &'s ValuesSchema,
    pub(super) has_formats: bool,
    pub(super) found: Vec<Mismatch>,
    /// Where the check is in the values.
    pub(super) path: String,
    /// How many more schemas are applied.
    left: u64,
    depth: usize,
    /// Whether a text was not of its format.
    pub(super) has_unmet_format: bool,
    /// The keys that each map of properties knows, once one is misspelled.
    pub(super) names: HashMap<*const Map, Words>,
    /// The greatest depth since the last value whose depth is measured.
    deepest: usize,
}

impl<'s> Check<'s> {
    pub(super) fn new(schema: &'s ValuesSchema, has_formats: bool) -> Self {
        Self {
            schema,
            has_formats,
            found: Vec::new(),
            path: String::new(),
            left: APPLIED_LIMIT,
            depth: 0,
            has_unmet_format: false,
            names: HashMap::new(),
            deepest: 0,
        }
    }

    /// Checks all values together.
    pub(super) fn all_of(mut self, values: &Node) -> Result<Self, String> {
        self.node(&self.schema.root, values)?;
        Ok(self)
    }

    /// Applies a schema to a value.
    pub(super) fn node(&mut self, schema: &'s Node, node: &Node) -> Result<(), String> {
        let address = match &node.value {
            _ if self.has_formats => None,
            Value::Map(map) => Some(Arc::as_ptr(map).addr()),
            Value::List(list) => Some(Arc::as_ptr(list).addr()),
            _ => None,
        };
        let Some(address) = address else {
            return self.apply(schema, node);
        };
        let key = (std::ptr::from_ref(schema).addr(), address);
        let known = self.schema.valid().get(&key).map(|valid| valid.cost);
        if let Some(cost) = known.filter(|cost| self.depth + cost.levels <= DEPTH) {
            self.deepest = self.deepest.max(self.depth + cost.levels);
            self.has_unmet_format |= cost.has_unmet_format;
            return self.apply_more(cost.applied);
        }
        let left = self.left;
        let found = self.found.len();
        let deepest = std::mem::replace(&mut self.deepest, self.depth);
        let had_unmet_format = std::mem::take(&mut self.has_unmet_format);
        self.apply(schema, node)?;
        let cost = Cost {
            applied: left - self.left,
            levels: self.deepest - self.depth,
            has_unmet_format: self.has_unmet_format,
        };
        self.deepest = self.deepest.max(deepest);
        self.has_unmet_format |= had_unmet_format;
        let mut valid = self.schema.valid();
        if self.found.len() == found && valid.len() < KEPT {
            let kept = Valid {
                _value: node.value.clone(),
                cost,
            };
            valid.insert(key, kept);
        }
        Ok(())
    }

    /// Counts schemas that are applied: those that were known to hold too, whichever cluster was first.
    fn apply_more(&mut self, count: u64) -> Result<(), String> {
        let left = self.left.checked_sub(count);
        self.left = left.ok_or_else(|| format!("it applies more than {APPLIED_LIMIT} schemas"))?;
        Ok(())
    }

    fn apply(&mut self, schema: &'s Node, node: &Node) -> Result<(), String> {
        self.apply_more(1)?;
        if self.depth >= DEPTH {
            return Err(format!("it is applied more than {DEPTH} levels deep"));
        }
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        match &schema.value {
            Value::Bool(true) => {}
            Value::Bool(false) => self.problem(node, "is not allowed"),
            Value::Map(map) => self.keywords(map, node)?,
            _ => return Err("a schema in it is neither a map nor true or false".to_owned()),
        }
        self.depth -= 1;
        Ok(())
    }

    /// Applies each keyword.
    fn keywords(&mut self, schema: &'s Map, node: &Node) -> Result<(), String> {
        if let Some(key) = UNSUPPORTED.iter().find(|key| schema.get(key).is_some()) {
            return Err(format!("`{key}` is not understood"));
        }
        if let Some(reference) = schema.get("$ref") {
            let reference = reference
                .value
                .as_str()
                .ok_or("a `$ref` in it is not text")?;
            self.node(self.schema.resolve(reference)?, node)?;
            if !self.schema.has_siblings {
                return Ok(());
            }
        }
        if !self.has_type(schema, node) {
            return Ok(());
        }
        // Of a secret, the type is known, and nothing else.
        if matches!(node.value, Value::Opaque(_)) {
            return Ok(());
        }
        self.is_one_of(schema, node)?;
        match &node.value {
            Value::Map(map) => self.map(schema, map, node)?,
            Value::List(items) => self.list(schema, items, node)?,
            Value::String(text) => self.string(schema, text, node)?,
            Value::Number(number) => self.number(schema, *number, node),
            Value::Null | Value::Bool(_) | Value::Opaque(_) => {}
        }
        self.combinators(schema, node)
    }

    fn combinators(&mut self, schema: &'s Map, node: &Node) -> Result<(), String> {
        let many = |key| schema.get(key).and_then(|node| node.value.as_list());
        for part in many("allOf").unwrap_or_default() {
            self.node(part, node)?;
        }
        if let Some(alternatives) = many("anyOf") {
            self.alternatives(alternatives, node, false)?;
        }
        if let Some(alternatives) = many("oneOf") {
            self.alternatives(alternatives, node, true)?;
        }
        if let Some(not) = schema.get("not")
            && self.collect_mismatches(not, node)?.is_empty()
        {
            self.problem(node, "is what the schema excludes (`not`)");
        }
        if let Some(condition) = schema.get("if") {
            let holds = self.collect_mismatches(condition, node)?.is_empty();
            let then = schema.get(if holds { "then" } else { "else" });
            if let Some(then) = then {
                self.node(then, node)?;
            }
        }
        Ok(())
    }

    /// A value that has to be valid for one of several schemas, or for exactly one. Where only one of them is for values of its
    /// type, the finding is what is wrong with that one.
    fn alternatives(
        &mut self,
        alternatives: &'s [Node],
        node: &Node,
        is_exact: bool,
    ) -> Result<(), String> {
        let (mut valid, mut near, mut types) = (0, Vec::new(), Vec::new());
        for alternative in alternatives {
            let found = self.collect_mismatches(alternative, node)?;
            valid += usize::from(found.is_empty());
            let own = |one: &&Mismatch| one.path == self.path && !one.types.is_empty();
            match found.iter().find(own) {
                Some(other) => {
                    types.retain(|known| !other.types.contains(known));
                    types.extend_from_slice(&other.types);
                }
                None => near.push(found),
            }
        }
        let is_near = !near.is_empty();
        let only = near.pop().filter(|_| near.is_empty());
        match (valid, only) {
            (2.., _) if is_exact => {
                let message = format!("fits {valid} of the alternatives in the schema, not one");
                self.problem(node, message);
            }
            (1.., _) => {}
            (0, Some(only)) => self.found.extend(only),
            (0, None) if is_near => {
                self.problem(node, "fits none of the alternatives in the schema")
            }
            (0, None) => self.wrong_type(node, types),
        }
        Ok(())
    }

    /// What is wrong with a value for a schema that need not hold.
    pub(super) fn collect_mismatches(
        &mut self,
        schema: &'s Node,
        node: &Node,
    ) -> Result<Vec<Mismatch>, String> {
        let own = std::mem::take(&mut self.found);
        let checked = self.node(schema, node);
        let found = std::mem::replace(&mut self.found, own);
        checked.map(|()| found)
    }

    /// Reports a value that is not shown.
    pub(super) fn problem(&mut self, node: &Node, message: impl Into<String>) {
        self.report(node, message.into(), String::new());
    }

    /// Reports a value, shown at the end of the message.
    pub(super) fn report(&mut self, node: &Node, message: String, shown: String) {
        let mismatch = self.mismatch(node.place, message);
        self.found.push(Mismatch { shown, ..mismatch });
    }

    pub(super) fn mismatch(&mut self, place: Place, message: String) -> Mismatch {
        Mismatch {
            path: self.path.clone(),
            message,
            shown: String::new(),
            place,
            types: Vec::new(),
        }
    }

    /// Whether two values are equal: `1` and `1.0` are one number in JSON Schema.
    pub(super) fn is_equal(&mut self, one: &Value, other: &Value) -> Result<bool, String> {
        Ok(match (one, other) {
            (Value::Number(one), Value::Number(other)) => as_float(*one) == as_float(*other),
            (Value::String(one), Value::String(other)) => one == other,
            (Value::List(_), Value::List(_)) | (Value::Map(_), Value::Map(_)) => {
                self.comparable(one)? == self.comparable(other)?
            }
            _ => one.same(other),
        })
    }

    /// A text that is the same for equal values.
    pub(super) fn comparable(&mut self, value: &Value) -> Result<String, String> {
        Ok(match value {
            Value::Number(number) => format_number(Number::Float(as_float(*number))),
            Value::List(items) => {
                let items = items.iter().map(|item| self.comparable(&item.value));
                format!("[{}]", items.collect::<Result<Vec<_>, _>>()?.join(","))
            }
            Value::Map(map) => {
                let entries = map.iter().map(|entry| {
                    let key = &entry.key;
                    Ok(format!("{key:?}:{}", self.comparable(&entry.node.value)?))
                });
                let entries: Result<Vec<String>, String> = entries.collect();
                format!("{{{}}}", entries?.join(","))
            }
            Value::Opaque(_) | Value::String(_) | Value::Null | Value::Bool(_) => {
                to_json(value, Html::Plain)
            }
        })
    }
}

pub(super) fn as_float(number: Number) -> f64 {
    match number {
        Number::Int(int) => int as f64,
        Number::Float(float) => float,
    }
}
