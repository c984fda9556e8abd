//! The keywords of JSON Schema, and what each requires of a value.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use go_template::regexp::Regexp;
use yaml_tree::json::{Html, format_number, to_json};
use yaml_tree::opaque::OpaqueKind;
use yaml_tree::place::Place;
use yaml_tree::suggest::Words;
use yaml_tree::value::{Map, Node, Number, Value};

use super::Mismatch;
use super::check::{Check, as_float};

/// The number of allowed values in a message.
const SHOWN: usize = 20;
/// The length of a text in a message, in bytes.
const LONGEST_SHOWN: usize = 60;

impl<'s> Check<'s> {
    /// Whether a value has one of the types; the rest of a schema says nothing of another one.
    pub(super) fn has_type(&mut self, schema: &Map, node: &Node) -> bool {
        let Some(types) = schema.get("type") else {
            return true;
        };
        let names: Vec<&str> = match &types.value {
            Value::List(names) => names.iter().filter_map(text).collect(),
            _ => text(types).into_iter().collect(),
        };
        let is_it = |name: &&str| match (*name, &node.value) {
            ("string", Value::Opaque(opaque)) => opaque.kind != OpaqueKind::Number,
            ("number" | "integer", Value::Opaque(opaque)) => opaque.kind != OpaqueKind::String,
            ("boolean", Value::Opaque(opaque)) => opaque.kind == OpaqueKind::Scalar,
            ("null", Value::Null)
            | ("boolean", Value::Bool(_))
            | ("string", Value::String(_))
            | ("array", Value::List(_))
            | ("object", Value::Map(_))
            | ("number", Value::Number(_))
            | ("integer", Value::Number(Number::Int(_))) => true,
            ("integer", Value::Number(Number::Float(float))) => float.fract() == 0.0,
            _ => false,
        };
        if names.iter().any(is_it) {
            return true;
        }
        let types: Vec<&'static str> = names.iter().map(|name| describe_type(name)).collect();
        self.wrong_type(node, types);
        false
    }

    pub(super) fn wrong_type(&mut self, node: &Node, types: Vec<&'static str>) {
        let message = format!("must be {}, not {}", types.join(" or "), node.value.kind());
        let mismatch = self.mismatch(node.place, message);
        self.found.push(Mismatch { types, ..mismatch });
    }

    pub(super) fn is_one_of(&mut self, schema: &Map, node: &Node) -> Result<(), String> {
        let one = schema.get("const").map(std::slice::from_ref);
        let several = schema.get("enum").and_then(|node| node.value.as_list());
        for allowed in one.into_iter().chain(several) {
            let mut is_any = false;
            for other in allowed {
                is_any = is_any || self.is_equal(&other.value, &node.value)?;
            }
            if is_any {
                continue;
            }
            let is_scalar = |value: &Value| !matches!(value, Value::List(_) | Value::Map(_));
            let mut values = allowed
                .iter()
                .map(|other| &other.value)
                .chain([&node.value]);
            if !values.all(is_scalar) {
                self.problem(node, "is not a value that the schema allows");
                continue;
            }
            let several = allowed
                .iter()
                .take(SHOWN)
                .map(|other| excerpt(&other.value));
            let several = several.collect::<Vec<_>>().join(", ");
            let one_of = if allowed.len() == 1 { "" } else { "one of " };
            let own = format!(", not {}", excerpt(&node.value));
            self.report(node, format!("must be {one_of}{several}"), own);
        }
        Ok(())
    }

    pub(super) fn map(&mut self, schema: &'s Map, map: &Map, node: &Node) -> Result<(), String> {
        for key in texts(schema, "required") {
            if map.get(key).is_none() {
                self.report_missing_key(node, key, "is required".to_owned());
            }
        }
        self.bounds(
            schema,
            ["minProperties", "maxProperties"],
            map.len(),
            "keys",
            node,
        );
        let maps = |key| schema.get(key).and_then(|node| node.value.as_map());
        let (known, patterns) = (maps("properties"), maps("patternProperties"));
        for entry in map {
            let length = self.path.len();
            if length > 0 {
                self.path.push('.');
            }
            self.path.push_str(&entry.key);
            if let Some(names) = schema.get("propertyNames") {
                let name = Node {
                    value: Value::String(Arc::clone(&entry.key)),
                    place: entry.key_place,
                };
                self.node(names, &name)?;
            }
            let mut is_known = false;
            if let Some(own) = known.and_then(|known| known.get(&entry.key)) {
                is_known = true;
                self.node(own, &entry.node)?;
            }
            for pattern in patterns.into_iter().flat_map(|patterns| patterns.iter()) {
                if self.is_match(&pattern.key, &entry.key)? {
                    is_known = true;
                    self.node(&pattern.node, &entry.node)?;
                }
            }
            match schema.get("additionalProperties") {
                Some(others) if !is_known => match others.value {
                    Value::Bool(false) => {
                        self.report_unknown_key(known, entry.key_place, &entry.key)?
                    }
                    _ => self.node(others, &entry.node)?,
                },
                _ => {}
            }
            self.path.truncate(length);
        }
        self.dependent(schema, map, node)
    }

    /// A key that no schema is for.
    fn report_unknown_key(
        &mut self,
        known: Option<&Arc<Map>>,
        place: Place,
        key: &str,
    ) -> Result<(), String> {
        let meant = known.and_then(|known| {
            let names = self.names.entry(Arc::as_ptr(known));
            let names = names.or_insert_with(|| Words::new(known.iter().map(|it| &*it.key)));
            names.did_you_mean(key)
        });
        let meant = meant.map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
        let mismatch = self.mismatch(place, format!("is not a key of the chart{meant}"));
        self.found.push(mismatch);
        Ok(())
    }

    fn report_missing_key(&mut self, node: &Node, key: &str, message: String) {
        let path = if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        };
        let mismatch = self.mismatch(node.place, message);
        self.found.push(Mismatch { path, ..mismatch });
    }

    /// What the presence of a key requires.
    fn dependent(&mut self, schema: &'s Map, map: &Map, node: &Node) -> Result<(), String> {
        for name in ["dependencies", "dependentRequired", "dependentSchemas"] {
            let of_keys = schema.get(name).and_then(|node| node.value.as_map());
            for entry in of_keys.into_iter().flat_map(|of_keys| of_keys.iter()) {
                if map.get(&entry.key).is_none() {
                    continue;
                }
                let Value::List(keys) = &entry.node.value else {
                    self.node(&entry.node, node)?;
                    continue;
                };
                for key in keys.iter().filter_map(text) {
                    if map.get(key).is_none() {
                        self.report_missing_key(
                            node,
                            key,
                            format!("is required beside `{}`", entry.key),
                        );
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn list(
        &mut self,
        schema: &'s Map,
        items: &[Node],
        node: &Node,
    ) -> Result<(), String> {
        self.bounds(schema, ["minItems", "maxItems"], items.len(), "items", node);
        // Until 2019-09 `items` may be the schemas of the first ones, and `additionalItems` that of the others.
        let list = |key| schema.get(key).and_then(|node| node.value.as_list());
        let old = list("items");
        let first: &[Node] = list("prefixItems").or(old).map_or(&[], |list| list);
        let others = match old {
            Some(_) => schema.get("additionalItems"),
            None => schema.get("items"),
        };
        for (index, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(index).or(others) {
                let length = self.path.len();
                self.path.push_str(&format!("[{index}]"));
                self.node(schema, item)?;
                self.path.truncate(length);
            }
        }
        if let Some(contained) = schema.get("contains") {
            let mut count = 0;
            for item in items {
                count += usize::from(self.collect_mismatches(contained, item)?.is_empty());
            }
            let least = limit(schema, "minContains").unwrap_or(1);
            let most = limit(schema, "maxContains").unwrap_or(usize::MAX);
            if !(least..=most).contains(&count) {
                let message = format!("has {count} items that the schema's `contains` is for");
                self.problem(node, message);
            }
        }
        if is_true(schema.get("uniqueItems")) {
            let mut seen = BTreeSet::new();
            for item in items {
                if !seen.insert(self.comparable(&item.value)?) {
                    self.problem(item, "occurs twice in the list");
                }
            }
        }
        Ok(())
    }

    pub(super) fn string(&mut self, schema: &'s Map, own: &str, node: &Node) -> Result<(), String> {
        if schema.get("minLength").is_some() || schema.get("maxLength").is_some() {
            let count = own.chars().count();
            self.bounds(
                schema,
                ["minLength", "maxLength"],
                count,
                "characters",
                node,
            );
        }
        if let Some(pattern) = schema.get("pattern").and_then(text)
            && !self.is_match(pattern, own)?
        {
            let own = format!(", not be {}", excerpt(&node.value));
            self.report(node, format!("must match `{pattern}`"), own);
        }
        let format = schema.get("format").and_then(text);
        if let Some(format) = format.filter(|format| !is_of_format(own, format)) {
            self.has_unmet_format = true;
            if self.has_formats {
                self.problem(node, format!("must be of the format `{format}`"));
            }
        }
        Ok(())
    }

    fn is_match(&mut self, pattern: &str, text: &str) -> Result<bool, String> {
        let pattern = self.schema.pattern(pattern)?;
        Ok(pattern.is_match(text))
    }

    pub(super) fn number(&mut self, schema: &Map, own: Number, node: &Node) {
        let number = as_float(own);
        let shown = format!(", not {}", format_number(own));
        let limit = |key| match schema.get(key)?.value {
            Value::Number(bound) => Some(bound),
            _ => None,
        };
        let (least, most) = (limit("minimum"), limit("maximum"));
        // In draft 4 the word only says that the bound itself is excluded.
        let exclusive =
            |key, bound: Option<Number>| limit(key).or(bound.filter(|_| is_true(schema.get(key))));
        let above = exclusive("exclusiveMinimum", least);
        let below = exclusive("exclusiveMaximum", most);
        type IsWrong = fn(&f64, &f64) -> bool;
        let bounds: [(Option<Number>, &str, IsWrong); 4] = [
            (least, "at least", f64::lt),
            (most, "at most", f64::gt),
            (above, "more than", f64::le),
            (below, "less than", f64::ge),
        ];
        for (bound, relation, is_wrong) in bounds {
            if let Some(bound) = bound.filter(|bound| is_wrong(&number, &as_float(*bound))) {
                let message = format!("must be {relation} {}", format_number(bound));
                self.report(node, message, shown.clone());
            }
        }
        let step = limit("multipleOf").filter(|step| as_float(*step) > 0.0);
        if let Some(step) = step.filter(|step| (number / as_float(*step)).fract() != 0.0) {
            let message = format!("must be a multiple of {}", format_number(step));
            self.report(node, message, shown);
        }
    }

    fn bounds(&mut self, schema: &Map, keys: [&str; 2], count: usize, what: &str, node: &Node) {
        let [least, most] = keys.map(|key| limit(schema, key));
        if let Some(least) = least.filter(|least| count < *least) {
            self.problem(
                node,
                format!("must have at least {least} {what}, not {count}"),
            );
        }
        if let Some(most) = most.filter(|most| count > *most) {
            self.problem(
                node,
                format!("must have at most {most} {what}, not {count}"),
            );
        }
    }
}

fn text(node: &Node) -> Option<&str> {
    let text = node.value.as_str()?;
    Some(text)
}

fn is_true(node: Option<&Node>) -> bool {
    node.is_some_and(|node| node.value == Value::Bool(true))
}

fn texts<'s>(schema: &'s Map, key: &str) -> impl Iterator<Item = &'s str> {
    let list = schema.get(key).and_then(|node| node.value.as_list());
    list.into_iter()
        .flat_map(|list| list.iter())
        .filter_map(text)
}

fn limit(schema: &Map, key: &str) -> Option<usize> {
    match schema.get(key)?.value {
        Value::Number(number) => Some(as_float(number).max(0.0) as usize),
        _ => None,
    }
}

/// Whether a text has a format, approximately as Helm up to 3.17 validates it. Unknown formats accept any text.
fn is_of_format(text: &str, format: &str) -> bool {
    match format {
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "email" | "idn-email" => text.contains('@'),
        "uri" | "iri" => text.contains(':'),
        "hostname" => !text.is_empty() && !text.contains(' '),
        "date" | "time" | "date-time" => text.starts_with(|first: char| first.is_ascii_digit()),
        "regex" => Regexp::new(text).is_ok(),
        "uuid" => text.len() == 36,
        _ => true,
    }
}

/// A type of JSON Schema, for people.
fn describe_type(name: &str) -> &'static str {
    match name {
        "null" => "null",
        "boolean" => "true or false",
        "string" => "a string",
        "array" => "a list",
        "object" => "a map",
        "number" => "a number",
        "integer" => "an integer",
        _ => "of a type that does not exist",
    }
}

/// A value in a message: of a long text its beginning.
fn excerpt(value: &Value) -> String {
    match value {
        Value::String(text) if text.len() > LONGEST_SHOWN => {
            let end = text.floor_char_boundary(LONGEST_SHOWN);
            format!("\"{}…\"", &text[..end])
        }
        scalar => to_json(scalar, Html::Plain),
    }
}
