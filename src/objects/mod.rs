//! The Kubernetes objects and values that more than one target writes, as trees that a template places.

pub mod choices;
pub mod hash;
pub mod info;
pub mod infra_cluster;
pub mod kube_vip;
pub mod machine_template;
pub mod name;
pub mod standing;

use crate::model::value::{Node, Value};

/// Switches Flux's variable substitution off for one object, where its text holds `${` that is not Flux's.
/// (kustomize-controller docs/spec/v1/kustomizations.md, "Post build variable substitution".)
pub const SUBSTITUTE_ANNOTATION: &str = "kustomize.toolkit.fluxcd.io/substitute";

/// Whether Flux's post-build substitution would change a text of the tree: an undefined `${variable}` becomes empty there.
pub fn holds_variables(node: &Node) -> bool {
    match &node.value {
        Value::String(text) => text.contains("${"),
        Value::List(items) => items.iter().any(holds_variables),
        Value::Map(map) => map
            .iter()
            .any(|entry| entry.key.contains("${") || holds_variables(&entry.node)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::holds_variables;
    use crate::model::value::{Entry, Map, Node};

    #[test]
    fn a_variable_is_found_at_any_depth() {
        let list = vec![Node::computed("$plain"), Node::computed("a ${b} c")];
        let tree = Map::from_iter([Entry::computed("a", list)]);
        assert!(holds_variables(&Node::computed(tree)));
        assert!(!holds_variables(&Node::computed("$a {b}")));
    }
}
