//! Edits block collections: inserts and removes whole lines, with the comments that belong to them.

use crate::value::Value;

use super::EditError;
use super::flow::runs;
use super::layout::Layout;
use super::outline::{Collection, Member, Piece, Shape};
use super::piece::Editor;
use super::plan::{Insert, New, Plan};
use super::splice::ValuePosition;
use super::write::{self, MemberStyle, Parent, line_break};

impl Editor<'_, '_> {
    /// Inserts and removes members of a collection.
    pub(super) fn edit_block_members(
        &mut self,
        collection: &Collection<'_>,
        plan: &Plan<'_>,
        at: ValuePosition,
    ) -> Result<(), EditError> {
        let layout = self.layout;
        let members = &collection.members;
        let own_line = layout.starts_line(members[0].start);
        if plan.removed.len() == members.len() {
            if plan.inserts.is_empty() {
                self.empty_block(collection, at);
                return Ok(());
            }
            if !own_line {
                let what = "shares its first line with its parent: set it as a whole";
                let path = plan.path.clone();
                return Err(EditError::Unfit { path, what });
            }
        }
        self.insert_lines(collection, plan);
        for run in runs(plan.removed.iter().copied()) {
            let last = &members[run.end - 1];
            if run.start > 0 || own_line {
                let start = layout.lines_start(members, run.start);
                self.splices.put(start..layout.lines_end(last), "");
                continue;
            }
            // The line starts with the `-` of the parent, which stays.
            let first = members[0].start;
            let next = members.get(run.end).map_or(first, |next| next.start);
            let tail = layout.lines_end(last);
            if layout.line_start(next) == tail {
                self.splices.put(first..next, "");
            } else {
                self.splices
                    .put(first..layout.line_end(last.end()).min(next), "");
            }
        }
        Ok(())
    }

    /// Inserts members as whole lines after the members that they follow.
    fn insert_lines(&mut self, collection: &Collection<'_>, plan: &Plan<'_>) {
        let layout = self.layout;
        let members = &collection.members;
        let member_style = MemberStyle::new(layout, Some(collection));
        let column = layout.column(members[0].start);
        let text = |insert: &Insert<'_>| {
            write::block_member(layout, member_style, column, insert.key, insert.new)
        };
        let mut inserts: Vec<&Insert<'_>> = plan.inserts.iter().collect();
        inserts.sort_by_key(|insert| insert.slot);
        for group in inserts.chunk_by(|a, b| a.slot == b.slot) {
            let texts: Vec<String> = group.iter().map(|insert| text(insert)).collect();
            let texts = texts.join(&line_break(layout, column));
            let slot = group[0].slot;
            let Some(before) = slot.checked_sub(1) else {
                self.insert_first_lines(members, &texts);
                continue;
            };
            let tail = layout.lines_end(&members[before]);
            let indent = " ".repeat(column);
            let lacks_newline = !layout.text[..tail].ends_with('\n');
            let lines = match (lacks_newline, plan.removed.contains(&before)) {
                (true, false) => format!("{}{indent}{texts}", layout.eol),
                (true, true) => format!("{indent}{texts}"),
                (false, _) => format!("{indent}{texts}{}", layout.eol),
            };
            self.splices.put(tail..tail, lines);
        }
    }

    /// Inserts members before all others: above a comment of the first member, and below a comment of the whole collection.
    fn insert_first_lines(&mut self, members: &[Member<'_>], texts: &str) {
        let layout = self.layout;
        let first = members[0].start;
        let column = layout.column(first);
        if layout.starts_line(first) {
            let head = layout.lines_start(members, 0);
            let indent = " ".repeat(column);
            self.splices
                .put(head..head, format!("{indent}{texts}{}", layout.eol));
        } else {
            let line_break = line_break(layout, column);
            self.splices
                .put(first..first, format!("{texts}{line_break}"));
        }
    }

    /// Writes a collection that has no members left.
    fn empty_block(&mut self, collection: &Collection<'_>, at: ValuePosition) {
        let layout = self.layout;
        let nothing = if collection.is_map { "{}" } else { "[]" };
        let members = &collection.members;
        let (first, last) = (&members[0], &members[members.len() - 1]);
        let on_line_of_parent = !layout.starts_line(first.start);
        if on_line_of_parent || matches!(at.parent, Parent::Root) {
            self.splices.put(first.start..last.end(), nothing);
            return;
        }
        self.splices.put(at.start..at.start, format!(" {nothing}"));
        self.splices
            .put(layout.lines_start(members, 0)..layout.lines_end(last), "");
    }

    /// Turns null or `{}` into a block collection with members.
    pub(super) fn open_block(&mut self, piece: &Piece<'_>, plan: &Plan<'_>, at: ValuePosition) {
        let layout = self.layout;
        let member_style = MemberStyle::default();
        let is_list = plan.inserts.iter().any(|insert| insert.key.is_none());
        if at.in_flow || is_before_comment(layout, piece, at) {
            let texts: Vec<String> = plan
                .inserts
                .iter()
                .map(|insert| {
                    write::flow_member(layout, member_style, insert.key, insert.new.value)
                })
                .collect();
            let texts = texts.join(", ");
            let text = if is_list {
                format!(" [{texts}]")
            } else {
                format!(" {{{texts}}}")
            };
            self.splices.put(at.start..piece.end().max(at.start), text);
            return;
        }
        let column = column_below(layout, at.parent, is_list);
        let texts: Vec<String> = plan
            .inserts
            .iter()
            .map(|insert| write::block_member(layout, member_style, column, insert.key, insert.new))
            .collect();
        self.put_lines(piece, at, column, &texts.join(&line_break(layout, column)));
    }

    /// Replaces a block collection with another one.
    pub(super) fn rewrite_block(&mut self, piece: &Piece<'_>, new: New<'_>, parent: Parent) {
        let layout = self.layout;
        let is_list = matches!(new.value, Value::List(_));
        let was_list = matches!(&piece.shape, Shape::Collection(old) if !old.is_map);
        let start = piece.range.start;
        match parent {
            // A list may be in the column of its key, a map may not.
            Parent::Key(_) if is_list != was_list => {
                let column = column_below(layout, parent, is_list);
                let indent = " ".repeat(column);
                let lines = write::block_lines(layout, column, new);
                let old = layout.line_start(start)..piece.range.end;
                self.splices.put(old, format!("{indent}{lines}"));
            }
            _ => {
                let lines = write::block_lines(layout, layout.column(start), new);
                self.splices.put(piece.range.clone(), lines);
            }
        }
    }

    /// Replaces a value with one of another kind: a scalar with a collection, or the reverse.
    pub(super) fn replace_value(&mut self, piece: &Piece<'_>, new: New<'_>, at: ValuePosition) {
        let (layout, value) = (self.layout, new.value);
        let was_block = matches!(&piece.shape, Shape::Collection(old) if !old.is_flow);
        if is_before_comment(layout, piece, at) && !was_block {
            let text = write::scalar(layout, None, None, value, at.member_style);
            self.splices
                .put(at.start..piece.end().max(at.start), format!(" {text}"));
            return;
        }
        if !was_block {
            let column = column_below(layout, at.parent, matches!(value, Value::List(_)));
            let lines = write::block_lines(layout, column, new);
            self.put_lines(piece, at, column, &lines);
            return;
        }
        // Written on one line, so that comments below it do not become part of the text.
        let text = write::scalar(layout, None, None, value, at.member_style);
        if matches!(at.parent, Parent::Root) || !layout.starts_line(piece.range.start) {
            self.splices.put(piece.range.clone(), text);
            return;
        }
        self.splices.put(at.start..at.start, format!(" {text}"));
        let lines = layout.line_start(piece.range.start)..layout.next_line(piece.end());
        self.splices.put(lines, "");
    }

    /// Replaces a value with lines: on the same line after a `-`, else below the line of the key, whose comment stays.
    fn put_lines(&mut self, piece: &Piece<'_>, at: ValuePosition, column: usize, lines: &str) {
        let layout = self.layout;
        let old = at.start..piece.end().max(at.start);
        match at.parent {
            Parent::Root => self.splices.put(piece.range.clone(), lines),
            Parent::Dash(_) => self.splices.put(old, format!(" {lines}")),
            Parent::Key(_) => {
                let line_end = layout.line_end(old.end);
                self.splices.put(old, "");
                let indent = " ".repeat(column);
                let text = format!("{}{indent}{lines}", layout.eol);
                self.splices.put(line_end..line_end, text);
            }
        }
    }
}

/// Whether the value is a list item followed by a comment, which must stay on the line of the item.
fn is_before_comment(layout: &Layout<'_>, piece: &Piece<'_>, at: ValuePosition) -> bool {
    matches!(at.parent, Parent::Dash(_)) && layout.has_text_after(piece.end().max(at.start))
}

/// The column of the members of a collection below this parent.
fn column_below(layout: &Layout<'_>, parent: Parent, is_list: bool) -> usize {
    match parent {
        Parent::Root => 0,
        Parent::Dash(column) => column + 2,
        Parent::Key(column) if is_list => column + layout.list_step,
        Parent::Key(column) => column + layout.step,
    }
}
