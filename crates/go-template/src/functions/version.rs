//! Semantic versions, parsed as leniently as by the Masterminds library: `v1`, `1.2`, `1.2.3-rc.1+build`.

use std::cmp::Ordering;
use std::fmt;

/// A version. Missing parts are zero or empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) major: u64,
    pub(super) minor: u64,
    pub(super) patch: u64,
    pub(super) prerelease: String,
    pub(super) metadata: String,
    /// The text that the version was parsed from.
    pub(super) original: String,
}

impl Version {
    /// Parses a version; none if the text is not a version.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let bare = text.strip_prefix('v').unwrap_or(text);
        let (rest, metadata) = split_suffix(bare, '+')?;
        let (numbers, prerelease) = split_suffix(rest, '-')?;
        let mut segments = numbers.split('.').map(segment);
        let version = Self {
            major: segments.next()??,
            minor: segments.next().unwrap_or(Some(0))?,
            patch: segments.next().unwrap_or(Some(0))?,
            prerelease: prerelease.to_owned(),
            metadata: metadata.to_owned(),
            original: text.to_owned(),
        };
        let fits = segments.next().is_none() && is_prerelease(prerelease);
        fits.then_some(version)
    }

    /// The order of versions, which ignores metadata.
    pub(super) fn precedence(&self, other: &Self) -> Ordering {
        let numbers = |version: &Self| (version.major, version.minor, version.patch);
        numbers(self).cmp(&numbers(other)).then_with(|| {
            match (self.prerelease.is_empty(), other.prerelease.is_empty()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => prerelease_order(&self.prerelease, &other.prerelease),
            }
        })
    }

    pub(super) fn next_major(&self) -> Self {
        self.next(self.major.wrapping_add(1), 0, 0)
    }

    pub(super) fn next_minor(&self) -> Self {
        self.next(self.major, self.minor.wrapping_add(1), 0)
    }

    /// The next patch version; for a pre-release, its release.
    pub(super) fn next_patch(&self) -> Self {
        let step = u64::from(self.prerelease.is_empty());
        self.next(self.major, self.minor, self.patch.wrapping_add(step))
    }

    pub(super) fn with_prerelease(&self, text: &str) -> Option<Self> {
        let fits = text.is_empty() || (is_identifiers(text) && is_prerelease(text));
        fits.then(|| self.rewritten(|version| version.prerelease = text.to_owned()))
    }

    pub(super) fn with_metadata(&self, text: &str) -> Option<Self> {
        let fits = text.is_empty() || is_identifiers(text);
        fits.then(|| self.rewritten(|version| version.metadata = text.to_owned()))
    }

    fn next(&self, major: u64, minor: u64, patch: u64) -> Self {
        self.rewritten(|version| {
            (version.major, version.minor, version.patch) = (major, minor, patch);
            version.prerelease.clear();
            version.metadata.clear();
        })
    }

    fn rewritten(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut version = self.clone();
        change(&mut version);
        let prefix = if self.original.starts_with('v') {
            "v"
        } else {
            ""
        };
        version.original = format!("{prefix}{version}");
        version
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.prerelease.is_empty() {
            write!(f, "-{}", self.prerelease)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

/// Splits a text at the first `mark`. The suffix is empty if there is no mark; none if it is not made of identifiers.
fn split_suffix(text: &str, mark: char) -> Option<(&str, &str)> {
    match text.split_once(mark) {
        None => Some((text, "")),
        Some((before, suffix)) => is_identifiers(suffix).then_some((before, suffix)),
    }
}

/// Whether the text consists of identifiers of letters, digits and hyphens, separated by dots.
pub(super) fn is_identifiers(text: &str) -> bool {
    let part = |part: &str| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !part.is_empty() && part.bytes().all(fits)
    };
    text.split('.').all(part)
}

/// Whether the numeric identifiers have no leading zeros.
fn is_prerelease(text: &str) -> bool {
    text.split('.').all(|part| {
        let digits = part.bytes().all(|byte| byte.is_ascii_digit());
        !(digits && part.len() > 1 && part.starts_with('0'))
    })
}

fn segment(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

/// Compares identifier by identifier: numbers by value and before words, words by bytes; a missing identifier comes first.
pub(super) fn prerelease_order(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left.split('.'), right.split('.'));
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(left), Some(right)) => part_order(left, right),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

fn part_order(left: &str, right: &str) -> Ordering {
    match (segment(left), segment(right)) {
        _ if left == right => Ordering::Equal,
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => left.cmp(right),
    }
}
