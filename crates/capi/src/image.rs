//! Images: their keys, their facts and where each fact comes from.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use oci_artifacts::{Address, Digest, Reference};
use yaml_tree::place::{Located, Place};

/// An image's key in `os_images`: what clusters name it by.
pub type ImageKey = Arc<str>;

/// The name of a fact, spelled as Sylva's annotations and selectors spell it.
///
/// Source: Sylva's diskimage-builder annotations and sylva-library's `_os_images.tpl` (docs/sylva.md#facts, #selectors).
pub mod fact {
    /// `ubuntu`, `opensuse`.
    pub const OS: &str = "os";
    /// `noble`, `15.6`.
    pub const OS_RELEASE: &str = "os-release";
    /// `rke2`, `kubeadm`, `ck8s`, `openshift`; `none` for an image without Kubernetes.
    pub const K8S_FLAVOR: &str = "k8s-flavor";
    /// `1.31.8+rke2r1`, without a leading `v`.
    pub const K8S_VERSION: &str = "k8s-version";
    /// `true` or `false`.
    pub const HARDENED: &str = "hardened";
    /// The builder's flavor, `plain` or `hardened`.
    pub const FLAVOR: &str = "flavor";
    /// `raw` or `qcow2`.
    pub const IMAGE_FORMAT: &str = "image-format";
    /// `gz`, `none`, `zst`.
    pub const COMPRESSION: &str = "compression";
    /// Hex digest of the uncompressed image.
    pub const SHA256: &str = "sha256";
    /// Hex digest of the uncompressed image, for Glance.
    pub const MD5: &str = "md5";
    /// Hex digest of the uncompressed image, where a catalog of other origin has it.
    pub const SHA512: &str = "sha512";
    /// The digests of the image, the preferred one first.
    pub const CHECKSUMS: [&str; 3] = [SHA256, SHA512, MD5];
    /// The same of the file as it is served, where it is compressed.
    pub const ARCHIVE_CHECKSUMS: [&str; 3] = [ARCHIVE_SHA256, ARCHIVE_SHA512, ARCHIVE_MD5];
    /// The image file's name inside the artifact and on the image server.
    pub const FILENAME: &str = "filename";
    /// Bytes of the uncompressed image.
    pub const SIZE: &str = "size";
    /// Bytes of the compressed image.
    pub const ARCHIVE_SIZE: &str = "archive-size";
    /// The builder's release.
    pub const COMMIT_TAG: &str = "commit-tag";
    /// The OCI reference of the artifact.
    pub const URI: &str = "uri";
    /// The registry that Sylva's chart took it from, by its name in `os_images_oci_registries`.
    pub const OCI_REGISTRY: &str = "oci-image-registry-key";
    /// `amd64`, `arm64`.
    pub const ARCH: &str = "arch";
    /// `bios`, `efi` or `both`.
    pub const FIRMWARE: &str = "firmware";
    /// `stable`, `lts`, `stream`: the release channel of the operating system.
    pub const OS_CHANNEL: &str = "os-channel";
    /// `metal`, `nocloud`, `powervs`: what the image is made to run on, where one builder makes several.
    pub const PLATFORM: &str = "platform";
    /// `immutable`, `gen2`, `core`: the builder's own word for what else distinguishes its images.
    pub const VARIANT: &str = "variant";
    /// When the image was built, as its source writes it.
    pub const BUILD_TIMESTAMP: &str = "build-timestamp";
    /// The commit of the builder's recipe.
    pub const COMMIT_ID: &str = "commit-id";
    /// The builder: `image-builder`, `diskimage-builder`; where provenance is proven, its id.
    pub const BUILDER: &str = "builder";
    /// The repository that the image was built from, where provenance is proven.
    pub const SOURCE: &str = "source";
    /// The commit of it.
    pub const REVISION: &str = "revision";
    /// Talos's schematic: the hex digest of the request.
    pub const SCHEMATIC: &str = "schematic";
    /// The system extensions that the image is or holds, with commas between them.
    pub const SYSEXTS: &str = "sysexts";
    /// Hex digest of the file as it is served, where it is compressed.
    pub const ARCHIVE_SHA256: &str = "archive-sha256";
    /// Hex digest of the file as it is served, where it is compressed.
    pub const ARCHIVE_SHA512: &str = "archive-sha512";
    /// Hex digest of the file as it is served, where it is compressed.
    pub const ARCHIVE_MD5: &str = "archive-md5";
    /// What the facts about where the image lies start with: `locations.glance.name`.
    pub const LOCATIONS: &str = "locations.";
    /// What the facts about the file at one location start with: `at.azure.image-format`.
    pub const AT: &str = "at.";
    /// The digests of an image and of its file as it is served.
    pub const DIGESTS: [&str; 6] = [
        SHA256,
        SHA512,
        MD5,
        ARCHIVE_SHA256,
        ARCHIVE_SHA512,
        ARCHIVE_MD5,
    ];
    /// The facts that two files of one image do not share, beside their digests.
    pub const OF_FILE: [&str; 4] = [IMAGE_FORMAT, COMPRESSION, SIZE, ARCHIVE_SIZE];
}

/// Where a fact was learned; the order is its strength, the strongest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// What a bootstrap configuration installs when the machine boots. It is none of an image's facts.
    Boot,
    /// The tag of a component bundle.
    Tag,
    /// Parsed out of the image's name.
    Name,
    /// An `os-images-info` file or another metadata file.
    InfoFile,
    /// The project file's own records of images.
    Record,
    /// Values that the user wrote under `os_images`.
    Values,
    /// The manifest's annotations.
    Annotation,
    /// The lock.
    Lock,
}

impl Origin {
    /// Whether only what it is called says a fact.
    pub fn is_name(self) -> bool {
        matches!(self, Self::Tag | Self::Name)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Boot => "its bootstrap configuration",
            Self::Tag => "the component bundle's tag",
            Self::Name => "the image's name",
            Self::InfoFile => "the image info file",
            Self::Record => "the project's record",
            Self::Values => "the values",
            Self::Annotation => "the artifact's annotations",
            Self::Lock => "the lock",
        })
    }
}

/// Where the project file describes images, whatever else lists them.
pub const RECORDS: &str = "images.records";

/// One fact of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Its value; facts are strings in every one of their sources.
    pub value: Arc<str>,
    /// Where it was learned.
    pub origin: Origin,
    /// Its place, if it is in a file.
    pub place: Place,
}

/// The facts of one image by name. Of several sources the strongest wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    facts: Arc<BTreeMap<Arc<str>, Fact>>,
    mistyped: Arc<BTreeMap<Arc<str>, &'static str>>,
    disputes: Arc<BTreeMap<Arc<str>, Fact>>,
    /// Those of any location, where those of one are selected.
    anywhere: Option<Arc<BTreeMap<Arc<str>, Fact>>>,
    /// The location that is selected, if it says something of its own file.
    location: Option<Arc<str>>,
}

impl Fact {
    /// A fact with its source and its place.
    pub fn new(value: impl Into<Arc<str>>, origin: Origin, place: Place) -> Self {
        Self {
            value: value.into(),
            origin,
            place,
        }
    }
}

impl Facts {
    /// Facts of one source: names, values and places.
    pub fn new<N: AsRef<str>, V: Into<Arc<str>>>(
        origin: Origin,
        facts: impl IntoIterator<Item = (N, V, Place)>,
    ) -> Self {
        let mut known = Self::default();
        for (name, value, place) in facts {
            known.learn(name.as_ref(), Fact::new(value, origin, place));
        }
        known
    }

    /// The fact of that name.
    pub fn get(&self, name: &str) -> Option<&Fact> {
        self.facts.get(name)
    }

    /// Whether the image brings no Kubernetes: what bootstraps its machines installs it.
    pub fn is_bare(&self) -> bool {
        self.text(fact::K8S_FLAVOR) == Some("none")
    }

    /// The text of the fact of that name.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).map(|fact| &*fact.value)
    }

    /// The digest of the uncompressed image that is preferred, and its kind.
    pub fn checksum(&self) -> Option<(&'static str, Arc<str>)> {
        let mut kinds = fact::CHECKSUMS.into_iter();
        kinds.find_map(|kind| Some((kind, Arc::clone(&self.get(kind)?.value))))
    }

    /// The digest of the compressed file that is served, and its kind.
    pub fn archive_checksum(&self) -> Option<(&'static str, Arc<str>)> {
        let mut kinds = fact::CHECKSUMS.into_iter().zip(fact::ARCHIVE_CHECKSUMS);
        kinds.find_map(|(kind, name)| Some((kind, Arc::clone(&self.get(name)?.value))))
    }

    /// Adds a fact unless a stronger or equally strong one exists. Returns the other fact where the two disagree.
    pub fn learn(&mut self, name: &str, fact: Fact) -> Option<Fact> {
        let facts = Arc::make_mut(&mut self.facts);
        match facts.get_mut(name) {
            None => {
                facts.insert(name.into(), fact);
                None
            }
            Some(known) => {
                let disagrees = known.value != fact.value;
                let loser = if fact.origin > known.origin {
                    std::mem::replace(known, fact)
                } else {
                    fact
                };
                disagrees.then_some(loser)
            }
        }
    }

    /// Remembers that a weaker source says another thing of a fact.
    pub fn add_dispute(&mut self, name: &str, weaker: Fact) {
        Arc::make_mut(&mut self.disputes).insert(name.into(), weaker);
    }

    /// What another source says of a fact, where it says another thing.
    pub fn dispute(&self, name: &str) -> Option<&Fact> {
        self.disputes.get(name)
    }

    /// The location whose own file these facts are of: `https`.
    pub fn location(&self) -> Option<&str> {
        self.location.as_deref()
    }

    /// Whether the image lies at one of these locations, or at none that is known.
    pub fn may_lie_at(&self, locations: &[&str]) -> bool {
        let names = self.anywhere.as_ref().unwrap_or(&self.facts).keys();
        let named = names.filter_map(|name| name.strip_prefix(fact::LOCATIONS)?.split('.').next());
        let mut named = named.peekable();
        named.peek().is_none() || named.any(|location| locations.contains(&location))
    }

    /// The facts of the file at the first of these locations that the image has. What such a location says of its file counts
    /// there, and no digest, size or compression of another file does.
    pub fn select_location<'l>(&self, locations: impl IntoIterator<Item = &'l str>) -> Self {
        let mut selected = self.clone();
        let facts = selected.anywhere.take().unwrap_or(selected.facts);
        selected.facts = Arc::clone(&facts);
        selected.location = None;
        let is_there = |location: &str| {
            let mut names = facts.keys();
            names.any(|name| {
                let known = name.strip_prefix(fact::LOCATIONS);
                let known = known.or_else(|| name.strip_prefix(fact::AT));
                known.is_some_and(|known| known.split('.').next() == Some(location))
            })
        };
        let mut locations = locations.into_iter();
        let Some(location) = locations.find(|location| is_there(location)) else {
            return selected;
        };
        let prefix = format!("{}{location}.", fact::AT);
        let own: Vec<(&str, &Fact)> = { facts.iter() }
            .filter_map(|(name, fact)| Some((name.strip_prefix(&*prefix)?, fact)))
            .collect();
        if own.is_empty() {
            return selected;
        }
        let known = Arc::make_mut(&mut selected.facts);
        known.retain(|name, _| {
            **name == *fact::IMAGE_FORMAT
                || !fact::DIGESTS.contains(&&**name) && !fact::OF_FILE.contains(&&**name)
        });
        known.extend({ own.into_iter() }.map(|(name, fact)| (name.into(), fact.clone())));
        selected.anywhere = Some(facts);
        selected.location = Some(location.into());
        selected
    }

    /// Remembers that a fact is not a string in its file, and what it is instead; upstream stops at it
    /// (docs/sylva.md#the-catalog, #selectors).
    pub fn mark_mistyped(&mut self, name: &str, kind: &'static str) {
        Arc::make_mut(&mut self.mistyped).insert(name.into(), kind);
    }

    /// What a fact is in its file, where it is neither a string nor a boolean.
    pub fn wrong_type(&self, name: &str) -> Option<&'static str> {
        self.mistyped.get(name).copied()
    }

    /// The facts that are neither strings nor booleans in their file, and what they are.
    pub fn all_mistyped(&self) -> impl Iterator<Item = (&str, &'static str)> {
        self.mistyped.iter().map(|(name, kind)| (&**name, *kind))
    }

    /// All facts, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Fact)> {
        self.facts.iter()
    }
}

/// An image of the catalog with everything known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Its key: `^[a-z0-9][a-z0-9-]{1,50}[a-z0-9]$` once checked (docs/sylva.md#image-keys).
    pub key: ImageKey,
    /// What the catalog calls it, and a chart looks it up by: the key, which may have dots here.
    pub name: Arc<str>,
    /// The artifact's real name, where it differs from the key (dots).
    pub artifact: Arc<str>,
    /// Where the catalog names it.
    pub place: Place,
    /// The OCI reference or URL: `<registry.url>/<artifact>:<registry.tag>` (docs/sylva.md#the-catalog), or the entry's own
    /// `uri`.
    pub uri: Option<Located<Address>>,
    /// The digest that the lock holds for its reference; none where it is not locked.
    pub digest: Option<Located<Digest>>,
    /// The digest of the manifest that machines pull: of an index, that of its part for the project's architecture.
    pub pulled: Option<Digest>,
    /// What is known of it.
    pub facts: Facts,
    /// `enabled` or `default_enabled` on the entry, where written.
    pub enabled: Option<Located<bool>>,
    /// Whether the entry comes from the builder's catalog rather than from `os_images`.
    pub built: bool,
    /// The list that has it, as the user calls it; [`RECORDS`] of one that only a source of facts has.
    pub list: &'static str,
    /// The registry that it comes from, by name.
    pub registry: Option<Arc<str>>,
}

impl Image {
    /// What Sylva's chart calls an image of the builder's list where it gathers facts: `REGISTRY--NAME` (docs/sylva.md#the-catalog).
    pub fn chart_key(&self) -> Option<String> {
        let registry = self.registry.as_deref().filter(|_| self.built)?;
        Some(format!("{registry}--{}", self.name))
    }

    /// Its reference by the digest that machines pull, where that is known.
    pub fn digest_reference(&self) -> Option<String> {
        digest_reference(&self.uri.as_ref()?.value, self.pulled.as_ref())
    }
}

/// A reference by a digest without its tag: the one that machines pull, else its own.
pub(crate) fn digest_reference(uri: &str, pulled: Option<&Digest>) -> Option<String> {
    let reference = Reference::parse(uri).ok()?;
    let digest = pulled.or(reference.digest.as_ref())?;
    Some(reference.pin(digest).to_string())
}

/// The images of a cluster's catalog by key.
pub type Images = BTreeMap<ImageKey, Image>;

/// Whether a text is valid as a key of `os_images`: 3 to 52 characters, lower-case letters, digits and dashes, no dash at
/// either end. (sylva-core charts/sylva-units/values.schema.json, `os_images.propertyNames`.)
pub fn is_valid_key(text: &str) -> bool {
    let bytes = text.as_bytes();
    (3..=52).contains(&bytes.len())
        // Without an early end, which the compiler turns into a few instructions: this is called for each image of each cluster.
        && bytes.iter().fold(true, |is_valid, byte| {
            is_valid & (byte.is_ascii_lowercase() | byte.is_ascii_digit() | (*byte == b'-'))
        })
        && bytes.first() != Some(&b'-')
        && bytes.last() != Some(&b'-')
}
