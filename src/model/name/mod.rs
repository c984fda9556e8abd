//! Parses image names: the facts that a name states, and its key in `os_images`.
//!
//! A name is the weakest source of facts: one without a patch level narrows a choice and proves nothing, and neither file
//! name nor checksum is ever derived from it (docs/sylva.md#facts).

mod build;
mod installed;
mod key;
mod release;
mod schemes;
mod seen;
mod template;

use std::sync::Arc;

use capi::image::{Facts, Origin, fact};
use yaml_tree::place::Place;

use super::version::Version;
pub use build::{Difference, NameBuilder};
pub use installed::{InstalledVersion, Means, find_installed, is_version_key};
pub use key::{NameRefusal, key_of, split_registry};
pub use release::Release;
pub use schemes::{Example, OwnScheme, SCHEMES, Scheme};
pub use seen::SeenVersion;

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

impl NameFacts {
    /// Reads an image's name or file name; `None` if no scheme matches the whole name.
    pub fn parse(name: &str) -> Option<Self> {
        SCHEMES.iter().find_map(|scheme| scheme.read(name))
    }

    /// The facts by the names that annotations use (docs/sylva.md#facts). `k8s-version` has a build only where the name carries
    /// one.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let release = self.release.as_ref().and_then(Release::label);
        let version = self.k8s_version.as_ref().map(Version::to_string);
        [
            (fact::OS, self.os.clone()),
            (fact::OS_RELEASE, release.map(str::to_owned)),
            (fact::OS_CHANNEL, self.channel.clone()),
            (fact::FLAVOR, self.flavor.clone()),
            (
                fact::HARDENED,
                self.hardening().map(|flag| flag.to_string()),
            ),
            (fact::K8S_FLAVOR, self.k8s_flavor.clone()),
            (fact::K8S_VERSION, version),
            (fact::COMMIT_TAG, self.builder_version.clone()),
            (fact::IMAGE_FORMAT, self.image_format.clone()),
            (fact::COMPRESSION, self.compression.clone()),
            (fact::ARCH, self.arch.clone()),
            (fact::FIRMWARE, self.firmware.clone()),
            (fact::PLATFORM, self.platform.clone()),
            (fact::VARIANT, self.variant.clone()),
            (fact::BUILD_TIMESTAMP, self.timestamp.clone()),
            (fact::COMMIT_ID, self.commit.clone()),
            (fact::SCHEMATIC, self.schematic.clone()),
            (fact::SYSEXTS, self.sysext.clone()),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }

    /// Whether its flavor is a hardened one. FIPS says which cryptography is in it, no more.
    fn hardening(&self) -> Option<bool> {
        match self.flavor.as_deref()? {
            "plain" => Some(false),
            "hardened" | "cis" => Some(true),
            _ => None,
        }
    }

    /// The field of a part that is one word.
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

/// The naming schemes of a run: the project's own, then the built-in ones.
#[derive(Clone, Debug, Default)]
pub struct NameSchemes(Arc<[OwnScheme]>);

impl NameSchemes {
    /// The built-in ones, and these before them.
    pub fn new(own: impl IntoIterator<Item = OwnScheme>) -> Self {
        Self(own.into_iter().collect())
    }

    /// The project's own ones.
    pub fn own(&self) -> &[OwnScheme] {
        &self.0
    }

    /// Reads an image's name or file name; `None` if no scheme matches the whole name.
    pub fn read(&self, name: &str) -> Option<NameFacts> {
        let own = self.0.iter().find_map(|scheme| scheme.read(name));
        own.or_else(|| NameFacts::parse(name))
    }

    /// Reads what names an image where it lies: the whole text, or its last part. A tag may be the version, or follow the name.
    pub fn read_location(&self, text: &str) -> Option<NameFacts> {
        let last = text.rsplit('/').next().unwrap_or(text);
        let tagged = last.split('@').next().unwrap_or(last);
        let untagged = tagged.split(':').next().unwrap_or(tagged);
        let mut names = [text, last, tagged, untagged].into_iter();
        names.find_map(|name| self.read(name))
    }

    /// What a name, or any text, says: by its scheme, else by its words.
    pub fn words(&self, text: &str) -> Facts {
        self.read_location(text)
            .unwrap_or_else(|| loose_words(text))
            .into()
    }

    /// The facts in a name, in what ends a path, or in the name of an artifact before its tag or digest.
    pub fn facts(&self, name: &str) -> Option<Facts> {
        self.read_location(name).map(Facts::from)
    }
}

/// The words of a text that follows no scheme, each where it is the only one of its sort.
fn loose_words(text: &str) -> NameFacts {
    let text = text.to_ascii_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let only = |known: &[&str]| {
        let mut found = known.iter().filter(|known| words.contains(known));
        let first = found.next()?;
        found.next().is_none().then(|| (*first).to_owned())
    };
    let os = only(&["ubuntu", "debian", "opensuse"]);
    let codename = only(&release::CODENAMES.map(|(_, codename, _)| codename));
    NameFacts {
        release: codename.map(|codename| Release::read(os.as_deref(), &codename)),
        flavor: only(&["plain", "hardened", "cis"]),
        k8s_flavor: only(&["rke2", "kubeadm", "k3s", "ck8s"]),
        k8s_version: SeenVersion::find(&text, false).map(|seen| seen.version),
        arch: only(&["amd64", "arm64"]),
        os,
        ..NameFacts::default()
    }
}

impl From<NameFacts> for Facts {
    fn from(name: NameFacts) -> Self {
        let facts = name.facts().into_iter();
        Self::new(
            Origin::Name,
            facts.map(|(name, value)| (name, value, Place::NONE)),
        )
    }
}

/// Whether two texts of one fact of images with this system mean the same: releases, architectures, formats and compressions in any
/// spelling, and letters in any case. A size with a unit is not compared.
pub fn same_value(name: &str, os: Option<&str>, one: &str, other: &str) -> bool {
    match name {
        fact::OS_RELEASE => Release::read(os, one).is_same(&Release::read(os, other)),
        fact::ARCH => architecture(one) == architecture(other),
        fact::SIZE | fact::ARCHIVE_SIZE => {
            let number = |text: &str| text.parse::<u64>().ok();
            number(one)
                .zip(number(other))
                .is_none_or(|(one, other)| one == other)
        }
        _ => plain(one).eq_ignore_ascii_case(plain(other)),
    }
}

/// The usual spelling of a format, a compression or a digest.
fn plain(text: &str) -> &str {
    match text {
        "gzip" => "gz",
        "zstd" => "zst",
        "live-iso" => "iso",
        _ => text.split_once(':').map_or(text, |(_, digits)| digits),
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
