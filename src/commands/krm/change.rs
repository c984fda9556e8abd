//! What of an object's image is not as it is to be, and the edits that mend it.

use crate::model::value::{Map, Node, Value};
use crate::providers::{self, Kind, Provider, Stamp, edited, is_meant};
use crate::yaml::edit::{Edit, Position, Step, Target};

use super::result::Field;

/// Why an image cannot be stamped, whoever chose it.
pub(super) fn problems(stamp: &Stamp, provider: &dyn Provider, kind: &Kind) -> Vec<String> {
    let key = stamp.key.as_deref().unwrap_or(&stamp.url);
    let mut problems = Vec::new();
    if kind.formats.is_empty() {
        return problems;
    }
    match stamp.format.as_deref() {
        None => problems.push(format!("nothing says the format of image `{key}`")),
        Some(format) if !kind.formats.contains(&format) => problems.push(format!(
            "{} cannot boot image `{key}`, whose format is `{format}`",
            provider.name()
        )),
        Some(_) => {}
    }
    if provider.name() == "capm3" && stamp.checksum.is_none() && !stamp.is_oci() {
        problems.push(format!("nothing says the checksum of image `{key}`"));
    }
    problems
}

/// One field that is not as it is to be.
pub(super) struct Change {
    pub(super) field: Field,
    /// None where the change is part of another one.
    pub(super) edit: Option<Edit>,
}

/// A node that lacks fields: what is to stand below it, as far as it does not.
struct Gap {
    /// The way to the node in the list.
    steps: Vec<Step>,
    /// The key that is missing in it; none where the node is no map and becomes one.
    key: Option<&'static str>,
    /// What is to stand there, seen from there.
    fields: Vec<providers::Edit>,
    /// The first change that it stands for.
    change: usize,
}

/// What is to change in an item, its fields in the provider's order.
///
/// # Errors
/// A list of the item has not the item that is meant; in one clause.
pub(super) fn changes(
    item: &Node,
    index: usize,
    wanted: &[providers::Edit],
) -> Result<Vec<Change>, String> {
    let (mut changes, mut gaps) = (Vec::new(), Vec::<Gap>::new());
    for field in wanted {
        let path = field.to_string();
        match walked(item, index, field)? {
            Standing::There(steps, node) => {
                let at = Target::Path(0, steps);
                let edit = match &field.value {
                    Some(value) if node.value.same(value) => continue,
                    Some(value) => Edit::Set {
                        at,
                        value: value.clone(),
                    },
                    None => Edit::Remove { at },
                };
                changes.push(Change {
                    field: Field {
                        path,
                        current: Some(node.value.clone()),
                        proposed: field.value.clone(),
                    },
                    edit: Some(edit),
                });
            }
            Standing::Missing(steps, key, rest) if field.value.is_some() => {
                let inner = providers::Edit {
                    path: rest.to_vec(),
                    value: field.value.clone(),
                };
                let known = gaps
                    .iter_mut()
                    .find(|gap| gap.steps == steps && gap.key == key);
                match known {
                    Some(gap) => gap.fields.push(inner),
                    None => gaps.push(Gap {
                        steps,
                        key,
                        fields: vec![inner],
                        change: changes.len(),
                    }),
                }
                changes.push(Change {
                    field: Field {
                        path,
                        current: None,
                        proposed: field.value.clone(),
                    },
                    edit: None,
                });
            }
            Standing::Missing(..) => {}
        }
    }
    for gap in gaps {
        changes[gap.change].edit = Some(filled(&gap)?);
    }
    Ok(changes)
}

/// The edit that fills a gap.
fn filled(gap: &Gap) -> Result<Edit, String> {
    let value = match &gap.fields[..] {
        [only] if only.path.is_empty() => only.value.clone().unwrap_or(Value::Null),
        fields => edited(Map::default(), fields)?.into(),
    };
    let at = Target::Path(0, gap.steps.clone());
    Ok(match gap.key {
        Some(key) => Edit::Insert {
            map: at,
            key: key.to_owned(),
            value,
            position: Position::Last,
        },
        None => Edit::Set { at, value },
    })
}

/// How far the way to a field stands.
enum Standing<'n, 'f> {
    /// All of it.
    There(Vec<Step>, &'n Node),
    /// Up to a node that lacks the key, or that is no map; with what follows.
    Missing(Vec<Step>, Option<&'static str>, &'f [providers::Step]),
}

fn walked<'n, 'f>(
    item: &'n Node,
    index: usize,
    field: &'f providers::Edit,
) -> Result<Standing<'n, 'f>, String> {
    let mut steps = vec![Step::from("items"), Step::from(index)];
    let mut node = item;
    for (depth, step) in field.path.iter().enumerate() {
        match step {
            providers::Step::Key(key) => {
                let Some(map) = node.value.as_map() else {
                    return Ok(Standing::Missing(steps, None, &field.path[depth..]));
                };
                let Some(below) = map.get(key) else {
                    let rest = &field.path[depth + 1..];
                    return Ok(Standing::Missing(steps, Some(key), rest));
                };
                steps.push(Step::from(*key));
                node = below;
            }
            step => {
                let items = node.value.as_list().unwrap_or_default();
                let found = items.iter().position(|item| is_meant(item, step));
                let Some(found) = found else {
                    return match field.value {
                        Some(_) => Err(format!("there is no list item for `{field}`")),
                        None => Ok(Standing::Missing(steps, None, &[])),
                    };
                };
                steps.push(Step::from(found));
                node = &items[found];
            }
        }
    }
    Ok(Standing::There(steps, node))
}
