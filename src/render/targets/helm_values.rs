//! The target `helm-values`: values that override the user's own, with the images that each cluster's levels select, and the facts
//! of its own images.
//!
//! Pass the file to Helm as the last `-f`, or to Flux as the last of `valuesFrom`. `choice` sets how an image is written.
//! With `auto` each level keeps its own spelling, because Sylva's schema allows exactly one spelling at a level and a `null`
//! in a later layer does not remove the other one: `image_key` stays, a selector is narrowed to the one image with
//! `_os_images_key_`, and everything else becomes `machine_image_url`, `_format`, `_checksum` and `_checksum_type`. `url` and
//! `key` write one spelling everywhere, with `null` for the level's other one, for charts without that rule. For sylva-units
//! such a `null` is refused.

use yaml_tree::value::{Entry, Map, Value};

use super::{Content, SharedInput, Target, TargetFile, TargetInput, flag_option, word_option};
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::settings::Output;
use crate::render::objects::choices::{self, Root, Style};
use crate::render::objects::info;

/// See the module documentation.
pub(super) struct HelmValues;

impl Target for HelmValues {
    fn name(&self) -> &'static str {
        "helm-values"
    }

    fn templates(&self) -> &'static [(&'static str, &'static str)] {
        templates!("helm-values": "cluster.yaml.j2" "os-images.yaml.j2")
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        options! {
            "choice": "how a selected image is written: `auto` (default, in the level's own spelling), `url` (machine_image_*) or `key`"
            "chart": "whose values: `sylva-units` (default, below `cluster`) or `sylva-capi-cluster` (at the top)"
            "os-images": "false: leave `os_images` out of the clusters' files (default true)"
        }
    }

    fn cluster(&self, input: &TargetInput<'_>, findings: &mut Vec<Finding>) -> Vec<TargetFile> {
        let styles = [
            ("auto", Style::Auto),
            ("url", Style::Url),
            ("key", Style::Key),
        ];
        let style = word_option(input.output, "choice", &styles, findings);
        let root = word_option(input.output, "chart", ROOTS, findings);
        let values = if flag_option(input.output, "os-images", true, findings) {
            choices::values(input.view, input.stamps, style, root, findings)
        } else {
            choices::overlay(input.view, input.stamps, style, root)
        };
        if let (Root::Cluster, Some(path)) = (root, null_within(&values)) {
            findings.push(refusal(input.output, &path));
        }
        vec![TargetFile {
            path: format!("{}.values.yaml", input.view.cluster.name),
            template: "cluster.yaml.j2",
            context: Map::from_iter([Entry::from_value("values", values)]),
            content: Content::Yaml,
        }]
    }

    fn is_shared(&self, _output: &Output, _findings: &mut Vec<Finding>) -> bool {
        true
    }

    fn render_shared(
        &self,
        input: &SharedInput<'_>,
        findings: &mut Vec<Finding>,
    ) -> Vec<TargetFile> {
        let root = word_option(input.output, "chart", ROOTS, findings);
        let images = input.images_to_serve(|image| root.takes(image), findings);
        let images = info::os_images(images, findings);
        if images.is_empty() {
            return Vec::new();
        }
        vec![TargetFile {
            path: "os-images.values.yaml".to_owned(),
            template: "os-images.yaml.j2",
            context: Map::from_iter([Entry::from_value("images", images)]),
            content: Content::Yaml,
        }]
    }
}

const ROOTS: &[(&str, Root)] = &[
    ("sylva-units", Root::Cluster),
    ("sylva-capi-cluster", Root::Top),
];

/// The path of a null in a tree of values.
fn null_within(values: &Map) -> Option<String> {
    values.iter().find_map(|entry| match &entry.node.value {
        Value::Null => Some(entry.key.to_string()),
        Value::Map(map) => Some(format!("{}.{}", entry.key, null_within(map)?)),
        _ => None,
    })
}

/// The finding for a selection in another spelling than the level's.
fn refusal(output: &Output, path: &str) -> Finding {
    let message = format!(
        "sylva-units refuses another spelling over `{path}`: a level has one, and `null` in a later layer removes none"
    );
    Finding::new(RuleId::ProjectFile, message)
        .with_label(output.spot.clone(), "")
        .help("leave `choice` out, or write `choice: auto`: each level keeps its own spelling")
}
