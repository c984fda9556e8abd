//! `sylva-units.no_proxy`: the helper that lists what must be reached without a proxy.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use go_template::{Error, Value, print};

use super::arguments::{fields, item, optional, string, wrong_type};
use super::interpreting::evaluate_string;
use crate::evaluate::session::Session;

/// The networks of the cluster, and the names in `no_proxy` and `no_proxy_additional`, separated by commas; empty if the cluster
/// has no proxy.
pub(super) fn no_proxy(session: &Session, argument: &Value) -> Result<String, Error> {
    let dot = item(argument, 0)?;
    let proxies = fields(&dot, &["Values", "proxies"])?;
    let has_proxy = fields(&proxies, &["http_proxy"])?.truth()?
        || fields(&proxies, &["https_proxy"])?.truth()?;
    if !has_proxy {
        return Ok(String::new());
    }
    let mut names = networks(&fields(&dot, &["Values", "cluster"])?)?;
    let given = string(&fields(&proxies, &["no_proxy"])?, "`proxies.no_proxy`")?;
    names.extend(given.split(',').map(str::to_owned));
    let additional = additional(session, &dot, argument)?;
    names.retain(|name| additional.get(&**name).is_none_or(|included| *included));
    let included = additional.iter().filter(|(_, included)| **included);
    names.extend(included.map(|(name, _)| name.to_string()));
    let mut known = HashSet::new();
    let kept: Vec<&str> = { names.iter().map(String::as_str) }
        .filter(|name| !name.is_empty() && known.insert(*name))
        .collect();
    Ok(kept.join(","))
}

/// The networks of the cluster: of its pods, of its services, and of Metal3.
fn networks(cluster: &Value) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    for key in ["cluster_pods_cidrs", "cluster_services_cidrs"] {
        match fields(cluster, &[key])? {
            Value::List(list) => {
                for item in &list.items {
                    names.push(print::value(item)?);
                }
            }
            other => return Err(wrong_type(&format!("`cluster.{key}`"), "a list", &other)),
        }
    }
    let metal3 = fields(cluster, &["capm3"])?;
    if metal3.truth()? {
        let networks = match fields(&metal3, &["networks"])? {
            Value::Map(networks) => networks.entries()?.into_values().collect(),
            Value::List(networks) => networks.items.clone(),
            _ => Vec::new(),
        };
        for network in networks {
            match fields(&network, &["subnet"])? {
                Value::Nil => {}
                subnet => names.push(print::value(&subnet)?),
            }
        }
    }
    Ok(names)
}

/// The evaluated names of `no_proxy_additional` and of the optional argument, and whether each one is included.
fn additional(
    session: &Session,
    dot: &Value,
    argument: &Value,
) -> Result<BTreeMap<Arc<str>, bool>, Error> {
    let mut names = BTreeMap::new();
    let own = fields(dot, &["Values", "no_proxy_additional"])?;
    for source in [Some(own), optional(argument, 1)].into_iter().flatten() {
        if let Value::Map(source) = source {
            for (name, value) in source.entries()? {
                let name = evaluate_string(session, dot, &Value::String(name))?;
                names.insert(name, value.truth()?);
            }
        }
    }
    Ok(names)
}
