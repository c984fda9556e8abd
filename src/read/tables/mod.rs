//! What becomes of each field of an object that another controller carries out.
//!
//! A table for each kind lists every field of its schema. A field that no table has is not known: what an unread field does cannot
//! be said, so the pools behind the object are unknown. Adding a field is one word.

pub(in crate::read) mod argo_cd;
pub(in crate::read) mod cluster_api;
pub(in crate::read) mod eks_anywhere;
pub(in crate::read) mod flux;
pub(in crate::read) mod kustomize;

use std::collections::HashMap;
use std::ptr;
use std::sync::OnceLock;

use yaml_tree::place::Place;
use yaml_tree::suggest::{did_you_mean, only_meant};
use yaml_tree::value::{Node, Number, Value};

use crate::model::rule::RuleId;

/// What becomes of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// It is carried out as the controller does: this field alone. Those below it have rows of their own.
    Done,
    /// As [`Done`](Self::Done), and it is true or false.
    Flag,
    /// As [`Done`](Self::Done), and it is a whole number.
    Count,
    /// It is carried out with all that is below it, whose names are the user's or those of another table.
    Whole,
    /// It changes nothing that is looked at, nor does what is below it: no image, version, name, number of machines, or value of a
    /// chart.
    NoEffect,
    /// It may change what is looked at, and is not carried out.
    NotKnown,
}

/// The fields below one parent that mean the same.
struct Row {
    meaning: Meaning,
    parent: &'static str,
    names: &'static str,
}

/// Rows: what becomes of fields, their parent such as `spec.source`, and their names with spaces between them. `[]` is the
/// items of a list, and `*` any key of a map. A longer path says more about a part of a shorter one.
macro_rules! rows {
    ($($meaning:ident $parent:literal: $names:literal)*) => {
        $crate::read::tables::Rows {
            rows: &[$($crate::read::tables::Row {
                meaning: $crate::read::tables::Meaning::$meaning,
                parent: $parent,
                names: $names,
            }),*],
            fields: std::sync::OnceLock::new(),
        }
    };
}

use rows;

/// The rows of a table, and what they say field by field.
struct Rows {
    rows: &'static [Row],
    fields: OnceLock<Fields>,
}

/// A field of a table, and those below it by their keys.
#[derive(Default)]
struct Fields {
    /// The number of the row that names the field, and what that says. The first one counts.
    own: Option<(usize, Meaning)>,
    below: HashMap<&'static str, Fields>,
}

impl Rows {
    fn fields(&self) -> &Fields {
        self.fields.get_or_init(|| {
            let mut all = Fields::default();
            for (number, row) in self.rows.iter().enumerate() {
                for name in row.names.split(' ') {
                    let keys = parts(row.parent).chain(parts(name));
                    let field =
                        keys.fold(&mut all, |field, key| field.below.entry(key).or_default());
                    field.own.get_or_insert((number, row.meaning));
                }
            }
            all
        })
    }
}

/// The fields of a kind.
pub(in crate::read) struct Table {
    rows: Rows,
    /// Whether a scalar of another type is refused, where all but flags and counts are texts.
    is_strict: bool,
}

/// A field for which an object is not read as its controller reads it.
pub(in crate::read) struct Fault {
    pub(in crate::read) rule: RuleId,
    pub(in crate::read) message: String,
    /// What to write instead, of a misspelled field.
    pub(in crate::read) help: Option<String>,
    pub(in crate::read) place: Place,
}

/// The first fault of an object, or of a part of one, which is called `title`.
pub(in crate::read) fn find_fault(table: &Table, title: &str, node: &Node) -> Option<Fault> {
    let Field {
        path,
        place,
        node,
        fault,
        near,
    } = find(table, &[table.rows.fields()], node, &mut Vec::new(), None)?;
    let (rule, what) = match (fault, near) {
        (FieldFault::OtherType, _) => {
            let help = match node.value {
                Value::String(_) => "remove its quotes",
                _ => "quote it",
            };
            let kind = node.value.kind();
            let what = format!("whose type is another than {kind}: {help}");
            (RuleId::CompositionFailed, what)
        }
        (_, Some(_)) => (
            RuleId::CompositionUnsupported,
            "which its kind does not have".to_owned(),
        ),
        (_, None) => (
            RuleId::CompositionUnsupported,
            "which is not carried out here".to_owned(),
        ),
    };
    Some(Fault {
        rule,
        message: format!("{title} has the field `{path}`, {what}"),
        help: near.map(|near| format!("did you mean `{near}`?")),
        place,
    })
}

/// What is wrong with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldFault {
    NotKnown,
    NoRow,
    OtherType,
}

struct Field<'n> {
    /// As in a table.
    path: String,
    /// The place of its value; of its key, if it is misspelled.
    place: Place,
    node: &'n Node,
    fault: FieldFault,
    /// The field beside it whose name it almost has, if no row names it.
    near: Option<&'static str>,
}

/// `fields` are the table's fields at the path: several where a `*` is one of its keys.
fn find<'n>(
    table: &Table,
    fields: &[&Fields],
    node: &'n Node,
    path: &mut Vec<&'n str>,
    above: Option<Meaning>,
) -> Option<Field<'n>> {
    let rows = fields.iter().filter_map(|field| field.own);
    let own = rows.min_by_key(|(number, _)| *number).map(|row| row.1);
    let has_more = fields.iter().any(|field| !field.below.is_empty());
    let is_alone = matches!(own, Some(Meaning::Done | Meaning::Flag | Meaning::Count));
    let meaning = own.or(above);
    let covers = meaning.filter(|_| !is_alone);
    let beside = || { fields.iter() }.flat_map(|field| field.below.keys().copied());
    let mut below = |key: &'n str, node: &'n Node, place: Place| {
        let keys = [key, "*"].into_iter();
        let fields =
            keys.flat_map(|key| fields.iter().filter_map(move |field| field.below.get(key)));
        let fields: Vec<&Fields> = fields.collect();
        path.push(key);
        let found = find(table, &fields, node, path, covers);
        path.pop();
        let is_own =
            |field: &Field<'_>| field.fault == FieldFault::NoRow && ptr::eq(field.node, node);
        let near = || match key.len() {
            0..=6 => did_you_mean(key, beside()),
            _ => only_meant(key, beside()),
        };
        found.map(|field| match near() {
            Some(near) if is_own(&field) => Field {
                near: Some(near),
                place,
                ..field
            },
            _ => field,
        })
    };
    let fault = match (&node.value, meaning) {
        (Value::Null, _) => return None,
        (Value::Map(map), _) if has_more || is_alone => {
            let mut entries = map.iter();
            return entries.find_map(|entry| below(&entry.key, &entry.node, entry.key_place));
        }
        (Value::List(items), _) if has_more || is_alone => {
            return items.iter().find_map(|item| below("[]", item, item.place));
        }
        (_, None) => FieldFault::NoRow,
        (_, Some(Meaning::NotKnown)) => FieldFault::NotKnown,
        (value, Some(meaning)) if table.is_strict && !has_type(value, meaning) => {
            FieldFault::OtherType
        }
        _ => return None,
    };
    Some(Field {
        path: path.join(".").replace(".[]", "[]"),
        place: node.place,
        node,
        fault,
        near: None,
    })
}

/// The parts of a row's path.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    let parts = path.split('.').flat_map(|part| {
        let list = part.strip_suffix("[]");
        [Some(list.unwrap_or(part)), list.map(|_| "[]")]
    });
    parts.flatten().filter(|part| !part.is_empty())
}

fn has_type(value: &Value, meaning: Meaning) -> bool {
    match value {
        _ if meaning == Meaning::Whole => true,
        Value::Bool(_) => meaning == Meaning::Flag,
        Value::Number(number) => meaning == Meaning::Count && matches!(number, Number::Int(_)),
        Value::String(_) => !matches!(meaning, Meaning::Flag | Meaning::Count),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use yaml_tree::engine::Engine;
    use yaml_tree::place::FileId;

    use super::*;

    fn fault(table: &Table, text: &str) -> Option<(String, FieldFault)> {
        let tree = yaml_tree::read(text, FileId(0), Engine::default()).unwrap();
        let field = find(
            table,
            &[table.rows.fields()],
            &tree.documents[0],
            &mut Vec::new(),
            None,
        )?;
        Some((field.path, field.fault))
    }

    #[test]
    fn a_field_is_known_by_its_row_or_by_one_that_covers_it() {
        static TABLE: Table = Table {
            rows: rows! {
                Done "": "kind"
                NoEffect "": "metadata"
                Done "metadata": "name"
                Done "spec": "alone list[].name"
                NotKnown "spec": "list[].run"
                Whole "spec.map": "*"
                NotKnown "spec.map.*": "odd"
            },
            is_strict: false,
        };
        let cases = [
            ("{kind: A, metadata: {name: a, labels: {a: b}}}", "none"),
            ("{spec: {list: [{name: a}, {name: b}]}}", "none"),
            ("{spec: {list: [{name: a}, {run: b}]}}", "spec.list[].run"),
            ("{spec: {list: [{other: a}]}}", "spec.list[].other"),
            ("{spec: {list: text}}", "spec.list"),
            ("{spec: {alone: [a]}}", "spec.alone[]"),
            ("{spec: {alone: {a: b}}}", "spec.alone.a"),
            ("{spec: {alone: {}}}", "none"),
            ("{spec: {map: {any: {a: b}}}}", "none"),
            ("{spec: {map: {any: {odd: b}}}}", "spec.map.any.odd"),
            ("{spec: {map: {a.org/a: {odd: b}}}}", "spec.map.a.org/a.odd"),
            ("{spec: {other: 1}}", "spec.other"),
            ("{spec: {other: null}}", "none"),
            ("{status: {}}", "status"),
        ];
        for (text, path) in cases {
            let found = fault(&TABLE, text).map_or("none".to_owned(), |(path, _)| path);
            assert_eq!(found, path, "{text}");
        }
    }

    /// A field as YAML: `a.b[].c` is `{a: {b: [{c: 1}]}}`.
    fn document(path: &str) -> String {
        path.split('.').rev().fold("1".to_owned(), |below, part| {
            match part.strip_suffix("[]") {
                Some(part) => format!("{{\"{part}\": [{below}]}}"),
                None => format!("{{\"{part}\": {below}}}"),
            }
        })
    }

    /// The fields of a schema that no row of its table has.
    fn unlisted<'f>(table: &Table, fields: &'f str) -> Vec<&'f str> {
        let is_unlisted = |field: &&str| {
            let parts = [
                (&argo_cd::SOURCE, "spec.source."),
                (&argo_cd::SOURCE, "spec.sources[]."),
                (&argo_cd::GENERATOR, "spec.generators[]."),
            ];
            let (mut table, mut field) = (table, *field);
            for (part, prefix) in parts {
                if let Some(rest) = field.strip_prefix(prefix) {
                    (table, field) = (part, rest);
                }
            }
            let found = fault(table, &document(field));
            found.is_some_and(|(_, fault)| fault == FieldFault::NoRow)
        };
        fields.lines().filter(is_unlisted).collect()
    }

    /// The lists are of the newest schemas: of kustomize's Go types, and of the others' CustomResourceDefinitions.
    #[test]
    fn each_field_of_the_schemas_has_a_row() {
        macro_rules! fields {
            ($name:literal) => {
                include_str!(concat!("../../../tests/manifests/fields/", $name, ".txt"))
            };
        }
        for (table, fields) in [
            (&kustomize::KUSTOMIZATION, fields!("kustomization")),
            (&flux::KUSTOMIZATION, fields!("flux-kustomization")),
            (&flux::HELM_RELEASE, fields!("helm-release")),
            (&argo_cd::APPLICATION, fields!("application")),
            (&argo_cd::APPLICATION_SET, fields!("application-set")),
            (&cluster_api::CLUSTER, fields!("cluster")),
            (&cluster_api::CLASS, fields!("cluster-class")),
            (&eks_anywhere::CLUSTER, fields!("eks-anywhere-cluster")),
            (&eks_anywhere::MACHINES, fields!("eks-anywhere-machines")),
        ] {
            assert_eq!(unlisted(table, fields), Vec::<&str>::new());
            assert!(fields.lines().count() > 20);
        }
        assert_eq!(unlisted(&flux::KUSTOMIZATION, "spec.new"), ["spec.new"]);
    }
}
