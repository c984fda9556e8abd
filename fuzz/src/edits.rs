//! An edit in place: four bytes say which, the rest is the text. What comes out says the old tree with just that change.

use yaml_tree::edit::{Edit, Position, Step, Target, edit};
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;
use yaml_tree::value::{Entry, Map, Node, Value};

/// Which node of a text is meant: its document, and the steps to it.
type Path = (usize, Vec<Step>);

pub(super) fn run(data: &[u8]) -> bool {
    let Some(([how, node, value, place], text)) = data.split_first_chunk() else {
        return false;
    };
    let engines = [Engine::Helm3, Engine::Helm4, Engine::Kubectl];
    let engine = engines[usize::from(*place) % 3];
    let Ok(text) = yaml_tree::decode(text, engine) else {
        return false;
    };
    let Ok(read) = yaml_tree::read(&text, FileId(0), engine) else {
        return false;
    };
    let before: Vec<Value> = read
        .documents
        .iter()
        .map(|node| node.value.clone())
        .collect();
    let mut all = Vec::new();
    for (index, document) in before.iter().enumerate() {
        paths(document, (index, Vec::new()), &mut all);
    }
    let Some(path) = all.get(usize::from(*node) % all.len().max(1)) else {
        return false;
    };
    let (change, wanted) = change(*how, path, &value_of(*value), *place, &before);
    let Ok(edited) = edit(&text, engine, std::slice::from_ref(&change)) else {
        return false;
    };
    let after = yaml_tree::read(&edited, FileId(0), engine);
    let after =
        after.unwrap_or_else(|error| panic!("{error}: {change:?} of\n{text}\nis\n{edited}"));
    let same = after.documents.len() == before.len()
        && after
            .documents
            .iter()
            .zip(&before)
            .enumerate()
            .all(|(index, (after, before))| {
                let wanted = if index == path.0 { &wanted } else { before };
                after.value.same(wanted)
            });
    assert!(same, "{change:?} of\n{text}\nis\n{edited}");
    true
}

/// The edit, and the document that it is to make.
fn change(how: u8, path: &Path, new: &Value, place: u8, before: &[Value]) -> (Edit, Value) {
    let (document, steps) = path;
    let tree = &before[*document];
    let at = Target::Path(*document, steps.clone());
    let position = match place % 2 {
        0 => Position::First,
        _ => Position::Last,
    };
    let below = |step: Step| [&steps[..], &[step]].concat();
    let here = get(tree, steps);
    match (how % 4, here) {
        (0, _) => (
            Edit::Set {
                at,
                value: new.clone(),
            },
            put(tree, steps, Some(new)),
        ),
        (1, _) => (Edit::Remove { at }, put(tree, steps, None)),
        (2, Some(Value::List(items))) => {
            let item = Node::from_value(new.clone());
            let mut items = items.to_vec();
            match position {
                Position::First => items.insert(0, item),
                _ => items.push(item),
            }
            let edit = Edit::InsertItem {
                list: at,
                value: new.clone(),
                position,
            };
            (edit, put(tree, steps, Some(&items.into())))
        }
        _ => {
            let key = "zz-added".to_owned();
            let wanted = match here {
                Some(Value::Null) => {
                    let map = Map::from_iter([Entry::from_value(&*key, new.clone())]);
                    put(tree, steps, Some(&map.into()))
                }
                _ => put(tree, &below(Step::Key(key.clone())), Some(new)),
            };
            (
                Edit::Insert {
                    map: at,
                    key,
                    value: new.clone(),
                    position,
                },
                wanted,
            )
        }
    }
}

/// A value to write: of every kind, and strings that need quotes.
fn value_of(byte: u8) -> Value {
    let texts = [
        "x",
        "yes",
        "1.30",
        "it's",
        "two\nlines\n",
        "",
        " led",
        "a: b",
        "# no",
        "\u{7f}\u{85}",
        "{{ .a }}",
        "\ttab\n\n",
    ];
    match byte % 16 {
        0 => Value::Null,
        1 => Value::Bool(true),
        2 => Value::empty_map(),
        3 => vec![Node::from_value("i"), Node::from_value(Value::empty_map())].into(),
        other => texts[usize::from(other) - 4].into(),
    }
}

/// Every node below the documents' roots, as paths; not all of what aliases blow up.
fn paths(value: &Value, path: Path, out: &mut Vec<Path>) {
    if out.len() >= 256 {
        return;
    }
    let below = |step: Step| (path.0, [&path.1[..], &[step]].concat());
    match value {
        Value::Map(map) => {
            for entry in &**map {
                paths(
                    &entry.node.value,
                    below(Step::Key(entry.key.to_string())),
                    out,
                );
            }
        }
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                paths(&item.value, below(Step::Index(index)), out);
            }
        }
        _ => {}
    }
    out.push(path);
}

fn get<'v>(value: &'v Value, steps: &[Step]) -> Option<&'v Value> {
    let Some((step, rest)) = steps.split_first() else {
        return Some(value);
    };
    let below = match (value, step) {
        (Value::Map(map), Step::Key(key)) => map.get(key)?,
        (Value::List(items), Step::Index(index)) => items.get(*index)?,
        _ => return None,
    };
    get(&below.value, rest)
}

/// The tree with the node at a path replaced, added or taken out.
pub fn put(value: &Value, steps: &[Step], new: Option<&Value>) -> Value {
    let Some((step, rest)) = steps.split_first() else {
        return new.cloned().unwrap_or(Value::Null);
    };
    match (value, step) {
        (Value::Map(map), Step::Key(key)) => {
            let mut map = Map::clone(map);
            match (rest.is_empty(), new, map.get(key).cloned()) {
                (true, None, _) => drop(map.remove(key)),
                (_, _, Some(node)) => {
                    drop(map.insert(Entry::from_value(&**key, put(&node.value, rest, new))))
                }
                (_, Some(new), None) => drop(map.insert(Entry::from_value(&**key, new.clone()))),
                _ => {}
            }
            map.into()
        }
        (Value::List(items), Step::Index(index)) => {
            let mut items = items.to_vec();
            if rest.is_empty() && new.is_none() {
                items.remove(*index);
            } else {
                items[*index] = Node::from_value(put(&items[*index].value, rest, new));
            }
            items.into()
        }
        _ => value.clone(),
    }
}
