//! The target `flux`: for each cluster the ConfigMap, the HelmRelease with its values, and the Kustomization that applies both.
//!
//! The folder of a cluster is complete for `kubectl kustomize`. The HelmRelease reads, in this order with the last one winning: the
//! entries of `values-from` (the user's values), the `os-images-info` ConfigMap (docs/sylva.md#values-and-their-order), and the
//! selected images inline. With `patch: NAME` the folder is a kustomize component instead, which adds the same to an existing
//! HelmRelease: list it under `components` of the release's kustomization. The release must have a `valuesFrom` list, unless the
//! chart is sylva-units, which gets no ConfigMap.
//!
//! `${…}` in values is not meant for Flux: objects that contain it have the annotation that disables substitution, since an
//! undefined variable would become empty.

use yaml_tree::suggest::did_you_mean;
use yaml_tree::value::{Entry, Map, Node, Value};

use super::flux_apply::{apply, kustomization, objects_folder, values_from};
use super::{Content, Target, TargetFile, TargetInput, flag_option, text_option};
use crate::model::cluster::Cluster;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::settings::Output;
use crate::render::objects::choices::{self, Root, Style};
use crate::render::objects::guard;
use crate::render::objects::info::{self, ConfigMap, ConfigMapKind};

/// See the module documentation.
pub(super) struct Flux;

impl Target for Flux {
    fn name(&self) -> &'static str {
        "flux"
    }

    fn templates(&self) -> &'static [(&'static str, &'static str)] {
        templates! {
            "flux": "os-images-info.yaml.j2" "helmrelease.yaml.j2" "kustomization.yaml.j2" "component.yaml.j2" "sync.yaml.j2"
        }
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        OPTIONS
    }

    fn is_applied_whole(&self, output: &Output) -> bool {
        self.is_one_folder(output)
    }

    /// Not with `patch`: the kustomization of the cluster's release lists the component.
    fn is_one_folder(&self, output: &Output) -> bool {
        text_option(output, "patch", "", &mut Vec::new()).is_empty()
    }

    fn cluster(&self, input: &TargetInput<'_>, findings: &mut Vec<Finding>) -> Vec<TargetFile> {
        let patched = text_option(input.output, "patch", "", findings);
        let cluster = &input.view.cluster.name;
        let folder = if patched.is_empty() {
            objects_folder(cluster)
        } else {
            cluster.to_string()
        };
        let object = config_map(input, findings);
        let name = object.as_ref().map(|object| object.name.clone());
        let mut files: Vec<TargetFile> = object
            .map(|object| TargetFile {
                path: format!("{folder}/{CONFIG_MAP}"),
                template: CONFIG_MAP_TEMPLATE,
                context: Map::from_iter([Entry::holding("configmap", object.context)]),
                content: Content::Objects,
            })
            .into_iter()
            .collect();
        if !patched.is_empty() {
            files.push(component(input, patched, name.as_deref(), findings));
            return files;
        }
        files.push(TargetFile {
            path: format!("{folder}/helmrelease.yaml"),
            template: "helmrelease.yaml.j2",
            context: helm_release(input, name.as_deref(), findings),
            content: Content::Objects,
        });
        let resources = ["helmrelease.yaml"].into_iter();
        let resources = resources.chain(name.is_some().then_some(CONFIG_MAP));
        files.push(kustomization(
            format!("{folder}/kustomization.yaml"),
            resources.map(Node::from_value).collect(),
        ));
        files.extend(apply(input, findings));
        files
    }
}

const CONFIG_MAP: &str = "os-images-info.yaml";
const CONFIG_MAP_TEMPLATE: &str = "os-images-info.yaml.j2";

const OPTIONS: &[(&str, &str)] = options! {
    "release": "the HelmRelease's name (default `cluster`)"
    "chart": "the chart's path or name in its source (default `charts/sylva-capi-cluster`)"
    "chart-version": "the chart's version, for a HelmRepository"
    "source-kind": "the chart's source: `GitRepository` (default), `HelmRepository`, `Bucket`, or `OCIRepository` by reference"
    "source-name": "the source's name (default `sylva-capi-cluster`)"
    "source-namespace": "the source's namespace (default: the release's)"
    "values-from": "a list of `valuesFrom` entries that come before the ConfigMap: the cluster's own values"
    "interval": "how often Flux looks (default `10m`)"
    "config-map": "the ConfigMap's name (default `os-images-info`)"
    "name-suffix-hash": "true: the ConfigMap's name ends in a hash of its content"
    "patch": "the name of an existing HelmRelease: write a kustomize component that patches it"
    "git-kind": "the source of the rendered files: `GitRepository` (default), `OCIRepository`, `Bucket`"
    "git-name": "that source's name (default `flux-system`)"
    "flux-namespace": "where the Kustomizations live (default `flux-system`)"
    "project-path": "the project's folder in that source (default: its root)"
};

/// Where the values go. A release that is patched has its chart already: the one that the cluster's values are for, whatever its
/// folder is called. Sylva's release is called as its chart is.
fn chart_root(input: &TargetInput<'_>, findings: &mut Vec<Finding>) -> Root {
    let patched = text_option(input.output, "patch", "", findings);
    let own = input.view.cluster.chart.as_deref().map(Root::from_chart);
    if !patched.is_empty() && own == Some(Root::Cluster) {
        return Root::Cluster;
    }
    let chart = text_option(input.output, "chart", patched, findings);
    let name = chart.trim_end_matches('/').rsplit('/').next();
    // Where the values go depends on the name.
    if let Some(near) = name.and_then(|name| did_you_mean(name, ["sylva-units"])) {
        let message = format!("`{chart}` is almost the name of Sylva's chart");
        let finding = Finding::new(RuleId::ProjectFile, message);
        findings.push(finding.help(format!("did you mean `{near}`?")));
    }
    Root::from_chart(chart)
}

/// The ConfigMap with the images' facts. None for sylva-units: a job of that chart writes the object with this name, which two
/// owners would overwrite in turn, so the facts are inline.
fn config_map(input: &TargetInput<'_>, findings: &mut Vec<Finding>) -> Option<ConfigMap> {
    if chart_root(input, findings) == Root::Cluster {
        return None;
    }
    let hashed = flag_option(input.output, "name-suffix-hash", false, findings);
    let images = info::os_images(input.images_to_serve(), findings);
    let values = Map::from_iter([Entry::from_value("os_images", images)]);
    let name = text_option(input.output, "config-map", info::CONFIG_MAP, findings);
    let namespace = &input.view.cluster.namespace;
    Some(info::config_map(
        ConfigMapKind::Info,
        values,
        name,
        namespace,
        hashed,
        Map::default(),
    ))
}

/// The inline values of the HelmRelease.
fn inline(input: &TargetInput<'_>, findings: &mut Vec<Finding>) -> Map {
    match chart_root(input, findings) {
        Root::Cluster => choices::values(
            input.view,
            input.stamps,
            Style::Auto,
            Root::Cluster,
            findings,
        ),
        Root::Top => choices::overlay(input.view, input.stamps, Style::Auto, Root::Top),
    }
}

fn config_map_reference(name: &str) -> Node {
    Node::from_value(Map::from_iter([
        Entry::from_value("kind", "ConfigMap"),
        Entry::from_value("name", name),
    ]))
}

fn helm_release(
    input: &TargetInput<'_>,
    config_map: Option<&str>,
    findings: &mut Vec<Finding>,
) -> Map {
    let output = input.output;
    let values = Node::from_value(inline(input, findings));
    let mut annotations = Map::default();
    guard(&mut annotations, &values);
    let kind = text_option(output, "source-kind", "GitRepository", findings);
    let namespace = text_option(output, "source-namespace", "", findings);
    let mut source = Map::from_iter([
        Entry::from_value("kind", kind),
        Entry::from_value(
            "name",
            text_option(output, "source-name", "sylva-capi-cluster", findings),
        ),
    ]);
    if !namespace.is_empty() {
        source.insert(Entry::from_value("namespace", namespace));
    }
    let by_reference = matches!(kind, "OCIRepository" | "HelmChart" | "ExternalArtifact");
    let mut from = values_from(input);
    from.extend(config_map.map(config_map_reference));
    Map::from_iter([
        Entry::from_value("name", text_option(output, "release", "cluster", findings)),
        Entry::from_value(
            "namespace",
            Value::String(input.view.cluster.namespace.clone()),
        ),
        Entry::from_value("annotations", annotations),
        Entry::from_value("interval", text_option(output, "interval", "10m", findings)),
        Entry::from_value(
            "chart",
            text_option(output, "chart", "charts/sylva-capi-cluster", findings),
        ),
        Entry::from_value(
            "version",
            text_option(output, "chart-version", "", findings),
        ),
        Entry::from_value("by_reference", by_reference),
        Entry::from_value("source", source),
        Entry::holding("values", values),
        Entry::from_value("values_from", from),
    ])
}

/// That a component patches a HelmRelease that the cluster does not have, so that nothing changes. kustomize finds a release by each
/// name that it has had.
fn other_release(cluster: &Cluster, patched: &str) -> Option<Finding> {
    let names = &cluster.helm_release;
    let own = names.last()?;
    let is_own = names.iter().any(|name| **name == *patched);
    (!is_own).then(|| {
        let message = format!(
            "`patch: {patched}`: the HelmRelease of this cluster is `{own}`, so its component would change nothing"
        );
        Finding::new(RuleId::ProjectFile, message).help(format!("write `patch: {own}`"))
    })
}

/// The component that adds the ConfigMap and the selected images to an existing release.
fn component(
    input: &TargetInput<'_>,
    release: &str,
    config_map: Option<&str>,
    findings: &mut Vec<Finding>,
) -> TargetFile {
    findings.extend(other_release(&input.view.cluster, release));
    let append = config_map.map(|name| {
        let append = Map::from_iter([
            Entry::from_value("op", "add"),
            Entry::from_value("path", "/spec/valuesFrom/-"),
            Entry::holding("value", config_map_reference(name)),
        ]);
        yaml_tree::emit(&vec![Node::from_value(append)].into())
    });
    let values = Map::from_iter([Entry::from_value("values", inline(input, findings))]);
    let merge = Map::from_iter([
        Entry::from_value("apiVersion", "helm.toolkit.fluxcd.io/v2"),
        Entry::from_value("kind", "HelmRelease"),
        Entry::from_value(
            "metadata",
            Map::from_iter([Entry::from_value("name", release)]),
        ),
        Entry::from_value("spec", values),
    ]);
    TargetFile {
        path: format!("{}/kustomization.yaml", input.view.cluster.name),
        template: "component.yaml.j2",
        context: Map::from_iter([
            Entry::from_value("release", release),
            Entry::from_value("append", append.unwrap_or_default()),
            Entry::from_value("merge", yaml_tree::emit(&merge.into())),
        ]),
        content: Content::Yaml,
    }
}
