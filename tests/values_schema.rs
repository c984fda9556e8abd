//! Values compared with a chart's schema: what is refused, and that Helm refuses the same.

use std::fs;
use std::process::Command;

use capi::schema::ValuesSchema;
use serde_json::{Value, json};
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;
use yaml_tree::value::Node;

use super::helm::helm;
use super::programs;
use super::support::stage::project;

fn values(text: &str) -> Node {
    yaml_tree::values(text, FileId(0), Engine::Helm3).expect("values")
}

/// What is wrong with values, one line each.
fn found(schema: &str, text: &str) -> Vec<String> {
    let schema = ValuesSchema::parse(schema).expect("a schema");
    let found = schema.check(&values(text)).expect("applicable");
    let line = found
        .iter()
        .map(|one| format!("{} {}{}", one.path, one.message, one.shown));
    line.collect()
}

const SCHEMA: &str = r##"{
  "$schema": "http://json-schema.org/draft-07/schema#",
  "definitions": {
    "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
    "tree": {"type": "object", "properties": {"leaf": {"$ref": "#/definitions/name"}, "below": {"$ref": "#/definitions/tree"}}, "additionalProperties": false}
  },
  "type": "object",
  "properties": {
    "name": {"$ref": "#/definitions/name"},
    "tree": {"$ref": "#/definitions/tree"},
    "count": {"type": "integer", "minimum": 1, "maximum": 9, "multipleOf": 2},
    "ratio": {"type": ["number", "null"], "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    "mode": {"enum": ["bridge", "bond", 3]},
    "fixed": {"const": {"a": 1}},
    "list": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3, "uniqueItems": true},
    "pair": {"items": [{"type": "string"}, {"type": "integer"}], "additionalItems": false},
    "some": {"contains": {"type": "integer"}},
    "either": {"anyOf": [{"type": "boolean"}, {"type": "string", "pattern": "^{{"}]},
    "one": {"oneOf": [{"minimum": 5}, {"multipleOf": 3}]},
    "not": {"not": {"type": "string"}},
    "host": {"if": {"required": ["ip"]}, "then": {"required": ["port"]}, "else": {"required": ["name"]}},
    "labels": {"type": "object", "propertyNames": {"pattern": "^[a-z]"}, "patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": {"type": "string"}, "minProperties": 1, "maxProperties": 2},
    "user": {"dependencies": {"password": ["name"], "key": {"required": ["kind"]}}},
    "never": false,
    "always": true
  },
  "required": ["name"]
}"##;

/// Values, and the only thing that is wrong with them. `\n` ends a line of the values.
const CASES: &str = r##"
name: ab |
always: 1 | name is required
name: 1 | name must be a string, not a number
name: AB | name must match `^[a-z]+$`, not be "AB"
name: abcdef | name must have at most 5 characters, not 6
name: ab\ntree: {below: {below: {leaf: ab}}} |
name: ab\ntree: {below: {below: {leaf: 1}}} | tree.below.below.leaf must be a string, not a number
name: ab\ntree: {below: {leaff: ab}} | tree.below.leaff is not a key of the chart; did you mean `leaf`?
name: ab\ncount: 2 |
name: ab\ncount: 2.0 |
name: ab\ncount: '2' | count must be an integer, not a string
name: ab\ncount: 0 | count must be at least 1, not 0
name: ab\ncount: 10 | count must be at most 9, not 10
name: ab\ncount: 3 | count must be a multiple of 2, not 3
name: ab\nratio: 0.5 |
name: ab\nratio: 0 | ratio must be more than 0, not 0
name: ab\nratio: 1 | ratio must be less than 1, not 1
name: ab\nratio: a | ratio must be a number or null, not a string
name: ab\nmode: bond |
name: ab\nmode: 3.0 |
name: ab\nmode: bonds | mode must be one of "bridge", "bond", 3, not "bonds"
name: ab\nfixed: {a: 1} |
name: ab\nfixed: {a: 2} | fixed is not a value that the schema allows
name: ab\nlist: [a, b] |
name: ab\nlist: [] | list must have at least 1 items, not 0
name: ab\nlist: [a, b, c, d] | list must have at most 3 items, not 4
name: ab\nlist: [a, 1] | list[1] must be a string, not a number
name: ab\nlist: [a, a] | list occurs twice in the list
name: ab\npair: [a, 1] |
name: ab\npair: [a, b] | pair[1] must be an integer, not a string
name: ab\npair: [a, 1, 2] | pair[2] is not allowed
name: ab\nsome: [a, 1] |
name: ab\nsome: [a] | some has 0 items that the schema's `contains` is for
name: ab\neither: true |
name: ab\neither: '{{ .Values.x }}' |
name: ab\neither: 1 | either must be true or false or a string, not a number
name: ab\none: 3 |
name: ab\none: 6 | one fits 2 of the alternatives in the schema, not one
name: ab\none: 1 | one fits none of the alternatives in the schema
name: ab\nnot: 1 |
name: ab\nnot: a | not is what the schema excludes (`not`)
name: ab\nhost: {ip: 1, port: 2} |
name: ab\nhost: {ip: 1} | host.port is required
name: ab\nhost: {port: 1} | host.name is required
name: ab\nlabels: {a: b, x-a: 1} |
name: ab\nlabels: {A: b} | labels.A must match `^[a-z]`, not be "A"
name: ab\nlabels: {x-a: b} | labels.x-a must be an integer, not a string
name: ab\nlabels: {a: 1} | labels.a must be a string, not a number
name: ab\nlabels: {} | labels must have at least 1 keys, not 0
name: ab\nlabels: {a: a, b: b, c: c} | labels must have at most 2 keys, not 3
name: ab\nuser: {name: a, password: b} |
name: ab\nuser: {password: b} | user.name is required beside `password`
name: ab\nuser: {key: b} | user.kind is required
name: ab\nnever: 1 | never is not allowed
"##;

/// The values of each case, and what is wrong with them.
fn cases() -> Vec<(String, &'static str)> {
    let lines = CASES.trim().lines();
    let pairs = lines.map(|line| line.split_once(" |").expect("two columns"));
    pairs
        .map(|(text, wrong)| (text.replace("\\n", "\n"), wrong.trim()))
        .collect()
}

#[test]
fn values_are_refused_with_what_is_wrong_with_them() {
    for (text, expected) in cases() {
        let expected: Vec<&str> = expected.lines().collect();
        assert_eq!(found(SCHEMA, &text), expected, "{text}");
    }
}

#[test]
fn helm_refuses_the_same_values() {
    let Some((helm, _)) = helm() else {
        return;
    };
    let stage = project()
        .file("Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n")
        .file("values.schema.json", SCHEMA);
    for (text, expected) in cases() {
        stage.write("own.yaml", &text);
        let output = Command::new(&helm)
            .current_dir(stage.path())
            .args("template a . -f own.yaml".split(' '))
            .output()
            .expect("helm starts");
        let message = String::from_utf8_lossy(&output.stderr);
        let is_taken = output.status.success();
        assert_eq!(is_taken, expected.is_empty(), "{text}: {message}");
    }
}

/// Helm up to 3.17 validates formats, later versions do not.
#[test]
fn what_only_some_versions_of_helm_refuse_is_no_finding() {
    let address = r#"{"properties": {"ip": {"oneOf": [{"format": "ipv4"}, {"maxLength": 0}]}}}"#;
    assert_eq!(found(address, "ip: ''"), [""; 0]);
    assert_eq!(found(address, "ip: 192.0.2.1"), [""; 0]);
    let strict = r#"{"properties": {"ip": {"format": "ipv4"}}}"#;
    assert_eq!(found(strict, "ip: none"), [""; 0]);
}

#[test]
fn a_schema_that_cannot_be_applied_says_why() {
    let why = |schema: &str, text: &str| {
        let schema = ValuesSchema::parse(schema)?;
        schema.check(&values(text)).map(|_| ())
    };
    for (schema, expected) in [
        (
            r#"{"unevaluatedProperties": false}"#,
            "`unevaluatedProperties` is not understood",
        ),
        (
            r#"{"$ref": "other.json"}"#,
            "it refers to `other.json`, which is not in it",
        ),
        (
            r##"{"$ref": "#/a"}"##,
            "it refers to `#/a`, which is not in it",
        ),
        (
            r##"{"$ref": "#"}"##,
            "it is applied more than 400 levels deep",
        ),
        (
            r#"{"allOf": [1]}"#,
            "a schema in it is neither a map nor true or false",
        ),
        (
            r#"{"patternProperties": {"(": {}}}"#,
            "its pattern `(` cannot be used",
        ),
    ] {
        let error = why(schema, "a: 1").expect_err(schema);
        assert!(error.starts_with(expected), "{schema}: {error}");
    }
    let error = why("{\n  \"a\": [\n", "a: 1").expect_err("no JSON");
    assert!(error.starts_with("line "), "{error}");
    // Each level doubles the work.
    let levels = (0..40).map(|level| {
        let next = json!({"$ref": format!("#/definitions/l{}", level + 1)});
        (format!("l{level}"), json!({"allOf": [next, next]}))
    });
    let mut levels: serde_json::Map<String, Value> = levels.collect();
    levels.insert("l40".into(), json!({}));
    let bomb = json!({"$ref": "#/definitions/l0", "definitions": levels}).to_string();
    assert_eq!(
        why(&bomb, "a: 1"),
        Err("it applies more than 20000000 schemas".to_owned())
    );
}

#[test]
fn schemas_of_values_are_applied_as_deep_as_is_stated() {
    let schema =
        ValuesSchema::parse(r##"{"additionalProperties": {"$ref": "#"}}"##).expect("a schema");
    // Each level is a schema and a reference to it.
    for (levels, is_applied) in [(199, true), (200, false)] {
        let text = format!("{}1{}", "{a: ".repeat(levels), "}".repeat(levels));
        let found = schema.check(&values(&text));
        assert_eq!(found.is_ok(), is_applied, "{levels}: {found:?}");
    }
}

#[test]
fn a_secret_that_a_schema_refuses_is_not_shown() {
    let long = "s3cr3t".repeat(20);
    let refused = r#"{"type": "string", "pattern": "^never$", "enum": ["a", "b"]}"#;
    let schema = format!(
        r#"{{"properties": {{"cluster": {{"properties": {{"password": {refused}, "token": {refused}, "pin": {{"type": "string"}}, "port": {{"maximum": 3}}}}}}}}}}"#
    );
    let secrets =
        format!("cluster: {{password: hunter2, token: {long}, pin: 48151623, port: 48151624}}\n");
    let stage = project()
        .cluster("secrets", &secrets)
        .settings("values: [chart/values.yaml]")
        .file(
            "chart/Chart.yaml",
            "apiVersion: v2\nname: a\nversion: 1.0.0\n",
        )
        .file("chart/values.yaml", "cluster: {}\n")
        .file("chart/values.schema.json", schema);
    for format in ["human", "json", "sarif"] {
        let run = stage.run(&format!("check --output {format}")).exit(1);
        let screen = run.outcome.stdout + &run.outcome.stderr;
        // Its type is known, and nothing else.
        assert!(
            screen.contains("`cluster.pin` must be a string"),
            "{screen}"
        );
        assert!(!screen.contains("`cluster.port`"), "{screen}");
        for part in ["hunter", "s3cr3t", "4815"] {
            assert!(!screen.contains(part), "{format}: {screen}");
        }
    }
}

/// The tests of the language's authors (<https://github.com/json-schema-org/JSON-Schema-Test-Suite>), where `JSON_SCHEMA_SUITE` names
/// a checkout of them. Values of Helm are maps, so that each test is put below a key if its schema has no references.
#[test]
fn the_tests_of_json_schemas_authors_pass() {
    let Some(root) = programs::named("JSON_SCHEMA_SUITE") else {
        return;
    };
    let (mut passed, mut refused, mut wrong) = (0, 0, Vec::new());
    for (draft, uri) in [
        ("draft4", "http://json-schema.org/draft-04/schema#"),
        ("draft6", "http://json-schema.org/draft-06/schema#"),
        ("draft7", "http://json-schema.org/draft-07/schema#"),
        (
            "draft2019-09",
            "https://json-schema.org/draft/2019-09/schema",
        ),
        (
            "draft2020-12",
            "https://json-schema.org/draft/2020-12/schema",
        ),
    ] {
        for entry in fs::read_dir(root.join("tests").join(draft)).expect("a folder") {
            let path = entry.expect("an entry").path();
            // That is about languages of one's own.
            let is_other = path.ends_with("vocabulary.json");
            if is_other || path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let text = fs::read_to_string(&path).expect("readable");
            let groups: Value = serde_json::from_str(&text).expect("JSON");
            for group in groups.as_array().expect("a list") {
                let mut schema = group["schema"].clone();
                let is_whole = schema.to_string().contains("$ref");
                if !is_whole {
                    schema = json!({"properties": {"value": schema}});
                }
                if let Some(map) = schema.as_object_mut() {
                    map.insert("$schema".to_owned(), uri.into());
                }
                let parsed = ValuesSchema::parse(&schema.to_string()).expect("a schema");
                for test in group["tests"].as_array().expect("a list") {
                    let data = if is_whole {
                        test["data"].clone()
                    } else {
                        json!({"value": test["data"]})
                    };
                    if !data.is_object() {
                        continue;
                    }
                    let is_valid = test["valid"].as_bool().expect("true or false");
                    match parsed.check(&values(&data.to_string())) {
                        Err(_) => refused += 1,
                        Ok(found) if found.is_empty() == is_valid => passed += 1,
                        Ok(found) => wrong.push(format!(
                            "{draft} {} {}: {found:?}",
                            group["description"], test["description"]
                        )),
                    }
                }
            }
        }
    }
    println!("{passed} passed, {refused} refused in words");
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(passed > 4_000, "{passed}");
}
