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

pub(super) const ENTRIES: [Entry; 5] = [
    Entry::Absent,
    Entry::Unverified,
    Entry::ByA,
    Entry::ByB,
    Entry::Edited,
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
            Self::FileMissing | Self::Garbage => Some("signature-invalid"),
            Self::ExpressionFails => Some("value-missing"),
            _ => None,
        }
    }
}

impl Entry {
    pub(super) fn signer(self) -> Option<Signer> {
        match self {
            Self::Absent | Self::Unverified => None,
            Self::ByA | Self::Edited => Some(Signer::A),
            Self::ByB => Some(Signer::B),
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
    /// The old entry, or a new one, without a signer.
    Unverified,
    /// The old entry, or a new one, with this signer and form.
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

/// `metalmark lock`: what is locked for the reference is not asked for; where a key is known, only what its holder signed is
/// locked; what was locked before a key was known is verified by it; what is refused leaves the old entry or a gap.
pub(super) fn lock(cell: Cell) -> Outcome {
    let is_new = cell.entry == Entry::Absent;
    let stays = match is_new {
        true => After::Absent,
        false => After::Unchanged,
    };
    if is_new && !cell.answer.has_manifest() {
        return Outcome::failed(stays);
    }
    match cell.key.trust() {
        Trust::Anybody if is_new => Outcome::clean(After::Unverified),
        Trust::Anybody | Trust::Nobody => Outcome::clean(stays),
        Trust::Signer(signer) if cell.entry.signer() == Some(signer) => Outcome::clean(stays),
        Trust::Signer(signer) => match cell.answer.proves(signer) {
            Proof::Good(form) => Outcome::clean(After::Verified(signer, form)),
            Proof::Refused(rule) => Outcome::refused(stays, rule),
            Proof::Unknown => Outcome::failed(stays),
        },
    }
}

/// `metalmark verify`, of an image that is in the lock: whether the tag is the locked digest and the digest is signed.
pub(super) fn verify(cell: Cell) -> Outcome {
    let clean = Outcome::clean(After::Unchanged);
    match (cell.answer.has_manifest(), cell.key.trust()) {
        (false, _) => Outcome::failed(After::Unchanged),
        (true, Trust::Anybody | Trust::Nobody) => clean,
        (true, Trust::Signer(signer)) => match cell.answer.proves(signer) {
            Proof::Good(_) => clean,
            Proof::Refused(rule) => Outcome::refused(After::Unchanged, rule),
            Proof::Unknown => Outcome::failed(After::Unchanged),
        },
    }
}

/// Why an image's entry is not to be trusted, where no network is needed to see it; none where it is.
pub(super) fn refused_offline(cell: Cell) -> Option<&'static str> {
    match (cell.key.trust(), cell.entry.signer()) {
        _ if cell.entry == Entry::Absent => Some("it is not locked"),
        (Trust::Anybody, Some(_)) => Some("its signer is not configured any more"),
        (Trust::Anybody, None) => None,
        (Trust::Nobody, _) => Some("the configured key cannot be used"),
        (Trust::Signer(wanted), signer) => {
            (signer != Some(wanted)).then_some("the configured key did not sign it")
        }
    }
}
