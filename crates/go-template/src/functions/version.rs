//! Semantic versions, parsed as leniently as by the Masterminds library: `v1`, `1.2`, `1.2.3-rc.1+build`.

use std::fmt;

use semver::{BuildMetadata, Prerelease};

/// Parses a version, whose missing numbers are zero; none if the text is not a version.
pub(super) fn parse(text: &str) -> Option<semver::Version> {
    let bare = text.strip_prefix('v').unwrap_or(text);
    let end = bare.find(['-', '+']).unwrap_or(bare.len());
    let (numbers, suffixes) = bare.split_at(end);
    let numbers: Vec<u64> = numbers.split('.').map(number).collect::<Option<_>>()?;
    let [major, minor, patch] = match *numbers {
        [major] => [major, 0, 0],
        [major, minor] => [major, minor, 0],
        [major, minor, patch] => [major, minor, patch],
        _ => return None,
    };
    semver::Version::parse(&format!("{major}.{minor}.{patch}{suffixes}")).ok()
}

fn number(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

/// A version and the text that it was parsed from.
#[derive(Clone, Debug)]
pub(super) struct Version {
    pub(super) parts: semver::Version,
    pub(super) original: String,
}

impl Version {
    /// Parses a version; none if the text is not a version.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(Self {
            parts: parse(text)?,
            original: text.to_owned(),
        })
    }

    pub(super) fn next_major(&self) -> Self {
        self.next(self.parts.major.wrapping_add(1), 0, 0)
    }

    pub(super) fn next_minor(&self) -> Self {
        let Self { parts, .. } = self;
        self.next(parts.major, parts.minor.wrapping_add(1), 0)
    }

    /// The next patch version; for a pre-release, its release.
    pub(super) fn next_patch(&self) -> Self {
        let Self { parts, .. } = self;
        let step = u64::from(parts.pre.is_empty());
        self.next(parts.major, parts.minor, parts.patch.wrapping_add(step))
    }

    pub(super) fn with_prerelease(&self, text: &str) -> Option<Self> {
        let mut parts = self.parts.clone();
        parts.pre = Prerelease::new(text).ok()?;
        Some(self.with_parts(parts))
    }

    pub(super) fn with_metadata(&self, text: &str) -> Option<Self> {
        let mut parts = self.parts.clone();
        parts.build = BuildMetadata::new(text).ok()?;
        Some(self.with_parts(parts))
    }

    fn next(&self, major: u64, minor: u64, patch: u64) -> Self {
        self.with_parts(semver::Version::new(major, minor, patch))
    }

    fn with_parts(&self, parts: semver::Version) -> Self {
        let prefix = if self.original.starts_with('v') {
            "v"
        } else {
            ""
        };
        Self {
            original: format!("{prefix}{parts}"),
            parts,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.fmt(f)
    }
}
