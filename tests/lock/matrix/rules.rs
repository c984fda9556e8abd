//! What docs/lock.md and docs/signatures.md say becomes of one image: written from the pages, not from the code.

use super::world::Cell;

/// What the values say of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    NotConfigured,
    Blank,
    FileMissing,
    Garbage,
    ExpressionFails,
    A,
    B,
}

/// What the lock says of the image before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Entry {
    Absent,
    Unverified,
    ByA,
    ByB,
    /// Verified by A; its checksum and its file name were edited afterwards.
    Edited,
    /// As an earlier metalmark wrote it: without evidence.
    Bare,
    BareByA,
    BareEdited,
}

/// What the registry answers about the image and its signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Answer {
    SignedByA,
    SignedByB,
    SignedByBoth,
    ReferrerOfA,
    BundleOfA,
    Unsigned,
    /// Provenance that A signed, and no signature.
    OnlyAttested,
    /// A's signature of this digest, made for another image's name.
    OtherName,
    /// A's signature, of something else than what is at the tag.
    Altered,
    /// The manifest is answered, the signature's tag is not; nothing refers to the image.
    TagFails,
    /// The same, and referrers are answered with 404.
    TagFailsReferrersMissing,
    /// Neither the manifest nor the signature's tag is answered.
    NothingAnswers,
}

pub(super) const KEYS: [Key; 7] = [
    Key::NotConfigured,
    Key::Blank,
    Key::FileMissing,
    Key::Garbage,
    Key::ExpressionFails,
    Key::A,
    Key::B,
];

pub(super) const ENTRIES: [Entry; 8] = [
    Entry::Absent,
    Entry::Unverified,
    Entry::ByA,
    Entry::ByB,
    Entry::Edited,
    Entry::Bare,
    Entry::BareByA,
    Entry::BareEdited,
];

pub(super) const ANSWERS: [Answer; 12] = [
    Answer::SignedByA,
    Answer::SignedByB,
    Answer::SignedByBoth,
    Answer::ReferrerOfA,
    Answer::BundleOfA,
    Answer::Unsigned,
    Answer::OnlyAttested,
    Answer::OtherName,
    Answer::Altered,
    Answer::TagFails,
    Answer::TagFailsReferrersMissing,
    Answer::NothingAnswers,
];

/// Who signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signer {
    A,
    B,
}

/// Whom the values trust.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// No key is known: nothing is looked at.
    Anybody,
    /// A key is configured and cannot be used: nothing can be established.
    Nobody,
    Signer(Signer),
}

impl Key {
    pub(super) fn trust(self) -> Trust {
        match self {
            Self::NotConfigured | Self::Blank => Trust::Anybody,
            Self::FileMissing | Self::Garbage | Self::ExpressionFails => Trust::Nobody,
            Self::A => Trust::Signer(Signer::A),
            Self::B => Trust::Signer(Signer::B),
        }
    }

    /// The finding about the key itself, at its place in the values.
    pub(super) fn finding(self) -> Option<&'static str> {
        match self {
            Self::FileMissing | Self::Garbage | Self::ExpressionFails => Some("signature-invalid"),
            _ => None,
        }
    }
}

impl Entry {
    pub(super) fn signer(self) -> Option<Signer> {
        match self {
            Self::Absent | Self::Unverified | Self::Bare => None,
            Self::ByA | Self::Edited | Self::BareByA | Self::BareEdited => Some(Signer::A),
            Self::ByB => Some(Signer::B),
        }
    }

    pub(super) fn has_evidence(self) -> bool {
        matches!(
            self,
            Self::Unverified | Self::ByA | Self::ByB | Self::Edited
        )
    }

    pub(super) fn is_edited(self) -> bool {
        matches!(self, Self::Edited | Self::BareEdited)
    }

    /// Why an entry is not to be trusted under a signer's key, by what the lock has alone; none where it is, or where only its
    /// evidence is missing.
    fn refused_under(self, signer: Signer) -> Option<&'static str> {
        match self.signer() {
            Some(known) if known == signer => None,
            Some(_) => Some("signature-invalid"),
            None => Some("signature-missing"),
        }
    }
}

/// What signatures prove under a key.
pub(super) enum Proof {
    /// Good, in a form.
    Good(&'static str),
    /// Not good: the rule of the finding.
    Refused(&'static str),
    /// It could not be asked.
    Unknown,
}

impl Answer {
    pub(super) fn has_manifest(self) -> bool {
        self != Self::NothingAnswers
    }

    /// docs/signatures.md, "What the answers mean".
    pub(super) fn proves(self, signer: Signer) -> Proof {
        match (self, signer) {
            (Self::SignedByA, Signer::A)
            | (Self::SignedByB, Signer::B)
            | (Self::SignedByBoth, _) => Proof::Good("tag"),
            (Self::ReferrerOfA, Signer::A) => Proof::Good("referrer"),
            (Self::BundleOfA, Signer::A) => Proof::Good("bundle"),
            (Self::Unsigned | Self::OnlyAttested, _) => Proof::Refused("signature-missing"),
            (Self::TagFails | Self::TagFailsReferrersMissing | Self::NothingAnswers, _) => {
                Proof::Unknown
            }
            (Self::OtherName, Signer::A) => Proof::Refused("artifact-other-image"),
            _ => Proof::Refused("signature-invalid"),
        }
    }
}

/// What the lock says of the image after a run of `lock`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum After {
    Absent,
    /// Every byte of the old entry.
    Unchanged,
    /// The old entry with its evidence, its facts as the artifact says them.
    Kept,
    /// What the registry says, without a signer.
    Unverified,
    /// What the artifact says, with this signer and form.
    Verified(Signer, &'static str),
}

/// What a run says of one image.
pub(super) struct Outcome {
    pub(super) after: After,
    /// The rules of the errors that name the image.
    pub(super) rules: Vec<&'static str>,
    /// Whether something about it could not be had.
    pub(super) fails: bool,
}

impl Outcome {
    fn clean(after: After) -> Self {
        Self {
            after,
            rules: Vec::new(),
            fails: false,
        }
    }

    fn refused(after: After, rule: &'static str) -> Self {
        Self {
            rules: vec![rule],
            ..Self::clean(after)
        }
    }

    /// The same, with one more error.
    fn and(mut self, rule: &'static str) -> Self {
        self.rules.push(rule);
        self
    }

    fn failed(after: After) -> Self {
        Self {
            fails: true,
            ..Self::clean(after)
        }
    }

    /// 2 where something could not be had, 1 for errors.
    pub(super) fn status(&self, key: Key) -> i32 {
        match (self.fails, self.rules.is_empty() && key.finding().is_none()) {
            (true, _) => 2,
            (false, false) => 1,
            (false, true) => 0,
        }
    }
}

/// `metalmark lock`: what is locked for the reference, with evidence, is not asked for; where a key is known, only what its holder
/// signed is locked; what was locked before a key was known is verified by it; what is refused leaves the old entry or a gap.
pub(super) fn lock(cell: Cell) -> Outcome {
    let stays = match cell.entry {
        Entry::Absent => After::Absent,
        entry if entry.has_evidence() => After::Kept,
        _ => After::Unchanged,
    };
    let is_unasked = cell.key.trust() == Trust::Anybody;
    let is_forgotten = is_unasked && cell.entry.signer().is_some();
    if !cell.entry.has_evidence() && !cell.answer.has_manifest() {
        let failed = Outcome::failed(stays);
        return if is_forgotten {
            failed.and("signature-unchecked")
        } else {
            failed
        };
    }
    match cell.key.trust() {
        Trust::Anybody if is_forgotten => Outcome::refused(stays, "signature-unchecked"),
        Trust::Anybody if !cell.entry.has_evidence() => Outcome::clean(After::Unverified),
        Trust::Anybody | Trust::Nobody => Outcome::clean(stays),
        Trust::Signer(signer)
            if cell.entry.has_evidence() && cell.entry.signer() == Some(signer) =>
        {
            Outcome::clean(stays)
        }
        Trust::Signer(signer) => match cell.answer.proves(signer) {
            Proof::Good(form) => Outcome::clean(After::Verified(signer, form)),
            Proof::Refused(rule) => Outcome::refused(stays, rule),
            Proof::Unknown => Outcome::failed(stays),
        },
    }
}

/// `metalmark verify`, of an image that is in the lock: whether the tag is the locked digest, the digest is signed, and the lock says
/// what its artifact and its signatures say. What the registry says of a signature is reported before what the lock says.
pub(super) fn verify(cell: Cell) -> Outcome {
    let mut outcome = if cell.answer.has_manifest() {
        Outcome::clean(After::Unchanged)
    } else {
        Outcome::failed(After::Unchanged)
    };
    if cell.entry == Entry::Edited || cell.entry.is_edited() && cell.answer.has_manifest() {
        outcome = outcome.and("lock-tampered").and("lock-tampered");
    }
    let (rule, is_unknown) = match cell.key.trust() {
        Trust::Nobody => (None, false),
        Trust::Anybody => (cell.entry.signer().map(|_| "signature-unchecked"), false),
        Trust::Signer(signer) if !cell.answer.has_manifest() => {
            (cell.entry.refused_under(signer), false)
        }
        Trust::Signer(signer) => match cell.answer.proves(signer) {
            Proof::Refused(rule) => (Some(rule), false),
            Proof::Good(_) => (cell.entry.refused_under(signer), false),
            Proof::Unknown => (cell.entry.refused_under(signer), true),
        },
    };
    outcome.fails |= is_unknown;
    outcome.rules.extend(rule);
    outcome
}

/// The rules of the errors that name an image at every gate without a network.
pub(super) fn refused_offline(cell: Cell) -> Vec<&'static str> {
    let mut rules = Vec::new();
    if cell.entry == Entry::Absent {
        return vec!["lock-missing-image"];
    }
    if cell.entry == Entry::Edited {
        rules.extend(["lock-tampered"; 2]);
    }
    rules.extend(match cell.key.trust() {
        Trust::Nobody => None,
        Trust::Anybody => cell.entry.signer().map(|_| "signature-unchecked"),
        Trust::Signer(signer) => cell.entry.refused_under(signer),
    });
    rules
}

/// Whether an image's signer is known and its evidence is missing: reported once for all such images.
pub(super) fn is_stale(cell: Cell) -> bool {
    let signer = cell.entry.signer();
    let is_bare = !cell.entry.has_evidence() && signer.is_some();
    is_bare && matches!(cell.key.trust(), Trust::Signer(wanted) if Some(wanted) == signer)
}
