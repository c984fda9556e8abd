//! The output targets: what is rendered for each host, one file each.
//!
//! A target decides what is written and passes trees to its templates, which only place them. It uses neither files nor the
//! template engine: [`crate::render`] does that.

/// The options of a target, each with a line of help.
macro_rules! options {
    ($($name:tt: $help:literal)*) => {
        &[$(($name, $help)),*]
    };
}

/// The templates of a target, in the folder that is called as it is: file name and text.
macro_rules! templates {
    ($folder:literal: $($name:literal)*) => {
        &[$((
            $name,
            include_str!(concat!("../../../templates/", $folder, "/", $name)),
        )),*]
    };
}

mod argocd;
mod configmap;
mod flux;
mod flux_apply;
mod flux_artifact;
mod flux_resourceset;
mod helm_values;
mod manifests;

use capi::image::Image;
use capi::providers::{self, Kind, Provider, Stamp, Template};
use oci_artifacts::registries::RegistrySettings;
use yaml_tree::value::{Map, Node, Value};

use crate::model::cluster_view::ClusterView;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::served_images::ServedImages;
use crate::model::settings::Output;

/// One kind of output. Its name is the folder of its templates and of its golden trees.
pub trait Target: Sync {
    /// The name in the project file and on the command line.
    fn name(&self) -> &'static str;
    /// The embedded templates: file name and text. The user's folder overrides them individually.
    fn templates(&self) -> &'static [(&'static str, &'static str)];
    /// The options, each with a line of help.
    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
    /// Whether Flux applies every file below the output's folder, so that nothing else may be there.
    fn is_applied_whole(&self, _output: &Output) -> bool {
        false
    }
    /// Whether one Kustomization or Application applies the output's whole folder; if not, each cluster's applies its own files.
    fn is_one_folder(&self, _output: &Output) -> bool {
        true
    }
    /// The files of one cluster. Findings report what cannot be written.
    fn cluster(&self, input: &TargetInput<'_>, findings: &mut Vec<Finding>) -> Vec<TargetFile>;
    /// Whether an output has files that all clusters share, unless its path contains the cluster.
    fn is_shared(&self, _output: &Output, _findings: &mut Vec<Finding>) -> bool {
        false
    }
    /// The files that all clusters share.
    fn render_shared(
        &self,
        _input: &SharedInput<'_>,
        _findings: &mut Vec<Finding>,
    ) -> Vec<TargetFile> {
        Vec::new()
    }
}

/// Every target, by name.
pub const TARGETS: &[&dyn Target] = &[
    &argocd::ArgoCd,
    &configmap::ConfigMaps,
    &flux::Flux,
    &flux_artifact::FluxArtifact,
    &flux_resourceset::FluxResourceSet,
    &helm_values::HelmValues,
    &manifests::Manifests,
];

/// The target with this name.
pub fn find(name: &str) -> Option<&'static dyn Target> {
    TARGETS.iter().copied().find(|target| target.name() == name)
}

/// The stamp of an image; none if its URL cannot be rendered, which is already reported.
pub type Stamper<'a> = &'a dyn Fn(&Image) -> Option<Stamp>;

/// What a target receives for one cluster.
pub struct TargetInput<'a> {
    /// The cluster, after the checks.
    pub view: &'a ClusterView,
    /// How registries are accessed.
    pub registries: &'a RegistrySettings,
    /// The output to render.
    pub output: &'a Output,
    /// The output's folder below the project's root, rendered; no slash at either end.
    pub folder: &'a str,
    /// The stamp of each pool's image, in the order of the pools; none for a pool without an image.
    pub stamps: &'a [Option<Stamp>],
    /// The stamp of any image of the catalog.
    pub stamp: Stamper<'a>,
}

/// What a target receives for all clusters.
pub struct SharedInput<'a> {
    /// The images served for any cluster, resolved.
    pub images: &'a ServedImages,
    /// The output to render.
    pub output: &'a Output,
    /// The output's folder below the project's root, rendered; no slash at either end.
    pub folder: &'a str,
    /// The stamp of any image of the catalog.
    pub stamp: Stamper<'a>,
}

/// A file to render: a target provides the content, its template the layout.
pub struct TargetFile {
    /// The path below the output's folder.
    pub path: String,
    /// The template's file name.
    pub template: &'static str,
    /// The context of the template: a map.
    pub context: Map,
    /// The expected content of the text.
    pub content: Content,
}

/// The content of a file, which determines how it is validated.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Kubernetes objects, each with apiVersion, kind and a legal name.
    Objects,
    /// The same, with the objects that the embedded template writes, so that the text need not be parsed again.
    TheseObjects(Vec<Node>),
    /// Any other YAML: values, a kustomization.
    Yaml,
}

impl<'a> SharedInput<'a> {
    /// The images that a file for all clusters holds, of those that `takes` accepts; keys under which clusters have different
    /// ones are findings.
    fn images_to_serve(
        &self,
        takes: impl Fn(&Image) -> bool,
        findings: &mut Vec<Finding>,
    ) -> Vec<&'a Image> {
        let images = self.images.images.values();
        let images: Vec<&Image> = images.filter(|image| takes(image)).collect();
        let collision = |image: &&Image| self.images.collisions.get(&image.key).cloned();
        findings.extend(images.iter().filter_map(collision));
        images
    }
}

impl TargetInput<'_> {
    /// The images served for the cluster, by key.
    fn images_to_serve(&self) -> impl Iterator<Item = &Image> {
        self.view
            .served
            .iter()
            .filter_map(|key| self.view.images.get(key))
    }

    /// The provider of the cluster's machines; Metal3 if the values name none. An unknown one is reported.
    fn provider(&self, findings: &mut Vec<Finding>) -> Option<&'static dyn Provider> {
        let named = self.view.cluster.infra_provider.as_ref();
        let name = named.map_or("capm3", |name| &*name.value);
        let provider = providers::find(name);
        if provider.is_none() {
            let known: Vec<&str> = providers::PROVIDERS
                .iter()
                .map(|provider| provider.data().name)
                .collect();
            let mut finding = Finding::new(
                RuleId::ManifestInvalid,
                format!("no machine template is known for the infrastructure provider `{name}`"),
            )
            .with_label(
                named.and_then(|name| self.view.sources.resolve(name.place)),
                "named here",
            )
            .help(format!("providers that are known: {}", known.join(", ")));
            finding.subject.cluster = Some(self.view.cluster.name.to_string());
            findings.push(finding);
        }
        provider
    }

    /// The machine template of the cluster's provider, in the kind and version that the output's options select.
    fn template(&self, findings: &mut Vec<Finding>) -> Option<Template<'static>> {
        let provider = self.provider(findings)?;
        let templates = provider
            .data()
            .kinds
            .iter()
            .filter(|kind| kind.is_template());
        let mut kinds: Vec<(String, &'static Kind)> = Vec::new();
        for kind in templates {
            // If two groups have the same kind, the second one is selected with its group.
            let is_taken = kinds.iter().any(|(name, _)| name == kind.kind);
            let name = if is_taken {
                format!("{}/{}", kind.group, kind.kind)
            } else {
                kind.kind.to_owned()
            };
            kinds.push((name, kind));
        }
        let words: Vec<(&str, &'static Kind)> =
            kinds.iter().map(|(name, kind)| (&**name, *kind)).collect();
        let kind = word_option(self.output, "kind", &words, findings);
        let versions: Vec<(&str, &'static str)> = kind.versions.iter().map(|v| (*v, *v)).collect();
        Some(Template {
            provider,
            kind,
            version: word_option(self.output, "api-version", &versions, findings),
        })
    }
}

/// The options of targets that write machine templates.
const TEMPLATE_OPTIONS: [(&str, &str); 2] = [
    (
        "kind",
        "the machine template's kind, where a provider has several, such as `HetznerBareMetalMachineTemplate`",
    ),
    (
        "api-version",
        "the machine template's API version: `v1beta1` (default) or `v1beta2`, as the provider has them",
    ),
];

/// An option that is a text; the default where it is not set. Another type is a finding.
fn text_option<'a>(
    output: &'a Output,
    name: &str,
    default: &'a str,
    findings: &mut Vec<Finding>,
) -> &'a str {
    match output.options.get(name) {
        None => default,
        Some(serde_json::Value::String(text)) => text,
        Some(other) => {
            findings.push(wrong_type(output, name, "a text", other));
            default
        }
    }
}

/// An option that is true or false; the default where it is not set. Another type is a finding.
fn flag_option(output: &Output, name: &str, default: bool, findings: &mut Vec<Finding>) -> bool {
    match output.options.get(name) {
        None => default,
        Some(serde_json::Value::Bool(flag)) => *flag,
        Some(other) => {
            findings.push(wrong_type(output, name, "true or false", other));
            default
        }
    }
}

/// An option that is one of a few words, the first of them where it is not set. Another word is a finding.
fn word_option<T: Copy>(
    output: &Output,
    name: &str,
    words: &[(&str, T)],
    findings: &mut Vec<Finding>,
) -> T {
    let default = words[0];
    let text = text_option(output, name, default.0, findings);
    let found = words.iter().find(|(word, _)| *word == text);
    if found.is_none() {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        findings.push(
            Finding::new(
                RuleId::ProjectFile,
                format!(
                    "`{name}: {text}` is not an option of target `{}`",
                    output.target
                ),
            )
            .help(format!("write one of {}", known.join(", "))),
        );
    }
    found.unwrap_or(&default).1
}

/// An option that is one of a few words or a list of them, the first of them where it is not set. Another word is a finding.
fn word_list_option<T: Copy>(
    output: &Output,
    name: &str,
    words: &[(&str, T)],
    findings: &mut Vec<Finding>,
) -> Vec<T> {
    let Some(serde_json::Value::Array(items)) = output.options.get(name) else {
        return vec![word_option(output, name, words, findings)];
    };
    let mut found = Vec::new();
    for item in items {
        let options = std::iter::once((name.to_owned(), item.clone())).collect();
        let one = Output {
            options,
            ..output.clone()
        };
        found.push(word_option(&one, name, words, findings));
    }
    found
}

fn wrong_type(output: &Output, name: &str, expected: &str, value: &serde_json::Value) -> Finding {
    Finding::new(
        RuleId::ProjectFile,
        format!(
            "option `{name}` of target `{}` is {expected}, not `{value}`",
            output.target
        ),
    )
}

/// An option's value as a tree.
fn tree(value: &serde_json::Value) -> Node {
    Node::from_value(Value::from(value.clone()))
}
