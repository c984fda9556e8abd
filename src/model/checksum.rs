//! What a checksum field may hold: a hex digest of a known kind, or the URL of a file that holds one.

/// The kinds that Metal3's machine templates take. `auto` is for BareMetalHosts only.
pub const KINDS: [ChecksumKind; 3] = [
    ChecksumKind {
        name: "md5",
        digits: 32,
    },
    ChecksumKind {
        name: "sha256",
        digits: 64,
    },
    ChecksumKind {
        name: "sha512",
        digits: 128,
    },
];

/// A digest algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChecksumKind {
    /// `sha256`, as `checksumType` spells it.
    pub name: &'static str,
    /// How many hex digits a digest has.
    pub digits: usize,
}

impl ChecksumKind {
    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        KINDS.into_iter().find(|kind| kind.name == name)
    }
}

/// Whether a checksum is the URL of a file. (metal3-io/cluster-api-provider-metal3, `Image.Validate`.)
pub fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

/// Why a literal is no digest of that kind, or of any where none is named; none for a good one. An empty text and a URL
/// are not literals.
pub fn fault(text: &str, kind: Option<ChecksumKind>) -> Option<String> {
    let others = |c: &char| !matches!(c, '0'..='9' | 'a'..='f');
    if let Some((prefix, _)) = text.split_once(':') {
        return Some(format!("it starts with `{prefix}:`"));
    }
    if let Some(c) = text.chars().find(others) {
        return Some(match c {
            'A'..='F' => "it has upper-case digits".to_string(),
            _ => format!("{c:?} is not a hex digit"),
        });
    }
    let count = text.len();
    match kind {
        Some(kind) if kind.digits != count => Some(format!(
            "it has {count} digits, {} has {}",
            kind.name, kind.digits
        )),
        None if KINDS.iter().all(|kind| kind.digits != count) => Some(format!(
            "it has {count} digits, md5 has 32, sha256 64 and sha512 128"
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{ChecksumKind, fault, is_url};

    #[test]
    fn a_digest_of_its_kind_has_no_fault() {
        let sha256 = "0123456789abcdef".repeat(4);
        assert_eq!(fault(&sha256, ChecksumKind::from_name("sha256")), None);
        assert_eq!(fault(&sha256, None), None);
        assert_eq!(fault(&sha256[..32], ChecksumKind::from_name("md5")), None);
    }

    #[test]
    fn each_fault_is_named() {
        let sha256 = "0123456789abcdef".repeat(4);
        for (text, says) in [
            (sha256.to_uppercase(), "it has upper-case digits"),
            (format!("sha256:{sha256}"), "it starts with `sha256:`"),
            (sha256[1..].to_string(), "it has 63 digits, sha256 has 64"),
            (sha256.replace('f', "g"), "'g' is not a hex digit"),
        ] {
            assert_eq!(
                fault(&text, ChecksumKind::from_name("sha256")).as_deref(),
                Some(says)
            );
        }
        assert!(fault("abc", None).is_some_and(|fault| fault.contains("3 digits")));
    }

    #[test]
    fn only_http_makes_a_url() {
        assert!(is_url("https://a.b/c.sha256sum"));
        assert!(!is_url("oci://a.b/c"));
        assert_eq!(ChecksumKind::from_name("auto"), None);
    }
}
