//! Places, notices, limits of the YAML reader, and that no text can break it.

use std::time::Instant;

use proptest::prelude::{Strategy, any, prop, prop_oneof};
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Place};
use yaml_tree::value::{Node, Value};
use yaml_tree::{Misreading, NoticeKind};

use super::support::seen::Seen;

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
    (error.message.to_string(), at(text, error.place).to_owned())
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
fn a_text_in_braces_is_json_and_where_it_is_none_yaml() {
    let kinds = |text: &str| {
        let read = yaml_tree::read(text, FileId(0), Engine::Kubectl);
        let documents = read.map(|read| read.documents);
        documents.map(|documents| {
            let kinds = documents.iter().map(|node| node.text(&["kind"]));
            kinds
                .map(|kind| kind.map(str::to_owned))
                .collect::<Vec<_>>()
        })
    };
    let named = |names: &[&str]| {
        let names = names.iter().map(|name| Some((*name).to_owned()));
        Some(names.collect::<Vec<_>>())
    };
    for (text, expected) in [
        ("{\"kind\":\t\"A\\/\"}", named(&["A/"])),
        ("{\"kind\": \"A\"} {\"kind\": \"B\"}", named(&["A", "B"])),
        ("{kind: A}", named(&["A"])),
        ("{\"kind\": \"A\"}\n---\nkind: B\n", named(&["A", "B"])),
        ("{kind: A", None),
    ] {
        assert_eq!(kinds(text).ok(), expected, "{text}");
    }
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

#[test]
fn an_anchor_inside_one_of_its_name_is_the_later_one() {
    let texts = [
        "a: &x {k: &x v}\nb: *x\n",
        "a: &x\n- &x v\nb: *x\n",
        "a: &x {k: 1}\nc: &x v\nb: *x\n",
    ];
    for text in texts {
        let documents = read(text).documents;
        assert_eq!(documents[0].text(&["b"]), Some("v"), "{text}");
    }
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
fn a_text_that_begins_with_a_mark_of_a_conflict_is_no_text() {
    let (message, marked) = error("<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n");
    assert_eq!(message, "git left a conflict of a merge here");
    assert_eq!(marked, "<<<<<<< ours");
    assert!(read("a: <<<<<<< ours\n").documents.len() == 1);
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
            let error = yaml_tree::read(&text, FileId(0), engine).expect_err("it is too deep");
            assert_eq!(&*error.message, "nested more than 256 levels deep");
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

/// A text takes as long as its parts do together, about: work that grows faster than the text shows in the whole, and a cost of each
/// read in the parts. What is too short to be measured is not compared.
#[test]
fn reading_takes_time_in_proportion_to_the_text() {
    const MANY: usize = 32 << 10;
    const PARTS: usize = 32;
    let shapes: [fn(usize) -> String; 10] = [
        |many| "[a, b, {c: d}], ".repeat(many) + "]",
        |many| format!("v: [{}]\n", "{a: 1}, ".repeat(many)),
        |many| "key: value\n".repeat(many),
        |many| format!("v: \"{}\"\n", "a\n  b ".repeat(many)),
        |many| format!("v: |\n{}", "  text\n".repeat(many)),
        |many| "? ".to_owned() + &"a ".repeat(2 * many),
        |many| "a".repeat(20 * many),
        |many| format!("v: {}\n", "&a ".repeat(2 * many)),
        |many| "---\n".repeat(many),
        |many| format!("x: &x {{a: 1}}\nv: [{}]\n", "*x, ".repeat(many)),
    ];
    let seen = Seen::new(&["a text that takes time"]);
    for shape in shapes {
        let (whole, part) = (shape(MANY), shape(MANY / PARTS));
        for engine in ENGINES {
            let seconds = |text: &str, times: usize| {
                let rounds = (0..3).map(|_| {
                    let start = Instant::now();
                    for _ in 0..times {
                        let _ = yaml_tree::read(text, FileId(0), engine);
                    }
                    start.elapsed().as_secs_f64()
                });
                rounds.fold(f64::INFINITY, f64::min).max(0.001)
            };
            let (whole, parts) = (seconds(&whole, 1), seconds(&part, PARTS));
            let ratio = whole / parts;
            assert!(
                (0.125..8.0).contains(&ratio),
                "{whole} s, and {parts} s in parts: {:.20} …",
                part
            );
            seen.note_if(whole > 0.001, "a text that takes time");
        }
    }
    seen.assert_each(15);
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

#[test]
fn no_text_breaks_the_reader() {
    let seen = Seen::new(&["read", "refused", "a notice"]);
    seen.property(3_000, 30, &texts(), |text| {
        let is_within = |place: Place| text.get(place.start as usize..place.end as usize).is_some();
        for engine in ENGINES {
            match yaml_tree::read(&text, FileId(0), engine) {
                Ok(documents) => {
                    documents
                        .documents
                        .iter()
                        .for_each(|node| check_places(&text, node));
                    for notice in &documents.notices {
                        assert!(is_within(notice.place), "{notice:?}");
                        seen.note("a notice");
                    }
                    let _ = documents.values();
                    seen.note("read");
                }
                Err(error) => {
                    assert!(is_within(error.place), "{error} {:?}", error.place);
                    seen.note("refused");
                }
            }
        }
    });
}

/// A text in UTF-8 or UTF-16, with its mark or without, and now and then a byte too many or another one.
fn encoded() -> impl Strategy<Value = (String, Vec<u8>, bool)> {
    let text = prop::collection::vec(any::<char>(), 0..8)
        .prop_map(|letters| format!("a{}\n", String::from_iter(letters)));
    let damage = prop::option::of((
        any::<prop::sample::Index>(),
        0..2_usize,
        prop::collection::vec(any::<u8>(), 0..3),
    ));
    (text, 0..4_u8, damage).prop_map(|(text, how, damage)| {
        let units = || "\u{feff}".encode_utf16().chain(text.encode_utf16());
        let mut bytes: Vec<u8> = match how {
            0 => text.as_bytes().to_vec(),
            1 => [&b"\xef\xbb\xbf"[..], text.as_bytes()].concat(),
            2 => units().flat_map(u16::to_le_bytes).collect(),
            _ => units().flat_map(u16::to_be_bytes).collect(),
        };
        if let Some((at, cut, put)) = &damage {
            let at = at.index(bytes.len());
            let end = (at + cut).min(bytes.len());
            drop(bytes.splice(at..end, put.iter().copied()));
        }
        (text, bytes, damage.is_none())
    })
}

#[test]
fn no_bytes_break_the_decoder() {
    let seen = Seen::new(&["utf-8", "utf-16", "refused"]);
    seen.property(3_000, 300, &encoded(), |(text, bytes, is_whole)| {
        let is_wide = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
        for engine in ENGINES {
            let Ok(read) = yaml_tree::decode(&bytes, engine) else {
                seen.note("refused");
                continue;
            };
            seen.note(if is_wide { "utf-16" } else { "utf-8" });
            assert!(read == text || !is_whole, "{bytes:?} is {read:?}");
        }
    });
}
