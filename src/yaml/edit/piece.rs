//! Turns the plan of an edit into splices, piece by piece of the outline.

use crate::model::value::Value;

use super::super::emit::is_printable;
use super::super::scan::Style;
use super::layout::Layout;
use super::outline::{Collection, Outline, Piece, Shape};
use super::plan::{Plan, joined};
use super::splice::{Splices, ValuePosition};
use super::write::{self, MemberStyle, Parent};
use super::{EditError, block, flow, within};

/// Adds the splices of a document.
pub(super) fn document(
    layout: &Layout<'_>,
    (outline, value): (&Outline<'_>, &Value),
    plan: &Plan<'_>,
    splices: &mut Splices,
) -> Result<(), EditError> {
    let at = ValuePosition {
        start: outline.root.slot(outline.root.range.start),
        parent: Parent::Root,
        in_flow: false,
        member_style: MemberStyle::default(),
    };
    piece(
        layout,
        outline,
        (&outline.root, Some(value)),
        plan,
        at,
        splices,
    )
}

fn piece(
    layout: &Layout<'_>,
    outline: &Outline<'_>,
    (piece, value): (&Piece<'_>, Option<&Value>),
    plan: &Plan<'_>,
    at: ValuePosition,
    splices: &mut Splices,
) -> Result<(), EditError> {
    if plan.is_empty() {
        return Ok(());
    }
    refuse_shared(outline, piece, plan)?;
    if !plan.within.is_empty() {
        return in_string(layout, (piece, value), plan, splices);
    }
    if let Some(value) = plan.set {
        set(layout, piece, value, at, splices);
        return Ok(());
    }
    if !plan.replaced.is_empty() {
        replace(layout, piece, plan, splices);
        return Ok(());
    }
    let Shape::Collection(collection) = &piece.shape else {
        block::open(layout, piece, plan, at, splices);
        return Ok(());
    };
    members(layout, outline, (collection, value), plan, splices)?;
    rename(layout, collection, plan, splices)?;
    match collection.is_flow {
        true if collection.members.is_empty() && !at.in_flow => {
            block::open(layout, piece, plan, at, splices);
        }
        true => flow::members(layout, piece, collection, plan, splices),
        false => block::members(layout, collection, plan, at, splices)?,
    }
    Ok(())
}

/// Replaces texts in a scalar, in the bytes of the file.
fn replace(layout: &Layout<'_>, piece: &Piece<'_>, plan: &Plan<'_>, splices: &mut Splices) {
    let start = piece.range.start;
    for (from, to) in &plan.replaced {
        for (at, found) in layout.text[piece.range.clone()].match_indices(from) {
            splices.put(start + at..start + at + found.len(), *to);
        }
    }
}

/// Adds the splices of the members of a collection.
fn members(
    layout: &Layout<'_>,
    outline: &Outline<'_>,
    (collection, value): (&Collection<'_>, Option<&Value>),
    plan: &Plan<'_>,
    splices: &mut Splices,
) -> Result<(), EditError> {
    let member_style = MemberStyle::new(layout, Some(collection));
    for (index, below) in &plan.members {
        let member = &collection.members[*index];
        let column = layout.column(member.start);
        let at = ValuePosition {
            start: member.value.slot(member.indicator_end),
            parent: if collection.is_map {
                Parent::Key(column)
            } else {
                Parent::Dash(column)
            },
            in_flow: collection.is_flow,
            member_style,
        };
        let value = match (value, &member.key) {
            (Some(Value::Map(map)), Some(key)) => map.get(key).map(|node| &node.value),
            (Some(Value::List(items)), _) => items.get(*index).map(|node| &node.value),
            _ => None,
        };
        piece(layout, outline, (&member.value, value), below, at, splices)?;
    }
    Ok(())
}

/// Renames keys.
fn rename(
    layout: &Layout<'_>,
    collection: &Collection<'_>,
    plan: &Plan<'_>,
    splices: &mut Splices,
) -> Result<(), EditError> {
    for (index, key) in &plan.renamed {
        let member = &collection.members[*index];
        if member.key.is_none() {
            let path = joined(&plan.path, &index.to_string());
            let what = "is not a key of a map";
            return Err(EditError::Unfit { path, what });
        }
        let text = write::string(layout, Some(member.key_style), None, key);
        splices.put(member.key_range.clone(), text);
    }
    Ok(())
}

/// Edits the YAML in a literal block.
fn in_string(
    layout: &Layout<'_>,
    (piece, value): (&Piece<'_>, Option<&Value>),
    plan: &Plan<'_>,
    splices: &mut Splices,
) -> Result<(), EditError> {
    let unfit = |what| EditError::Unfit {
        path: plan.path.clone(),
        what,
    };
    match (&piece.shape, value) {
        (Shape::Scalar(Style::Literal), Some(Value::String(inner))) => {
            let range = piece.range.clone();
            within::put(layout, range, inner, &plan.within, splices)
        }
        (Shape::Scalar(Style::Folded), _) => Err(unfit(
            "is folded, so its lines are not those of the text in it: write it with `|`",
        )),
        (Shape::Scalar(_), Some(Value::String(_))) => Err(unfit(
            "is not a block scalar: write it below the key, after `|`",
        )),
        _ => Err(unfit("is not a text")),
    }
}

/// Refuses to change a node that aliases refer to, or an alias itself.
fn refuse_shared(
    outline: &Outline<'_>,
    piece: &Piece<'_>,
    plan: &Plan<'_>,
) -> Result<(), EditError> {
    let path = || plan.path.clone();
    if let (Shape::Alias(name), None) = (&piece.shape, plan.set) {
        let name = (*name).to_owned();
        return Err(EditError::Aliased { path: path(), name });
    }
    match piece.anchor {
        Some(anchor) if outline.aliases.contains(&anchor) => Err(EditError::Shared {
            path: path(),
            name: anchor.to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Replaces the value of a node.
fn set(
    layout: &Layout<'_>,
    piece: &Piece<'_>,
    value: &Value,
    at: ValuePosition,
    splices: &mut Splices,
) {
    let like = match piece.shape {
        Shape::Scalar(style) => Some(style),
        _ => None,
    };
    let was_block = matches!(&piece.shape, Shape::Collection(old) if !old.is_flow);
    let is_block = !write::is_flat(value);
    if let Some(line) = only_line(layout, piece, value) {
        splices.put(line, value.as_str().map_or("", |text| text));
        return;
    }
    if at.in_flow || (!was_block && !is_block) {
        let may_be_block = !at.in_flow && !layout.has_text_after(piece.end().max(at.start));
        let block = may_be_block.then_some(at.parent);
        let text = write::scalar(layout, like, block, value, at.member_style);
        match piece.shape {
            Shape::Empty => splices.put(at.start..at.start, format!(" {text}")),
            _ => splices.put(piece.range.clone(), text),
        }
        return;
    }
    if was_block && is_block {
        block::rewrite(layout, piece, value, at.parent, splices);
        return;
    }
    block::replace(layout, piece, value, at, splices);
}

/// The span of the only line of a block scalar without a final line break, if the new text is a single line too.
fn only_line(
    layout: &Layout<'_>,
    piece: &Piece<'_>,
    value: &Value,
) -> Option<std::ops::Range<usize>> {
    let Shape::Scalar(Style::Literal | Style::Folded) = piece.shape else {
        return None;
    };
    let text = value.as_str()?;
    let fits = !text.is_empty() && text.trim() == &**text && text.chars().all(is_printable);
    let (header, line) = layout.text[piece.range.clone()].split_once('\n')?;
    let is_stripped = matches!(header.trim_end(), "|-" | ">-");
    let is_one = !line.contains('\n') && !line.trim().is_empty();
    let start = piece.range.start + header.len() + 1 + (line.len() - line.trim_start().len());
    (fits && is_stripped && is_one).then(|| start..start + line.trim().len())
}
