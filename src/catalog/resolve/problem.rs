//! The problems of a catalog, as findings.

use std::sync::Arc;

use capi::image::{Fact, ImageKey, Origin};
use oci_artifacts::Address;
use yaml_tree::place::{Located, Place, Sources};

use crate::model::finding::{Finding, Subject};
use crate::model::judgment::Disagreement;
use crate::model::rule::RuleId;

/// Something wrong that only resolving sees. What the resolved images show themselves is left to the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Two entries have one key, by their dots or because `os_images` and the builder's list both have it
    /// (docs/sylva.md#the-catalog).
    Collision {
        /// The key.
        key: ImageKey,
        /// The entry that counts, upstream and here (docs/sylva.md#the-catalog).
        kept: (Arc<str>, Place),
        /// The entry that is lost.
        dropped: (Arc<str>, Place),
        /// Whether they are in two lists.
        across_lists: bool,
    },
    /// Nothing says where the image is.
    NoReference {
        /// The image.
        key: ImageKey,
        /// Where its registry, else the image, is named.
        place: Place,
        /// What is missing, in one clause.
        reason: String,
    },
    /// A source describes another build of the image than the catalog takes; nothing was learned from it.
    OtherBuild {
        /// The image.
        key: ImageKey,
        /// The reference that the values give.
        wanted: Located<Address>,
        /// The source's.
        described: Fact,
    },
    /// An image says that it is of one registry, and its `uri` is what another one has at its tag.
    OtherRegistry {
        /// The image.
        key: ImageKey,
        /// The registry that its key or the chart's fact names.
        claimed: Located<Arc<str>>,
        /// The registry whose image it is.
        actual: Arc<str>,
        /// Where its `uri` is.
        place: Place,
    },
    /// Two sources say different things.
    Conflict {
        /// The image.
        key: ImageKey,
        /// The fact's name.
        fact: Arc<str>,
        /// The one that counts.
        stronger: Fact,
        /// The other.
        weaker: Fact,
    },
}

impl Problem {
    /// The finding of the problem, its places looked up in the files that the catalog was read from.
    pub fn finding(&self, sources: &Sources) -> Finding {
        let spot = |place: Place| sources.resolve(place);
        let finding = match self {
            Self::Collision { kept, dropped, .. } => {
                Finding::new(RuleId::ImageNameCollision, self.message())
                    .with_label(spot(kept.1), "this one counts")
                    .with_label(spot(dropped.1), "this one is lost")
                    .help("remove one of them, or give it another name")
            }
            Self::NoReference { place, .. } => {
                Finding::new(RuleId::RegistryUnknown, self.message())
                    .with_label(spot(*place), "nothing says where this image is")
            }
            Self::OtherBuild {
                wanted, described, ..
            } => Finding::new(RuleId::FactConflict, self.message())
                .with_label(spot(described.place), "facts of this build are not used")
                .with_label(spot(wanted.place), "the catalog takes another")
                .help("export `os-images-info` again, from a cluster that runs this catalog"),
            Self::OtherRegistry {
                claimed,
                actual,
                place,
                ..
            } => Finding::new(RuleId::FactConflict, self.message())
                .with_label(spot(claimed.place), format!("says `{}`", claimed.value))
                .with_label(spot(*place), format!("the `url` and `tag` of `{actual}`"))
                .help("correct the `uri`, or the registry"),
            Self::Conflict {
                stronger, weaker, ..
            } => {
                let strong = (stronger.place, format!("`{}` counts", stronger.value));
                let weak = (
                    weaker.place,
                    format!("`{}` by {}", weaker.value, weaker.origin),
                );
                // What people write themselves they can fix.
                let (is_own, [first, second]) = match weaker.origin {
                    Origin::Values => (true, [weak, strong]),
                    _ => (false, [strong, weak]),
                };
                let finding = Finding::new(RuleId::FactConflict, self.message())
                    .with_label(spot(first.0), first.1)
                    .with_label(spot(second.0), second.1);
                if is_own {
                    finding.help("remove it here, or correct it")
                } else {
                    finding
                }
            }
        };
        finding.with_subject(Subject::image(self.image()))
    }

    /// Whether it is what two sides say of the image that a pool boots.
    pub(super) fn is_same(&self, disagreement: &Disagreement) -> bool {
        match self {
            Self::Conflict { key, fact, .. } => {
                *key == disagreement.image && **fact == *disagreement.name
            }
            Self::Collision { .. }
            | Self::NoReference { .. }
            | Self::OtherBuild { .. }
            | Self::OtherRegistry { .. } => false,
        }
    }

    /// The image that it is about.
    fn image(&self) -> &ImageKey {
        match self {
            Self::Collision { key, .. }
            | Self::NoReference { key, .. }
            | Self::OtherBuild { key, .. }
            | Self::OtherRegistry { key, .. }
            | Self::Conflict { key, .. } => key,
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Collision {
                key,
                across_lists: true,
                ..
            } => format!("`os_images` and the builder's list both have the image `{key}`"),
            Self::Collision {
                key, kept, dropped, ..
            } => format!(
                "the images `{}` and `{}` have the same key, `{key}`",
                dropped.0, kept.0
            ),
            Self::NoReference { reason, .. } => reason.clone(),
            Self::OtherBuild {
                wanted, described, ..
            } => format!(
                "{} describes `{}`, another build than `{}`",
                described.origin, described.value, wanted.value
            ),
            Self::OtherRegistry {
                key,
                claimed,
                actual,
                ..
            } => format!(
                "`{key}` is of registry `{}`, and its `uri` is an image of `{actual}`",
                claimed.value
            ),
            Self::Conflict {
                key,
                fact,
                stronger,
                weaker,
            } => format!(
                "`{fact}` of `{key}` is `{}` by {}, `{}` by {}",
                stronger.value, stronger.origin, weaker.value, weaker.origin
            ),
        }
    }
}
