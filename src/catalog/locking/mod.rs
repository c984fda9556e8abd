//! From what clusters ask for to the lock: what is kept, what is asked of the store, what is dropped; and the lock against
//! the world again.
//!
//! Pure but for the store, which is given. Never asks for what is locked already, unless told to. An entry is right or it is
//! not written: what failed leaves a gap, or the old entry.

mod ask;
mod layers;
mod pages;
mod proof;
mod signers;
mod trust;
mod verify;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::sources::{Artifact, artifacts};
use crate::model::finding::{Finding, Subject};
use crate::model::lock::{Lock, LockedImage};
use crate::model::place::{Sources, Spot};
use crate::model::rule::RuleId;
use crate::oci::{Failure, FailureKind, Reference, Store};

pub use ask::{Ask, AskKind, Asks, add, asks_of};
pub use pages::Pages;
pub use signers::{Keyring, Signing};
pub use trust::{Trust, trust};
pub use verify::{Verification, VerifiedImage, verify};

/// How far a run goes.
pub struct Wish<'a> {
    /// What is asked again although it is locked.
    pub upgrade: Upgrade,
    /// The images whose tag may have moved: their new digest is taken.
    pub accept_moved: BTreeSet<String>,
    /// Whether what nobody asks for stays locked: where a cluster's values cannot be read, it may be what that one asks for.
    pub keep_unasked: bool,
    /// The architecture whose manifest is taken of an index.
    pub architecture: Arc<str>,
    /// What index pages list, which were asked already.
    pub pages: Pages,
    /// Why the policy accepts a finding: what it accepts is locked. None where it does not.
    pub accepts: &'a dyn Fn(&Finding) -> Option<String>,
}

impl Default for Wish<'_> {
    fn default() -> Self {
        Self {
            upgrade: Upgrade::Nothing,
            accept_moved: BTreeSet::new(),
            keep_unasked: false,
            architecture: "amd64".into(),
            pages: Pages::default(),
            accepts: &|_| None,
        }
    }
}

/// What is asked again.
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

/// What a run came to.
#[derive(Debug, Default)]
pub struct Locked {
    /// The lock to be written.
    pub lock: Lock,
    /// What became of each image, by key and reference.
    pub changes: Vec<LockChange>,
    /// What is wrong with what was asked for.
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
    /// What became of it.
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
    /// No cluster asks for it any more.
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

impl Wish<'_> {
    fn asks_again(&self, key: &str) -> bool {
        matches!(self.upgrade, Upgrade::All) || self.names(key)
    }

    /// Whether somebody named this very image.
    fn names(&self, key: &str) -> bool {
        let named = matches!(&self.upgrade, Upgrade::Keys(keys) if keys.contains(key));
        named || self.accept_moved.contains(key)
    }
}

/// The lock after everything that is asked for was looked for. `old` stands in `sources`.
pub fn lock(
    old: &Lock,
    sources: &Sources,
    asks: &Asks,
    (wish, keyring): (&Wish<'_>, &Keyring),
    store: &dyn Store,
) -> Locked {
    let mut run = Run {
        old,
        sources,
        out: Locked::default(),
    };
    let mut entries: BTreeMap<(Arc<str>, Arc<str>), LockedImage> = BTreeMap::new();
    let mut wanted: Vec<&Ask> = Vec::new();
    for (identity, ask) in asks {
        let known = old.get(&ask.key, &ask.reference);
        let known = known.filter(|_| !wish.asks_again(&ask.key));
        // An entry without evidence is fetched again by its tag: its digest may have been edited too.
        match known.and_then(|known| ask.kept(known, &wish.architecture)) {
            Some(kept) => {
                entries.insert(identity.clone(), kept);
            }
            None => wanted.push(ask),
        }
    }
    let fetched = fetch(&wanted, wish, store, &mut run);
    for (ask, arrived) in fetched {
        entries.extend(
            run.settle(ask, arrived, wish)
                .map(|image| (ask.identity(), image)),
        );
    }
    // Whatever was wrong, what was locked stays locked.
    for ask in wanted {
        if let Some(known) = old.get(&ask.key, &ask.reference) {
            let kept = entries.entry(ask.identity());
            kept.or_insert_with(|| ask.unchanged(known));
        }
    }
    pages::settle(&mut entries, wish, &mut run);
    if wish.keep_unasked {
        for known in old.images() {
            let (key, reference) = (&known.key.value, &known.reference.value);
            let entry = entries.entry((Arc::clone(key), Arc::clone(reference)));
            entry.or_insert_with(|| known.clone());
        }
    }
    proof::prove(asks, &mut entries, (wish, keyring), store, &mut run);
    run.finish(entries)
}

struct Run<'a> {
    old: &'a Lock,
    sources: &'a Sources,
    out: Locked,
}

/// Asks for every reference once, whatever keys it has; then for the wanted manifest of what is an index.
fn fetch<'a>(
    wanted: &[&'a Ask],
    wish: &Wish<'_>,
    store: &dyn Store,
    run: &mut Run<'_>,
) -> Vec<(&'a Ask, Artifact)> {
    let mut references: BTreeMap<&str, Reference> = BTreeMap::new();
    for ask in wanted {
        match Reference::parse(&ask.reference) {
            Ok(reference) => {
                references.insert(&ask.reference, reference);
            }
            Err(error) => run
                .out
                .findings
                .push(ask.finding(RuleId::CatalogDrift, error.to_string())),
        }
    }
    let batch: Vec<Reference> = references.values().cloned().collect();
    let mut answers: BTreeMap<&str, Result<Artifact, Failure>> = references
        .keys()
        .copied()
        .zip(artifacts(&batch, &wish.architecture, store))
        .collect();
    let mut fetched = Vec::new();
    let mut told: BTreeSet<&str> = BTreeSet::new();
    for ask in wanted {
        match answers.get_mut(&*ask.reference) {
            Some(Ok(arrived)) => fetched.push((*ask, arrived.clone())),
            Some(Err(failure)) if failure.kind == FailureKind::NotFound => {
                run.out.findings.push(absent(ask, failure));
            }
            Some(Err(failure)) if told.insert(&ask.reference) => {
                run.fail(failure.clone(), ask);
            }
            Some(Err(_)) | None => {}
        }
    }
    fetched
}

/// That the catalog names what is not there.
fn absent(ask: &Ask, failure: &Failure) -> Finding {
    let what = match ask.kind {
        AskKind::Image => "image",
        AskKind::Bundle => "component bundle",
    };
    let message = format!(
        "the catalog names {what} `{}`, and {}",
        ask.key, failure.message
    );
    let finding = ask.finding(RuleId::CatalogDrift, message);
    failure.help.iter().cloned().fold(finding, Finding::help)
}

impl Run<'_> {
    /// What could not be fetched, at the place that requests it.
    fn fail(&mut self, failure: Failure, ask: &Ask) {
        let place = ask.spot.as_ref().map(Spot::to_string);
        self.out.failures.push(failure.at(place, &ask.key));
    }

    /// The entry of what arrived; none where its tag has moved and nobody said that it may.
    fn settle(&mut self, ask: &Ask, arrived: Artifact, wish: &Wish<'_>) -> Option<LockedImage> {
        for oddity in &arrived.oddities {
            let message = format!("image `{}`: {oddity}", ask.key);
            self.out
                .findings
                .push(ask.finding(RuleId::FactConflict, message));
        }
        let known = self.old.get(&ask.key, &ask.reference);
        if let Some(known) = known
            && known.digest.value != arrived.digest
            && !wish.accept_moved.contains(&*ask.key)
        {
            let finding = moved(known, arrived.digest.as_str(), self.sources);
            let finding = finding.help(format!(
                "find out who moved it; if it is meant, `metalmark lock --accept-moved {}`",
                ask.key
            ));
            self.out.findings.push(finding);
            return None;
        }
        Some(ask.locked(arrived))
    }

    fn finish(mut self, entries: BTreeMap<(Arc<str>, Arc<str>), LockedImage>) -> Locked {
        let lock = Lock::new(entries.into_values().collect());
        let mut changes = Vec::new();
        let change = |image: &LockedImage, kind| LockChange {
            key: Arc::clone(&image.key.value),
            reference: Arc::clone(&image.reference.value),
            digest: image.digest.value.as_str().into(),
            kind,
        };
        for image in lock.images() {
            let (key, reference) = image.identity();
            changes.push(match self.old.get(key, reference) {
                Some(known) if known.says_the_same(image) => change(image, LockChangeKind::Kept),
                Some(_) => change(image, LockChangeKind::Updated),
                None => change(image, LockChangeKind::Added),
            });
        }
        for image in self.old.images() {
            let (key, reference) = image.identity();
            if lock.get(key, reference).is_none() {
                changes.push(change(image, LockChangeKind::Dropped));
            }
        }
        changes.sort_by(|a, b| (&a.key, &a.reference).cmp(&(&b.key, &b.reference)));
        self.out.lock = lock;
        self.out.changes = changes;
        self.out
    }
}

/// That a tag stands for other bytes than when it was locked.
fn moved(known: &LockedImage, now: &str, sources: &Sources) -> Finding {
    let (key, reference) = known.identity();
    let message = format!("`{reference}` has moved: it is `{now}` now");
    Finding::new(RuleId::TagMoved, message)
        .about(Subject {
            image: Some(key.to_owned()),
            ..Subject::default()
        })
        .at(sources.resolve(known.digest.place), "locked to this digest")
}

#[cfg(test)]
mod tests;
