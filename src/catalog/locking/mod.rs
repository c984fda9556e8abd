//! From what clusters require to the lock: what is kept, what is requested from the store, what is dropped; and the lock against
//! the registries again.
//!
//! Pure but for the store, which is given. Never requests what is locked already, unless an option says so. An entry is right or
//! it is not written: what failed leaves a gap, or the old entry.

mod bytes;
mod demands;
mod pages;
mod proof;
mod provenance;
mod requirement;
mod signers;
mod trust;
mod verification;
mod verify;

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::image::ImageKey;
use oci_artifacts::{Address, Digest, Failure, FailureKind, Platform, Reference, Store};
use yaml_tree::place::{Sources, Spot};

use crate::catalog::sources::{Artifact, artifacts};
use crate::decide::bound_content::other_image;
use crate::model::checksum::is_url;
use crate::model::finding::{Finding, Subject};
use crate::model::lock::{Lock, LockedImage};
use crate::model::name::NameSchemes;
use crate::model::rule::RuleId;
use crate::model::signing::RequiredSignatures;

pub use bytes::verify_bytes;
pub use demands::Provenances;
pub use pages::Pages;
pub use provenance::check_provenance;
pub use requirement::{Requirement, Requirements, add, requirements_of};
pub use signers::{Keyring, Signing};
pub use trust::{Trust, trust};
pub use verification::{Verification, VerifiedImage};
pub use verify::verify;

/// What is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequirementKind {
    /// An OS image: its annotations say everything.
    Image,
    /// A component bundle: fetching its tarball requires the tarball's own digest too.
    Bundle,
}

/// The options of a run.
pub struct LockRequest<'a> {
    /// What is requested again although it is locked.
    pub upgrade: Upgrade,
    /// The images whose tag may have moved: their new digest is taken.
    pub accept_moved: BTreeSet<String>,
    /// Whether what no cluster requires stays locked: a cluster whose values cannot be read may require it.
    pub keep_unrequired: bool,
    /// Which manifest is taken of an index.
    pub platform: Platform,
    /// What index pages list, which were queried already.
    pub pages: Pages,
    /// How names of images are read.
    pub schemes: NameSchemes,
    /// The images that have to be signed.
    pub signatures: RequiredSignatures,
    /// Why the policy accepts a finding: what it accepts is locked. None where it does not.
    pub accepts: &'a dyn Fn(&Finding) -> Option<String>,
}

impl Default for LockRequest<'_> {
    fn default() -> Self {
        Self {
            upgrade: Upgrade::Nothing,
            accept_moved: BTreeSet::new(),
            keep_unrequired: false,
            platform: Platform::default(),
            pages: Pages::default(),
            schemes: NameSchemes::default(),
            signatures: RequiredSignatures::default(),
            accepts: &|_| None,
        }
    }
}

/// What is requested again.
#[derive(Clone, Debug, Default)]
pub enum Upgrade {
    /// Nothing.
    #[default]
    Nothing,
    /// Everything.
    All,
    /// These image keys.
    Keys(BTreeSet<String>),
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct Locked {
    /// The lock to be written.
    pub lock: Lock,
    /// What became of each image, by key and reference.
    pub changes: Vec<LockChange>,
    /// What is wrong with what was requested.
    pub findings: Vec<Finding>,
    /// What is locked although it is not proven, because the policy accepts that.
    pub accepted: Vec<Accepted>,
    /// What could not be had.
    pub failures: Vec<Failure>,
}

/// A finding that the policy accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The image's key.
    pub key: Arc<str>,
    /// The rule.
    pub rule: RuleId,
    /// Why: the waiver's reason, or the level.
    pub reason: String,
}

/// What became of one image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockChange {
    /// Its key.
    pub key: Arc<str>,
    /// Its reference.
    pub reference: Arc<str>,
    /// The digest that is locked, or was.
    pub digest: Arc<str>,
    /// The outcome.
    pub kind: LockChangeKind,
}

/// What became of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockChangeKind {
    /// It was locked and is.
    Kept,
    /// It is new.
    Added,
    /// Its entry says something else than before.
    Updated,
    /// No cluster requires it any more.
    Dropped,
}

impl LockChangeKind {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Added => "added",
            Self::Updated => "updated",
            Self::Dropped => "dropped",
        }
    }
}

impl LockRequest<'_> {
    fn is_renewed(&self, key: &str) -> bool {
        matches!(self.upgrade, Upgrade::All) || self.names(key)
    }

    /// Whether the user named this very image.
    fn names(&self, key: &str) -> bool {
        let named = matches!(&self.upgrade, Upgrade::Keys(keys) if keys.contains(key));
        named || self.accept_moved.contains(key)
    }
}

/// The lock after everything required was looked up. `old` is in `sources`.
pub fn lock(
    old: &Lock,
    sources: &Sources,
    requirements: &Requirements,
    request: &LockRequest<'_>,
    keyring: &Keyring,
    store: &dyn Store,
) -> Locked {
    let mut run = Run {
        old,
        sources,
        out: Locked::default(),
    };
    let mut entries: BTreeMap<(Arc<str>, Address), LockedImage> = BTreeMap::new();
    let mut wanted: Vec<&Requirement> = Vec::new();
    for (identity, requirement) in requirements {
        let known = old.get(&requirement.key, &requirement.reference);
        let known = known.filter(|_| !request.is_renewed(&requirement.key));
        // An entry without evidence is fetched again by its tag: its digest may have been edited too.
        match known.and_then(|known| requirement.rebuild_entry(known, &request.platform)) {
            Some(kept) => {
                entries.insert(identity.clone(), kept);
            }
            None => wanted.push(requirement),
        }
    }
    let fetched = fetch(&wanted, requirements, request, store, &mut run);
    for (requirement, arrived) in fetched {
        entries.extend(
            run.settle(requirement, arrived, request)
                .map(|image| (requirement.identity(), image)),
        );
    }
    // Whatever was wrong, what was locked stays locked.
    for requirement in wanted {
        if let Some(known) = old.get(&requirement.key, &requirement.reference) {
            let kept = entries.entry(requirement.identity());
            kept.or_insert_with(|| requirement.copy_entry(known));
        }
    }
    for (identity, requirement) in requirements {
        let reference = &requirement.reference;
        let has_demand =
            request.signatures.cover(reference) || keyring.provenances().cover(reference);
        let other = |entry| other_image(entry, &request.schemes, has_demand);
        if let Some(finding) = entries.get(identity).and_then(other) {
            run.refuse(finding, requirement, request, &mut entries);
        }
    }
    pages::settle(&mut entries, request, &mut run);
    if request.keep_unrequired {
        for known in old.images() {
            let (key, reference) = (&known.key.value, &known.reference.value);
            let entry = entries.entry((Arc::clone(key), reference.clone()));
            entry.or_insert_with(|| known.clone());
        }
    }
    proof::prove(
        requirements,
        &mut entries,
        request,
        keyring,
        store,
        &mut run,
    );
    provenance::prove(
        requirements,
        &mut entries,
        request,
        keyring,
        store,
        &mut run,
    );
    run.finish(requirements, request, entries)
}

struct Run<'a> {
    old: &'a Lock,
    sources: &'a Sources,
    out: Locked,
}

/// Requests every reference once, whatever keys it has; then for the wanted manifest of what is an index.
fn fetch<'a>(
    wanted: &[&'a Requirement],
    requirements: &Requirements,
    request: &LockRequest<'_>,
    store: &dyn Store,
    run: &mut Run<'_>,
) -> Vec<(&'a Requirement, Artifact)> {
    let mut references: BTreeMap<&str, Reference> = BTreeMap::new();
    for requirement in wanted {
        match Reference::parse(&requirement.reference) {
            Ok(reference) => {
                references.insert(&requirement.reference, reference);
            }
            Err(error) => run
                .out
                .findings
                .push(requirement.finding(RuleId::CatalogDrift, error.to_string())),
        }
    }
    let batch: Vec<Reference> = references.values().cloned().collect();
    let mut answers: BTreeMap<&str, Result<Artifact, Failure>> = references
        .keys()
        .copied()
        .zip(artifacts(&batch, &request.platform, store))
        .collect();
    let missing = answers.iter().filter(|(_, answer)| answer.is_err());
    let missing: BTreeSet<&str> = missing.map(|(reference, _)| *reference).collect();
    let mut fetched = Vec::new();
    let mut reported: BTreeSet<&str> = BTreeSet::new();
    let systems = LazyCell::new(|| {
        let there = requirements.values();
        let there = there.filter(|it| !missing.contains(&**it.reference.text()));
        Systems::new(there, &request.schemes)
    });
    for requirement in wanted {
        match answers.get_mut(&*requirement.reference) {
            Some(Ok(arrived)) => fetched.push((*requirement, arrived.clone())),
            Some(Err(failure)) if failure.kind == FailureKind::NotFound => {
                let finding = absent(requirement, failure);
                run.out
                    .findings
                    .push(finding.helps(systems.suspect_registry(requirement)));
            }
            Some(Err(failure)) if reported.insert(&requirement.reference) => {
                run.fail(failure.clone(), requirement);
            }
            Some(Err(_)) | None => {}
        }
    }
    fetched
}

/// That the catalog names what is not there.
fn absent(requirement: &Requirement, failure: &Failure) -> Finding {
    let what = match requirement.kind {
        RequirementKind::Image => "image",
        RequirementKind::Bundle => "component bundle",
    };
    let message = format!(
        "the catalog names {what} `{}`, and {}",
        requirement.key, failure.message
    );
    let finding = requirement.finding(RuleId::CatalogDrift, message);
    finding.helps(failure.help.iter().cloned())
}

/// The operating systems of the images that are there below each registry's URL, as their names say.
struct Systems<'a> {
    schemes: &'a NameSchemes,
    below: BTreeMap<String, BTreeSet<String>>,
}

impl<'a> Systems<'a> {
    fn new<'r>(there: impl Iterator<Item = &'r Requirement>, schemes: &'a NameSchemes) -> Self {
        let below = BTreeMap::new();
        let mut systems = Self { schemes, below };
        for requirement in there {
            if let Some((below, os)) = systems.split(requirement) {
                systems.below.entry(below).or_default().insert(os);
            }
        }
        systems
    }

    fn split(&self, requirement: &Requirement) -> Option<(String, String)> {
        let (below, name) = requirement.reference.text().rsplit_once('/')?;
        let name = name.split([':', '@']).next()?;
        Some((below.to_owned(), self.schemes.read(name)?.os?))
    }

    /// That all images which are there below the URL of an absent one are of other systems, so that another builder may make it.
    fn suspect_registry(&self, absent: &Requirement) -> Option<String> {
        let (below, os) = self.split(absent)?;
        let is_alone = !self.below.get(&below)?.contains(&os);
        is_alone.then(|| {
            format!(
                "no other image below `{below}` is of `{os}`: the registry of the entry may be wrong"
            )
        })
    }
}

impl<'a> Run<'a> {
    /// What could not be fetched, at the place that requests it.
    fn fail(&mut self, failure: Failure, requirement: &Requirement) {
        let place = requirement.spot.as_ref().map(Spot::to_string);
        self.out
            .failures
            .push(failure.with_place(place, &requirement.key));
    }

    /// The entry of what arrived; none where its tag has moved and no option accepts that.
    fn settle(
        &mut self,
        requirement: &Requirement,
        arrived: Artifact,
        request: &LockRequest<'_>,
    ) -> Option<LockedImage> {
        for oddity in &arrived.oddities {
            let message = format!("image `{}`: {oddity}", requirement.key);
            self.out
                .findings
                .push(requirement.finding(RuleId::FactConflict, message));
        }
        let identity = requirement.identity();
        if let Some(known) = self.find_moved(&identity, &arrived.digest, request) {
            let finding = tag_moved(known, arrived.digest.as_str(), self.sources);
            let finding = finding.help(format!(
                "find out who moved it; if it is meant, `metalmark lock --accept-moved {}`",
                requirement.key
            ));
            self.out.findings.push(finding);
            return None;
        }
        Some(requirement.lock_entry(arrived))
    }

    /// What was locked of a reference that has another digest now, where no option accepts that.
    fn find_moved(
        &self,
        (key, reference): &(ImageKey, Address),
        now: &Digest,
        request: &LockRequest<'_>,
    ) -> Option<&'a LockedImage> {
        let sides = || self.old.sides(key, reference);
        let is_known = sides().any(|side| side.digest.value == *now);
        let is_right = is_known || request.accept_moved.contains(&**key);
        sides().next().filter(|_| !is_right)
    }

    /// The lock of these entries. What is in dispute stays so until it is settled: with its digests, what was locked would be lost.
    fn finish(
        mut self,
        requirements: &Requirements,
        request: &LockRequest<'_>,
        entries: BTreeMap<(ImageKey, Address), LockedImage>,
    ) -> Locked {
        let is_unsettled = |image: &&LockedImage| {
            let identity = (Arc::clone(&image.key.value), image.reference.value.clone());
            let stays = request.keep_unrequired
                || requirements.contains_key(&identity)
                || is_url(&identity.1);
            stays && !entries.contains_key(&identity)
        };
        let unsettled = self.old.disputes().iter().filter(is_unsettled).cloned();
        let unsettled: Vec<LockedImage> = unsettled.collect();
        let lock = Lock::new(entries.into_values().chain(unsettled).collect());
        let mut changes = Vec::new();
        let change = |image: &LockedImage, kind| LockChange {
            key: Arc::clone(&image.key.value),
            reference: Arc::clone(image.reference.value.text()),
            digest: image.digest.value.as_str().into(),
            kind,
        };
        for image in lock.images() {
            let (key, reference) = image.identity();
            changes.push(match self.old.sides(key, reference).next() {
                Some(known) if known.says_the_same(image) => change(image, LockChangeKind::Kept),
                Some(_) => change(image, LockChangeKind::Updated),
                None => change(image, LockChangeKind::Added),
            });
        }
        for image in self.old.entries() {
            let (key, reference) = image.identity();
            if lock.sides(key, reference).next().is_none() {
                changes.push(change(image, LockChangeKind::Dropped));
            }
        }
        changes.sort_by(|a, b| (&a.key, &a.reference).cmp(&(&b.key, &b.reference)));
        self.out.lock = lock;
        self.out.changes = changes;
        self.out
    }
}

/// That a tag refers to other bytes than when it was locked.
fn tag_moved(known: &LockedImage, now: &str, sources: &Sources) -> Finding {
    let (key, reference) = known.identity();
    let message = format!("`{reference}` has moved: it is `{now}` now");
    Finding::new(RuleId::TagMoved, message)
        .with_subject(Subject::image(key))
        .with_label(sources.resolve(known.digest.place), "locked to this digest")
}

#[cfg(test)]
mod tests;
