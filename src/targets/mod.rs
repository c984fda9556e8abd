//! The output targets: what is rendered for whom, one file each.

use std::sync::Arc;

use crate::model::image::Images;
use crate::model::workspace::{ClusterView, Output, Settings};

/// One kind of output. Its name is the folder of its templates and of its golden trees.
pub trait Target: Sync {
    /// The name in the project file and on the command line.
    fn name(&self) -> &'static str;
    /// One line for tables.
    fn summary(&self) -> &'static str;
    /// The embedded templates: file name and text. A user's folder overrides them one by one.
    fn templates(&self) -> &'static [(&'static str, &'static str)];
    /// The options that it knows, with a line of help each.
    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
    /// The files of one cluster.
    fn cluster(&self, input: &TargetInput<'_>) -> Vec<TargetFile>;
    /// The files that all clusters share.
    fn shared(&self, _input: &SharedInput<'_>) -> Vec<TargetFile> {
        Vec::new()
    }
}

/// What a target sees of one cluster.
pub struct TargetInput<'a> {
    /// The cluster, checked.
    pub view: &'a ClusterView,
    /// The project's settings.
    pub settings: &'a Settings,
    /// The output being made.
    pub output: &'a Output,
}

/// What a target sees of the whole.
pub struct SharedInput<'a> {
    /// The images served for any cluster, resolved.
    pub images: &'a Images,
    /// The clusters' names, sorted.
    pub clusters: &'a [Arc<str>],
    /// The project's settings.
    pub settings: &'a Settings,
    /// The output being made.
    pub output: &'a Output,
}

/// One file to be rendered: a target decides what stands in it, its template where.
pub struct TargetFile {
    /// The path below the output's folder.
    pub path: String,
    /// The template's file name.
    pub template: &'static str,
    /// What the template sees.
    pub context: minijinja::Value,
}
