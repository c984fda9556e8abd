//! Applies the patches of a ClusterClass to machine templates.
//!
//! The rules are those of Cluster API's inline patches
//! (<https://cluster-api.sigs.k8s.io/tasks/experimental-features/cluster-class/write-clusterclass>): a Go template with
//! Sprig's functions over the variables of the Cluster and the built-in ones, whose output is read as YAML. What only a
//! running controller knows is a label ([`yaml_tree::opaque`]): it passes through texts, and whatever looks at it has no known result.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use capi::objects::ManifestObject;
use capi::providers::image_fields;
use capi::unknown::Unknown;
use go_template::{Budget, ErrorClass, Limits, NoHost, Template, convert};
use yaml_tree::engine::Engine;
use yaml_tree::opaque::{MAYBE_RUN_TIME, RUN_TIME, is_of_run_time, is_opaque};
use yaml_tree::place::{FileId, Place};
use yaml_tree::value::{Entry, Map, Node, Value};

use crate::model::finding::Finding;
use crate::model::name::SeenVersion;
use crate::model::rule::{Level, RuleId};
use crate::read::dialects::NOT_IN_CLUSTER_API;
use crate::read::gitops::{Dialect, apply_json_patch};

use super::machines::{Machines, Topology};
use super::pools::PoolReader;

/// The runtime extensions of a patch that change what is made. Others only validate it.
pub(super) const CHANGING_EXTENSIONS: [&str; 3] = [
    "discoverVariablesExtension",
    "generateExtension",
    "generatePatchesExtension",
];

/// The templates of all classes, by their text: each Cluster and each pool has the same.
#[derive(Default)]
pub(super) struct Templates(RefCell<BTreeMap<Arc<str>, Parsed>>);

/// A template, or why it is none.
type Parsed = Result<Rc<Template>, Arc<str>>;

impl Templates {
    fn parse(&self, text: &Arc<str>) -> Parsed {
        let parse = || {
            let parsed = go_template::parse_without("tpl", text, NOT_IN_CLUSTER_API);
            parsed.map(Rc::new).map_err(|error| error.message.into())
        };
        let mut known = self.0.borrow_mut();
        let parsed = known.entry(Arc::clone(text)).or_insert_with(parse);
        parsed.clone()
    }
}

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
        let variables = patches.with_reader(reader).read_variables(set, true);
        patches.variables = variables;
        patches
    }

    pub(super) fn with_reader<'p, 'g, 'a>(
        &'p self,
        reader: &'p mut PoolReader<'g, 'a>,
    ) -> Patching<'p, 'g, 'a> {
        Patching {
            patches: self,
            reader,
        }
    }
}

/// Applies patches for what reads a Cluster.
pub(super) struct Patching<'p, 'g, 'a> {
    patches: &'p Patches<'p>,
    reader: &'p mut PoolReader<'g, 'a>,
}

impl Patching<'_, '_, '_> {
    /// The machine template of that index after the patches; none if they do not change it. `reference` is the class's to it.
    pub(super) fn apply(
        &mut self,
        template: usize,
        reference: &Node,
        machines: Machines<'_>,
    ) -> Result<Option<Node>, Unknown> {
        let object = &self.reader.graph.objects[template];
        let Some(fields) = image_fields(&object.kind) else {
            return Ok(None);
        };
        let mut changed: Option<(Node, Node)> = None;
        // Whether something is not as the patches make it.
        let mut is_partial = false;
        for patch in self.patches.class.node.items(&["spec", "patches"]) {
            let external = |key: &&str| patch.get_path(&["external", key]).is_some();
            if CHANGING_EXTENSIONS.iter().any(external) {
                return Err(Unknown::Extension);
            }
            let mut operations = Vec::new();
            for definition in patch.items(&["definitions"]) {
                if self.selects(definition, reference, machines)? {
                    operations.extend(definition.items(&["jsonPatches"]));
                }
            }
            if operations.is_empty() {
                continue;
            }
            let (node, variables) = changed.get_or_insert_with(|| {
                let variables = self.machine_variables(machines);
                (self.reader.adopt(object, &object.node), variables)
            });
            let may_change = |operation: &Node| {
                let path = operation.text(&["path"]);
                path.is_none_or(|path| fields.may_change(path))
            };
            match self.is_enabled(patch, variables) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(why) => {
                    is_partial = true;
                    ensure_beside(operations.iter().any(|one| may_change(one)), why)?;
                    continue;
                }
            }
            for operation in operations {
                let patch = match self.evaluate(operation, variables) {
                    Ok(patch) => patch,
                    Err(why) => {
                        is_partial = true;
                        ensure_beside(may_change(operation), why)?;
                        continue;
                    }
                };
                match apply_json_patch(node, &[patch], Dialect::ClusterApi) {
                    Ok(()) => {}
                    Err(_) if is_partial => return Err(Unknown::ClassPatches),
                    Err(error) => return Err(self.refuse(operation, &error.message)),
                }
            }
        }
        Ok(changed.map(|(node, _)| node))
    }

    /// Says that Cluster API refuses a part of the class.
    fn refuse(&mut self, at: &Node, why: &str) -> Unknown {
        let message = format!(
            "Cluster API refuses a patch of the ClusterClass `{}`: {why}",
            self.patches.class.name
        );
        let finding = Finding::new(RuleId::CompositionFailed, message)
            .with_label(self.patches.class.spot(at.place), "")
            .help("fix the patch: as long as it is refused, no Cluster of the class changes");
        self.reader
            .findings
            .push(finding.unless_set(Level::Warning));
        Unknown::ClassRefused
    }

    /// The variables that the class defines, as they are set or by default.
    fn read_variables(&mut self, set: Option<&Node>, with_defaults: bool) -> Variables {
        let set = set.and_then(|set| set.value.as_list()).unwrap_or_default();
        let mut variables = Variables::new();
        for definition in self.patches.class.node.items(&["spec", "variables"]) {
            let Some(name) = definition.text(&["name"]) else {
                continue;
            };
            let schema = definition.get_path(&["schema", "openAPIV3Schema"]);
            let own = set.iter().find(|one| one.text(&["name"]) == Some(name));
            let own = own.and_then(|one| one.get_path(&["value"]));
            let own = own.map(|value| self.reader.adopt(self.patches.topology.cluster, value));
            let value = match (own, schema) {
                (None, _) if !with_defaults => None,
                (own, Some(schema)) => self.with_default(schema, own),
                (own, None) => own,
            };
            variables.extend(value.map(|value| (name.into(), value)));
        }
        variables
    }

    /// A value with the defaults of its schema, as the API server sets them.
    fn with_default(&mut self, schema: &Node, value: Option<Node>) -> Option<Node> {
        let default = || schema.get_path(&["default"]);
        let value = match value {
            Some(value) => value,
            None => self.reader.adopt(self.patches.class, default()?),
        };
        Some(self.with_inner_defaults(schema, value))
    }

    fn with_inner_defaults(&mut self, schema: &Node, mut value: Node) -> Node {
        match &mut value.value {
            Value::Map(map) => {
                let map = Arc::make_mut(map);
                if let Some(others) = schema.get_path(&["additionalProperties"]) {
                    let own = |key: &str| schema.get_path(&["properties", key]).is_some();
                    let keys: Vec<Arc<str>> = { map.iter() }
                        .map(|entry| Arc::clone(&entry.key))
                        .filter(|key| !own(key))
                        .collect();
                    for key in keys {
                        let value = map.get(&key).cloned();
                        if let Some(node) = self.with_default(others, value) {
                            map.insert(Entry::holding(key, node));
                        }
                    }
                }
                for property in schema.entries(&["properties"]) {
                    let own = map.get(&property.key).cloned();
                    if let Some(node) = self.with_default(&property.node, own) {
                        map.insert(Entry::holding(Arc::clone(&property.key), node));
                    }
                }
            }
            Value::List(items) => {
                if let Some(schema) = schema.get_path(&["items"]) {
                    for item in Arc::make_mut(items) {
                        *item = self.with_inner_defaults(schema, item.clone());
                    }
                }
            }
            _ => {}
        }
        value
    }

    /// The variables for one set of machines, as one map.
    fn machine_variables(&mut self, machines: Machines<'_>) -> Node {
        let mut variables = self.patches.variables.clone();
        let overrides = machines
            .node()
            .and_then(|node| node.get_path(&["variables", "overrides"]));
        variables.extend(self.read_variables(overrides, false));
        variables.insert("builtin".into(), self.with_machines(machines));
        let entries = variables.into_iter();
        let entries = entries.map(|(name, node)| Entry::holding(name, node));
        Node::from_value(entries.collect::<Map>())
    }

    /// Cluster API's built-in variables for one set of machines.
    fn with_machines(&mut self, machines: Machines<'_>) -> Node {
        let cluster = self.patches.topology.cluster;
        let mut adopt = |node: Option<&Node>| node.map(|node| self.reader.adopt(cluster, node));
        let at_run_time = || Some(Node::from_value(MAYBE_RUN_TIME));
        let name = Some(Node::from_value(RUN_TIME));
        let own = |key: &str| machines.node().and_then(|node| node.get_path(&[key]));
        let of_machines = map([
            ("version", adopt(self.patches.topology.version)),
            ("replicas", adopt(own("replicas"))),
            ("class", adopt(own("class"))),
            ("topologyName", adopt(own("name"))),
            ("name", name),
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
            ("cluster", Some(self.patches.builtin.clone())),
            (key, Some(of_machines)),
        ])
    }

    fn is_enabled(&mut self, patch: &Node, variables: &Node) -> Result<bool, Unknown> {
        let Some(condition) = patch.get_path(&["enabledIf"]) else {
            return Ok(true);
        };
        if condition.value.as_str().is_some_and(|text| text.is_empty()) {
            return Ok(true);
        }
        let output = self.output(condition, variables)?;
        Ok(output.value == Value::Bool(true))
    }

    /// An operation with its value.
    fn evaluate(&mut self, operation: &Node, variables: &Node) -> Result<Node, Unknown> {
        let own = |key: &str| operation.get_path(&[key]);
        let value = match operation.text(&["op"]) {
            Some("remove") => None,
            Some("add" | "replace") => Some(self.value(operation, variables)?),
            _ => {
                return Err(self.refuse(operation, "it is not `add`, `replace` or `remove`"));
            }
        };
        Ok(map([
            ("op", own("op").cloned()),
            ("path", own("path").cloned()),
            ("value", value),
        ]))
    }

    /// The value of an operation.
    fn value(&mut self, operation: &Node, variables: &Node) -> Result<Node, Unknown> {
        let sources = [
            operation.get_path(&["value"]),
            operation.get_path(&["valueFrom", "variable"]),
            operation.get_path(&["valueFrom", "template"]),
        ];
        match sources {
            [Some(value), None, None] => Ok(self.reader.adopt(self.patches.class, value)),
            [None, Some(variable), None] => self.variable(variable, variables),
            [None, None, Some(template)] => self.output(template, variables),
            _ => Err(self.refuse(
                operation,
                "it needs one of `value`, `valueFrom.variable` and `valueFrom.template`",
            )),
        }
    }

    fn variable(&mut self, variable: &Node, variables: &Node) -> Result<Node, Unknown> {
        let path = variable.value.as_str().map_or("", |path| path);
        let steps = yaml_tree::Path::parse_fields(path).and_then(yaml_tree::Path::steps);
        let steps = steps.unwrap_or_default();
        let mut above = (0..=steps.len()).rev();
        let found =
            above.find_map(|end| Some((end, yaml_tree::node_at(variables, &steps[..end])?)));
        match found {
            Some((end, node)) if end == steps.len() && end > 0 => {
                let known = Some(node.clone()).filter(|node| !is_run_time(node));
                known.ok_or(Unknown::RunTime)
            }
            Some((_, node)) if matches!(node.value, Value::String(_)) && is_run_time(node) => {
                Err(Unknown::RunTime)
            }
            _ => Err(self.refuse_variable(variable, "there is no such variable", variables)),
        }
    }

    /// Says that a variable is not there, and which of Cluster API's own are there for these machines.
    fn refuse_variable(&mut self, at: &Node, why: &str, variables: &Node) -> Unknown {
        let own = variables.entries(&["builtin"]);
        let own: Vec<String> = own
            .map(|entry| format!("`builtin.{}`", entry.key))
            .collect();
        let why = format!("{why}; for these machines there are {}", own.join(" and "));
        self.refuse(at, &why)
    }

    /// The output of a template as YAML, each value with the template's place; a text with that of the variable that gives it its version.
    fn output(&mut self, template: &Node, variables: &Node) -> Result<Node, Unknown> {
        let text = template.value.as_str().ok_or(Unknown::ClassPatches)?;
        let parsed = self.reader.graph.templates.parse(text);
        let parsed = parsed.map_err(|why| self.refuse(template, &why))?;
        let dot = convert::from_model(&variables.value);
        let budget = Budget::new(Limits::default());
        budget.note_label();
        let output = match go_template::execute_plain(&parsed, &dot, &NoHost, &budget) {
            Err(error) if error.class == ErrorClass::NilPointer => {
                return Err(self.refuse_variable(template, &error.message, variables));
            }
            Err(error) if error.class != ErrorClass::Secret => return Err(Unknown::ClassPatches),
            Err(error) => error.message,
            Ok(output) => output,
        };
        if is_of_run_time(&output) {
            return Err(Unknown::RunTime);
        }
        if is_opaque(&output) {
            return Err(Unknown::Secret);
        }
        let read = yaml_tree::read(&output, FileId(0), Engine::Kubectl);
        let read = read.map_err(|error| self.refuse(template, &error.message))?;
        let node = read.documents.into_iter().next();
        let node = node.unwrap_or_else(|| Node::from_value(Value::Null));
        let own = self.reader.place(self.patches.class, template.place);
        let text = node.value.as_str();
        let place = text.and_then(|text| version_place(text, variables));
        Ok(node.with_places(&mut |_| place.unwrap_or(own)))
    }

    /// Whether a definition selects what a reference of the class leads to, for these machines.
    fn selects(
        &mut self,
        definition: &Node,
        reference: &Node,
        machines: Machines<'_>,
    ) -> Result<bool, Unknown> {
        let own = |key: &str| definition.text(&["selector", key]);
        if own("kind") != reference.text(&["kind"]) || !is_for(definition, machines) {
            return Ok(false);
        }
        let version = own("apiVersion").unwrap_or_default();
        let of_class = reference.text(&["apiVersion"]).unwrap_or_default();
        let group = |version: &str| version.split('/').next().map(str::to_owned);
        if version == of_class || group(version) != group(of_class) {
            return Ok(version == of_class);
        }
        let why = format!("its selector means `{version}`, and the class names `{of_class}`");
        Err(self.refuse(definition, &why))
    }
}

/// The place of the only variable whose version a text has.
fn version_place(text: &str, variables: &Node) -> Option<Place> {
    let mut versions = variables.entries(&[]).filter(|entry| {
        let value = entry.node.value.as_str();
        let value = value.filter(|value| text.contains(&***value));
        value.is_some_and(|value| SeenVersion::find(value, true).is_some())
    });
    let only = versions.next().filter(|_| versions.next().is_none())?;
    Some(only.node.place).filter(|place| place.is_known())
}

/// Whether a definition is for these machines.
fn is_for(definition: &Node, machines: Machines<'_>) -> bool {
    let resources = |key: &str| definition.get_path(&["selector", "matchResources", key]);
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

/// Lets what is not known of a patch pass, if it is beside the image and not refused.
fn ensure_beside(may_change: bool, why: Unknown) -> Result<(), Unknown> {
    if may_change || why == Unknown::ClassRefused {
        Err(why)
    } else {
        Ok(())
    }
}

/// Cluster API's built-in variable of a Cluster
/// (<https://cluster-api.sigs.k8s.io/tasks/experimental-features/cluster-class/write-clusterclass#builtin-variables>).
fn builtin(reader: &mut PoolReader<'_, '_>, topology: &Topology<'_>) -> Node {
    let Topology {
        index,
        cluster,
        node: _,
        version,
        class_name,
        class_namespace,
    } = *topology;
    let stamped = reader.graph.version_after_stamp(index);
    let mut adopt = |node: Option<&Node>| node.map(|node| reader.adopt(cluster, node));
    let of_cluster = |path: &[&str]| cluster.node.get_path(path);
    let version = match stamped {
        Some(version) => Some(Node::from_value(&**version)),
        None => adopt(version),
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
    let family = Some(Node::from_value(MAYBE_RUN_TIME));
    let more = [("serviceDomain", domain), ("ipFamily", family)];
    let network = map(network.into_iter().chain(more));
    map([
        ("name", Some(Node::from_value(&*cluster.name))),
        ("namespace", Some(Node::from_value(&*cluster.namespace))),
        ("uid", Some(Node::from_value(RUN_TIME))),
        ("metadata", Some(metadata)),
        ("topology", Some(of_topology)),
        ("network", Some(network)),
    ])
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

/// Whether a value, or anything below it, is only known at run time.
fn is_run_time(node: &Node) -> bool {
    match &node.value {
        Value::String(text) => is_of_run_time(text),
        _ => node.children().any(is_run_time),
    }
}

fn map<'k>(entries: impl IntoIterator<Item = (&'k str, Option<Node>)>) -> Node {
    let entries = entries.into_iter();
    let entries = entries.filter_map(|(key, node)| Some(Entry::holding(key, node?)));
    Node::from_value(entries.collect::<Map>())
}
