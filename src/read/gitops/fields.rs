//! What becomes of each field of an object that another controller carries out.
//!
//! One table for a kind lists every field of its schema. A field that no table has is not known: what an unread field does cannot
//! be said, so the pools behind the object are unknown. Adding a field is one line.

use yaml_tree::place::Place;
use yaml_tree::value::{Node, Value};

/// What becomes of a field and of all that is below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read) enum Meaning {
    /// It is carried out as the controller does.
    Done,
    /// It changes nothing that is looked at: no image, version, name, number of machines, or value of a chart.
    NoEffect,
    /// It may change what is looked at, and is not carried out.
    NotKnown,
}

/// The fields of a kind, by path: `spec.source.helm`, with `[]` for the items of a list and `*` for any key of a map. A longer path
/// says more about a part of a shorter one.
pub(in crate::read) type Table = &'static [(&'static str, Meaning)];

/// A field that is not carried out, and may matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::read) struct UnknownField {
    /// As in a table.
    pub(in crate::read) path: String,
    pub(in crate::read) place: Place,
}

/// The first field of an object that is not known.
pub(in crate::read) fn find_unknown_field(table: Table, object: &Node) -> Option<UnknownField> {
    find(table, object, &mut Vec::new(), None)
}

fn find<'n>(
    table: Table,
    node: &'n Node,
    path: &mut Vec<&'n str>,
    above: Option<Meaning>,
) -> Option<UnknownField> {
    let is_same = |row: &str| parts(row).count() == path.len() && begins_with(row, path);
    let row = table.iter().find(|row| is_same(row.0));
    let meaning = row.map(|row| row.1).or(above);
    let mut rows = table.iter();
    let has_more = rows.any(|row| parts(row.0).count() > path.len() && begins_with(row.0, path));
    let mut below = |part: &'n str, node: &'n Node| {
        path.push(part);
        let found = find(table, node, path, meaning);
        path.pop();
        found
    };
    match (&node.value, meaning) {
        (Value::Null, _) => None,
        (Value::Map(map), _) if has_more => {
            { map.iter() }.find_map(|entry| below(&entry.key, &entry.node))
        }
        (Value::List(items), _) if has_more => items.iter().find_map(|item| below("[]", item)),
        (_, Some(Meaning::Done | Meaning::NoEffect)) => None,
        (_, Some(Meaning::NotKnown) | None) => Some(UnknownField {
            path: path.join(".").replace(".[]", "[]"),
            place: node.place,
        }),
    }
}

/// The parts of a row's path.
fn parts(row: &str) -> impl Iterator<Item = &str> {
    row.split('.')
        .flat_map(|part| match part.strip_suffix("[]") {
            Some(name) => [Some(name), Some("[]")],
            None => [Some(part), None],
        })
        .flatten()
}

/// Whether a row begins with a path. A `*` of the row is any key.
fn begins_with(row: &str, path: &[&str]) -> bool {
    let mut row = parts(row);
    path.iter().all(|part| {
        row.next()
            .is_some_and(|of_row| of_row == *part || of_row == "*")
    })
}

#[cfg(test)]
mod tests {
    use yaml_tree::engine::Engine;
    use yaml_tree::place::FileId;

    use super::Meaning::{Done, NoEffect, NotKnown};
    use super::*;

    const TABLE: Table = &[
        ("kind", Done),
        ("metadata", NoEffect),
        ("metadata.name", Done),
        ("spec.list[].name", Done),
        ("spec.list[].run", NotKnown),
        ("spec.map.*", Done),
        ("spec.map.*.odd", NotKnown),
    ];

    fn unknown(text: &str) -> String {
        let tree = yaml_tree::read(text, FileId(0), Engine::default()).unwrap();
        find_unknown_field(TABLE, &tree.documents[0]).map_or("none".to_owned(), |field| field.path)
    }

    #[test]
    fn a_field_is_known_by_the_longest_row_above_it() {
        let cases = [
            ("{kind: A, metadata: {name: a, labels: {a: b}}}", "none"),
            ("{spec: {list: [{name: a}, {name: b}]}}", "none"),
            ("{spec: {list: [{name: a}, {run: b}]}}", "spec.list[].run"),
            ("{spec: {list: [{other: a}]}}", "spec.list[].other"),
            ("{spec: {list: text}}", "spec.list"),
            ("{spec: {map: {any: {a: b}}}}", "none"),
            ("{spec: {map: {any: {odd: b}}}}", "spec.map.any.odd"),
            (
                "{spec: {map: {any.org/a: {odd: b}}}}",
                "spec.map.any.org/a.odd",
            ),
            ("{spec: {other: 1}}", "spec.other"),
            ("{spec: {other: null}}", "none"),
            ("{status: {}}", "status"),
        ];
        for (text, path) in cases {
            assert_eq!(unknown(text), path, "{text}");
        }
    }
}
