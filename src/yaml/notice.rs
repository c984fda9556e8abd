//! What a reader of a values file would be surprised by: true facts, left to the rules to judge.

use std::fmt;

use crate::model::place::Place;

/// A fact about a file that reads without error.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// What it is.
    pub kind: NoticeKind,
    /// Where it stands.
    pub place: Place,
}

/// The facts that are told.
#[derive(Clone, Debug, PartialEq)]
pub enum NoticeKind {
    /// A key stands twice in a map; the later one counts. The notice's place is the later key.
    DuplicateKey {
        /// The key.
        key: String,
        /// The earlier one.
        first: Place,
        /// Whether both have the same value.
        same_value: bool,
    },
    /// `<<` brings a key that the map has set further up, and replaces its value: in Helm the order counts.
    /// The notice's place is the map's own key.
    MergeReplaces {
        /// The key.
        key: String,
        /// The key in the map that is merged in.
        merged: Place,
    },
    /// A word or number without quotes that is read as something else than it looks like.
    Misread {
        /// As it is written.
        text: String,
        /// What it becomes, as JSON.
        becomes: String,
        /// What it was probably meant as.
        why: Misreading,
        /// Whether it is a key.
        is_key: bool,
    },
    /// Helm 3 reads nothing from here on: it takes a file's first document only.
    IgnoredDocuments,
    /// From here on there are more of a kind that was told often enough.
    More {
        /// How many.
        count: usize,
    },
}

/// Of each kind, so many are told of one text: nobody reads more, and a megabyte of them would be a gigabyte told.
const MOST: usize = 1000;

/// The notices of a text while it is read.
#[derive(Debug, Default)]
pub(super) struct Notices {
    kept: Vec<Notice>,
    counts: [usize; 5],
    /// Where the first that is left out stands, and how many are.
    left_out: Option<(Place, usize)>,
}

impl Notices {
    pub(super) fn push(&mut self, notice: Notice) {
        // What is refused never hides behind what is only odd.
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
            self.left_out.get_or_insert((notice.place, 0)).1 += 1;
        }
    }

    /// All that are told, by place.
    pub(super) fn finish(mut self) -> Vec<Notice> {
        if let Some((place, count)) = self.left_out {
            let kind = NoticeKind::More { count };
            self.kept.push(Notice { kind, place });
        }
        self.kept.sort_by_key(|notice| notice.place.start);
        self.kept
    }
}

/// What a misread scalar was probably meant as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misreading {
    /// A version: `1.30` becomes 1.3.
    Version,
    /// A word: `on`, `y`, `no` become booleans.
    Boolean,
    /// Digits with a leading zero: `012` is octal and becomes 10, `08` becomes 8.
    LeadingZero,
    /// A number of more digits than are kept.
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
