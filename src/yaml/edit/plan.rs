//! Edits to what happens at each node: paths are followed, and edits that contradict each other are refused.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::value::Value;

use super::outline::{Collection, Member, Outline, Piece, Shape};
use super::{Edit, EditError, Position, Step, Target};

/// What becomes of a node and of those below it. Members count as they stand in the file.
#[derive(Debug, Default)]
pub(super) struct Plan<'e> {
    pub(super) set: Option<&'e Value>,
    /// Texts within a string, and what replaces them.
    pub(super) replaced: Vec<(&'e str, &'e str)>,
    /// Edits of the text that a string holds.
    pub(super) within: Vec<&'e Edit>,
    pub(super) members: BTreeMap<usize, Plan<'e>>,
    pub(super) removed: BTreeSet<usize>,
    pub(super) renamed: BTreeMap<usize, &'e str>,
    pub(super) inserts: Vec<Insert<'e>>,
    /// The node as a user names it, for refusals.
    pub(super) path: String,
}

/// A new member of a map or a list.
#[derive(Debug)]
pub(super) struct Insert<'e> {
    /// Before the member of that number; their number for the end.
    pub(super) slot: usize,
    /// None for a list item.
    pub(super) key: Option<&'e str>,
    pub(super) value: &'e Value,
}

impl Plan<'_> {
    /// Whether nothing happens here or below.
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

/// The plan of each document.
pub(super) fn plans<'e>(
    outlines: &[Outline<'_>],
    edits: &'e [Edit],
) -> Result<Vec<Plan<'e>>, EditError> {
    let mut plans: Vec<Plan<'e>> = outlines.iter().map(|_| Plan::default()).collect();
    for edit in edits {
        add(outlines, &mut plans, edit)?;
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
) -> Result<(), EditError> {
    match edit {
        Edit::Set { at, value } => {
            let (_, plan) = node(outlines, plans, at)?;
            let again = plan.set.replace(value).is_some_and(|set| !set.same(value));
            refuse(again, || conflict(&plan.path))
        }
        Edit::Insert {
            map,
            key,
            value,
            position,
        } => insert(outlines, plans, (map, position), Some(key), value),
        Edit::InsertItem {
            list,
            value,
            position,
        } => insert(outlines, plans, (list, position), None, value),
        Edit::Remove { at } => {
            let (index, plan) = member(outlines, plans, at)?;
            plan.removed.insert(index);
            Ok(())
        }
        Edit::Replace { at, from, to } => {
            let (_, plan) = node(outlines, plans, at)?;
            plan.replaced.push((from, to));
            Ok(())
        }
        Edit::Within { at, edits } => {
            let (_, plan) = node(outlines, plans, at)?;
            plan.within.extend(edits);
            Ok(())
        }
        // These are no edits of any node.
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

/// A new member of a map, or of a list where there is no key.
fn insert<'e>(
    outlines: &[Outline<'_>],
    plans: &mut [Plan<'e>],
    (at, position): (&Target, &Position),
    key: Option<&'e str>,
    value: &'e Value,
) -> Result<(), EditError> {
    let (piece, plan) = node(outlines, plans, at)?;
    let slot = slot(piece, position, key.is_some(), &plan.path)?;
    plan.inserts.push(Insert { slot, key, value });
    Ok(())
}

fn refuse(refused: bool, error: impl FnOnce() -> EditError) -> Result<(), EditError> {
    if refused { Err(error()) } else { Ok(()) }
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

/// Nothing is both removed and changed, and no key comes to stand twice.
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
    let whole = whole.into_iter().filter(|is_meant| *is_meant).count();
    let in_part = rebuilt || !plan.renamed.is_empty();
    refuse(whole > 1 || (whole == 1 && in_part), || {
        conflict(&plan.path)
    })?;
    let Shape::Collection(collection) = &piece.shape else {
        return unique(&[], plan);
    };
    for index in &plan.removed {
        let touched = plan.members.get(index).is_some_and(|plan| !plan.is_empty());
        refuse(touched || plan.renamed.contains_key(index), || {
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
    let touched = !plan.inserts.is_empty() || !plan.renamed.is_empty();
    if !touched {
        return Ok(());
    }
    let kept = members.iter().enumerate().filter_map(|(index, member)| {
        let stays = !plan.removed.contains(&index) && !plan.renamed.contains_key(&index);
        member.key.as_deref().filter(|_| stays)
    });
    let mut keys: BTreeSet<&str> = kept.collect();
    let new = plan.renamed.values().copied();
    for key in new.chain(plan.inserts.iter().filter_map(|insert| insert.key)) {
        let path = joined(&plan.path, key);
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
        Shape::Collection(_) | Shape::Alias(_) if is_map => return Err(unfit("is no map")),
        Shape::Collection(_) | Shape::Alias(_) => return Err(unfit("is no list")),
        // Whether a scalar is null is seen by the tree that is expected.
        Shape::Empty | Shape::Scalar(_) => &[],
    };
    match position {
        Position::First => Ok(0),
        Position::Last => Ok(members.len()),
        Position::After(step) => Ok(index_of(members, is_map, step, path)? + 1),
    }
}

/// The node that a target names, and what is planned for it.
fn node<'o, 't, 'p, 'e>(
    outlines: &'o [Outline<'t>],
    plans: &'p mut [Plan<'e>],
    target: &Target,
) -> Result<(&'o Piece<'t>, &'p mut Plan<'e>), EditError> {
    let (document, route) = route(outlines, target)?;
    let mut piece = &outlines[document].root;
    let mut plan = &mut plans[document];
    for index in route {
        let (below, path) = step_down(piece, index, &plan.path)?;
        piece = &below.value;
        plan = plan.members.entry(index).or_default();
        plan.path = path;
    }
    Ok((piece, plan))
}

/// The member that a target names, and what is planned for the collection that it stands in.
fn member<'p, 'e>(
    outlines: &[Outline<'_>],
    plans: &'p mut [Plan<'e>],
    target: &Target,
) -> Result<(usize, &'p mut Plan<'e>), EditError> {
    let (document, mut route) = route(outlines, target)?;
    let last = route.pop().ok_or_else(|| EditError::Unfit {
        path: "the document".to_owned(),
        what: "is no entry of anything",
    })?;
    let mut piece = &outlines[document].root;
    let mut plan = &mut plans[document];
    for index in route {
        let (below, path) = step_down(piece, index, &plan.path)?;
        piece = &below.value;
        plan = plan.members.entry(index).or_default();
        plan.path = path;
    }
    step_down(piece, last, &plan.path)?;
    Ok((last, plan))
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
    Ok((member, joined(path, &name)))
}

/// The document and the members on the way to what a target names.
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
            Err(missing("the value at this place"))
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
        let name = match step {
            Step::Key(key) => key.clone(),
            Step::Item(index) => index.to_string(),
        };
        path = joined(&path, &name);
        route.push(index);
        piece = &members[index].value;
    }
    Ok(route)
}

/// Which member a step names.
fn index_of(
    members: &[Member<'_>],
    is_map: bool,
    step: &Step,
    path: &str,
) -> Result<usize, EditError> {
    match step {
        Step::Item(index) if !is_map && *index < members.len() => Ok(*index),
        Step::Item(index) => Err(missing(&joined(path, &index.to_string()))),
        Step::Key(key) => {
            let path = joined(path, key);
            let mut found = (0..members.len())
                .filter(|index| is_map && members[*index].key.as_deref() == Some(key));
            let first = found.next().ok_or_else(|| missing(&path))?;
            refuse(found.next().is_some(), || EditError::Twice { path })?;
            Ok(first)
        }
    }
}

/// Whether a scalar or key stands at exactly these bytes, and the way to it.
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

pub(super) fn joined(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}
