//! From a part of a scalar's value back to the bytes of the file that spell it.

use std::ops::Range;

use crate::model::place::Place;

use super::scan::{Kind, Scanner, Segment};

/// The place of a range of bytes within a scalar's value, for pointing into an expression.
///
/// The scalar is scanned again for that, so nothing is kept for the many that are never pointed into. A range that the file
/// spells in another way (an escape, a folded line break) is placed at that spelling. Where `value` is not what the file
/// says at `scalar`, because it was computed, the whole scalar is the answer.
pub fn inside(source: &str, scalar: Place, value: &str, range: Range<usize>) -> Place {
    Spelling::new(source, scalar, value).place(value, range)
}

/// How a file spells a scalar, scanned once for pointing into it many times: a values file within a block scalar.
pub struct Spelling {
    scalar: Place,
    segments: Option<Vec<Segment>>,
}

impl Spelling {
    /// The spelling of `value` at `scalar` in a file's text.
    pub fn new(source: &str, scalar: Place, value: &str) -> Self {
        let segments = segments(source, scalar, value);
        Self { scalar, segments }
    }

    /// As [`inside`], for the same value.
    pub fn place(&self, value: &str, range: Range<usize>) -> Place {
        let scalar = self.scalar;
        let Some(segments) = &self.segments else {
            return scalar;
        };
        let start = range.start.min(value.len());
        let end = range.end.clamp(start, value.len());
        let (Some(first), Some(last)) = (
            spelled(segments, start, scalar),
            spelled(segments, end.saturating_sub(1).max(start), scalar),
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

/// How the file spells each part of the scalar; none if it spells something else.
fn segments(source: &str, scalar: Place, value: &str) -> Option<Vec<Segment>> {
    let start = scalar.start as usize;
    let end = scalar.end as usize;
    let token = source.get(start..end)?;
    if !token.starts_with(['|', '>']) {
        return rescan(source, start..end, scalar, value, -1);
    }
    // A block scalar's last line break stands behind its place; its own indentation tells where it ends.
    let window = start..source.len();
    if !token.bytes().take(3).any(|byte| byte.is_ascii_digit()) {
        return rescan(source, window, scalar, value, -1);
    }
    // Its header says by how much it is indented, counted from what it stands in, which is not known any more.
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
    let mut scanner = Scanner::again(source, window, scalar.file, indent);
    let token = scanner.peek().ok()?;
    let same = matches!(&token.kind, Kind::Scalar { text, .. } if same_text(text, value));
    same.then(|| scanner.segments()).flatten()
}

/// An engine that ends a file's last line has read one line break more.
fn same_text(text: &str, value: &str) -> bool {
    text == value || value.strip_suffix('\n') == Some(text)
}

/// The bytes that spell the byte of the value at an index; behind its last byte, the end of the spelling.
fn spelled(segments: &[Segment], index: usize, scalar: Place) -> Option<Range<usize>> {
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
