//! The target `flux-artifact`: Flux's ArtifactGenerator merges the images into the chart, for each cluster a chart whose
//! `values.yaml` contains the images, without a ConfigMap.
//!
//! The folder of a cluster contains `values.yaml` (the images' facts and the selected images), the ArtifactGenerator that copies
//! the chart and merges that file over the chart's own, the HelmRelease that installs the result, and the kustomization of both.
//! The artifact's revision is a hash of its content, so unchanged content triggers nothing. The chart's values are the lowest
//! layer: `values-from` wins over them, so levels keep the user's spelling, narrowed to one image.
//! Flux needs the source-watcher (2.7 or newer).
//! (source-watcher docs/spec/v1beta1/artifactgenerators.md.)

use yaml_tree::value::{Entry, Map, Node, Value};

use super::flux_apply::{apply, kustomization, objects_folder, values_from};
use super::{Content, Target, TargetFile, TargetInput, text_option};
use crate::model::finding::Finding;
use crate::model::settings::Output;
use crate::render::objects::choices::{self, Root, Style};

/// See the module documentation.
pub(super) struct FluxArtifact;

impl Target for FluxArtifact {
    fn name(&self) -> &'static str {
        "flux-artifact"
    }

    fn templates(&self) -> &'static [(&'static str, &'static str)] {
        templates! {
            "flux-artifact": "values.yaml.j2" "artifactgenerator.yaml.j2" "helmrelease.yaml.j2" "kustomization.yaml.j2" "sync.yaml.j2"
        }
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        OPTIONS
    }

    fn is_applied_whole(&self, _output: &Output) -> bool {
        true
    }

    fn cluster(&self, input: &TargetInput<'_>, findings: &mut Vec<Finding>) -> Vec<TargetFile> {
        let folder = objects_folder(&input.view.cluster.name);
        let resources = ["artifactgenerator.yaml", "helmrelease.yaml"].map(Node::from_value);
        vec![
            TargetFile {
                path: format!("{folder}/values.yaml"),
                template: "values.yaml.j2",
                context: Map::from_iter([Entry::from_value("values", values(input, findings))]),
                content: Content::Yaml,
            },
            TargetFile {
                path: format!("{folder}/artifactgenerator.yaml"),
                template: "artifactgenerator.yaml.j2",
                context: generator(input, findings),
                content: Content::Objects,
            },
            TargetFile {
                path: format!("{folder}/helmrelease.yaml"),
                template: "helmrelease.yaml.j2",
                context: release(input, findings),
                content: Content::Objects,
            },
            kustomization(format!("{folder}/kustomization.yaml"), resources.to_vec()),
        ]
        .into_iter()
        .chain(apply(input, findings))
        .collect()
    }
}

const OPTIONS: &[(&str, &str)] = options! {
    "release": "the HelmRelease's name (default `cluster`)"
    "chart": "the chart's folder in its source (default `charts/sylva-capi-cluster`)"
    "source-kind": "the chart's source: `GitRepository` (default), `OCIRepository`, `Bucket`, `HelmChart`"
    "source-name": "the source's name (default `sylva-capi-cluster`)"
    "source-namespace": "the source's namespace (default: the release's)"
    "values-from": "a list of `valuesFrom` entries: the cluster's own values"
    "interval": "how often Flux looks (default `10m`)"
    "git-kind": "the source of the rendered files: `GitRepository` (default), `OCIRepository`, `Bucket`"
    "git-name": "that source's name (default `flux-system`)"
    "flux-namespace": "where that source and the Kustomizations live (default `flux-system`)"
    "project-path": "the project's folder in that source (default: its root)"
};

fn chart<'a>(input: &TargetInput<'a>, findings: &mut Vec<Finding>) -> &'a str {
    let default = "charts/sylva-capi-cluster";
    text_option(input.output, "chart", default, findings).trim_matches('/')
}

fn values(input: &TargetInput<'_>, findings: &mut Vec<Finding>) -> Map {
    let root = Root::from_chart(chart(input, findings));
    choices::values(input.view, input.stamps, Style::Auto, root, findings)
}

/// The ArtifactGenerator: copies the chart, then merges the rendered values over its own.
fn generator(input: &TargetInput<'_>, findings: &mut Vec<Finding>) -> Map {
    let output = input.output;
    let cluster = &input.view.cluster;
    let mut charts = source(
        "chart",
        text_option(output, "source-kind", "GitRepository", findings),
        text_option(output, "source-name", "sylva-capi-cluster", findings),
    );
    let namespace = text_option(output, "source-namespace", "", findings);
    if !namespace.is_empty() {
        charts.insert(Entry::from_value("namespace", namespace));
    }
    let mut rendered = source(
        "rendered",
        text_option(output, "git-kind", "GitRepository", findings),
        text_option(output, "git-name", "flux-system", findings),
    );
    let namespace = text_option(output, "flux-namespace", "flux-system", findings);
    rendered.insert(Entry::from_value("namespace", namespace));
    let project = text_option(output, "project-path", "", findings).trim_matches('/');
    let values = path(&[
        "@rendered",
        project,
        input.folder,
        &objects_folder(&cluster.name),
        "values.yaml",
    ]);
    let artifact = artifact_folder(chart(input, findings));
    Map::from_iter([
        Entry::from_value("name", Value::String(cluster.object_name.clone())),
        Entry::from_value("namespace", Value::String(cluster.namespace.clone())),
        Entry::from_value(
            "sources",
            vec![Node::from_value(charts), Node::from_value(rendered)],
        ),
        Entry::from_value("chart", path(&["@chart", chart(input, findings), "**"])),
        Entry::from_value("values", values),
        Entry::from_value("artifact_values", format!("{artifact}values.yaml")),
        Entry::from_value("artifact", artifact),
    ])
}

/// The only folder of a chart archive: Helm refuses files beside it.
fn artifact_folder(chart: &str) -> String {
    let name = chart.trim_matches('/').rsplit('/').next();
    let name = name.filter(|name| !matches!(*name, "" | "."));
    format!("@artifact/{}/", name.unwrap_or("chart"))
}

fn source(alias: &str, kind: &str, name: &str) -> Map {
    Map::from_iter([
        Entry::from_value("alias", alias),
        Entry::from_value("kind", kind),
        Entry::from_value("name", name),
    ])
}

fn path(names: &[&str]) -> String {
    let names = names.iter().filter(|name| !name.is_empty());
    names.copied().collect::<Vec<_>>().join("/")
}

fn release(input: &TargetInput<'_>, findings: &mut Vec<Finding>) -> Map {
    let cluster = &input.view.cluster;
    Map::from_iter([
        Entry::from_value(
            "name",
            text_option(input.output, "release", "cluster", findings),
        ),
        Entry::from_value("namespace", Value::String(cluster.namespace.clone())),
        Entry::from_value(
            "interval",
            text_option(input.output, "interval", "10m", findings),
        ),
        Entry::from_value("artifact", Value::String(cluster.object_name.clone())),
        Entry::from_value("values_from", values_from(input)),
    ])
}
