//! Caches the matches of selectors in a catalog, because the clusters of a fleet repeat few selectors.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use capi::image::{ImageKey, Images};
use parking_lot::RwLock;
use yaml_tree::suggest::Words;

use super::compare::{Compiled, Fit};
use super::pattern::PatternCache;
use crate::decide::identity::Identities;
use crate::model::cluster::Choice;
use crate::model::selection::{Candidate, NearMisses};
use crate::model::selector::{Matching, Selector, Wanted};

/// The images of a catalog, with what was found among them. Cheap to clone; clones share what they find.
#[derive(Clone, Debug, Default)]
pub struct Selectable {
    images: Arc<Images>,
    found: Arc<RwLock<HashMap<String, Arc<Found>>>>,
    identities: Arc<OnceLock<Identities>>,
    names: Arc<OnceLock<Words>>,
}

/// How many selectors are kept, so that memory does not grow with the fleet.
const KEPT: usize = 1024;

/// What a selector matches in both modes; keys are sorted.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) exact: Result<Vec<ImageKey>, String>,
    pub(super) proven: Vec<ImageKey>,
    pub(super) possible: Vec<ImageKey>,
    /// What was compared, in either mode, once somebody reads it.
    near_misses: [OnceLock<Arc<NearMisses>>; 2],
}

/// How many near misses are worth reading.
const SHOWN: usize = 3;

impl Found {
    /// The images that the selector was compared with.
    pub(super) fn near_misses(
        &self,
        selector: &Selector,
        images: &Images,
        mode: Matching,
        patterns: &PatternCache,
    ) -> Arc<NearMisses> {
        let compare = || {
            let compiled = Compiled::new(selector, patterns);
            let (mut least, mut nearest) = (usize::MAX, Vec::new());
            for image in images.values() {
                let differs = compiled.differences(image, mode);
                if differs.len() < least {
                    least = differs.len();
                    nearest.clear();
                }
                if differs.len() == least {
                    let key = Arc::clone(&image.key);
                    nearest.push(Candidate { key, differs });
                }
            }
            nearest.sort_by_cached_key(Candidate::distance);
            nearest.truncate(SHOWN);
            let compared = images.len();
            Arc::new(NearMisses { compared, nearest })
        };
        Arc::clone(self.near_misses[mode as usize].get_or_init(compare))
    }
}

impl Selectable {
    /// Images of which nothing was found yet.
    pub fn new(images: Arc<Images>) -> Self {
        Self {
            images,
            found: Arc::default(),
            identities: Arc::default(),
            names: Arc::default(),
        }
    }

    /// The key of the image that the URL of a choice means.
    pub(super) fn find_by_url(&self, choice: &Choice) -> Option<ImageKey> {
        self.identities().find_by_url(choice, &self.images)
    }

    /// The key of the image that the name of a choice means.
    pub(super) fn find_by_name(&self, choice: &Choice) -> Option<ImageKey> {
        self.identities().find_by_name(choice, &self.images)
    }

    /// The key of the image whose file has the name that a URL ends in.
    pub(super) fn find_by_file(&self, url: &str) -> Option<ImageKey> {
        self.identities().find_by_file(url).cloned()
    }

    /// The key of the only image that the chart calls by a registry and this name.
    pub(super) fn find_by_chart_name(&self, name: &str) -> Option<&ImageKey> {
        self.identities().find_by_chart_name(name)
    }

    /// The other images that are one with an image.
    pub(super) fn twins(&self, image: &ImageKey, choice: &Choice) -> Vec<ImageKey> {
        self.identities().twins(image, choice)
    }

    fn identities(&self) -> &Identities {
        let make = || Identities::new(&self.images);
        self.identities.get_or_init(make)
    }

    /// The images by key, to be kept.
    pub fn images(&self) -> Arc<Images> {
        Arc::clone(&self.images)
    }

    /// The place of the names of the images, to be kept; they are written there once somebody looks for one.
    pub fn names(&self) -> Arc<OnceLock<Words>> {
        Arc::clone(&self.names)
    }

    /// What a finalized selector matches.
    pub(super) fn find(&self, selector: &Selector, patterns: &PatternCache) -> Arc<Found> {
        let words = cache_key(selector);
        let known = self.found.read();
        if let Some(found) = known.get(&words) {
            return Arc::clone(found);
        }
        drop(known);
        let found = Arc::new(find(&Compiled::new(selector, patterns), &self.images));
        let mut known = self.found.write();
        if known.len() < KEPT {
            known.insert(words, Arc::clone(&found));
        }
        found
    }
}

impl Deref for Selectable {
    type Target = Images;

    fn deref(&self) -> &Images {
        &self.images
    }
}

/// A cache key: the terms of a selector as a text that is unique to them.
fn cache_key(selector: &Selector) -> String {
    let mut words = String::with_capacity(128);
    for term in &selector.terms {
        let (kind, text) = match &term.wanted {
            Wanted::Pattern(text) => ("=", &**text),
            Wanted::Bool(true) => ("!", "true"),
            Wanted::Bool(false) => ("!", "false"),
            Wanted::Invalid(kind) => ("?", *kind),
        };
        let _ = write!(
            words,
            "{}:{}{kind}{}:{text}",
            term.fact.len(),
            term.fact,
            text.len()
        );
    }
    words
}

pub(super) fn find(compiled: &Compiled<'_>, images: &Images) -> Found {
    let mut found = Found {
        exact: Ok(Vec::new()),
        proven: Vec::new(),
        possible: Vec::new(),
        near_misses: Default::default(),
    };
    for image in images.values() {
        let verdict = compiled.judge(image);
        match (&mut found.exact, verdict.exact) {
            (Ok(keys), Ok(true)) => keys.push(Arc::clone(&image.key)),
            (exact @ Ok(_), Err(reason)) => *exact = Err(reason),
            _ => {}
        }
        match verdict.normalized {
            Fit::Yes => found.proven.push(Arc::clone(&image.key)),
            Fit::Possible => found.possible.push(Arc::clone(&image.key)),
            Fit::No => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::cache_key;
    use crate::model::selector::{Selector, Term, Wanted};
    use yaml_tree::place::Place;

    fn of(terms: &[(&str, Wanted)]) -> String {
        let terms = terms.iter().map(|(fact, wanted)| Term {
            fact: (*fact).into(),
            wanted: wanted.clone(),
            place: Place::NONE,
            key_place: Place::NONE,
        });
        cache_key(&Selector {
            terms: terms.collect(),
        })
    }

    #[test]
    fn other_terms_are_other_words() {
        let text = |text: &str| Wanted::Pattern(text.into());
        let all = [
            of(&[]),
            of(&[("os", text("a"))]),
            of(&[("os", text("a")), ("os", text("a"))]),
            of(&[("os", text("a2:os=1:a"))]),
            of(&[("hardened", text("true"))]),
            of(&[("hardened", Wanted::Bool(true))]),
            of(&[("hardened", Wanted::Bool(false))]),
            of(&[("hardened", Wanted::Invalid("true"))]),
            of(&[("a", text("b=c"))]),
            of(&[("a=b", text("c"))]),
        ];
        for (index, words) in all.iter().enumerate() {
            assert!(!all[index + 1..].contains(words), "{words}");
        }
    }
}
