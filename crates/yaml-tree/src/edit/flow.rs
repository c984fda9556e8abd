//! Edits flow collections: inserts and removes members with their commas.

use std::ops::Range;

use super::layout::Layout;
use super::outline::{Collection, Member, Piece};
use super::piece::Editor;
use super::plan::{Insert, Plan};
use super::write::{self, MemberStyle};

impl Editor<'_, '_> {
    /// Inserts and removes members of a collection.
    pub(super) fn edit_flow_members(
        &mut self,
        piece: &Piece<'_>,
        collection: &Collection<'_>,
        plan: &Plan<'_>,
    ) {
        let layout = self.layout;
        let members = &collection.members;
        let member_style = MemberStyle::new(layout, Some(collection));
        let text = |insert: &Insert<'_>| {
            write::flow_member(layout, member_style, insert.key, insert.new.value)
        };
        if plan.removed.len() == members.len() {
            let inside = piece.range.start + 1..piece.range.end - 1;
            let texts: Vec<String> = plan.inserts.iter().map(text).collect();
            self.splices.put(inside, texts.join(", "));
            return;
        }
        let last_kept_before = |slot: usize| (0..slot).rev().find(|i| !plan.removed.contains(i));
        let mut inserts: Vec<&Insert<'_>> = plan.inserts.iter().collect();
        inserts.sort_by_key(|insert| insert.slot);
        for group in inserts.chunk_by(|a, b| last_kept_before(a.slot) == last_kept_before(b.slot)) {
            let texts: Vec<String> = group.iter().map(|insert| text(insert)).collect();
            match last_kept_before(group[0].slot) {
                Some(index) => self.insert_in_flow(piece, members, index, &texts),
                None => {
                    let kept = (0..members.len()).find(|i| !plan.removed.contains(i));
                    let first = &members[kept.unwrap_or(0)];
                    let separator = separator(layout, first);
                    let start = first.start;
                    self.splices
                        .put(start..start, texts.join(&separator) + &separator);
                }
            }
        }
        for run in runs(plan.removed.iter().copied()) {
            self.remove_from_flow(piece, members, run);
        }
    }

    fn insert_in_flow(
        &mut self,
        piece: &Piece<'_>,
        members: &[Member<'_>],
        index: usize,
        texts: &[String],
    ) {
        let layout = self.layout;
        let member = &members[index];
        let separator = separator(layout, member);
        let end = member.end();
        let after_comma = member.comma_end.unwrap_or(end);
        let line_end = layout.line_end(after_comma);
        let own_line = layout.starts_line(member.start)
            && layout.ends_line(after_comma)
            && line_end < piece.range.end;
        let joined = texts.join(&separator);
        if !own_line {
            self.splices.put(end..end, format!("{separator}{joined}"));
            return;
        }
        let column = layout.column(member.start);
        let line_break = write::line_break(layout, column);
        if member.comma_end.is_some() {
            self.splices
                .put(line_end..line_end, format!("{line_break}{joined},"));
        } else {
            self.splices.put(end..end, ",");
            self.splices
                .put(line_end..line_end, format!("{line_break}{joined}"));
        }
    }

    /// Removes a run of members. At least one other member stays.
    fn remove_from_flow(&mut self, piece: &Piece<'_>, members: &[Member<'_>], run: Range<usize>) {
        let layout = self.layout;
        let (first, last) = (&members[run.start], &members[run.end - 1]);
        let after_last = last.comma_end.unwrap_or(last.end());
        let own_lines = layout.starts_line(first.start)
            && layout.ends_line(after_last)
            && layout.line_end(after_last) < piece.range.end;
        if own_lines {
            let start = layout.line_start(first.start);
            self.splices.put(start..layout.next_line(after_last), "");
            if let (None, Some(before)) = (last.comma_end, run.start.checked_sub(1)) {
                let before = &members[before];
                self.splices
                    .put(before.end()..before.comma_end.unwrap_or(before.end()), "");
            }
        } else if run.start > 0 {
            self.splices
                .put(members[run.start - 1].end()..last.end(), "");
        } else if let Some(next) = members.get(run.end) {
            self.splices.put(first.start..next.start, "");
        }
    }
}

/// Groups sorted numbers into ranges of consecutive numbers.
pub(super) fn runs(numbers: impl IntoIterator<Item = usize>) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some(run) if run.end == number => run.end += 1,
            _ => runs.push(number..number + 1),
        }
    }
    runs
}

/// The separator of members: a comma, and a line break if each member is on a line of its own.
fn separator(layout: &Layout<'_>, member: &Member<'_>) -> String {
    if layout.starts_line(member.start) {
        let column = layout.column(member.start);
        format!(",{}", write::line_break(layout, column))
    } else {
        ", ".to_owned()
    }
}
