//! The lay of the lines: where they start and end, what comments stand between them, and the habits of the whole text.

use crate::model::engine::Engine;

use super::outline::{Member, Outline, Piece, Shape};

/// A text and how its author writes.
pub(super) struct Layout<'t> {
    pub(super) text: &'t str,
    /// The line break of the text.
    pub(super) eol: &'static str,
    /// How many spaces a map is indented below its key.
    pub(super) step: usize,
    /// How many spaces a list is indented below its key.
    pub(super) list_step: usize,
    /// Its last line has no line break, and so cannot end a block that has one.
    pub(super) is_unended: bool,
    /// Every string is to be in double quotes: JSON.
    pub(super) is_json: bool,
}

impl<'t> Layout<'t> {
    /// The habits of a text.
    pub(super) fn of(text: &'t str, engine: Engine, outlines: &[Outline<'_>]) -> Self {
        let windows = text
            .find('\n')
            .is_some_and(|newline| text[..newline].ends_with('\r'));
        let mut layout = Self {
            text,
            eol: if windows { "\r\n" } else { "\n" },
            step: 2,
            list_step: 2,
            is_unended: !text.ends_with('\n'),
            is_json: engine == Engine::Kubectl && text.trim_start().starts_with('{'),
        };
        let roots = || outlines.iter().map(|outline| &outline.root);
        if let Some(step) = roots().find_map(|root| layout.step_of(root, true)) {
            layout.step = step;
        }
        if let Some(step) = roots().find_map(|root| layout.step_of(root, false)) {
            layout.list_step = step;
        }
        layout
    }

    /// By how much the first map, or list, that is indented below a key is indented.
    fn step_of(&self, piece: &Piece<'_>, is_map: bool) -> Option<usize> {
        let Shape::Collection(collection) = &piece.shape else {
            return None;
        };
        if collection.is_flow {
            return None;
        }
        collection.members.iter().find_map(|member| {
            if let Shape::Collection(below) = &member.value.shape {
                let first = below.members.first()?;
                if collection.is_map && below.is_map == is_map && !below.is_flow {
                    let step = self
                        .column(first.start)
                        .checked_sub(self.column(member.start));
                    return step.filter(|step| (usize::from(is_map)..=8).contains(step));
                }
            }
            self.step_of(&member.value, is_map)
        })
    }

    /// Where the line of a byte starts.
    pub(super) fn line_start(&self, at: usize) -> usize {
        let start = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let mark = self.text[start..].starts_with('\u{feff}') && start == 0;
        if mark { '\u{feff}'.len_utf8() } else { start }
    }

    /// Where the content of the line of a byte ends, before its line break.
    pub(super) fn line_end(&self, at: usize) -> usize {
        let rest = &self.text[at..];
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        at + line.strip_suffix('\r').unwrap_or(line).len()
    }

    /// Where the next line starts; the text's end if there is none.
    pub(super) fn next_line(&self, at: usize) -> usize {
        let newline = self.text[at..].find('\n');
        newline.map_or(self.text.len(), |newline| at + newline + 1)
    }

    /// Bytes from the start of the line.
    pub(super) fn column(&self, at: usize) -> usize {
        at - self.line_start(at)
    }

    /// Whether nothing but white space stands before it on its line.
    pub(super) fn opens_line(&self, at: usize) -> bool {
        self.text[self.line_start(at)..at].trim().is_empty()
    }

    /// Whether nothing but white space and a comment stands behind it on its line.
    pub(super) fn closes_line(&self, at: usize) -> bool {
        let rest = self.text[at..self.line_end(at)].trim_start();
        rest.is_empty() || rest.starts_with('#')
    }

    /// Whether anything but white space stands behind it on its line.
    pub(super) fn has_comment(&self, at: usize) -> bool {
        !self.text[at..self.line_end(at)].trim().is_empty()
    }

    /// The column of the comment that a line consists of.
    fn comment(&self, line: usize) -> Option<usize> {
        let text = &self.text[line..self.line_end(line)];
        let indent = text.len() - text.trim_start().len();
        text.trim_start().starts_with('#').then_some(indent)
    }

    pub(super) fn is_blank(&self, line: usize) -> bool {
        line < self.text.len() && self.text[line..self.line_end(line)].trim().is_empty()
    }

    /// Behind the lines of a member of a block collection: its own, and comments below that are indented deeper than it.
    pub(super) fn tail(&self, member: &Member<'_>) -> usize {
        let column = self.column(member.start);
        let mut tail = self.next_line(member.end());
        let mut line = tail;
        while line < self.text.len() {
            match self.comment(line) {
                Some(indent) if indent > column => tail = self.next_line(line),
                Some(_) => break,
                None if self.is_blank(line) => {}
                None => break,
            }
            line = self.next_line(line);
        }
        tail
    }

    /// The start of a member's lines: with the comment lines directly above that are its own. A comment that heads several
    /// members stays with them.
    pub(super) fn head(&self, members: &[Member<'_>], index: usize) -> usize {
        let member = &members[index];
        let line = self.line_start(member.start);
        let column = self.column(member.start);
        let mut head = line;
        while self.text[..head].ends_with('\n') {
            let above = self.line_start(head - 1);
            if self.comment(above) != Some(column) {
                break;
            }
            head = above;
        }
        let comments = &self.text[head..line];
        let names_it = member.key.as_deref().is_some_and(|key| {
            let key = key.trim();
            !key.is_empty() && comments.contains(key)
        });
        // What a file starts with is about the file.
        let heads_file = head == self.line_start(0);
        let is_own = names_it
            || comments.contains("renovate:")
            || (!heads_file && self.stands_alone(members, index));
        if is_own { head } else { line }
    }

    /// Whether what follows a member is set off from it by a blank line or a comment, so that what heads it heads it alone.
    fn stands_alone(&self, members: &[Member<'_>], index: usize) -> bool {
        let Some(next) = members.get(index + 1) else {
            return true;
        };
        self.tail(&members[index]) < self.line_start(next.start)
    }
}
