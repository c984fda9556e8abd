//! Kubernetes versions in texts that follow no naming scheme.
//!
//! A number is one behind a word for Kubernetes; in what names an image also where no word before it says whose
//! number it is. A text with several of them says nothing.

use std::sync::LazyLock;

use go_template::regexp::Regexp;

use crate::model::version::{Version, add_dots};

/// A Kubernetes version that a text seems to name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenVersion {
    /// It, as far as the text says it.
    pub version: Version,
    /// `rke2`, `k3s`: the distribution whose name is before it, or whose build it is.
    pub distribution: Option<&'static str>,
    /// Whether a word for Kubernetes is before it, or a distribution's build behind it.
    pub(super) is_named: bool,
}

/// What joins the numbers of a version.
const SEPARATORS: [&str; 4] = [".", "-", "_", "dot"];

/// The words for Kubernetes, each with the distribution that it means.
const KUBERNETES: &[(&str, Option<&str>)] = &[
    ("kube", None),
    ("kubernetes", None),
    ("k8s", None),
    ("kubeadm", None),
    ("kubelet", None),
    ("eks", None),
    ("rke2", Some("rke2")),
    ("k3s", Some("k3s")),
    ("k0s", Some("k0s")),
    ("ck8s", Some("ck8s")),
];

/// The words that may be between one of those and its number.
const BETWEEN: [&str; 3] = ["", "node", "ver"];

/// Short for Kubernetes where a number is glued to it: `u2204-k1-32-4`. In what names no image it is a letter.
const SHORT: &str = "k";

/// The most minors between a cluster and an image that somebody forgot: three years of releases.
const FAR: i64 = 10;

/// How many words before a number are looked at.
const NEAR: usize = 3;

/// What has numbers of its own that look like those of Kubernetes, where its name is before them.
const OTHERS: &[&str] = &[
    "agent",
    "api",
    "autoscaler",
    "build",
    "builder",
    "calico",
    "ccm",
    "chart",
    "cilium",
    "cli",
    "cni",
    "containerd",
    "controller",
    "coredns",
    "cri",
    "crictl",
    "crio",
    "csi",
    "driver",
    "eks",
    "etcd",
    "flannel",
    "glibc",
    "go",
    "golang",
    "helm",
    "init",
    "installer",
    "istio",
    "manager",
    "multus",
    "nginx",
    "nvidia",
    "operator",
    "packer",
    "plugin",
    "plugins",
    "provider",
    "proxy",
    "rust",
    "runc",
    "tooling",
    "tools",
    "vip",
];

/// The systems whose releases look like those of Kubernetes, wherever they are.
const SYSTEMS: [&str; 2] = ["talos", "bottlerocket"];

/// What may follow the numbers: a prerelease, and a build. One of a distribution follows a dash as often as a plus, and
/// where a name allows no plus, `---` means it.
static SUFFIX: LazyLock<Regexp> = LazyLock::new(|| {
    let prerelease = r"[-_.](?P<prerelease>(?:rc|alpha|beta)[-_.]?[0-9]{1,2}\b(?:\.[0-9]+)*)";
    let own = r"(?P<own>rke2r[0-9]+|k3s[0-9]+|k0s\.[0-9]+|eks-(?:d-)?1-[0-9]{2}-[0-9]+)";
    let build = r"(?P<build>[a-z0-9]+(?:\.[0-9]+)?(?:-[a-z]+\.[0-9]+)*)";
    let plus = r"\+|%2b|---";
    let pattern =
        format!("^(?P<whole>(?:{prerelease})?(?:(?:{plus}|[-_])?{own}|(?:{plus}){build})?)");
    Regexp::new(&pattern).expect("the pattern compiles")
});

impl SeenVersion {
    /// The version in a text. `is_image`: whether the text names an image, so that a number without a word for Kubernetes is
    /// one too.
    pub fn find(text: &str, is_image: bool) -> Option<Self> {
        // Cluster API is no other API.
        let text = text.to_ascii_lowercase().replace("cluster-api", "capi");
        let is_own = SYSTEMS.iter().any(|system| text.contains(system));
        // The host of a URL serves images of any version.
        let text = match text.split_once("://") {
            Some((_, rest)) => rest.split_once('/').map_or("", |(_, path)| path),
            None => &*text,
        };
        let (mut strongest, others): (Vec<Self>, Vec<Self>) =
            candidates(text).into_iter().partition(|seen| seen.is_named);
        let others = others.into_iter().filter(|_| is_image && !is_own);
        let (partial, mut whole): (Vec<Self>, Vec<Self>) =
            others.partition(|seen| seen.version.is_partial());
        // A minor says no more than a version of it.
        whole.retain(|seen| {
            let mut named = strongest.iter();
            named.all(|named| named.version.admits(&seen.version))
        });
        strongest.extend(whole);
        if strongest.is_empty() {
            strongest = partial;
        }
        let version = strongest.iter().map(|seen| &seen.version).max()?.clone();
        let is_one = { strongest.iter() }.all(|seen| seen.version.admits(&version));
        is_one.then(|| Self {
            version,
            distribution: strongest.iter().find_map(|seen| seen.distribution),
            is_named: strongest.iter().any(|seen| seen.is_named),
        })
    }

    /// Whether both may be one version: what one of them leaves open may be anything, and so may the release of a product behind the
    /// wanted build: `1.32.2+vmware.1-tkg.1` holds `1.32.2+vmware.1`.
    pub fn agrees(&self, wanted: &Version) -> bool {
        let builds = self.version.build.as_deref().zip(wanted.build.as_deref());
        let more = builds.and_then(|(own, wanted)| own.strip_prefix(wanted));
        let is_of_build = more.is_some_and(|more| more.starts_with('-'));
        let same = |version: &Version| version.admits(wanted) || wanted.admits(version);
        same(&self.version)
            || is_of_build
                && same(&Version {
                    build: None,
                    ..self.version.clone()
                })
    }

    /// Whether it contradicts a version. A minor without a word for Kubernetes is too little, unless the other is no more than a minor,
    /// and a number without one that is far from the other is none of Kubernetes.
    pub fn contradicts(&self, wanted: &Version) -> bool {
        let is_whole = !self.version.is_partial() || wanted.is_partial();
        let ahead = self.version.minors_ahead_of(wanted);
        let is_near = ahead.is_some_and(|ahead| ahead.abs() <= FAR);
        (self.is_named || is_whole && is_near) && !self.agrees(wanted)
    }
}

/// What is before a number.
enum Naming {
    /// A word for Kubernetes, and the distribution that it means.
    Kubernetes(Option<&'static str>),
    /// Nothing that says whose it is.
    Nothing,
    /// A word for something else, or another part of the number.
    Other,
}

/// The numbers of a text that may be versions.
fn candidates(text: &str) -> Vec<SeenVersion> {
    let mut found = Vec::new();
    let mut begin = 0;
    while let Some(at) = text[begin..].find('1') {
        let (before, from) = text.split_at(begin + at);
        begin = before.len() + 1;
        let Some((version, rest)) = version_at(from) else {
            continue;
        };
        let (mut seen, rest) = read_suffix(version, rest);
        match naming(before, from) {
            Naming::Kubernetes(distribution) => {
                seen.is_named = true;
                seen.distribution = seen.distribution.or(distribution);
            }
            Naming::Nothing => {}
            Naming::Other => continue,
        }
        begin = text.len() - rest.len();
        found.push(seen);
    }
    found
}

/// A version whose numbers are read, with the prerelease and the build that follow them, and what follows those.
pub(super) fn read_suffix(version: Version, rest: &str) -> (SeenVersion, &str) {
    let groups = SUFFIX.groups_by_name(rest).unwrap_or_default();
    let group = |name: &str| Some(groups.iter().find(|(group, _)| *group == name)?.1);
    let own = group("own").map(|own| own.replace("eks-d-", "eks-"));
    let seen = SeenVersion {
        distribution: own.as_deref().and_then(distribution_of),
        is_named: own.is_some(),
        version: Version {
            prerelease: group("prerelease").map(add_dots),
            build: own.or_else(|| group("build").map(str::to_owned)),
            ..version
        },
    };
    (seen, &rest[group("whole").map_or(0, str::len)..])
}

/// The version that a text begins with, and what follows it.
pub(super) fn version_at(text: &str) -> Option<(Version, &str)> {
    let rest = text.strip_prefix('1')?;
    let separator = *SEPARATORS.iter().find(|it| rest.starts_with(**it))?;
    let (minor, rest) = split_digits(&rest[separator.len()..]);
    let is_minor = matches!(minor.as_bytes(), [b'1'..=b'4', _]);
    let minor = minor.parse().ok().filter(|_| is_minor)?;
    let patch = rest.strip_prefix(separator).map(split_digits);
    let (patch, rest) = match patch {
        Some((digits, rest)) if (1..=3).contains(&digits.len()) => (digits.parse().ok(), rest),
        _ => (None, rest),
    };
    let is_end = match rest.strip_prefix('.') {
        // Numbers go on, or something is in place of a patch level. Behind a minor only an extension may follow.
        Some(next) => {
            let letters = next.find(|c: char| !c.is_ascii_alphabetic());
            let least = if patch.is_some() { 0 } else { 2 };
            !next.starts_with(|c: char| c.is_ascii_digit())
                && letters.unwrap_or(next.len()) >= least
        }
        None => {
            // A distribution's build may be glued: Sylva has `rke2-in-docker:0.2.1-v1.31.8rke2r1`.
            distribution_of(rest).is_some()
                || !rest.starts_with(|c: char| c.is_ascii_alphanumeric())
        }
    };
    let version = Version {
        major: 1,
        minor,
        patch,
        prerelease: None,
        build: None,
    };
    is_end.then_some((version, rest))
}

/// The distribution whose build it is.
fn distribution_of(build: &str) -> Option<&'static str> {
    let mut known = KUBERNETES
        .iter()
        .filter_map(|(_, distribution)| *distribution);
    known.find(|distribution| build.starts_with(distribution))
}

/// Whose a number is, by what is before it.
fn naming(before: &str, number: &str) -> Naming {
    let mut end = before.chars().rev();
    let (last, digit) = (end.next(), end.next());
    let is_longer = last == Some('.') && digit.is_some_and(|c| c.is_ascii_digit());
    // One character joins the parts of a date.
    let may_be_date = last.is_some_and(|last| number[1..].starts_with(last));
    let before = before.strip_suffix('v').unwrap_or(before);
    let mut runs = before.rsplit(|c: char| !c.is_ascii_alphanumeric());
    // The word that the number is glued to: `k3sv1.31.2`.
    let glued = runs.next().filter(|glued| !glued.is_empty());
    if is_longer || may_be_date && is_year(runs.clone().next()) {
        return Naming::Other;
    }
    let is_word = |run: &&str| run.contains(|c: char| c.is_ascii_alphabetic());
    let words = glued.into_iter().chain(runs.filter(|run| !run.is_empty()));
    let words: Vec<&str> = words.take_while(is_word).take(NEAR).collect();
    let part = before.rsplit('/').next().unwrap_or(before);
    // What a part of a path says of the next one is not whose numbers are there.
    let near = part.split(|c: char| !c.is_ascii_alphanumeric());
    let near = near.filter(|run| !run.is_empty()).count();
    let mut others = words.iter().take(near);
    // AWS has its images below `/aws/service/eks/optimized-ami/1.31/`
    // (<https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html>).
    let meant = words.strip_prefix(&["ami", "optimized"]).unwrap_or(&words);
    let mut meant = meant.iter().map(|word| word.trim_end_matches("version"));
    let meant = meant
        .find(|word| !BETWEEN.contains(word))
        .unwrap_or_default();
    // The release of a system ends in a digit, and nothing has to follow it: `ubuntu2404k8s1.31.7`.
    let is_meant = |word: &str| {
        let system = meant.strip_suffix(word);
        system.is_some_and(|system| {
            system.is_empty() || system.ends_with(|c: char| c.is_ascii_digit())
        })
    };
    if let Some((_, distribution)) = KUBERNETES.iter().find(|(word, _)| is_meant(word)) {
        Naming::Kubernetes(*distribution)
    } else if glued.is_some_and(|glued| glued != SHORT) || others.any(|word| OTHERS.contains(word))
    {
        Naming::Other
    } else {
        Naming::Nothing
    }
}

/// Whether a number is a year of this time, so that month and day may follow it.
fn is_year(run: Option<&str>) -> bool {
    run.is_some_and(|run| run.len() == 4 && ("2015".."2040").contains(&run))
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit());
    text.split_at(end.unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::SeenVersion;
    use crate::testing::seen::property_of_each;

    /// What is seen in a text of no image, and in what names one.
    fn seen(text: &str) -> [String; 2] {
        [false, true].map(|is_image| {
            let seen = SeenVersion::find(text, is_image);
            seen.map_or(String::new(), |seen| {
                let distribution = seen.distribution.unwrap_or_default();
                format!("{distribution}{}", seen.version)
            })
        })
    }

    #[test]
    fn a_word_for_kubernetes_makes_a_number_its_version_anywhere() {
        for (text, version) in [
            ("kube-v1.32.2", "1.32.2"),
            ("K8S_1_32_2", "1.32.2"),
            ("kubernetesVersion: 1.32.2", "1.32.2"),
            ("k8s-version=v1-32-2", "1.32.2"),
            ("k8s-node-1.32", "1.32"),
            ("kube-1.32.qcow2", "1.32"),
            ("kube1dot32dot2-x", "1.32.2"),
            ("k3sv1.32.2+k3s1", "k3s1.32.2+k3s1"),
            ("os-rke2-1.32.2", "rke21.32.2"),
            ("k0s-1.32.2", "k0s1.32.2"),
            ("ck8s-1.32.2", "ck8s1.32.2"),
            ("kube-1.32-and-kube-1.32.2", "1.32.2"),
            ("kube-1.32.2-cni-1.14.0-v1.31.0", "1.32.2"),
            ("kube-1.32.2-eks-1-32-9", "1.32.2+eks-1-32-9"),
            (
                "bottlerocket-v1.32.2-eks-d-1-32-9-eks-a-1",
                "1.32.2+eks-1-32-9",
            ),
            ("os-v1.32.2-eks-1-32-9", "1.32.2+eks-1-32-9"),
            ("talos-1.10.3-kube-1.32.2", "1.32.2"),
            ("golden-v1.32.2-rke2r1", "rke21.32.2+rke2r1"),
            ("golden-v1.32.2+rke2r1", "rke21.32.2+rke2r1"),
            ("golden-1.32.2_rke2r1.raw", "rke21.32.2+rke2r1"),
            ("golden-v1.32.2%2Brke2r1", "rke21.32.2+rke2r1"),
            ("rke2-in-docker:0.2.1-v1.32.2rke2r1", "rke21.32.2+rke2r1"),
            ("golden-v1.32.2-k3s1", "k3s1.32.2+k3s1"),
            ("k3d-in-docker:0.2.1-v1.32.2k3s1", "k3s1.32.2+k3s1"),
            ("golden-v1.32.2+k0s.0", "k0s1.32.2+k0s.0"),
            ("kube-1.32.2-rc.1-rke2r1", "rke21.32.2-rc.1+rke2r1"),
            ("kube-1-32-2-rc1", "1.32.2-rc.1"),
            ("kube_1_32_2_beta_0.raw", "1.32.2-beta.0"),
            ("kube-1.32.2-alpha.1.45+a1b2-x", "1.32.2-alpha.1.45+a1b2"),
            ("kube-1.32.2-rc.20250101", "1.32.2"),
            ("kube-1.32.2-rc", "1.32.2"),
            (
                "kube-1.32.2---vmware.3-fips.1-tkg.1-8795de",
                "1.32.2+vmware.3-fips.1-tkg.1",
            ),
            ("kube-1.32-rke2-1.32.2", "rke21.32.2"),
            ("kube-1.32.2-rke2-1.32.2", "rke21.32.2"),
            ("kube-1.32.2/1.32.2-rke2r1", "rke21.32.2+rke2r1"),
            ("ubuntu2404k8s1.32.2", "1.32.2"),
            ("suse156rke2-1.32.2", "rke21.32.2"),
            (
                "resolve:ssm:/aws/service/eks/optimized-ami/1.32/x86_64/recommended/image_id",
                "1.32",
            ),
            (
                "/aws/service/bottlerocket/aws-k8s-1.32/x86_64/latest/image_id",
                "1.32",
            ),
        ] {
            assert_eq!(seen(text), [version; 2], "{text}");
        }
    }

    #[test]
    fn a_number_needs_no_word_in_what_names_an_image() {
        for (text, version) in [
            ("ubuntu-2204-1-32-2", "1.32.2"),
            ("v1.32.2", "1.32.2"),
            ("golden:1.32.2", "1.32.2"),
            ("golden-1.32.2-1.14", "1.32.2"),
            ("golden-1-32-20250101", "1.32"),
            ("golden-2024-v1.32.2", "1.32.2"),
            ("golden-2004-1.32.2", "1.32.2"),
            ("windows-2022-1.32.2", "1.32.2"),
            ("windows-2022-1.32", "1.32"),
            ("r.example.org/acme/cluster-api-node:v1.32.2", "1.32.2"),
            ("r.example.org/image-builder/ubuntu:v1.32.2", "1.32.2"),
            ("http://i/cluster-api/v1.32.2/ubuntu.raw", "1.32.2"),
            ("http://img-1-31-2.lab/v1.32.2/ubuntu.raw", "1.32.2"),
            ("http://i/image-builder/v1.32.2/ubuntu.raw", "1.32.2"),
            ("golden-v1.32.2+build7", "1.32.2+build7"),
            ("custom/u2204-k1-32-2", "1.32.2"),
            ("k8s-ami-1.32.2", "1.32.2"),
        ] {
            assert_eq!(seen(text), ["", version], "{text}");
        }
    }

    #[test]
    fn a_full_version_says_more_than_its_named_minor() {
        for (text, versions) in [
            (
                "ubuntu-v1.28.4-kubernetes-1-28-eks-9-amd64-b7b3eb5",
                ["1.28", "1.28.4"],
            ),
            ("rke2-1.28-ubuntu-1.28.4", ["rke21.28", "rke21.28.4"]),
            ("kube-1.28-ubuntu-1.27.4", ["1.28"; 2]),
        ] {
            assert_eq!(seen(text), versions, "{text}");
        }
    }

    #[test]
    fn other_numbers_are_none() {
        for text in [
            "",
            "kube",
            "1",
            "kube-1",
            "kube-1.",
            "kube-1.3.2",
            "kube-1.50.2",
            "kube-1.09.2",
            "kube-1.320.2",
            "kube-1.32.x",
            "kube-1.32.$P",
            "kube-1.32.20250101",
            "kube-1.32.2.4",
            "kube-1.32.2f",
            "kube-1.32x",
            "kube-2.1.32.2",
            "kube-21.32.2",
            "kube-2024-1-12",
            "kube-proxy-1.32.2",
            "kube-1.32.2-kube-1.31.2",
            "dev1.32.2",
            "bk1-32-2",
            "notk8s1.32.2",
            "eks-d-1-32-9",
            "talos-x-1.12.2",
            "bottlerocket-1.32.2",
            "etcd-1.32.2",
            "x/etcd-node:1.32.2",
            "golden-1.32.2-1.32.3",
            "golden-build-1.32.2",
            "library/nginx:1.32.2",
            "golden-v1.32.2rc",
            "http://img-1-32-2.lab/golden.raw",
            "https://kube-1.32.2.lab",
            "kube-1.32.2-rke2r1-kube-1.32.2-rke2r2",
            "kube-1.32.2-rc.1-kube-1.32.2",
        ] {
            assert_eq!(seen(text), [""; 2], "{text}");
        }
    }

    #[test]
    fn a_minor_alone_contradicts_where_it_is_kubernetes_or_the_other_is_one_too() {
        let contradicts = |text: &str, wanted: &str| {
            let wanted = crate::model::version::Version::parse(wanted).expect("a version");
            let seen = SeenVersion::find(text, true).expect("a version");
            assert!(!(seen.agrees(&wanted) && seen.contradicts(&wanted)));
            seen.contradicts(&wanted)
        };
        assert!(contradicts("kube-1.31", "v1.32.2"));
        assert!(!contradicts("kube-1.32", "v1.32.2"));
        assert!(!contradicts("os-1.31", "v1.32.2"));
        assert!(contradicts("os-1.31", "1.32"));
        assert!(contradicts("os-v1.22.1", "v1.32.2"));
        assert!(!contradicts("os-v1.21.1", "v1.32.2"));
        assert!(contradicts("os-v1.42.1", "v1.32.2"));
        assert!(!contradicts("os-v1.43.1", "v1.32.2"));
        assert!(contradicts("kube-1.21.1", "v1.32.2"));
        assert!(contradicts("os-1.32.1", "1.32.2"));
        assert!(contradicts("os-1.32.2", "v1.32.2-rc.1"));
        assert!(contradicts("os-1.32.2-rc.1", "v1.32.2"));
        assert!(!contradicts("os-1.32.2-rc1", "v1.32.2-rc.1"));
        assert!(contradicts("os-1.32.2-rke2r1", "v1.32.2+rke2r2"));
        assert!(!contradicts("os-1.32.2-rke2r1", "v1.32.2+rke2r1"));
        assert!(!contradicts("os-1.32.2+build7", "v1.32.2"));
        assert!(!contradicts("os-1.32.2", "v1.32.2+rke2r1"));
        assert!(contradicts("os-1.32.2-eks-d-1-32-9", "v1.32.2-eks-1-32-10"));
        assert!(!contradicts("os-1.32.2", "1.32"));
        assert!(!contradicts("os-1.32.2+vmware.1-tkg.1", "v1.32.2+vmware.1"));
        assert!(contradicts("os-1.32.2+vmware.1-tkg.1", "v1.32.3+vmware.1"));
        assert!(contradicts(
            "os-1.32.2+vmware.1-tkg.1",
            "v1.32.2+vmware.1-tkg.2"
        ));
        assert!(contradicts("os-1.32.2+vmware.10", "v1.32.2+vmware.1"));
    }

    #[test]
    fn no_text_breaks_the_search() {
        let near = "(kube|v|x|eks|2024|é|[.-]){0,3}[-_. ]?1([.]|-|_|dot)[1-4]?[0-9]([.]|-|_|dot)?[0-9é]{0,4}(-rc.?1|-eks-1-3|([+_-]|---)(rke2r1|eks-d-1-32-1))?.?";
        property_of_each(
            512,
            &near,
            &["seen", "none"],
            |text| match SeenVersion::find(&text, true) {
                Some(seen) => {
                    assert_eq!(seen.version.major, 1);
                    "seen"
                }
                None => "none",
            },
        );
    }
}
