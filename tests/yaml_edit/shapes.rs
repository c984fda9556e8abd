//! Files as people write them, before and after.

use yaml_tree::edit::{Edit, EditError, Position, Step, Target, edit};
use yaml_tree::engine::Engine;
use yaml_tree::value::{Entry, Map, Node, Value};

use super::{after, edited, insert, item, remove, rename, set};

pub(super) fn becomes(before: &str, edits: &[Edit], wanted: &str) {
    assert_eq!(edited(before, edits).as_deref(), Ok(wanted));
}

pub(super) fn refused(before: &str, edits: &[Edit], why: &str) {
    let error = edited(before, edits).expect_err("the edit is refused");
    assert_eq!(error.to_string(), why);
}

pub(super) fn map(entries: &[(&str, Value)]) -> Value {
    let entries = entries
        .iter()
        .map(|(key, value)| Entry::from_value(*key, value.clone()));
    Value::from(entries.collect::<Map>())
}

pub(super) fn list(items: &[&str]) -> Value {
    let items: Vec<Node> = items.iter().map(|item| Node::from_value(*item)).collect();
    Value::from(items)
}

const VALUES: &str = "\
# Values of the platform.

# renovate: depName=sylva-projects/sylva-elements/diskimage-builder
sylva_diskimagebuilder_version: 0.4.12   # keep below its comment

sylva_diskimagebuilder_images:
  # Ubuntu
  ubuntu-noble-plain-rke2-1-30-12:
    os_images_oci_registry: sylva
  ubuntu-noble-plain-rke2-1-31-8:
    os_images_oci_registry: sylva

  # openSUSE
  opensuse-15-6-plain-rke2-1-31-8:
    os_images_oci_registry: sylva

k8s_version_map:
  \"1.30\": v1.30.12+rke2r1
  \"1.31\": v1.31.8+rke2r1
";

#[test]
fn a_version_changes_without_its_comments_moving() {
    let wanted = VALUES.replace("0.4.12 ", "0.12.1 ");
    becomes(
        VALUES,
        &[set("sylva_diskimagebuilder_version", "0.12.1")],
        &wanted,
    );
}

#[test]
fn an_entry_is_added_in_the_hand_of_its_siblings() {
    let value = map(&[("os_images_oci_registry", "sylva".into())]);
    let edit = insert(
        "sylva_diskimagebuilder_images",
        "ubuntu-noble-hardened-rke2-1-31-8",
        value,
        after("ubuntu-noble-plain-rke2-1-31-8"),
    );
    let line = "  ubuntu-noble-plain-rke2-1-31-8:\n    os_images_oci_registry: sylva\n";
    let new = line.replace("plain", "hardened");
    becomes(
        VALUES,
        &[edit],
        &VALUES.replace(line, &format!("{line}{new}")),
    );
}

#[test]
fn an_entry_goes_with_its_own_comment_and_a_heading_stays() {
    let images = "sylva_diskimagebuilder_images";
    let own =
        "  # openSUSE\n  opensuse-15-6-plain-rke2-1-31-8:\n    os_images_oci_registry: sylva\n";
    let edit = remove(&format!("{images}.opensuse-15-6-plain-rke2-1-31-8"));
    becomes(VALUES, &[edit], &VALUES.replace(own, ""));
    let first = "  ubuntu-noble-plain-rke2-1-30-12:\n    os_images_oci_registry: sylva\n";
    let edit = remove(&format!("{images}.ubuntu-noble-plain-rke2-1-30-12"));
    becomes(VALUES, &[edit], &VALUES.replace(first, ""));
}

#[test]
fn a_batch_is_made_at_once() {
    let images = "sylva_diskimagebuilder_images";
    let edits = [
        set("sylva_diskimagebuilder_version", "0.4.13"),
        rename(
            &format!("{images}.ubuntu-noble-plain-rke2-1-31-8"),
            "ubuntu-noble-plain-rke2-1-31-9",
        ),
        set("k8s_version_map.1.31", "v1.31.9+rke2r1"),
    ];
    // A key with a dot is one step.
    let mut edits = edits.to_vec();
    edits[2] = Edit::Set {
        at: Target::keys(&["k8s_version_map", "1.31"]),
        value: "v1.31.9+rke2r1".into(),
    };
    let wanted = VALUES
        .replace("0.4.12", "0.4.13")
        .replace(
            "ubuntu-noble-plain-rke2-1-31-8",
            "ubuntu-noble-plain-rke2-1-31-9",
        )
        .replace("v1.31.8", "v1.31.9");
    becomes(VALUES, &edits, &wanted);
}

#[test]
fn quotes_stay_where_the_new_value_allows_them() {
    let before = "a: 'x'\nb: \"x\"\nc: x\nd: 1.30\ne: \"1.30\"\n";
    becomes(
        before,
        &[
            set("a", "it's"),
            set("b", "1.31"),
            set("c", "yes"),
            set("d", "1.31"),
            set("e", true),
        ],
        "a: 'it''s'\nb: \"1.31\"\nc: \"yes\"\nd: \"1.31\"\ne: true\n",
    );
    becomes(
        before,
        &[set("a", "two\nlines")],
        &before.replace("'x'", "\"two\\nlines\""),
    );
}

#[test]
fn windows_line_ends_stay() {
    becomes(
        "a:\r\n  b: 1 # one\r\n  c: 2\r\n",
        &[
            insert("a", "d", "x", after("b")),
            set("a.c", 3),
            remove("a.b"),
        ],
        "a:\r\n  d: x\r\n  c: 3\r\n",
    );
}

#[test]
fn a_last_line_without_an_end_stays_one() {
    becomes(
        "a: 1\nb: 2",
        &[insert("", "c", 3, Position::Last)],
        "a: 1\nb: 2\nc: 3",
    );
    becomes("a: 1\nb: 2", &[set("b", 3)], "a: 1\nb: 3");
    becomes("a: 1\nb: 2", &[remove("b")], "a: 1\n");
    becomes(
        "a: 1\nb: 2",
        &[remove("b"), insert("", "c", 3, Position::Last)],
        "a: 1\nc: 3",
    );
}

#[test]
fn a_byte_order_mark_stays() {
    becomes("\u{feff}a: 1\n", &[set("a", 2)], "\u{feff}a: 2\n");
    becomes(
        "\u{feff}a: 1\n",
        &[insert("", "b", 2, Position::First)],
        "\u{feff}b: 2\na: 1\n",
    );
}

#[test]
fn braces_stay_braces() {
    let before = "m: {a: 1, b: 2, c: 3}\np: { x: 'y' }\no: {}\n";
    becomes(before, &[remove("m.a")], &before.replace("a: 1, ", ""));
    becomes(
        before,
        &[remove("m.b"), remove("m.c")],
        &before.replace(", b: 2, c: 3", ""),
    );
    becomes(
        before,
        &[insert("m", "d", 4, after("a"))],
        &before.replace("a: 1", "a: 1, d: 4"),
    );
    becomes(
        before,
        &[insert("p", "z", "w", Position::Last)],
        &before.replace("'y'", "'y', z: 'w'"),
    );
    becomes(
        before,
        &[insert("o", "z", "w", Position::Last)],
        &before.replace("o: {}", "o:\n  z: w"),
    );
    becomes(
        before,
        &[remove("p.x")],
        &before.replace("{ x: 'y' }", "{}"),
    );
}

#[test]
fn braces_over_several_lines_keep_one_line_a_member() {
    let before = "m: {\n  a: 1, # one\n  b: 2, # two\n  c: 3\n}\n";
    becomes(
        before,
        &[remove("m.b")],
        &before.replace("  b: 2, # two\n", ""),
    );
    becomes(
        before,
        &[remove("m.c")],
        "m: {\n  a: 1, # one\n  b: 2 # two\n}\n",
    );
    becomes(
        before,
        &[insert("m", "d", 4, after("a"))],
        &before.replace("# one\n", "# one\n  d: 4,\n"),
    );
    becomes(
        before,
        &[insert("m", "d", 4, Position::Last)],
        &before.replace("c: 3", "c: 3,\n  d: 4"),
    );
    becomes(
        before,
        &[insert("m", "d", 4, Position::First)],
        &before.replace("a: 1", "d: 4,\n  a: 1"),
    );
}

#[test]
fn lists_in_either_column() {
    for indent in ["", "  "] {
        let before =
            format!("l:\n{indent}- a\n{indent}# of b\n{indent}- b # it\n{indent}- c\nm: 1\n");
        let line = |text: &str| format!("{indent}{text}\n");
        let own = format!("{}{}", line("# of b"), line("- b # it"));
        becomes(&before, &[remove("l.0")], &before.replace(&line("- a"), ""));
        becomes(
            &before,
            &[remove("l.1")],
            &before.replace(&own, &line("# of b")),
        );
        becomes(
            &before,
            &[item("l", "d", Position::Last)],
            &before.replace(&line("- c"), &format!("{}{}", line("- c"), line("- d"))),
        );
        becomes(
            &before,
            &[item("l", "d", Position::After(Step::Index(0)))],
            &before.replace(&line("- a"), &format!("{}{}", line("- a"), line("- d"))),
        );
    }
}

#[test]
fn maps_in_lists_keep_their_dash() {
    let before = "l:\n- a: 1\n  b: 2\n- c: 3\n";
    becomes(before, &[remove("l.0.a")], "l:\n- b: 2\n- c: 3\n");
    becomes(before, &[remove("l.1.c")], "l:\n- a: 1\n  b: 2\n- {}\n");
    becomes(
        before,
        &[insert("l.0", "z", 0, Position::First)],
        "l:\n- z: 0\n  a: 1\n  b: 2\n- c: 3\n",
    );
    becomes(
        before,
        &[insert("l.1", "d", 4, Position::Last)],
        "l:\n- a: 1\n  b: 2\n- c: 3\n  d: 4\n",
    );
    becomes(
        before,
        &[item(
            "l",
            map(&[("v", 1.into()), ("w", 2.into())]),
            Position::First,
        )],
        "l:\n- v: 1\n  w: 2\n- a: 1\n  b: 2\n- c: 3\n",
    );
}

#[test]
fn what_was_nothing_becomes_a_map() {
    becomes(
        "a: # none yet\nb: 1\n",
        &[insert("a", "k", "v", Position::Last)],
        "a: # none yet\n  k: v\nb: 1\n",
    );
    becomes(
        "a: {} # none yet\n",
        &[insert("a", "k", "v", Position::Last)],
        "a: # none yet\n  k: v\n",
    );
    becomes(
        "a: null\n",
        &[item("a", "v", Position::Last)],
        "a:\n  - v\n",
    );
    becomes("", &[insert("", "k", "v", Position::Last)], "k: v");
    becomes(
        "a: [{}]\n",
        &[insert("a.0", "k", "v", Position::Last)],
        "a: [{k: v}]\n",
    );
    becomes("a:\n  - b:\n", &[set("a.0.b", "c")], "a:\n  - b: c\n");
}

#[test]
fn a_map_that_loses_all_is_written_as_empty() {
    becomes(
        "a: # some\n  k: v # it\nb: 1\n",
        &[remove("a.k")],
        "a: {} # some\nb: 1\n",
    );
    becomes("a:\n- k\nb: 1\n", &[remove("a.0")], "a: []\nb: 1\n");
    becomes("a: 1\n", &[remove("a")], "{}\n");
    becomes(
        "a:\n  k: v\nb: 1\n",
        &[remove("a.k"), insert("a", "l", "w", Position::Last)],
        "a:\n  l: w\nb: 1\n",
    );
}

#[test]
fn text_in_blocks() {
    let before = "a: |\n  one\n  two\nb: >-\n  folded\n  text\nc: |+\n  kept\n\n\nd: 1\n";
    becomes(
        before,
        &[set("a", "three\nfour\n")],
        &before.replace("one\n  two", "three\n  four"),
    );
    becomes(
        before,
        &[set("a", "one line")],
        &before.replace("|\n  one\n  two", "one line"),
    );
    becomes(
        before,
        &[remove("b")],
        &before.replace("b: >-\n  folded\n  text\n", ""),
    );
    becomes(
        before,
        &[insert("", "e", 2, after("c"))],
        &before.replace("d: 1", "e: 2\nd: 1"),
    );
    becomes(
        before,
        &[set("d", "x\ny")],
        &before.replace("d: 1", "d: |-\n  x\n  y"),
    );
}

#[test]
fn values_of_another_kind() {
    let before = "a: 1 # one\nb:\n  # inner\n  c: 2\n  d: 3\ne: [x]\n";
    becomes(
        before,
        &[set("a", map(&[("k", "v".into())]))],
        &before.replace("a: 1 # one", "a: # one\n  k: v"),
    );
    becomes(
        before,
        &[set("b", "text")],
        "a: 1 # one\nb: text\n  # inner\ne: [x]\n",
    );
    becomes(
        before,
        &[set("b", map(&[("k", "v".into())]))],
        &before.replace("c: 2\n  d: 3", "k: v"),
    );
    becomes(
        before,
        &[set("e", list(&["v", "w"]))],
        &before.replace("e: [x]", "e:\n  - v\n  - w"),
    );
}

#[test]
fn expressions_and_quoted_keys() {
    let before = "images:\n  '{{ printf \"a-%s\" .Values.x }}': {r: s}\n  \"b\": {r: s}\n";
    let key = "{{ printf \"a-%s\" .Values.x }}";
    let target = Target::keys(&["images", key]);
    let wanted = before.replace("%s", "%d");
    let edit = Edit::Rename {
        at: target.clone(),
        key: key.replace("%s", "%d"),
    };
    becomes(before, &[edit], &wanted);
    becomes(
        before,
        &[Edit::Remove { at: target }],
        "images:\n  \"b\": {r: s}\n",
    );
    becomes(
        before,
        &[insert(
            "images",
            "c",
            map(&[("r", "t".into())]),
            Position::Last,
        )],
        &format!("{before}  \"c\": {{r: t}}\n"),
    );
}

#[test]
fn one_document_of_several() {
    let before = "# head\na: 1\n---\n# second\na: 1 # one\n---\n";
    let edits = [Edit::Set {
        at: Target::Path(1, vec!["a".into()]),
        value: 2.into(),
    }];
    let wanted = before.replace("a: 1 # one", "a: 2 # one");
    assert_eq!(
        edit(before, Engine::Kubectl, &edits).as_deref(),
        Ok(&*wanted)
    );
    becomes(
        "%YAML 1.1\n---\na: 1\n",
        &[set("a", 2)],
        "%YAML 1.1\n---\na: 2\n",
    );
}

#[test]
fn json_stays_json() {
    let before = "{\"a\": {\"b\": 1}, \"c\": []}\n";
    let edits = [
        insert("a", "d", "x", Position::Last),
        item("c", true, Position::Last),
        set("a.b", "y"),
    ];
    assert_eq!(
        edit(before, Engine::Kubectl, &edits).as_deref(),
        Ok("{\"a\": {\"b\": \"y\", \"d\": \"x\"}, \"c\": [true]}\n")
    );
}

#[test]
fn comments_of_inner_lines_go_and_those_of_others_stay() {
    let before = "a:\n  x: 1\n  # y: 2\n\n# of b, two lines\n# of b\nb: 1\n\n# of c\nc: 2\n";
    becomes(
        before,
        &[remove("a")],
        "\n# of b, two lines\n# of b\nb: 1\n\n# of c\nc: 2\n",
    );
    becomes(
        before,
        &[remove("b")],
        "a:\n  x: 1\n  # y: 2\n\n\n# of c\nc: 2\n",
    );
    becomes(
        before,
        &[insert("", "d", 1, after("a"))],
        &before.replace("  # y: 2\n", "  # y: 2\nd: 1\n"),
    );
}

#[test]
fn what_others_share_is_refused_by_name() {
    let before = "base: &base {a: 1}\nother: *base\nmerged:\n  <<: *base\n  b: 2\nown: &own 3\n";
    refused(
        before,
        &[set("base.a", 2)],
        "`base` is marked `&base`, and aliases use it",
    );
    refused(
        before,
        &[set("other.a", 2)],
        "`other` is written as the alias `*base`: change what `&base` marks, or write it out",
    );
    refused(before, &[set("merged.a", 2)], "`merged.a` does not exist");
    refused(
        before,
        &[remove("base")],
        "the edit would leave a file that is not YAML: there is no anchor `&base` before this alias",
    );
    becomes(
        before,
        &[set("own", 4)],
        &before.replace("&own 3", "&own 4"),
    );
    becomes(
        before,
        &[set("merged.b", 4)],
        &before.replace("b: 2", "b: 4"),
    );
    becomes(
        before,
        &[set("other", 4)],
        &before.replace("other: *base", "other: 4"),
    );
    refused(
        before,
        &[insert("merged", "a", 4, Position::First)],
        "the edit would change more than it should",
    );
}

#[test]
fn contradictions_and_what_is_not_there_are_refused() {
    let before = "a: 1\nb: {c: 2}\nd: 1\nd: 2\n";
    refused(before, &[set("x.y", 1)], "`x` does not exist");
    refused(before, &[set("a.y", 1)], "`a.y` does not exist");
    refused(before, &[set("d", 1)], "`d` exists twice");
    refused(
        before,
        &[insert("", "a", 1, Position::Last)],
        "`a` already exists",
    );
    refused(before, &[rename("a", "b")], "`b` already exists");
    refused(before, &[set("a", 2), set("a", 3)], "two edits touch `a`");
    refused(before, &[remove("b"), set("b.c", 3)], "two edits touch ``");
    refused(
        before,
        &[insert("a", "k", 1, Position::Last)],
        "`a` is neither a map nor a list",
    );
    refused(before, &[item("b", 1, Position::Last)], "`b` is not a list");
    refused(
        "a: [",
        &[set("a", 1)],
        "the file is not YAML: expected a value, found the end of the file",
    );
    becomes(
        before,
        &[set("a", 2), set("a", 2)],
        &before.replace("a: 1", "a: 2"),
    );
    becomes(
        before,
        &[rename("a", "c"), insert("", "a", 9, Position::First)],
        &before.replace("a: 1", "a: 9\nc: 1"),
    );
}

#[test]
fn a_text_within_a_string_is_replaced_as_it_is_spelled() {
    let before = "a: >-\n  {{ if x -}}\n    \"v1.31.8\"\n  {{- end }}  # text\nb: 'v1.31.8' # v1.31.8\nc: 1\n";
    let replace = |path: &str, from: &str, to: &str| Edit::Replace {
        at: super::at(path),
        from: from.to_owned(),
        to: to.to_owned(),
        only: None,
    };
    becomes(
        before,
        &[
            replace("a", "v1.31.8", "v1.31.9"),
            replace("b", "31.8", "31.9"),
        ],
        &before
            .replace("\"v1.31.8", "\"v1.31.9")
            .replace("'v1.31.8", "'v1.31.9"),
    );
    refused(
        before,
        &[replace("c", "1", "2")],
        "`c` is neither a map nor a list",
    );
    refused(
        before,
        &[replace("b", "v", "'")],
        "the edit would leave a file that is not YAML: expected a key, found another value",
    );
}

#[test]
fn a_place_names_a_value_or_a_key() {
    let before = "a:\n  - b: old\n";
    let start = before.find("old").expect("it is there");
    let edits = [
        Edit::Set {
            at: Target::Place(start..start + 3),
            value: "new".into(),
        },
        Edit::Rename {
            at: Target::Place(start - 3..start - 2),
            key: "c".into(),
        },
    ];
    becomes(before, &edits, "a:\n  - c: new\n");
    let error = edited(
        before,
        &[Edit::Set {
            at: Target::Place(0..4),
            value: 1.into(),
        }],
    );
    assert!(matches!(error, Err(EditError::Missing { .. })));
}

#[test]
fn a_value_is_written_as_its_text_where_lines_have_room() {
    let text = "# what it is\nb: 'x'\n\nc:\n- |\n  y\n\n  z\n";
    let value = || map(&[("b", "x".into()), ("c", list(&["y\n\nz\n"]))]);
    becomes(
        "a:\n  - {k: 1}\n  - k: 2 # two\n",
        &[
            set("a.0", value()).verbatim(text),
            item("a", value(), Position::Last).verbatim(text),
            insert("", "d", value(), Position::Last).verbatim(text),
        ],
        "a:\n  - # what it is\n    b: 'x'\n\n    c:\n    - |\n      y\n\n      z\n  - k: 2 # two\n  \
         - # what it is\n    b: 'x'\n\n    c:\n    - |\n      y\n\n      z\n\
         d:\n  # what it is\n  b: 'x'\n\n  c:\n  - |\n    y\n\n    z\n",
    );
    becomes(
        "a: [{k: 1}]\n",
        &[set("a.0", value()).verbatim(text)],
        "a: [{b: x, c: [\"y\\n\\nz\\n\"]}]\n",
    );
    refused(
        "a: {k: 1}\n",
        &[set("a", value()).verbatim("b: other\n")],
        "the edit would change more than it should",
    );
}
