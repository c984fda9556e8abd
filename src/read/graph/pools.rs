//! The node pools of one cluster: what each object declares about its machines.

use std::sync::Arc;

use crate::model::cluster::{Choice, Cluster, NamedTemplate, Pool, PoolName};
use crate::model::component_choice::BundleChoice;
use crate::model::place::{Located, Place, Sources};
use crate::model::value::{Node, Number, Value};
use crate::objects::{Reference, Standing, version_node};
use crate::providers;
use crate::providers::named::{NamedBy, image_fields};
use crate::yaml::edit::Step;

use super::{Graph, TEMPLATE_KEYS, Template, is_control_plane, unknown};

/// Reads one cluster.
pub(super) struct Reader<'g, 'a> {
    pub(super) graph: &'g Graph<'a>,
    pub(super) sources: Sources,
}

impl Reader<'_, '_> {
    /// A place of an object, in this cluster's files.
    pub(super) fn place(&mut self, object: &Standing, place: Place) -> Place {
        object.adopted_place(place, &mut self.sources)
    }

    /// A value of an object, with its places in this cluster's files.
    pub(super) fn adopt(&mut self, object: &Standing, node: &Node) -> Node {
        object.adopted(node, &mut self.sources)
    }

    pub(super) fn text(&mut self, object: &Standing, node: &Node) -> Option<Located<Arc<str>>> {
        let text = Arc::clone(node.value.as_str()?);
        Some(Located::new(text, self.place(object, node.place)))
    }

    /// A control plane, a MachineDeployment, a MachineSet or a MachinePool.
    pub(super) fn object(&mut self, index: usize, cluster: &mut Cluster) {
        let object = &self.graph.objects[index];
        let is_template = |reference: &Reference<'_>| {
            let key = reference.steps.iter().rev().nth(1);
            matches!(key, Some(Step::Key(key)) if TEMPLATE_KEYS.contains(&&**key))
        };
        let template = self.graph.template(index, is_template);
        let is_leader = is_control_plane(object);
        if is_leader {
            cluster.bootstrap_provider = flavor_provider(&object.kind).map(|provider| {
                let place = object.name_place();
                Located::new(provider.into(), self.place(object, place))
            });
        }
        let name = match is_leader {
            true => PoolName::ControlPlane,
            false => PoolName::MachineDeployment(Arc::clone(&object.name)),
        };
        let version = version_node(object).map(|(_, node)| node.clone());
        let version = version.and_then(|node| self.text(object, &node));
        if is_leader && template == Template::Unnamed {
            // A hosted control plane has no machines of its own; its workers are compared with its version.
            cluster.k8s_version = version;
            return;
        }
        let replicas = object.node.at(&["spec", "replicas"]).cloned();
        let place = self.place(object, object.name_place());
        let is_variable = version.is_none() && has_variable_version(object);
        let selection = self.selection(template);
        let mut pool = pool(&self.sources, name, place, version, selection, is_variable);
        pool.replicas = replicas.and_then(|node| self.count(object, &node));
        pool.template = template.index().and_then(|index| self.named(index));
        cluster.pools.push(pool);
        self.provider(template, cluster);
    }

    pub(super) fn count(&mut self, object: &Standing, node: &Node) -> Option<Located<u32>> {
        let Value::Number(Number::Int(count)) = node.value else {
            return None;
        };
        let count = u32::try_from(count).ok()?;
        Some(Located::new(count, self.place(object, node.place)))
    }

    pub(super) fn provider(&mut self, template: Template, cluster: &mut Cluster) {
        let Some(template) = template.index() else {
            return;
        };
        let object = &self.graph.objects[template];
        let known = providers::of_kind(&object.kind).map(|provider| provider.name());
        if let Some(name) = known.filter(|_| cluster.infra_provider.is_none()) {
            cluster.infra_provider = Some(Located::new(name.into(), Place::NONE));
        }
    }

    /// A machine template by its name.
    fn named(&self, template: usize) -> Option<NamedTemplate> {
        let object = &self.graph.objects[template];
        let spec = image_fields(&object.kind)?.spec(&object.node)?;
        Some(NamedTemplate {
            name: Arc::clone(&object.name),
            spec: spec.clone(),
        })
    }

    /// The image that the machines of a template boot, or the reason why that is not known.
    pub(super) fn selection(&mut self, template: Template) -> Result<Choice, &'static str> {
        let object = match template {
            Template::Unnamed => return Err(unknown::NO_TEMPLATE),
            Template::Missing => return Err(unknown::NOT_HERE),
            Template::Several => return Err(unknown::SEVERAL),
            Template::At(index) => &self.graph.objects[index],
        };
        let image = self.image(&object.kind, &object.node, Some(object));
        image.ok_or(unknown::NO_IMAGE)
    }

    /// The image that a machine template names. Its places are those of the object, or in this cluster's files already.
    pub(super) fn image(
        &mut self,
        kind: &str,
        template: &Node,
        object: Option<&Standing>,
    ) -> Option<Choice> {
        let fields = image_fields(kind)?;
        let spec = fields.spec(template)?;
        let (node, by) = fields.image(spec)?;
        let mut text = |node: &Node| match object {
            Some(object) => self.text(object, node),
            None => Some(Located::new(Arc::clone(node.value.as_str()?), node.place)),
        };
        let named = text(node);
        let image = spec.at(&["image"]);
        let mut field = |name: &str| text(image?.at(&[name])?);
        Some(match by {
            NamedBy::Name => Choice {
                name: named,
                ..Choice::default()
            },
            NamedBy::Url => Choice {
                format: field("format").or_else(|| field("diskFormat")),
                checksum: field("checksum"),
                checksum_type: field("checksumType"),
                url: named,
                ..Choice::default()
            },
        })
    }
}

/// A pool whose machines boot an image, or the reason why that is not known.
pub(super) fn pool(
    sources: &Sources,
    name: PoolName,
    place: Place,
    version: Option<Located<Arc<str>>>,
    selection: Result<Choice, &'static str>,
    is_variable: bool,
) -> Pool {
    let (mut choice, mut unknown) = match selection {
        Ok(choice) => (choice, None),
        Err(why) => (Choice::default(), Some(why)),
    };
    let texts = || { [&choice.name, &choice.url, &version].into_iter() }.flatten();
    let is_open = is_variable || texts().any(|text| is_variable_text(&text.value));
    // What is said of an image tells its name, or a part of it.
    let is_secret = texts().any(|text| sources.is_secret(text.place));
    if is_secret || is_open {
        let why = if is_secret {
            unknown::SECRET
        } else {
            unknown::VARIABLE
        };
        (choice, unknown) = (Choice::default(), Some(why));
    }
    Pool {
        name,
        choice,
        bundle: BundleChoice::default(),
        place,
        replicas: None,
        k8s_version: version,
        settings: Node::computed(Value::empty_map()),
        template: None,
        unknown,
    }
}

/// The image that a machine template names.
pub(super) fn image_node(template: &Standing) -> Option<(&Node, NamedBy)> {
    let fields = image_fields(&template.kind)?;
    fields.image(fields.spec(&template.node)?)
}

/// Whether the version that an object declares is filled in by another program.
fn has_variable_version(object: &Standing) -> bool {
    let paths = [
        &["spec", "version"][..],
        &["spec", "template", "spec", "version"],
    ];
    let texts = paths
        .iter()
        .filter_map(|path| object.node.at(path)?.value.as_str());
    texts.into_iter().any(|text| is_variable_text(text))
}

fn is_variable_text(text: &str) -> bool {
    text.contains("${") || text.contains("{{")
}

/// Sylva's name of the bootstrap provider that a control plane's kind belongs to.
pub(super) fn flavor_provider(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "KubeadmControlPlane" | "KamajiControlPlane" => "cabpk",
        "RKE2ControlPlane" => "cabpr",
        "CK8sControlPlane" => "cabpck",
        "OpenshiftAssistedControlPlane" => "cabpoa",
        _ => return None,
    })
}
