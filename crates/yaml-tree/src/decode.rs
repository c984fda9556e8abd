//! Decodes bytes to text as the engines do: UTF-8, or UTF-16 with a byte order mark.

use crate::bytes;
use crate::engine::Engine;

/// Why bytes cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodingError {
    /// The bytes are not UTF-8.
    #[error("byte {offset} is not UTF-8")]
    NotUtf8 {
        /// The offset of the first invalid byte.
        offset: usize,
    },
    /// The bytes end within a UTF-16 unit, or contain an unpaired surrogate.
    #[error("the file starts as UTF-16 and is not UTF-16 throughout")]
    NotUtf16,
}

/// The text of a file, without its byte order mark.
///
/// Helm refuses bytes that are not UTF-8, and kubectl replaces each one with U+FFFD. Helm 4 appends a newline of one byte to
/// every file that has none, which breaks UTF-16 in little-endian order.
pub fn decode(bytes: &[u8], engine: Engine) -> Result<String, EncodingError> {
    let utf16 = match bytes {
        [0xFF, 0xFE, rest @ ..] => Some((rest, u16::from_le_bytes as fn([u8; 2]) -> u16)),
        [0xFE, 0xFF, rest @ ..] => Some((rest, u16::from_be_bytes as fn([u8; 2]) -> u16)),
        _ => None,
    };
    if let Some((rest, join)) = utf16 {
        let unended = engine == Engine::Helm4 && rest.last() != Some(&b'\n');
        if rest.len() % 2 != 0 || unended {
            return Err(EncodingError::NotUtf16);
        }
        let units = rest.chunks_exact(2).map(|pair| join([pair[0], pair[1]]));
        return char::decode_utf16(units)
            .collect::<Result<_, _>>()
            .map_err(|_| EncodingError::NotUtf16);
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) if engine == Engine::Kubectl => Ok(bytes::text(bytes)),
        Err(error) => Err(EncodingError::NotUtf8 {
            offset: error.valid_up_to(),
        }),
    }
}
