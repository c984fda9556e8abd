//! Lines and columns of many places in a few files, each file counted once.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::model::place::Source;

/// The line starts of the files seen so far.
#[derive(Default)]
pub(super) struct Lines {
    /// The file is kept with its lines, so that its address stays its own.
    known: HashMap<*const Source, (Arc<Source>, Vec<usize>)>,
}

/// A file and where its lines start.
pub(super) struct Lined<'a> {
    text: &'a str,
    starts: &'a [usize],
}

impl Lines {
    /// The lines of a file.
    pub(super) fn of<'a>(&'a mut self, source: &'a Arc<Source>) -> Lined<'a> {
        let (_, starts) = self.known.entry(Arc::as_ptr(source)).or_insert_with(|| {
            let newlines = source.text.bytes().enumerate();
            let newlines = newlines.filter(|(_, byte)| *byte == b'\n');
            let starts = newlines.map(|(index, _)| index + 1);
            (
                Arc::clone(source),
                std::iter::once(0).chain(starts).collect(),
            )
        });
        Lined {
            text: &source.text,
            starts,
        }
    }
}

impl<'a> Lined<'a> {
    /// An offset within the text and between two characters, for any number.
    pub(super) fn offset(&self, offset: u32) -> usize {
        self.text.floor_char_boundary(offset as usize)
    }

    /// The line of an offset, from 0.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset) - 1
    }

    /// The bytes of a line, from 0, without its end (LF or CR LF).
    pub(super) fn range(&self, line: usize) -> Range<usize> {
        let start = self.starts[line];
        let end = self
            .starts
            .get(line + 1)
            .map_or(self.text.len(), |next| next - 1);
        let text = &self.text[start..end];
        start..start + text.strip_suffix('\r').unwrap_or(text).len()
    }

    /// Line and column, both from 1; the column counts characters.
    pub(super) fn line_column(&self, offset: u32) -> (usize, usize) {
        let offset = self.offset(offset);
        let line = self.line(offset);
        let before = &self.text[self.starts[line]..offset];
        (line + 1, before.chars().count() + 1)
    }

    /// The text.
    pub(super) fn text(&self) -> &'a str {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::proptest;

    use super::Lines;
    use crate::model::place::Source;

    #[test]
    fn line_ends_are_no_part_of_a_line() {
        let source = Arc::new(Source::new("a", "one\r\ntwo\n"));
        let mut lines = Lines::default();
        let lined = lines.of(&source);
        assert_eq!(
            (lined.range(0), lined.range(1), lined.range(2)),
            (0..3, 5..8, 9..9)
        );
        assert_eq!(lined.line_column(99), (3, 1));
    }

    proptest! {
        #[test]
        fn it_counts_as_the_source_itself_does(text in "[aé日\r\n\t]{0,20}", offset in 0..99_u32) {
            let source = Arc::new(Source::new("a", text));
            assert_eq!(Lines::default().of(&source).line_column(offset), source.line_column(offset));
        }
    }
}
