//! What is written is read back the same, by us and by real readers.

use std::io::Write as _;
use std::process::{Command, Stdio};

use proptest::prelude::{Just, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use yaml_tree::engine::Engine;
use yaml_tree::json::{Html, to_json};
use yaml_tree::place::FileId;
use yaml_tree::value::{Entry, Map, Node, Number, Value};

use crate::programs;

const HOSTILE: &[&str] = &[
    "",
    " ",
    "  ",
    "yes",
    "No",
    "on",
    "OFF",
    "y",
    "N",
    "true",
    "False",
    "null",
    "Null",
    "~",
    "1e10",
    "012",
    "1.30",
    "12:30:45",
    "190:20:30",
    "0x1F",
    "0o7",
    "0b11",
    "1_000",
    "685_230.15",
    ".5",
    "1.",
    "+1",
    "-",
    "- a",
    "-a",
    "--- ",
    "---",
    "...",
    "=",
    "<<",
    "?",
    "? a",
    ":",
    ": a",
    "a: b",
    "a:",
    "a #b",
    "#a",
    "a#b",
    "[a",
    "{a}",
    "a,b",
    "&a",
    "*a",
    "!a",
    "|",
    "> a",
    "%a",
    "@a",
    "`a",
    "'",
    "''",
    "\"",
    "\\",
    "a\\nb",
    "it's",
    "\"q\" 'r' \\",
    "\0",
    "\u{7}",
    "\u{1b}",
    "\u{7f}",
    "\u{80}",
    "\u{85}",
    "a\u{85}b",
    "\u{a0}",
    "\u{ad}",
    "\u{2028}",
    "a\u{2029}b",
    "\u{feff}",
    "a\u{feff}",
    "\u{fffd}",
    "\u{fffe}",
    "\u{ffff}",
    "\u{e000}",
    "é世😀",
    "\t",
    "a\tb",
    "\ta",
    "a\t",
    " a",
    "a ",
    "\n",
    "\n\n",
    "a\n",
    "a\nb",
    "a\nb\n",
    "a\n\n",
    "a\n\nb",
    "\na",
    "\n\na\n\n\n",
    " a\nb",
    "\ta\nb\n",
    "\n\ta\n",
    "a\n b\n",
    "a \nb",
    "a\n  \nb",
    "a\nb ",
    "a\n ",
    "a\rb",
    "a\r\nb",
    "# a\nb",
    "- a\n- b",
    "a: 1\nb: [x\n",
    "{{ .Values.a }}",
    "{{ printf \"%s\" .a }}",
    "${VAR}",
    "$$",
    "2024-01-01",
    "2024-01-01T00:00:00Z",
    ".inf",
    ".nan",
    "-.INF",
    "1:60",
    "8080:80",
    "v1.31.8+rke2r1",
    "1.31.8",
    "oci://h.example:5000/a/b@sha256:0123",
    "a=b",
    "key=value other",
    "/path",
    "~user",
    "00:11:22:33:44:55",
    "0",
    "-0",
    "9999999999999999999999",
    "0.1e1",
    "e5",
    "_",
    "__1",
    "a/b.c_d-e",
    "x (y)",
    "a; b",
    "a & b",
    "a | b",
    "a > b",
    "!",
    "%",
];

fn strings() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(HOSTILE).prop_map(str::to_owned),
        "[ a-c0-9.:#'\"\\\\\n\t{}\\[\\],&*!|>%@`?=<_+~-]{0,12}",
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 1..4).prop_map(|pieces| pieces.concat())
}

fn scalars() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => strings().prop_map(Value::from),
        1 => prop::sample::select(HOSTILE).prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => prop::num::f64::NORMAL.prop_map(|number| Value::Number(Number::Float(number))),
    ]
}

fn trees() -> impl Strategy<Value = Value> {
    scalars().prop_recursive(4, 40, 5, |inner| {
        let entry =
            (strings(), inner.clone()).prop_map(|(key, value)| Entry::from_value(key, value));
        prop_oneof![
            prop::collection::vec(inner.prop_map(Node::from_value), 0..5).prop_map(Value::from),
            prop::collection::vec(entry, 0..5)
                .prop_map(|entries| Value::from(entries.into_iter().collect::<Map>())),
        ]
    })
}

fn read_back(text: &str, engine: Engine) -> String {
    let documents = yaml_tree::read(text, FileId(0), engine)
        .unwrap_or_else(|error| panic!("{error} at {:?}\n{text}", error.place));
    assert_eq!(documents.documents.len(), 1, "{text}");
    // Helm has no integers of more than 53 bits, however they are written.
    let lost = |notice: &yaml_tree::Notice| {
        let kind = &notice.kind;
        matches!(
            kind,
            yaml_tree::NoticeKind::Misread {
                why: yaml_tree::Misreading::LostDigits,
                ..
            }
        )
    };
    assert!(
        documents.notices.iter().all(lost),
        "{text}\n{:?}",
        documents.notices
    );
    to_json(&documents.documents[0].value, Html::Plain)
}

/// Helm holds every number as a float.
fn as_floats(value: &Value) -> Value {
    match value {
        Value::Number(Number::Int(number)) => Value::Number(Number::Float(*number as f64)),
        Value::List(items) => Value::from(
            items
                .iter()
                .map(|item| Node::from_value(as_floats(&item.value)))
                .collect::<Vec<_>>(),
        ),
        Value::Map(map) => Value::from(
            map.iter()
                .map(|entry| Entry::from_value(entry.key.clone(), as_floats(&entry.node.value)))
                .collect::<Map>(),
        ),
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(400))]

    #[test]
    fn every_tree_comes_back_from_every_engine(tree in trees()) {
        let text = yaml_tree::emit(&tree);
        prop_assert_eq!(read_back(&text, Engine::Kubectl), to_json(&tree, Html::Plain));
        let floats = to_json(&as_floats(&tree), Html::Plain);
        prop_assert_eq!(read_back(&text, Engine::Helm3), floats.clone());
        prop_assert_eq!(read_back(&text, Engine::Helm4), floats);
    }

    #[test]
    fn an_indented_tree_is_allowed_below_a_key(tree in trees(), indent in 1_usize..9) {
        let text = format!("key:\n{}", yaml_tree::emit_at(&tree, indent));
        let whole = Value::from(Map::from_iter([Entry::from_value("key", tree)]));
        prop_assert_eq!(read_back(&text, Engine::Kubectl), to_json(&whole, Html::Plain));
    }

    #[test]
    fn a_quoted_string_is_allowed_in_flow_and_as_a_key(text in strings()) {
        let quoted = yaml_tree::quote(&text);
        let whole = Value::from(Map::from_iter([
            Entry::from_value(text.as_str(), Value::from(vec![Node::from_value(text.as_str())])),
        ]));
        let expect = to_json(&whole, Html::Plain);
        prop_assert_eq!(read_back(&format!("{quoted}: [{quoted}]\n"), Engine::Kubectl), expect.clone());
        prop_assert_eq!(read_back(&format!("x: {{{quoted}: [{quoted}]}}\n"), Engine::Helm4), format!("{{\"x\":{expect}}}"));
    }
}

/// A map of every hostile string and many random trees, keys hostile too; the same in every run.
fn sample() -> Value {
    let mut runner = TestRunner::deterministic();
    let mut entries: Vec<Entry> = HOSTILE
        .iter()
        .map(|text| Entry::from_value(*text, *text))
        .collect();
    for _ in 0..300 {
        let tree = trees().new_tree(&mut runner).expect("trees can be made");
        let key = strings()
            .new_tree(&mut runner)
            .expect("strings can be made");
        entries.push(Entry::from_value(key.current(), tree.current()));
    }
    Value::from(entries.into_iter().collect::<Map>())
}

#[test]
fn pyyaml_reads_what_is_written() {
    let Some(python) = programs::python_with_yaml() else {
        return;
    };
    let script = "import json, sys, yaml\n\
        data = yaml.safe_load(sys.stdin.buffer.read().decode('utf-8'))\n\
        json.dump(data, sys.stdout)";
    let mut child = Command::new(python)
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python runs");
    let sample = sample();
    let mut stdin = child.stdin.take().expect("stdin is piped");
    stdin
        .write_all(yaml_tree::emit(&sample).as_bytes())
        .expect("python reads");
    drop(stdin);
    let output = child.wait_with_output().expect("python ends");
    assert!(output.status.success());
    compare(&output.stdout, &sample);
}

#[test]
fn kubectl_reads_what_is_written() {
    let Some(kubectl) = programs::find("kubectl") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("object.yaml");
    let mut object = Map::from_iter([
        Entry::from_value("apiVersion", "metalmark.example/v1"),
        Entry::from_value("kind", "Probe"),
        Entry::from_value("data", sample()),
    ]);
    object.insert(Entry::from_value(
        "metadata",
        Map::from_iter([Entry::from_value("name", "probe")]),
    ));
    let object = Value::from(object);
    std::fs::write(&file, yaml_tree::emit(&object)).expect("the file can be written");
    let output = Command::new(kubectl)
        .args([
            "patch", "--local", "--type", "merge", "-p", "{}", "-o", "json", "-f",
        ])
        .arg(&file)
        .output()
        .expect("kubectl runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    compare(&output.stdout, &object);
}

/// Entry by entry, so that a failure says which one.
fn compare(output: &[u8], expect: &Value) {
    let found: serde_json::Value = serde_json::from_slice(output).expect("the answer is JSON");
    let expect: serde_json::Value =
        serde_json::from_str(&to_json(expect, Html::Plain)).expect("what we write is JSON");
    let (Some(found), Some(expect)) = (found.as_object(), expect.as_object()) else {
        panic!("both are maps");
    };
    for (key, value) in expect {
        assert_eq!(found.get(key), Some(value), "key {key:?}");
    }
    assert_eq!(found.len(), expect.len());
}

#[test]
fn the_form_is_that_of_kubectl_and_helm() {
    let text = "a: text of several words\nb:\n- c: 1\n  d: |\n    x\n    y\n- - e\n  - \"yes\"\nf: {}\ng: []\nh: null\n";
    let documents = yaml_tree::read(text, FileId(0), Engine::Kubectl).expect("it is YAML");
    assert_eq!(yaml_tree::emit(&documents.documents[0].value), text);
}

#[test]
fn serializable_data_is_written_with_sorted_keys() {
    #[derive(serde::Serialize)]
    struct Data {
        version: &'static str,
        count: u8,
    }
    let text = yaml_tree::emit_data(&Data {
        version: "1.30",
        count: 3,
    })
    .expect("it is JSON");
    assert_eq!(text, "count: 3\nversion: \"1.30\"\n");
}
