//! Which image a selector means, and why not the others.

use super::image::ImageKey;
use super::selector::Selector;

/// How Kubernetes versions are compared while matching.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    serde::Deserialize,
    serde::Serialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Matching {
    /// Bit for bit as Sylva's library does it (S20–S25, T1–T17).
    Exact,
    /// A leading `v` is dropped, and `-rke2r1` equals `+rke2r1` (S23).
    #[default]
    Normalised,
}

/// What became of one pool's choice.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The selector that was matched: the user's terms and those that finalising added (S22). Empty where a key was named.
    pub finalised: Selector,
    /// Every image of the catalogue, with the facts that keep it from matching; sorted by key.
    pub candidates: Vec<Candidate>,
    /// The answer.
    pub outcome: Outcome,
    /// What the other [`Matching`] mode would have answered, where it differs.
    pub other_mode: Option<Outcome>,
}

/// The answer to a pool's choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// One image.
    Image(ImageKey),
    /// The pool gives `machine_image_url` and the rest itself.
    Explicit,
    /// The pool chooses nothing.
    Nothing,
    /// The key is not in the catalogue.
    Unknown(ImageKey),
    /// No image matches.
    NoMatch,
    /// More than one image matches.
    Several(Vec<ImageKey>),
    /// The selector matches one image and the key names another (S25).
    Disagree {
        /// What `image_key` names.
        key: ImageKey,
        /// What the selector matches.
        selected: Vec<ImageKey>,
    },
    /// The selector itself is wrong: an unknown fact, or a value of the wrong type (S20, S21).
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
