//! Computes lines and columns of many places in few files: each file is scanned once.

use std::collections::HashMap;
use std::ops;
use std::sync::Arc;

use yaml_tree::place::{Source, Spot};

/// The line starts of the files seen so far.
#[derive(Default)]
pub struct Lines {
    /// The file is kept with its lines, so that its address stays its own.
    known: HashMap<usize, (Arc<Source>, Table)>,
}

/// What is known of a file's lines.
struct Table {
    /// Where each starts: in few bytes, for a file may be all line ends.
    starts: Vec<u32>,
    /// Offsets, [`STRIDE`] bytes apart, and how many characters are before each in its line: a line may be as long as the file.
    marks: Vec<(usize, usize)>,
}

/// How many bytes are counted at most to find a column.
const STRIDE: usize = 4096;

/// A file and where its lines start.
pub(super) struct Lined<'a> {
    text: &'a str,
    starts: &'a [u32],
    marks: &'a [(usize, usize)],
}

/// Lines and columns from 1, columns in characters; the end is behind the last character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub(super) struct Range {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) end_line: usize,
    pub(super) end_column: usize,
}

impl Lines {
    /// The lines of a file.
    pub(super) fn get<'a>(&'a mut self, source: &'a Arc<Source>) -> Lined<'a> {
        let known = self.known.entry(Arc::as_ptr(source).addr());
        let (_, table) = known.or_insert_with(|| (Arc::clone(source), Table::new(&source.text)));
        Lined {
            text: &source.text,
            starts: &table.starts,
            marks: &table.marks,
        }
    }

    /// The line and column of a spot's start, both from 1; the column counts characters.
    pub fn line_column(&mut self, spot: &Spot) -> (usize, usize) {
        self.get(&spot.source).line_column(spot.start)
    }
}

impl Table {
    fn new(text: &str) -> Self {
        let newlines = text.bytes().filter(|byte| *byte == b'\n').count();
        let mut starts = Vec::with_capacity(newlines + 1);
        starts.push(0);
        starts.extend(text.match_indices('\n').map(|(index, _)| index as u32 + 1));
        let mut marks = vec![(0, 0)];
        for stride in 1..=text.len() / STRIDE {
            let (last, characters) = marks[stride - 1];
            let here = text.floor_char_boundary(stride * STRIDE);
            let between = &text[last..here];
            marks.push(match between.rfind('\n') {
                Some(newline) => (here, between[newline + 1..].chars().count()),
                None => (here, characters + between.chars().count()),
            });
        }
        Self { starts, marks }
    }
}

impl<'a> Lined<'a> {
    /// An offset within the text and between two characters, for any number.
    pub(super) fn offset(&self, offset: u32) -> usize {
        self.text.floor_char_boundary(offset as usize)
    }

    /// The line of an offset, from 0.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.starts
            .partition_point(|start| *start as usize <= offset)
            - 1
    }

    /// The bytes of a line, from 0, without its end (LF or CR LF).
    pub(super) fn range(&self, line: usize) -> ops::Range<usize> {
        let start = self.starts[line] as usize;
        let end = self
            .starts
            .get(line + 1)
            .map_or(self.text.len(), |next| *next as usize - 1);
        let text = &self.text[start..end];
        start..start + text.strip_suffix('\r').unwrap_or(text).len()
    }

    /// Line and column, both from 1; the column counts characters.
    pub(super) fn line_column(&self, offset: u32) -> (usize, usize) {
        let offset = self.offset(offset);
        let line = self.line(offset);
        let start = self.starts[line] as usize;
        let marks = self.marks.partition_point(|(mark, _)| *mark <= offset);
        let (from, characters) = self.marks[marks - 1];
        let column = if from >= start {
            characters + self.text[from..offset].chars().count()
        } else {
            self.text[start..offset].chars().count()
        };
        (line + 1, column + 1)
    }

    /// The range of a spot in this file.
    pub(super) fn range_of(&self, spot: &Spot) -> Range {
        let (line, column) = self.line_column(spot.start);
        let (end_line, end_column) = self.line_column(spot.end.max(spot.start));
        Range {
            line,
            column,
            end_line,
            end_column,
        }
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
    use yaml_tree::place::Source;

    #[test]
    fn line_ends_are_no_part_of_a_line() {
        let source = Arc::new(Source::new("a", "one\r\ntwo\n"));
        let mut lines = Lines::default();
        let lined = lines.get(&source);
        assert_eq!(
            (lined.range(0), lined.range(1), lined.range(2)),
            (0..3, 5..8, 9..9)
        );
        assert_eq!(lined.line_column(99), (3, 1));
    }

    #[test]
    fn a_column_far_to_the_right_is_counted_like_any_other() {
        for text in [
            "é".repeat(9000),
            "a\n".repeat(3000) + &"日".repeat(5000),
            "\n".repeat(4096) + "x",
        ] {
            let source = Arc::new(Source::new("a", text));
            let mut lines = Lines::default();
            let lined = lines.get(&source);
            for offset in [
                0, 1, 4094, 4095, 4096, 4097, 4098, 8191, 8192, 8193, 17_000, 20_000, 99_999,
            ] {
                assert_eq!(
                    lined.line_column(offset),
                    source.line_column(offset),
                    "{offset}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn it_counts_as_the_source_itself_does(text in "[aé日\r\n\t]{0,20}", offset in 0..99_u32) {
            let source = Arc::new(Source::new("a", text));
            assert_eq!(Lines::default().get(&source).line_column(offset), source.line_column(offset));
        }
    }
}
