//! What a folder or file deploys, as lines: each release with its merged values and their places.

use std::path::Path;

use metalmark::read::gitops::{self, Composition, Disk, Options};
use yaml_tree::engine::Engine;
use yaml_tree::json::{Html, to_json};
use yaml_tree::merge;
use yaml_tree::place::Sources;
use yaml_tree::value::{Node, Value};

use crate::support::stage::Stage;

/// Every release of a folder or file of a project.
pub(super) fn releases(project: &Stage, path: &str) -> Vec<String> {
    let disk = Disk::new(project.path()).expect("a folder");
    let (path, mut sources) = (Path::new(path), Sources::default());
    let found = gitops::clusters(&disk, path, &Options::default(), &mut sources);
    let found = found.expect("readable");
    found
        .iter()
        .flat_map(|release| describe(release, &sources))
        .collect()
}

/// A release: its name, what is wrong, what is missing, and each value with its place.
pub(super) fn describe(release: &Composition, sources: &Sources) -> Vec<String> {
    let mut lines = vec![format!("{} in `{}`", release.name, release.namespace)];
    for finding in &release.findings {
        let places = finding.labels.iter().map(|label| label.spot.to_string());
        let places: Vec<String> = places.collect();
        lines.push(format!(
            "  {}: {} ({})",
            finding.rule,
            finding.message,
            places.join(", ")
        ));
    }
    let missing = release.missing.iter();
    lines.extend(missing.map(|one| format!("  missing {}/{} {}", one.kind, one.name, one.key)));
    let merged = merge::layers(&release.layers, Engine::Helm3);
    add_values("", &merged.tree, sources, &mut lines);
    lines
}

fn add_values(path: &str, node: &Node, sources: &Sources, lines: &mut Vec<String>) {
    match &node.value {
        Value::Map(map) if !map.is_empty() => {
            for entry in &**map {
                add_values(
                    &format!("{path}.{}", entry.key),
                    &entry.node,
                    sources,
                    lines,
                );
            }
        }
        Value::List(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                add_values(&format!("{path}.{index}"), item, sources, lines);
            }
        }
        Value::Map(_) if path.is_empty() => {}
        value => {
            let spot = sources.resolve(node.place).map(|spot| spot.to_string());
            let spot = spot.as_deref().unwrap_or("nowhere");
            let path = path.trim_start_matches('.');
            lines.push(format!(
                "  {path} = {} ({spot})",
                to_json(value, Html::Plain)
            ));
        }
    }
}
