//! Resolves a request to an image, and to the fields that are stamped.

use std::cell::OnceCell;
use std::sync::Arc;

use capi::image::{Image, ImageKey, Images, fact};
use capi::providers::Stamp;
use yaml_tree::place::Place;
use yaml_tree::suggest::Words;

use crate::decide::identity::find_image;
use crate::decide::matching::{self, PatternCache};
use crate::model::finding::{Finding, Subject};
use crate::model::rule::RuleId;
use crate::model::selector::{Library, Matching};
use crate::model::selector::{Selector, Term, Wanted};
use crate::model::stamping::{ImageRequest, RequestedImage};
use crate::model::version::Version;

/// What is stamped of an image; none where that is reported elsewhere.
type StampOf<'a> = dyn Fn(&Image) -> Option<Result<Stamp, Box<Finding>>> + 'a;

/// The catalog, and how an image becomes a stamp.
pub struct Chooser<'a> {
    /// The images.
    pub images: &'a Images,
    /// Their keys, to find the one that a misspelled key means.
    pub keys: OnceCell<Words>,
    /// How selectors compare versions.
    pub matching: Matching,
    /// Patterns, each compiled once.
    pub patterns: &'a PatternCache,
    /// What is stamped of an image.
    pub stamp: &'a StampOf<'a>,
}

impl Chooser<'_> {
    /// The image that a request resolves to. `runs` is the Kubernetes version of the machines, where it is known: a selector that
    /// requires none gets it.
    pub(super) fn image(
        &self,
        request: &ImageRequest,
        runs: Option<&str>,
    ) -> Result<ImageKey, Box<Finding>> {
        match &request.image {
            RequestedImage::Image(name) => match find_image(name, self.images) {
                Some(key) => Ok(Arc::clone(key)),
                None => Err(Box::new(self.no_such_image(name, request))),
            },
            RequestedImage::Selector(selector) => self.select(selector, request, runs),
            RequestedImage::Nothing => Err(Box::new(self.no_such_image("", request))),
        }
    }

    fn no_such_image(&self, name: &str, request: &ImageRequest) -> Finding {
        let message = format!("the catalog has no image `{name}`");
        let finding =
            Finding::new(RuleId::UnknownImage, message).with_subject(Subject::image(name));
        let finding = finding.with_label(request.spot.clone(), "this image is named here");
        let all = || Words::new(self.images.keys().map(|key| &**key));
        let keys = self.keys.get_or_init(all);
        match keys.did_you_mean(name) {
            Some(meant) => finding.help(format!("write `{meant}`")),
            None => finding.help("`metalmark images` lists what there is"),
        }
    }

    fn select(
        &self,
        selector: &Selector,
        request: &ImageRequest,
        runs: Option<&str>,
    ) -> Result<ImageKey, Box<Finding>> {
        let finding = |rule, message: String| {
            Box::new(Finding::new(rule, message).with_label(request.spot.clone(), "this selector"))
        };
        let selector = with_version(selector, runs);
        let invalid = |reason| finding(RuleId::SelectorKeyUnknown, reason);
        let library = Library::default();
        let found = matching::matching(
            &selector,
            library,
            self.images,
            self.matching,
            self.patterns,
        );
        let mut found = found.map_err(invalid)?;
        let proven = |key: &ImageKey| self.is_proven(key, runs);
        if found.len() > 1 && found.iter().any(proven) {
            found.retain(proven);
        }
        match &found[..] {
            [key] => Ok(Arc::clone(key)),
            [] => {
                let version =
                    runs.map_or(String::new(), |runs| format!(" with Kubernetes `{runs}`"));
                let message = format!("no image of the catalog matches the selector{version}");
                Err(finding(RuleId::NoImageMatches, message))
            }
            several => {
                let keys: Vec<&str> = several.iter().map(|key| &**key).collect();
                let message = format!("{} images match: {}", keys.len(), keys.join(", "));
                Err(finding(RuleId::SeveralImagesMatch, message))
            }
        }
    }

    /// Whether something stronger than its name says the image's version.
    fn is_proven(&self, key: &ImageKey, runs: Option<&str>) -> bool {
        let image = self.images.get(key);
        let held = image.and_then(|image| image.facts.get(fact::K8S_VERSION));
        let versions = runs
            .and_then(Version::parse)
            .zip(held.and_then(|held| Version::parse(&held.value)));
        let same = versions.is_none_or(|(wanted, held)| wanted == held);
        held.is_some_and(|held| same && held.origin != capi::image::Origin::Name)
    }
}

/// The selector with the machines' version in it, unless it names one. Its `+` is escaped and a `v` dropped, as for clusters
/// (docs/sylva.md#what-is-added-to-a-selector).
fn with_version(selector: &Selector, runs: Option<&str>) -> Selector {
    let mut selector = selector.clone();
    if let (Some(runs), None) = (runs, selector.term(fact::K8S_VERSION)) {
        let version = runs.strip_prefix('v').unwrap_or(runs);
        selector.terms.push(Term {
            fact: fact::K8S_VERSION.into(),
            wanted: Wanted::Pattern(version.replace('+', r"\+").into()),
            place: Place::NONE,
            key_place: Place::NONE,
        });
    }
    selector.terms.sort_by(|a, b| a.fact.cmp(&b.fact));
    selector
}

/// A word of an image, for a field that a marker names.
pub(super) fn word(stamp: &Stamp, field: &str) -> Option<Arc<str>> {
    match field {
        "url" => Some(Arc::clone(&stamp.url)).filter(|url| !url.is_empty()),
        "checksum" => stamp.checksum.clone(),
        "checksum-type" => stamp.checksum_type.clone(),
        "format" => stamp.format.clone(),
        "key" => stamp.key.clone(),
        fact => stamp.facts.text(fact).map(Arc::from),
    }
}

#[cfg(test)]
mod tests {
    use super::word;
    use capi::providers::Stamp;

    #[test]
    fn an_empty_url_is_none() {
        let of = |url: &str| {
            let stamp = Stamp {
                url: url.into(),
                ..Stamp::default()
            };
            word(&stamp, "url")
        };
        assert_eq!(of(""), None);
        assert_eq!(of("https://a").as_deref(), Some("https://a"));
    }
}
