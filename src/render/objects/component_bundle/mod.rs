//! Delivers a pool's component bundle to its machines, independently of the machine template: it never changes the template's
//! name.
//!
//! Elemental's CRDs have no field for it, so it is delivered through what machines execute anyway: as a script in a Secret that
//! a bootstrap configuration names under `files[].contentFrom.secret`, or in the cloud-config of an Elemental registration.
//! Other consumers find it in an annotation. Source: rancher-sandbox/cluster-api-provider-elemental, `api/v1beta1`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use capi::image::{Image, fact};
use oci_artifacts::registries::{Mirror, RegistrySettings};
use oci_artifacts::{Reference, is_oci};
use yaml_tree::opaque::is_opaque;
use yaml_tree::place::Place;
use yaml_tree::value::{Entry, Map, Node, Value};

use crate::model::cluster::Pool;
use crate::model::cluster_view::ClusterView;
use crate::model::component::{INSTALLER, OBJECT_ANNOTATION, component_fact, is_variable_name};
use crate::model::finding::{Finding, Subject};
use crate::model::rule::{Level, RuleId};

use super::shell::quote;
use super::{hash, name};

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
    /// The script that installs it; empty where none is delivered.
    pub script: String,
    /// The installer's variables.
    pub env: BTreeMap<String, String>,
}

/// The bundle of each pool that has one, with a script where one is delivered. What prevents a delivery is reported.
pub fn deliveries(
    view: &ClusterView,
    registries: &RegistrySettings,
    has_script: bool,
    findings: &mut Vec<Finding>,
) -> Vec<Delivery> {
    let chosen = view.pool_bundles();
    let registries = has_script.then_some(registries);
    let delivery = |(pool, bundle): (&Pool, &Image)| match delivery(pool, bundle, registries) {
        Ok(delivery) => {
            let doubt =
                registries.and_then(|registries| certificate_problem(pool, bundle, registries));
            let doubt = doubt.map(|doubt| finding(view, pool, doubt).unless_set(Level::Warning));
            findings.extend(doubt);
            Some(delivery)
        }
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

/// The delivery of a bundle; with a script where the settings of registries are given.
fn delivery(
    pool: &Pool,
    bundle: &Image,
    registries: Option<&RegistrySettings>,
) -> Result<Delivery, Problem> {
    let problem = |message: String, help: &str| Problem {
        message,
        place: pool.bundle.place(),
        help: help.to_owned(),
    };
    let key = &bundle.key;
    let nowhere = || {
        let message = format!("nothing says where machines fetch component bundle `{key}` from");
        let help = "`uri: oci://REGISTRY/REPOSITORY:TAG`, or an address `https://…` of the tarball";
        problem(message, help)
    };
    let sha256 = bundle.facts.text(fact::SHA256).filter(|hex| is_sha256(hex));
    let reference = reference(bundle, sha256).ok_or_else(nowhere)?;
    let env = env(pool, bundle)?;
    let script = match (registries, sha256) {
        (None, _) => String::new(),
        (Some(registries), Some(sha256)) => {
            let url = tarball(bundle, sha256, registries).ok_or_else(nowhere)?;
            let pairs: Vec<(&str, &str)> = env.iter().map(|(k, v)| (&**k, &**v)).collect();
            let id = format!("{sha256}-{}", hash::compute(&format!("{pairs:?}")));
            text(&Script {
                title: &format!("Installs component bundle {key}."),
                url: &url,
                sha256,
                env: &pairs,
                id: &id,
            })
        }
        (Some(_), None) if bundle.digest.is_some() => {
            let message = format!(
                "component bundle `{key}` is no single tarball, and machines fetch one: it is locked, and has several layers or none"
            );
            let help = format!(
                "make one layer of it: `metalmark bundle unpack {reference} --to DIR`, then `metalmark bundle push DIR oci://… --kind components`"
            );
            return Err(problem(message, &help));
        }
        (Some(_), None) => {
            let message =
                format!("nothing says which bytes the tarball of component bundle `{key}` has");
            let help =
                "run `metalmark lock`, or give the tarball's `sha256` in `component_bundles`";
            return Err(problem(message, help));
        }
    };
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

/// The artifact by the digest that is known: the values' own or the lock's, or that of a tarball on a web server.
fn reference(bundle: &Image, sha256: Option<&str>) -> Option<String> {
    let uri = &*bundle.uri.as_ref()?.value;
    if !is_oci(uri) {
        return Some(sha256.map_or_else(|| uri.to_owned(), |hex| format!("{uri}@sha256:{hex}")));
    }
    let reference = Reference::parse(uri).ok()?;
    let digest = bundle.digest.as_ref().map(|digest| &digest.value);
    let pinned = digest.map(|digest| reference.with_digest(digest));
    Some(pinned.unwrap_or(reference).to_string())
}

/// The address of the tarball: that in the catalog, else the blob in the registry or its mirror, which is accessed as the project file
/// says.
fn tarball(bundle: &Image, sha256: &str, registries: &RegistrySettings) -> Option<String> {
    if let Some(url) = web_address(bundle) {
        return Some(url.to_owned());
    }
    let Reference {
        registry,
        repository,
        ..
    } = reachable_artifact(bundle, registries)?;
    let is_plain = registries
        .hosts
        .get(&registry)
        .is_some_and(|host| host.plain_http);
    let scheme = if is_plain { "http" } else { "https" };
    let server = registry.server();
    Some(format!(
        "{scheme}://{server}/v2/{repository}/blobs/sha256:{sha256}"
    ))
}

/// The artifact where machines reach it: a layout is in no network.
fn reachable_artifact(bundle: &Image, registries: &RegistrySettings) -> Option<Reference> {
    let reference = Reference::parse(&bundle.uri.as_ref()?.value).ok()?;
    match registries.mirror(&reference) {
        Some((Mirror::Prefix(prefix), rest)) => Some(reference.with_prefix(prefix, rest)),
        Some((Mirror::Layout(_), _)) | None => Some(reference),
    }
}

/// Where a web server has the tarball.
fn web_address(bundle: &Image) -> Option<&str> {
    let uri = bundle.uri.as_ref().map(|uri| &**uri.value.text());
    let addresses = [bundle.facts.text("url"), uri];
    { addresses.into_iter().flatten() }.find(|url| is_http(url))
}

/// That machines look at the certificate of a registry that the project file lets pass.
fn certificate_problem(
    pool: &Pool,
    bundle: &Image,
    registries: &RegistrySettings,
) -> Option<Problem> {
    if web_address(bundle).is_some() {
        return None;
    }
    let registry = reachable_artifact(bundle, registries)?.registry;
    let host = registries.hosts.get(&registry)?;
    host.skip_verify.then(|| Problem {
        message: format!(
            "machines refuse the certificate of `{registry}`, from which they fetch component bundle `{}`: `skip-verify` is only for metalmark",
            bundle.key
        ),
        place: pool.bundle.place(),
        help: "let their system trust its authority, or name a server that it trusts: `url: https://…` in `component_bundles`"
            .to_owned(),
    })
}

fn is_http(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// The publisher's variables, the catalog's and the pool's own: the later win.
fn env(pool: &Pool, bundle: &Image) -> Result<BTreeMap<String, String>, Problem> {
    let own = pool.bundle.env.iter();
    let own = own.map(|(name, value)| (&**name, &*value.value, value.place));
    let facts = |prefix: &'static str| {
        bundle.facts.iter().filter_map(move |(name, value)| {
            let name = name.strip_prefix(prefix)?;
            Some((name, &*value.value, value.place))
        })
    };
    let shared = facts(component_fact::ENV_DEFAULT).chain(facts(component_fact::ENV_VALUE));
    let mut env = BTreeMap::new();
    for (name, value, place) in shared.chain(own) {
        if is_opaque(value) {
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
        let path = ["annotations", OBJECT_ANNOTATION];
        object.set(&path, &*delivery.reference);
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
        let kind = template.text(&["kind"]).unwrap_or_default();
        let message = format!("`{kind}` has no field `componentsBundle`: the API server drops it");
        let finding = Finding::new(RuleId::ManifestInvalid, message)
            .unless_set(Level::Warning)
            .help("deliver the bundle by `component-bundles: secret` or `cloud-config`");
        findings.push(finding.with_subject(subject(view, &delivery.pool)));
        let reference = delivery.reference.trim_start_matches("oci://");
        let path = ["spec", "template", "spec", "componentsBundle"];
        template.set(&path, reference);
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
        append(registration, "write_files", file);
        append(registration, "runcmd", PATH);
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

/// Adds an item to a list of Elemental's cloud-config.
fn append(registration: &mut Node, list: &str, item: impl Into<Value>) {
    let path = ["spec", "config", "cloudConfig", list];
    let mut items = registration.items(&path).to_vec();
    items.push(Node::from_value(item));
    registration.set(&path, items);
}

#[cfg(test)]
mod tests;

// It needs `sh`, `curl`, `sha256sum` and `tar`, which the images of all distributions contain. All text from values is in single
// quotes, so that the shell never interprets it.

/// The variables of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Script<'a> {
    /// The title, in one line.
    pub title: &'a str,
    /// The address of the tarball.
    pub url: &'a str,
    /// The tarball's hex digest.
    pub sha256: &'a str,
    /// The installer's variables by name, sorted; the names are valid in a shell.
    pub env: &'a [(&'a str, &'a str)],
    /// The identity of this installation: the digest and the variables.
    pub id: &'a str,
}

/// The script. A second run with the same digest and variables does nothing, so it may run at every boot.
fn text(script: &Script<'_>) -> String {
    let mut variables = String::new();
    for (name, value) in script.env {
        let _ = write!(variables, " \\\n  {name}={}", quote(value));
    }
    // A line break would end the comment.
    let title = script.title.replace(['\n', '\r'], " ");
    format!(
        "\
#!/bin/sh
# {title}
set -eu
url={url}
sha256={sha256}
id={id}
state=/var/lib/component-bundle
if [ \"$(cat \"$state/installed\" 2>/dev/null || :)\" = \"$id\" ]; then
  exit 0
fi
mkdir -p \"$state\"
work=$(mktemp -d \"$state/work.XXXXXX\")
trap 'rm -rf \"$work\"' EXIT
get() {{
  curl --fail --silent --show-error --location --netrc-optional --retry 5 --connect-timeout 30 \"$@\"
}}
{FETCH}
printf '%s  %s\\n' \"$sha256\" \"$work/bundle\" | sha256sum -c - >/dev/null
mkdir \"$work/root\"
tar -x -f \"$work/bundle\" -C \"$work/root\"
cd \"$work/root\"
if [ ! -f {INSTALLER} ] || [ -L {INSTALLER} ] || [ ! -x {INSTALLER} ]; then
  echo 'the component bundle has no executable {INSTALLER} at its root' >&2
  exit 1
fi
env{variables} \\
  ./{INSTALLER}
printf '%s\\n' \"$id\" >\"$state/installed\"
",
        url = quote(script.url),
        sha256 = quote(script.sha256),
        id = quote(script.id),
    )
}

/// A registry may require a token, even for anonymous access (<https://distribution.github.io/distribution/spec/auth/token/>).
const FETCH: &str = r#"if ! get --output "$work/bundle" "$url" 2>"$work/error"; then
  curl --silent --show-error --location --head --output "$work/head" "$url"
  asked() {
    sed -n 's/^[Ww][Ww][Ww]-[Aa]uthenticate: *[Bb]earer.*[ ,]'"$1"'="\([^"]*\)".*/\1/p' "$work/head" | head -n 1
  }
  realm=$(asked realm)
  case $realm in
    http://* | https://*) ;;
    *)
      cat "$work/error" >&2
      exit 1
      ;;
  esac
  token=$(get --get --data-urlencode "service=$(asked service)" --data-urlencode "scope=$(asked scope)" "$realm" |
    sed -n 's/.*"\(access_\)\{0,1\}token" *: *"\([^"]*\)".*/\2/p' | head -n 1)
  get --header "Authorization: Bearer $token" --output "$work/bundle" "$url"
fi"#;
