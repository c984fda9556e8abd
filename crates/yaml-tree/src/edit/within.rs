//! Edits YAML in a block scalar, such as a manifest in a Helm value: computes the splices of the inner text, and moves them to
//! the lines of the outer text.

use std::ops::Range;

use super::layout::Layout;
use super::splice::Splices;
use super::{Edit, EditError, edit, splices};
use crate::engine::Engine;

/// Applies edits to the inner text.
pub(super) fn apply(inner: &str, edits: &[&Edit]) -> Result<String, EditError> {
    edit(inner, ENGINE, edits.iter().copied())
}

/// Adds the splices for edits in the literal block scalar at `range`, whose value is `inner`.
pub(super) fn put(
    layout: &Layout<'_>,
    range: Range<usize>,
    inner: &str,
    edits: &[&Edit],
    outer: &mut Splices,
) -> Result<(), EditError> {
    let (inner_splices, _) = splices(inner, ENGINE, edits)?;
    let lines = BlockLines::new(layout, range, inner).ok_or(EditError::Unsupported)?;
    for (range, text) in inner_splices.into_sorted() {
        let (range, text) = lines
            .outer_splice(range, &text)
            .ok_or(EditError::Unsupported)?;
        outer.put(range, text);
    }
    Ok(())
}

/// Manifests are parsed as by kubectl, wherever they are.
const ENGINE: Engine = Engine::Kubectl;

/// The lines of a block scalar, with their positions in the value and in the outer text.
struct BlockLines {
    lines: Vec<Line>,
    indent: usize,
    eol: &'static str,
}

struct Line {
    /// The start of the line in the value.
    inner: usize,
    /// The start of the line in the outer text, before its indentation.
    start: usize,
    /// The start of the line in the outer text, after its indentation.
    content: usize,
}

impl BlockLines {
    /// None if the lines of the scalar are not those of its value.
    fn new(layout: &Layout<'_>, range: Range<usize>, inner: &str) -> Option<Self> {
        let mut lines = Vec::new();
        let (mut at, mut start, mut indent) = (0, layout.next_line(range.start), 0);
        for line in inner.split('\n') {
            let end = layout.line_end(start);
            let raw = layout.text.get(start..end)?;
            let is_after_last = at == inner.len();
            let content = match raw.strip_suffix(line) {
                _ if is_after_last && inner.ends_with('\n') => start,
                Some(blank) if blank.bytes().all(|byte| byte == b' ') => start + blank.len(),
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

    /// The line of a position in the value, and the distance from its start.
    fn line(&self, at: usize) -> Option<(&Line, usize)> {
        let index = self.lines.partition_point(|line| line.inner <= at);
        let line = self.lines.get(index.checked_sub(1)?)?;
        Some((line, at - line.inner))
    }

    /// Moves a splice of the value to the outer text. New lines get the indentation of the scalar.
    fn outer_splice(&self, range: Range<usize>, text: &str) -> Option<(Range<usize>, String)> {
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
