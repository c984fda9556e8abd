//! A YAML text inside a block scalar of another one, such as a manifest in a Helm value: its own splices, moved to where the
//! outer text spells the same lines.

use std::ops::Range;

use super::layout::Layout;
use super::splice::Splices;
use super::{Edit, EditError, edit, splices};
use crate::model::engine::Engine;

/// The inner text with the edits made.
pub(super) fn edited(inner: &str, edits: &[&Edit]) -> Result<String, EditError> {
    let edits: Vec<Edit> = edits.iter().map(|edit| (*edit).clone()).collect();
    edit(inner, ENGINE, &edits)
}

/// Puts the splices that make the edits within a literal block scalar at `range`, whose value is `inner`.
pub(super) fn put(
    layout: &Layout<'_>,
    range: Range<usize>,
    inner: &str,
    edits: &[&Edit],
    outer: &mut Splices,
) -> Result<(), EditError> {
    let edits: Vec<Edit> = edits.iter().map(|edit| (*edit).clone()).collect();
    let (inner_splices, _) = splices(inner, ENGINE, &edits)?;
    let lines = Lines::of(layout, range, inner).ok_or(EditError::NotFollowed)?;
    for (range, text) in inner_splices.sorted() {
        let (range, text) = lines.moved(range, &text).ok_or(EditError::NotFollowed)?;
        outer.put(range, text);
    }
    Ok(())
}

/// Manifests are read as kubectl does it, wherever they stand.
const ENGINE: Engine = Engine::Kubectl;

/// The lines of a block scalar: where each stands in its value, and in the text that spells it.
struct Lines {
    lines: Vec<Line>,
    indent: usize,
    eol: &'static str,
}

struct Line {
    /// Where it starts in the value.
    inner: usize,
    /// Where it starts in the outer text, its indentation included.
    start: usize,
    /// Where what the value has of it starts.
    content: usize,
}

impl Lines {
    /// None where the scalar's lines are not those of its value.
    fn of(layout: &Layout<'_>, range: Range<usize>, inner: &str) -> Option<Self> {
        let mut lines = Vec::new();
        let (mut at, mut start, mut indent) = (0, layout.next_line(range.start), 0);
        for line in inner.split('\n') {
            let end = layout.line_end(start);
            let raw = layout.text.get(start..end)?;
            let is_behind = at == inner.len();
            let content = match raw.strip_suffix(line) {
                _ if is_behind && inner.ends_with('\n') => start,
                Some(blank) if blank.bytes().all(|byte| byte == b' ') => start + blank.len(),
                // A line of blanks may be shorter than the indentation.
                None if line.is_empty() && raw.trim().is_empty() => end,
                _ => return None,
            };
            if indent == 0 && !line.is_empty() {
                indent = content - start;
            }
            lines.push(Line {
                inner: at,
                start,
                content,
            });
            at += line.len() + 1;
            start = layout.next_line(start);
        }
        Some(Self {
            lines,
            indent,
            eol: layout.eol,
        })
    }

    /// The line of a byte of the value, and how far behind its start that is.
    fn line(&self, at: usize) -> Option<(&Line, usize)> {
        let index = self.lines.partition_point(|line| line.inner <= at);
        let line = self.lines.get(index.checked_sub(1)?)?;
        Some((line, at - line.inner))
    }

    /// A splice of the value as one of the outer text. New lines get the scalar's indentation.
    fn moved(&self, range: Range<usize>, text: &str) -> Option<(Range<usize>, String)> {
        let (first, column) = self.line(range.start)?;
        let (last, end_column) = self.line(range.end)?;
        let indent = " ".repeat(self.indent);
        let mut out = String::new();
        let mut opens_line = column == 0;
        for piece in text.split_inclusive('\n') {
            let line = piece.strip_suffix('\n');
            let words = line.unwrap_or(piece);
            if opens_line && !words.is_empty() {
                out.push_str(&indent);
            }
            out.push_str(words.strip_suffix('\r').unwrap_or(words));
            opens_line = line.is_some();
            if opens_line {
                out.push_str(self.eol);
            }
        }
        let end = match (opens_line, end_column) {
            (true, 0) => last.start,
            (true, _) => {
                out.push_str(&indent);
                last.content + end_column
            }
            (false, _) => last.content + end_column,
        };
        let start = match column {
            0 => first.start,
            _ => first.content + column,
        };
        Some((start..end, out))
    }
}
