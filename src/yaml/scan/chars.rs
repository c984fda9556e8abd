//! The character classes of YAML 1.1, asked of a position in a text. Past the end everything reads as a zero byte.

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

/// A text's bytes, readable past their end.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'t>(pub(super) &'t [u8]);

impl Bytes<'_> {
    /// The byte at a position; zero past the end (a zero byte within the text was refused before).
    pub(super) fn at(self, index: usize) -> u8 {
        self.0.get(index).copied().unwrap_or(0)
    }

    /// Whether the text ends here.
    pub(super) fn is_end(self, index: usize) -> bool {
        index >= self.0.len()
    }

    /// A space or a tab.
    pub(super) fn is_blank(self, index: usize) -> bool {
        matches!(self.at(index), b' ' | b'\t')
    }

    /// The length in bytes of the line break here; zero where there is none.
    /// YAML 1.1 breaks lines at NEL, LS and PS too (<https://yaml.org/spec/1.1/#b-char>).
    pub(super) fn break_width(self, index: usize) -> usize {
        match self.at(index) {
            b'\n' => 1,
            b'\r' if self.at(index + 1) == b'\n' => 2,
            b'\r' => 1,
            0xC2 if self.at(index + 1) == 0x85 => 2,
            0xE2 if self.at(index + 1) == 0x80 && matches!(self.at(index + 2), 0xA8 | 0xA9) => 3,
            _ => 0,
        }
    }

    /// A line break.
    pub(super) fn is_break(self, index: usize) -> bool {
        self.break_width(index) > 0
    }

    /// How many bytes from here on surely start no line break.
    pub(super) fn before_break(self, index: usize) -> usize {
        let rest = self.0.get(index..).unwrap_or_default();
        rest.iter()
            .position(|byte| matches!(byte, b'\n' | b'\r' | 0xC2 | 0xE2))
            .unwrap_or(rest.len())
    }

    /// How many bytes from here on surely end no plain scalar.
    pub(super) fn before_plain_stop(self, index: usize) -> usize {
        let rest = self.0.get(index..).unwrap_or_default();
        rest.iter()
            .position(|byte| PLAIN_STOP[usize::from(*byte)])
            .unwrap_or(rest.len())
    }

    /// A line break or the end.
    pub(super) fn is_break_or_end(self, index: usize) -> bool {
        self.is_end(index) || self.is_break(index)
    }

    /// White space of any kind, or the end.
    pub(super) fn is_gap(self, index: usize) -> bool {
        self.is_blank(index) || self.is_break_or_end(index)
    }

    /// What names of anchors and tag handles are made of.
    pub(super) fn is_word(self, index: usize) -> bool {
        let byte = self.at(index);
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
    }

    /// Whether `---` or `...` and then white space stands here; the caller has seen that a line starts here.
    pub(super) fn document_marker(self, index: usize) -> Option<u8> {
        let byte = self.at(index);
        let marker = matches!(byte, b'-' | b'.')
            && self.at(index + 1) == byte
            && self.at(index + 2) == byte
            && self.is_gap(index + 3);
        marker.then_some(byte)
    }
}
