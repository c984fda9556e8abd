//! The helpers for units: whether one is enabled, its chart version, and the merging of definitions.

use std::sync::Arc;

use go_template::value::Map;
use go_template::{Error, ErrorClass, Value};
use yaml_tree::value as tree;

use super::arguments::{excerpt, fail, fields, item, items, map};
use super::interpreting::{evaluate_boolean, evaluate_string, truth};
use crate::evaluate::convert::{DEEPEST, too_deep};
use crate::evaluate::failure::keep_message;
use crate::evaluate::path::Path;
use crate::evaluate::session::Session;

/// `unit-enabled`: `true` if a unit is enabled, else an empty string (docs/expressions.md#helpers).
pub(super) fn unit_enabled(session: &Session, argument: &Value) -> Result<String, Error> {
    let dot = item(argument, 0)?;
    let name = evaluate_string(session, &dot, &item(argument, 1)?)?;
    let context = format!(" (unit:{name})");
    let Value::Map(units) = fields(&dot, &["Values", "units"])? else {
        let message = "`.Values.units` must be a map";
        return Err(Error::new(ErrorClass::WrongType, message));
    };
    let unit = match units.get(&name)? {
        Some(Value::Map(unit)) if !unit.is_empty()? => unit,
        _ => {
            return fail(format!(
                "`unit-enabled` is called for the unit `{name}`, which does not exist"
            ));
        }
    };
    let mut enabled = is_enabled_by_itself(session, &dot, &name, &unit, &context)?;
    if enabled {
        for condition in conditions(session, &dot, &name, &unit) {
            enabled = evaluate_boolean(session, &dot, &condition?, &context)?;
            if !enabled {
                break;
            }
        }
    }
    Ok(truth(enabled))
}

/// Whether the unit is enabled without regard to its conditions.
fn is_enabled_by_itself(
    session: &Session,
    dot: &Value,
    name: &str,
    unit: &Map,
    context: &str,
) -> Result<bool, Error> {
    let values = map(&fields(dot, &["Values"])?, "`.Values`")?;
    if let Some(list) = values.get("units_override_enabled")? {
        let list = session.interpret(dot, &list, 0)?;
        let enabled = session.function("has", &[Value::from(name), list])?;
        return enabled.truth();
    }
    match unit.get("enabled")? {
        Some(enabled) => evaluate_boolean(session, dot, &enabled, context),
        None => fields(dot, &["Values", "units_enabled_default"])?.truth(),
    }
}

/// The conditions as an iterator, so that those after a false one are not evaluated.
fn conditions<'a>(
    session: &'a Session,
    dot: &'a Value,
    name: &str,
    unit: &Map,
) -> Box<dyn Iterator<Item = Result<Value, Error>> + 'a> {
    if !session.is_exact()
        && session.is_root(dot)
        && let Some((node, path)) = session.raw(&["units", name, "enabled_conditions"])
        && let tree::Value::List(conditions) = node.value
    {
        let zone = session.zone();
        return Box::new((0..conditions.len()).map(move |index| {
            let path: Path = path.index(index);
            session
                .value(&conditions[index], &path, zone)
                .map_err(keep_message)
        }));
    }
    match unit.get("enabled_conditions") {
        Ok(Some(Value::List(list))) => {
            Box::new((0..list.items.len()).map(move |index| Ok(list.items[index].clone())))
        }
        Ok(_) => Box::new(std::iter::empty()),
        Err(error) => Box::new(std::iter::once(Err(error))),
    }
}

/// `get-helm-version`: the key in a unit's `helm_chart_versions` whose value is true.
pub(super) fn get_helm_version(session: &Session, argument: &Value) -> Result<String, Error> {
    let dot = item(argument, 0)?;
    let mut unit = item(argument, 2)?;
    if session.is_exact() {
        unit = session.interpret(&dot, &unit, 0)?;
    }
    let versions = map(&unit, "the unit's definition")?
        .get("helm_chart_versions")?
        .unwrap_or_else(|| Value::from(""));
    let versions = session.interpret(&dot, &versions, 0)?;
    let mut enabled_version: Option<Arc<str>> = None;
    for (version, enabled) in map(&versions, "`helm_chart_versions`")?.entries()? {
        if !enabled.truth()? {
            continue;
        }
        if let Some(other) = enabled_version.filter(|other| !other.is_empty()) {
            let name = excerpt(&item(argument, 1)?);
            return fail(format!(
                "unit `{name}` enables more than one version in `helm_chart_versions`: `{other}` and `{version}`"
            ));
        }
        enabled_version = Some(version);
    }
    Ok(enabled_version.map_or_else(String::new, |version| version.to_string()))
}

/// `merge-append`: merges maps into the first one. Nested maps are merged, lists are appended, other values are overwritten.
pub(super) fn merge_append(session: &Session, argument: &Value) -> Result<String, Error> {
    let Some((target, sources)) = items(argument).split_first() else {
        return Ok(String::new());
    };
    for source in sources {
        merge(session, target, source, 0)?;
    }
    Ok(String::new())
}

fn merge(session: &Session, target: &Value, source: &Value, depth: u32) -> Result<(), Error> {
    if depth > DEEPEST {
        return Err(too_deep());
    }
    let (Value::Map(target), Value::Map(source)) = (target, source) else {
        let is_map = matches!(source, Value::Map(_));
        let other = if is_map { target } else { source };
        return fail(format!(
            "`merge-append` merges maps, and `{}` is `{}`",
            excerpt(other),
            other.kind()
        ));
    };
    // A map that is merged into itself doubles its lists, as in Sylva's template.
    for (key, value) in source.entries()? {
        let merged = match (target.get(&key)?, &value) {
            (Some(Value::List(_)), Value::List(_)) => {
                let before = target.get(&key)?.unwrap_or(Value::Nil);
                session.function("concat", &[before, value])?
            }
            (Some(before @ Value::Map(_)), Value::Map(_)) => {
                merge(session, &before, &value, depth + 1)?;
                continue;
            }
            (_, Value::Map(_)) => session.function("deepCopy", &[value])?,
            _ => value,
        };
        target.set(&key, merged);
    }
    Ok(())
}
