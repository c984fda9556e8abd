//! The target `manifests`: machine templates, one file per cluster and one object per node pool, named after its content.
//!
//! A new image gives a template with a new name, and the changed reference replaces the machines
//! (<https://cluster-api.sigs.k8s.io/tasks/updating-machine-templates>). Optionally also the infrastructure cluster with its
//! control plane endpoint, and kube-vip.

use yaml_tree::value::{Entry, Map, Node};

use super::{
    Content, TEMPLATE_OPTIONS, Target, TargetFile, TargetInput, flag_option, word_list_option,
};
use crate::model::finding::Finding;
use crate::model::settings::ENDPOINT_OPTIONS;
use crate::render::objects::{
    component_bundle, elemental_registration, infra_cluster, kube_vip, machine_template,
};

/// See the module documentation.
pub(super) struct Manifests;

impl Target for Manifests {
    fn name(&self) -> &'static str {
        "manifests"
    }

    fn templates(&self) -> &'static [(&'static str, &'static str)] {
        templates!("manifests": "cluster.yaml.j2")
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &OPTIONS
    }

    fn cluster(&self, input: &TargetInput<'_>, findings: &mut Vec<Finding>) -> Vec<TargetFile> {
        let Some(template) = input.template(findings) else {
            return Vec::new();
        };
        let none = Map::default();
        let mut templates =
            machine_template::contexts(input.view, input.stamps, template, &none, findings);
        let mut registrations = elemental_registration::contexts(input.view, findings);
        let bundles = bundles(input, &mut templates, &mut registrations, findings);
        let [with_cluster, kube_vip, with_template] =
            ENDPOINT_OPTIONS.map(|option| flag_option(input.output, option, false, findings));
        let mut objects: Vec<Node> = Vec::new();
        if with_cluster || with_template {
            let object = infra_cluster::context(input.view, template, &none, findings);
            if let Some(object) = object.as_ref().filter(|_| with_template) {
                objects.extend(infra_cluster::template(
                    input.view, template, object, findings,
                ));
            }
            objects.extend(object.filter(|_| with_cluster));
        }
        objects.extend(registrations);
        objects.extend(templates);
        objects.extend(bundles);
        if kube_vip {
            objects.extend(kube_vip::context(input.view, &none, findings));
        }
        if objects.is_empty() {
            return Vec::new();
        }
        vec![file(format!("{}.yaml", input.view.cluster.name), objects)]
    }
}

/// The options, with their help.
const OPTIONS: [(&str, &str); 6] = [
    TEMPLATE_OPTIONS[0],
    TEMPLATE_OPTIONS[1],
    (
        ENDPOINT_OPTIONS[0],
        "whether the infrastructure cluster is written too, with its control plane endpoint; `false` unless set",
    ),
    (
        ENDPOINT_OPTIONS[1],
        "whether kube-vip's static Pod is written too, in a Secret for `files[].contentFrom`; `false` unless set",
    ),
    (
        ENDPOINT_OPTIONS[2],
        "whether the infrastructure cluster is written as the template of a ClusterClass; `false` unless set",
    ),
    (
        BUNDLES,
        "how pools get their component bundles, one way or a list: `secret` (unless set), `cloud-config`, `annotation`, `field`",
    ),
];

/// The option for the delivery of component bundles.
const BUNDLES: &str = "component-bundles";

/// How a component bundle is delivered to its pool.
#[derive(Clone, Copy, PartialEq)]
enum Method {
    Secret,
    CloudConfig,
    Annotation,
    Field,
}

/// Writes the bundles into the objects that deliver them, and returns the Secrets.
fn bundles(
    input: &TargetInput<'_>,
    templates: &mut [Node],
    registrations: &mut [Node],
    findings: &mut Vec<Finding>,
) -> Vec<Node> {
    let words = [
        ("secret", Method::Secret),
        ("cloud-config", Method::CloudConfig),
        ("annotation", Method::Annotation),
        ("field", Method::Field),
    ];
    let methods = word_list_option(input.output, BUNDLES, &words, findings);
    let view = input.view;
    let is_run = |method: &Method| matches!(method, Method::Secret | Method::CloudConfig);
    let has_script = methods.iter().any(is_run);
    let deliveries = component_bundle::deliveries(view, input.registries, has_script, findings);
    if methods.contains(&Method::CloudConfig) {
        component_bundle::fill_cloud_config(view, &deliveries, registrations, findings);
    }
    if methods.contains(&Method::Annotation) {
        component_bundle::annotate(&deliveries, templates);
        component_bundle::annotate(&deliveries, registrations);
    }
    if methods.contains(&Method::Field) {
        component_bundle::fill_field(view, &deliveries, templates, findings);
    }
    if !methods.contains(&Method::Secret) {
        return Vec::new();
    }
    let secret = |delivery| component_bundle::secret(view, delivery);
    deliveries.iter().map(secret).collect()
}

fn file(path: String, templates: Vec<Node>) -> TargetFile {
    TargetFile {
        path,
        template: "cluster.yaml.j2",
        content: Content::TheseObjects(templates.iter().map(object).collect()),
        context: Map::from_iter([Entry::from_value("templates", templates)]),
    }
}

/// The object that `cluster.yaml.j2` writes.
fn object(template: &Node) -> Node {
    let entry =
        |name: &'static str| Some(Entry::holding(name, template.get_path(&[name])?.clone()));
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
        Some(Entry::from_value("metadata", metadata)),
        entry("spec"),
        entry("stringData"),
    ]
    .into_iter()
    .flatten()
    .collect();
    Node::from_value(object)
}

#[cfg(test)]
mod tests {
    use super::file;
    use crate::render::targets::Content;
    use yaml_tree::json::{Html, to_json};
    use yaml_tree::value::{Entry, Map, Node, Value};

    fn known(annotations: Map) -> String {
        let map = |key: &str| Map::from_iter([Entry::from_value(key, "x")]);
        let template = Map::from_iter([
            Entry::from_value("apiVersion", "v1"),
            Entry::from_value("kind", "K"),
            Entry::from_value("name", "n"),
            Entry::from_value("namespace", "s"),
            Entry::from_value("pool", "p"),
            Entry::from_value("labels", map("l")),
            Entry::from_value("annotations", annotations),
            Entry::from_value("spec", map("f")),
        ]);
        let Content::TheseObjects(objects) =
            file("f".into(), vec![Node::from_value(template)]).content
        else {
            return String::new();
        };
        to_json(&Value::from(objects), Html::Plain)
    }

    #[test]
    fn declared_objects_are_those_that_the_template_writes() {
        assert_eq!(
            known(Map::default()),
            r#"[{"apiVersion":"v1","kind":"K","metadata":{"labels":{"l":"x"},"name":"n","namespace":"s"},"spec":{"f":"x"}}]"#
        );
        let annotated = known(Map::from_iter([Entry::from_value("a", "x")]));
        assert!(annotated.contains(r#""metadata":{"annotations":{"a":"x"},"labels""#));
    }
}
