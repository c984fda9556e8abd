//! Matching: which image a selector or a key selects, and why the others do not match.
//!
//! Source: sylva-library's `_os_images.tpl` (docs/sylva.md). Never looks at a cluster's files: rules turn [`Outcome`]s
//! into findings.

mod compare;
mod finalize;
mod found;
mod pattern;

use std::sync::Arc;

use super::cluster::{Choice, Cluster};
use super::name::key_of;
use super::selector::Selector;
use capi::image::{Image, ImageKey, Images, fact};
use capi::location::Location;
use compare::Compiled;
pub use finalize::{IMAGE_KEY, REGISTRY_KEY, SELECTOR_KEYS, USE_EXTRA_KEYS, finalize, validate};
pub use found::Selectable;
use found::find;
pub use pattern::{PatternCache, is_pattern};

/// Selects the image of a pool.
///
/// A selector comes before `image_key`, which must name the same image; a key alone is taken as it is
/// (docs/sylva.md#selection-levels). A URL counts where neither is given.
pub fn select(
    choice: &Choice,
    cluster: &ClusterFacts<'_>,
    catalog: &Selectable,
    mode: Matching,
    cache: &PatternCache,
) -> Selection {
    let images: &Images = catalog;
    let key = choice.key.as_ref().map(|key| &key.value);
    let key = key.filter(|key| !key.is_empty());
    let selector = choice.selector.as_ref().map(|selector| &selector.value);
    match selector.filter(|selector| !selector.terms.is_empty()) {
        Some(selector) => by_selector(selector, key, cluster, catalog, mode, cache),
        None => Selection {
            finalized: Selector::default(),
            candidates: Vec::new(),
            outcome: match key {
                Some(key) => named(key, images).map_or_else(
                    || Outcome::Unknown(Arc::clone(key)),
                    |key| Outcome::Image(Arc::clone(key)),
                ),
                None if choice.url.is_some() => Outcome::Explicit(known_at(choice, images)),
                None if choice.name.is_some() => Outcome::Named(known_as(choice, images).cloned()),
                None => Outcome::Nothing,
            },
            other_mode: None,
        },
    }
}

/// The images that a selector matches as written, not finalized: the additional selectors of the image server
/// (docs/sylva.md#the-image-server).
pub fn matching(
    selector: &Selector,
    library: Library,
    images: &Images,
    mode: Matching,
    cache: &PatternCache,
) -> Result<Vec<ImageKey>, String> {
    validate(selector, library)?;
    let found = find(&Compiled::new(selector, cache), images);
    Ok(match mode {
        Matching::Exact => found.exact?,
        Matching::Normalized => {
            let mut keys = found.proven;
            keys.extend(found.possible);
            keys.sort();
            keys
        }
    })
}

/// Every image with the facts that keep it from matching, sorted by key.
pub fn candidates(
    finalized: &Selector,
    images: &Images,
    mode: Matching,
    cache: &PatternCache,
) -> Vec<Candidate> {
    let compiled = Compiled::new(finalized, cache);
    images
        .values()
        .map(|image| Candidate {
            key: Arc::clone(&image.key),
            differs: compiled.differences(image, mode),
        })
        .collect()
}

/// The key of the image that a name means: a key, or the name of an artifact whose dots became dashes in its key.
pub fn named<'a>(name: &str, images: &'a Images) -> Option<&'a ImageKey> {
    if let Some((key, _)) = images.get_key_value(name) {
        return Some(key);
    }
    let (key, image) = images.get_key_value(&key_of(name).ok()?)?;
    (*image.artifact == *name).then_some(key)
}

/// The key of the one image that a provider's store has under the name of a choice: as a location of the image says, under its
/// key, or as Sylva pushes it to Glance.
pub fn known_as<'a>(choice: &Choice, images: &'a Images) -> Option<&'a ImageKey> {
    let name = &choice.name.as_ref()?.value;
    let location = location(choice, name);
    let is_pushed = |image: &Image| {
        let tag = name.strip_prefix(&*image.key);
        let tag = tag.and_then(|rest| rest.strip_prefix("-sylva-diskimage-builder-"));
        tag.is_some_and(|tag| image.facts.text(fact::COMMIT_TAG) == Some(tag))
            && location.is_in("locations.glance.name")
    };
    let is_known = |image: &&Image| location.holds(image) || is_pushed(image);
    let mut known = images.values().filter(is_known);
    match (known.next(), known.next()) {
        (Some(only), None) => Some(&only.key),
        (Some(_), Some(_)) => None,
        (None, _) => {
            let is_elsewhere = |key: &&ImageKey| location.is_contradicted(&images[*key]);
            named(name, images).filter(|key| !is_elsewhere(key))
        }
    }
}

/// The key of the one image that lies at the URL of a choice, as a location of the image says.
fn known_at(choice: &Choice, images: &Images) -> Option<ImageKey> {
    let location = location(choice, &choice.url.as_ref()?.value);
    let mut known = images.values().filter(|image| location.holds(image));
    let only = known.next()?;
    known.next().is_none().then(|| Arc::clone(&only.key))
}

fn location(choice: &Choice, text: &Arc<str>) -> Location {
    let known = choice.location.clone();
    known.unwrap_or_else(|| Location::anywhere(text))
}

/// What a cluster adds to its selectors (docs/sylva.md#what-is-added-to-a-selector).
#[derive(Clone, Copy, Debug, Default)]
pub struct ClusterFacts<'a> {
    /// `cluster.k8s_version`
    pub k8s_version: Option<&'a str>,
    /// `cluster.capi_providers.bootstrap_provider`
    pub bootstrap_provider: Option<&'a str>,
    /// `os_image_selector_autoselect_registries`
    pub autoselect_registries: Option<&'a str>,
    /// The version of sylva-library that its chart has.
    pub library: Library,
}

/// A version of sylva-library, as far as versions match images differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Library {
    /// 0.3.8 and earlier: selectors do not know the registry that an image comes from.
    WithoutRegistries,
    /// 0.9.0 and later.
    #[default]
    WithRegistries,
}

impl<'a> ClusterFacts<'a> {
    /// The facts of a cluster. A pool's own version is not included: upstream finalizes with the cluster's version.
    pub fn of(cluster: &'a Cluster) -> Self {
        let text = |located: &'a Option<yaml_tree::place::Located<Arc<str>>>| {
            located.as_ref().map(|located| &*located.value)
        };
        Self {
            k8s_version: text(&cluster.k8s_version),
            bootstrap_provider: text(&cluster.bootstrap_provider),
            autoselect_registries: cluster.autoselect_registries.as_deref(),
            library: cluster.library,
        }
    }
}

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
    /// Bit for bit as Sylva's library does it (docs/sylva.md).
    Exact,
    /// A leading `v` is dropped, and `-rke2r1` equals `+rke2r1` (docs/sylva.md#what-is-added-to-a-selector).
    #[default]
    Normalized,
}

/// The result of one pool's selection, with its details.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The selector that was matched: the user's terms and the terms that finalizing added
    /// (docs/sylva.md#what-is-added-to-a-selector). Empty where a key was named.
    pub finalized: Selector,
    /// Where a selector does not match exactly one image: every image of the catalog with the facts that keep it from
    /// matching, sorted by key. Empty otherwise; [`candidates`] makes it on demand.
    pub candidates: Vec<Candidate>,
    /// The answer.
    pub outcome: Outcome,
    /// What the other [`Matching`] mode would have answered, where it differs.
    pub other_mode: Option<Outcome>,
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
    pub fn selected(self) -> Option<&'a ImageKey> {
        match self {
            Self::Selected(key) => Some(key),
            Self::Recognized(_) | Self::Foreign | Self::None => None,
        }
    }

    /// The image of the catalog whose facts are those of what boots.
    pub fn described(self) -> Option<&'a ImageKey> {
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
    /// The pool gives `machine_image_url` and the rest itself; the one image of the catalog that lies there, as a location of the
    /// image says.
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

fn by_selector(
    selector: &Selector,
    key: Option<&ImageKey>,
    cluster: &ClusterFacts<'_>,
    catalog: &Selectable,
    mode: Matching,
    cache: &PatternCache,
) -> Selection {
    let invalid = |finalized: Selector, reason: String| Selection {
        finalized,
        candidates: Vec::new(),
        outcome: Outcome::Invalid(reason),
        other_mode: None,
    };
    let finalized = match finalize(selector, cluster) {
        Ok(finalized) => finalized,
        Err(reason) => return invalid(selector.clone(), reason),
    };
    if let Err(reason) = validate(&finalized, cluster.library) {
        return invalid(finalized, reason);
    }
    let images: &Images = catalog;
    let found = catalog.find(&finalized, cache);
    let exact = match &found.exact {
        Ok(keys) => outcome_of(keys, key, images),
        Err(reason) => Outcome::Invalid(reason.clone()),
    };
    // A version known by its name only never beats a proven one, and two of them count as two matches.
    let fitting = match found.proven.is_empty() {
        true => &found.possible,
        false => &found.proven,
    };
    let normalized = outcome_of(fitting, key, images);
    let (outcome, other) = match mode {
        Matching::Exact => (exact, normalized),
        Matching::Normalized => (normalized, exact),
    };
    let candidates = match outcome {
        Outcome::Image(_) | Outcome::Invalid(_) => Vec::new(),
        _ => candidates(&finalized, images, mode, cache),
    };
    Selection {
        finalized,
        candidates,
        other_mode: (other != outcome).then_some(other),
        outcome,
    }
}

/// None, one or many (docs/sylva.md#the-result); a key beside the selector must agree with the one
/// (docs/sylva.md#selection-levels), and decides nothing (docs/sylva.md#selection-levels).
fn outcome_of(keys: &[ImageKey], named_key: Option<&ImageKey>, images: &Images) -> Outcome {
    let selected = match keys {
        [] => return Outcome::NoMatch,
        [selected] => selected,
        _ => return Outcome::Several(keys.to_vec()),
    };
    match named_key {
        Some(key) if key != selected && named(key, images) != Some(selected) => Outcome::Disagree {
            key: Arc::clone(key),
            selected: vec![Arc::clone(selected)],
        },
        _ => Outcome::Image(Arc::clone(selected)),
    }
}

#[cfg(test)]
mod tests;
