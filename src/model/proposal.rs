//! An edit that a finding proposes, small enough to be tried on the model before anyone reads it.

use std::sync::Arc;

use capi::image::ImageKey;
use yaml_tree::place::{Located, Place};

use super::cluster::{Choice, Cluster, LevelName};
use super::fix::Fix;
use super::selector::{Term, Wanted};

/// An edit of the values, and what it does to the cluster.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The edit in words that can be pasted: `` `cluster.capm3.image_key: noble` ``.
    pub text: String,
    /// What it changes.
    pub change: ProposedChange,
    /// The edit of the file, where it is certain enough to be made by a machine.
    pub fix: Option<Fix>,
}

/// A change of one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProposedChange {
    /// A level names another image.
    ImageKey {
        /// The level.
        level: LevelName,
        /// The image.
        key: ImageKey,
    },
    /// A level's selector has another term, or one less.
    Term {
        /// The level.
        level: LevelName,
        /// The fact.
        fact: Arc<str>,
        /// Its pattern; none removes the term.
        pattern: Option<Arc<str>>,
    },
    /// `cluster.k8s_version` is another one.
    K8sVersion(Arc<str>),
}

impl ProposedChange {
    /// Makes the change. What the choices select is as before.
    pub fn apply(&self, cluster: &mut Cluster) {
        match self {
            Self::K8sVersion(version) => {
                let known = cluster.k8s_version.as_ref();
                let place = known.map_or(Place::NONE, |known| known.place);
                cluster.k8s_version = Some(Located::new(Arc::clone(version), place));
            }
            Self::ImageKey { level, key } => {
                for pool in cluster.inheriting(level, |choice| choice.key.is_some()) {
                    let choice = &mut cluster.pools[pool].choice;
                    choice.key = Some(Located::new(Arc::clone(key), choice.place()));
                }
            }
            Self::Term {
                level,
                fact,
                pattern,
            } => {
                let wrote = |choice: &Choice| {
                    let selector = choice.selector.as_ref();
                    selector.is_some_and(|selector| selector.value.term(fact).is_some())
                };
                for pool in cluster.inheriting(level, wrote) {
                    let choice = &mut cluster.pools[pool].choice;
                    let Some(selector) = &mut choice.selector else {
                        continue;
                    };
                    let terms = &mut selector.value.terms;
                    terms.retain(|term| term.fact != *fact);
                    terms.extend(pattern.as_ref().map(|pattern| Term {
                        fact: Arc::clone(fact),
                        wanted: Wanted::Pattern(Arc::clone(pattern)),
                        place: Place::NONE,
                        key_place: Place::NONE,
                    }));
                }
            }
        }
    }
}
