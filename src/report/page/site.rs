//! The places of one cluster, each with a file of the cluster's own list.

use std::sync::Arc;

use parking_lot::Mutex;
use yaml_tree::place::{Place, Source, Spot};

use super::tables::Site;
use crate::model::cluster::ClusterOrigin;
use crate::model::cluster_view::ClusterView;
use crate::report::Lines;

/// Turns places into lines and columns, and lists the files that they are in.
pub(super) struct Sites<'a> {
    view: &'a ClusterView,
    /// Lines of the cluster's own files.
    own: Lines,
    /// Lines of the files that clusters share: each is counted once in a run.
    shared: &'a Mutex<Lines>,
    files: Vec<Arc<str>>,
}

impl<'a> Sites<'a> {
    /// The places of a cluster, whose own files come first in the list.
    pub(super) fn new(view: &'a ClusterView, shared: &'a Mutex<Lines>) -> Self {
        let own = view.sources.own().iter();
        Self {
            view,
            own: Lines::default(),
            shared,
            files: own.map(|source| Arc::clone(&source.path)).collect(),
        }
    }

    /// A place of the cluster.
    pub(super) fn place(&mut self, place: Place) -> Site {
        let spot = self.view.sources.resolve(place);
        spot.map_or(Site::default(), |spot| self.spot(&spot))
    }

    /// A place that may be none.
    pub(super) fn optional(&mut self, spot: Option<&Spot>) -> Site {
        spot.map_or(Site::default(), |spot| self.spot(spot))
    }

    fn spot(&mut self, spot: &Spot) -> Site {
        let source = &spot.source;
        let (line, column) = if self.is_own(source) {
            self.own.line_column(spot)
        } else {
            let mut shared = self.shared.lock();
            shared.line_column(spot)
        };
        Site(self.file(&source.path), line as u32, column as u32)
    }

    fn is_own(&self, source: &Arc<Source>) -> bool {
        // A file of manifests holds many clusters, and is kept for all of them.
        let mut own = self.view.sources.own().iter();
        self.view.cluster.origin == ClusterOrigin::Values && own.any(|own| Arc::ptr_eq(own, source))
    }

    /// The number of a file, from 1.
    fn file(&mut self, path: &Arc<str>) -> u32 {
        let known = self.files.iter().position(|known| known == path);
        let index = known.unwrap_or_else(|| {
            self.files.push(Arc::clone(path));
            self.files.len() - 1
        });
        index as u32 + 1
    }

    /// The files, the cluster's own first.
    pub(super) fn into_files(self) -> Vec<Arc<str>> {
        self.files
    }
}
