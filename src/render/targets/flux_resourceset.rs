//! The target `flux-resourceset`: inputs of a flux-operator ResourceSet. For each cluster its name, its pools with their images, and
//! its values.
//!
//! By default each cluster is a `ResourceSetInputProvider` of type `Static`: a ResourceSet selects them with
//! `inputsFrom: [{kind: ResourceSetInputProvider, selector: {matchLabels: {metalmark: cluster}}}]`, and its templates read
//! `<< inputs.cluster >>` or `<< inputs.values | toYaml >>`. With `form: inputs` the same data is written as plain lists, one file
//! per cluster and one for all images, for `spec.inputs` and for `flux-operator build resourceset --inputs-from`.
//! (fluxoperator.dev/docs/crd/resourceset and …/resourcesetinputprovider.)

use std::sync::Arc;

use capi::providers::Stamp;
use yaml_tree::value::{Entry, Map, Node, Value};

use super::{Content, SharedInput, Target, TargetFile, TargetInput, text_option, word_option};
use crate::model::finding::Finding;
use crate::model::settings::Output;
use crate::render::objects::choices::{self, Root, Style};
use crate::render::objects::{guard, info};

/// See the module documentation.
pub(super) struct FluxResourceSet;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Provider,
    Inputs,
}

impl Target for FluxResourceSet {
    fn name(&self) -> &'static str {
        "flux-resourceset"
    }

    fn templates(&self) -> &'static [(&'static str, &'static str)] {
        templates!("flux-resourceset": "provider.yaml.j2" "inputs.yaml.j2")
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        options! {
            "form": "`provider` (default): a ResourceSetInputProvider for each cluster; `inputs`: lists for `spec.inputs`"
            "namespace": "the namespace of the providers: that of the ResourceSet (default `flux-system`)"
            "chart": "whose values: `sylva-capi-cluster` (default, at the top) or `sylva-units` (below `cluster`)"
        }
    }

    fn is_applied_whole(&self, output: &Output) -> bool {
        form(output, &mut Vec::new()) == Form::Provider
    }

    fn cluster(&self, input: &TargetInput<'_>, findings: &mut Vec<Finding>) -> Vec<TargetFile> {
        let name = &input.view.cluster.name;
        let inputs = inputs(input, findings);
        if form(input.output, findings) == Form::Inputs {
            return vec![list(
                format!("{name}.inputs.yaml"),
                vec![Node::from_value(inputs)],
            )];
        }
        vec![TargetFile {
            path: format!("{name}.yaml"),
            template: "provider.yaml.j2",
            context: provider(input, inputs, findings),
            content: Content::Objects,
        }]
    }

    fn is_shared(&self, output: &Output, findings: &mut Vec<Finding>) -> bool {
        form(output, findings) == Form::Inputs
    }

    fn render_shared(
        &self,
        input: &SharedInput<'_>,
        findings: &mut Vec<Finding>,
    ) -> Vec<TargetFile> {
        let images = input.images_to_serve(|_| true, findings);
        let images = info::os_images(images, findings);
        let images = images.iter().map(|entry| {
            let key = Entry::from_value("image", Value::String(Arc::clone(&entry.key)));
            let facts = entry
                .node
                .value
                .as_map()
                .map(Arc::clone)
                .unwrap_or_default();
            Node::from_value(
                std::iter::once(key)
                    .chain(facts.iter().cloned())
                    .collect::<Map>(),
            )
        });
        vec![list("images.inputs.yaml".to_owned(), images.collect())]
    }
}

fn form(output: &Output, findings: &mut Vec<Finding>) -> Form {
    let words = [("provider", Form::Provider), ("inputs", Form::Inputs)];
    word_option(output, "form", &words, findings)
}

/// The inputs of one cluster.
fn inputs(input: &TargetInput<'_>, findings: &mut Vec<Finding>) -> Map {
    let cluster = &input.view.cluster;
    let roots = [
        ("sylva-capi-cluster", Root::Top),
        ("sylva-units", Root::Cluster),
    ];
    let root = word_option(input.output, "chart", &roots, findings);
    let values = choices::values(input.view, input.stamps, Style::Auto, root, findings);
    let pools = cluster.pools.iter().zip(input.stamps);
    let pools = pools.map(|(pool, stamp)| {
        let name = Entry::from_value("name", pool.name.to_string());
        let version = cluster.k8s_version_of(pool).map(|version| {
            Entry::from_value("k8s_version", Value::String(Arc::clone(&version.value)))
        });
        let stamped = stamp.iter().flat_map(stamp_fields);
        Node::from_value(
            std::iter::once(name)
                .chain(version)
                .chain(stamped)
                .collect::<Map>(),
        )
    });
    Map::from_iter([
        Entry::from_value("cluster", Value::String(Arc::clone(&cluster.name))),
        Entry::from_value("namespace", Value::String(cluster.namespace.clone())),
        Entry::from_value("pools", pools.collect::<Vec<_>>()),
        Entry::from_value("values", values),
    ])
}

fn stamp_fields(stamp: &Stamp) -> impl Iterator<Item = Entry> {
    [
        ("image", stamp.key.as_ref()),
        ("url", Some(&stamp.url)),
        ("checksum", stamp.checksum.as_ref()),
        ("checksumType", stamp.checksum_type.as_ref()),
        ("format", stamp.format.as_ref()),
    ]
    .into_iter()
    .filter_map(|(name, text)| Some(Entry::from_value(name, Value::String(Arc::clone(text?)))))
}

fn provider(input: &TargetInput<'_>, inputs: Map, findings: &mut Vec<Finding>) -> Map {
    let inputs = Node::from_value(inputs);
    let mut annotations = Map::default();
    guard(&mut annotations, &inputs);
    let namespace = text_option(input.output, "namespace", "flux-system", findings);
    Map::from_iter([
        Entry::from_value("name", Value::String(input.view.cluster.name.clone())),
        Entry::from_value("namespace", namespace),
        Entry::from_value("annotations", annotations),
        Entry::holding("inputs", inputs),
    ])
}

fn list(path: String, inputs: Vec<Node>) -> TargetFile {
    TargetFile {
        path,
        template: "inputs.yaml.j2",
        context: Map::from_iter([Entry::from_value("inputs", inputs)]),
        content: Content::Yaml,
    }
}
