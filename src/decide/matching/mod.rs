//! Matching: which image a selector or a key selects, and why the others do not match.
//!
//! Source: sylva-library's `_os_images.tpl` (docs/sylva.md). Never looks at a cluster's files: rules turn [`Outcome`]s
//! into findings.

mod compare;
mod finalize;
mod found;
mod pattern;

use std::sync::Arc;

use capi::image::{ImageKey, Images};

use crate::decide::identity::{bare_name, find_image};
use crate::model::cluster::{Choice, Cluster};
use crate::model::selection::{Candidate, Outcome, Selection};
use crate::model::selector::{Library, Matching, Selector};
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
    let mut selection = match selector.filter(|selector| !selector.terms.is_empty()) {
        Some(selector) => match_selector(selector, key, cluster, catalog, mode, cache),
        None => Selection {
            finalized: Selector::default(),
            near_misses: Arc::default(),
            outcome: match key {
                Some(key) => find_image(key, images)
                    .or_else(|| catalog.find_by_chart_name(key))
                    .map_or_else(
                        || Outcome::Unknown(Arc::clone(key)),
                        |key| Outcome::Image(Arc::clone(key)),
                    ),
                None if choice.url.is_some() => Outcome::Explicit(catalog.find_by_url(choice)),
                None if choice.name.is_some() => Outcome::Named(catalog.find_by_name(choice)),
                None => Outcome::Nothing,
            },
            twins: Vec::new(),
            file: None,
            other_mode: None,
        },
    };
    let url = choice.url.as_ref();
    selection.file = url.and_then(|url| catalog.find_by_file(&url.value));
    if let Some(image) = selection.image().facts_key() {
        selection.twins = catalog.twins(image, choice);
    }
    selection
}

/// What the image server serves for an additional selector: nobody finalizes it, and Sylva's library alone matches it, as it
/// is written (docs/sylva.md#the-image-server).
pub struct ServerImages {
    /// The images that facts make match.
    pub proven: Vec<ImageKey>,
    /// Those that may be among them, because a name says the version, and no fact.
    pub possible: Vec<ImageKey>,
}

impl ServerImages {
    /// Matches a selector.
    ///
    /// # Errors
    /// Sylva's library refuses it: why.
    pub fn find(
        selector: &Selector,
        library: Library,
        images: &Images,
        mode: Matching,
        cache: &PatternCache,
    ) -> Result<Self, String> {
        validate(selector, library)?;
        let found = find(&Compiled::new(selector, cache), images);
        let (mut proven, mut possible) = (found.exact?, Vec::new());
        if mode == Matching::Normalized {
            possible = found.possible;
            proven.retain(|key| possible.binary_search(key).is_err());
        }
        Ok(Self { proven, possible })
    }

    /// All of them.
    pub fn into_all(self) -> Vec<ImageKey> {
        union(self.proven, self.possible)
    }
}

/// The images that a selector matches as written, not finalized.
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
        Matching::Normalized => union(found.proven, found.possible),
    })
}

/// The images of both lists, each once, sorted by key.
fn union(mut keys: Vec<ImageKey>, others: Vec<ImageKey>) -> Vec<ImageKey> {
    keys.extend(others);
    keys.sort();
    keys.dedup();
    keys
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

impl<'a> ClusterFacts<'a> {
    /// The facts of a cluster. A pool's own version is not included: upstream finalizes with the cluster's version.
    pub fn from_cluster(cluster: &'a Cluster) -> Self {
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

fn match_selector(
    selector: &Selector,
    key: Option<&ImageKey>,
    cluster: &ClusterFacts<'_>,
    catalog: &Selectable,
    mode: Matching,
    cache: &PatternCache,
) -> Selection {
    let invalid = |finalized: Selector, reason: String| Selection {
        finalized,
        near_misses: Arc::default(),
        outcome: Outcome::Invalid(reason),
        twins: Vec::new(),
        file: None,
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
    let fitting = if found.proven.is_empty() {
        &found.possible
    } else {
        &found.proven
    };
    let normalized = outcome_of(fitting, key, images);
    let (outcome, other) = match mode {
        Matching::Exact => (exact, normalized),
        Matching::Normalized => (normalized, exact),
    };
    let near_misses = match outcome {
        Outcome::Image(_) | Outcome::Invalid(_) => Arc::default(),
        _ => found.near_misses(&finalized, images, mode, cache),
    };
    Selection {
        finalized,
        near_misses,
        other_mode: (other != outcome).then_some(other),
        twins: Vec::new(),
        file: None,
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
    let is_it = |key: &ImageKey| {
        let of_chart = images.get(selected).and_then(bare_name);
        key == selected || find_image(key, images) == Some(selected) || of_chart == Some(&**key)
    };
    match named_key {
        Some(key) if !is_it(key) => Outcome::Disagree {
            key: Arc::clone(key),
            selected: vec![Arc::clone(selected)],
        },
        _ => Outcome::Image(Arc::clone(selected)),
    }
}

#[cfg(test)]
mod tests;
