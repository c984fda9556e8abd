//! Machine templates: one file a cluster, one object a node pool, named after its content.
//!
//! A change of image gives a template of another name, and the reference to the new name is what rolls the nodes
//! (<https://cluster-api.sigs.k8s.io/tasks/updating-machine-templates>).

use super::{Content, Target, TargetFile, TargetInput};
use crate::model::finding::Finding;
use crate::model::value::{Entry, Map, Node};
use crate::objects::machine_template;

/// See the module's text.
pub(super) struct Manifests;

impl Target for Manifests {
    fn name(&self) -> &'static str {
        "manifests"
    }

    fn summary(&self) -> &'static str {
        "a machine template for each node pool, one file a cluster"
    }

    fn templates(&self) -> &'static [(&'static str, &'static str)] {
        &[(
            "cluster.yaml.j2",
            include_str!("../../templates/manifests/cluster.yaml.j2"),
        )]
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &super::TEMPLATE_OPTIONS
    }

    fn cluster(&self, input: &TargetInput<'_>, report: &mut dyn FnMut(Finding)) -> Vec<TargetFile> {
        let Some(template) = input.template(report) else {
            return Vec::new();
        };
        let templates =
            machine_template::contexts(input.view, input.stamps, template, &Map::default(), report);
        if templates.is_empty() {
            return Vec::new();
        }
        vec![file(format!("{}.yaml", input.view.cluster.name), templates)]
    }
}

fn file(path: String, templates: Vec<Node>) -> TargetFile {
    TargetFile {
        path,
        template: "cluster.yaml.j2",
        content: Content::TheseObjects(templates.iter().map(object).collect()),
        context: Map::from_iter([Entry::computed("templates", templates)]),
    }
}

/// The object that `cluster.yaml.j2` writes for one machine template.
fn object(template: &Node) -> Node {
    let entry = |name: &'static str| Some(Entry::holding(name, template.at(&[name])?.clone()));
    let is_empty = |entry: &Entry| entry.node.value.as_map().is_some_and(|map| map.is_empty());
    let metadata: Map = [
        entry("annotations").filter(|annotations| !is_empty(annotations)),
        entry("labels"),
        entry("name"),
        entry("namespace"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let object: Map = [
        entry("apiVersion"),
        entry("kind"),
        Some(Entry::computed("metadata", metadata)),
        entry("spec"),
    ]
    .into_iter()
    .flatten()
    .collect();
    Node::computed(object)
}

#[cfg(test)]
mod tests {
    use super::file;
    use crate::model::json::{Html, to_json};
    use crate::model::value::{Entry, Map, Node, Value};
    use crate::targets::Content;

    fn known(annotations: Map) -> String {
        let map = |key: &str| Map::from_iter([Entry::computed(key, "x")]);
        let template = Map::from_iter([
            Entry::computed("apiVersion", "v1"),
            Entry::computed("kind", "K"),
            Entry::computed("name", "n"),
            Entry::computed("namespace", "s"),
            Entry::computed("pool", "p"),
            Entry::computed("labels", map("l")),
            Entry::computed("annotations", annotations),
            Entry::computed("spec", map("f")),
        ]);
        let Content::TheseObjects(objects) =
            file("f".into(), vec![Node::computed(template)]).content
        else {
            return String::new();
        };
        to_json(&Value::from(objects), Html::Plain)
    }

    #[test]
    fn objects_are_known_as_the_template_writes_them() {
        assert_eq!(
            known(Map::default()),
            r#"[{"apiVersion":"v1","kind":"K","metadata":{"labels":{"l":"x"},"name":"n","namespace":"s"},"spec":{"f":"x"}}]"#
        );
        let annotated = known(Map::from_iter([Entry::computed("a", "x")]));
        assert!(annotated.contains(r#""metadata":{"annotations":{"a":"x"},"labels""#));
    }
}
