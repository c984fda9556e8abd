//! A text inside a block of another one, and documents that come and go.

use proptest::prelude::{prop_assert_eq, proptest};
use yaml_tree::edit::{Edit, EditError, Position, edit};
use yaml_tree::engine::Engine;

use super::{at, insert, remove, set};

pub(super) fn within(path: &str, edits: &[Edit]) -> Edit {
    Edit::Within {
        at: at(path),
        edits: edits.to_vec(),
    }
}

fn edited(text: &str, edits: &[Edit]) -> Result<String, EditError> {
    edit(text, Engine::Kubectl, edits)
}

#[test]
fn a_value_in_a_block_is_changed_in_place() {
    let text = "a: |  # why\n    # kept\n    b: 1\n\n    c: {d: x}   # kept\n  \ne: f\n";
    let edits = [within("a", &[set("b", "two words"), set("c.d", "z")])];
    let expected =
        "a: |  # why\n    # kept\n    b: two words\n\n    c: {d: z}   # kept\n  \ne: f\n";
    assert_eq!(edited(text, &edits).as_deref(), Ok(expected));
    let windows = (text.replace('\n', "\r\n"), expected.replace('\n', "\r\n"));
    assert_eq!(edited(&windows.0, &edits), Ok(windows.1));
}

#[test]
fn lines_come_and_go_with_the_indentation_of_the_block() {
    let text = "a:\n- |-\n   b: 1\n   c:\n     d: 1\n- z\n";
    let more = insert("c", "e", "f", Position::Last);
    let edits = [within("a.0", &[remove("b"), more])];
    let expected = "a:\n- |-\n   c:\n     d: 1\n     e: f\n- z\n";
    assert_eq!(edited(text, &edits).as_deref(), Ok(expected));
    let last = [within("a.0", &[insert("", "g", "h", Position::Last)])];
    let expected = "a:\n- |-\n   b: 1\n   c:\n     d: 1\n   g: h\n- z\n";
    assert_eq!(edited(text, &last).as_deref(), Ok(expected));
}

#[test]
fn a_block_with_a_digit_in_its_header_keeps_its_first_spaces() {
    let text = "a: |2\n    b: 1\n    c: 1\nd: 1\n";
    let edits = [within("a", &[set("c", "2")])];
    let expected = "a: |2\n    b: 1\n    c: \"2\"\nd: 1\n";
    assert_eq!(edited(text, &edits).as_deref(), Ok(expected));
}

#[test]
fn a_block_may_be_in_a_block() {
    let text = "a: |\n  b: |\n    c: x\n";
    let edits = [within("a", &[within("b", &[set("c", "z")])])];
    assert_eq!(
        edited(text, &edits).as_deref(),
        Ok("a: |\n  b: |\n    c: z\n")
    );
}

#[test]
fn what_is_no_block_of_lines_is_refused() {
    for text in [
        "a: 'b: x'\n",
        "a: \"b: x\"\n",
        "a: >\n  b: x\n",
        "a: {b: x}\n",
    ] {
        let refused = edited(text, &[within("a", &[set("b", "y")])]);
        assert!(
            matches!(refused, Err(EditError::Unfit { .. })),
            "{text}: {refused:?}"
        );
    }
    let shared = "a: &s |\n  b: x\nc: *s\n";
    let refused = edited(shared, &[within("a", &[set("b", "y")])]);
    assert!(
        matches!(refused, Err(EditError::Shared { .. })),
        "{refused:?}"
    );
}

#[test]
fn documents_come_and_go() {
    let behind = |after, text: &str| Edit::InsertDocument {
        after,
        text: text.to_owned(),
    };
    let text = "---\na: 1\n---\n# second\nb: 1\n---\nc: 1";
    let edits = [
        behind(0, "x: 1\n"),
        Edit::RemoveDocument { document: 1 },
        behind(2, "y: 1\n"),
    ];
    let expected = "---\na: 1\n---\nx: 1\n---\nc: 1\n---\ny: 1";
    assert_eq!(edited(text, &edits).as_deref(), Ok(expected));
    let inner = "a: |\n  b: 1\nc: 1\n";
    let expected = "a: |\n  b: 1\n  ---\n  x: 1\nc: 1\n";
    assert_eq!(
        edited(inner, &[within("a", &[behind(0, "x: 1\n")])]).as_deref(),
        Ok(expected)
    );
    for document in [3, 7] {
        for edit in [
            behind(document, "x: 1\n"),
            Edit::RemoveDocument { document },
        ] {
            let nowhere = edited(text, &[edit]);
            assert!(
                matches!(nowhere, Err(EditError::Missing { .. })),
                "{nowhere:?}"
            );
        }
    }
}

proptest! {
    /// An edit in a block is the edit of the text that the block holds, whatever lines it has.
    #[test]
    fn an_edit_in_a_block_is_the_edit_of_its_text(
        lines in proptest::collection::vec("(#[ a-z]{0,4}|k[a-z]{1,3}: [a-z]{1,5}( # [a-z]+)?|)", 0..8),
        pad in 1..6usize,
        chomp in "[-+]?",
        crlf in proptest::bool::ANY,
        value in "[a-z]{1,8}|[0-9]{1,3}|a\nb\n",
    ) {
        let mut unique: Vec<String> = Vec::new();
        for line in lines {
            let key = line.split(':').next().unwrap_or_default().to_owned();
            let is_twice = line.contains(':') && unique.iter().any(|known| known.starts_with(&format!("{key}:")));
            unique.extend((!is_twice).then_some(line));
        }
        unique.push("zz: {y: [x]}".to_owned());
        unique.insert(0, "aa: b".to_owned());
        let indented: String = unique.iter().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("{:pad$}{line}\n", "") }).collect();
        let mut text = format!("block: |{chomp}\n{indented}last: 1\n");
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        let edits = [set("aa", value.as_str()), insert("", "new", value.as_str(), Position::Last), remove("zz.y")];
        let inner = |text: &str| {
            let read = yaml_tree::values(text, yaml_tree::place::FileId(0), Engine::Kubectl).expect("YAML");
            read.get_path(&["block"]).and_then(|node| node.value.as_str().map(|text| text.to_string())).expect("a text")
        };
        let expected = edited(&inner(&text), &edits);
        let found = edited(&text, &[within("block", &edits)]);
        match (expected, found) {
            (Ok(expected), Ok(found)) => {
                prop_assert_eq!(inner(&found), expected);
                prop_assert_eq!(found.matches('\n').count() - found.matches("\r\n").count() == 0, crlf);
            }
            (expected, found) => prop_assert_eq!(expected.is_err(), found.is_err(), "{}", text),
        }
    }
}
