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
    let Some(segments) = segments(source, scalar, value) else {
        return scalar;
    };
    let start = range.start.min(value.len());
    let end = range.end.clamp(start, value.len());
    let (Some(first), Some(last)) = (
        spelled(&segments, start, scalar),
        spelled(&segments, end.saturating_sub(1).max(start), scalar),
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

/// How the file spells each part of the scalar; none if it spells something else.
fn segments(source: &str, scalar: Place, value: &str) -> Option<Vec<Segment>> {
    let start = scalar.start as usize;
    let end = scalar.end as usize;
    let token = source.get(start..end)?;
    let is_block = token.starts_with(['|', '>']);
    // Only a block scalar's own indentation tells where it ends, and its last line break stands behind its place.
    let window = if is_block { source.len() } else { end };
    let indent = if is_block {
        parent_indent(source, start, value)
    } else {
        -1
    };
    let mut scanner = Scanner::again(source, start..window, scalar.file, indent);
    let token = scanner.peek().ok()?;
    let same = matches!(&token.kind, Kind::Scalar { text, .. } if same_text(text, value));
    same.then(|| scanner.segments()).flatten()
}

/// A value that a reader with a line break at the end of the file has read is one line break longer.
fn same_text(text: &str, value: &str) -> bool {
    text == value || value.strip_suffix('\n') == Some(text)
}

/// The indentation that a block scalar's own is counted from, needed where its header says by how much it is indented.
fn parent_indent(source: &str, start: usize, value: &str) -> isize {
    let mut lines = source[start..].lines();
    let header = lines.next().unwrap_or_default();
    let increment = header
        .bytes()
        .take(3)
        .find(u8::is_ascii_digit)
        .map(|digit| isize::from(digit - b'0'));
    let leading = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let is_content = |line: &&str| !line.trim_start_matches(' ').is_empty();
    let (Some(increment), Some(line), Some(content)) = (
        increment,
        lines.find(is_content),
        value.split('\n').find(is_content),
    ) else {
        return -1;
    };
    leading(line).saturating_sub(leading(content)).cast_signed() - increment
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
