//! Extension headers, which precede an entry: GNU long names and PAX records.
//!
//! Source: POSIX.1-2017, pax, "pax Extended Header"; GNU tar manual, "Basic Tar Format".

use super::refusal::Reason;

/// The extensions of the next entry.
#[derive(Default)]
pub(super) struct Extension {
    /// The path, which replaces the header's.
    pub(super) path: Option<Vec<u8>>,
    /// The link target, which replaces the header's.
    pub(super) link: Option<Vec<u8>>,
    /// The length, which must equal the header's.
    pub(super) size: Option<u64>,
    /// Whether the file is sparse.
    pub(super) is_sparse: bool,
    /// Whether a long name, a long link and PAX records were read. Readers disagree on which of two wins, so a second one is refused.
    has_name: bool,
    has_link: bool,
    has_records: bool,
}

const TWICE: Reason = Reason::Malformed("has two extension headers of one sort");
const MALFORMED: Reason = Reason::Malformed("has PAX records that are not well formed");

impl Extension {
    /// Whether there was any extension header.
    pub(super) fn is_some(&self) -> bool {
        self.has_name || self.has_link || self.has_records
    }

    /// A GNU long name. PAX records take precedence, in either order.
    pub(super) fn long_name(&mut self, bytes: Vec<u8>) -> Result<(), Reason> {
        if std::mem::replace(&mut self.has_name, true) {
            return Err(TWICE);
        }
        self.path.get_or_insert(cut_at_nul(bytes)?);
        Ok(())
    }

    /// A GNU long link.
    pub(super) fn long_link(&mut self, bytes: Vec<u8>) -> Result<(), Reason> {
        if std::mem::replace(&mut self.has_link, true) {
            return Err(TWICE);
        }
        self.link.get_or_insert(cut_at_nul(bytes)?);
        Ok(())
    }

    /// PAX records for the next entry.
    pub(super) fn records(&mut self, bytes: &[u8]) -> Result<(), Reason> {
        if std::mem::replace(&mut self.has_records, true) {
            return Err(TWICE);
        }
        for (key, value) in records(bytes)? {
            match key {
                b"path" => self.path = Some(value.to_vec()),
                b"linkpath" => self.link = Some(value.to_vec()),
                b"size" => {
                    let number = std::str::from_utf8(value).ok();
                    self.size = Some(number.and_then(|text| text.parse().ok()).ok_or(MALFORMED)?);
                }
                key if key.starts_with(b"GNU.sparse.") => self.is_sparse = true,
                _ => {}
            }
        }
        Ok(())
    }
}

/// Checks PAX records for all entries: they must not rename entries. `git archive` writes the commit in them.
pub(super) fn global(bytes: &[u8]) -> Result<(), Reason> {
    let names = |key: &[u8]| {
        matches!(key, b"path" | b"linkpath" | b"size") || key.starts_with(b"GNU.sparse.")
    };
    if records(bytes)?.iter().any(|(key, _)| names(key)) {
        Err(Reason::Malformed("renames all entries by a global header"))
    } else {
        Ok(())
    }
}

/// A key and its value.
type Record<'a> = (&'a [u8], &'a [u8]);

/// Parses `LENGTH KEY=VALUE\n`, where the length is that of the whole record.
fn records(mut bytes: &[u8]) -> Result<Vec<Record<'_>>, Reason> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let space = bytes.iter().take(20).position(|byte| *byte == b' ');
        let space = space.ok_or(MALFORMED)?;
        let length = std::str::from_utf8(&bytes[..space]).ok();
        let length: usize = length.and_then(|text| text.parse().ok()).ok_or(MALFORMED)?;
        if length <= space + 1 || length > bytes.len() {
            return Err(MALFORMED);
        }
        let (record, rest) = bytes.split_at(length);
        let record = record[space + 1..].strip_suffix(b"\n").ok_or(MALFORMED)?;
        let equals = record.iter().position(|byte| *byte == b'=');
        let (key, value) = record.split_at(equals.ok_or(MALFORMED)?);
        found.push((key, &value[1..]));
        bytes = rest;
    }
    Ok(found)
}

/// Whether a name ends at its first NUL: what is behind it, some readers read and others do not.
pub(super) fn is_whole(field: &[u8]) -> bool {
    let end = field.iter().position(|byte| *byte == 0);
    field[end.unwrap_or(field.len())..]
        .iter()
        .all(|byte| *byte == 0)
}

/// The bytes before the first NUL, behind which there may be only more of them.
fn cut_at_nul(mut bytes: Vec<u8>) -> Result<Vec<u8>, Reason> {
    if !is_whole(&bytes) {
        return Err(Reason::UnreadableName);
    }
    let end = bytes.iter().position(|byte| *byte == 0);
    bytes.truncate(end.unwrap_or(bytes.len()));
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{Extension, global};

    #[test]
    fn pax_records_take_precedence_over_a_long_name_in_either_order() {
        let mut one = Extension::default();
        one.records(b"12 path=abc\n").expect("sound");
        one.long_name(b"long\0".to_vec()).expect("sound");
        let mut other = Extension::default();
        other.long_name(b"long\0".to_vec()).expect("sound");
        other.records(b"12 path=abc\n").expect("sound");
        assert_eq!(one.path.as_deref(), Some(&b"abc"[..]));
        assert_eq!(other.path, one.path);
    }

    #[test]
    fn malformed_records_are_refused() {
        for text in [
            "x",
            "5",
            "5 a=b",
            "999 a=b\n",
            "0 a=b\n",
            "6 a=b\nx",
            "5 ab\n",
            "9 size=x\n",
            "-6 a=b\n",
        ] {
            let mut extension = Extension::default();
            assert!(extension.records(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_global_header_may_contain_a_comment_but_no_name() {
        assert!(global(b"14 comment=ab\n").is_ok());
        assert!(global(b"12 path=abc\n").is_err());
    }

    #[test]
    fn pax_records_take_precedence_over_a_long_link_that_is_there_once() {
        let mut one = Extension::default();
        one.long_link(b"long\0".to_vec()).expect("sound");
        assert_eq!(one.link.as_deref(), Some(&b"long"[..]));
        one.records(b"16 linkpath=abc\n").expect("sound");
        assert_eq!(one.link.as_deref(), Some(&b"abc"[..]));
        assert!(one.long_link(b"again\0".to_vec()).is_err());
    }
}
