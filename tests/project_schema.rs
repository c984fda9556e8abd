//! The published schema of the project file takes every project of the fixtures, and no key that metalmark does not know.

use std::fs;
use std::process::Command;

use metalmark::model::engine::Engine;
use metalmark::model::json::{Html, to_json};
use metalmark::model::place::FileId;
use metalmark::yaml;
use serde_json::Value as Json;

use super::support::repository;

fn published() -> Json {
    let output = Command::new(env!("CARGO_BIN_EXE_metalmark"))
        .arg("schema")
        .output()
        .expect("the binary runs");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// What is wrong with data, by as much of draft 2020-12 as the schema uses; an unknown keyword is a fault too.
fn faults(root: &Json, schema: &Json, data: &Json, at: &str) -> Vec<String> {
    let fault = |what: &str| vec![format!("{at}: {what}: {data}")];
    let mut found = Vec::new();
    for (keyword, wanted) in schema.as_object().into_iter().flatten() {
        let passing = |part: &&Json| faults(root, part, data, at).is_empty();
        found.extend(match keyword.as_str() {
            "$ref" => {
                let path = wanted.as_str().expect("text").trim_start_matches('#');
                let target = root.pointer(path).expect("a definition");
                faults(root, target, data, at)
            }
            "type" => {
                let is = |kind: &Json| match kind.as_str().expect("text") {
                    "null" => data.is_null(),
                    "string" => data.is_string(),
                    "boolean" => data.is_boolean(),
                    "integer" => data.is_u64() || data.is_i64(),
                    "array" => data.is_array(),
                    "object" => data.is_object(),
                    other => panic!("type {other}"),
                };
                let kinds = wanted.as_array().cloned().unwrap_or(vec![wanted.clone()]);
                if kinds.iter().any(is) {
                    Vec::new()
                } else {
                    fault("type")
                }
            }
            "enum" if wanted.as_array().expect("a list").contains(data) => Vec::new(),
            "const" if wanted == data => Vec::new(),
            "enum" | "const" => fault("choice"),
            "anyOf" | "oneOf" => match wanted
                .as_array()
                .expect("a list")
                .iter()
                .filter(passing)
                .count()
            {
                1 => Vec::new(),
                0 => fault(keyword),
                _ if keyword == "anyOf" => Vec::new(),
                _ => fault("several"),
            },
            "required" => {
                let missing = |name: &&Json| data.get(name.as_str().expect("text")).is_none();
                let missing = wanted.as_array().expect("a list").iter().filter(missing);
                missing
                    .map(|name| format!("{at}: {name} is missing"))
                    .collect()
            }
            "properties" => {
                let known = wanted.as_object().expect("a map").iter();
                let present = known.filter_map(|(name, part)| Some((name, part, data.get(name)?)));
                present
                    .flat_map(|(name, part, data)| {
                        faults(root, part, data, &format!("{at}.{name}"))
                    })
                    .collect()
            }
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Json::as_object);
                let others = data.as_object().into_iter().flatten();
                let others =
                    others.filter(|(name, _)| known.is_none_or(|known| !known.contains_key(*name)));
                others
                    .flat_map(|(name, data)| match wanted {
                        Json::Bool(false) => vec![format!("{at}: `{name}` is not known")],
                        part => faults(root, part, data, &format!("{at}.{name}")),
                    })
                    .collect()
            }
            "items" => {
                let items = data.as_array().into_iter().flatten();
                items
                    .flat_map(|item| faults(root, wanted, item, &format!("{at}[]")))
                    .collect()
            }
            "minimum" => match data.as_f64() < wanted.as_f64() && data.is_number() {
                true => fault("minimum"),
                false => Vec::new(),
            },
            "$schema" | "$id" | "$defs" | "title" | "description" | "default" | "format" => {
                Vec::new()
            }
            other => panic!("the test knows no keyword `{other}`"),
        });
    }
    found
}

/// A project file as an editor reads it: `off` is a word to YAML 1.2.
fn project(text: &str) -> Json {
    let text = text.replace(": off", ": 'off'");
    let tree = yaml::values(&text, FileId(0), Engine::Helm3).expect("YAML");
    serde_json::from_str(&to_json(&tree.value, Html::Plain)).expect("JSON")
}

#[test]
fn every_project_of_the_fixtures_passes_and_unknown_keys_do_not() {
    let schema = published();
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    let mut count = 0;
    for entry in walkdir::WalkDir::new(repository().join("fixtures")) {
        let entry = entry.expect("readable");
        if entry.file_name() != "metalmark.yaml" {
            continue;
        }
        let text = fs::read_to_string(entry.path()).expect("text");
        let found = faults(&schema, &schema, &project(&text), "");
        let is_bad = entry.path().ends_with("project-file/bad/metalmark.yaml");
        assert_eq!(
            !found.is_empty(),
            is_bad,
            "{}: {found:?}",
            entry.path().display()
        );
        count += 1;
    }
    assert!(count > 80, "{count}");
    for text in [
        "valeus: []",
        "clusters: [{nam: a}]",
        "images: {fact: []}",
        "policy: {waivers: [{rule: a, where: b, reason: c, til: d}]}",
    ] {
        assert!(
            !faults(&schema, &schema, &project(text), "").is_empty(),
            "{text}"
        );
    }
}

#[test]
fn every_key_of_the_schema_is_described() {
    let schema = published();
    let defs = schema["$defs"].as_object().expect("a map").values();
    for object in defs.chain([&schema]) {
        for (name, property) in object["properties"].as_object().into_iter().flatten() {
            assert!(property["description"].is_string(), "{name}");
        }
    }
}
