//! Whether the values of a chart whose templates are not all here are about machines.

use yaml_tree::json::scalar_text;
use yaml_tree::value::{Node, Value};

use crate::model::name::{SeenVersion, is_version_key};

/// Whether values name the Kubernetes of nodes, or an image of one: what is below a key, which is below another one.
pub(super) fn has_machines(outer: &str, key: &str, node: &Node) -> bool {
    match &node.value {
        Value::Map(map) => {
            let parameter = node.text(&["name"]).zip(node.get_path(&["value"]));
            let is_parameter = parameter.is_some_and(|(path, value)| {
                let (outer, key) = path.rsplit_once('.').unwrap_or(("", path));
                has_machines(outer, key, value)
            });
            let mut entries = map.iter();
            is_parameter || entries.any(|entry| has_machines(key, &entry.key, &entry.node))
        }
        Value::List(items) => items.iter().any(|item| has_machines(outer, key, item)),
        value => scalar_text(value).is_some_and(|text| is_of_machine(outer, key, &text)),
    }
}

fn is_of_machine(outer: &str, key: &str, text: &str) -> bool {
    let outer = outer.rsplit('.').next().unwrap_or_default();
    if is_version_key(key) || is_version_key(&format!("{outer}{key}")) {
        let is_filled_in = text.contains("{{") || text.contains("${");
        return is_filled_in || SeenVersion::find(text, true).is_some();
    }
    // The version of a container is the whole tag: `rancher/k3s:v1.33.5-k3s1`.
    let tag = text.rsplit_once(':').filter(|(name, _)| name.contains('/'));
    let is_tag = key == "tag" || tag.is_some_and(|(_, tag)| tag.starts_with(['v', '1']));
    let is_prose = text.contains(char::is_whitespace);
    !is_tag && !is_prose && SeenVersion::find(text, false).is_some()
}
