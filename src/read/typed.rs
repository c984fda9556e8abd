//! The project file as types, with every key that no type knows reported at its place.

use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::generate::SchemaSettings;
use serde_json::Value as Json;
use yaml_tree::place::{Place, Source, Spot};
use yaml_tree::suggest::did_you_mean;
use yaml_tree::value::{Entry, Map, Node, Value};

use crate::model::finding::Finding;
use crate::model::rule::RuleId;

use super::project::ProjectFile;
use super::rule_options::no_rule;

/// The project file that a tree holds. What is wrong in it is reported; the rest is used.
pub(super) fn project(
    tree: &Node,
    source: &Arc<Source>,
    findings: &mut Vec<Finding>,
) -> ProjectFile {
    let schema = project_schema();
    let mut walk = Walk {
        definitions: &schema["$defs"],
        source,
        findings,
        path: Vec::new(),
    };
    let data = walk
        .node(tree, &schema)
        .unwrap_or(Json::Object(serde_json::Map::new()));
    serde_json::from_value(data).unwrap_or_else(|error| {
        // What the schema cannot say, such as a number that is not one of two.
        let spot = Spot::from_range(source, 0, 0);
        walk.findings
            .push(Finding::new(RuleId::ProjectFile, error.to_string()).with_label(Some(spot), ""));
        ProjectFile::default()
    })
}

/// The name of the project file's schema. It is no address: `metalmark schema` prints what it names.
const SCHEMA_ID: &str = "urn:metalmark:project:1";

/// The JSON Schema of the project file for editors: draft 2020-12, each key with what it means.
pub fn project_schema() -> Json {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<ProjectFile>().to_value();
    if let Json::Object(map) = &mut schema {
        map.insert("$id".to_owned(), Json::from(SCHEMA_ID));
        map.insert("title".to_owned(), Json::from("metalmark.yaml"));
    }
    schema
}

/// A property by its name or its older spelling, `x-older-spelling`.
fn property<'s>(
    known: &'s serde_json::Map<String, Json>,
    key: &str,
) -> Option<(&'s str, &'s Json)> {
    let is_meant = |(name, property): &(&String, &Json)| {
        name.as_str() == key || property["x-older-spelling"] == key
    };
    let (name, property) = known.iter().find(is_meant)?;
    Some((name, property))
}

/// Holds a tree against a schema that was derived from types: maps, lists, scalars and options are all there is.
struct Walk<'a> {
    /// What the schema's references name.
    definitions: &'a Json,
    source: &'a Arc<Source>,
    findings: &'a mut Vec<Finding>,
    /// As people write it: `clusters`, `[0]`, `name`.
    path: Vec<String>,
}

impl<'a> Walk<'a> {
    /// The data that the types take; none where it is wrong, which is reported.
    fn node(&mut self, node: &Node, schema: &'a Json) -> Option<Json> {
        let words = &schema["propertyNames"];
        let schema = self.present(schema, &node.value);
        match &node.value {
            Value::Map(map)
                if schema["properties"].is_object()
                    || schema["additionalProperties"].is_object() =>
            {
                self.map(map, node.place, schema, words)
            }
            Value::List(items) if schema["items"].is_object() => {
                let mut read = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    self.path.push(format!("[{index}]"));
                    if item.value.is_null() {
                        let message = format!("`{}` is empty", self.place_name());
                        self.report(
                            message,
                            item.place,
                            "remove it, or say what it is".to_owned(),
                        );
                    }
                    read.extend(self.node(item, &schema["items"]));
                    self.path.pop();
                }
                Some(Json::Array(read))
            }
            Value::Null => None,
            value => self.scalar(value, node, schema),
        }
    }

    /// The schema of a value that is there: of a reference, what it names; of an option, the part that is not null; of a word, a
    /// number or a map, the part of its kind.
    fn present(&self, schema: &'a Json, value: &Value) -> &'a Json {
        let schema = self.definition(schema);
        let parts = schema["anyOf"].as_array().into_iter().flatten();
        let parts = parts.map(|part| self.definition(part));
        let parts: Vec<&Json> = parts.filter(|part| part["type"] != "null").collect();
        let is_map = matches!(value, Value::Map(_));
        let is_number = matches!(value, Value::Number(_));
        let is_of_kind = |part: &&&Json| (part["type"] == "object") == is_map;
        let is_exact = |part: &&&Json| (part["type"] == "integer") == is_number;
        let mut of_kind = parts.iter().filter(is_of_kind);
        let exact = of_kind.clone().find(is_exact);
        let best = exact.or(of_kind.next()).or(parts.first());
        // Of an option of several kinds, the part is several again.
        best.map_or(schema, |part| self.present(part, value))
    }

    /// What a reference to a definition names; any other schema is itself.
    fn definition(&self, schema: &'a Json) -> &'a Json {
        let name = schema["$ref"].as_str();
        let name = name.and_then(|name| name.strip_prefix("#/$defs/"));
        name.map_or(schema, |name| self.definition(&self.definitions[name]))
    }

    fn map(&mut self, map: &Map, place: Place, schema: &'a Json, words: &Json) -> Option<Json> {
        let known = schema["properties"].as_object();
        let open = matches!(
            schema.get("additionalProperties"),
            None | Some(Json::Bool(true))
        );
        let other = schema
            .get("additionalProperties")
            .filter(|other| other.is_object());
        let names = names(schema, words);
        let is_closed = words["enum"].is_array();
        let is_word = |key: &str| {
            names.contains(key) || !is_closed && did_you_mean(key, names.iter().copied()).is_none()
        };
        let mut read = serde_json::Map::new();
        for entry in map {
            let property = known.and_then(|known| property(known, &entry.key));
            let name = property.map_or(&*entry.key, |(name, _)| name);
            let property = property.map(|(_, property)| property);
            self.path.push(entry.key.to_string());
            let other = other.filter(|_| is_word(&entry.key));
            let value = match property.or(other) {
                Some(property) => self.node(&entry.node, property),
                None if open => Some(Json::from(&entry.node.value)),
                None => {
                    self.report_unknown_key(entry, schema, &names);
                    None
                }
            };
            self.path.pop();
            read.extend(value.map(|value| (name.to_owned(), value)));
        }
        let mut whole = true;
        for required in schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
        {
            if map.get(required).is_none() {
                let message = format!("`{required}` is missing{}", self.place_phrase());
                self.report(message, place, format!("write `{required}: …`"));
            }
            whole &= read.contains_key(required);
        }
        whole.then_some(Json::Object(read))
    }

    fn report_unknown_key(&mut self, entry: &Entry, schema: &Json, names: &BTreeSet<&str>) {
        let (key, place) = (&*entry.key, entry.key_place);
        if schema["x-names"] == "rule" {
            let (message, help) = no_rule(key);
            return self.report(message, place, help);
        }
        let help = match did_you_mean(key, names.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!(
                "known here: {}",
                names
                    .iter()
                    .map(|name| format!("`{name}`"))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        };
        self.path.pop();
        let message = format!("the project file knows no `{key}`{}", self.place_phrase());
        self.path.push(key.to_owned());
        self.report(message, place, help);
    }

    fn scalar(&mut self, value: &Value, node: &Node, schema: &Json) -> Option<Json> {
        let choices = choices(schema);
        let data = Json::from(value);
        let wanted = match kind(schema) {
            _ if choices.contains(&&data) => return Some(data),
            // YAML 1.1's other word for `false`.
            _ if choices.contains(&&Json::from("off")) && data == Json::Bool(false) => {
                return Some(Json::from("off"));
            }
            _ if !choices.is_empty() => {
                let words: Vec<String> = choices.iter().map(|word| display(word)).collect();
                return self.no_choice(&words, &data, node.place);
            }
            Some("string") if matches!(value, Value::String(_)) => return Some(data),
            Some("boolean") if matches!(value, Value::Bool(_)) => return Some(data),
            // Every integer of the project file is a `u32`, but for sizes in bytes.
            Some("integer")
                if data
                    .as_u64()
                    .is_some_and(|n| schema["format"] == "uint64" || u32::try_from(n).is_ok()) =>
            {
                return Some(data);
            }
            Some("number") if matches!(value, Value::Number(_)) => return Some(data),
            Some("string") => "a string",
            Some("boolean") => "`true` or `false`",
            Some("integer") => "a whole number",
            Some("number") => "a number",
            Some("array") => "a list",
            Some("object") => "a map",
            _ => return Some(data),
        };
        let found = match value {
            Value::Number(_) if wanted == "a whole number" => format!("`{}`", display(&data)),
            _ => value.kind().to_owned(),
        };
        let message = format!("`{}` is {wanted}, and this is {found}", self.place_name());
        let help = match value {
            Value::Bool(_) if wanted == "a string" => {
                "`on`, `off`, `yes` and `no` are booleans to YAML 1.1: quote the word".to_owned()
            }
            Value::Number(_) if wanted == "a string" => "quote it".to_owned(),
            _ => format!("write {wanted}"),
        };
        self.report(message, node.place, help);
        None
    }

    /// Reports a value that is none of the few that a setting has.
    fn no_choice(&mut self, words: &[String], found: &Json, place: Place) -> Option<Json> {
        let listed = words.iter().map(|word| format!("`{word}`"));
        let listed = listed.collect::<Vec<_>>().join(", ");
        let name = self.place_name();
        let message = match found {
            Json::Array(_) | Json::Object(_) => format!("`{name}` is one of {listed}"),
            // A number in quotes.
            Json::String(text) if words.contains(text) => {
                format!("`{name}` is one of {listed}, not `{found}`")
            }
            _ => format!("`{name}` is one of {listed}, not `{}`", display(found)),
        };
        let near = did_you_mean(&display(found), words.iter().map(String::as_str));
        let help = match near {
            _ if found.is_number() && words.contains(&display(found)) => "quote it".to_owned(),
            Some(word) => format!("did you mean `{word}`?"),
            None => format!("write one of {listed}"),
        };
        self.report(message, place, help);
        None
    }

    fn place_name(&self) -> String {
        self.path.join(".").replace(".[", "[")
    }

    fn place_phrase(&self) -> String {
        if self.path.is_empty() {
            String::new()
        } else {
            format!(" in `{}`", self.place_name())
        }
    }

    fn report(&mut self, message: String, place: Place, help: String) {
        let spot = Spot::new(self.source, place);
        self.findings.push(
            Finding::new(RuleId::ProjectFile, message)
                .with_label(Some(spot), "")
                .help(help),
        );
    }
}

/// The keys that a map is known to have, by its properties and by the words that `propertyNames` lists.
fn names<'s>(schema: &'s Json, words: &'s Json) -> BTreeSet<&'s str> {
    let known = schema["properties"].as_object().into_iter().flatten();
    let listed = [&words["enum"], &words["anyOf"][0]["enum"]];
    let listed = listed.into_iter().filter_map(Json::as_array).flatten();
    let listed = listed.filter_map(Json::as_str);
    known.map(|(name, _)| name.as_str()).chain(listed).collect()
}

/// The type that a schema requires, null aside.
fn kind(schema: &Json) -> Option<&str> {
    let several = schema["type"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Json::as_str);
    schema["type"]
        .as_str()
        .or_else(|| several.into_iter().find(|kind| *kind != "null"))
}

/// The values of an enumeration, written as `enum` or, where each has a description, as `oneOf` constants.
fn choices(schema: &Json) -> Vec<&Json> {
    let plain = schema["enum"].as_array().into_iter().flatten();
    let described = schema["oneOf"].as_array().into_iter().flatten();
    plain
        .chain(described.filter_map(|part| part.get("const")))
        .collect()
}

/// A scalar as written in a file, without quotes.
fn display(value: &Json) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
