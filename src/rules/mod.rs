//! The rules: every opinion that metalmark has, one file each.

use crate::model::cluster::Pool;
use crate::model::finding::{Finding, Level, Subject};
use crate::model::image::Images;
use crate::model::matching::Selection;
use crate::model::place::{Place, Spot};
use crate::model::workspace::{ClusterView, Settings};

/// One opinion. Its file's name, its id, its fixtures' folder and its row in README are the same word.
pub trait Rule: Sync {
    /// The stable kebab-case id.
    fn id(&self) -> &'static str;
    /// One line for tables.
    fn summary(&self) -> &'static str;
    /// What `explain` prints: what it finds, why it matters, a wrong and a right snippet.
    fn explanation(&self) -> &'static str;
    /// The level unless the policy says otherwise.
    fn level(&self) -> Level {
        Level::Error
    }
    /// Looks at one cluster. Rules that the reader applies itself (syntax, duplicates) leave this out.
    fn cluster(&self, _input: &ClusterInput<'_>, _report: &mut dyn FnMut(Finding)) {}
    /// Looks at what all clusters came to.
    fn workspace(&self, _input: &WorkspaceInput<'_>, _report: &mut dyn FnMut(Finding)) {}
}

/// What a rule sees of one cluster.
pub struct ClusterInput<'a> {
    /// The cluster, read and resolved.
    pub view: &'a ClusterView,
    /// The project's settings.
    pub settings: &'a Settings,
}

/// What a rule sees of the whole.
pub struct WorkspaceInput<'a> {
    /// Every cluster's image use, in cluster order: small, so that memory does not grow with the values.
    pub uses: &'a [ImageUse],
    /// The catalogue that all clusters share, resolved once with the shared layers alone.
    pub images: &'a Images,
    /// The files that the shared catalogue's places point into.
    pub sources: &'a crate::model::place::Sources,
    /// The project's settings.
    pub settings: &'a Settings,
}

/// What one cluster uses.
#[derive(Clone, Debug)]
pub struct ImageUse {
    /// The cluster.
    pub cluster: std::sync::Arc<str>,
    /// The image of each pool that came to one.
    pub pools: Vec<(String, crate::model::image::ImageKey)>,
    /// The images served for it.
    pub served: Vec<crate::model::image::ImageKey>,
}

impl<'a> ClusterInput<'a> {
    /// The pools with what their choices came to.
    pub fn pools(&self) -> impl Iterator<Item = (&'a Pool, &'a Selection)> {
        self.view.cluster.pools.iter().zip(&self.view.selections)
    }

    /// A place with its file.
    pub fn spot(&self, place: Place) -> Option<Spot> {
        self.view.sources.resolve(place)
    }

    /// The subject of a finding about the cluster, or one of its pools.
    pub fn subject(&self, pool: Option<&Pool>) -> Subject {
        Subject {
            cluster: Some(self.view.cluster.name.to_string()),
            pool: pool.map(|pool| pool.name.to_string()),
            image: None,
        }
    }
}
