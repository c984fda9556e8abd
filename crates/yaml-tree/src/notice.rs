//! Notices about surprising content in a values file. They are facts; the rules decide what to report.

use std::fmt;

use crate::place::{HIDDEN, Place};

/// A fact about a valid file.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// The kind of fact.
    pub kind: NoticeKind,
    /// The span that the fact applies to.
    pub place: Place,
}

impl Notice {
    /// The same without what it quotes of the text.
    #[must_use]
    pub fn seal(&self) -> Self {
        let mut sealed = self.clone();
        match &mut sealed.kind {
            NoticeKind::DuplicateKey { key, .. } | NoticeKind::MergeReplaces { key, .. } => {
                HIDDEN.clone_into(key);
            }
            NoticeKind::Misread { text, becomes, .. } => {
                HIDDEN.clone_into(text);
                HIDDEN.clone_into(becomes);
            }
            NoticeKind::IgnoredDocuments | NoticeKind::More { .. } => {}
        }
        sealed
    }

    /// Turns each of its places into another one.
    pub fn relocate(&mut self, at: impl Fn(Place) -> Place) {
        self.place = at(self.place);
        match &mut self.kind {
            NoticeKind::DuplicateKey { first, .. } => *first = at(*first),
            NoticeKind::MergeReplaces { merged, .. } => *merged = at(*merged),
            NoticeKind::Misread { .. } | NoticeKind::IgnoredDocuments | NoticeKind::More { .. } => {
            }
        }
    }
}

/// The kinds of facts.
#[derive(Clone, Debug, PartialEq)]
pub enum NoticeKind {
    /// A key exists twice in a map, and the later one wins. The notice has the span of the later key.
    DuplicateKey {
        /// The key.
        key: String,
        /// The span of the earlier key.
        first: Place,
        /// Whether both have the same value.
        same_value: bool,
    },
    /// `<<` merges a key that the map has set before, and replaces its value, because the order matters in Helm. The notice has
    /// the span of the map's own key.
    MergeReplaces {
        /// The key.
        key: String,
        /// The span of the key in the merged map.
        merged: Place,
    },
    /// An unquoted scalar whose value differs from its text.
    Misread {
        /// The text in the file.
        text: String,
        /// The value, as JSON.
        becomes: String,
        /// What it was probably intended to be.
        why: Misreading,
        /// Whether it is a key.
        is_key: bool,
    },
    /// Helm 3 ignores the text from here on, because it reads only the first document of a file.
    IgnoredDocuments,
    /// There are more facts from here on than the limit of their kind.
    More {
        /// The number of facts that are left out.
        count: usize,
    },
}

/// The maximum number of notices of each kind for one text. A text of one megabyte could otherwise lead to a gigabyte of notices.
const MOST: usize = 1000;

/// Collects the notices of a text.
#[derive(Debug, Default)]
pub(super) struct Notices {
    kept: Vec<Notice>,
    counts: [usize; 5],
    /// The position of the first notice that was left out, and the number of them.
    omitted: Option<(Place, usize)>,
}

impl Notices {
    pub(super) fn push(&mut self, notice: Notice) {
        // Kinds are counted separately, so that minor facts cannot displace those that a rule refuses.
        let index = match &notice.kind {
            NoticeKind::DuplicateKey { same_value, .. } => usize::from(*same_value),
            NoticeKind::MergeReplaces { .. } => 2,
            NoticeKind::Misread { .. } => 3,
            NoticeKind::IgnoredDocuments | NoticeKind::More { .. } => 4,
        };
        self.counts[index] += 1;
        if self.counts[index] <= MOST {
            self.kept.push(notice);
        } else {
            self.omitted.get_or_insert((notice.place, 0)).1 += 1;
        }
    }

    /// The notices, sorted by position.
    pub(super) fn finish(mut self) -> Vec<Notice> {
        if let Some((place, count)) = self.omitted {
            let kind = NoticeKind::More { count };
            self.kept.push(Notice { kind, place });
        }
        self.kept.sort_by_key(|notice| notice.place.start);
        self.kept
    }
}

/// What a misread scalar was probably intended to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misreading {
    /// A version: `1.30` becomes 1.3.
    Version,
    /// A word: `on`, `y`, `no` become booleans.
    Boolean,
    /// Digits with a leading zero: `012` is octal and becomes 10, `08` becomes 8.
    LeadingZero,
    /// A number with more digits than a value keeps.
    LostDigits,
    /// A name with an `e` in it: `22e10` becomes 220000000000.
    Exponent,
    /// Digits with underscores: `1_000` becomes 1000.
    Underscores,
}

impl fmt::Display for Misreading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Version => "a version",
            Self::Boolean => "a word",
            Self::LeadingZero => "digits with a leading zero",
            Self::LostDigits => "a long number",
            Self::Exponent => "a name with an `e` in it",
            Self::Underscores => "digits with underscores",
        })
    }
}
