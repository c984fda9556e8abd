//! Selectors that mean something else than they seem to.

use std::sync::Arc;

use super::PatternCache;
use super::compare::UNSET;
use super::finalise::{IMAGE_KEY, SELECTOR_KEYS, USE_EXTRA_KEYS};
use super::pattern::{Pattern, meant};
use crate::model::image::{Image, ImageKey, Images, fact};
use crate::model::place::Place;
use crate::model::selector::{Selector, Term, Wanted};
use crate::regexp::Regexp;

/// One trap in a selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// The fact of the term.
    pub fact: Arc<str>,
    /// Where the offender stands: the key for an unknown fact, else the value; [`Place::NONE`] for an added term.
    pub place: Place,
    /// Which trap.
    pub kind: TrapKind,
}

/// The traps that are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrapKind {
    /// Selectors do not know the fact, and [`USE_EXTRA_KEYS`] is not there (S20). Upstream refuses the selector.
    UnknownFact,
    /// The value is neither text nor boolean (S21); what it is. Upstream refuses the selector.
    WrongType(&'static str),
    /// The pattern does not compile: it matches nothing, and upstream says nothing (T3). The reason.
    Unreadable(String),
    /// The pattern closes the group that is put around it and opens another: `ubuntu)|(.*` (T4).
    BreaksOut,
    /// The pattern also matches images that lack the fact (S21); those images.
    AcceptsMissing(Vec<ImageKey>),
    /// A dot stands for any character, and values match that differ from what was meant (S22, T4); those values.
    LooseDot(Vec<Arc<str>>),
    /// The version has a leading `v`, which no annotation has (S27).
    LeadingV,
}

/// The traps of a selector over these images; of a finalised one too, whose added `.*` is none.
pub fn traps(selector: &Selector, images: &Images, cache: &PatternCache) -> Vec<Trap> {
    let extra_keys = selector.term(USE_EXTRA_KEYS).is_some();
    let mut traps = Vec::new();
    for term in &selector.terms {
        let mut report = |place, kind| {
            traps.push(Trap {
                fact: Arc::clone(&term.fact),
                place,
                kind,
            });
        };
        if !extra_keys && !SELECTOR_KEYS.contains(&&*term.fact) {
            report(term.key_place, TrapKind::UnknownFact);
            continue;
        }
        match &term.wanted {
            Wanted::Invalid(kind) => report(term.place, TrapKind::WrongType(kind)),
            Wanted::Pattern(text) if &*term.fact != USE_EXTRA_KEYS => {
                let kinds = pattern_traps(term, text, images, cache);
                kinds.into_iter().for_each(|kind| report(term.place, kind));
            }
            _ => {}
        }
    }
    traps
}

fn pattern_traps(
    term: &Term,
    text: &Arc<str>,
    images: &Images,
    cache: &PatternCache,
) -> Vec<TrapKind> {
    let pattern = cache.get(text);
    match &pattern {
        Pattern::Invalid => {
            let spliced = || Regexp::new(&format!("^({text})$"));
            let error = Regexp::new(text).and_then(|_| spliced()).err();
            let reason = error.map(|error| error.message).unwrap_or_default();
            return vec![TrapKind::Unreadable(reason)];
        }
        Pattern::Regexp(spliced) if spliced.breaks_out => return vec![TrapKind::BreaksOut],
        _ => {}
    }
    let mut kinds = Vec::new();
    if &*term.fact == fact::K8S_VERSION && text.starts_with('v') {
        kinds.push(TrapKind::LeadingV);
    }
    if term.place.is_known() && pattern.is_match(UNSET) {
        let lacks = |image: &&_| lacks(image, &term.fact);
        let lacking: Vec<ImageKey> = images
            .values()
            .filter(lacks)
            .map(|image| Arc::clone(&image.key))
            .collect();
        if !lacking.is_empty() {
            kinds.push(TrapKind::AcceptsMissing(lacking));
        }
    }
    if let (Pattern::Dotted(_), Some(meant)) = (&pattern, meant(text)) {
        let mut others: Vec<Arc<str>> = images
            .values()
            .filter_map(|image| Some(&image.facts.get(&term.fact)?.value))
            .filter(|value| ***value != *meant && pattern.is_match(value))
            .cloned()
            .collect();
        others.sort();
        others.dedup();
        if !others.is_empty() {
            kinds.push(TrapKind::LooseDot(others));
        }
    }
    kinds
}

fn lacks(image: &Image, name: &str) -> bool {
    name != IMAGE_KEY && image.facts.get(name).is_none()
}
