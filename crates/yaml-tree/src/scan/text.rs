//! Builds the value of a scalar, and optionally records which bytes of the file each part comes from.

use std::borrow::Cow;
use std::ops::Range;

use super::chars::Bytes;

/// A part of a scalar's value, and its span in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The byte range in the value.
    pub(crate) value: Range<usize>,
    /// The byte range in the file. For copied text it has the length of `value`; otherwise it is one escape or folded line break.
    pub(crate) source: Range<usize>,
    /// Whether the bytes of the value are those of the file.
    pub(crate) copied: bool,
}

/// Builds a value. While the value is a single range of the file, nothing is copied.
pub(super) struct Text<'t> {
    source: &'t str,
    range: Range<usize>,
    owned: Option<String>,
    segments: Option<Vec<Segment>>,
}

impl<'t> Text<'t> {
    /// An empty value. `record` enables the segments.
    pub(super) fn new(source: &'t str, record: bool) -> Self {
        Self {
            source,
            range: 0..0,
            owned: None,
            segments: record.then(Vec::new),
        }
    }

    /// Appends bytes of the file.
    #[inline]
    pub(super) fn copy(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        self.record(range.len(), range.clone(), true);
        if self.owned.is_none() && self.range.is_empty() {
            self.range = range;
        } else if self.owned.is_none() && self.range.end == range.start {
            self.range.end = range.end;
        } else {
            let source = self.source;
            self.to_mut().push_str(&source[range]);
        }
    }

    /// Appends text that differs from the bytes of the file at `source`.
    pub(super) fn put(&mut self, text: &str, source: Range<usize>) {
        self.record(text.len(), source, false);
        self.to_mut().push_str(text);
    }

    /// The value and, if they are recorded, its segments.
    #[inline]
    pub(super) fn finish(self) -> (Cow<'t, str>, Option<Vec<Segment>>) {
        let text = match self.owned {
            Some(owned) => Cow::Owned(owned),
            None => Cow::Borrowed(&self.source[self.range]),
        };
        (text, self.segments)
    }

    fn to_mut(&mut self) -> &mut String {
        let borrowed = &self.source[self.range.clone()];
        self.owned.get_or_insert_with(|| borrowed.to_owned())
    }

    #[inline]
    fn record(&mut self, length: usize, source: Range<usize>, copied: bool) {
        if let Some(segments) = &mut self.segments {
            let start = segments.last().map_or(0, |segment| segment.value.end);
            segments.push(Segment {
                value: start..start + length,
                source,
                copied,
            });
        }
    }
}

/// Line breaks separated by blanks only. Stored as a region and not as a list, because there may be millions.
#[derive(Default)]
pub(super) struct Breaks {
    /// The range from the first line break to the last.
    region: Range<usize>,
    /// The position of an added line break, at the end of a text whose last line has none.
    at_end: Option<usize>,
}

impl Breaks {
    pub(super) fn is_empty(&self) -> bool {
        self.region.is_empty() && self.at_end.is_none()
    }

    pub(super) fn push(&mut self, line_break: Range<usize>) {
        if line_break.is_empty() {
            self.at_end = Some(line_break.start);
        } else if self.region.is_empty() {
            self.region = line_break;
        } else {
            self.region.end = line_break.end;
        }
    }

    /// Writes the line breaks, and removes them.
    pub(super) fn put(&mut self, text: &mut Text<'_>) {
        let Self { region, at_end } = std::mem::take(self);
        let bytes = Bytes(text.source.as_bytes());
        let mut at = region.start;
        while at < region.end {
            let width = bytes.break_width(at);
            if width > 0 {
                put_break(text, at..at + width);
            }
            at += width.max(1);
        }
        if let Some(at) = at_end {
            put_break(text, at..at);
        }
    }
}

/// The line breaks between two words of a multiline scalar.
#[derive(Default)]
pub(super) struct Fold {
    first: Option<Range<usize>>,
    more: Breaks,
    escaped: bool,
}

impl Fold {
    /// Whether there is a line break.
    pub(super) fn has_break(&self) -> bool {
        self.escaped || self.first.is_some()
    }

    /// Adds a `\` at the end of a line, which removes the line break.
    pub(super) fn escape(&mut self) {
        self.escaped = true;
    }

    /// Adds a line break.
    pub(super) fn cross(&mut self, line_break: Range<usize>) {
        if self.has_break() {
            self.more.push(line_break);
        } else {
            self.first = Some(line_break);
        }
    }

    /// Writes the folded line breaks: one becomes a space, n become n-1 line breaks; LS and PS are kept.
    pub(super) fn join(&mut self, text: &mut Text<'_>) {
        if let Some(first) = self.first.take() {
            if line_break(text.source, &first) != "\n" {
                put_break(text, first);
            } else if self.more.is_empty() {
                text.put(" ", first);
            }
        }
        self.more.put(text);
        self.escaped = false;
    }
}

/// Appends a normalized line break.
pub(super) fn put_break(text: &mut Text<'_>, range: Range<usize>) {
    text.put(line_break(text.source, &range), range);
}

/// The normalized line break: CR, CR LF and NEL become LF, LS and PS are kept.
pub(super) fn line_break<'t>(source: &'t str, range: &Range<usize>) -> &'t str {
    match &source[range.clone()] {
        separator @ ("\u{2028}" | "\u{2029}") => separator,
        _ => "\n",
    }
}
