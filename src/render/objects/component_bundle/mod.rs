//! Delivers a pool's component bundle to its machines, independently of the machine template: it never changes the template's
//! name.
//!
//! Elemental's CRDs have no field for it, so it is delivered through what machines execute anyway: as a script in a Secret that
//! a bootstrap configuration names under `files[].contentFrom.secret`, or in the cloud-config of an Elemental registration.
//! Other consumers find it in an annotation. Source: rancher-sandbox/cluster-api-provider-elemental, `api/v1beta1`.

mod script;

use std::collections::BTreeMap;

use super::{hash, name};
use crate::model::cluster::Pool;
use crate::model::cluster_view::ClusterView;
use crate::model::component::{OBJECT_ANNOTATION, component_fact, is_variable_name};
use crate::model::finding::{Finding, Subject};
use crate::model::rule::{Level, RuleId};
use capi::image::{Image, fact, is_oci};
use oci_artifacts::Reference;
use script::Script;
use yaml_tree::place::Place;
use yaml_tree::value::{Entry, Map, Node, Value};

/// The key in the Secret with the script.
pub const FILE: &str = "install-components.sh";
/// The path of the script on machines, when it comes from a registration's cloud-config.
pub const PATH: &str = "/usr/local/sbin/install-components.sh";

/// A pool's bundle, ready to be delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The pool.
    pub pool: String,
    /// The artifact by its digest, or its URL.
    pub reference: String,
    /// The script that installs it.
    pub script: String,
    /// The installer's variables.
    pub env: BTreeMap<String, String>,
}

/// The bundle of each pool that has one. What prevents a delivery is reported.
pub fn deliveries(view: &ClusterView, findings: &mut Vec<Finding>) -> Vec<Delivery> {
    let chosen = view.pool_bundles();
    let delivery = |(pool, bundle): (&Pool, &Image)| match delivery(view, pool, bundle) {
        Ok(delivery) => Some(delivery),
        Err(problem) => {
            findings.push(finding(view, pool, problem));
            None
        }
    };
    chosen.filter_map(delivery).collect()
}

/// Why a bundle cannot be delivered.
struct Problem {
    message: String,
    place: Place,
    help: String,
}

fn finding(view: &ClusterView, pool: &Pool, problem: Problem) -> Finding {
    Finding::new(RuleId::ManifestInvalid, problem.message)
        .with_label(view.sources.resolve(problem.place), "")
        .help(problem.help)
        .with_subject(subject(view, &pool.name.to_string()))
}

fn subject(view: &ClusterView, pool: &str) -> Subject {
    Subject {
        pool: Some(pool.to_owned()),
        ..Subject::cluster(&view.cluster.name)
    }
}

fn delivery(view: &ClusterView, pool: &Pool, bundle: &Image) -> Result<Delivery, Problem> {
    let problem = |message: String, help: &str| Problem {
        message,
        place: pool.bundle.place(),
        help: help.to_owned(),
    };
    let key = &bundle.key;
    let sha256 = bundle.facts.text(fact::SHA256).filter(|hex| is_sha256(hex));
    let Some(sha256) = sha256 else {
        let message =
            format!("nothing says which bytes the tarball of component bundle `{key}` has");
        let help = "run `metalmark lock`, or give the tarball's `sha256` in `component_bundles`";
        return Err(problem(message, help));
    };
    let Some((reference, url)) = addresses(bundle, sha256) else {
        let message = format!("nothing says where machines fetch component bundle `{key}` from");
        let help = "`uri: oci://REGISTRY/REPOSITORY:TAG`, or an address `https://…` of the tarball";
        return Err(problem(message, help));
    };
    let env = env(view, pool, bundle)?;
    let pairs: Vec<(&str, &str)> = env.iter().map(|(k, v)| (&**k, &**v)).collect();
    let id = format!("{sha256}-{}", hash::compute(&format!("{pairs:?}")));
    let title = format!("Installs component bundle {key}.");
    let script = script::text(&Script {
        title: &title,
        url: &url,
        sha256,
        env: &pairs,
        id: &id,
    });
    Ok(Delivery {
        pool: pool.name.to_string(),
        reference,
        script,
        env,
    })
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The artifact by digest, and the address of its tarball: that in the catalog, else the blob in the registry.
fn addresses(bundle: &Image, sha256: &str) -> Option<(String, String)> {
    let uri = &*bundle.uri.as_ref()?.value;
    let served = bundle.facts.text("url").filter(|url| is_http(url));
    if !is_oci(uri) {
        let url = served.or(Some(uri)).filter(|url| is_http(url))?;
        return Some((format!("{uri}@sha256:{sha256}"), url.to_owned()));
    }
    let reference = Reference::parse(uri).ok()?;
    let pinned = match &bundle.digest {
        Some(digest) => reference.with_digest(&digest.value),
        None => reference,
    };
    let registry = match &*pinned.registry {
        // The host of Docker Hub's registry has another name.
        "docker.io" => "registry-1.docker.io",
        registry => registry,
    };
    let blob = format!(
        "https://{registry}/v2/{}/blobs/sha256:{sha256}",
        pinned.repository
    );
    Some((pinned.to_string(), served.map_or(blob, str::to_owned)))
}

fn is_http(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// The catalog's variables and the pool's own, which win.
fn env(
    view: &ClusterView,
    pool: &Pool,
    bundle: &Image,
) -> Result<BTreeMap<String, String>, Problem> {
    let own = pool.bundle.env.iter();
    let own = own.map(|(name, value)| (&**name, &*value.value, value.place));
    let shared = bundle.facts.iter().filter_map(|(name, value)| {
        let name = name.strip_prefix(component_fact::ENV_VALUE)?;
        Some((name, &*value.value, value.place))
    });
    let mut env = BTreeMap::new();
    for (name, value, place) in shared.chain(own) {
        if view.sources.is_secret(place) {
            return Err(Problem {
                message: format!("`{name}` would show a secret"),
                place,
                help: "let the installer read it from a file that a Secret brings to the machines"
                    .to_owned(),
            });
        }
        if !is_variable_name(name) {
            return Err(Problem {
                message: format!(
                    "`{}` is not the name of an environment variable",
                    name.escape_debug()
                ),
                place,
                help: "names consist of letters, digits and `_`, and do not start with a digit"
                    .to_owned(),
            });
        }
        // The environment of a program cannot contain NUL.
        env.insert(name.to_owned(), value.replace('\0', ""));
    }
    Ok(env)
}

/// The Secret with a pool's script, named after its content: a changed file reaches only new machines.
pub fn secret(view: &ClusterView, delivery: &Delivery) -> Node {
    let cluster = &view.cluster;
    let part = format!("{}-components", delivery.pool);
    let name = name::machine_template(&cluster.object_name, &part, &delivery.script);
    let mut annotations = annotation(delivery);
    super::guard(&mut annotations, &Node::from_value(&*delivery.script));
    let data = Map::from_iter([Entry::from_value(FILE, &*delivery.script)]);
    super::secret(cluster, name, &annotations, data)
}

fn annotation(delivery: &Delivery) -> Map {
    Map::from_iter([Entry::from_value(OBJECT_ANNOTATION, &*delivery.reference)])
}

/// Adds the annotation to the objects of the pools; their names do not change.
pub fn annotate(deliveries: &[Delivery], objects: &mut [Node]) {
    for (object, delivery) in objects_with_delivery(deliveries, objects) {
        let known = object
            .get_path(&["annotations"])
            .and_then(|node| node.value.as_map());
        let mut annotations = known.map_or_else(Map::default, |map| Map::clone(map));
        for entry in annotation(delivery).iter() {
            annotations.insert(entry.clone());
        }
        set(object, "annotations", annotations.into());
    }
}

/// Writes the proposal's `componentsBundle` into Elemental's machine templates, with a warning that the API server drops it.
pub fn fill_field(
    view: &ClusterView,
    deliveries: &[Delivery],
    templates: &mut [Node],
    findings: &mut Vec<Finding>,
) {
    for (template, delivery) in objects_with_delivery(deliveries, templates) {
        let kind = template
            .get_path(&["kind"])
            .and_then(|kind| kind.value.as_str());
        let kind = kind.map(|kind| kind.to_string()).unwrap_or_default();
        let message = format!("`{kind}` has no field `componentsBundle`: the API server drops it");
        let finding = Finding::new(RuleId::ManifestInvalid, message)
            .unless_set(Level::Warning)
            .help("deliver the bundle by `component-bundles: secret` or `cloud-config`");
        findings.push(finding.with_subject(subject(view, &delivery.pool)));
        let reference = delivery.reference.trim_start_matches("oci://");
        let path = ["spec", "template", "spec", "componentsBundle"];
        put(template, &path, Node::from_value(reference));
    }
}

/// Adds the script to the cloud-config of Elemental's registrations, which runs it at each boot of the hosts.
pub fn fill_cloud_config(
    view: &ClusterView,
    deliveries: &[Delivery],
    registrations: &mut [Node],
    findings: &mut Vec<Finding>,
) {
    let has = |pool: &str, node: &Node| {
        node.get_path(&["pool"])
            .is_some_and(|own| own.value == Value::from(pool))
    };
    for delivery in deliveries {
        if !registrations.iter().any(|node| has(&delivery.pool, node)) {
            let message = format!(
                "pool `{}` has no registration whose cloud-config could bring its component bundle",
                delivery.pool
            );
            let finding = Finding::new(RuleId::ManifestInvalid, message).help(
                "`cluster.elemental.registration: {config: {}}`, or `component-bundles: secret`",
            );
            findings.push(finding.with_subject(subject(view, &delivery.pool)));
        }
    }
    for (registration, delivery) in objects_with_delivery(deliveries, registrations) {
        let file = Map::from_iter([
            Entry::from_value("path", PATH),
            Entry::from_value("permissions", "0700"),
            Entry::from_value("content", &*delivery.script),
        ]);
        let config = ["spec", "config", "cloudConfig"];
        append(registration, &config, "write_files", Node::from_value(file));
        append(registration, &config, "runcmd", Node::from_value(PATH));
    }
}

/// The objects whose pools have a delivery, with the delivery.
fn objects_with_delivery<'a>(
    deliveries: &'a [Delivery],
    objects: &'a mut [Node],
) -> impl Iterator<Item = (&'a mut Node, &'a Delivery)> {
    objects.iter_mut().filter_map(|object| {
        let pool = object
            .get_path(&["pool"])
            .and_then(|pool| pool.value.as_str().cloned())?;
        let delivery = deliveries.iter().find(|delivery| *delivery.pool == *pool)?;
        Some((object, delivery))
    })
}

fn set(node: &mut Node, key: &str, value: Value) {
    put(node, &[key], Node::from_value(value));
}

/// Sets a value below maps. A missing or other value on the path becomes a map.
fn put(node: &mut Node, path: &[&str], value: Node) {
    let [key, below @ ..] = path else {
        *node = value;
        return;
    };
    let mut map = node
        .value
        .as_map()
        .map_or_else(Map::default, |map| Map::clone(map));
    let mut inner = map
        .get(key)
        .cloned()
        .unwrap_or_else(|| Node::from_value(Value::Null));
    put(&mut inner, below, value);
    map.insert(Entry::holding(*key, inner));
    node.value = map.into();
}

/// Adds an item to a list below maps.
fn append(node: &mut Node, path: &[&str], list: &str, item: Node) {
    let whole: Vec<&str> = path.iter().copied().chain([list]).collect();
    let known = node.get_path(&whole).and_then(|node| node.value.as_list());
    let mut items: Vec<Node> = known.map(<[Node]>::to_vec).unwrap_or_default();
    items.push(item);
    put(node, &whole, Node::from_value(items));
}

#[cfg(test)]
mod tests;
