//! A scalar's value while it is put together, and on request where each of its bytes came from.

use std::borrow::Cow;
use std::ops::Range;

use super::chars::Bytes;

/// A stretch of a scalar's value and the bytes of the file that spell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Bytes of the value.
    pub(crate) value: Range<usize>,
    /// Bytes of the file. As long as `value` when the text was copied; else one spelling (an escape, a fold) for all of it.
    pub(crate) source: Range<usize>,
    /// Whether each byte of the value is the byte of the file at the same distance.
    pub(crate) copied: bool,
}

/// Collects a value. As long as it is one stretch of the file, nothing is copied.
pub(super) struct Text<'t> {
    source: &'t str,
    stretch: Range<usize>,
    owned: Option<String>,
    segments: Option<Vec<Segment>>,
}

impl<'t> Text<'t> {
    /// An empty value; `record` asks for segments.
    pub(super) fn new(source: &'t str, record: bool) -> Self {
        Self {
            source,
            stretch: 0..0,
            owned: None,
            segments: record.then(Vec::new),
        }
    }

    /// Appends bytes of the file as they are.
    pub(super) fn copy(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        self.record(range.len(), range.clone(), true);
        if self.owned.is_none() && self.stretch.is_empty() {
            self.stretch = range;
        } else if self.owned.is_none() && self.stretch.end == range.start {
            self.stretch.end = range.end;
        } else {
            let source = self.source;
            self.own().push_str(&source[range]);
        }
    }

    /// Appends text that the file spells in another way.
    pub(super) fn put(&mut self, text: &str, spelled: Range<usize>) {
        self.record(text.len(), spelled, false);
        self.own().push_str(text);
    }

    /// The value and, if asked for, its segments.
    pub(super) fn finish(self) -> (Cow<'t, str>, Option<Vec<Segment>>) {
        let text = match self.owned {
            Some(owned) => Cow::Owned(owned),
            None => Cow::Borrowed(&self.source[self.stretch]),
        };
        (text, self.segments)
    }

    fn own(&mut self) -> &mut String {
        let stretch = &self.source[self.stretch.clone()];
        self.owned.get_or_insert_with(|| stretch.to_owned())
    }

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

/// Line breaks with nothing but blanks between them. They are not listed: there may be millions.
#[derive(Default)]
pub(super) struct Breaks {
    /// From the first break to the last.
    region: Range<usize>,
    /// One that is only counted, at the end of a text whose last line has none.
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

    /// Writes them, and forgets them.
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

/// The line breaks between two pieces of a scalar that runs over several lines.
#[derive(Default)]
pub(super) struct Fold {
    first: Option<Range<usize>>,
    more: Breaks,
    escaped: bool,
}

impl Fold {
    /// Whether a line break was crossed.
    pub(super) fn crossed(&self) -> bool {
        self.escaped || self.first.is_some()
    }

    /// A `\` at the end of a line: the break itself counts for nothing.
    pub(super) fn escape(&mut self) {
        self.escaped = true;
    }

    /// Takes note of the next line break.
    pub(super) fn cross(&mut self, line_break: Range<usize>) {
        if self.crossed() {
            self.more.push(line_break);
        } else {
            self.first = Some(line_break);
        }
    }

    /// Writes what the breaks stand for: one is a space, n are n-1 breaks; LS and PS stay as they are.
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

/// Appends a line break in its normal form.
pub(super) fn put_break(text: &mut Text<'_>, range: Range<usize>) {
    text.put(line_break(text.source, &range), range);
}

/// The normal form of a line break: CR, CR LF and NEL become LF, LS and PS stay.
pub(super) fn line_break<'t>(source: &'t str, range: &Range<usize>) -> &'t str {
    match &source[range.clone()] {
        separator @ ("\u{2028}" | "\u{2029}") => separator,
        _ => "\n",
    }
}
