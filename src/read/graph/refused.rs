//! What the API server refuses of a topology: Cluster API's webhook compares it with its class.

use capi::objects::ManifestObject;
use yaml_tree::suggest::{did_you_mean, key_help};
use yaml_tree::value::Node;

use crate::model::finding::Finding;
use crate::model::rule::RuleId;

use super::class_patches::CHANGING_EXTENSIONS;
use super::machines::{Machines, Topology};
use super::pools::PoolReader;

impl PoolReader<'_, '_> {
    /// Reports what a topology names that its class lacks, and the variables that it lacks itself. Returns whether it lacks one.
    pub(super) fn compare_with_class(&mut self, topology: &Topology<'_>, class: usize) -> bool {
        let class = &self.graph.objects[class];
        for machines in topology.machines() {
            self.findings
                .extend(find_lacking_class(topology, class, machines));
        }
        let patches = class.node.items(&["spec", "patches"]).iter();
        let discovers = |patch: &Node| {
            patch
                .get_path(&["external", CHANGING_EXTENSIONS[0]])
                .is_some()
        };
        if patches.clone().any(discovers) {
            return false;
        }
        let definitions = class.node.items(&["spec", "variables"]);
        let names: Vec<&str> = definitions
            .iter()
            .filter_map(|one| one.text(&["name"]))
            .collect();
        let set = topology.node.items(&["variables"]).iter();
        let overrides = topology.machines().filter_map(Machines::node);
        let overrides = overrides.flat_map(|node| node.items(&["variables", "overrides"]));
        let set: Vec<&Node> = set
            .chain(overrides)
            .filter_map(|one| one.get_path(&["name"]))
            .collect();
        let mut meant = Vec::new();
        for node in &set {
            let Some(name) = plain_text(node).filter(|name| !names.contains(name)) else {
                continue;
            };
            meant.extend(did_you_mean(name, names.iter().copied()));
            let lacks = format!("has no variable `{name}`");
            self.findings.push(refusal(
                topology,
                class,
                node,
                &lacks,
                &name_help(name, &names),
            ));
        }
        let is_lacking = |definition: &&Node| {
            let name = definition.text(&["name"]);
            let default = ["schema", "openAPIV3Schema", "default"];
            definition.flag(&["required"])
                && definition.get_path(&default).is_none()
                && !set.iter().any(|set| set.text(&[]) == name)
        };
        let lacking: Vec<&str> = { definitions.iter().filter(is_lacking) }
            .filter_map(|definition| definition.text(&["name"]))
            .collect();
        // One that is misspelled is reported where it is set.
        for name in lacking.iter().filter(|name| !meant.contains(name)) {
            let variables = topology
                .node
                .get_path(&["variables"])
                .unwrap_or(topology.node);
            let requires = format!("requires the variable `{name}`");
            let help = "set it in `spec.topology.variables`";
            self.findings
                .push(refusal(topology, class, variables, &requires, help));
        }
        !lacking.is_empty()
    }
}

/// The finding of workers whose class the ClusterClass lacks.
fn find_lacking_class(
    topology: &Topology<'_>,
    class: &ManifestObject,
    machines: Machines<'_>,
) -> Option<Finding> {
    let Machines::Workers(list, node) = machines else {
        return None;
    };
    let node = node.get_path(&["class"])?;
    let known = class.node.items(&["spec", "workers", list]).iter();
    let known: Vec<&str> = known.filter_map(|one| one.text(&["class"])).collect();
    let name = plain_text(node).filter(|name| !known.contains(name))?;
    let lacks = format!("has no `{name}` under `workers.{list}`");
    Some(refusal(
        topology,
        class,
        node,
        &lacks,
        &name_help(name, &known),
    ))
}

fn refusal(
    topology: &Topology<'_>,
    class: &ManifestObject,
    at: &Node,
    problem: &str,
    help: &str,
) -> Finding {
    let (name, class) = (&topology.cluster.name, &class.name);
    let message =
        format!("Cluster API refuses the Cluster `{name}`: its ClusterClass `{class}` {problem}");
    Finding::new(RuleId::CompositionFailed, message)
        .with_label(topology.cluster.spot(at.place), "")
        .help(help)
}

fn name_help(name: &str, known: &[&str]) -> String {
    if known.is_empty() {
        "remove it: the class has none".to_owned()
    } else {
        key_help(name, known)
    }
}

/// The text of a name, unless a variable or an expression makes it.
fn plain_text(node: &Node) -> Option<&str> {
    node.text(&[]).filter(|text| !text.contains(['$', '{']))
}
