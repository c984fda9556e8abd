//! Bytes as text: base64 and base32 with their standard alphabets and padding (RFC 4648), and UTF-8 that need not be whole.
//!
//! Errors have the places that Go reports.

use std::sync::LazyLock;

use data_encoding::{Encoding, Specification};

/// An encoding of bytes as letters, of which `group` hold whole bytes.
pub struct Base {
    /// What Go calls it in errors.
    pub name: &'static str,
    encoding: Encoding,
    is_letter: fn(&u8) -> bool,
    group: usize,
}

/// `base64.StdEncoding`
pub static BASE64: LazyLock<Base> = LazyLock::new(|| Base {
    name: "base64",
    encoding: lenient(&data_encoding::BASE64),
    is_letter: |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'),
    group: 4,
});

/// `base32.StdEncoding`
pub static BASE32: LazyLock<Base> = LazyLock::new(|| Base {
    name: "base32",
    encoding: lenient(&data_encoding::BASE32),
    is_letter: |byte| matches!(byte, b'A'..=b'Z' | b'2'..=b'7'),
    group: 8,
});

/// The same encoding, whose last letter may have bits that are in no byte, as in Go.
fn lenient(strict: &Encoding) -> Encoding {
    let specification = Specification {
        check_trailing_bits: false,
        ..strict.specification()
    };
    specification
        .encoding()
        .expect("an encoding that differs from a valid one in what it checks")
}

impl Base {
    /// The letters for the bytes, padded with `=`.
    pub fn encode(&self, bytes: &[u8]) -> String {
        self.encoding.encode(bytes)
    }

    /// The bytes that letters encode; line ends do not count.
    ///
    /// # Errors
    /// The index of the letter that Go reports, where these are not letters of this alphabet, padded.
    pub fn decode(&self, text: &[u8]) -> Result<Vec<u8>, usize> {
        let is_break = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let bare: Vec<u8> = { text.iter().copied() }
            .filter(|byte| !is_break(byte))
            .collect();
        let end = self.end(&bare).map_err(|wrong| {
            // In base32, Go counts without the line ends.
            let mut places = (0..text.len()).filter(|at| self.is_base32() || !is_break(&text[*at]));
            places.nth(wrong.index).unwrap_or(text.len()) - wrong.back
        })?;
        let decoded = self.encoding.decode(&bare[..end]);
        decoded.map_err(|error| error.position)
    }

    fn is_base32(&self) -> bool {
        self.group == 8
    }

    /// Where letters and their padding end. After that, base32 may have a few bytes in Go.
    fn end(&self, bare: &[u8]) -> Result<usize, Wrong> {
        let letters = bare.iter().take_while(|byte| (self.is_letter)(byte));
        let letters = letters.count();
        let (held, after) = (letters % self.group, &bare[letters..]);
        let wrong = |index, back| Err(Wrong { index, back });
        if after.is_empty() && held == 0 {
            return Ok(letters);
        }
        if after.is_empty() {
            return wrong(letters, held);
        }
        let missing = self.group - held;
        let is_long = self.is_base32() && after.len() > self.group;
        if after[0] != b'=' || held < 2 || is_long {
            return wrong(letters, 0);
        }
        let Some(padding) = after.get(..missing) else {
            return wrong(bare.len(), 0);
        };
        if let Some(other) = padding.iter().position(|byte| *byte != b'=') {
            return wrong(letters + other, 1);
        }
        match held {
            3 | 6 if self.is_base32() => wrong(letters, 0),
            _ if !self.is_base32() && after.len() > missing => wrong(letters + missing, 0),
            _ => Ok(letters + missing),
        }
    }
}

/// The place that Go reports: `back` bytes before the byte with this index, which is counted without line ends.
struct Wrong {
    index: usize,
    back: usize,
}

/// Bytes as text: each byte outside a valid character becomes U+FFFD, as in Go.
pub fn text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{BASE32, BASE64};

    #[test]
    fn bytes_survive_the_way_there_and_back() {
        for length in 0..20 {
            let bytes: Vec<u8> = (0..length)
                .map(|index: u8| index.wrapping_mul(37))
                .collect();
            assert_eq!(
                BASE64.decode(BASE64.encode(&bytes).as_bytes()),
                Ok(bytes.clone())
            );
            assert_eq!(BASE32.decode(BASE32.encode(&bytes).as_bytes()), Ok(bytes));
        }
    }

    #[test]
    fn errors_are_placed_where_go_reports_them() {
        let at = |text: &str| BASE64.decode(text.as_bytes());
        assert_eq!(at("!!"), Err(0));
        assert_eq!(at("aGVsbG8"), Err(4));
        assert_eq!(at("aGVsbA=\n"), Err(8));
        assert_eq!(at("aGVsbA=x"), Err(6));
        assert_eq!(at("aGVsbG8=x"), Err(8));
        assert_eq!(at("aGVs\nbG8="), Ok(b"hello".to_vec()));
        let at = |text: &str| BASE32.decode(text.as_bytes());
        assert_eq!(at("NBUQ"), Err(0));
        assert_eq!(at("NBUQ==="), Err(7));
        assert_eq!(at("nbuq===="), Err(0));
    }
}
