//! Positions of the protocol: a line, and a column in the units that the client and the server agreed on.
//!
//! Rules: <https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#textDocuments>. Lines end
//! with LF, CR LF or CR; a column past the end of its line is the end of the line.

use lsp_types::{Position, PositionEncodingKind, Range};

/// The units that columns count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, which every client knows.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    /// The first encoding of the client's list that is known here.
    pub(super) fn negotiate(offered: Option<&[PositionEncodingKind]>) -> Self {
        let known = |kind: &PositionEncodingKind| match kind.as_str() {
            "utf-8" => Some(Self::Utf8),
            "utf-16" => Some(Self::Utf16),
            "utf-32" => Some(Self::Utf32),
            _ => None,
        };
        let offered = offered.unwrap_or_default().iter();
        offered.filter_map(known).next().unwrap_or_default()
    }

    /// Its name in the protocol.
    pub(super) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn width(self, letter: char) -> usize {
        match self {
            Self::Utf8 => letter.len_utf8(),
            Self::Utf16 => letter.len_utf16(),
            Self::Utf32 => 1,
        }
    }
}

/// A text and the starts of its lines.
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    encoding: Encoding,
}

impl<'t> Lines<'t> {
    /// The lines of a text.
    pub(super) fn new(text: &'t str, encoding: Encoding) -> Self {
        let bytes = text.as_bytes();
        let ends = memchr::memchr2_iter(b'\n', b'\r', bytes);
        let ends = ends.filter(|end| bytes[*end] == b'\n' || bytes.get(end + 1) != Some(&b'\n'));
        let starts = std::iter::once(0).chain(ends.map(|end| end + 1)).collect();
        Self {
            text,
            starts,
            encoding,
        }
    }

    /// The position of a byte; of one inside a character, the position of that character.
    pub(super) fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let before = &self.text[self.starts[line]..offset];
        let width = |letter| self.encoding.width(letter);
        Position {
            line: line as u32,
            character: before.chars().map(width).sum::<usize>() as u32,
        }
    }

    /// The byte at a position.
    pub(super) fn offset(&self, position: Position) -> usize {
        let Some(line) = self.line(position.line as usize) else {
            return self.text.len();
        };
        let start = self.starts[position.line as usize];
        let (mut column, mut offset) = (0, start);
        for letter in line.chars() {
            column += self.encoding.width(letter);
            if column > position.character as usize {
                break;
            }
            offset += letter.len_utf8();
        }
        offset
    }

    /// A line's text, without its end; none behind the last line.
    pub(super) fn line(&self, line: usize) -> Option<&'t str> {
        let start = *self.starts.get(line)?;
        let end = self.starts.get(line + 1).copied();
        let text = &self.text[start..end.unwrap_or(self.text.len())];
        Some(text.trim_end_matches(['\n', '\r']))
    }

    /// The range of these bytes.
    pub(super) fn range(&self, bytes: std::ops::Range<usize>) -> Range {
        Range {
            start: self.position(bytes.start),
            end: self.position(bytes.end.max(bytes.start)),
        }
    }

    /// The range of these bytes on their first line: what a client underlines.
    pub(super) fn first_line(&self, bytes: std::ops::Range<usize>) -> Range {
        let range = self.range(bytes);
        if range.end.line > range.start.line {
            Range {
                end: self.line_end(range.start.line),
                ..range
            }
        } else {
            range
        }
    }

    /// The position behind the last character of a line.
    pub(super) fn line_end(&self, line: u32) -> Position {
        let text = self.line(line as usize).unwrap_or_default();
        let width = |letter| self.encoding.width(letter);
        Position {
            line,
            character: text.chars().map(width).sum::<usize>() as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use lsp_types::{Position, PositionEncodingKind};
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{Encoding, Lines};

    const ENCODINGS: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

    /// Character by character.
    fn counted(text: &str, offset: usize, encoding: Encoding) -> Position {
        let mut position = Position::default();
        let mut letters = text[..offset].chars().peekable();
        while let Some(letter) = letters.next() {
            let is_half = letter == '\r'
                && (text[..offset].len() == offset)
                && letters
                    .peek()
                    .map_or(text[offset..].starts_with('\n'), |next| *next == '\n');
            if (letter == '\n' || letter == '\r') && !is_half {
                position = Position {
                    line: position.line + 1,
                    character: 0,
                };
            } else {
                position.character += encoding.width(letter) as u32;
            }
        }
        position
    }

    proptest! {
        #[test]
        fn positions_are_those_of_a_count(text in "[a\u{e9}\u{1f4a1}\r\n]{0,12}", at in 0..40_usize) {
            let offset = text.floor_char_boundary(at);
            for encoding in ENCODINGS {
                let lines = Lines::new(&text, encoding);
                prop_assert_eq!(lines.position(at), counted(&text, offset, encoding));
            }
        }

        #[test]
        fn an_offset_comes_back(text in "[a\u{e9}\u{1f4a1}\r\n]{0,12}", at in 0..40_usize) {
            let offset = text.floor_char_boundary(at);
            // Between CR and LF there is no position.
            let is_half = text[..offset].ends_with('\r') && text[offset..].starts_with('\n');
            for encoding in ENCODINGS {
                let lines = Lines::new(&text, encoding);
                let expected = offset - usize::from(is_half);
                prop_assert_eq!(lines.offset(lines.position(offset)), expected);
            }
        }
    }

    #[test]
    fn a_position_past_the_end_is_the_end() {
        let lines = Lines::new("one\r\ntwo", Encoding::Utf16);
        let at = |line, character| lines.offset(Position { line, character });
        assert_eq!([at(0, 99), at(1, 99), at(9, 0)], [3, 8, 8]);
    }

    #[test]
    fn the_first_known_encoding_is_taken() {
        let offered = ["utf-7", "utf-8", "utf-16"].map(|name| -> PositionEncodingKind {
            serde_json::from_value(name.into()).expect("a text")
        });
        assert_eq!(Encoding::negotiate(Some(&offered)), Encoding::Utf8);
        assert_eq!(Encoding::negotiate(None), Encoding::Utf16);
    }
}
