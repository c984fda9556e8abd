//! Small texts in which one byte would be easy to get wrong: a row has the text, the edits, and the text afterwards.

use yaml_tree::edit::{Edit, Position, Step, Target, edit};
use yaml_tree::engine::Engine;

use super::shapes::{becomes, list, map, refused};
use super::within::within;
use super::{after, insert, item, remove, rename, set};

const LAST: Position = Position::Last;

fn each_becomes(rows: &[(&str, &[Edit], &str)]) {
    for (before, edits, wanted) in rows {
        becomes(before, edits, wanted);
    }
}

#[test]
fn what_is_nothing_in_braces_or_in_a_list_gets_members_on_its_line() {
    each_becomes(&[
        (
            "m: {a: , b: 1}\n",
            &[insert("m.a", "k", "v", LAST)],
            "m: {a: {k: v} , b: 1}\n",
        ),
        (
            "m: {a: null, b: 1}\n",
            &[item("m.a", "v", LAST)],
            "m: {a: [v], b: 1}\n",
        ),
        (
            "l:\n- # why\n- 2\n",
            &[insert("l.0", "k", "v", LAST)],
            "l:\n- {k: v} # why\n- 2\n",
        ),
        (
            "l:\n- null # why\n- 2\n",
            &[item("l.0", "v", LAST)],
            "l:\n- [v] # why\n- 2\n",
        ),
        (
            "l:\n- null\n- 2\n",
            &[insert("l.0", "k", "v", LAST)],
            "l:\n- k: v\n- 2\n",
        ),
    ]);
}

#[test]
fn members_in_braces_come_behind_those_that_they_follow() {
    let two = "m: {a: 1, # one\n  b: 2}\n";
    let shared = "m: {\n  a: 1, b: 2,\n  c: 3\n}\n";
    each_becomes(&[
        (
            "m: {a: 1, b: 2}\n",
            &[
                insert("m", "c", 3, after("a")),
                insert("m", "d", 4, after("b")),
            ],
            "m: {a: 1, c: 3, b: 2, d: 4}\n",
        ),
        (
            two,
            &[insert("m", "d", 4, after("a"))],
            "m: {a: 1, d: 4, # one\n  b: 2}\n",
        ),
        (
            shared,
            &[insert("m", "d", 4, after("a"))],
            "m: {\n  a: 1,\n  d: 4, b: 2,\n  c: 3\n}\n",
        ),
        (shared, &[remove("m.a")], "m: {\n  b: 2,\n  c: 3\n}\n"),
    ]);
}

#[test]
fn what_is_new_is_indented_as_what_is_there() {
    let value = || map(&[("k", list(&["v"]))]);
    each_becomes(&[
        (
            "a:\n- x\nb: 1\n",
            &[insert("", "c", list(&["z"]), LAST)],
            "a:\n- x\nb: 1\nc:\n- z\n",
        ),
        (
            "a:\n    b:\n        - x\n",
            &[insert("", "c", value(), LAST)],
            "a:\n    b:\n        - x\nc:\n    k:\n        - v\n",
        ),
        (
            "m:\n  a: { x: 1 }\n",
            &[insert("m", "b", map(&[("k", "v".into())]), LAST)],
            "m:\n  a: { x: 1 }\n  b: { k: v }\n",
        ),
        (
            "a: 1\n",
            &[insert("", "c", list(&[]), LAST)],
            "a: 1\nc: []\n",
        ),
        (
            "a: {b: {c: 1}}\nd:\n   e:\n   - x\n",
            &[insert("", "f", value(), after("d"))],
            "a: {b: {c: 1}}\nd:\n   e:\n   - x\nf:\n   k:\n   - v\n",
        ),
        // Eight columns are a habit, more are none.
        (
            "a:\n        b: 1\n",
            &[insert("", "c", map(&[("k", 1.into())]), LAST)],
            "a:\n        b: 1\nc:\n        k: 1\n",
        ),
        (
            "a:\n         b: 1\n",
            &[insert("", "c", map(&[("k", 1.into())]), LAST)],
            "a:\n         b: 1\nc:\n  k: 1\n",
        ),
    ]);
}

#[test]
fn a_block_of_one_line_gets_another_line_where_it_can() {
    each_becomes(&[
        (
            "a: >-\n    one\nb: 1\n",
            &[set("a", "two: 2")],
            "a: >-\n    two: 2\nb: 1\n",
        ),
        ("a: |-\n  one\nb: 1\n", &[set("a", "")], "a: \"\"\nb: 1\n"),
        ("a: |\n  one\nb: 1\n", &[set("a", "two")], "a: two\nb: 1\n"),
        (
            "a: |-\n  one\n  two\nb: 1\n",
            &[set("a", "x y")],
            "a: x y\nb: 1\n",
        ),
        (
            "a: |\n  one\n\nb: 1\n",
            &[set("a", "two\n")],
            "a: |\n  two\n\nb: 1\n",
        ),
    ]);
}

/// Where no block of lines can stand, lines are escaped in quotes.
#[test]
fn lines_stay_on_the_line_of_a_comment_and_in_braces() {
    let lines = || set("a", "one\ntwo\n");
    each_becomes(&[
        (
            "a: x # why\nb: 1\n",
            &[lines()],
            "a: \"one\\ntwo\\n\" # why\nb: 1\n",
        ),
        (
            "a: # why\nb: 1\n",
            &[lines()],
            "a: \"one\\ntwo\\n\" # why\nb: 1\n",
        ),
        (
            "a: x\n  y # why\nb: 1\n",
            &[lines()],
            "a: \"one\\ntwo\\n\" # why\nb: 1\n",
        ),
        (
            "{a: x,\nb: 1}\n",
            &[lines()],
            "{a: \"one\\ntwo\\n\",\nb: 1}\n",
        ),
    ]);
}

#[test]
fn an_entry_goes_with_the_comment_that_names_it_or_a_bot_reads() {
    each_becomes(&[
        (
            "m:\n  # renovate: datasource=docker\n  xx: 1\n  y: 2\n",
            &[remove("m.xx")],
            "m:\n  y: 2\n",
        ),
        ("# xx is old\nxx: 1\ny: 2\n", &[remove("xx")], "y: 2\n"),
        (
            "# renovate: datasource=docker\nxx: 1\ny: 2\n",
            &[remove("xx")],
            "y: 2\n",
        ),
        // What heads both, or the file, stays.
        (
            "m:\n  # both\n  xx: 1\n  y: 2\n",
            &[remove("m.xx")],
            "m:\n  # both\n  y: 2\n",
        ),
        (
            "# the file\nxx: 1\n\ny: 2\n",
            &[remove("xx")],
            "# the file\n\ny: 2\n",
        ),
    ]);
}

/// Quotes come where a reader takes the text for a number, or where nothing is certain.
#[test]
fn of_texts_that_begin_with_a_digit_versions_digests_and_uuids_have_no_quotes() {
    let digest = "0f".repeat(32);
    let (binary, exponent) = (format!("0b{}", "1".repeat(30)), "1e".repeat(16));
    for (text, is_plain) in [
        ("0.12.1", true),
        ("1.31.8-rc", true),
        ("1.31.8+rke2r1", true),
        (&digest, true),
        ("0a1b2c3d-0000-4000-8000-000000000000", true),
        ("0.12", false),
        ("31-8", false),
        (".1.2.3", false),
        ("1.2.3 x", false),
        ("1.2.3: x", false),
        ("0a1b2c3d-000-4000-8000-000000000000", false),
        (&digest[..30], false),
        (&binary, false),
        (&exponent, false),
    ] {
        let wanted = if is_plain {
            format!("a: {text}\n")
        } else {
            format!("a: \"{text}\"\n")
        };
        becomes("a: x\n", &[set("a", text)], &wanted);
    }
}

#[test]
fn members_for_several_places_come_in_any_order() {
    each_becomes(&[(
        "a: 1\nb: 2",
        &[
            insert("", "c", 3, LAST),
            insert("", "aa", 0, after("a")),
            insert("", "d", 4, LAST),
            remove("b"),
        ],
        "a: 1\naa: 0\nc: 3\nd: 4",
    )]);
}

#[test]
fn a_list_is_as_long_as_it_likes() {
    let before = "- x\n".repeat(2000);
    becomes(
        &before,
        &[set("1999", "z")],
        &format!("{}- z\n", &before[4..]),
    );
}

#[test]
fn documents_without_edits_stay() {
    let edits = [set("a", 2)];
    let found = edit("a: 1\n---\ntext\n", Engine::Kubectl, &edits);
    assert_eq!(found.as_deref(), Ok("a: 2\n---\ntext\n"));
}

#[test]
fn what_is_set_as_a_whole_has_no_other_edit() {
    let before = "b: {c: 2}\n";
    for other in [
        set("b.c", 3),
        remove("b.c"),
        insert("b", "d", 3, LAST),
        rename("b.c", "d"),
    ] {
        refused(before, &[set("b", 1), other], "two edits touch `b`");
    }
    // An edit that is none is in no one's way.
    becomes(
        "a: |\n  x: 1\nb: 1\n",
        &[within("a", &[]), remove("a")],
        "b: 1\n",
    );
}

#[test]
fn an_item_behind_the_last_one_is_not_there() {
    let before = "l:\n  m: [a]\n";
    refused(before, &[set("l.m.1", "b")], "`l.m.1` does not exist");
    let behind = Position::After(Step::Index(1));
    refused(
        before,
        &[item("l.m", "b", behind)],
        "`l.m.1` does not exist",
    );
    let at = Target::Path(1, Vec::new());
    let nowhere = [Edit::Set {
        at,
        value: 1.into(),
    }];
    refused(before, &nowhere, "`document 1` does not exist");
}

#[test]
fn a_text_in_a_string_is_edited_only_behind_a_bar() {
    let edits = [within("a", &[set("b", "y")])];
    for (before, why) in [
        (
            "a: 'b: x'\n",
            "`a` is not a block scalar: write it below the key, after `|`",
        ),
        (
            "a: >\n  b: x\n",
            "`a` is folded, so its lines are not those of the text in it: write it with `|`",
        ),
        ("a: {b: x}\n", "`a` is not a text"),
        ("a: 1\n", "`a` is not a text"),
    ] {
        refused(before, &edits, why);
    }
    becomes(
        "x: |\n  l: [\n  one, two\n  ]\n",
        &[within("x", &[remove("l.0")])],
        "x: |\n  l: [\n  two\n  ]\n",
    );
}

#[test]
fn a_comment_that_is_indented_deeper_goes_with_its_member_behind_blank_lines() {
    each_becomes(&[
        ("a:\n  b: 1\n\n  # of a\nc: 2\n", &[remove("a")], "c: 2\n"),
        (
            "a:\n  b: 1\n\n# of c\nc: 2\n",
            &[remove("a")],
            "\n# of c\nc: 2\n",
        ),
    ]);
}
