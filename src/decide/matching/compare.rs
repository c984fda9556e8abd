//! Compares one image with one selector in both modes at once: the modes differ in few facts, so that one pass is cheaper.

use capi::image::{Fact, Image, Origin, fact};

use super::finalize::{IMAGE_KEY, USE_EXTRA_KEYS};
use super::pattern::{Pattern, PatternCache, meaning};
use crate::model::selection::Difference;
use crate::model::selector::Matching;
use crate::model::selector::{Selector, Term, Wanted};
use crate::model::version::Version;

/// What upstream takes for a fact that an image lacks; `.*` matches it (docs/sylva.md#patterns).
pub(super) const UNSET: &str = "//unset";

/// A selector ready to be matched.
pub(super) struct Compiled<'a> {
    terms: Vec<CompiledTerm<'a>>,
}

struct CompiledTerm<'a> {
    term: &'a Term,
    pattern: Pattern,
    /// The Kubernetes version that the pattern means, where it means exactly one.
    version: Option<Version>,
}

/// How well an image fits in [`Matching::Normalized`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// A fact excludes it.
    No,
    /// Nothing excludes it, but its Kubernetes version is known by its name only, which proves nothing.
    Possible,
    /// Every fact is as wanted.
    Yes,
}

/// An image against a selector.
pub(super) struct Verdict {
    /// In [`Matching::Exact`]: whether it matches, or why upstream stops there (docs/sylva.md#selectors).
    pub exact: Result<bool, String>,
    /// In [`Matching::Normalized`].
    pub normalized: Fit,
}

impl<'a> Compiled<'a> {
    pub(super) fn new(selector: &'a Selector, cache: &PatternCache) -> Self {
        let compile = |term: &'a Term| {
            let pattern = match &term.wanted {
                Wanted::Pattern(text) => cache.get(text),
                Wanted::Bool(true) => Pattern::Literal("true".into()),
                Wanted::Bool(false) => Pattern::Literal("false".into()),
                Wanted::Invalid(_) => Pattern::Invalid,
            };
            let version = match &term.wanted {
                Wanted::Pattern(text) if &*term.fact == fact::K8S_VERSION => version_meant(text),
                _ => None,
            };
            CompiledTerm {
                term,
                pattern,
                version,
            }
        };
        // `_use_extra_keys_` opts in and matches nothing.
        let matched = |term: &&Term| &*term.fact != USE_EXTRA_KEYS;
        Self {
            terms: selector.terms.iter().filter(matched).map(compile).collect(),
        }
    }

    /// Goes through the facts in the order of their names; the first that differs ends the comparison (docs/sylva.md#selectors).
    pub(super) fn judge(&self, image: &Image) -> Verdict {
        let mut verdict = Verdict {
            exact: Ok(true),
            normalized: Fit::Yes,
        };
        for term in &self.terms {
            if let Some(fits) = term.common_answer(image) {
                if !fits {
                    verdict.exact = verdict.exact.map(|_| false);
                    verdict.normalized = Fit::No;
                }
            } else {
                if verdict.exact == Ok(true) {
                    verdict.exact = term.exact(image);
                }
                if verdict.normalized > Fit::No {
                    verdict.normalized = verdict.normalized.min(term.fit_normalized(image));
                }
            }
            if verdict.exact != Ok(true) && verdict.normalized == Fit::No {
                break;
            }
        }
        verdict
    }

    /// Every fact that keeps the image from matching.
    pub(super) fn differences(&self, image: &Image, mode: Matching) -> Vec<Difference> {
        let differs = |term: &&CompiledTerm<'_>| match mode {
            Matching::Exact => term.exact(image) != Ok(true),
            Matching::Normalized => term.fit_normalized(image) == Fit::No,
        };
        let difference = |term: &CompiledTerm<'_>| Difference {
            fact: term.term.fact.to_string(),
            wanted: match &term.term.wanted {
                Wanted::Pattern(text) => text.to_string(),
                Wanted::Bool(flag) => flag.to_string(),
                Wanted::Invalid(kind) => (*kind).to_owned(),
            },
            has: match mode {
                Matching::Exact if &*term.term.fact != IMAGE_KEY => {
                    term.upstream_fact(image).map(|fact| fact.value.to_string())
                }
                _ => term.text(image).map(str::to_owned),
            },
        };
        let terms = self.terms.iter();
        terms.filter(differs).map(difference).collect()
    }
}

impl CompiledTerm<'_> {
    /// The answer where both modes have the same: for all facts but the version, unless only the name gives them.
    fn common_answer(&self, image: &Image) -> Option<bool> {
        let name = &*self.term.fact;
        let known = image.facts.get(name);
        let differs = name == IMAGE_KEY
            || name == fact::K8S_VERSION
            || known.is_some_and(|fact| fact.origin == Origin::Name)
            || image.facts.wrong_type(name).is_some();
        let text = known.map_or(UNSET, |fact| &fact.value);
        (!differs).then(|| self.pattern.is_match(text))
    }

    fn exact(&self, image: &Image) -> Result<bool, String> {
        let name = &*self.term.fact;
        if name == IMAGE_KEY {
            return Ok(self.has_fitting_key(image));
        }
        if let Some(kind) = image.facts.wrong_type(name) {
            let key = &image.key;
            return Err(format!(
                "`{name}` of the image `{key}` is {kind} where a string is needed"
            ));
        }
        let text = self.upstream_fact(image).map_or(UNSET, |fact| &fact.value);
        Ok(self.pattern.is_match(text))
    }

    fn fit_normalized(&self, image: &Image) -> Fit {
        let name = &*self.term.fact;
        let fits = match self.text(image) {
            _ if name == IMAGE_KEY => self.has_fitting_key(image),
            None => self.pattern.is_match(UNSET),
            Some(text) if name == fact::K8S_VERSION => return self.version_fits(image, text),
            Some(text) => self.pattern.is_match(text),
        };
        if fits { Fit::Yes } else { Fit::No }
    }

    /// Versions are equal in any spelling; a pattern may be meant for any spelling (docs/sylva.md#what-is-added-to-a-selector). A
    /// version that only the name gives lacks at least its build: it is possible, no more.
    fn version_fits(&self, image: &Image, text: &str) -> Fit {
        let known = image.facts.get(fact::K8S_VERSION);
        let by_name = known.is_some_and(|fact| fact.origin == Origin::Name);
        let parse = |text| match &self.version {
            Some(wanted) if is_evidently_other(wanted, text) => None,
            _ => Version::parse(text),
        };
        let fits = match (&self.version, parse(text)) {
            (Some(wanted), Some(version)) if by_name => version.admits(wanted),
            (Some(wanted), Some(version)) => *wanted == version,
            (Some(_), None) => false,
            (None, _) => spellings(text)
                .iter()
                .any(|text| self.pattern.is_match(text)),
        };
        match (fits, by_name) {
            (false, _) => Fit::No,
            (true, true) => Fit::Possible,
            (true, false) => Fit::Yes,
        }
    }

    /// By what the catalog calls the image, or by what the chart does.
    fn has_fitting_key(&self, image: &Image) -> bool {
        let is_match = |key: &str| self.pattern.is_match(key);
        is_match(&image.name) || image.chart_key().is_some_and(|key| is_match(&key))
    }

    fn text<'i>(&self, image: &'i Image) -> Option<&'i str> {
        match &*self.term.fact {
            IMAGE_KEY => Some(&image.name),
            name => image.facts.text(name),
        }
    }

    /// The fact as upstream would see it: annotations and values, never what we read out of a name, except for a built
    /// image of which nothing else is known yet. There the name foretells the annotations.
    fn upstream_fact<'i>(&self, image: &'i Image) -> Option<&'i Fact> {
        let known = image.facts.get(&self.term.fact)?;
        let visible = known.origin != Origin::Name || (image.built && !is_described(image));
        visible.then_some(known)
    }
}

/// Whether an image's annotations are known, from wherever.
fn is_described(image: &Image) -> bool {
    let described = |origin| {
        matches!(
            origin,
            Origin::InfoFile | Origin::Record | Origin::Annotation | Origin::Lock
        )
    };
    image.facts.iter().any(|(_, fact)| described(fact.origin))
}

/// Whether a text in the usual spelling starts with another minor: found without parsing, since it is true of most images.
fn is_evidently_other(wanted: &Version, text: &str) -> bool {
    let mut parts = text.split('.');
    let number = |part: Option<&str>| part.and_then(|part| part.parse::<u32>().ok());
    let (major, minor) = (number(parts.next()), number(parts.next()));
    let minors = major.zip(minor).filter(|_| parts.next().is_some());
    minors.is_some_and(|minors| minors != (wanted.major, wanted.minor))
}

/// The one full version that a pattern means; none for a true pattern, and none for a minor alone.
fn version_meant(pattern: &str) -> Option<Version> {
    // A bare `+` is a mistake for `\+` often enough: a version written into a selector.
    let version = match meaning(pattern) {
        Some(text) => Version::parse(&text),
        None => Version::parse(pattern),
    };
    version.filter(|version| !version.is_partial())
}

/// A version as it may be written: with and without `v`, the build behind `+` or `-`.
fn spellings(text: &str) -> [String; 4] {
    let bare = text.strip_prefix('v').unwrap_or(text);
    let build = Version::parse(bare).and_then(|version| version.build);
    let parts = build.as_deref().and_then(|build| {
        let release = bare.strip_suffix(build)?.strip_suffix(['+', '-'])?;
        Some((format!("{release}+{build}"), format!("{release}-{build}")))
    });
    let (plus, dash) = parts.unwrap_or_else(|| (bare.to_owned(), bare.to_owned()));
    [format!("v{plus}"), format!("v{dash}"), plus, dash]
}
