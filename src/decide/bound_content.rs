//! Whether an artifact is the one that was requested: what its manifest says of it, against the key, the reference and the tag,
//! in every word that both have.
//!
//! A signature proves who made some bytes, not that these are the bytes that were meant: anybody who may push could put an older or
//! weaker image of the same publisher under another name. Where the signature itself names an image, that is compared with it.

use capi::image::{Fact, Facts, Image, Origin, fact};
use capi::location::last_part;
use oci_artifacts::{Reference, is_oci};
use yaml_tree::place::Place;

use super::identity::agree;
use crate::model::finding::{Finding, Subject};
use crate::model::lock::LockedImage;
use crate::model::name::{NameSchemes, Release};
use crate::model::rule::{Level, RuleId};

/// The words that are compared, beside the version. Where both sides say whether they are hardened, the flavor says no more.
const WORDS: [&str; 7] = [
    fact::OS,
    fact::OS_RELEASE,
    fact::HARDENED,
    fact::FLAVOR,
    fact::K8S_FLAVOR,
    fact::K8S_VERSION,
    fact::ARCH,
];

/// Whether what the lock and the name of an image say differently of a fact is that its artifact is another one.
pub fn is_compared(image: &Image, name: &str, stronger: &Fact, weaker: &Fact) -> bool {
    let is_locked = image.uri.as_ref().is_some_and(|uri| is_oci(&uri.value));
    // Facts of the lock that nothing proves are worth no more than a name.
    let is_of_lock = matches!(stronger.origin, Origin::Lock | Origin::Name);
    is_locked && is_of_lock && weaker.origin == Origin::Name && WORDS.contains(&name)
}

/// That an entry of the lock is another image than the one that was requested. Where only its version differs, that is an error if the
/// policy demands a signer of the image.
pub fn other_image(
    image: &LockedImage,
    schemes: &NameSchemes,
    has_demand: bool,
) -> Option<Finding> {
    let reference = Reference::parse(&image.reference.value).ok()?;
    let tag = reference.tag.as_deref().unwrap_or_default();
    let facts = image.facts.iter();
    let facts = facts.map(|(name, value)| (name, value.value.clone(), Place::NONE));
    let said = [
        Side {
            whose: "its facts",
            facts: Facts::new(Origin::Name, facts),
        },
        Side::read("its file's name", image.fact(fact::FILENAME), schemes),
    ];
    let wanted = [
        Side::read("the reference", last_part(&image.reference.value), schemes),
        Side::read("the tag", tag, schemes),
        Side::read("the key", &image.key.value, schemes),
    ];
    let contradiction = |name| {
        let of = |said: &Side| {
            wanted
                .iter()
                .find_map(|wanted| said.contradiction(wanted, name))
        };
        said.iter().find_map(of)
    };
    let mut contradictions: Vec<String> = WORDS.into_iter().filter_map(contradiction).collect();
    // A builder may give one artifact the tags of several of its releases (docs/sylva.md#updates-of-the-builder), and nobody can
    // say of which it is then.
    let may_be_meant = contradictions.is_empty() && !has_demand;
    contradictions.extend(said.iter().find_map(|said| said.other_version(tag)));
    if contradictions.is_empty() {
        return None;
    }
    let (key, reference) = image.identity();
    let message = format!(
        "`{reference}` is another image than it is called: {}",
        contradictions.join("; ")
    );
    let finding = Finding::new(RuleId::ArtifactOtherImage, message);
    let finding = finding.with_subject(Subject::image(key));
    Some(if may_be_meant {
        finding.unless_set(Level::Warning).help(
            "where the builder gives one artifact the tags of several releases, waive `artifact-other-image`; else find out who put it there",
        )
    } else {
        finding.help(
            "find out who put it there, and use the image that its name says; where it is renamed on purpose, waive `artifact-other-image`",
        )
    })
}

/// What one text or the manifest says of an image.
struct Side {
    whose: &'static str,
    facts: Facts,
}

impl Side {
    fn read(whose: &'static str, text: &str, schemes: &NameSchemes) -> Self {
        let facts = schemes.words(text);
        Self { whose, facts }
    }

    /// What this side says of a fact, and what was requested, where they cannot both be true.
    fn contradiction(&self, wanted: &Self, name: &str) -> Option<String> {
        let (said, other) = (self.facts.get(name)?, wanted.facts.get(name)?);
        let are_hardened = || [self, wanted].map(|side| side.facts.text(fact::HARDENED).is_some());
        let os = self.facts.text(fact::OS);
        // Either may leave out the patch level or the build.
        let agrees = agree(name, said, other, os)
            || agree(name, other, said, os)
            || name == fact::FLAVOR && are_hardened() == [true; 2];
        (!agrees).then(|| self.words(name, &said.value, &other.value, wanted.whose))
    }

    /// The builder's release, where the tag names another one. A number in the tag may also be that of Kubernetes or of the system.
    fn other_version(&self, tag: &str) -> Option<String> {
        let said = self.facts.text(fact::COMMIT_TAG)?;
        let text = |name| self.facts.text(name).unwrap_or_default();
        let release = Release::read(self.facts.text(fact::OS), text(fact::OS_RELEASE));
        let release = release.version.unwrap_or_default();
        let others = [text(fact::K8S_VERSION), &release].map(numbers);
        let (known, wanted) = (numbers(said), numbers(tag));
        // A tag may name a minor alone, or a rebuild of a release.
        let is_in = |known: &[Vec<&str>], one: &Vec<&str>| {
            let mut known = known.iter();
            known.any(|known| known.starts_with(one) || one.starts_with(known))
        };
        let is_other = !known.is_empty()
            && !wanted.iter().any(|one| is_in(&known, one))
            && !{ wanted.iter() }.all(|one| others.iter().any(|known| is_in(known, one)));
        let same = known.iter().find(|known| wanted.contains(known));
        let is_other = is_other
            || same.is_some_and(|number| is_other_build(said, tag, &number.join(".")))
            || known.is_empty() && wanted.is_empty() && is_counted_on(said, tag);
        is_other.then(|| self.words(fact::COMMIT_TAG, said, tag, "the tag"))
    }

    fn words(&self, name: &str, said: &str, wanted: &str, by: &str) -> String {
        format!("`{name}` is `{said}` by {}, `{wanted}` by {by}", self.whose)
    }
}

/// Whether a version has a word behind its number that the tag has not there: `0.4.12-rc.1` is not `0.4.12`. The tag may say more,
/// and has no word behind a plus.
fn is_other_build(said: &str, tag: &str, number: &str) -> bool {
    let rest = |text| str::split_once(text, number).map_or("", |(_, rest)| rest);
    let said = rest(said.split('+').next().unwrap_or_default());
    let more = rest(tag).strip_prefix(said);
    let goes_on = |more: &str| more.starts_with(|c: char| c.is_ascii_alphanumeric());
    !said.is_empty() && numbers(said).is_empty() && more.is_none_or(goes_on)
}

/// Whether two words differ in their digits alone: `release-6` and `release-7`.
fn is_counted_on(said: &str, tag: &str) -> bool {
    let name = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    said != tag && name(said) == name(tag) && name(tag).contains(char::is_alphabetic)
}

/// The numbers with dots in a text, and those that are as long as a date.
fn numbers(text: &str) -> Vec<Vec<&str>> {
    const DATE: usize = 6;
    let runs = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    let runs = runs.map(|run| run.split('.').filter(|part| !part.is_empty()));
    let runs = runs.map(Iterator::collect::<Vec<&str>>);
    runs.filter(|run| run.len() > 1 || run.first().is_some_and(|only| only.len() >= DATE))
        .collect()
}
