//! Places, notices, limits of the YAML reader, and that no text can break it.

use proptest::prelude::{Strategy, any, prop, prop_assert, prop_oneof, proptest};
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Place};
use yaml_tree::value::{Node, Value};
use yaml_tree::{Misreading, NoticeKind};

const ENGINES: [Engine; 3] = [Engine::Helm3, Engine::Helm4, Engine::Kubectl];

fn read(text: &str) -> yaml_tree::Documents {
    yaml_tree::read(text, FileId(0), Engine::Helm3)
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn at(text: &str, place: Place) -> &str {
    &text[place.start as usize..place.end as usize]
}

fn error(text: &str) -> (String, String) {
    let error = yaml_tree::read(text, FileId(0), Engine::Helm3).expect_err(text);
    (error.message.clone(), at(text, error.place).to_owned())
}

/// `path = text` of every leaf and key, in the order of the tree.
fn places(text: &str) -> Vec<String> {
    fn walk(text: &str, node: &Node, path: &str, out: &mut Vec<String>) {
        match &node.value {
            Value::Map(map) => {
                for entry in map.iter() {
                    let path = format!("{path}.{}", entry.key);
                    out.push(format!("{path} @ {}", at(text, entry.key_place)));
                    walk(text, &entry.node, &path, out);
                }
            }
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    walk(text, item, &format!("{path}[{index}]"), out);
                }
            }
            _ => out.push(format!("{path} = {}", at(text, node.place))),
        }
    }
    let mut out = Vec::new();
    walk(text, &read(text).documents[0], "", &mut out);
    out
}

#[test]
fn a_place_is_exactly_its_token() {
    let text =
        "plain: a value  # c\n\"quoted\": 'it''s' # c\n? complex\n: !!str &x 12\nmulti: a\n  b\n\n";
    assert_eq!(
        places(text),
        [
            ".complex @ complex",
            ".complex = 12",
            ".multi @ multi",
            ".multi = a\n  b",
            ".plain @ plain",
            ".plain = a value",
            ".quoted @ \"quoted\"",
            ".quoted = 'it''s'",
        ]
    );
}

#[test]
fn a_block_scalar_ends_with_its_last_line() {
    let text = "a: |-  # why\n  x\n  y\n\n\n# behind\nb: >+\n\n  z\n\nc: |\nd:\n- |\n  w\n";
    assert_eq!(
        places(text),
        [
            ".a @ a",
            ".a = |-  # why\n  x\n  y",
            ".b @ b",
            ".b = >+\n\n  z",
            ".c @ c",
            ".c = |",
            ".d @ d",
            ".d[0] = |\n  w",
        ]
    );
}

#[test]
fn a_block_scalar_without_a_line_is_empty_at_the_end_of_a_text() {
    for text in ["v: >+", "v: |+", "v: |+ # c", "v: |", "v: >-", "v: |2+"] {
        for engine in ENGINES {
            let tree = yaml_tree::read(text, FileId(0), engine).expect(text);
            let value = &tree.documents[0].get_path(&["v"]).expect(text).value;
            assert_eq!(*value, Value::from(""), "{text:?} {engine:?}");
        }
    }
}

#[test]
fn a_missing_value_is_placed_behind_its_colon() {
    let text = "a:\nb:   # c\nc: {d: , e}\nf:\n-\n- g";
    let tree = &read(text).documents[0];
    for (path, offset) in [
        (&["a"][..], 2),
        (&["b"], 5),
        (&["c", "d"], 18),
        (&["c", "e"], 22),
    ] {
        let place = tree.get_path(path).expect("it is there").place;
        assert_eq!((place.start, place.end), (offset, offset), "{path:?}");
    }
}

#[test]
fn a_collection_runs_from_its_first_to_its_last_token() {
    let text = "a:\n  b: 1\n  c: [x, {y: z}] # c\n\nd:\n- e\n- f: g\n\nh: {}\n";
    let tree = &read(text).documents[0];
    let slice = |path: &[&str]| at(text, tree.get_path(path).expect("it is there").place);
    assert_eq!(slice(&["a"]), "b: 1\n  c: [x, {y: z}]");
    assert_eq!(slice(&["a", "c"]), "[x, {y: z}]");
    assert_eq!(slice(&["d"]), "- e\n- f: g");
    assert_eq!(slice(&["h"]), "{}");
}

#[test]
fn the_value_of_an_alias_keeps_the_place_of_its_anchor() {
    let text = "a: &x {k: v}\nb: *x\n*x2 : 1\n".replace("*x2 ", "c");
    let tree = &read(&text).documents[0];
    assert_eq!(
        at(
            &text,
            tree.get_path(&["b", "k"]).expect("it is there").place
        ),
        "v"
    );
    assert_eq!(tree.get_path(&["a"]), tree.get_path(&["b"]));
}

fn notices(text: &str) -> Vec<(NoticeKind, String)> {
    let documents = read(text);
    documents
        .notices
        .iter()
        .map(|notice| (notice.kind.clone(), at(text, notice.place).to_owned()))
        .collect()
}

#[test]
fn misread_scalars_are_reported() {
    for (scalar, becomes, why) in [
        ("1.30", "1.3", Misreading::Version),
        ("1.0", "1", Misreading::Version),
        ("on", "true", Misreading::Boolean),
        ("No", "false", Misreading::Boolean),
        ("y", "true", Misreading::Boolean),
        ("012", "10", Misreading::LeadingZero),
        ("08", "8", Misreading::LeadingZero),
        ("0644", "420", Misreading::LeadingZero),
        (
            "12345678901234567890",
            "12345678901234567000",
            Misreading::LostDigits,
        ),
        (
            "9007199254740993",
            "9007199254740992",
            Misreading::LostDigits,
        ),
        ("22e10", "220000000000", Misreading::Exponent),
        ("1_000", "1000", Misreading::Underscores),
    ] {
        let expect = |is_key: bool| NoticeKind::Misread {
            text: scalar.to_owned(),
            becomes: becomes.to_owned(),
            why,
            is_key,
        };
        assert_eq!(
            notices(&format!("v: {scalar}\n")),
            [(expect(false), scalar.to_owned())]
        );
        assert_eq!(
            notices(&format!("v: [x, {scalar}]\n")),
            [(expect(false), scalar.to_owned())]
        );
        assert_eq!(notices(&format!("v: '{scalar}'\n")), []);
        assert_eq!(notices(&format!("v: !!str {scalar}\n")), []);
    }
    let key = NoticeKind::Misread {
        text: "on".to_owned(),
        becomes: "true".to_owned(),
        why: Misreading::Boolean,
        is_key: true,
    };
    assert_eq!(notices("on: push\n"), [(key, "on".to_owned())]);
}

#[test]
fn what_reads_as_it_looks_is_not_reported() {
    for scalar in [
        "1.31",
        "1",
        "-5",
        "true",
        "null",
        "~",
        "1.31.8",
        "v1.30",
        "0",
        "0.5",
        "2024-01-01",
        "12:30:45",
        "0x1F",
    ] {
        assert_eq!(notices(&format!("v: {scalar}\n")), [], "{scalar}");
    }
}

#[test]
fn a_duplicate_key_is_reported_with_both_places() {
    let text = "a: 1\nb: {c: x}\na: 1\nb: {c: z}\n";
    let documents = read(text);
    let found: Vec<_> = documents
        .notices
        .iter()
        .map(|notice| match &notice.kind {
            NoticeKind::DuplicateKey {
                key,
                first,
                same_value,
            } => (key.as_str(), first.start, notice.place.start, *same_value),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(found, [("a", 0, 15, true), ("b", 5, 20, false)]);
}

#[test]
fn a_merge_that_replaces_an_own_key_is_reported() {
    let text = "x: &x {a: 1}\nover: {a: 2, <<: *x}\nunder: {<<: *x, a: 2}\n";
    let documents = read(text);
    assert_eq!(documents.notices.len(), 1);
    let notice = &documents.notices[0];
    assert!(matches!(&notice.kind, NoticeKind::MergeReplaces { key, .. } if key == "a"));
    assert_eq!(notice.place.start, 20);
}

#[test]
fn documents_that_helm_3_ignores_are_reported() {
    assert_eq!(
        notices("a: 1\n---\nb: 2\n"),
        [(NoticeKind::IgnoredDocuments, "---".to_owned())]
    );
    assert_eq!(notices("---\na: 1\n"), []);
}

#[test]
fn errors_point_at_the_fault() {
    for (text, message, place) in [
        (
            "a: b: c\n",
            "a second `:` is not allowed here, on the same line",
            ":",
        ),
        (
            "a:\n  b: 1\n c: 2\n",
            "the indentation of this line matches no line above",
            "c",
        ),
        ("a: [1, 2\nb: 3\n", "expected `,` or `]`, found `:`", ":"),
        ("a: 'x\n", "this quote is never closed", "'"),
        ("a: \"\\q\"\n", "`\\q` is not a YAML escape", "\\q"),
        ("a: *x\n", "there is no anchor `&x` before this alias", "*x"),
        ("a: &x [*x]\n", "the anchor `&x` contains itself", "*x"),
        ("a:\n\tb: 1\n", "a tab cannot indent; use spaces", "\t"),
        (
            "a: @b\n",
            "no value can start with `@` unless it is quoted",
            "@",
        ),
        (
            "a: 1\nword\nb: 2\n",
            "a `:` is missing after this key",
            "word",
        ),
        ("null: 1\n", "null cannot be a key", "null"),
        ("? [a]\n: 1\n", "a list cannot be a key", "[a]"),
        ("a: {<<: 1}\n", "`<<` takes a map, or a list of maps", "1"),
        (
            "a: .inf\n",
            "values pass through JSON, which has no infinity and no NaN",
            ".inf",
        ),
        (
            "a: !!int x\n",
            "the tag requires an integer, and `x` is not",
            "x",
        ),
        (
            "a: b\u{7}c\n",
            "the control character U+0007 is not allowed in YAML",
            "\u{7}",
        ),
    ] {
        assert_eq!(
            error(text),
            (message.to_owned(), place.to_owned()),
            "{text}"
        );
    }
}

#[test]
fn a_key_ends_on_the_line_that_it_begins_on() {
    for text in [
        "1\nk:",
        ":]\n<:",
        "a: 1\nb\n  c: 2",
        "- a\n  b: 1",
        "a\n\n b: 1",
    ] {
        let (message, _) = error(text);
        assert!(
            message.contains("`:`") || message.contains("key"),
            "{text:?}: {message}"
        );
    }
}

#[test]
fn an_expression_without_quotes_is_recognized() {
    for text in [
        "v: {{ .Values.a }}\n",
        "{{ .Values.a }}: 1\n",
        "l:\n- {{ .a }}\n",
        "v: {{- if .a }}x{{ end }}\n",
    ] {
        let error = yaml_tree::read(text, FileId(0), Engine::Helm3).expect_err(text);
        assert!(error.help.is_some(), "{text}: {error}");
    }
    let (message, _) = error("v: {{ .Values.a }}\n");
    assert_eq!(message, "an expression without quotes is read as a map");
}

#[test]
fn nesting_has_a_limit_that_is_stated() {
    for text in [
        "[".repeat(100_000),
        "{a: ".repeat(100_000),
        "- ".repeat(100_000),
        "? ".repeat(100_000),
        (0..2_000)
            .map(|depth| format!("{}a:\n", " ".repeat(depth)))
            .collect(),
        format!("{{\"a\":{}", "[".repeat(100_000)),
    ] {
        for engine in ENGINES {
            if engine == Engine::Kubectl && text.starts_with("{a") {
                continue; // JSON, and wrong at its first key.
            }
            let error = yaml_tree::read(&text, FileId(0), engine).expect_err("it is too deep");
            assert_eq!(error.message, "nested more than 256 levels deep");
        }
    }
    let deep = format!("a: {}{}\n", "[".repeat(255), "]".repeat(255));
    assert_eq!(read(&deep).documents.len(), 1);
}

#[test]
fn aliases_cannot_nest_deeper_than_collections() {
    let mut text = format!("a0: &a0 {}{}\n", "[".repeat(200), "]".repeat(200));
    for index in 1..100 {
        text += &format!("a{index}: &a{index} [*a{}]\n", index - 1);
    }
    assert_eq!(error(&text).0, "nested more than 256 levels deep");
}

#[test]
fn a_small_file_cannot_expand_to_a_huge_one() {
    let mut text = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for index in 1..20 {
        let items = vec![format!("*a{}", index - 1); 9].join(",");
        text += &format!("a{index}: &a{index} [{items}]\n");
    }
    let (message, _) = error(&text);
    assert!(
        message.starts_with("the aliases up to here expand to"),
        "{message}"
    );
}

#[test]
fn reading_takes_time_in_proportion_to_the_text() {
    for text in [
        "[a, b, {c: d}], ".repeat(50_000) + "]",
        format!("v: [{}]\n", "{a: 1}, ".repeat(50_000)),
        "key: value\n".repeat(50_000),
        format!("v: \"{}\"\n", "a\n  b ".repeat(50_000)),
        format!("v: |\n{}", "  text\n".repeat(50_000)),
        "? ".to_owned() + &"a ".repeat(100_000),
        "a".repeat(1_000_000),
        format!("v: {}\n", "&a ".repeat(100_000)),
        "---\n".repeat(50_000),
        format!("x: &x {{a: 1}}\nv: [{}]\n", "*x, ".repeat(50_000)),
    ] {
        for engine in ENGINES {
            let start = std::time::Instant::now();
            let _ = yaml_tree::read(&text, FileId(0), engine);
            let seconds = start.elapsed().as_secs_f32();
            assert!(seconds < 5.0, "{seconds} s for {:.20} …", text);
        }
    }
}

fn texts() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "b: ",
        "- ",
        "? ",
        ": ",
        ":",
        "\n",
        "\n  ",
        "\n ",
        "  ",
        "{",
        "}",
        "[",
        "]",
        ",",
        "'",
        "\"",
        "\\",
        "|",
        ">-\n",
        "|2+\n",
        "&x ",
        "*x",
        "!!str ",
        "!",
        "!<t> ",
        "<<: ",
        "#",
        " # c\n",
        "---\n",
        "...\n",
        "%TAG ! x\n",
        "%YAML 1.1\n",
        "\t",
        "\r",
        "\r\n",
        "\u{85}",
        "\u{2028}",
        "\u{feff}",
        "é",
        "😀",
        "1.30",
        "012",
        "~",
        "{{",
        "}}",
        "\\u00e9",
        "\\\n",
        "0",
        "''",
        "=",
        "@",
    ]);
    prop_oneof![
        4 => prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat()),
        1 => ".{0,60}",
        1 => any::<String>(),
    ]
}

fn check_places(text: &str, node: &Node) {
    let slice = text.get(node.place.start as usize..node.place.end as usize);
    assert!(slice.is_some(), "{:?}", node.place);
    match &node.value {
        Value::Map(map) => {
            for entry in map.iter() {
                let place = entry.key_place;
                assert!(text.get(place.start as usize..place.end as usize).is_some());
                check_places(text, &entry.node);
            }
        }
        Value::List(items) => items.iter().for_each(|item| check_places(text, item)),
        _ => {}
    }
}

proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(3000))]

    #[test]
    fn no_text_breaks_the_reader(text in texts()) {
        for engine in ENGINES {
            match yaml_tree::read(&text, FileId(0), engine) {
                Ok(documents) => {
                    documents.documents.iter().for_each(|node| check_places(&text, node));
                    for notice in &documents.notices {
                        let place = notice.place;
                        prop_assert!(text.get(place.start as usize..place.end as usize).is_some());
                    }
                    let _ = documents.values();
                }
                Err(error) => {
                    let place = error.place;
                    prop_assert!(text.get(place.start as usize..place.end as usize).is_some(), "{error} {place:?}");
                }
            }
        }
    }

    #[test]
    fn no_bytes_break_the_decoder(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        for engine in ENGINES {
            let _ = yaml_tree::decode(&bytes, engine);
        }
    }
}
