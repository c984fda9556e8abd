//! Applies the patches of a ClusterClass to machine templates.
//!
//! The rules are those of Cluster API's inline patches
//! (<https://cluster-api.sigs.k8s.io/tasks/experimental-features/cluster-class/write-clusterclass>): a Go template with
//! Sprig's functions over the variables of the Cluster and the built-in ones, whose output is read as YAML. Only operations
//! that may change the image are evaluated. What only a running controller knows makes the image unknown.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::objects::ManifestObject;
use capi::providers::{ImageFields, image_fields};
use go_template::{Budget, Limits, NoHost, convert};
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;
use yaml_tree::value::{Entry, Map, Node, Value};

use crate::read::gitops::{Dialect, apply_json_patch};

use super::machines::{Machines, Topology};
use super::pools::PoolReader;
use super::unknown;

/// The text of a built-in variable that only a running controller knows. What it is a part of is not known either.
const AT_RUN_TIME: &str = "\u{fdd0}";

/// The variables of templates, by name.
type Variables = BTreeMap<Arc<str>, Node>;

/// The patches of one class for one Cluster.
pub(super) struct Patches<'t> {
    class: &'t ManifestObject,
    topology: &'t Topology<'t>,
    /// Those of all machines.
    variables: Variables,
    /// The built-in variable of the Cluster.
    builtin: Node,
}

impl<'t> Patches<'t> {
    /// The patches of a class, with the variables of a Cluster.
    pub(super) fn new<'a: 't>(
        reader: &mut PoolReader<'_, 'a>,
        class: usize,
        topology: &'t Topology<'t>,
    ) -> Self {
        let class = &reader.graph.objects[class];
        let mut patches = Self {
            class,
            topology,
            variables: Variables::new(),
            builtin: builtin(reader, topology),
        };
        let set = topology.node.get_path(&["variables"]);
        patches.variables = patches.read_variables(reader, set, true);
        patches
    }

    /// The machine template of that index after the patches; none if they do not change its image.
    pub(super) fn apply(
        &self,
        reader: &mut PoolReader<'_, '_>,
        template: usize,
        machines: Machines<'_>,
    ) -> Result<Option<Node>, &'static str> {
        let object = &reader.graph.objects[template];
        let Some(fields) = image_fields(&object.kind) else {
            return Ok(None);
        };
        let mut changed: Option<(Node, Node)> = None;
        for patch in self.class.node.items(&["spec", "patches"]) {
            if patch.get_path(&["definitions"]).is_none() {
                return Err(unknown::EXTENSION);
            }
            let definitions = patch.items(&["definitions"]).iter();
            let selected = definitions.filter(|definition| selects(definition, object, machines));
            let operations = selected.flat_map(|definition| definition.items(&["jsonPatches"]));
            let mut operations = operations
                .filter(|operation| may_change(fields, operation))
                .peekable();
            if operations.peek().is_none() {
                continue;
            }
            let (node, variables) = changed.get_or_insert_with(|| {
                let variables = self.machine_variables(reader, machines);
                (reader.adopt(object, &object.node), variables)
            });
            if !self.is_enabled(reader, patch, variables)? {
                continue;
            }
            for operation in operations {
                let operation = self.evaluate(reader, operation, variables)?;
                apply_json_patch(node, &[operation], Dialect::ClusterApi)
                    .map_err(|_| unknown::PATCHES)?;
            }
        }
        Ok(changed.map(|(node, _)| node))
    }

    /// The variables that the class defines, as they are set or by default.
    fn read_variables(
        &self,
        reader: &mut PoolReader<'_, '_>,
        set: Option<&Node>,
        with_defaults: bool,
    ) -> Variables {
        let set = set.and_then(|set| set.value.as_list()).unwrap_or_default();
        let mut variables = Variables::new();
        for definition in self.class.node.items(&["spec", "variables"]) {
            let Some(name) = definition.text(&["name"]) else {
                continue;
            };
            let schema = definition.get_path(&["schema", "openAPIV3Schema"]);
            let own = set.iter().find(|one| one.text(&["name"]) == Some(name));
            let own = own.and_then(|one| one.get_path(&["value"]));
            let own = own.map(|value| reader.adopt(self.topology.cluster, value));
            let value = match (own, schema) {
                (None, _) if !with_defaults => None,
                (own, Some(schema)) => self.with_default(reader, schema, own),
                (own, None) => own,
            };
            variables.extend(value.map(|value| (name.into(), value)));
        }
        variables
    }

    /// A value with the defaults of its schema, as the API server sets them.
    fn with_default(
        &self,
        reader: &mut PoolReader<'_, '_>,
        schema: &Node,
        value: Option<Node>,
    ) -> Option<Node> {
        let default = || schema.get_path(&["default"]);
        let value = match value {
            Some(value) => value,
            None => reader.adopt(self.class, default()?),
        };
        Some(self.with_inner_defaults(reader, schema, value))
    }

    fn with_inner_defaults(
        &self,
        reader: &mut PoolReader<'_, '_>,
        schema: &Node,
        mut value: Node,
    ) -> Node {
        match &mut value.value {
            Value::Map(map) => {
                let map = Arc::make_mut(map);
                for property in schema.entries(&["properties"]) {
                    let own = map.get(&property.key).cloned();
                    if let Some(node) = self.with_default(reader, &property.node, own) {
                        map.insert(Entry::holding(Arc::clone(&property.key), node));
                    }
                }
            }
            Value::List(items) => {
                if let Some(schema) = schema.get_path(&["items"]) {
                    for item in Arc::make_mut(items) {
                        *item = self.with_inner_defaults(reader, schema, item.clone());
                    }
                }
            }
            _ => {}
        }
        value
    }

    /// The variables for one set of machines, as one map.
    fn machine_variables(&self, reader: &mut PoolReader<'_, '_>, machines: Machines<'_>) -> Node {
        let mut variables = self.variables.clone();
        let overrides = machines
            .node()
            .and_then(|node| node.get_path(&["variables", "overrides"]));
        variables.extend(self.read_variables(reader, overrides, false));
        variables.insert("builtin".into(), self.with_machines(reader, machines));
        let entries = variables.into_iter();
        let entries = entries.map(|(name, node)| Entry::holding(name, node));
        Node::from_value(entries.collect::<Map>())
    }

    /// Cluster API's built-in variables for one set of machines.
    fn with_machines(&self, reader: &mut PoolReader<'_, '_>, machines: Machines<'_>) -> Node {
        let cluster = self.topology.cluster;
        let mut adopt = |node: Option<&Node>| node.map(|node| reader.adopt(cluster, node));
        let at_run_time = || Some(Node::from_value(AT_RUN_TIME));
        let own = |key: &str| machines.node().and_then(|node| node.get_path(&[key]));
        let of_machines = map([
            ("version", adopt(self.topology.node.get_path(&["version"]))),
            ("replicas", adopt(own("replicas"))),
            ("class", adopt(own("class"))),
            ("topologyName", adopt(own("name"))),
            ("name", at_run_time()),
            ("metadata", at_run_time()),
            ("machineTemplate", at_run_time()),
            ("infrastructureRef", at_run_time()),
            ("bootstrap", at_run_time()),
        ]);
        let key = match machines {
            Machines::ControlPlane(_) => "controlPlane",
            Machines::Workers(list, _) => list.trim_end_matches('s'),
        };
        map([
            ("cluster", Some(self.builtin.clone())),
            (key, Some(of_machines)),
        ])
    }

    fn is_enabled(
        &self,
        reader: &mut PoolReader<'_, '_>,
        patch: &Node,
        variables: &Node,
    ) -> Result<bool, &'static str> {
        let Some(condition) = patch.get_path(&["enabledIf"]) else {
            return Ok(true);
        };
        let output = self.output(reader, condition, variables)?;
        Ok(output.value == Value::Bool(true))
    }

    /// An operation with its value.
    fn evaluate(
        &self,
        reader: &mut PoolReader<'_, '_>,
        operation: &Node,
        variables: &Node,
    ) -> Result<Node, &'static str> {
        let value = if let Some(variable) = operation.get_path(&["valueFrom", "variable"]) {
            let path = variable.value.as_str().ok_or(unknown::PATCHES)?;
            let steps = yaml_tree::Path::parse_fields(path).and_then(yaml_tree::Path::steps);
            let value = steps.and_then(|steps| yaml_tree::node_at(variables, &steps));
            let value = value.ok_or(unknown::PATCHES)?;
            if has_run_time(value) {
                return Err(unknown::PATCHES);
            } else {
                Some(value.clone())
            }
        } else if let Some(template) = operation.get_path(&["valueFrom", "template"]) {
            Some(self.output(reader, template, variables)?)
        } else {
            let value = operation.get_path(&["value"]);
            value.map(|value| reader.adopt(self.class, value))
        };
        let own = |key: &str| operation.get_path(&[key]).cloned();
        Ok(map([
            ("op", own("op")),
            ("path", own("path")),
            ("value", value),
        ]))
    }

    /// The output of a template as YAML, each value with the template's place.
    fn output(
        &self,
        reader: &mut PoolReader<'_, '_>,
        template: &Node,
        variables: &Node,
    ) -> Result<Node, &'static str> {
        let place = reader.place(self.class, template.place);
        let text = template.value.as_str().ok_or(unknown::PATCHES)?;
        let dot = convert::from_model(&variables.value);
        let budget = Budget::new(Limits::default());
        let output = go_template::parse("tpl", text)
            .and_then(|template| go_template::execute(&template, &dot, &NoHost, &budget))
            .map_err(|_| unknown::PATCHES)?;
        if output.contains(AT_RUN_TIME) {
            return Err(unknown::PATCHES);
        }
        let read = yaml_tree::read(&output, FileId(0), Engine::Kubectl);
        let node = read.ok().and_then(|read| read.documents.into_iter().next());
        Ok(node.ok_or(unknown::PATCHES)?.with_places(&mut |_| place))
    }
}

/// Cluster API's built-in variable of a Cluster
/// (<https://cluster-api.sigs.k8s.io/tasks/experimental-features/cluster-class/write-clusterclass#builtin-variables>).
fn builtin(reader: &mut PoolReader<'_, '_>, topology: &Topology<'_>) -> Node {
    let Topology {
        index,
        cluster,
        node: topology,
        class_name,
        class_namespace,
    } = *topology;
    let stamped = reader.graph.version_after_stamp(index);
    let mut adopt = |node: Option<&Node>| node.map(|node| reader.adopt(cluster, node));
    let of_cluster = |path: &[&str]| cluster.node.get_path(path);
    let at_run_time = || Some(Node::from_value(AT_RUN_TIME));
    let version = match stamped {
        Some(version) => Some(Node::from_value(&**version)),
        None => adopt(topology.get_path(&["version"])),
    };
    let class_ref = map([
        ("name", Some(Node::from_value(class_name))),
        ("namespace", Some(Node::from_value(class_namespace))),
    ]);
    let of_topology = map([
        ("version", version),
        ("class", Some(Node::from_value(class_name))),
        ("classNamespace", Some(Node::from_value(class_namespace))),
        ("classRef", Some(class_ref)),
    ]);
    let metadata =
        map(["labels", "annotations"].map(|key| (key, adopt(of_cluster(&["metadata", key])))));
    let network = ["services", "pods"].map(|key| {
        (
            key,
            adopt(of_cluster(&["spec", "clusterNetwork", key, "cidrBlocks"])),
        )
    });
    let domain = adopt(of_cluster(&["spec", "clusterNetwork", "serviceDomain"]));
    let network = map(network.into_iter().chain([("serviceDomain", domain)]));
    map([
        ("name", Some(Node::from_value(&*cluster.name))),
        ("namespace", Some(Node::from_value(&*cluster.namespace))),
        ("uid", at_run_time()),
        ("metadata", Some(metadata)),
        ("topology", Some(of_topology)),
        ("network", Some(network)),
    ])
}

/// Whether a definition selects a machine template, for these machines. Versions of an API do not matter: the API server
/// converts them.
fn selects(definition: &Node, template: &ManifestObject, machines: Machines<'_>) -> bool {
    let selector = |path: &[&str]| definition.get_path(&["selector"])?.get_path(path);
    let of_text = |key: &str| selector(&[key]).and_then(|node| node.value.as_str());
    let group = of_text("apiVersion").and_then(|version| version.split_once('/'));
    if group.map(|(group, _)| group) != Some(template.group())
        || of_text("kind") != Some(&template.kind)
    {
        return false;
    }
    let resources = |key: &str| selector(&["matchResources", key]);
    match machines {
        Machines::ControlPlane(_) => {
            resources("controlPlane").is_some_and(|flag| flag.value == Value::Bool(true))
        }
        Machines::Workers(of, _) => {
            let key = match of {
                "machinePools" => "machinePoolClass",
                _ => "machineDeploymentClass",
            };
            let class = machines.text("class").map_or("", |class| class);
            let names = resources(key).map_or(&[][..], |node| node.items(&["names"]));
            let mut names = names.iter().filter_map(|name| name.value.as_str());
            names.any(|name| is_class(name, class))
        }
    }
}

/// Whether a name, which may begin or end with `*`, is that of a class.
fn is_class(name: &str, class: &str) -> bool {
    let ends = name
        .strip_prefix('*')
        .is_some_and(|end| class.ends_with(end));
    let begins = name
        .strip_suffix('*')
        .is_some_and(|begin| class.starts_with(begin));
    name == class || ends || begins
}

fn may_change(fields: ImageFields, operation: &Node) -> bool {
    operation
        .text(&["path"])
        .is_none_or(|path| fields.may_change(path))
}

fn has_run_time(node: &Node) -> bool {
    match &node.value {
        Value::String(text) => text.contains(AT_RUN_TIME),
        _ => node.children().any(has_run_time),
    }
}

fn map<'k>(entries: impl IntoIterator<Item = (&'k str, Option<Node>)>) -> Node {
    let entries = entries.into_iter();
    let entries = entries.filter_map(|(key, node)| Some(Entry::holding(key, node?)));
    Node::from_value(entries.collect::<Map>())
}
