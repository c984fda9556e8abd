//! Validates an object against its schema.

use std::collections::BTreeSet;
use std::fmt::Display;

use yaml_tree::json::{Html, to_json};
use yaml_tree::value::{Map, Node, Number, Value};

use super::Problem;
use super::compile::{Additional, Bounds, Limit, Schema, SchemaType, Unique};

/// The fields of every object, which the schema of its kind may omit.
const OBJECT_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// All problems of an object, in the order of its fields, with those that its rules in CEL find.
pub(super) fn object(schema: &Schema, object: &Node, has_rules: bool) -> Vec<Problem> {
    let mut check = Check {
        problems: Vec::new(),
        path: String::new(),
        structural: true,
        has_rules,
    };
    check.node(schema, object);
    check.problems
}

struct Check {
    problems: Vec<Problem>,
    path: String,
    /// Whether unknown fields are refused: not within `allOf` and similar, whose schemas contain only what they constrain.
    structural: bool,
    /// Whether rules in CEL are evaluated.
    has_rules: bool,
}

impl Check {
    fn node(&mut self, schema: &Schema, node: &Node) {
        // Nothing is known of a secret.
        if node.value.is_null() && schema.nullable || matches!(node.value, Value::Opaque(_)) {
            return;
        }
        if !self.has_type(schema, node) {
            return;
        }
        self.value(schema, node);
        match &node.value {
            Value::Map(map) => self.map(schema, map, node),
            Value::List(items) => self.list(schema, items, node),
            Value::String(text) => self.string(schema, text, node),
            Value::Number(number) => self.number(schema, *number, node),
            Value::Null | Value::Bool(_) | Value::Opaque(_) => {}
        }
        self.combinators(schema, node);
        let rules = if self.has_rules { &*schema.rules } else { &[] };
        for rule in rules {
            if let Some(message) = rule.violation(schema, node) {
                self.problem(node, message);
            }
        }
    }

    fn has_type(&mut self, schema: &Schema, node: &Node) -> bool {
        let expected = match schema.kind {
            _ if schema.int_or_string => {
                let fits = is_integer(&node.value) || node.value.as_str().is_some();
                (!fits).then_some("an integer or a string")
            }
            None => None,
            Some(SchemaType::Object) => node.value.as_map().is_none().then_some("a map"),
            Some(SchemaType::Array) => node.value.as_list().is_none().then_some("a list"),
            Some(SchemaType::String) => node.value.as_str().is_none().then_some("a string"),
            Some(SchemaType::Integer) => (!is_integer(&node.value)).then_some("an integer"),
            Some(SchemaType::Number) => {
                (!matches!(node.value, Value::Number(_))).then_some("a number")
            }
            Some(SchemaType::Boolean) => {
                (!matches!(node.value, Value::Bool(_))).then_some("true or false")
            }
        };
        if let Some(expected) = expected {
            self.problem(
                node,
                format!("must be {expected}, not {}", node.value.kind()),
            );
        }
        expected.is_none()
    }

    fn value(&mut self, schema: &Schema, node: &Node) {
        if schema.allowed.is_empty() {
            return;
        }
        let json = to_json(&node.value, Html::Plain);
        if !schema.allowed.contains(&json) {
            let allowed = schema.allowed.join(", ");
            self.problem(node, format!("must be one of {allowed}, not {json}"));
        }
    }

    fn map(&mut self, schema: &Schema, map: &Map, node: &Node) {
        for key in &schema.required {
            if map.get(key).is_none() {
                self.problem(node, format!("`{key}` is required"));
            }
        }
        self.bounds(&schema.fields, map.len(), "fields", node);
        for entry in map {
            let length = self.path.len();
            if length > 0 {
                self.path.push('.');
            }
            self.path.push_str(&entry.key);
            match (schema.properties.get(&entry.key), &schema.additional) {
                _ if schema.embedded && OBJECT_FIELDS.contains(&&*entry.key) => {}
                (Some(known), _) => self.node(known, &entry.node),
                (None, Additional::Schema(other)) => self.node(other, &entry.node),
                (None, Additional::Any) => {}
                (None, Additional::Unspecified) if schema.preserves || !self.structural => {}
                (None, Additional::Unspecified)
                    if schema.kind.is_none() && schema.properties.is_empty() => {}
                (None, Additional::Unspecified) => {
                    self.report_unknown_key(schema, &entry.key, &entry.node)
                }
            }
            self.path.truncate(length);
        }
    }

    fn report_unknown_key(&mut self, schema: &Schema, key: &str, node: &Node) {
        let known: Vec<&str> = schema.properties.keys().map(|key| &**key).collect();
        let message = match known.len() {
            0 => format!("the schema has no field `{key}`"),
            1..=12 => format!("the schema has no field `{key}`, only {}", known.join(", ")),
            count => format!("the schema has no field `{key}` among its {count}"),
        };
        self.problem(node, message);
        if let Some(problem) = self.problems.last_mut() {
            problem.is_unknown = true;
        }
    }

    fn list(&mut self, schema: &Schema, items: &[Node], node: &Node) {
        self.bounds(&schema.count, items.len(), "items", node);
        if let Some(item_schema) = &schema.items {
            for (index, item) in items.iter().enumerate() {
                let length = self.path.len();
                self.path.push_str(&format!("[{index}]"));
                self.node(item_schema, item);
                self.path.truncate(length);
            }
        }
        let mut seen = BTreeSet::new();
        for item in items {
            let identity = match &schema.unique {
                Unique::No => return,
                Unique::Items => to_json(&item.value, Html::Plain),
                Unique::Keys(keys) => keys
                    .iter()
                    .map(|key| {
                        item.get_path(&[key])
                            .map(|node| to_json(&node.value, Html::Plain))
                    })
                    .map(Option::unwrap_or_default)
                    .collect::<Vec<_>>()
                    .join(","),
            };
            if !seen.insert(identity) {
                self.problem(item, "occurs twice in the list");
            }
        }
    }

    fn string(&mut self, schema: &Schema, text: &str, node: &Node) {
        if schema.length.least.is_some() || schema.length.most.is_some() {
            self.bounds(&schema.length, text.chars().count(), "characters", node);
        }
        let Some(pattern) = &schema.pattern else {
            return;
        };
        let expected = &pattern.text;
        match pattern.matches(text) {
            Ok(true) => {}
            Ok(false) => self.problem(node, format!("`{text}` does not match `{expected}`")),
            Err(why) => {
                let message = format!(
                    "its definition has the pattern `{expected}`, which is not Go's: {why}"
                );
                self.problem(node, message);
            }
        }
    }

    fn number(&mut self, schema: &Schema, number: Number, node: &Node) {
        let number = match number {
            Number::Int(int) => int as f64,
            Number::Float(float) => float,
        };
        let below =
            |limit: &Limit| number < limit.bound || limit.exclusive && number == limit.bound;
        let above =
            |limit: &Limit| number > limit.bound || limit.exclusive && number == limit.bound;
        if let Some(limit) = schema.minimum.as_ref().filter(|limit| below(limit)) {
            self.problem(
                node,
                format!("{number} is below the minimum of {}", limit.bound),
            );
        }
        if let Some(limit) = schema.maximum.as_ref().filter(|limit| above(limit)) {
            self.problem(
                node,
                format!("{number} is above the maximum of {}", limit.bound),
            );
        }
        if schema.format.as_deref() == Some("int32")
            && !(-2_147_483_648.0..=2_147_483_647.0).contains(&number)
        {
            self.problem(node, format!("{number} has more than 32 bits"));
        }
        if let Some(step) = schema.multiple_of
            && step > 0.0
            && (number / step).fract() != 0.0
        {
            self.problem(node, format!("{number} is not a multiple of {step}"));
        }
    }

    fn combinators(&mut self, schema: &Schema, node: &Node) {
        if schema.all_of.is_empty()
            && schema.any_of.is_empty()
            && schema.one_of.is_empty()
            && schema.not.is_none()
        {
            return;
        }
        for part in &schema.all_of {
            let structural = std::mem::replace(&mut self.structural, false);
            self.node(part, node);
            self.structural = structural;
        }
        let any = matching(&schema.any_of, node);
        if !schema.any_of.is_empty() && any == 0 {
            self.problem(node, "fits none of the schema's alternatives (anyOf)");
        }
        let one = matching(&schema.one_of, node);
        if !schema.one_of.is_empty() && one != 1 {
            self.problem(
                node,
                format!("must fit exactly one of the schema's alternatives (oneOf) and fits {one}"),
            );
        }
        if schema.not.as_ref().is_some_and(|not| fits(not, node)) {
            self.problem(node, "is what the schema excludes (not)");
        }
    }

    fn bounds(&mut self, bounds: &Bounds, count: usize, what: &str, node: &Node) {
        if let Some(least) = bounds.least.filter(|least| count < *least) {
            self.problem(
                node,
                format!("has {count} {what} and needs {least} at least"),
            );
        }
        if let Some(most) = bounds.most.filter(|most| count > *most) {
            self.problem(node, format!("has {count} {what} and may have {most}"));
        }
    }

    fn problem(&mut self, node: &Node, message: impl Display) {
        self.problems.push(Problem {
            path: self.path.clone(),
            message: message.to_string(),
            place: node.place,
            is_unknown: false,
            is_built_in: false,
        });
    }
}

fn matching(schemas: &[Schema], node: &Node) -> usize {
    schemas.iter().filter(|schema| fits(schema, node)).count()
}

fn fits(schema: &Schema, node: &Node) -> bool {
    let mut check = Check {
        problems: Vec::new(),
        path: String::new(),
        structural: false,
        has_rules: false,
    };
    check.node(schema, node);
    check.problems.is_empty()
}

/// Whether a value is an integer of 64 bits.
fn is_integer(value: &Value) -> bool {
    match value {
        Value::Number(Number::Int(_)) => true,
        Value::Number(Number::Float(float)) => float.fract() == 0.0 && float.abs() < 9.3e18,
        _ => false,
    }
}
