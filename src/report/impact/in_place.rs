//! Finds rendered machine templates whose content changes under the same name: their machines are not replaced.

use std::collections::BTreeMap;

use crate::model::manifest::ManifestFile;
use yaml_tree::engine::Engine;
use yaml_tree::json::{Html, to_json};
use yaml_tree::place::FileId;

/// Whether a template changes under its name, and none comes under a new one.
pub fn keeps_names(before: &[ManifestFile], after: &[ManifestFile]) -> bool {
    let (before, after) = (templates(before), templates(after));
    let is_known = |id: &String| before.contains_key(id);
    let changes = |(id, content): (&String, &String)| before.get(id) != Some(content);
    after.keys().all(is_known) && after.iter().any(changes)
}

/// The content of every machine template, by kind, namespace and name.
fn templates(files: &[ManifestFile]) -> BTreeMap<String, String> {
    let mut templates = BTreeMap::new();
    for file in files {
        // A file that is not YAML has been reported where it was rendered.
        let Ok(read) = yaml_tree::read(&file.text, FileId(0), Engine::Kubectl) else {
            continue;
        };
        for document in &read.documents {
            let text = |path: &[&str]| {
                let node = document.get_path(path);
                node.and_then(|node| node.value.as_str().map(|text| text.to_string()))
                    .unwrap_or_default()
            };
            let kind = text(&["kind"]);
            if let (true, Some(spec)) = (
                kind.ends_with("MachineTemplate"),
                document.get_path(&["spec"]),
            ) {
                let (space, name) = (
                    text(&["metadata", "namespace"]),
                    text(&["metadata", "name"]),
                );
                let content = to_json(&spec.value, Html::Plain);
                templates.insert(format!("{kind}/{space}/{name}"), content);
            }
        }
    }
    templates
}

#[cfg(test)]
mod tests {
    use super::keeps_names;
    use crate::model::manifest::ManifestFile;

    fn template(name: &str, url: &str) -> Vec<ManifestFile> {
        let text = format!(
            "kind: Metal3MachineTemplate\nmetadata: {{name: {name}}}\nspec: {{url: {url}}}\n"
        );
        vec![ManifestFile::new("a.yaml", text, "manifests/a")]
    }

    #[test]
    fn only_a_template_that_changes_under_its_name_is_in_place() {
        let was = template("a", "one");
        assert!(keeps_names(&was, &template("a", "two")));
        assert!(!keeps_names(&was, &template("b", "two")));
        assert!(!keeps_names(&was, &was));
    }
}
