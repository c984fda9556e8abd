//! Compares an object's image fields with an image, and makes the edits that correct them.
//!
//! A provider says which fields an image has; here they are compared with the object, and what differs becomes edits of the
//! file's text. Fields that a map lacks together are added together.

use capi::providers::{self, Kind, Provider, Stamp, apply_edits, is_meant, is_refused_later};
use yaml_tree::edit::{Edit, Position, Step, Target, node_at};
use yaml_tree::place::Place;
use yaml_tree::value::{Map, Node, Value};

/// Why an image cannot be stamped, regardless of who selected it.
pub fn problems(stamp: &Stamp, provider: &dyn Provider, kind: &Kind) -> Vec<String> {
    let mut problems = missing_facts(stamp, provider, kind);
    if let (false, Some(format)) = (is_bootable(stamp, provider, kind), &stamp.format) {
        let key = stamp.key.as_deref().unwrap_or(&stamp.url);
        problems.push(format!(
            "{} cannot boot image `{key}`, whose format is `{format}`",
            provider.data().name
        ));
    }
    problems
}

/// Whether the machines of a kind boot an image of that format, as far as it is known.
pub(super) fn is_bootable(stamp: &Stamp, provider: &dyn Provider, kind: &Kind) -> bool {
    let format = stamp.format.as_deref();
    let is_later = format.is_some_and(|format| is_refused_later(provider.data().name, format));
    let fits = |format: &str| kind.formats.is_empty() || kind.formats.contains(&format);
    is_later || format.is_none_or(fits)
}

/// What has to be known of an image before it can be stamped, and is not.
pub(super) fn missing_facts(stamp: &Stamp, provider: &dyn Provider, kind: &Kind) -> Vec<String> {
    let key = stamp.key.as_deref().unwrap_or(&stamp.url);
    let mut problems = Vec::new();
    // The others name an image that their store has accepted already.
    if provider.data().name != "capm3" || kind.formats.is_empty() {
        return problems;
    }
    if stamp.format.is_none() {
        problems.push(format!("nothing says the format of image `{key}`"));
    }
    if stamp.checksum.is_none() && !stamp.is_oci() {
        problems.push(format!("nothing says the checksum of image `{key}`"));
    }
    problems
}

/// One field that is not as it is to be.
#[derive(Clone, Debug)]
pub struct FieldEdit {
    /// Its path in the object, as people write it.
    pub path: String,
    /// The current value and its place, if there is one.
    pub current: Option<Node>,
    /// The new value; none where the field is removed.
    pub proposed: Option<Value>,
    /// The edit of the file; none where the change is part of another one.
    pub edit: Option<Edit>,
}

impl FieldEdit {
    /// The place of the field in the file.
    pub fn place(&self) -> Option<Place> {
        self.current.as_ref().map(|node| node.place)
    }
}

/// A node that lacks fields: what is to be added below it.
struct Gap {
    /// The way to the node.
    steps: Vec<Step>,
    /// The missing key; `None` if the node is not a map and becomes one.
    key: Option<&'static str>,
    /// What is to be added, relative to the node.
    fields: Vec<providers::Edit>,
    /// The first change that it represents.
    change: usize,
}

/// What is to change in an object in that document, below those steps; its fields in the provider's order.
///
/// # Errors
/// A list of the item has not the item that is meant; in one clause.
pub fn changes(
    item: &Node,
    document: usize,
    start: &[Step],
    wanted: &[providers::Edit],
) -> Result<Vec<FieldEdit>, String> {
    let mut found = Differences {
        document,
        changes: Vec::new(),
        gaps: Vec::new(),
    };
    for field in wanted {
        match walk(item, start, field)? {
            FieldPath::Found(steps, node) => found.there(field, steps, node),
            FieldPath::Missing(steps, key, rest) => found.missing(field, steps, key, rest),
        }
    }
    let Differences {
        mut changes, gaps, ..
    } = found;
    for gap in &gaps {
        changes[gap.change].edit = Some(fill_edit(gap, document)?);
    }
    for gap in &gaps {
        replace_emptied(item, document, start, gap, &gaps, &mut changes)?;
    }
    drop_covered(&mut changes);
    Ok(changes)
}

/// What is found of an object, field by field.
struct Differences {
    document: usize,
    changes: Vec<FieldEdit>,
    gaps: Vec<Gap>,
}

impl Differences {
    /// An existing field, with another value or to be removed.
    fn there(&mut self, field: &providers::Edit, steps: Vec<Step>, node: &Node) {
        let at = Target::Path(self.document, steps);
        let edit = match &field.value {
            Some(value) if node.value.same(value) => return,
            Some(value) => Edit::Set {
                at,
                value: value.clone(),
            },
            None => Edit::Remove { at },
        };
        self.changes.push(FieldEdit {
            path: field.to_string(),
            current: Some(node.clone()),
            proposed: field.value.clone(),
            edit: Some(edit),
        });
    }

    /// A field that does not exist: with others it fills one gap.
    fn missing(
        &mut self,
        field: &providers::Edit,
        steps: Vec<Step>,
        key: Option<&'static str>,
        rest: &[providers::FieldStep],
    ) {
        if field.value.is_none() {
            return;
        }
        let inner = providers::Edit {
            path: rest.to_vec(),
            value: field.value.clone(),
        };
        let mut gaps = self.gaps.iter_mut();
        match gaps.find(|gap| gap.steps == steps && gap.key == key) {
            Some(gap) => gap.fields.push(inner),
            None => self.gaps.push(Gap {
                steps,
                key,
                fields: vec![inner],
                change: self.changes.len(),
            }),
        }
        self.changes.push(FieldEdit {
            path: field.to_string(),
            current: None,
            proposed: field.value.clone(),
            edit: None,
        });
    }
}

/// What is below something that goes or changes as a whole is part of that change.
fn drop_covered(changes: &mut [FieldEdit]) {
    let way = |change: &FieldEdit| match &change.edit {
        Some(
            Edit::Set {
                at: Target::Path(_, steps),
                ..
            }
            | Edit::Remove {
                at: Target::Path(_, steps),
            },
        ) => Some(steps.clone()),
        _ => None,
    };
    let ways: Vec<Vec<Step>> = changes.iter().filter_map(way).collect();
    for change in changes {
        let covered = |own: Vec<Step>| {
            ways.iter()
                .any(|other| other.len() < own.len() && own.starts_with(other))
        };
        if way(change).is_some_and(covered) {
            change.edit = None;
        }
    }
}

/// Where all that a map holds is to go and something else is to come, the map changes as a whole: no edit may pass through
/// an empty one.
fn replace_emptied(
    item: &Node,
    document: usize,
    start: &[Step],
    gap: &Gap,
    gaps: &[Gap],
    changes: &mut [FieldEdit],
) -> Result<(), String> {
    let map = node_at(item, &gap.steps[start.len()..]).and_then(|node| node.value.as_map());
    let Some(map) = map.filter(|map| gap.key.is_some() && !map.is_empty()) else {
        return Ok(());
    };
    let goes = |key: &str| {
        let way: Vec<Step> = gap.steps.iter().cloned().chain([Step::from(key)]).collect();
        let at = Target::Path(document, way);
        let removal = Edit::Remove { at };
        changes
            .iter()
            .position(|change| change.edit.as_ref() == Some(&removal))
    };
    let all: Option<Vec<usize>> = map.iter().map(|entry| goes(&entry.key)).collect();
    let Some(removals) = all else { return Ok(()) };
    let beside = gaps.iter().filter(|other| other.steps == gap.steps);
    let fields: Vec<providers::Edit> = beside.clone().flat_map(Gap::whole).collect();
    let value = apply_edits(Map::default(), &fields)?.into();
    let others: Vec<usize> = beside.map(|other| other.change).collect();
    for index in removals.into_iter().chain(others) {
        changes[index].edit = None;
    }
    let at = Target::Path(document, gap.steps.clone());
    changes[gap.change].edit = Some(Edit::Set { at, value });
    Ok(())
}

impl Gap {
    /// Its fields, seen from the node that lacks them.
    fn whole(&self) -> impl Iterator<Item = providers::Edit> + '_ {
        self.fields.iter().map(|field| {
            let key = self.key.map(providers::FieldStep::Key);
            providers::Edit {
                path: key.into_iter().chain(field.path.iter().cloned()).collect(),
                value: field.value.clone(),
            }
        })
    }
}

/// The edit that fills a gap.
fn fill_edit(gap: &Gap, document: usize) -> Result<Edit, String> {
    let value = match &gap.fields[..] {
        [only] if only.path.is_empty() => only.value.clone().unwrap_or(Value::Null),
        fields => apply_edits(Map::default(), fields)?.into(),
    };
    let at = Target::Path(document, gap.steps.clone());
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

/// How much of the path to a field exists.
enum FieldPath<'n, 'f> {
    /// All of it.
    Found(Vec<Step>, &'n Node),
    /// Up to a node that lacks the key, or that is no map; with what follows.
    Missing(Vec<Step>, Option<&'static str>, &'f [providers::FieldStep]),
}

fn walk<'n, 'f>(
    item: &'n Node,
    start: &[Step],
    field: &'f providers::Edit,
) -> Result<FieldPath<'n, 'f>, String> {
    let mut steps = start.to_vec();
    let mut node = item;
    for (depth, step) in field.path.iter().enumerate() {
        match step {
            providers::FieldStep::Key(key) => {
                let Some(map) = node.value.as_map() else {
                    return Ok(FieldPath::Missing(steps, None, &field.path[depth..]));
                };
                let Some(below) = map.get(key) else {
                    let rest = &field.path[depth + 1..];
                    return Ok(FieldPath::Missing(steps, Some(key), rest));
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
                        None => Ok(FieldPath::Missing(steps, None, &[])),
                    };
                };
                steps.push(Step::from(found));
                node = &items[found];
            }
        }
    }
    Ok(FieldPath::Found(steps, node))
}
