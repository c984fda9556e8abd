//! What values name an image by: a reference, or the address of a file.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use url::Url;

use super::reference::{Reference, SCHEME};
use super::registry_name::RegistryName;

/// The reference of an artifact in its normal form, or another text, such as the address of a file, as it is written. Two
/// spellings of one reference are equal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(Arc<str>);

impl Address {
    /// The address that a text spells.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        let written = text.into();
        match is_oci(&written).then(|| Reference::parse(&written)) {
            Some(Ok(reference)) => {
                let normal = reference.to_string();
                Self(if normal == *written {
                    written
                } else {
                    normal.into()
                })
            }
            _ => Self(written),
        }
    }

    /// The start of addresses: of references, with a scheme or without; or, with that of the web, of files of a web server that no
    /// reference is beside. None where nothing could be below it: a policy that has it demands nothing.
    pub fn parse_prefix(text: &str) -> Option<Reference> {
        let (scheme, bare) = text.split_once("://").unwrap_or(("", text));
        let (host, path) = bare.split_once('/').unwrap_or((bare, ""));
        let is_of_web = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
        // What names no host, one image, or a pattern, would cover nothing.
        RegistryName::parse(host).filter(|_| !path.contains([':', '@', '*']))?;
        Reference::parse_prefix(bare).or_else(|| {
            let url = Url::parse(&format!("https://{bare}")).ok()?;
            place(&url).filter(|_| is_of_web)
        })
    }

    /// The text.
    pub fn text(&self) -> &Arc<str> {
        &self.0
    }

    /// Whether it is in one of these parts of registries. An artifact whose reference nobody can read is in any of them.
    pub fn is_below(&self, prefixes: &[Reference]) -> bool {
        let place = if is_oci(&self.0) {
            Reference::parse(&self.0).ok()
        } else {
            Url::parse(&self.0).ok().and_then(|url| place(&url))
        };
        match place {
            Some(place) => { prefixes.iter() }.any(|prefix| place.strip_prefix(prefix).is_some()),
            None => is_oci(&self.0),
        }
    }
}

impl Deref for Address {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a text names an artifact in a registry, in any letter case, as Metal3's webhook reads it.
pub fn is_oci(text: &str) -> bool {
    text.get(..SCHEME.len())
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case(SCHEME))
}

/// The host of a web address, and its path without escapes and without empty and dot segments.
fn place(url: &Url) -> Option<Reference> {
    let path = unescape(url.path());
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Some(Reference {
        registry: RegistryName::from_url(url)?,
        repository: String::from_utf8_lossy(&parts.join(&b'/')).into(),
        tag: None,
        digest: None,
    })
}

/// The bytes that a path of a web address means.
fn unescape(path: &str) -> Vec<u8> {
    let digit = |at: usize| char::from(*path.as_bytes().get(at)?).to_digit(16);
    let (mut bytes, mut at) = (Vec::with_capacity(path.len()), 0);
    while let Some(byte) = path.as_bytes().get(at) {
        let escaped = digit(at + 1).zip(digit(at + 2)).filter(|_| *byte == b'%');
        bytes.push(escaped.map_or(*byte, |(high, low)| (high * 16 + low) as u8));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn a_prefix_that_covers_nothing_is_none() {
        for text in [
            "*",
            "r.example./os",
            "https://r.example./os",
            "r.example/os:1",
            "r.example/os@sha256:0",
            "r.example/OS",
            "oci://r.example/OS",
            "r.example/*",
            "https://r.example/*",
            "",
        ] {
            assert_eq!(Address::parse_prefix(text), None, "{text}");
        }
    }

    #[test]
    fn a_policy_for_a_prefix_covers_every_spelling_of_what_is_below() {
        let prefixes = ["https://r.example:5000/os/", "http://f.example/OS"];
        let prefixes = prefixes.map(|text| Address::parse_prefix(text).expect(text));
        for (address, is_covered) in [
            ("oci://r.example:5000/os/noble:1", true),
            ("OCI://R.EXAMPLE:05000/os/noble:1", true),
            ("oci://r.example:5000/os@sha256:0", true),
            ("oci://r.example:5000/osx/noble:1", false),
            ("oci://r.example/os/noble:1", false),
            ("https://r.example:5000/os/noble.raw", true),
            ("https://u:p@R.example:05000//x/../%6fs/./noble.raw", true),
            ("https://r.example:5000/x%2f..%2fos/noble.raw", true),
            ("https://r.example.:5000/os/noble.raw", true),
            ("https://r.example:5000/osx/noble.raw", false),
            ("glance-image", false),
            ("oci://r.example:5000/OS", true),
            ("http://f.example/OS/a.raw", true),
            ("http://f.example:80/os/a.raw", false),
        ] {
            assert_eq!(
                Address::new(address).is_below(&prefixes),
                is_covered,
                "{address}"
            );
        }
    }
}
