//! The published schema of the project file takes every project of the fixtures, and no key that metalmark does not know.

use std::fs;
use std::process::Command;

use serde_json::Value as Json;
use yaml_tree::engine::Engine;
use yaml_tree::json::{Html, to_json};
use yaml_tree::place::FileId;

use super::support::{golden, repository, stage};

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
            "propertyNames" => {
                let keys = data.as_object().into_iter().flatten();
                keys.flat_map(|(key, _)| faults(root, wanted, &Json::from(key.as_str()), at))
                    .collect()
            }
            "minimum" => {
                if data.as_f64() < wanted.as_f64() && data.is_number() {
                    fault("minimum")
                } else {
                    Vec::new()
                }
            }
            "$schema" | "$id" | "x-names" | "$defs" | "title" | "x-older-spelling"
            | "description" | "default" | "format" => Vec::new(),
            other => panic!("the test knows no keyword `{other}`"),
        });
    }
    found
}

/// A project file as an editor reads it: `off` is a word to YAML 1.2.
fn project(text: &str) -> Json {
    let text = text.replace(": off", ": 'off'");
    let tree = yaml_tree::values(&text, FileId(0), Engine::Helm3).expect("YAML");
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
        assert!(found.is_empty(), "{}: {found:?}", entry.path().display());
        count += 1;
    }
    assert!(count > 15, "{count}");
    for text in [
        "valeus: []",
        "clusters: [{nam: a}]",
        "images: {fact: []}",
        "policy: {waivers: [{rule: a, where: b, reason: c, til: d}]}",
        "policy: {rules: {image-unusd: error}}",
        "images: {records: {noble: {locations: {azure: {gallry: a}}}}}",
        "images: {records: {noble: {locations: {https: {url: a, fromat: raw}}}}}",
        "policy: {rules: {image-unused: {level: error, minors: 2}}}",
    ] {
        assert!(
            !faults(&schema, &schema, &project(text), "").is_empty(),
            "{text}"
        );
    }
}

/// A provider's own words are as many as it has; what is nearly one of them, or a file's, is a misspelling.
#[test]
fn a_misspelled_key_of_a_location_names_the_key_that_is_meant() {
    let mut found = String::new();
    for location in [
        "azure: {fromat: vhd}",
        "azure: {gallry: images}",
        "azure: {house: images}",
        "ami: {eu-west-1: ami-1, nmae: noble}",
        "ami: {eu-west-1: ami-1, us-gov-east-1: ami-2, name: noble, org: '1'}",
        "nutanix: {fromat: qcow2}",
        "nutanix: {uuid: a}",
        "https: {url: 'https://i.example/a', fromat: qcow2}",
        "https: 5",
        "https: [a]",
        "https: {url: 5}",
        "https: {format: qcow2}",
        "https: {url: 'https://i.example/a', sizes: {disk: large}}",
        "https: {url: 'https://i.example/a', digests: {uncompressed: {sha256: 5}}}",
        "https: {url: 'https://i.example/a', format: qcow2}",
    ] {
        let stage = stage::project().settings(&format!(
            "images:\n  records:\n    noble:\n      k8s: {{flavor: kubeadm, version: 1.34.1}}\n      locations: {{{location}}}\n"
        ));
        let run = stage.run("check --output json").outcome.stdout;
        let run: Json = serde_json::from_str(&run).expect("JSON");
        let lines = run["findings"].as_array().into_iter().flatten();
        let lines = lines.filter(|finding| finding["rule"] == "project-file");
        let lines = lines.map(|finding| {
            let label = &finding["labels"][0];
            let (message, help) = (&finding["message"], &finding["help"][0]);
            let [message, help] = [message, help].map(|text| text.as_str().expect("text"));
            format!(
                "    {}:{} {message}; {help}\n",
                label["line"], label["column"]
            )
        });
        found += &format!("{location}\n{}", lines.collect::<String>());
    }
    stage::assert_text(
        &found,
        snapbox::str![[r#"
azure: {fromat: vhd}
    6:27 the project file knows no `fromat` in `images.records.noble.locations.azure`; did you mean `format`?
azure: {gallry: images}
    6:27 the project file knows no `gallry` in `images.records.noble.locations.azure`; did you mean `gallery`?
azure: {house: images}
    6:27 the project file knows no `house` in `images.records.noble.locations.azure`; known here: `compression`, `definition`, `digests`, `format`, `gallery`, `id`, `offer`, `publisher`, `resource-group`, `sizes`, `sku`, `subscription`, `version`
ami: {eu-west-1: ami-1, nmae: noble}
    6:43 the project file knows no `nmae` in `images.records.noble.locations.ami`; did you mean `name`?
ami: {eu-west-1: ami-1, us-gov-east-1: ami-2, name: noble, org: '1'}
nutanix: {fromat: qcow2}
    6:29 the project file knows no `fromat` in `images.records.noble.locations.nutanix`; did you mean `format`?
nutanix: {uuid: a}
https: {url: 'https://i.example/a', fromat: qcow2}
    6:55 the project file knows no `fromat` in `images.records.noble.locations.https`; did you mean `format`?
https: 5
    6:26 `images.records.noble.locations.https` is a string, and this is a number; quote it
https: [a]
    6:26 `images.records.noble.locations.https` is a string, and this is a list; write a string
https: {url: 5}
    6:32 `images.records.noble.locations.https.url` is a string, and this is a number; quote it
https: {format: qcow2}
    6:26 `url` is missing in `images.records.noble.locations.https`; write `url: …`
https: {url: 'https://i.example/a', sizes: {disk: large}}
    6:69 `images.records.noble.locations.https.sizes.disk` is a whole number, and this is a string; write a whole number
https: {url: 'https://i.example/a', digests: {uncompressed: {sha256: 5}}}
    6:88 `images.records.noble.locations.https.digests.uncompressed.sha256` is a string, and this is a number; quote it
https: {url: 'https://i.example/a', format: qcow2}

"#]],
    );
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

/// The definition whose keys are the rules: docs/rules.md lists them.
const RULES: &str = "RuleOptions";

/// The type of a key, as a reader writes it, with a link to the table of its own keys.
fn kind(schema: &Json, definition: &Json) -> String {
    let named = |reference: &str| {
        let name = reference.rsplit('/').next().expect("a name");
        if name == RULES {
            return "[level or options](rules.md) by rule".to_owned();
        }
        match definition[name].get("properties") {
            Some(_) => format!("[{name}](#{})", name.to_lowercase()),
            None => kind(&definition[name], definition),
        }
    };
    if let Some(reference) = schema["$ref"].as_str() {
        return named(reference);
    }
    let word = |value: &Json| format!("`{}`", value.to_string().trim_matches('"'));
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(word).collect::<Vec<_>>().join(", ");
    }
    if schema.get("const").is_some() {
        return word(&schema["const"]);
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[choice].as_array() {
            let mut kinds: Vec<String> = choices.iter().map(|one| kind(one, definition)).collect();
            kinds.retain(|kind| kind != "null");
            kinds.dedup();
            return kinds.join(" or ");
        }
    }
    let own = match &schema["type"] {
        Json::Array(kinds) => kinds[0].as_str(),
        other => other.as_str(),
    };
    match own {
        Some("array") => format!("list of {}", kind(&schema["items"], definition)),
        Some("object") => match schema.get("additionalProperties") {
            Some(values @ Json::Object(_)) => format!("map of {}", kind(values, definition)),
            _ => "map".to_owned(),
        },
        Some("string") => "text".to_owned(),
        Some(other) => other.to_owned(),
        None => "any".to_owned(),
    }
}

/// A table for the project file and each map in it.
fn reference(root: &Json) -> String {
    let definitions = &root["$defs"];
    let mut tables = vec![("metalmark.yaml", root)];
    let named = definitions.as_object().expect("definitions").iter();
    let named = named.filter(|(name, _)| *name != RULES);
    tables.extend(named.map(|(name, definition)| (name.as_str(), definition)));
    let mut text = String::new();
    for (name, table) in tables {
        let Some(keys) = table["properties"].as_object() else {
            continue;
        };
        let line = |text: &Json| text.as_str().unwrap_or_default().replace('\n', " ");
        text += &format!("\n### {name}\n\n{}\n\n", line(&table["description"]));
        text += "| key | type | default | meaning |\n|---|---|---|---|\n";
        for (key, schema) in keys {
            let required = table["required"].as_array().into_iter().flatten();
            let default = match schema.get("default") {
                _ if required.clone().any(|name| name == key) => "required".to_owned(),
                Some(Json::Null | Json::Object(_) | Json::Array(_)) | None => String::new(),
                Some(value) => format!("`{}`", value.to_string().trim_matches('"')),
            };
            let meaning = line(&schema["description"]).replace('|', "\\|");
            text += &format!(
                "| `{key}` | {} | {default} | {meaning} |\n",
                kind(schema, definitions)
            );
        }
    }
    text
}

#[test]
fn the_page_lists_every_key_of_the_schema() {
    let path = repository().join("docs/project-file.md");
    let page = fs::read_to_string(&path).expect("the page");
    let (before, behind) = page.split_once("<!-- keys -->\n").expect("a marker");
    let (_, after) = behind
        .split_once("<!-- end of keys -->")
        .expect("another marker");
    let keys = reference(&published());
    golden(
        &path,
        &format!("{before}<!-- keys -->\n{keys}\n<!-- end of keys -->{after}"),
    );
}

#[test]
fn what_is_wrong_with_a_waiver_is_reported_at_the_waiver() {
    let found = stage::table(
        [
            "{rule: image-unusedd, where: edge, reason: r}",
            "{rule: image-unused, where: edge, reason: ' '}",
            "{rule: image-unused, where: edge, reason: r, until: soon}",
            "{rule: image-unused, where: '[', reason: r}",
        ],
        |waiver| {
            let stage = stage::project().settings(&format!("policy: {{waivers: [{waiver}]}}"));
            let checked = stage.check();
            let lines = checked.of_rule("project-file").into_iter();
            lines.map(str::to_owned).collect::<Vec<_>>()
        },
    );
    stage::assert_text(
        &found,
        snapbox::str![[r#"
{rule: image-unusedd, where: edge, reason: r}
    error[project-file] metalmark.yaml:2:27 `image-unusedd` => image-unused
{rule: image-unused, where: edge, reason: ' '}
    error[project-file] metalmark.yaml:2:20 `{rule: image-unused, where: edge, reason: ' '}` => reason: …
{rule: image-unused, where: edge, reason: r, until: soon}
    error[project-file] metalmark.yaml:2:20 `{rule: image-unused, where: edge, reason: r, until: soon}` => YYYY-MM-DD
{rule: image-unused, where: '[', reason: r}
    error[project-file] metalmark.yaml:2:20 `{rule: image-unused, where: '[', reason: r}` => * | **

"#]],
    );
}
