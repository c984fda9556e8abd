//! What a node pool selects: the answer of [`crate::decide`], with its details.

use std::sync::Arc;

use capi::image::{ImageKey, fact};

use super::selector::Selector;
use super::version::Version;

/// The result of one pool's selection, with its details.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The selector that was matched: the user's terms and the terms that finalizing added
    /// (docs/sylva.md#what-is-added-to-a-selector). Empty where a key was named.
    pub finalized: Selector,
    /// Where a selector does not match exactly one image: what it was compared with. Nothing otherwise;
    /// [`candidates`](crate::decide::matching::candidates) makes all of it on demand.
    pub near_misses: Arc<NearMisses>,
    /// The answer.
    pub outcome: Outcome,
    /// The other images of the catalog that have the digest or the URL of the one that the pool boots.
    pub twins: Vec<ImageKey>,
    /// The image of the catalog whose file has the name that the pool's URL ends in: what is served there, perhaps.
    pub file: Option<ImageKey>,
    /// What the other [`Matching`](super::selector::Matching) mode would have answered, where it differs.
    pub other_mode: Option<Outcome>,
}

/// The images that a selector was compared with.
#[derive(Clone, Debug, Default)]
pub struct NearMisses {
    /// How many they are.
    pub compared: usize,
    /// The first of those that the fewest facts keep from matching, sorted by key.
    pub nearest: Vec<Candidate>,
}

impl Selection {
    /// The image that the pool boots: the only answer to whether it has one.
    pub fn image(&self) -> PoolImage<'_> {
        match &self.outcome {
            Outcome::Image(key) => PoolImage::Selected(key),
            Outcome::Explicit(Some(key)) | Outcome::Named(Some(key)) => PoolImage::Recognized(key),
            Outcome::Explicit(None) | Outcome::Named(None) => PoolImage::Foreign,
            Outcome::Nothing
            | Outcome::Unknown(_)
            | Outcome::NoMatch
            | Outcome::Several(_)
            | Outcome::Disagree { .. }
            | Outcome::Invalid(_) => PoolImage::None,
        }
    }

    /// The images of the catalog that the pool boots: all descriptions of the one.
    pub fn all_images(&self) -> impl Iterator<Item = &ImageKey> {
        self.image().facts_key().into_iter().chain(&self.twins)
    }
}

/// The image that a pool boots, by who says what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolImage<'a> {
    /// The catalog: a key or a selector selects the image of this key. What the catalog says of it is rendered, and it is served.
    Selected(&'a ImageKey),
    /// The pool, by a name in its provider's store or a URL, under which the catalog knows the image of this key. Its facts are
    /// those of what boots, but what the pool says is what machines get: nothing is rendered or served of the catalog's.
    Recognized(&'a ImageKey),
    /// The pool, by a name or a URL that the catalog does not know: nothing but that text is known of the image.
    Foreign,
    /// Nobody: the [`Outcome`] says why.
    None,
}

impl<'a> PoolImage<'a> {
    /// The image that is taken from the catalog.
    pub fn catalog_key(self) -> Option<&'a ImageKey> {
        match self {
            Self::Selected(key) => Some(key),
            Self::Recognized(_) | Self::Foreign | Self::None => None,
        }
    }

    /// The image of the catalog whose facts are those of what boots.
    pub fn facts_key(self) -> Option<&'a ImageKey> {
        match self {
            Self::Selected(key) | Self::Recognized(key) => Some(key),
            Self::Foreign | Self::None => None,
        }
    }
}

/// The outcome of a pool's selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// One image.
    Image(ImageKey),
    /// The pool gives `machine_image_url` and the rest itself; the image of the catalog that lies there, that the project serves
    /// there, or that has the digest.
    Explicit(Option<ImageKey>),
    /// The pool gives the name of an image in its provider's store; the image of the catalog that is known under it.
    Named(Option<ImageKey>),
    /// The pool selects nothing.
    Nothing,
    /// The key is not in the catalog.
    Unknown(ImageKey),
    /// No image matches.
    NoMatch,
    /// More than one image matches.
    Several(Vec<ImageKey>),
    /// The selector matches one image and the key names another (docs/sylva.md#selection-levels).
    Disagree {
        /// What `image_key` names.
        key: ImageKey,
        /// What the selector matches.
        selected: Vec<ImageKey>,
    },
    /// The selector itself is wrong: an unknown fact, or a value of the wrong type (docs/sylva.md#selectors, #patterns).
    Invalid(String),
}

/// An image, and why it does not match.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The image.
    pub key: ImageKey,
    /// The facts that differ; empty for a match.
    pub differs: Vec<Difference>,
}

/// How far an image is from what a selector wants. The least is the nearest: the fewest facts differ; of those, first what only comes
/// from another registry, which is the machine's image in all that it is; then the Kubernetes version is the nearest, by minors, then
/// by patches; of two that are equally far, the newer one. Last come images that are of another kind instead, such as of another
/// system, and those that say no exact version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Distance {
    facts: usize,
    is_another: bool,
    minors: u32,
    patches: u32,
    is_older: bool,
}

impl Candidate {
    /// How far it is from what was wanted.
    pub fn distance(&self) -> Distance {
        let version = self.differs.iter().find(|it| it.fact == fact::K8S_VERSION);
        let versions = version.and_then(|differs| {
            // The dots of a pattern are escaped.
            let wanted = Version::parse(&differs.wanted.replace('\\', ""));
            wanted.zip(Version::parse(differs.has.as_deref()?))
        });
        let patch = |version: &Version| version.patch.unwrap_or_default();
        let (minors, patches, is_older) = match &versions {
            None => (u32::MAX, 0, false),
            Some((wanted, has)) => (
                wanted.minor.abs_diff(has.minor),
                patch(wanted).abs_diff(patch(has)),
                has < wanted,
            ),
        };
        Distance {
            facts: self.differs.len(),
            is_another: self.differs.iter().any(|it| it.fact != fact::OCI_REGISTRY),
            minors,
            patches,
            is_older,
        }
    }
}

/// One fact that keeps an image from matching.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The fact's name.
    pub fact: String,
    /// What the selector wants.
    pub wanted: String,
    /// What the image has; none where it lacks the fact.
    pub has: Option<String>,
}

/// The result of a pool's selection of a component bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BundleOutcome {
    /// None is selected.
    #[default]
    Nothing,
    /// That one.
    Bundle(ImageKey),
    /// The catalog has no bundle of that name.
    Unknown(Arc<str>),
    /// No bundle fits the pool and its selector.
    NoMatch,
    /// Several do, by key.
    Several(Vec<ImageKey>),
}
