//! The infrastructure cluster with its control plane endpoint.

use capi::providers::Template;
use yaml_tree::json::{Html, to_json};
use yaml_tree::value::{Entry, Map, Node, Value};

use super::{Head, name, object, secret_within};
use crate::model::cluster_view::ClusterView;
use crate::model::endpoint::Endpoint;
use crate::model::finding::{Finding, Subject};
use crate::model::rule::RuleId;

/// The object, as a context for the templates; none if the cluster has no endpoint, which a rule reports. It is named after the
/// cluster, because a change of it replaces no machine.
pub fn context(
    view: &ClusterView,
    template: Template<'_>,
    annotations: &Map,
    findings: &mut Vec<Finding>,
) -> Option<Node> {
    let cluster = &view.cluster;
    let found = cluster.endpoint.as_ref()?;
    let endpoint = found.endpoint.as_ref()?;
    let kind = template.provider.infra_cluster(template.kind);
    let version = kind.version_beside(template.version);
    let mut spec = found.infra_cluster.clone();
    if let Some(place) = secret_within(&Node::from_value(spec.clone())) {
        let message = format!("`{}` would show a secret", kind.kind);
        let finding = Finding::new(RuleId::ManifestInvalid, message)
            .with_label(view.sources.resolve(place), "this value");
        findings
            .push(finding.help("name a Secret instead, for example with `identityRef` of the CRD"));
        return None;
    }
    for field in kind
        .required
        .iter()
        .filter(|field| spec.get(field).is_none())
    {
        let message = format!("`{}` needs `spec.{field}`", kind.kind);
        let finding = Finding::new(RuleId::ManifestInvalid, message)
            .with_label(view.sources.resolve(found.place), "this endpoint is for it")
            .help(format!(
                "`cluster.infra_cluster.{field}: …`, in the CRD's words"
            ));
        findings.push(finding.with_subject(Subject::cluster(&cluster.name)));
    }
    spec.insert(Entry::from_value("controlPlaneEndpoint", fields(endpoint)));
    let head = Head {
        api_version: &format!("{}/{version}", kind.group),
        kind: kind.kind,
        name: cluster.object_name.to_string(),
        annotations: annotations.clone(),
    };
    let object = object(cluster, head, Entry::from_value("spec", spec));
    Some(Node::from_value(object))
}

/// The same as the template for a ClusterClass, named after its content because such templates are rotated. `object` is that of
/// [`context`]. A provider without such a template is reported.
pub fn template(
    view: &ClusterView,
    template: Template<'_>,
    object: &Node,
    findings: &mut Vec<Finding>,
) -> Option<Node> {
    let kind = template.provider.infra_cluster(template.kind);
    let cluster = &view.cluster;
    let Some(name) = kind.template() else {
        let message = format!("`{}` has no template with an endpoint in it", kind.kind);
        let finding = Finding::new(RuleId::ManifestInvalid, message);
        findings.push(
            finding
                .help("`infra-cluster: true` writes the cluster itself")
                .with_subject(Subject::cluster(&cluster.name)),
        );
        return None;
    };
    let spec = Map::from_iter([Entry::holding("spec", object.get_path(&["spec"])?.clone())]);
    let spec = Map::from_iter([Entry::from_value("template", spec)]);
    let content = to_json(&Value::from(spec.clone()), Html::Plain);
    let mut map = object.value.as_map().map(|map| Map::clone(map))?;
    map.insert(Entry::from_value("kind", name));
    map.insert(Entry::from_value(
        "name",
        name::machine_template(&cluster.object_name, "cluster", &content),
    ));
    map.insert(Entry::from_value("spec", spec));
    Some(Node::from_value(map))
}

/// Cluster API's `controlPlaneEndpoint`; always with both fields, because some CRDs require both.
fn fields(endpoint: &Endpoint) -> Map {
    Map::from_iter([
        Entry::from_value("host", &*endpoint.host.value),
        Entry::from_value("port", i64::from(endpoint.port)),
    ])
}
