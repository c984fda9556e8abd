//! A part of a scalar's value is found again in the file.

use proptest::prelude::{Strategy, prop, prop_oneof};
use yaml_tree::engine::Engine;
use yaml_tree::locate;
use yaml_tree::place::FileId;
use yaml_tree::value::{Node, Value};

use super::support::seen::Seen;

/// Every scalar of a text.
fn scalars(node: &Node) -> Vec<&Node> {
    match &node.value {
        Value::Map(map) => map.iter().flat_map(|entry| scalars(&entry.node)).collect(),
        Value::List(items) => items.iter().flat_map(scalars).collect(),
        _ => vec![node],
    }
}

/// Each character of each string is spelled at its reported place, and each place lies within the scalar's.
fn check(text: &str) -> usize {
    let mut checked = 0;
    for engine in [Engine::Helm3, Engine::Helm4] {
        let documents = yaml_tree::read(text, FileId(0), engine)
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        for node in scalars(&documents.documents[0]) {
            let Value::String(value) = &node.value else {
                continue;
            };
            let mut last = node.place.start;
            for (index, character) in value.char_indices() {
                let place = locate(text, node.place, value, index..index + character.len_utf8());
                let spelled = &text[place.start as usize..place.end as usize];
                assert!(
                    spells(spelled, character),
                    "{character:?} of {value:?} at {spelled:?}\n{text:?}"
                );
                assert!(place.start >= last, "{value:?}\n{text:?}");
                last = place.start;
                checked += 1;
            }
        }
    }
    checked
}

fn spells(spelled: &str, character: char) -> bool {
    let mut characters = spelled.chars();
    match (characters.next(), characters.next()) {
        (Some(only), None) if only == character => true,
        (Some('\''), Some('\'')) => character == '\'',
        (Some('\\'), Some(_)) => {
            yaml_tree::read(&format!("\"{spelled}\""), FileId(0), Engine::Kubectl)
                .is_ok_and(|read| read.documents[0].value == Value::from(String::from(character)))
        }
        (Some('\n' | '\r' | '\u{85}'), _) => matches!(character, ' ' | '\n'),
        // The line break that Helm 4 adds to a file without one.
        (None, _) => character == '\n',
        _ => false,
    }
}

#[test]
fn each_style_is_mapped() {
    for text in [
        "a: some {{ .Values.x }} text\n",
        "a: some\n  text\n\n  over\n   lines # c\n",
        "a: 'it''s\n  two'\n",
        "a: \"tab\\t é \\u00e9 \\x41 a\\\n   b\n\n  c \\\"\"\n",
        "a: |\n  one\n    two\n\n  three\n",
        "a:\n  b:\n  - |2-\n      one\n    two\n",
        "a: >+\n  one\n  two\n\n    three\n  four\n\n\nb: c\n",
        "a: >2\n   one\n  two\n",
        "a: [x y, 'z', \"w\"]\n",
        "- |\n one\n",
        "a: |\r\n  one\r\n  two\r\n",
        "a: one\u{85}  two\n",
        "a: |\n  no line break",
        "'{{ .k }}': {b: ---}\n",
    ] {
        assert!(check(text) > 0, "{text}");
    }
}

#[test]
fn a_range_runs_from_its_first_to_its_last_character() {
    let text = "x:\n  a: |\n    {{- if .b }}\n    {{ .c }}\n    {{- end }}\n";
    let tree = yaml_tree::values(text, FileId(0), Engine::Helm3).expect("it is YAML");
    let node = tree.get_path(&["x", "a"]).expect("it is there");
    let value = node.value.as_str().expect("it is a string");
    let start = value.find(".c").expect("it is there");
    let place = locate(text, node.place, value, start..start + 2);
    assert_eq!(&text[place.start as usize..place.end as usize], ".c");
    let place = locate(
        text,
        node.place,
        value,
        0..value.find(".c").expect("it is there") + 5,
    );
    assert_eq!(
        &text[place.start as usize..place.end as usize],
        "{{- if .b }}\n    {{ .c }}"
    );
    let empty = locate(text, node.place, value, start..start);
    assert_eq!((empty.start, empty.end), (34, 34));
}

#[test]
fn a_value_that_was_computed_is_placed_as_a_whole() {
    let text = "a: one\n";
    let tree = yaml_tree::values(text, FileId(0), Engine::Helm3).expect("it is YAML");
    let place = tree.get_path(&["a"]).expect("it is there").place;
    assert_eq!(locate(text, place, "two", 0..1), place);
    assert_eq!(locate("", place, "one", 0..1), place);
}

fn lines() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[a-c{}.é😀'\" \\t]{0,8}", 1..6)
}

/// Texts with one scalar in some style; most of them are YAML.
fn texts() -> impl Strategy<Value = String> {
    let header = prop::sample::select(vec!["|", ">", "|-", ">+", "|+", "|2", ">2-", "|4"]);
    let block = (header, lines(), 2_usize..5).prop_map(|(header, lines, indent)| {
        let body: String = lines
            .iter()
            .map(|line| format!("{}{}\n", " ".repeat(indent), line.trim_start_matches('\t')))
            .collect();
        format!("k:\n- a: {header}\n  {}", body.replace('\n', "\n  "))
    });
    let double = prop::collection::vec(
        prop::sample::select(vec![
            "a",
            " ",
            "\\n",
            "\\\"",
            "\\u00e9",
            "\\U0001F600",
            "\n  ",
            "\n\n  ",
            "\\\n  ",
            "é",
            "{{ x }}",
            "'",
        ]),
        0..12,
    );
    let single = prop::collection::vec(
        prop::sample::select(vec!["a", " ", "''", "\n  ", "\n\n ", "é", "\\n"]),
        0..12,
    );
    let plain = prop::collection::vec(
        prop::sample::select(vec![
            "a", " b", "\n  c", "\n\n  d", " é", "'", "\"", "#", ":x",
        ]),
        0..12,
    );
    prop_oneof![
        block,
        double.prop_map(|parts| format!("k: \"{}\"\nl: 1\n", parts.concat())),
        single.prop_map(|parts| format!("k: ['{}', x]\n", parts.concat())),
        plain.prop_map(|parts| format!("k:\n  j: x{}\n  l: 1\n", parts.concat())),
    ]
}

#[test]
fn every_character_is_found_again() {
    let seen = Seen::new(&["a text with characters"]);
    seen.property(1_500, 700, &texts(), |text| {
        let is_read = yaml_tree::read(&text, FileId(0), Engine::Helm3).is_ok();
        seen.note_if(is_read && check(&text) > 0, "a text with characters");
    });
}
