//! What an image's name says of it, and the key that a name becomes in `os_images`.
//!
//! A name is the weakest source of facts: one without a patch level narrows a choice and proves nothing, and neither file
//! name nor checksum is ever derived from it (S31).

mod schemes;

use std::fmt;

use super::image::{ImageKey, fact, is_valid_key};
use super::version::Version;
use schemes::Groups;
pub use schemes::{Example, SCHEMES, Scheme};

/// What a name says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameFacts {
    /// The naming scheme that it follows.
    pub scheme: &'static str,
    /// `ubuntu`, `opensuse`, in lower case.
    pub os: Option<String>,
    /// The operating system's release.
    pub release: Option<Release>,
    /// `plain` or `hardened`.
    pub flavor: Option<String>,
    /// `rke2`, `kubeadm`, `ck8s`.
    pub k8s_flavor: Option<String>,
    /// The Kubernetes version; partial where the name gives only the minor.
    pub k8s_version: Option<Version>,
    /// The builder's release, where a file name carries it.
    pub builder_version: Option<String>,
    /// `raw`, `qcow2` …, where the extension says so. `.img` says nothing.
    pub image_format: Option<String>,
    /// `gz`, `xz` …, where the extension says so.
    pub compression: Option<String>,
}

/// A release under both of its names: annotations say `noble`, people write `24.04`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// `noble`; none for systems that only number their releases.
    pub codename: Option<String>,
    /// `24.04`, `15.6`; none for a codename that is not known here.
    pub version: Option<String>,
}

impl NameFacts {
    /// Reads an image's name or file name by the first scheme that fits the whole of it.
    pub fn parse(name: &str) -> Option<Self> {
        schemes::matching(name).map(|(scheme, groups)| Self::from_groups(scheme.id, &groups))
    }

    /// The facts by the names that annotations use (S15). `k8s-version` has no build: names carry none.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let release = self.release.as_ref().and_then(Release::label);
        let hardened = self.flavor.as_deref().map(|flavor| flavor == "hardened");
        [
            (fact::OS, self.os.clone()),
            (fact::OS_RELEASE, release.map(str::to_owned)),
            (fact::FLAVOR, self.flavor.clone()),
            (fact::HARDENED, hardened.map(|flag| flag.to_string())),
            (fact::K8S_FLAVOR, self.k8s_flavor.clone()),
            (
                fact::K8S_VERSION,
                self.k8s_version.as_ref().map(Version::to_string),
            ),
            (fact::COMMIT_TAG, self.builder_version.clone()),
            (fact::IMAGE_FORMAT, self.image_format.clone()),
            (fact::COMPRESSION, self.compression.clone()),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }

    fn from_groups(scheme: &'static str, groups: &Groups<'_>) -> Self {
        let group = |name: &str| {
            let found = groups.iter().find(|(group, _)| *group == name);
            found.map(|(_, text)| *text)
        };
        let os = group("os").map(str::to_ascii_lowercase);
        let compression = group("suffixes").and_then(|suffixes| {
            let known = |suffix: &&str| matches!(*suffix, "gz" | "bz2" | "xz" | "zst");
            suffixes.split('.').find(known)
        });
        let format = match group("format") {
            Some("img" | "tar") => None,
            None if group("raw").is_some() => Some("raw"),
            format => format,
        };
        Self {
            scheme,
            release: group("release").map(|text| Release::read(os.as_deref(), text)),
            os,
            flavor: group("flavor")
                .or_else(|| group("flavor_only"))
                .map(str::to_owned),
            k8s_flavor: group("k8s_flavor").map(str::to_owned),
            k8s_version: group("k8s").and_then(Version::parse),
            builder_version: group("builder").map(str::to_owned),
            image_format: format.map(str::to_owned),
            compression: compression.map(str::to_owned),
        }
    }
}

/// Codenames by system. Ubuntu's are what Sylva's annotations carry.
const CODENAMES: [(&str, &str, &str); 9] = [
    ("ubuntu", "bionic", "18.04"),
    ("ubuntu", "focal", "20.04"),
    ("ubuntu", "jammy", "22.04"),
    ("ubuntu", "noble", "24.04"),
    ("ubuntu", "resolute", "26.04"),
    ("debian", "buster", "10"),
    ("debian", "bullseye", "11"),
    ("debian", "bookworm", "12"),
    ("debian", "trixie", "13"),
];

impl Release {
    /// Reads `noble`, `24.04`, `2404`, `15-6`. Without the system, a number gets no codename.
    pub fn read(os: Option<&str>, text: &str) -> Self {
        let text = text.to_ascii_lowercase();
        if !text.starts_with(|c: char| c.is_ascii_digit()) {
            let known = CODENAMES.iter().find(|(_, codename, _)| *codename == text);
            return Self {
                version: known.map(|(_, _, version)| (*version).to_owned()),
                codename: Some(text),
            };
        }
        let all_digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let version = match all_digits && text.len() == 4 {
            true => format!("{}.{}", &text[..2], &text[2..]),
            false => text.replace('-', "."),
        };
        let known = CODENAMES
            .iter()
            .find(|(system, _, number)| Some(*system) == os && *number == version);
        Self {
            codename: known.map(|(_, codename, _)| (*codename).to_owned()),
            version: Some(version),
        }
    }

    /// What `os-release` says in annotations: the codename where there is one, else the number.
    pub fn label(&self) -> Option<&str> {
        self.codename.as_deref().or(self.version.as_deref())
    }

    /// Whether both mean one release: `24.04` and `noble`.
    pub fn is_same(&self, other: &Self) -> bool {
        let same = |left: &Option<String>, right: &Option<String>| left.is_some() && left == right;
        same(&self.codename, &other.codename) || same(&self.version, &other.version)
    }
}

/// Why a name cannot become a key (S1).
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

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::{NameFacts, NameRefusal, Release, key_of};
    use crate::model::image::is_valid_key;

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

    #[test]
    fn a_release_is_known_by_codename_and_number() {
        let ubuntu = |text| Release::read(Some("ubuntu"), text);
        assert!(ubuntu("24.04").is_same(&ubuntu("noble")));
        assert!(ubuntu("2204").is_same(&ubuntu("jammy")));
        assert!(!ubuntu("jammy").is_same(&ubuntu("noble")));
        assert_eq!(
            Release::read(Some("opensuse"), "15-5").label(),
            Some("15.5")
        );
        assert_eq!(
            Release::read(Some("opensuse"), "tumbleweed").label(),
            Some("tumbleweed")
        );
    }

    #[test]
    fn a_name_of_no_scheme_says_nothing() {
        for name in [
            "",
            "my-image",
            "ubuntu-noble-plain",
            "ubuntu-jammy-plain-rke2-1-26-9-x",
        ] {
            assert_eq!(NameFacts::parse(name), None, "{name}");
        }
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

        #[test]
        fn no_name_breaks_the_grammar(name in ".{0,60}") {
            let _ = NameFacts::parse(&name).map(|facts| facts.facts());
        }
    }
}
