//! Kubernetes versions in every spelling that values, annotations and image names use, and which of them are the same.

use std::cmp::Ordering;
use std::fmt;

/// A Kubernetes version. `v1.31.8+rke2r1`, `1.31.8-rke2r1` and `1-31-8-rke2r1` are one version; the order is by age.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    /// `1` in all that exist.
    pub major: u32,
    /// `31` of `1.31.8`.
    pub minor: u32,
    /// `8` of `1.31.8`; none where only the minor is known. Such a version may narrow a choice, never prove it.
    pub patch: Option<u32>,
    /// `rc.3`, spelled with dots (`rc3` is the same).
    pub prerelease: Option<String>,
    /// `rke2r1`: the distribution's own build.
    pub build: Option<String>,
}

impl Version {
    /// Reads a version: an optional `v`, numbers joined by dots or by dashes, an optional prerelease behind `-`, an optional
    /// build behind `+` (`%2B` in URLs, `---` in names of objects); a distribution's build may follow `-` (docs/sylva.md#what-is-added-to-a-selector), and
    /// that of EKS Distro is `-eks-1-28-9` in objects and `-eks-d-1-28-9` in names.
    pub fn parse(text: &str) -> Option<Self> {
        let plain;
        let text = match text.trim() {
            spelled if ["%", "---", "-eks-"].iter().any(|it| spelled.contains(it)) => {
                plain = spelled
                    .replace("%2B", "+")
                    .replace("%2b", "+")
                    .replace("---", "+")
                    .replace("-eks-d-", "+eks-")
                    .replace("-eks-", "+eks-");
                &plain
            }
            text => text,
        };
        let rest = text.strip_prefix('v').unwrap_or(text);
        let (major, rest) = number(rest)?;
        let separator = rest.chars().next().filter(|c| matches!(c, '.' | '-'))?;
        let (minor, rest) = number(&rest[1..])?;
        let (patch, rest) = match rest.strip_prefix(separator).map(number) {
            Some(Some((patch, rest))) => (Some(patch), rest),
            Some(None) if separator == '.' => return None,
            _ => (None, rest),
        };
        let (prerelease, build) = suffixes(rest)?;
        Some(Self {
            major,
            minor,
            patch,
            prerelease: prerelease.map(add_dots),
            build: build.map(str::to_owned),
        })
    }

    /// The order by age of the Kubernetes releases, whatever their builds.
    pub fn cmp_release(&self, other: &Self) -> Ordering {
        let numbers = |version: &Self| (version.major, version.minor, version.patch);
        let prereleases = || match (&self.prerelease, &other.prerelease) {
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (left, right) => natural(left.as_deref(), right.as_deref()),
        };
        numbers(self).cmp(&numbers(other)).then_with(prereleases)
    }

    /// The build without its number: `rke2r` of `rke2r1`, `k3s` of `k3s2`.
    pub fn build_kind(&self) -> Option<&str> {
        let build = self.build.as_deref()?;
        Some(build.trim_end_matches(|letter: char| letter.is_ascii_digit()))
    }

    /// Whether only major and minor are known.
    pub fn is_partial(&self) -> bool {
        self.patch.is_none()
    }

    /// Whether everything that this version says is true of the other: a missing patch level, and a missing build, mean
    /// any. It narrows a selection; it proves nothing.
    pub fn admits(&self, other: &Self) -> bool {
        let same_minor = (self.major, self.minor) == (other.major, other.minor);
        let same_patch = self.patch.is_none()
            || (self.patch, &self.prerelease) == (other.patch, &other.prerelease);
        same_minor && same_patch && (self.build.is_none() || self.build == other.build)
    }

    /// How many minors this version is ahead of the other, negative when behind; none where the majors differ.
    pub fn minors_ahead_of(&self, other: &Self) -> Option<i64> {
        (self.major == other.major).then(|| i64::from(self.minor) - i64::from(other.minor))
    }

    /// The minors that lie between the other, older version and this one, as `1.31`.
    pub fn minors_passed_from(&self, other: &Self) -> Vec<String> {
        const MOST: usize = 100;
        let between = match self.minors_ahead_of(other) {
            Some(ahead) if ahead > 1 => other.minor + 1..self.minor,
            _ => 0..0,
        };
        let named = between.map(|minor| format!("{}.{minor}", self.major));
        named.take(MOST).collect()
    }
}

/// `1.31.8-rc.3+rke2r1`, without a leading `v`.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        if let Some(patch) = self.patch {
            write!(f, ".{patch}")?;
        }
        if let Some(prerelease) = &self.prerelease {
            write!(f, "-{prerelease}")?;
        }
        if let Some(build) = &self.build {
            write!(f, "+{build}")?;
        }
        Ok(())
    }
}

/// By age: a prerelease is older than its release, `rke2r1` older than `rke2r2`; what is not known comes first.
impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.cmp_release(other)
            .then_with(|| natural(self.build.as_deref(), other.build.as_deref()))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The `k8s-flavor` of the images that a bootstrap provider boots; none for a provider that Sylva does not know
/// (docs/sylva.md#what-is-added-to-a-selector).
pub fn flavor_of(bootstrap_provider: &str) -> Option<&'static str> {
    let mut all = BOOTSTRAP_PROVIDERS.iter();
    let found = all.find(|(provider, _)| *provider == bootstrap_provider);
    found.map(|(_, flavor)| *flavor)
}

/// Sylva's bootstrap providers, each with the flavor that it sets up.
pub const BOOTSTRAP_PROVIDERS: [(&str, &str); 4] = [
    ("cabpk", "kubeadm"),
    ("cabpr", "rke2"),
    ("cabpck", "ck8s"),
    ("cabpoa", "openshift"),
];

/// The distribution whose provider downloads it when a machine boots, whatever the image holds.
pub const K0S: &str = "k0s";

/// The Kubernetes distribution that a bootstrap provider sets up: Sylva's flavors, and K3s, k0s and Talos, which are in no Sylva
/// release.
pub fn distribution_of(bootstrap_provider: &str) -> Option<&'static str> {
    match bootstrap_provider {
        "cabpk3s" | "cabp3" | "k3s" => Some("k3s"),
        "k0smotron" => Some(K0S),
        "talos" => Some("talos"),
        other => flavor_of(other),
    }
}

fn number(text: &str) -> Option<(u32, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// What follows the numbers, as prerelease and build.
fn suffixes(rest: &str) -> Option<(Option<&str>, Option<&str>)> {
    let (before_plus, build) = match rest.split_once('+') {
        Some((before, build)) => (before, Some(build)),
        None => (rest, None),
    };
    let (prerelease, build) = match before_plus.rfind('-') {
        Some(dash) if build.is_none() && is_distribution_build(&before_plus[dash + 1..]) => {
            (&before_plus[..dash], Some(&before_plus[dash + 1..]))
        }
        _ => (before_plus, build),
    };
    let prerelease = match prerelease.strip_prefix('-') {
        Some(text) if text.starts_with(|c: char| c.is_ascii_alphabetic()) => Some(text),
        None if prerelease.is_empty() => None,
        _ => return None,
    };
    let is_word = |text: &str| {
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
        !text.is_empty() && text.chars().all(legal)
    };
    (prerelease.is_none_or(is_word) && build.is_none_or(is_word)).then_some((prerelease, build))
}

/// `rke2r1`, `k3s1`, `k0s.0`: the builds that follow a dash as often as a plus
/// (docs/sylva.md#what-is-added-to-a-selector).
fn is_distribution_build(text: &str) -> bool {
    ["rke2r", "k3s", "k0s."]
        .iter()
        .filter_map(|distribution| text.strip_prefix(distribution))
        .any(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `rc3`, `rc-3` and `rc_3` as `rc.3`.
pub(super) fn add_dots(prerelease: &str) -> String {
    let mut spelled = String::with_capacity(prerelease.len() + 1);
    for c in prerelease.chars() {
        let c = if matches!(c, '-' | '_') { '.' } else { c };
        if c.is_ascii_digit() && spelled.ends_with(|last: char| last.is_ascii_alphabetic()) {
            spelled.push('.');
        }
        spelled.push(c);
    }
    spelled
}

/// Numbers inside the text by value, the rest by bytes: `rke2r2` before `rke2r10`. Nothing comes before anything.
fn natural(left: Option<&str>, right: Option<&str>) -> Ordering {
    let (Some(mut left), Some(mut right)) = (left, right) else {
        return left.cmp(&right);
    };
    let whole = (left, right);
    while !left.is_empty() && !right.is_empty() {
        let (a, left_rest) = chunk(left);
        let (b, right_rest) = chunk(right);
        let order = match (magnitude(a), magnitude(b)) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => a.cmp(b),
        };
        if order.is_ne() {
            return order;
        }
        (left, right) = (left_rest, right_rest);
    }
    // Equal by value yet written otherwise (`r01`): the text decides, so that the order agrees with equality.
    left.len()
        .cmp(&right.len())
        .then_with(|| whole.0.cmp(whole.1))
}

/// A sort key for numbers of any length: the number of digits, then the digits. `None` if the text is not a number.
fn magnitude(chunk: &str) -> Option<(usize, &str)> {
    let digits = chunk.starts_with(|c: char| c.is_ascii_digit());
    let significant = chunk.trim_start_matches('0');
    digits.then_some((significant.len(), significant))
}

/// The leading run of digits, or of anything else.
fn chunk(text: &str) -> (&str, &str) {
    let digits = text.starts_with(|c: char| c.is_ascii_digit());
    let end = text
        .find(|c: char| c.is_ascii_digit() != digits)
        .unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{Version, flavor_of};
    use crate::testing::seen::property_of_each;

    fn version(text: &str) -> Version {
        Version::parse(text).unwrap_or_else(|| panic!("`{text}` is a version"))
    }

    #[test]
    fn every_spelling_of_a_version_is_that_version() {
        for text in [
            "v1.31.8+rke2r1",
            "1.31.8+rke2r1",
            "1.31.8-rke2r1",
            "1-31-8-rke2r1",
            "v1.31.8%2Brke2r1",
        ] {
            assert_eq!(version(text), version("v1.31.8+rke2r1"), "{text}");
        }
        assert_eq!(version("1-31-8"), version("v1.31.8"));
        assert_eq!(version("1-28-11-rc3"), version("v1.28.11-rc.3"));
        assert_eq!(
            version("v1.28.11-rc3+rke2r1"),
            version("1.28.11-rc3-rke2r1")
        );
        assert_eq!(version("v1.32.0-k3s1"), version("v1.32.0+k3s1"));
        assert_eq!(version("v1.33.1-k0s.0"), version("v1.33.1+k0s.0"));
        assert_eq!(
            version("v1.28.4-eks-1-28-9"),
            version("1.28.4-eks-d-1-28-9")
        );
        assert_eq!(
            version("v1.33.9---vmware.1-tkg.1"),
            version("v1.33.9+vmware.1-tkg.1")
        );
    }

    #[test]
    fn what_is_not_a_version_is_refused() {
        for text in [
            "",
            "v",
            "1",
            "1.",
            "1.31.",
            "1.31.8.1",
            "1.31-8",
            "1-31.8",
            "a.b",
            "1.31.8+",
            "1.31.8-",
            "1.31.8---",
            "1.31.8 x",
            "1x31y8",
            "latest",
        ] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_rebuild_is_newer_and_another_version() {
        assert!(version("1.31.8+rke2r1") < version("1.31.8+rke2r2"));
        assert!(version("1.31.8+rke2r2") < version("1.31.8+rke2r10"));
        assert!(version("1.31.8-rc.3") < version("1.31.8"));
        assert!(version("1.31.8-rc.3") < version("1.31.8-rc.10"));
        assert!(version("1.31.8") < version("1.31.10"));
        assert!(version("1.9.0") < version("1.31.0"));
        assert_ne!(version("1.31.8+rke2r1"), version("1.31.8+rke2r2"));
        assert_ne!(version("1.31.8"), version("1.31.8+rke2r1"));
    }

    #[test]
    fn numbers_of_any_length_are_ordered_by_value() {
        let builds = [
            "9",
            "10",
            "100000000000000000000000",
            "0200000000000000000000000",
        ];
        let versions = builds.map(|build| version(&format!("1.31.8+rke2r{build}")));
        assert!(versions.is_sorted());
        assert!(versions[0] < versions[2]);
    }

    #[test]
    fn a_minor_admits_its_patches_and_no_other() {
        let minor = version("1-35");
        assert!(minor.is_partial());
        assert!(minor.admits(&version("v1.35.6+rke2r1")));
        assert!(!minor.admits(&version("v1.36.0")));
        assert!(version("1.26.9").admits(&version("1.26.9+rke2r1")));
        assert!(!version("1.26.9").admits(&version("1.26.10+rke2r1")));
        assert!(!version("1.28.11").admits(&version("1.28.11-rc.3")));
        assert!(!version("1.31.8+rke2r1").admits(&version("1.31.8+rke2r2")));
    }

    #[test]
    fn skew_counts_minors() {
        let ahead = |left: &str, right: &str| version(left).minors_ahead_of(&version(right));
        assert_eq!(ahead("1.32.1", "v1.31.8+rke2r1"), Some(1));
        assert_eq!(ahead("1.29.9", "1.32.0"), Some(-3));
        assert_eq!(ahead("2.0.0", "1.32.0"), None);
    }

    #[test]
    fn bootstrap_providers_have_their_flavor() {
        assert_eq!(flavor_of("cabpk"), Some("kubeadm"));
        assert_eq!(flavor_of("cabpr"), Some("rke2"));
        assert_eq!(flavor_of("cabpck"), Some("ck8s"));
        assert_eq!(flavor_of("cabpoa"), Some("openshift"));
        assert_eq!(flavor_of("kubeadm"), None);
    }

    /// Versions in every spelling, and what a letter too much or too few makes of them.
    const NEAR_A_VERSION: &str = "v?[0-9]{1,2}[.-]([0-9]{1,2}|99999999999)([.-][0-9]{1,2})?(-(rc|alpha)[.-]?[0-9]?)?\
        ((-|---|[+]|%2B|%2b)(rke2r[0-9]{1,2}|k3s1|k0s[.]0|[a-z]{1,3}|))?[ .é]?";

    #[test]
    fn no_text_breaks_the_parser() {
        property_of_each(512, &NEAR_A_VERSION, &["read", "refused"], |text| {
            let Some(read) = Version::parse(&text) else {
                return "refused";
            };
            assert_eq!(version(&read.to_string()), read, "{text}");
            "read"
        });
    }

    proptest! {
        #[test]
        fn order_agrees_with_equality(a in "1[.]3[01][.][0-2](-rc[.]?[12])?([+-]rke2r0?[12])?", b in "1[.]3[01][.][0-2](-rc[.]?[12])?([+-]rke2r0?[12])?") {
            let (a, b) = (version(&a), version(&b));
            prop_assert_eq!(a.cmp(&b).is_eq(), a == b);
            prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        }
    }
}
