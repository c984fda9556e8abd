//! Maps ranges of a scalar's value back to spans in the file.

use std::ops::Range;

use crate::place::Place;

use super::scan::{Scanner, Segment, TokenKind};

/// The span of a byte range of a scalar's value, for messages about an expression.
///
/// The scalar is scanned again, so that nothing has to be kept for the many scalars without a message. A range that is an escape
/// or a folded line break in the file gets the span of that. If `value` is not the value of the scalar, because it was computed,
/// the result is the span of the whole scalar.
pub fn locate(source: &str, scalar: Place, value: &str, range: Range<usize>) -> Place {
    Spelling::new(source, scalar, value).place(value, range)
}

/// The mapping from a scalar's value to the file, for repeated use: for a values file in a block scalar.
pub struct Spelling {
    scalar: Place,
    segments: Option<Vec<Segment>>,
}

impl Spelling {
    /// The mapping for the scalar `value` at `scalar` in a file's text.
    pub fn new(source: &str, scalar: Place, value: &str) -> Self {
        let segments = segments(source, scalar, value);
        Self { scalar, segments }
    }

    /// Like [`locate`], for the same value.
    pub fn place(&self, value: &str, range: Range<usize>) -> Place {
        let scalar = self.scalar;
        let Some(segments) = &self.segments else {
            return scalar;
        };
        let start = range.start.min(value.len());
        let end = range.end.clamp(start, value.len());
        let (Some(first), Some(last)) = (
            source_range(segments, start, scalar),
            source_range(segments, end.saturating_sub(1).max(start), scalar),
        ) else {
            return scalar;
        };
        let end = if range.is_empty() {
            first.start
        } else {
            last.end.max(first.start)
        };
        Place {
            start: first.start as u32,
            end: end as u32,
            ..scalar
        }
    }
}

/// The segments of the scalar; none if its value is not `value`.
fn segments(source: &str, scalar: Place, value: &str) -> Option<Vec<Segment>> {
    let start = scalar.start as usize;
    let end = scalar.end as usize;
    let token = source.get(start..end)?;
    if !token.starts_with(['|', '>']) {
        return rescan(source, start..end, scalar, value, -1);
    }
    // The final line break of a block scalar is after its span; its indentation shows where it ends.
    let window = start..source.len();
    if !token.bytes().take(3).any(|byte| byte.is_ascii_digit()) {
        return rescan(source, window, scalar, value, -1);
    }
    // The indentation in the header is relative to the parent node, whose indentation is not known here.
    let line_start = source[..start].rfind('\n').map_or(0, |newline| newline + 1);
    (0..=(start - line_start).cast_signed())
        .find_map(|indent| rescan(source, window.clone(), scalar, value, indent))
}

fn rescan(
    source: &str,
    window: Range<usize>,
    scalar: Place,
    value: &str,
    indent: isize,
) -> Option<Vec<Segment>> {
    let mut scanner = Scanner::rescan(source, window, scalar.file, indent);
    let token = scanner.peek().ok()?;
    let same = matches!(&token.kind, TokenKind::Scalar { text, .. } if same_text(text, value));
    same.then(|| scanner.segments()).flatten()
}

/// Whether two texts are equal, except that an engine may have added a line break to the last line of a file.
fn same_text(text: &str, value: &str) -> bool {
    text == value || value.strip_suffix('\n') == Some(text)
}

/// The span of the byte at an index of the value; for the end of the value, the end of the scalar.
fn source_range(segments: &[Segment], index: usize, scalar: Place) -> Option<Range<usize>> {
    let found = segments.partition_point(|segment| segment.value.end <= index);
    let Some(segment) = segments.get(found) else {
        let end = segments
            .last()
            .map_or(scalar.end as usize, |last| last.source.end);
        return Some(end..end);
    };
    if !segment.copied {
        return Some(segment.source.clone());
    }
    let at = segment.source.start + (index - segment.value.start);
    Some(at..at + 1)
}
