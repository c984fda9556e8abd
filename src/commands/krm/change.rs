//! What of an object's image is not as it is to be, and the edits that mend it.

use crate::model::value::{Map, Node, Value};
use crate::providers::{self, Kind, Provider, Stamp, edited};
use crate::yaml::edit::{Edit, Position, Step};

use super::list::below_item;
use super::result::Field;

/// The fields that an image comes to in an object.
///
/// # Errors
/// Why the image cannot be stamped there, whoever chose it: each reason in one clause.
pub(super) fn wanted(
    stamp: &Stamp,
    provider: &dyn Provider,
    (kind, version): (&Kind, &str),
) -> Result<Vec<providers::Edit>, Vec<String>> {
    let key = stamp.key.as_deref().unwrap_or(&stamp.url);
    let fields = provider.stamp(kind, version, stamp);
    let mut problems: Vec<String> = fields.as_ref().err().cloned().into_iter().collect();
    match stamp.format.as_deref() {
        _ if kind.formats.is_empty() => {}
        None => problems.push(format!("nothing says the format of image `{key}`")),
        Some(format) if !kind.formats.contains(&format) => problems.push(format!(
            "{} cannot boot image `{key}`, whose format is `{format}`",
            provider.name()
        )),
        Some(_) => {}
    }
    let needs_checksum = provider.name() == "capm3" && !stamp.is_oci();
    if stamp.checksum.is_none() && needs_checksum {
        problems.push(format!("nothing says the checksum of image `{key}`"));
    }
    match problems.is_empty() {
        true => Ok(fields.unwrap_or_default()),
        false => Err(problems),
    }
}

/// One field that is not as it is to be.
pub(super) struct Change {
    pub(super) field: Field,
    /// None where the change is part of another one.
    pub(super) edit: Option<Edit>,
}

/// What is to change in an item of a list, its number given.
///
/// # Errors
/// The item has no place for a field; in one clause.
pub(super) fn changes(
    item: &Node,
    index: usize,
    wanted: &[providers::Edit],
) -> Result<Vec<Change>, String> {
    let mut changes = Vec::new();
    let mut missing: Vec<Missing> = Vec::new();
    for edit in wanted {
        let standing = standing(item, &edit.path);
        let change = match (standing.rest.is_empty(), &edit.value) {
            (true, Some(value)) if standing.node.value.same(value) => continue,
            (false, None) => continue,
            (true, Some(value)) => Some(Edit::Set {
                at: below_item(index, standing.path),
                value: value.clone(),
            }),
            (true, None) => Some(Edit::Remove {
                at: below_item(index, standing.path),
            }),
            (false, Some(_)) => {
                remember(&mut missing, standing, edit, changes.len());
                None
            }
        };
        let current = (change.is_some()).then(|| standing_value(item, &edit.path));
        changes.push(Change {
            field: Field {
                path: edit.to_string(),
                current: current.flatten(),
                proposed: edit.value.clone(),
            },
            edit: change,
        });
    }
    for missing in missing {
        let at = missing.change;
        changes[at].edit = Some(missing.edit(index)?);
    }
    Ok(changes)
}

/// How far the way to a field leads into an object.
struct Standing<'a> {
    path: Vec<Step>,
    node: &'a Node,
    rest: &'a [providers::Step],
}

fn standing<'a>(item: &'a Node, path: &'a [providers::Step]) -> Standing<'a> {
    let mut standing = Standing {
        path: Vec::new(),
        node: item,
        rest: path,
    };
    while let Some((step, rest)) = standing.rest.split_first() {
        let Some((at, node)) = below(standing.node, step) else {
            break;
        };
        standing.path.push(at);
        (standing.node, standing.rest) = (node, rest);
    }
    standing
}

fn standing_value(item: &Node, path: &[providers::Step]) -> Option<Value> {
    let standing = standing(item, path);
    standing
        .rest
        .is_empty()
        .then(|| standing.node.value.clone())
}

fn below<'a>(node: &'a Node, step: &providers::Step) -> Option<(Step, &'a Node)> {
    match step {
        providers::Step::Key(key) => {
            let node = node.value.as_map()?.get(key)?;
            Some((Step::from(*key), node))
        }
        step => {
            let items = node.value.as_list()?;
            let index = items.iter().position(|item| step.means(item))?;
            Some((Step::from(index), &items[index]))
        }
    }
}

/// Fields below one map that is not there yet: they come in together.
struct Missing {
    /// What is there.
    path: Vec<Step>,
    is_map: bool,
    /// What is not, from there on.
    fields: Vec<providers::Edit>,
    /// The first of the changes.
    change: usize,
}

fn remember(
    missing: &mut Vec<Missing>,
    standing: Standing<'_>,
    edit: &providers::Edit,
    change: usize,
) {
    let is_map = standing.node.value.as_map().is_some();
    let field = providers::Edit {
        path: standing.rest.to_vec(),
        value: edit.value.clone(),
    };
    let joins = |known: &&mut Missing| {
        known.path == standing.path && (!is_map || known.fields[0].path[0] == field.path[0])
    };
    match missing.iter_mut().find(joins) {
        Some(known) => known.fields.push(field),
        None => missing.push(Missing {
            path: standing.path,
            is_map,
            fields: vec![field],
            change,
        }),
    }
}

impl Missing {
    fn edit(self, index: usize) -> Result<Edit, String> {
        let made = edited(Map::default(), &self.fields)?;
        let at = below_item(index, self.path);
        let entry = made.iter().next().filter(|_| self.is_map);
        Ok(match entry {
            Some(entry) => Edit::Insert {
                map: at,
                key: entry.key.to_string(),
                value: entry.node.value.clone(),
                position: Position::Last,
            },
            None => Edit::Set {
                at,
                value: made.into(),
            },
        })
    }
}
