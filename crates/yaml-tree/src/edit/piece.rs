//! Turns the plan of an edit into splices, piece by piece of the outline.

use crate::value::Value;

use super::super::emit::is_printable;
use super::super::scan::Style;
use super::layout::Layout;
use super::outline::{Collection, Outline, Piece, Shape};
use super::plan::{New, Plan, join_path};
use super::splice::{Splices, ValuePosition};
use super::write::{self, MemberStyle, Parent};
use super::{EditError, within};

/// Collects the splices of one document.
pub(super) struct Editor<'a, 't> {
    pub(super) layout: &'a Layout<'t>,
    pub(super) outline: &'a Outline<'t>,
    pub(super) splices: &'a mut Splices,
}

/// A node as it is written, and its value in the tree; none where the tree has none for it.
#[derive(Clone, Copy)]
struct Node<'a> {
    piece: &'a Piece<'a>,
    value: Option<&'a Value>,
}

impl Editor<'_, '_> {
    /// Adds the splices of the document.
    pub(super) fn edit_document(
        &mut self,
        value: &Value,
        plan: &Plan<'_>,
    ) -> Result<(), EditError> {
        let root = &self.outline.root;
        let at = ValuePosition {
            start: root.slot(root.range.start),
            parent: Parent::Root,
            in_flow: false,
            member_style: MemberStyle::default(),
        };
        let node = Node {
            piece: root,
            value: Some(value),
        };
        self.edit(node, plan, at)
    }

    fn edit(
        &mut self,
        node: Node<'_>,
        plan: &Plan<'_>,
        at: ValuePosition,
    ) -> Result<(), EditError> {
        let Node { piece, value } = node;
        if plan.is_empty() {
            return Ok(());
        }
        self.refuse_shared(piece, plan)?;
        if !plan.within.is_empty() {
            return self.edit_string(node, plan);
        }
        if let Some(new) = plan.set {
            self.set(piece, new, at);
            return Ok(());
        }
        if !plan.replaced.is_empty() {
            self.replace_text(piece, plan);
            return Ok(());
        }
        let Shape::Collection(collection) = &piece.shape else {
            self.open_block(piece, plan, at);
            return Ok(());
        };
        self.edit_members(collection, value, plan)?;
        self.rename_keys(collection, plan)?;
        match collection.is_flow {
            true if collection.members.is_empty() && !at.in_flow => {
                self.open_block(piece, plan, at);
            }
            true => self.edit_flow_members(piece, collection, plan),
            false => self.edit_block_members(collection, plan, at)?,
        }
        Ok(())
    }

    /// Replaces texts in a scalar, in the bytes of the file.
    fn replace_text(&mut self, piece: &Piece<'_>, plan: &Plan<'_>) {
        let layout = self.layout;
        let start = piece.range.start;
        for replacement in &plan.replaced {
            for (at, to) in replacement.places(&layout.text[piece.range.clone()]) {
                self.splices.put(start + at.start..start + at.end, to);
            }
        }
    }

    /// Adds the splices of the members of a collection.
    fn edit_members(
        &mut self,
        collection: &Collection<'_>,
        value: Option<&Value>,
        plan: &Plan<'_>,
    ) -> Result<(), EditError> {
        let layout = self.layout;
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
            let piece = &member.value;
            self.edit(Node { piece, value }, below, at)?;
        }
        Ok(())
    }

    /// Renames keys.
    fn rename_keys(
        &mut self,
        collection: &Collection<'_>,
        plan: &Plan<'_>,
    ) -> Result<(), EditError> {
        let layout = self.layout;
        for (index, key) in &plan.renamed {
            let member = &collection.members[*index];
            if member.key.is_none() {
                let path = join_path(&plan.path, &index.to_string());
                let what = "is not a key of a map";
                return Err(EditError::Unfit { path, what });
            }
            let text = write::string(layout, Some(member.key_style), None, key);
            self.splices.put(member.key_range.clone(), text);
        }
        Ok(())
    }

    /// Edits the YAML in a literal block.
    fn edit_string(&mut self, node: Node<'_>, plan: &Plan<'_>) -> Result<(), EditError> {
        let Node { piece, value } = node;
        let layout = self.layout;
        let unfit = |what| EditError::Unfit {
            path: plan.path.clone(),
            what,
        };
        match (&piece.shape, value) {
            (Shape::Scalar(Style::Literal), Some(Value::String(inner))) => {
                let range = piece.range.clone();
                within::put(layout, range, inner, &plan.within, self.splices)
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
    fn refuse_shared(&self, piece: &Piece<'_>, plan: &Plan<'_>) -> Result<(), EditError> {
        let path = || plan.path.clone();
        if let (Shape::Alias(name), None) = (&piece.shape, plan.set) {
            let name = (*name).to_owned();
            return Err(EditError::Aliased { path: path(), name });
        }
        match piece.anchor {
            Some(anchor) if self.outline.aliases.contains(&anchor) => Err(EditError::Shared {
                path: path(),
                name: anchor.to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Replaces the value of a node.
    fn set(&mut self, piece: &Piece<'_>, new: New<'_>, at: ValuePosition) {
        let (layout, value) = (self.layout, new.value);
        let like = match piece.shape {
            Shape::Scalar(style) => Some(style),
            _ => None,
        };
        let was_block = matches!(&piece.shape, Shape::Collection(old) if !old.is_flow);
        let is_block = !write::is_flat(value);
        if let Some(line) = only_line(layout, piece, value) {
            self.splices
                .put(line, value.as_str().map_or("", |text| text));
            return;
        }
        if at.in_flow || (!was_block && !is_block) {
            let may_be_block = !at.in_flow && !layout.has_text_after(piece.end().max(at.start));
            let block = may_be_block.then_some(at.parent);
            let text = write::scalar(layout, like, block, value, at.member_style);
            match piece.shape {
                Shape::Empty => self.splices.put(at.start..at.start, format!(" {text}")),
                _ => self.splices.put(piece.range.clone(), text),
            }
            return;
        }
        if was_block && is_block {
            self.rewrite_block(piece, new, at.parent);
            return;
        }
        self.replace_value(piece, new, at);
    }
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
