//! A file that a chart renders.

use go_template::Rendered;
use yaml_tree::place::{FileId, Place};
use yaml_tree::value::Node;

use super::kinds::is_of_cluster_api;

/// A file that a chart renders.
pub(in crate::read) struct Output {
    /// The template.
    pub(super) template: FileId,
    pub(super) rendered: Rendered,
    /// The objects in it, with places in the text that was rendered.
    pub(super) objects: Vec<Node>,
}

impl Output {
    /// Whether it has Cluster API objects.
    pub(super) fn is_kept(&self) -> bool {
        let is_of_cluster_api = |node: &Node| {
            let version = node.text(&["apiVersion"]);
            version.is_some_and(is_of_cluster_api)
        };
        self.objects.iter().any(is_of_cluster_api)
    }

    /// A place of the text that was rendered as one of the template.
    pub(super) fn place(&self, place: Place) -> Place {
        let span = self.rendered.span(place.start as usize..place.end as usize);
        Place::new(self.template, span)
    }
}
