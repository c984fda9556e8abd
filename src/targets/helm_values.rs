//! Values to lay over the user's own: for each cluster the images that its levels chose, and what is known of them.
//!
//! Give the file to Helm as the last `-f`, or to Flux as the last of `valuesFrom`. `choice` says how a chosen image is
//! written. With `auto` each level is answered in its own spelling, because Sylva's schema wants exactly one spelling at a
//! level and a `null` in a later layer does not take the other away: `image_key` stays, a selector is narrowed to the one
//! image by `_os_images_key_`, and everything else becomes `machine_image_url`, `_format`, `_checksum` and
//! `_checksum_type`. `url` and `key` write one spelling everywhere, with `null` over what else the level wrote; they suit
//! charts without that rule, and selectors that stand in the chart's own defaults, where Helm takes a `null` for removal.

use super::{Content, SharedInput, Target, TargetFile, TargetInput, flag_option, word_option};
use crate::model::finding::Finding;
use crate::model::value::{Entry, Map};
use crate::objects::choices::{self, Root, Style};
use crate::objects::info;

/// See the module's text.
pub(super) struct HelmValues;

impl Target for HelmValues {
    fn name(&self) -> &'static str {
        "helm-values"
    }

    fn summary(&self) -> &'static str {
        "a values overlay for each cluster, and one with all served images"
    }

    fn templates(&self) -> &'static [(&'static str, &'static str)] {
        &[
            (
                "cluster.yaml.j2",
                include_str!("../../templates/helm-values/cluster.yaml.j2"),
            ),
            (
                "os-images.yaml.j2",
                include_str!("../../templates/helm-values/os-images.yaml.j2"),
            ),
        ]
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &[
            (
                "choice",
                "how a chosen image is written: `auto` (default, in the level's own spelling), `url` (machine_image_*) or `key`",
            ),
            (
                "chart",
                "whose values: `sylva-units` (default, below `cluster`) or `sylva-capi-cluster` (at the top)",
            ),
            (
                "os-images",
                "false: leave `os_images` out of the clusters' files (default true)",
            ),
        ]
    }

    fn cluster(&self, input: &TargetInput<'_>, report: &mut dyn FnMut(Finding)) -> Vec<TargetFile> {
        let styles = [
            ("auto", Style::Auto),
            ("url", Style::Url),
            ("key", Style::Key),
        ];
        let style = word_option(input.output, "choice", &styles, report);
        let roots = [
            ("sylva-units", Root::Cluster),
            ("sylva-capi-cluster", Root::Top),
        ];
        let root = word_option(input.output, "chart", &roots, report);
        let mut values = choices::overlay(input.view, input.stamps, style, root);
        if flag_option(input.output, "os-images", true, report) {
            let images = info::os_images(input.served());
            values.insert(Entry::computed("os_images", images));
        }
        vec![TargetFile {
            path: format!("{}.values.yaml", input.view.cluster.name),
            template: "cluster.yaml.j2",
            context: Map::from_iter([Entry::computed("values", values)]),
            content: Content::Yaml,
        }]
    }

    fn shared(&self, input: &SharedInput<'_>, _report: &mut dyn FnMut(Finding)) -> Vec<TargetFile> {
        let images = info::os_images(input.images.values());
        vec![TargetFile {
            path: "os-images.values.yaml".to_owned(),
            template: "os-images.yaml.j2",
            context: Map::from_iter([Entry::computed("images", images)]),
            content: Content::Yaml,
        }]
    }
}
