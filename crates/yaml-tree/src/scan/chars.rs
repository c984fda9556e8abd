//! The character classes of YAML 1.1, by position in a text. All bytes after the end of the text are zero.

/// The bytes that may end a plain scalar.
static PLAIN_STOP: [bool; 256] = {
    let mut table = [false; 256];
    let stops = b"\0 \t\n\r:,?[]{}\xC2\xE2";
    let mut index = 0;
    while index < stops.len() {
        table[stops[index] as usize] = true;
        index += 1;
    }
    table
};

/// The bytes of a text, which can be read beyond the end.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'t>(pub(super) &'t [u8]);

impl Bytes<'_> {
    /// The byte at a position; zero after the end. The text itself has no zero bytes, which were refused before.
    #[inline]
    pub(super) fn get(self, index: usize) -> u8 {
        self.0.get(index).copied().unwrap_or(0)
    }

    /// Whether the text ends at this position.
    #[inline]
    pub(super) fn is_end(self, index: usize) -> bool {
        index >= self.0.len()
    }

    /// Whether there is a space or a tab.
    #[inline]
    pub(super) fn is_blank(self, index: usize) -> bool {
        matches!(self.get(index), b' ' | b'\t')
    }

    /// The length of the line break at this position in bytes; zero if there is none. NEL, LS and PS are line breaks in YAML
    /// 1.1, too (<https://yaml.org/spec/1.1/#b-char>).
    #[inline]
    pub(super) fn break_width(self, index: usize) -> usize {
        match self.get(index) {
            b'\n' => 1,
            b'\r' if self.get(index + 1) == b'\n' => 2,
            b'\r' => 1,
            0xC2 if self.get(index + 1) == 0x85 => 2,
            0xE2 if self.get(index + 1) == 0x80 && matches!(self.get(index + 2), 0xA8 | 0xA9) => 3,
            _ => 0,
        }
    }

    /// Whether there is a line break.
    #[inline]
    pub(super) fn is_break(self, index: usize) -> bool {
        self.break_width(index) > 0
    }

    /// The number of bytes from this position on that certainly do not start a line break.
    pub(super) fn count_to_break(self, index: usize) -> usize {
        let rest = self.0.get(index..).unwrap_or_default();
        rest.iter()
            .position(|byte| matches!(byte, b'\n' | b'\r' | 0xC2 | 0xE2))
            .unwrap_or(rest.len())
    }

    /// The number of bytes from this position on that certainly do not end a plain scalar.
    #[inline]
    pub(super) fn count_to_plain_stop(self, index: usize) -> usize {
        let rest = self.0.get(index..).unwrap_or_default();
        rest.iter()
            .position(|byte| PLAIN_STOP[usize::from(*byte)])
            .unwrap_or(rest.len())
    }

    /// Whether there is a line break or the end of the text.
    #[inline]
    pub(super) fn is_break_or_end(self, index: usize) -> bool {
        self.is_end(index) || self.is_break(index)
    }

    /// Whether there is white space of any kind, or the end of the text.
    #[inline]
    pub(super) fn is_gap(self, index: usize) -> bool {
        self.is_blank(index) || self.is_break_or_end(index)
    }

    /// Whether the byte may be part of an anchor or tag handle.
    pub(super) fn is_word(self, index: usize) -> bool {
        let byte = self.get(index);
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
    }

    /// The byte of a document marker (`---` or `...` followed by white space). The position must be the start of a line.
    pub(super) fn document_marker(self, index: usize) -> Option<u8> {
        let byte = self.get(index);
        let marker = matches!(byte, b'-' | b'.')
            && self.get(index + 1) == byte
            && self.get(index + 2) == byte
            && self.is_gap(index + 3);
        marker.then_some(byte)
    }
}
