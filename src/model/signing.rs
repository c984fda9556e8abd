//! Who signs images, as the values say it, and which images the project requires to be signed.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::image::{Image, Origin};
use oci_artifacts::signature::PublicKey;
use oci_artifacts::{Address, Digest, Reference};
use yaml_tree::place::{Located, Place, Spot};
use yaml_tree::value::{Node, Value};

/// The property of an image, or of a registry, that names the key: a PEM public key, or the path of a file that holds one.
pub const KEY_PROPERTY: &str = "cosign_publickey";

/// Every name that an entry, a registry or a record may give it.
pub const KEY_NAMES: [&str; 4] = [
    KEY_PROPERTY,
    "public_key",
    "signature.public-key",
    "signature.public_key",
];

/// The paths below a key of an entry or a registry that are about a signature, and name no key that is read.
pub fn other_key_names(key: &str, node: &Node) -> Vec<(String, Place)> {
    let words = key.to_lowercase().replace(['-', '.'], "_");
    let is_about_signing = ["cosign", "signature", "signing", "signer", "pubkey"]
        .iter()
        .chain(&["public_key", "publickey", "pub_key", "sigstore"])
        .any(|word| words.contains(word));
    if !is_about_signing || KEY_NAMES.contains(&key) || node.value.is_null() {
        return Vec::new();
    }
    let paths = match &node.value {
        Value::Map(map) => { map.iter() }
            .map(|entry| (format!("{key}.{}", entry.key), entry.key_place))
            .collect(),
        _ => vec![(key.to_owned(), node.place)],
    };
    let mut paths: Vec<(String, Place)> = paths;
    paths.retain(|(path, _)| !KEY_NAMES.contains(&&**path));
    paths
}

/// A key that the values name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedKey {
    /// Its text.
    Text(Located<Arc<str>>),
    /// A value that cannot be evaluated or is not a text: nothing can be verified with it.
    Failed(Place),
}

/// The keys that a cluster's values name (docs/sylva.md#facts, #signatures), evaluated.
#[derive(Clone, Debug, Default)]
pub struct SigningKeys {
    /// `security.os_images.skip_signing_check`: signatures are not checked, unless the project requires them.
    pub skip: bool,
    /// `security.os_images.cosign_public_key`: for the builder's images that name no registry, or one without a key.
    pub default_key: Option<NamedKey>,
    /// Whether the default key is for images with a `uri` of their own too: where the catalog has no others.
    pub is_for_own: bool,
    /// `os_images_oci_registries.<name>.cosign_publickey`, or another name of it, where it is not empty.
    pub registries: BTreeMap<Arc<str>, NamedKey>,
}

impl NamedKey {
    /// Where it is named.
    pub fn place(&self) -> Place {
        match self {
            Self::Text(text) => text.place,
            Self::Failed(place) => *place,
        }
    }
}

/// The key that an image's entry or its record names. What was exported from a cluster repeats the key that the chart took from a
/// registry, so it is none of a builder's image.
pub fn own_key(image: &Image) -> Option<NamedKey> {
    let own = image.facts.get(KEY_PROPERTY);
    let own = own.filter(|key| !image.built || key.origin > Origin::InfoFile);
    let own = own.filter(|key| !key.value.trim().is_empty());
    let own = own.map(|own| NamedKey::Text(Located::new(Arc::clone(&own.value), own.place)));
    let mistyped = image.facts.wrong_type(KEY_PROPERTY);
    let is_no_text = mistyped.is_some_and(|kind| kind != "null");
    own.or_else(|| is_no_text.then_some(NamedKey::Failed(image.place)))
}

impl SigningKeys {
    /// The key that an image is to be signed with: its own, its registry's, else the default one. None where none is named.
    pub fn find_key(&self, image: &Image) -> Option<NamedKey> {
        let registry = image.registry.as_ref();
        let named = own_key(image).or_else(|| self.registries.get(registry?).cloned());
        let default = self.default_key.as_ref();
        let is_of_builder = image.built || registry.is_some();
        named.or_else(|| {
            default
                .filter(|_| is_of_builder || self.is_for_own)
                .cloned()
        })
    }
}

/// What the project file requires of signatures, whatever the values say.
#[derive(Clone, Debug, Default)]
pub struct RequiredSignatures {
    /// The keys that it names, by their names.
    pub names: BTreeMap<String, PublicKey>,
    /// What every image has to have.
    pub everywhere: Option<SignatureDemand>,
    /// What the images below prefixes have to have instead; the longest prefix counts.
    pub below: Vec<DemandBelow>,
    /// The fingerprints of keys that prove nothing any more.
    pub denied: BTreeSet<Digest>,
}

/// What the images below a prefix have to have.
#[derive(Clone, Debug)]
pub struct DemandBelow {
    /// The prefix.
    pub below: Reference,
    /// What they have to have.
    pub demand: SignatureDemand,
    /// Where it is written.
    pub spot: Option<Spot>,
}

/// What an image has to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignatureDemand {
    /// A signature under the key that the values name.
    Signed,
    /// Signatures under keys of the project file, whichever the values name.
    Keys(TrustedKeys),
}

/// Keys of which some have to have signed an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedKeys {
    /// Each once, sorted by fingerprint.
    keys: Vec<PublicKey>,
    /// How many of them, at least 1.
    needed: usize,
    /// Who names them.
    pub namer: KeyNamer,
}

/// Who names a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyNamer {
    /// The values of a cluster, or a record.
    Values,
    /// The project file.
    Policy,
}

impl KeyNamer {
    /// For messages: the key of …
    pub fn words(self) -> &'static str {
        match self {
            Self::Values => "the values",
            Self::Policy => "`policy.signatures`",
        }
    }
}

impl TrustedKeys {
    /// Keys that differ, and how many of them have to have signed.
    pub fn new(mut keys: Vec<PublicKey>, needed: usize, namer: KeyNamer) -> Self {
        keys.sort_by(|a, b| a.fingerprint().cmp(b.fingerprint()));
        Self {
            keys,
            needed,
            namer,
        }
    }

    /// The keys.
    pub fn keys(&self) -> &[PublicKey] {
        &self.keys
    }

    /// A stable order of sets of keys.
    pub fn order(&self, other: &Self) -> Ordering {
        fn fingerprints(demand: &TrustedKeys) -> impl Iterator<Item = &Digest> {
            demand.keys.iter().map(PublicKey::fingerprint)
        }
        let keys = fingerprints(self).cmp(fingerprints(other));
        keys.then(self.needed.cmp(&other.needed))
    }

    /// How many of them have to have signed.
    pub fn threshold(&self) -> usize {
        self.needed
    }

    /// `; 1 of 2 keys have signed it, and 2 have to`; empty of one key.
    pub fn count_in_words(&self, good: usize) -> String {
        match self.keys.len() {
            1 => String::new(),
            all => format!(
                "; {good} of the {all} keys of {} signed it, and {} have to",
                self.namer.words(),
                self.needed
            ),
        }
    }
}

impl RequiredSignatures {
    /// Every image has to have that.
    pub fn from_demand(demand: SignatureDemand) -> Self {
        Self {
            everywhere: Some(demand),
            ..Self::default()
        }
    }

    /// Whether nothing is required of any image.
    pub fn is_empty(&self) -> bool {
        self.everywhere.is_none() && self.below.is_empty()
    }

    /// What an image with this reference or address has to have.
    pub fn demand(&self, address: &Address) -> Option<&SignatureDemand> {
        let below = self.below.iter();
        let below = below.filter(|it| address.is_below(std::slice::from_ref(&it.below)));
        let longest = below.max_by_key(|it| it.below.name().len());
        longest.map(|it| &it.demand).or(self.everywhere.as_ref())
    }

    /// Whether an image with this reference or address has to be signed.
    pub fn cover(&self, address: &Address) -> bool {
        self.demand(address).is_some()
    }
}
