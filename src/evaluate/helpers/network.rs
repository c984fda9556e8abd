//! The helper that lists what is reached without a proxy.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::arguments::{fields, item, optional, string};
use super::interpreting::evaluated_string;
use crate::evaluate::session::Session;
use crate::helm::{Error, ErrorClass, Value, print};

/// What a byte of a list of names takes, if each name is one.
const NAME: usize = 32;

/// Networks of the cluster and what `no_proxy` and `no_proxy_additional` name, with commas; empty without a proxy.
pub(super) fn no_proxy(session: &Session, argument: &Value) -> Result<String, Error> {
    let dot = item(argument, 0)?;
    let proxies = fields(&dot, &["Values", "proxies"])?;
    let has_proxy = fields(&proxies, &["http_proxy"])?.truth()?
        || fields(&proxies, &["https_proxy"])?.truth()?;
    if !has_proxy {
        return Ok(String::new());
    }
    let mut names = networks(session, &fields(&dot, &["Values", "cluster"])?)?;
    let given = string(&fields(&proxies, &["no_proxy"])?, "`proxies.no_proxy`")?;
    session.budget.charge(given.len().saturating_mul(NAME))?;
    names.extend(given.split(',').map(str::to_owned));
    let additional = additional(session, &dot, argument)?;
    names.retain(|name| additional.get(&**name).is_none_or(|wanted| *wanted));
    let wanted = additional.iter().filter(|(_, wanted)| **wanted);
    names.extend(wanted.map(|(name, _)| name.to_string()));
    let mut known = HashSet::new();
    let kept = names.iter().filter(|name| !name.is_empty());
    let kept: Vec<&str> = kept
        .map(String::as_str)
        .filter(|name| known.insert(*name))
        .collect();
    Ok(kept.join(","))
}

/// The cluster's own networks: of its pods, its services, and Metal3's.
fn networks(session: &Session, cluster: &Value) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    for key in ["cluster_pods_cidrs", "cluster_services_cidrs"] {
        match fields(cluster, &[key])? {
            Value::List(list) => {
                for item in &list.items {
                    names.push(print::value(item, &session.budget)?);
                }
            }
            other => {
                return Err(Error::new(
                    ErrorClass::WrongType,
                    format!(
                        "`cluster.{key}` must be a list, and it is `{}`",
                        other.type_name()
                    ),
                ));
            }
        }
    }
    let metal3 = fields(cluster, &["capm3"])?;
    if metal3.truth()? {
        let networks = match fields(&metal3, &["networks"])? {
            Value::Map(networks) => session.budget.entries(&networks)?.into_values().collect(),
            Value::List(networks) => networks.items.clone(),
            _ => Vec::new(),
        };
        for network in networks {
            match fields(&network, &["subnet"])? {
                Value::Nil => {}
                subnet => names.push(print::value(&subnet, &session.budget)?),
            }
        }
    }
    Ok(names)
}

/// `no_proxy_additional` and the overrides of the call: each name, evaluated, and whether it is wanted.
fn additional(
    session: &Session,
    dot: &Value,
    argument: &Value,
) -> Result<BTreeMap<Arc<str>, bool>, Error> {
    let mut wanted = BTreeMap::new();
    let own = fields(dot, &["Values", "no_proxy_additional"])?;
    for source in [Some(own), optional(argument, 1)].into_iter().flatten() {
        if let Value::Map(source) = source {
            for (name, value) in session.budget.entries(&source)? {
                let name = evaluated_string(session, dot, &Value::String(name))?;
                wanted.insert(name, value.truth()?);
            }
        }
    }
    Ok(wanted)
}
