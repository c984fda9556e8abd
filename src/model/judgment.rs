//! What is known of the image of a node pool, beside the Kubernetes version that the pool is to run.

use std::fmt;

use capi::image::{Fact, ImageKey, Origin};
use capi::unknown::Unknown;

/// The one answer to whether the image of a node pool fits, with its evidence. A name may narrow a choice; it never proves one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgment {
    /// The image holds the version, says a source that is stronger than its name.
    Proven(Fact),
    /// The image's name holds the whole version, and nothing stronger is known.
    ByName(Fact),
    /// Nothing proves that it holds the version, and nothing denies it.
    Unproven(Doubt),
    /// The image holds another version.
    Mismatched(Fact),
    /// Two sides say different things of the image.
    Disputed {
        /// The version that it holds by the stronger one.
        held: Option<Fact>,
        /// The first that they say.
        dispute: Box<Disagreement>,
    },
    /// There is nothing to compare.
    Unknown(Unknown),
}

/// What is seen of a version that is not proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Nothing.
    Nothing,
    /// A text of the machine template that seems to name this version, which may be that of something else.
    Seen(Fact),
    /// All numbers agree, and one side leaves out the distribution's build (`+rke2r1`).
    NoBuild(Fact),
    /// What is known agrees, but one side has no patch level.
    NoPatch(Fact),
}

/// What two sides of one image say differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The image of the catalog.
    pub image: ImageKey,
    /// The fact.
    pub name: &'static str,
    /// What is said where the node pool names its image; else what counts of the image.
    pub one: Fact,
    /// What else is said, and of which image where it is another of the catalog.
    pub other: Fact,
    /// Whether the node pool says the one.
    pub is_of_pool: bool,
}

impl Judgment {
    /// Which of the five it is.
    pub fn grade(&self) -> Grade {
        match self {
            Self::Proven(_) => Grade::Proven,
            Self::ByName(_) => Grade::ByName,
            Self::Unproven(_) => Grade::Unproven,
            Self::Mismatched(_) | Self::Disputed { .. } => Grade::Mismatched,
            Self::Unknown(_) => Grade::Unknown,
        }
    }

    /// The version that the image holds, and who says so.
    pub fn fact(&self) -> Option<&Fact> {
        match self {
            Self::Proven(fact) | Self::ByName(fact) | Self::Mismatched(fact) => Some(fact),
            Self::Unproven(Doubt::NoBuild(fact) | Doubt::NoPatch(fact)) => Some(fact),
            Self::Disputed { held, .. } => held.as_ref(),
            Self::Unproven(Doubt::Nothing | Doubt::Seen(_)) | Self::Unknown(_) => None,
        }
    }

    /// Why there is nothing to compare.
    pub fn reason(&self) -> Option<Unknown> {
        match self {
            Self::Unknown(reason) => Some(*reason),
            _ => None,
        }
    }
}

/// `mismatched: `1.30.12` in the lock`.
impl fmt::Display for Judgment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.grade().words())?;
        match self {
            Self::Proven(fact) | Self::ByName(fact) | Self::Mismatched(fact) => {
                write!(f, "`{}` in {}", fact.value, fact.origin)
            }
            Self::Unproven(doubt) => write!(f, "{doubt}"),
            Self::Disputed { dispute, .. } => write!(f, "{dispute}"),
            Self::Unknown(reason) => write!(f, "{reason}"),
        }
    }
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let here = match (self.is_of_pool, self.one.origin) {
            (true, Origin::Name) => "the name that is booted".to_owned(),
            (true, _) => "what is booted".to_owned(),
            (false, origin) => origin.to_string(),
        };
        write!(
            f,
            "`{}` of image `{}` is `{}` by {here}, and `{}` by {}",
            self.name, self.image, self.one.value, self.other.value, self.other.origin
        )
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("no source says which version it holds"),
            Self::Seen(Fact { value, .. }) => {
                write!(f, "its machine template seems to name `{value}`")
            }
            Self::NoBuild(Fact { value, origin, .. }) => {
                write!(f, "{origin} says `{value}`, which may be another build")
            }
            Self::NoPatch(Fact { value, origin, .. }) => {
                write!(f, "{origin} says only `{value}`, no patch level")
            }
        }
    }
}

/// A judgment without its evidence, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// [`Judgment::Proven`].
    Proven,
    /// [`Judgment::ByName`].
    ByName,
    /// [`Judgment::Unproven`].
    Unproven,
    /// [`Judgment::Unknown`].
    Unknown,
    /// [`Judgment::Mismatched`].
    Mismatched,
}

impl Grade {
    /// Those that a project may refuse; the worst is an error of its own.
    pub const GATES: [Self; 3] = [Self::Unknown, Self::Unproven, Self::ByName];

    /// All, the best first.
    pub const ALL: [Self; 5] = [
        Self::Proven,
        Self::ByName,
        Self::Unproven,
        Self::Unknown,
        Self::Mismatched,
    ];

    /// On the command line and in the project file.
    pub fn name(self) -> &'static str {
        match self {
            Self::ByName => "by-name",
            other => other.words(),
        }
    }

    /// The one of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|grade| grade.name() == name)
    }

    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::ByName => "by name only",
            Self::Unproven => "unproven",
            Self::Unknown => "unknown",
            Self::Mismatched => "mismatched",
        }
    }
}
