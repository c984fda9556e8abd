//! Plans edits: finds the nodes of the edits, and refuses edits that conflict with each other.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::value::Value;

use super::outline::{Collection, Member, Outline, Piece, Shape};
use super::{Edit, EditError, Position, Step, Target};

/// The edits of a node and its descendants. Members are identified by their index in the file.
#[derive(Debug, Default)]
pub(super) struct Plan<'e> {
    pub(super) set: Option<New<'e>>,
    /// The texts to replace in a string, with their replacements.
    pub(super) replaced: Vec<Replacement<'e>>,
    /// The edits of the YAML in a string.
    pub(super) within: Vec<&'e Edit>,
    pub(super) members: BTreeMap<usize, Plan<'e>>,
    pub(super) removed: BTreeSet<usize>,
    pub(super) renamed: BTreeMap<usize, &'e str>,
    pub(super) inserts: Vec<Insert<'e>>,
    /// The path of the node, for error messages.
    pub(super) path: String,
}

/// A text to replace in a string.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replacement<'e> {
    from: &'e str,
    to: &'e str,
    only: Option<usize>,
}

impl<'e> Replacement<'e> {
    /// Where it is replaced in a text, and by what: in the value as in the bytes of the file.
    pub(super) fn places(self, text: &str) -> impl Iterator<Item = (Range<usize>, &'e str)> {
        let found = text.match_indices(self.from).enumerate();
        let found = found.filter(move |(index, _)| self.only.is_none_or(|only| only == *index));
        found.map(move |(_, (at, found))| (at..at + found.len(), self.to))
    }
}

/// A new member of a map or list.
#[derive(Debug)]
pub(super) struct Insert<'e> {
    /// The index of the member before which it is inserted; the number of members for the end.
    pub(super) slot: usize,
    /// The key; none for a list item.
    pub(super) key: Option<&'e str>,
    pub(super) new: New<'e>,
}

/// A new value.
#[derive(Clone, Copy, Debug)]
pub(super) struct New<'e> {
    pub(super) value: &'e Value,
    /// Its text, as of a document of its own; none where it is written from the value.
    pub(super) text: Option<&'e str>,
}

impl<'e> From<&'e Value> for New<'e> {
    fn from(value: &'e Value) -> Self {
        Self { value, text: None }
    }
}

impl Plan<'_> {
    /// Whether the node and its descendants have no edits.
    pub(super) fn is_empty(&self) -> bool {
        self.set.is_none()
            && self.replaced.is_empty()
            && self.within.is_empty()
            && self.members.is_empty()
            && self.removed.is_empty()
            && self.renamed.is_empty()
            && self.inserts.is_empty()
    }
}

/// The plans of all documents.
pub(super) fn plans<'e>(
    outlines: &[Outline<'_>],
    edits: &[&'e Edit],
) -> Result<Vec<Plan<'e>>, EditError> {
    let mut plans: Vec<Plan<'e>> = outlines.iter().map(|_| Plan::default()).collect();
    for edit in edits {
        add(outlines, &mut plans, edit, None)?;
    }
    for (outline, plan) in outlines.iter().zip(&plans) {
        consistent(&outline.root, plan)?;
    }
    Ok(plans)
}

fn add<'e>(
    outlines: &[Outline<'_>],
    plans: &mut [Plan<'e>],
    edit: &'e Edit,
    text: Option<&'e str>,
) -> Result<(), EditError> {
    match edit {
        Edit::Verbatim { edit, text } => add(outlines, plans, edit, Some(text)),
        Edit::Set { at, value } => {
            let (_, plan) = node(outlines, plans, at)?;
            let before = plan.set.replace(New { value, text });
            let again = before.is_some_and(|before| !before.value.same(value));
            refuse(again, || conflict(&plan.path))
        }
        Edit::Insert {
            map,
            key,
            value,
            position,
        } => insert(
            outlines,
            plans,
            map,
            position,
            Some(key),
            New { value, text },
        ),
        Edit::InsertItem {
            list,
            value,
            position,
        } => insert(outlines, plans, list, position, None, New { value, text }),
        Edit::Remove { at } => {
            let (index, plan) = member(outlines, plans, at)?;
            plan.removed.insert(index);
            Ok(())
        }
        Edit::Replace { at, from, to, only } => {
            let (_, plan) = node(outlines, plans, at)?;
            plan.replaced.push(Replacement {
                from,
                to,
                only: *only,
            });
            Ok(())
        }
        Edit::Within { at, edits } => {
            let (_, plan) = node(outlines, plans, at)?;
            plan.within.extend(edits);
            Ok(())
        }
        // `document::edit_documents` handles these.
        Edit::InsertDocument { .. } | Edit::RemoveDocument { .. } => Ok(()),
        Edit::Rename { at, key } => {
            let (index, plan) = member(outlines, plans, at)?;
            let again = plan.renamed.insert(index, key);
            refuse(again.is_some_and(|before| before != key), || {
                conflict(&plan.path)
            })
        }
    }
}

/// Plans a new entry of a map, or a new item of a list if there is no key.
fn insert<'e>(
    outlines: &[Outline<'_>],
    plans: &mut [Plan<'e>],
    at: &Target,
    position: &Position,
    key: Option<&'e str>,
    new: New<'e>,
) -> Result<(), EditError> {
    let (piece, plan) = node(outlines, plans, at)?;
    let slot = slot(piece, position, key.is_some(), &plan.path)?;
    plan.inserts.push(Insert { slot, key, new });
    Ok(())
}

fn refuse(condition: bool, error: impl FnOnce() -> EditError) -> Result<(), EditError> {
    if condition { Err(error()) } else { Ok(()) }
}

fn conflict(path: &str) -> EditError {
    EditError::Conflict {
        path: path.to_owned(),
    }
}

fn missing(path: &str) -> EditError {
    EditError::Missing {
        path: path.to_owned(),
    }
}

/// Checks that no node is both removed and changed, and that no key will exist twice.
fn consistent(piece: &Piece<'_>, plan: &Plan<'_>) -> Result<(), EditError> {
    if plan.is_empty() {
        return Ok(());
    }
    let changed_within = !plan.members.values().all(Plan::is_empty);
    let rebuilt = changed_within || !plan.removed.is_empty() || !plan.inserts.is_empty();
    let whole = [
        plan.set.is_some(),
        !plan.replaced.is_empty(),
        !plan.within.is_empty(),
    ];
    let whole = whole.into_iter().filter(|is_planned| *is_planned).count();
    let in_part = rebuilt || !plan.renamed.is_empty();
    refuse(whole > 1 || (whole == 1 && in_part), || {
        conflict(&plan.path)
    })?;
    let Shape::Collection(collection) = &piece.shape else {
        return unique(&[], plan);
    };
    for index in &plan.removed {
        let is_edited = plan.members.get(index).is_some_and(|plan| !plan.is_empty());
        refuse(is_edited || plan.renamed.contains_key(index), || {
            conflict(&plan.path)
        })?;
    }
    if collection.is_map {
        unique(&collection.members, plan)?;
    }
    for (index, below) in &plan.members {
        consistent(&collection.members[*index].value, below)?;
    }
    Ok(())
}

fn unique(members: &[Member<'_>], plan: &Plan<'_>) -> Result<(), EditError> {
    let has_new_keys = !plan.inserts.is_empty() || !plan.renamed.is_empty();
    if !has_new_keys {
        return Ok(());
    }
    let kept = members.iter().enumerate().filter_map(|(index, member)| {
        let stays = !plan.removed.contains(&index) && !plan.renamed.contains_key(&index);
        member.key.as_deref().filter(|_| stays)
    });
    let mut keys: BTreeSet<&str> = kept.collect();
    let new = plan.renamed.values().copied();
    for key in new.chain(plan.inserts.iter().filter_map(|insert| insert.key)) {
        let path = join_path(&plan.path, key);
        refuse(!keys.insert(key), || EditError::Exists { path })?;
    }
    Ok(())
}

fn slot(
    piece: &Piece<'_>,
    position: &Position,
    is_map: bool,
    path: &str,
) -> Result<usize, EditError> {
    let unfit = |what| EditError::Unfit {
        path: path.to_owned(),
        what,
    };
    let members = match &piece.shape {
        Shape::Collection(collection) if collection.is_map == is_map => &collection.members[..],
        Shape::Collection(_) | Shape::Alias(_) if is_map => return Err(unfit("is not a map")),
        Shape::Collection(_) | Shape::Alias(_) => return Err(unfit("is not a list")),
        // Whether a scalar is null is checked when the expected tree is computed.
        Shape::Empty | Shape::Scalar(_) => &[],
    };
    match position {
        Position::First => Ok(0),
        Position::Last => Ok(members.len()),
        Position::After(step) => Ok(index_of(members, is_map, step, path)? + 1),
    }
}

/// The node of a target, with its plan.
fn node<'o, 't, 'p, 'e>(
    outlines: &'o [Outline<'t>],
    plans: &'p mut [Plan<'e>],
    target: &Target,
) -> Result<(&'o Piece<'t>, &'p mut Plan<'e>), EditError> {
    let (document, route) = route(outlines, target)?;
    descend(&outlines[document].root, &mut plans[document], &route)
}

/// The index of the member that a target identifies, with the plan of its collection.
fn member<'p, 'e>(
    outlines: &[Outline<'_>],
    plans: &'p mut [Plan<'e>],
    target: &Target,
) -> Result<(usize, &'p mut Plan<'e>), EditError> {
    let (document, route) = route(outlines, target)?;
    let (last, parents) = route.split_last().ok_or_else(|| EditError::Unfit {
        path: "the document".to_owned(),
        what: "is not an entry or item",
    })?;
    let (piece, plan) = descend(&outlines[document].root, &mut plans[document], parents)?;
    step_down(piece, *last, &plan.path)?;
    Ok((*last, plan))
}

/// Follows a route of member indices, and creates the plans on it.
fn descend<'o, 't, 'p, 'e>(
    mut piece: &'o Piece<'t>,
    mut plan: &'p mut Plan<'e>,
    route: &[usize],
) -> Result<(&'o Piece<'t>, &'p mut Plan<'e>), EditError> {
    for index in route {
        let (below, path) = step_down(piece, *index, &plan.path)?;
        piece = &below.value;
        plan = plan.members.entry(*index).or_default();
        plan.path = path;
    }
    Ok((piece, plan))
}

fn step_down<'o, 't>(
    piece: &'o Piece<'t>,
    index: usize,
    path: &str,
) -> Result<(&'o Member<'t>, String), EditError> {
    let Shape::Collection(Collection { members, .. }) = &piece.shape else {
        return Err(missing(path));
    };
    let member = members.get(index).ok_or_else(|| missing(path))?;
    let name = member.key.clone().unwrap_or_else(|| index.to_string());
    Ok((member, join_path(path, &name)))
}

/// The document of a target, and the indices of the members on the path to it.
fn route(outlines: &[Outline<'_>], target: &Target) -> Result<(usize, Vec<usize>), EditError> {
    match target {
        Target::Path(document, steps) => {
            let outline = outlines
                .get(*document)
                .ok_or_else(|| missing(&format!("document {document}")))?;
            Ok((*document, follow(&outline.root, steps)?))
        }
        Target::Place(place) => {
            for (document, outline) in outlines.iter().enumerate() {
                let mut route = Vec::new();
                if search(&outline.root, place, &mut route) {
                    return Ok((document, route));
                }
            }
            Err(missing("the value with this span"))
        }
    }
}

fn follow(outline: &Piece<'_>, steps: &[Step]) -> Result<Vec<usize>, EditError> {
    let mut piece = outline;
    let mut path = String::new();
    let mut route = Vec::with_capacity(steps.len());
    for step in steps {
        let (members, is_map) = match &piece.shape {
            Shape::Collection(collection) => (&collection.members[..], collection.is_map),
            Shape::Alias(name) => {
                let name = (*name).to_owned();
                return Err(EditError::Aliased { path, name });
            }
            _ => (&[][..], matches!(step, Step::Key(_))),
        };
        let index = index_of(members, is_map, step, &path)?;
        path = join_path(&path, &step.as_key());
        route.push(index);
        piece = &members[index].value;
    }
    Ok(route)
}

/// The index of the member for a step.
fn index_of(
    members: &[Member<'_>],
    is_map: bool,
    step: &Step,
    path: &str,
) -> Result<usize, EditError> {
    match step {
        Step::Index(index) if !is_map && *index < members.len() => Ok(*index),
        Step::Index(index) => Err(missing(&join_path(path, &index.to_string()))),
        Step::Key(key) => {
            let path = join_path(path, key);
            let mut found = (0..members.len())
                .filter(|index| is_map && members[*index].key.as_deref() == Some(key));
            let first = found.next().ok_or_else(|| missing(&path))?;
            refuse(found.next().is_some(), || EditError::Ambiguous { path })?;
            Ok(first)
        }
    }
}

/// Searches the scalar or key with exactly this span, and records the path to it.
fn search(piece: &Piece<'_>, place: &std::ops::Range<usize>, route: &mut Vec<usize>) -> bool {
    let Shape::Collection(collection) = &piece.shape else {
        let written = !matches!(piece.shape, Shape::Alias(_) | Shape::Empty);
        return written && piece.range == *place;
    };
    let members = &collection.members;
    let first = members.partition_point(|member| member.end() < place.end);
    for (index, member) in members.iter().enumerate().skip(first) {
        if member.start > place.start {
            return false;
        }
        route.push(index);
        let is_key = collection.is_map && member.key_range == *place;
        if is_key || search(&member.value, place, route) {
            return true;
        }
        route.pop();
    }
    false
}

pub(super) fn join_path(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}
