//! The stages over all clusters: each is read, resolved and checked on its own, both cores busy, the answers in the clusters'
//! order. What is not asked for is dropped with its cluster, so that memory does not grow with the fleet's values.

use std::collections::BTreeMap;

use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};

use crate::check;
use crate::error::Error;
use crate::model::finding::{Finding, Judged, Level};
use crate::model::image::{Image, ImageKey, Images};
use crate::model::matching::PatternCache;
use crate::model::policy::Date;
use crate::model::workspace::ClusterView;
use crate::read::{ClusterEntry, Workspace};
use crate::resolve::{self, Facts};
use crate::rules::ImageUse;
use crate::sources;

/// What a survey keeps of each cluster, and what all of them came to.
pub(super) struct Survey<T> {
    /// One for each cluster, in the workspace's order.
    pub(super) clusters: Vec<Surveyed<T>>,
    /// The images that any cluster is served, by key.
    pub(super) served: Images,
    /// All findings, sorted, each once.
    pub(super) judged: Vec<Judged>,
}

/// One cluster's part.
pub(super) struct Surveyed<T> {
    /// Whether a finding at error level stands against it.
    pub(super) has_errors: bool,
    /// What the caller made of it.
    pub(super) result: T,
}
