//! What an image's name says of it, and the key that a name becomes in `os_images`.
//!
//! A name is the weakest source of facts: one without a patch level narrows a choice and proves nothing, and neither file
//! name nor checksum is ever derived from it (docs/sylva.md#facts).

mod key;
mod release;
mod schemes;
mod template;

use super::image::{Facts, fact};
use super::version::Version;
pub use key::{NameRefusal, key_of};
pub use release::Release;
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
    /// `stable`, `lts`, `stream`.
    pub channel: Option<String>,
    /// `plain`, `hardened`, `cis` or `fips`.
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
    /// `amd64` or `arm64`.
    pub arch: Option<String>,
    /// `efi`, where the name says so.
    pub firmware: Option<String>,
    /// `metal`, `powervs`: what the image is made to run on.
    pub platform: Option<String>,
    /// `immutable`, `gen2`, `core`: the builder's own word.
    pub variant: Option<String>,
    /// When it was built, as the name writes it.
    pub timestamp: Option<String>,
    /// The commit of the recipe.
    pub commit: Option<String>,
    /// Talos's schematic.
    pub schematic: Option<String>,
    /// The system extension that it is, rather than an image of a system.
    pub sysext: Option<String>,
}

/// The parts of names that are plain words, and the facts that they are.
const WORDS: [(&str, &str); 14] = [
    ("os", fact::OS),
    ("channel", fact::OS_CHANNEL),
    ("flavor", fact::FLAVOR),
    ("k8s_flavor", fact::K8S_FLAVOR),
    ("builder", fact::COMMIT_TAG),
    ("format", fact::IMAGE_FORMAT),
    ("compression", fact::COMPRESSION),
    ("arch", fact::ARCH),
    ("firmware", fact::FIRMWARE),
    ("platform", fact::PLATFORM),
    ("variant", fact::VARIANT),
    ("timestamp", fact::BUILD_TIMESTAMP),
    ("commit", fact::COMMIT_ID),
    ("schematic", fact::SCHEMATIC),
];

impl NameFacts {
    /// Reads an image's name or file name; none where no scheme fits the whole of it.
    pub fn parse(name: &str) -> Option<Self> {
        SCHEMES.iter().find_map(|scheme| scheme.read(name))
    }

    /// The facts by the names that annotations use (docs/sylva.md#facts). `k8s-version` has a build only where the name carries
    /// one.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let release = self.release.as_ref().and_then(Release::label);
        let word = |part: &str| self.word(part).map(str::to_owned);
        [
            (fact::OS, word("os")),
            (fact::OS_RELEASE, release.map(str::to_owned)),
            (fact::OS_CHANNEL, word("channel")),
            (fact::FLAVOR, word("flavor")),
            (fact::HARDENED, self.hardened().map(|flag| flag.to_string())),
            (fact::K8S_FLAVOR, word("k8s_flavor")),
            (
                fact::K8S_VERSION,
                self.k8s_version.as_ref().map(Version::to_string),
            ),
            (fact::COMMIT_TAG, word("builder")),
            (fact::IMAGE_FORMAT, word("format")),
            (fact::COMPRESSION, word("compression")),
            (fact::ARCH, word("arch")),
            (fact::FIRMWARE, word("firmware")),
            (fact::PLATFORM, word("platform")),
            (fact::VARIANT, word("variant")),
            (fact::BUILD_TIMESTAMP, word("timestamp")),
            (fact::COMMIT_ID, word("commit")),
            (fact::SCHEMATIC, word("schematic")),
            (fact::SYSEXTS, word("sysext")),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }

    /// The facts of an image that a scheme has parts for: what [`Scheme::name`] makes a name of.
    pub fn of(scheme: &Scheme, facts: &Facts) -> Self {
        let mut known = Self {
            scheme: scheme.id,
            ..Self::default()
        };
        let text = |name: &str| facts.text(name).filter(|text| !text.is_empty());
        for (part, name) in WORDS.into_iter().filter(|(part, _)| scheme.has(part)) {
            if let Some(text) = text(name)
                && let Some(word) = known.word_mut(part)
            {
                *word = Some(text.to_owned());
            }
        }
        if scheme.has("sysext") {
            known.sysext = text(fact::SYSEXTS).map(str::to_owned);
        }
        if scheme.has("release") {
            let release = text(fact::OS_RELEASE);
            known.release = release.map(|release| Release::read(text(fact::OS), release));
        }
        known.k8s_version = text(fact::K8S_VERSION)
            .filter(|_| scheme.has("k8s"))
            .and_then(Version::parse);
        known
    }

    /// Whether its flavor is a hardened one. FIPS says which cryptography is in it, no more.
    fn hardened(&self) -> Option<bool> {
        match self.flavor.as_deref()? {
            "plain" => Some(false),
            "hardened" | "cis" => Some(true),
            _ => None,
        }
    }

    /// The parts of a name that there is something to say for.
    fn parts(&self) -> Vec<&'static str> {
        let words = WORDS.iter().map(|(part, _)| *part).chain(["sysext"]);
        let known = words.filter(|part| self.word(part).is_some());
        let release = self.release.iter().map(|_| "release");
        let version = self.k8s_version.iter().map(|_| "k8s");
        known.chain(release).chain(version).collect()
    }

    fn word(&self, part: &str) -> Option<&str> {
        match part {
            "os" => self.os.as_deref(),
            "channel" => self.channel.as_deref(),
            "flavor" => self.flavor.as_deref(),
            "k8s_flavor" => self.k8s_flavor.as_deref(),
            "builder" => self.builder_version.as_deref(),
            "format" => self.image_format.as_deref(),
            "compression" => self.compression.as_deref(),
            "arch" => self.arch.as_deref(),
            "firmware" => self.firmware.as_deref(),
            "platform" => self.platform.as_deref(),
            "variant" => self.variant.as_deref(),
            "timestamp" => self.timestamp.as_deref(),
            "commit" => self.commit.as_deref(),
            "schematic" => self.schematic.as_deref(),
            "sysext" => self.sysext.as_deref(),
            _ => None,
        }
    }

    fn word_mut(&mut self, part: &str) -> Option<&mut Option<String>> {
        Some(match part {
            "os" => &mut self.os,
            "channel" => &mut self.channel,
            "flavor" => &mut self.flavor,
            "k8s_flavor" => &mut self.k8s_flavor,
            "builder" => &mut self.builder_version,
            "format" => &mut self.image_format,
            "compression" => &mut self.compression,
            "arch" => &mut self.arch,
            "firmware" => &mut self.firmware,
            "platform" => &mut self.platform,
            "variant" => &mut self.variant,
            "timestamp" => &mut self.timestamp,
            "commit" => &mut self.commit,
            "schematic" => &mut self.schematic,
            "sysext" => &mut self.sysext,
            _ => return None,
        })
    }
}

/// An architecture as Go and Kubernetes call it: `x86_64`, `x86-64` and `amd64` are one.
pub fn architecture(text: &str) -> &str {
    match text {
        "x86_64" | "x86-64" | "x64" | "amd64" => "amd64",
        "aarch64" | "arm64" => "arm64",
        other => other,
    }
}

#[cfg(test)]
mod tests;
