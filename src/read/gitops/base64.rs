//! Base64 in the form that kustomize writes into Secrets.

use yaml_tree::bytes::BASE64;

/// Encodes bytes, in lines of 70 characters if there is more than one.
pub(super) fn encode(bytes: &[u8]) -> String {
    let text = BASE64.encode(bytes);
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

#[cfg(test)]
mod tests {
    use super::encode;

    #[test]
    fn examples_of_the_standard_are_encoded() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(plain.as_bytes()), coded);
        }
    }
}
