//! The key that an image's name becomes in `os_images`.

use std::fmt;

use capi::image::{ImageKey, is_valid_key};

/// Why a name cannot become a key (docs/sylva.md#image-keys).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRefusal {
    /// It is shorter than 3 characters.
    TooShort(usize),
    /// It is longer than 52 characters.
    TooLong(usize),
    /// It holds a character other than lower-case letters, digits, dashes and dots.
    Character(char),
    /// It starts or ends with a dash or a dot.
    Edge(char),
}

impl fmt::Display for NameRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort(length) => write!(f, "it has {length} characters, 3 are the least"),
            Self::TooLong(length) => write!(f, "it has {length} characters, 52 are the most"),
            Self::Character(c) => write!(f, "it holds {c:?}"),
            Self::Edge(c) => write!(f, "it starts or ends with {c:?}"),
        }
    }
}

/// The key of an image's name: dots become dashes, everything else stays. A key is its own key; two names may share one.
pub fn key_of(name: &str) -> Result<ImageKey, NameRefusal> {
    let key = name.replace('.', "-");
    if is_valid_key(&key) {
        return Ok(key.into());
    }
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    let edges = [name.chars().next(), name.chars().last()];
    let edge = edges.into_iter().flatten().find(|c| matches!(c, '-' | '.'));
    Err(match (name.chars().find(|c| !legal(*c)), edge) {
        (Some(c), _) => NameRefusal::Character(c),
        (None, Some(c)) => NameRefusal::Edge(c),
        (None, None) if name.len() < 3 => NameRefusal::TooShort(name.len()),
        (None, None) => NameRefusal::TooLong(name.len()),
    })
}

/// The registry that Sylva's chart puts before a name to make a key, `REGISTRY--NAME`, and the name (docs/sylva.md#the-catalog).
pub fn split_registry(key: &str) -> (Option<&str>, &str) {
    match key.split_once("--") {
        Some((registry, name)) => (Some(registry), name),
        None => (None, key),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::{NameRefusal, key_of};
    use capi::image::is_valid_key;

    #[test]
    fn dots_become_dashes() {
        let key = key_of("ubuntu-jammy-plain-rke2-1.26.9");
        assert_eq!(key.as_deref(), Ok("ubuntu-jammy-plain-rke2-1-26-9"));
    }

    #[test]
    fn each_bad_name_is_refused_for_its_reason() {
        let long = "valid-long-image-name-52chars-0123456789012345678901";
        assert!(key_of(long).is_ok());
        assert_eq!(key_of(&format!("{long}2")), Err(NameRefusal::TooLong(53)));
        assert_eq!(key_of("ab"), Err(NameRefusal::TooShort(2)));
        assert_eq!(key_of(""), Err(NameRefusal::TooShort(0)));
        assert_eq!(key_of("-ab"), Err(NameRefusal::Edge('-')));
        assert_eq!(key_of("abc."), Err(NameRefusal::Edge('.')));
        assert_eq!(
            key_of("rke2-v1.26.9+rke2r1"),
            Err(NameRefusal::Character('+'))
        );
        assert_eq!(key_of("Ubuntu"), Err(NameRefusal::Character('U')));
    }

    proptest! {
        #[test]
        fn a_key_is_valid_and_its_own_key(name in "[a-z0-9.A-Z_+-]{0,60}|[a-z0-9.-]{1,54}") {
            if let Ok(key) = key_of(&name) {
                prop_assert!(is_valid_key(&key));
                prop_assert_eq!(key_of(&key), Ok(key));
            } else {
                prop_assert!(!is_valid_key(&name));
            }
        }

        #[test]
        fn names_share_a_key_only_when_they_differ_in_dots_and_dashes(a in "[ab][ab.-]{1,3}[ab]", b in "[ab][ab.-]{1,3}[ab]") {
            let plain = |text: &str| text.replace('.', "-");
            prop_assert_eq!(key_of(&a) == key_of(&b), plain(&a) == plain(&b));
        }
    }
}
