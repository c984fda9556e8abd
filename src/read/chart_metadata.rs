//! What Helm refuses in a Chart.yaml.
//!
//! Source: `Metadata.Validate` and `Dependency.Validate` of Helm's pkg/chart, and its loaders.

use std::collections::BTreeSet;
use std::sync::Arc;

use go_template::root::{metadata_fault, metadata_text};
use yaml_tree::engine::Engine;
use yaml_tree::value::Node;

/// Why Helm refuses a chart with this Chart.yaml, as the end of a sentence; none if it does not.
pub(super) fn refusal(metadata: &Node, engine: Engine) -> Option<String> {
    let text = |key: &str| metadata_text(metadata, key).unwrap_or_default();
    if let Some(fault) = metadata_fault(metadata) {
        return Some(fault);
    }
    let api = text("apiVersion");
    if engine == Engine::Helm4 && !["", "v1", "v2"].contains(&&*api) {
        return Some(format!("Helm 4 does not know `apiVersion: {api}`"));
    }
    let name = text("name");
    let is_folder = engine == Engine::Helm4 && [".", ".."].contains(&&*name);
    if name.is_empty() {
        return Some("it has no `name`".to_owned());
    }
    if name.contains('/') || is_folder {
        return Some(format!("`{name}` is not a name of a chart"));
    }
    let version = text("version");
    if version.is_empty() {
        return Some("it has no `version`".to_owned());
    }
    if !is_version(&version, engine) {
        return Some(format!("`{version}` is not a semantic version"));
    }
    let kind = text("type");
    if !["", "application", "library"].contains(&&*kind) {
        return Some(format!("`{kind}` is not a type of charts"));
    }
    if metadata.items(&["maintainers"]).iter().any(is_null) {
        return Some("one of its maintainers is empty".to_owned());
    }
    dependencies_refusal(metadata)
}

fn dependencies_refusal(metadata: &Node) -> Option<String> {
    let mut known = BTreeSet::new();
    for dependency in metadata.items(&["dependencies"]) {
        if is_null(dependency) {
            return Some("one of its dependencies is empty".to_owned());
        }
        let alias = metadata_text(dependency, "alias").unwrap_or_default();
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        if !alias.chars().all(is_word) {
            return Some(format!("`{alias}` is not an alias of a dependency"));
        }
        let key = key(dependency);
        if known.contains(&key) {
            return Some(format!("two of its dependencies are called `{key}`"));
        }
        known.insert(key);
    }
    None
}

/// What the values of a dependency are below: its alias, or its name.
pub(super) fn key(dependency: &Node) -> Arc<str> {
    let alias = metadata_text(dependency, "alias").filter(|alias| !alias.is_empty());
    alias
        .or_else(|| metadata_text(dependency, "name"))
        .unwrap_or_default()
}

/// Why Helm refuses to install a chart in any cluster, as the end of a sentence; none if it does not.
pub(super) fn install_refusal(metadata: &Node, engine: Engine) -> Option<String> {
    if metadata.text(&["type"]) == Some("library") {
        return Some("it is a library, and no chart to install".to_owned());
    }
    let range = kube_version(metadata)?;
    let is_range = compare(&range, "1.0.0", engine).is_some();
    (!is_range).then(|| format!("its `kubeVersion: {range}` is not a range of versions"))
}

/// Whether the range of Kubernetes versions that a chart may be installed in, if it is one, has this version.
pub(super) fn has_kubernetes(metadata: &Node, version: &str, engine: Engine) -> bool {
    kube_version(metadata).is_none_or(|range| compare(&range, version, engine) != Some(false))
}

fn kube_version(metadata: &Node) -> Option<Arc<str>> {
    metadata_text(metadata, "kubeVersion").filter(|range| !range.is_empty())
}

fn is_null(node: &Node) -> bool {
    node.value.is_null()
}

fn is_version(text: &str, engine: Engine) -> bool {
    go_template::call("semver", &[text.into()], engine).is_ok()
}

/// Whether a version is in a range; false where one of them is none.
pub(super) fn is_in_range(range: &str, version: &str, engine: Engine) -> bool {
    compare(range, version, engine) == Some(true)
}

fn compare(range: &str, version: &str, engine: Engine) -> Option<bool> {
    let is_inside = go_template::call("semverCompare", &[range.into(), version.into()], engine);
    is_inside.ok()?.truth().ok()
}
