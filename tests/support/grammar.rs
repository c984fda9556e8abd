//! Random inputs that are near what a reader takes: of plain random text nothing gets past its first letters.

use proptest::prelude::{Strategy, any, prop, prop_oneof};

/// A template's expression of literals, values and calls, now and then with a letter too much.
pub(crate) fn expression() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "1",
        "-2.5",
        "\"a\"",
        "`b`",
        "'c'",
        "true",
        "nil",
        ".",
        "$",
        ".a",
        ".b.c",
        ".Values.w",
        ".Values.b.c",
    ]);
    let call = prop::sample::select(vec![
        "upper",
        "quote",
        "len",
        "add 1",
        "printf \"%5.2v|%q\"",
        "default 1",
        "list 1",
        "index",
        "eq 1",
        "not",
        "toJson",
        "dict \"k\"",
        "ternary 1 2",
        "trunc 2",
        "replace \"a\" \"b\"",
        "nosuch",
    ]);
    let pipe = word
        .prop_map(str::to_owned)
        .prop_recursive(3, 8, 2, move |inner| {
            prop_oneof![
                (call.clone(), inner.clone()).prop_map(|(call, inner)| format!("({call} {inner})")),
                (inner.clone(), call.clone()).prop_map(|(inner, call)| format!("{inner} | {call}")),
                (inner.clone(), inner).prop_map(|(one, other)| format!(
                    "if {one} }}}}x{{{{ else }}}}{{{{ {other} }}}}{{{{ end"
                )),
            ]
        });
    let slip = prop::option::weighted(0.2, "[ -~]");
    (pipe, slip).prop_map(|(pipe, slip)| format!("{{{{ {pipe}{} }}}}", slip.unwrap_or_default()))
}

/// A YAML document as an author thinks of it. Maps and lists in braces (`true`) hold nothing that is not.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Scalar(String),
    Map(bool, Vec<(String, Tree)>),
    List(bool, Vec<Tree>),
}

/// An author's habits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Habits {
    step: usize,
    list_step: usize,
    pub(crate) eol: &'static str,
    pub(crate) is_ended: bool,
}

/// A document of these scalars.
pub(crate) fn document(scalars: &'static str) -> impl Strategy<Value = Tree> {
    let scalar = scalars.prop_filter("a word of YAML 1.1", |text| {
        !matches!(
            &**text,
            "y" | "n" | "on" | "no" | "off" | "yes" | "true" | "null"
        )
    });
    let tree = scalar
        .prop_map(Tree::Scalar)
        .prop_recursive(4, 30, 4, |inner| {
            let is_flow = || prop::bool::weighted(0.3);
            prop_oneof![
                (is_flow(), entries(inner.clone())).prop_map(|(flow, map)| Tree::Map(flow, map)),
                (is_flow(), prop::collection::vec(inner, 1..4))
                    .prop_map(|(flow, list)| Tree::List(flow, list)),
            ]
        });
    entries(tree).prop_map(|map| Tree::Map(false, map))
}

fn entries(values: impl Strategy<Value = Tree>) -> impl Strategy<Value = Vec<(String, Tree)>> {
    let map = prop::collection::btree_map("[a-m]{2,3}", values, 1..5);
    map.prop_map(|map| map.into_iter().collect())
}

pub(crate) fn habits() -> impl Strategy<Value = Habits> {
    any::<[bool; 4]>().prop_map(|[wide, flat, windows, is_ended]| {
        let step = if wide { 4 } else { 2 };
        Habits {
            step,
            list_step: if flat { 0 } else { step },
            eol: if windows { "\r\n" } else { "\n" },
            is_ended,
        }
    })
}

fn in_braces(tree: &Tree) -> String {
    match tree {
        Tree::Scalar(text) => text.clone(),
        Tree::Map(_, map) => {
            let entries: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{key}: {}", in_braces(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        Tree::List(_, list) => format!(
            "[{}]",
            list.iter().map(in_braces).collect::<Vec<_>>().join(", ")
        ),
    }
}

/// The lines of a collection at a column.
fn lines(tree: &Tree, column: usize, habits: Habits) -> Vec<String> {
    let indent = " ".repeat(column);
    match tree {
        Tree::Map(false, map) => {
            let entry = |(key, value): &(String, Tree)| match value {
                Tree::Map(false, _) => [
                    vec![format!("{indent}{key}:")],
                    lines(value, column + habits.step, habits),
                ]
                .concat(),
                Tree::List(false, _) => [
                    vec![format!("{indent}{key}:")],
                    lines(value, column + habits.list_step, habits),
                ]
                .concat(),
                _ => vec![format!("{indent}{key}: {}", in_braces(value))],
            };
            map.iter().flat_map(entry).collect()
        }
        Tree::List(false, list) => {
            let item = |value: &Tree| {
                let mut lines = lines(value, column + 2, habits);
                lines[0].replace_range(column..=column, "-");
                lines
            };
            list.iter().flat_map(item).collect()
        }
        _ => vec![format!("{indent}{}", in_braces(tree))],
    }
}

/// The document as an author of these habits writes it.
pub(crate) fn text(tree: &Tree, habits: Habits) -> String {
    let text = lines(tree, 0, habits).join(habits.eol);
    text + if habits.is_ended { habits.eol } else { "" }
}
