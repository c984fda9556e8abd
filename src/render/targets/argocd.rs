//! The target `argocd`: an Application for each cluster, or one ApplicationSet for all.
//!
//! By default a cluster's file contains, in the order of their sync waves, the `os-images-info` ConfigMap (-2), the machine
//! templates (-1) and the Application (0) that renders the chart with the selected images in `helm.valuesObject`, which
//! wins over `helm.valueFiles`. An Application of the user (or `kubectl apply`) applies the folder.
//!
//! With `applicationset: true` one ApplicationSet reads a small `cluster.yaml` of each cluster through the git generator;
//! each generated Application has two sources, the chart and the cluster's `objects` folder, in the same waves.

use yaml_tree::value::{Entry, Map, Node, Value};

use super::{
    Content, SharedInput, Target, TargetFile, TargetInput, flag_option, text_option, tree,
};
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::settings::Output;
use crate::render::objects::choices::{self, Root, Style};
use crate::render::objects::info::{self, ConfigMapKind};
use crate::render::objects::machine_template;

/// See the module documentation.
pub(super) struct ArgoCd;

/// Waves are applied from the lowest; a wave waits for the health of the one before it.
/// (Argo CD docs/user-guide/sync-waves.md)
const WAVE: &str = "argocd.argoproj.io/sync-wave";

impl Target for ArgoCd {
    fn name(&self) -> &'static str {
        "argocd"
    }

    fn templates(&self) -> &'static [(&'static str, &'static str)] {
        templates! {
            "argocd": "objects.yaml.j2" "application.yaml.j2" "cluster.yaml.j2" "applicationset.yaml.j2"
        }
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        OPTIONS
    }

    fn cluster(&self, input: &TargetInput<'_>, findings: &mut Vec<Finding>) -> Vec<TargetFile> {
        let cluster = &input.view.cluster;
        let objects = objects(input, findings);
        if flag_option(input.output, "applicationset", false, findings) {
            return vec![
                TargetFile {
                    path: format!("{}/objects/objects.yaml", cluster.name),
                    template: "objects.yaml.j2",
                    context: objects,
                    content: Content::Objects,
                },
                TargetFile {
                    path: format!("{}/cluster.yaml", cluster.name),
                    template: "cluster.yaml.j2",
                    context: destination(input, findings),
                    content: Content::Yaml,
                },
            ];
        }
        let context = objects
            .iter()
            .chain(&application(input.output, findings))
            .chain(&destination(input, findings))
            .cloned()
            .collect();
        vec![TargetFile {
            path: format!("{}.yaml", cluster.name),
            template: "application.yaml.j2",
            context,
            content: Content::Objects,
        }]
    }

    fn is_shared(&self, output: &Output, findings: &mut Vec<Finding>) -> bool {
        flag_option(output, "applicationset", false, findings)
    }

    fn render_shared(
        &self,
        input: &SharedInput<'_>,
        findings: &mut Vec<Finding>,
    ) -> Vec<TargetFile> {
        let output = input.output;
        let project = text_option(output, "project-path", "", findings).trim_matches('/');
        let folder = [project, input.folder]
            .into_iter()
            .filter(|part| !part.is_empty())
            .map(|part| format!("{part}/"))
            .collect::<String>();
        let rendered = Map::from_iter([
            Entry::from_value(
                "rendered_repo_url",
                require_option(output, "rendered-repo-url", findings),
            ),
            Entry::from_value(
                "rendered_revision",
                text_option(output, "rendered-revision", "HEAD", findings),
            ),
            Entry::from_value("files", format!("{folder}*/cluster.yaml")),
        ]);
        let context = application(output, findings)
            .iter()
            .chain(&rendered)
            .cloned()
            .collect();
        vec![TargetFile {
            path: "applicationset.yaml".to_owned(),
            template: "applicationset.yaml.j2",
            context,
            content: Content::Objects,
        }]
    }
}

const OPTIONS: &[(&str, &str)] = options! {
    "repo-url": "required: the repository of the chart"
    "chart-path": "the chart's folder in a git repository (default `charts/sylva-capi-cluster`)"
    "chart": "the chart's name, where `repo-url` is a Helm repository"
    "revision": "the chart's branch, tag or version (default `HEAD`)"
    "value-files": "a list for `helm.valueFiles`: the cluster's own values"
    "project": "the Argo CD project (default `default`)"
    "namespace": "Argo CD's namespace (default `argocd`)"
    "server": "the API server that it deploys to (default `https://kubernetes.default.svc`)"
    "kind": "the machine template's kind, where a provider has several"
    "api-version": "the machine template's API version: `v1beta1` (default) or `v1beta2`"
    "machine-templates": "false: leave the machine templates to the chart (default true)"
    "applicationset": "true: one ApplicationSet for all clusters"
    "rendered-repo-url": "required with `applicationset`: the repository of the rendered files"
    "rendered-revision": "its branch or tag (default `HEAD`)"
    "project-path": "the project's folder in that repository (default: its root)"
};

fn wave(number: &str) -> Map {
    Map::from_iter([Entry::from_value(WAVE, number)])
}

/// The same, for an object with the facts of all images: with client-side apply, Argo CD would copy it into an annotation, which
/// is limited to 256 KiB (Argo CD docs/user-guide/sync-options.md, "Server-Side Apply").
fn server_side(number: &str) -> Map {
    let option = Entry::from_value("argocd.argoproj.io/sync-options", "ServerSideApply=true");
    wave(number).iter().cloned().chain([option]).collect()
}

/// The ConfigMap and the machine templates, in their waves. With sylva-units, a job of that chart writes the ConfigMap.
fn objects(input: &TargetInput<'_>, findings: &mut Vec<Finding>) -> Map {
    let config_map = |findings: &mut Vec<Finding>| {
        let images = info::os_images(input.images_to_serve(), findings);
        let images = Entry::from_value("os_images", images);
        let namespace = &input.view.cluster.namespace;
        let values = Map::from_iter([images]);
        let name = info::CONFIG_MAP;
        let annotations = server_side("-2");
        let object = info::config_map(
            ConfigMapKind::Info,
            values,
            name,
            namespace,
            false,
            annotations,
        );
        Entry::holding("configmap", object.context)
    };
    let is_own = root(input.output, findings) == Root::Top;
    let config_map = is_own.then(|| config_map(findings));
    let has_templates = flag_option(input.output, "machine-templates", true, findings);
    let template = has_templates.then(|| input.template(findings)).flatten();
    let templates = template.map_or_else(Vec::new, |template| {
        let (view, stamps) = (input.view, input.stamps);
        machine_template::contexts(view, stamps, template, &wave("-1"), findings)
    });
    let templates = Entry::from_value("templates", templates);
    config_map.into_iter().chain([templates]).collect()
}

/// The fields that the Applications of all clusters share.
fn application(output: &Output, findings: &mut Vec<Finding>) -> Map {
    let files = output.options.get("value-files").map(tree);
    let files = files.filter(|node| !node.value.is_null());
    let entries = [
        ("repo_url", require_option(output, "repo-url", findings)),
        (
            "path",
            text_option(output, "chart-path", "charts/sylva-capi-cluster", findings),
        ),
        ("chart", text_option(output, "chart", "", findings)),
        (
            "revision",
            text_option(output, "revision", "HEAD", findings),
        ),
        (
            "project",
            text_option(output, "project", "default", findings),
        ),
        (
            "argocd_namespace",
            text_option(output, "namespace", "argocd", findings),
        ),
        (
            "server",
            text_option(output, "server", "https://kubernetes.default.svc", findings),
        ),
    ];
    entries
        .into_iter()
        .map(|(key, text)| Entry::from_value(key, text))
        .chain([
            Entry::holding(
                "value_files",
                files.unwrap_or_else(|| Node::from_value(Vec::new())),
            ),
            Entry::from_value("annotations", server_side("0")),
        ])
        .collect()
}

/// Where the chart expects the values.
fn root(output: &Output, findings: &mut Vec<Finding>) -> Root {
    let chart = text_option(output, "chart", "", findings);
    Root::from_chart(if chart.is_empty() {
        text_option(output, "chart-path", "", findings)
    } else {
        chart
    })
}

/// The fields that differ between the Applications of clusters.
fn destination(input: &TargetInput<'_>, findings: &mut Vec<Finding>) -> Map {
    let cluster = &input.view.cluster;
    let root = root(input.output, findings);
    let values = choices::values(input.view, input.stamps, Style::Auto, root, findings);
    Map::from_iter([
        // The project's name of the cluster: two clusters may have one name in their values.
        Entry::from_value("name", Value::String(cluster.name.clone())),
        Entry::from_value("namespace", Value::String(cluster.namespace.clone())),
        Entry::from_value("values", values),
    ])
}

fn require_option<'a>(output: &'a Output, name: &str, findings: &mut Vec<Finding>) -> &'a str {
    let text = text_option(output, name, "", findings);
    if text.is_empty() {
        findings.push(
            Finding::new(
                RuleId::ProjectFile,
                format!("target `{}` needs the option `{name}`", output.target),
            )
            .help(format!(
                "add `{name}: https://git.example.org/repository.git` to the output's options"
            )),
        );
    }
    text
}
