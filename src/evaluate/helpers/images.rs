//! The helpers for operating system images: the generated list, and the selectors of clusters.
//!
//! Source: sylva-core `_os-images.tpl` and sylva-library `_os_images.tpl`; docs/sylva.md.

use std::collections::BTreeMap;
use std::slice;
use std::sync::Arc;

use go_template::value::Map;
use go_template::{Error, Value};

use super::arguments::{excerpt, fail, fields, item, map, string};
use super::interpreting::evaluate_string;
use crate::evaluate::convert;
use crate::evaluate::session::Session;

/// The keys that a selector may have unless it has `_use_extra_keys_` (from sylva-library 0.3.5).
const SELECTOR_KEYS: &[&str] = &[
    "_use_extra_keys_",
    "_os_images_key_",
    "os",
    "os-release",
    "k8s-flavor",
    "k8s-version",
    "hardened",
    "commit-tag",
    "flavor",
];

/// `os_images` as YAML text: the entries in the values, then one entry for each image of the builder.
pub(super) fn generate_os_images(session: &Session, dot: &Value) -> Result<String, Error> {
    let written = fields(dot, &["Values", "os_images"])?;
    let built = builder_images(session, dot)?;
    let mut text = "os_images:".to_owned();
    let mut write = |images: &Value| -> Result<(), Error> {
        let yaml = session.function("toYaml", slice::from_ref(images))?;
        let indented = session.function("indent", &[Value::Int(2), yaml])?;
        text.push('\n');
        text.push_str(&string(&indented, "YAML")?);
        Ok(())
    };
    if written.truth()? {
        write(&written)?;
    }
    if built.truth()? {
        write(&built)?;
    }
    if !written.truth()? && !built.truth()? {
        write(&Value::map(BTreeMap::new()))?;
    }
    Ok(text)
}

/// The images of the builder as JSON.
pub(super) fn images_from_diskimagebuilder(
    session: &Session,
    dot: &Value,
) -> Result<String, Error> {
    let images = builder_images(session, dot)?;
    convert::json(&images)
}

fn builder_images(session: &Session, dot: &Value) -> Result<Value, Error> {
    let values = map(&fields(dot, &["Values"])?, "`.Values`")?;
    let value = |key: &str| Ok::<_, Error>(values.get(key)?.unwrap_or(Value::Nil));
    let images = session.interpret(dot, &value("sylva_diskimagebuilder_images")?, 0)?;
    evaluate_string(session, dot, &value("sylva_diskimagebuilder_version")?)?;
    let registries = session.interpret(dot, &value("os_images_oci_registries")?, 0)?;
    let mut built = BTreeMap::new();
    let images = match images {
        Value::Nil => BTreeMap::new(),
        images => {
            let images = map(&images, "`sylva_diskimagebuilder_images`")?;
            images.entries()?
        }
    };
    for (key, properties) in images {
        let registry = fields(&properties, &["os_images_oci_registry"])?;
        let name = string(&registry, "`os_images_oci_registry`")?;
        let known = match &registries {
            Value::Map(registries) => registries.get(&name)?,
            _ => None,
        };
        let Some(known) = known else {
            return fail(format!(
                "`sylva_diskimagebuilder_images.{key}` names the registry `{name}`, which `os_images_oci_registries` does not define"
            ));
        };
        let known = map(&known, &format!("`os_images_oci_registries.{name}`"))?;
        if let Some(entry) = builder_image(session, &key, &known)? {
            built.insert(key, entry);
        }
    }
    Ok(Value::map(built))
}

/// The entry of an image; none if its registry is disabled.
fn builder_image(
    session: &Session,
    key: &Arc<str>,
    registry: &Map,
) -> Result<Option<Value>, Error> {
    let setting =
        |name: &str, default: Value| Ok::<_, Error>(registry.get(name)?.unwrap_or(default));
    if !setting("enabled", Value::Bool(true))?.truth()? {
        return Ok(None);
    }
    let uri = session.function(
        "printf",
        &[
            Value::from("%s/%s:%s"),
            setting("url", Value::from(""))?,
            Value::String(Arc::clone(key)),
            setting("tag", Value::from(""))?,
        ],
    )?;
    let entry = [
        ("uri", uri),
        ("sylva_dib_image", Value::Bool(true)),
        (
            "cosign_publickey",
            setting("cosign_publickey", Value::from(""))?,
        ),
    ];
    let entry = entry.map(|(name, value)| (Arc::from(name), value));
    Ok(Some(Value::map(BTreeMap::from(entry))))
}

/// The Kubernetes flavor of a bootstrap provider (docs/sylva.md#what-is-added-to-a-selector).
pub(super) fn k8s_flavor_from_cabpx(_session: &Session, provider: &Value) -> Result<String, Error> {
    flavor(provider).map(str::to_owned)
}

fn flavor(provider: &Value) -> Result<&'static str, Error> {
    let name = match provider {
        Value::String(name) => &**name,
        _ => "",
    };
    match name {
        "cabpk" => Ok("kubeadm"),
        "cabpr" => Ok("rke2"),
        "cabpoa" => Ok("openshift"),
        "cabpck" => Ok("ck8s"),
        _ => fail(format!(
            "no Kubernetes flavor is known for the bootstrap provider `{}`",
            excerpt(provider)
        )),
    }
}

/// A selector with the cluster's Kubernetes version and flavor added, as JSON (docs/sylva.md#what-is-added-to-a-selector).
pub(super) fn finalize_os_image_selector(
    session: &Session,
    argument: &Value,
) -> Result<String, Error> {
    let selector = finalize(session, &item(argument, 0)?, &item(argument, 1)?)?;
    convert::json(&selector)
}

fn finalize(session: &Session, cluster: &Value, selector: &Value) -> Result<Value, Error> {
    let version = string(&fields(cluster, &["k8s_version"])?, "`k8s_version`")?;
    let version = version.strip_prefix('v').unwrap_or(&version);
    let provider = fields(cluster, &["capi_providers", "bootstrap_provider"])?;
    let defaults = [
        ("k8s-version", Value::from(version.replace('+', "\\+"))),
        ("k8s-flavor", Value::from(flavor(&provider)?)),
    ];
    let defaults = defaults.map(|(name, value)| (Arc::from(name), value));
    let selector = session.function("deepCopy", slice::from_ref(selector))?;
    session.function(
        "mergeOverwrite",
        &[Value::map(BTreeMap::from(defaults)), selector],
    )
}

/// The selectors of the control plane and of every machine deployment, as a JSON list (docs/sylva.md#selection-levels).
pub(super) fn find_cluster_image_selectors(
    session: &Session,
    argument: &Value,
) -> Result<String, Error> {
    let cluster = item(argument, 0)?;
    let infra = fields(&cluster, &["capi_providers", "infra_provider"])?;
    let level = |holder: &Value, keys: &[&str]| {
        let mut arguments: Vec<Value> = keys.iter().map(|key| Value::from(*key)).collect();
        arguments.extend([infra.clone(), Value::map(BTreeMap::new()), holder.clone()]);
        let found = session.function("dig", &arguments)?;
        session.function("deepCopy", &[found])
    };
    let over = |lower: &Value, upper: Value| {
        let lower = session.function("deepCopy", slice::from_ref(lower))?;
        session.function("mergeOverwrite", &[lower, upper])
    };
    let root = level(&cluster, &[])?;
    let mut selectors = Vec::new();
    let control_plane = over(&root, level(&cluster, &["control_plane"])?)?;
    selectors.extend(selector_of(session, &cluster, &control_plane)?);
    let default = over(&root, level(&cluster, &["machine_deployment_default"])?)?;
    if let Value::Map(deployments) = fields(&cluster, &["machine_deployments"])? {
        for deployment in deployments.entries()?.values() {
            let own = over(&default, level(deployment, &[])?)?;
            selectors.extend(selector_of(session, &cluster, &own)?);
        }
    }
    convert::json(&Value::list(selectors))
}

fn selector_of(session: &Session, cluster: &Value, level: &Value) -> Result<Option<Value>, Error> {
    let written = fields(level, &["os_image_selector"])?;
    let selector = if written.truth()? {
        finalize(session, cluster, &written)?
    } else {
        Value::map(BTreeMap::new())
    };
    let selector = map(&selector, "`os_image_selector`")?;
    let key = fields(level, &["image_key"])?;
    if key.truth()? {
        selector.set("_os_images_key_", key);
    }
    validate(&selector)?;
    Ok((!selector.is_empty()?).then_some(Value::Map(selector)))
}

/// Checks that a selector has supported keys only, and that its values are strings or booleans.
fn validate(selector: &Map) -> Result<(), Error> {
    let entries = selector.entries()?;
    for (key, value) in &entries {
        if !SELECTOR_KEYS.contains(&&**key) && !entries.contains_key("_use_extra_keys_") {
            return fail(format!("`{key}` is not a supported selector key"));
        }
        if !matches!(value, Value::String(_) | Value::Bool(_)) {
            return fail(format!(
                "the selector's `{key}` must be a string or a boolean, and it is `{}`",
                excerpt(value)
            ));
        }
    }
    Ok(())
}
