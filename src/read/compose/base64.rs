//! Standard base64, in which Secrets hold their data (<https://www.rfc-editor.org/rfc/rfc4648#section-4>).

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes to text, with padding.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for index in 0..4 {
            if index <= group.len() {
                text.push(char::from(DIGITS[(bits >> (18 - 6 * index) & 63) as usize]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

/// As [`encode`], in lines of 70 digits if there is more than one, as kustomize writes it.
pub(super) fn wrapped(bytes: &[u8]) -> String {
    let text = encode(bytes);
    if text.len() < LINE {
        return text;
    }
    let mut lines = String::with_capacity(text.len() + text.len() / LINE + 1);
    for (index, digit) in text.chars().enumerate() {
        if index > 0 && index % LINE == 0 {
            lines.push('\n');
        }
        lines.push(digit);
    }
    lines.push('\n');
    lines
}

const LINE: usize = 70;

/// Text to bytes; line breaks do not count. None if it is no base64.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .bytes()
        .filter(|byte| !matches!(byte, b'\n' | b'\r'))
        .collect();
    if !digits.len().is_multiple_of(4) {
        return None;
    }
    let padding = digits
        .iter()
        .rev()
        .take_while(|byte| **byte == b'=')
        .count();
    if padding > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3);
    for group in digits[..digits.len() - padding].chunks(4) {
        let mut bits = 0;
        for digit in group {
            bits = bits << 6 | DIGITS.iter().position(|known| known == digit)?;
        }
        bits <<= 6 * (4 - group.len());
        let [_, a, b, c] = (bits as u32).to_be_bytes();
        bytes.extend(&[a, b, c][..group.len() - 1]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn the_examples_of_the_standard() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(plain.as_bytes()), coded);
            assert_eq!(decode(coded).as_deref(), Some(plain.as_bytes()));
        }
        assert_eq!(decode("Zg"), None);
        assert_eq!(decode("Z==="), None);
        assert_eq!(decode("Zm9*"), None);
    }
}
