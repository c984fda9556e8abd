//! Bytes as text: base64 and base32 with their standard alphabets and padding (RFC 4648), and UTF-8 that need not be whole.
//!
//! Errors have the places that Go reports.

/// An alphabet of 2^`bits` letters; `group` of them hold whole bytes.
pub struct Base {
    /// What Go calls it in errors.
    pub name: &'static str,
    alphabet: &'static [u8],
    bits: u32,
    group: usize,
}

/// `base64.StdEncoding`
pub const BASE64: Base = Base {
    name: "base64",
    alphabet: b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    bits: 6,
    group: 4,
};

/// `base32.StdEncoding`
pub const BASE32: Base = Base {
    name: "base32",
    alphabet: b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    bits: 5,
    group: 8,
};

impl Base {
    /// The letters for the bytes, padded with `=`.
    pub fn encode(&self, bytes: &[u8]) -> String {
        let mut out = String::with_capacity(bytes.len() * 2);
        let (mut held, mut count) = (0u32, 0);
        let letter = |value: u32| char::from(self.alphabet[value as usize % self.alphabet.len()]);
        for byte in bytes {
            held = (held << 8) | u32::from(*byte);
            count += 8;
            while count >= self.bits {
                count -= self.bits;
                out.push(letter(held >> count));
            }
            held &= (1 << count) - 1;
        }
        if count > 0 {
            out.push(letter(held << (self.bits - count)));
        }
        while !out.len().is_multiple_of(self.group) {
            out.push('=');
        }
        out
    }

    /// The bytes that letters encode; line ends do not count.
    ///
    /// # Errors
    /// The index of the letter that Go reports, where these are not letters of this alphabet, padded.
    pub fn decode(&self, text: &[u8]) -> Result<Vec<u8>, usize> {
        let mut bare = text.to_vec();
        if self.bits == 5 {
            // Here Go counts without the line ends.
            bare.retain(|byte| !matches!(byte, b'\r' | b'\n'));
        }
        let mut letters = Letters { text: &bare, at: 0 };
        let mut out = Vec::with_capacity(text.len());
        while !self.decode_group(&mut letters, &mut out)? {}
        Ok(out)
    }

    /// Decodes one group; says whether it was the last one.
    fn decode_group(&self, letters: &mut Letters<'_>, out: &mut Vec<u8>) -> Result<bool, usize> {
        let mut held = 0u64;
        for index in 0..self.group {
            let Some(byte) = letters.next() else {
                return if index == 0 {
                    Ok(true)
                } else {
                    Err(letters.at - index)
                };
            };
            if byte == b'=' {
                self.check_padding(letters, index)?;
                self.release(held, index, out);
                return Ok(true);
            }
            let Some(value) = self.alphabet.iter().position(|letter| *letter == byte) else {
                return Err(letters.at - 1);
            };
            held = (held << self.bits) | value as u64;
        }
        self.release(held, self.group, out);
        Ok(false)
    }

    /// After the first `=`, which is at `index` of its group: only the missing ones, then the end.
    fn check_padding(&self, letters: &mut Letters<'_>, index: usize) -> Result<(), usize> {
        let first = letters.at - 1;
        if self.bits == 5 {
            return check_padding_32(&letters.text[letters.at..], first, index);
        }
        if index < 2 {
            return Err(first);
        }
        if index == 2 {
            match letters.next() {
                Some(b'=') => {}
                Some(_) => return Err(letters.at - 2),
                None => return Err(letters.at),
            }
        }
        match letters.next() {
            None => Ok(()),
            Some(_) => Err(letters.at - 1),
        }
    }

    /// The whole bytes in the bits of that number of letters.
    fn release(&self, held: u64, letters: usize, out: &mut Vec<u8>) {
        let bits = letters as u32 * self.bits;
        for byte in 0..bits / 8 {
            out.push((held >> (bits - 8 * (byte + 1))) as u8);
        }
    }
}

/// Base32's check looks at the rest of the group only, as Go's does; `first` is the place of the first `=`.
fn check_padding_32(rest: &[u8], first: usize, index: usize) -> Result<(), usize> {
    if index < 2 || rest.len() >= 8 {
        return Err(first);
    }
    let missing = 7 - index;
    let Some(padding) = rest.get(..missing) else {
        return Err(first + 1 + rest.len());
    };
    match padding.iter().position(|byte| *byte != b'=') {
        Some(wrong) => Err(first + wrong),
        None if matches!(index, 3 | 6) => Err(first),
        None => Ok(()),
    }
}

/// The input without its line ends.
struct Letters<'t> {
    text: &'t [u8],
    at: usize,
}

impl Letters<'_> {
    fn next(&mut self) -> Option<u8> {
        while let Some(byte) = self.text.get(self.at) {
            self.at += 1;
            if !matches!(byte, b'\r' | b'\n') {
                return Some(*byte);
            }
        }
        None
    }
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
