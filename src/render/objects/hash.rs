//! Short hashes of content, for names that change with the content.

use data_encoding::HEXLOWER;
use oci_artifacts::sha256;

/// The number of hex digits of SHA-256 in a name: 40 bits, enough for the objects of one namespace.
const DIGITS: usize = 10;

/// The first hex digits of the SHA-256 of a text.
pub fn compute(text: &str) -> String {
    HEXLOWER.encode(&sha256(text.as_bytes())[..DIGITS / 2])
}

#[cfg(test)]
mod tests {
    use super::compute;

    #[test]
    fn the_hash_is_the_start_of_sha256() {
        assert_eq!(compute(""), "e3b0c44298");
        assert_eq!(compute("abc"), "ba7816bf8f");
    }
}
