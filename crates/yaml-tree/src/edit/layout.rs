//! The layout of a text: where lines start and end, which comments belong to which member, and the indentation in use.

use crate::engine::Engine;

use super::outline::{Member, Outline, Piece, Shape};

/// A text with its layout.
pub(super) struct Layout<'t> {
    pub(super) text: &'t str,
    /// The line break of the text.
    pub(super) eol: &'static str,
    /// The indentation of a map below its key, in spaces.
    pub(super) step: usize,
    /// The indentation of a list below its key, in spaces.
    pub(super) list_step: usize,
    /// Whether the last line lacks a line break. A block scalar that ends with a line break cannot be its last value then.
    pub(super) lacks_final_newline: bool,
    /// Whether the text is JSON, in which every string is in double quotes.
    pub(super) is_json: bool,
}

impl<'t> Layout<'t> {
    /// Determines the layout of a text.
    pub(super) fn new(text: &'t str, engine: Engine, outlines: &[Outline<'_>]) -> Self {
        let windows = text
            .find('\n')
            .is_some_and(|newline| text[..newline].ends_with('\r'));
        let mut layout = Self {
            text,
            eol: if windows { "\r\n" } else { "\n" },
            step: 2,
            list_step: 2,
            lacks_final_newline: !text.ends_with('\n'),
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

    /// The indentation of the first map, or list, that is indented below a key.
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

    /// The start of the line that contains a byte.
    pub(super) fn line_start(&self, at: usize) -> usize {
        let start = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let has_mark = self.text[start..].starts_with('\u{feff}') && start == 0;
        if has_mark {
            '\u{feff}'.len_utf8()
        } else {
            start
        }
    }

    /// The end of the line that contains a byte, before its line break.
    pub(super) fn line_end(&self, at: usize) -> usize {
        let rest = &self.text[at..];
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        at + line.strip_suffix('\r').unwrap_or(line).len()
    }

    /// The start of the next line, or the end of the text.
    pub(super) fn next_line(&self, at: usize) -> usize {
        let newline = self.text[at..].find('\n');
        newline.map_or(self.text.len(), |newline| at + newline + 1)
    }

    /// The distance from the start of the line, in bytes.
    pub(super) fn column(&self, at: usize) -> usize {
        at - self.line_start(at)
    }

    /// Whether only white space precedes the position on its line.
    pub(super) fn starts_line(&self, at: usize) -> bool {
        self.text[self.line_start(at)..at].trim().is_empty()
    }

    /// Whether only white space and a comment follow the position on its line.
    pub(super) fn ends_line(&self, at: usize) -> bool {
        let rest = self.text[at..self.line_end(at)].trim_start();
        rest.is_empty() || rest.starts_with('#')
    }

    /// Whether anything but white space follows the position on its line.
    pub(super) fn has_text_after(&self, at: usize) -> bool {
        !self.text[at..self.line_end(at)].trim().is_empty()
    }

    /// The column of the comment on a line without other content.
    fn comment(&self, line: usize) -> Option<usize> {
        let text = &self.text[line..self.line_end(line)];
        let indent = text.len() - text.trim_start().len();
        text.trim_start().starts_with('#').then_some(indent)
    }

    pub(super) fn is_blank(&self, line: usize) -> bool {
        line < self.text.len() && self.text[line..self.line_end(line)].trim().is_empty()
    }

    /// The end of the lines of a member of a block collection, including comments below it that are indented deeper.
    pub(super) fn lines_end(&self, member: &Member<'_>) -> usize {
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

    /// The start of the lines of a member, including the comment lines directly above that belong to it. A comment that applies
    /// to several members stays with the others.
    pub(super) fn lines_start(&self, members: &[Member<'_>], index: usize) -> usize {
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
        // A comment at the start of a file applies to the file.
        let is_file_header = head == self.line_start(0);
        let is_own = names_it
            || comments.contains("renovate:")
            || (!is_file_header && self.is_separate(members, index));
        if is_own { head } else { line }
    }

    /// Whether a blank line or a comment separates a member from the next one, so that a comment above it applies to it alone.
    fn is_separate(&self, members: &[Member<'_>], index: usize) -> bool {
        let Some(next) = members.get(index + 1) else {
            return true;
        };
        self.lines_end(&members[index]) < self.line_start(next.start)
    }
}
