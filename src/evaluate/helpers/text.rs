//! The helpers for texts and versions.

use go_template::{Error, ErrorClass, Value, print};

use super::arguments::{item, map, optional, string};
use super::interpreting::truth;
use crate::evaluate::session::Session;
use crate::evaluate::text::unshield;

/// `k8s-version-match`: `true` if a version, without its pre-release, satisfies a constraint, else an empty string.
pub(super) fn k8s_version_match(session: &Session, argument: &Value) -> Result<String, Error> {
    let constraint = item(argument, 0)?;
    let version = string(
        &item(argument, 1)?,
        "the version argument of `k8s-version-match`",
    )?;
    let release = strip_pre_releases(&version);
    let matches = session.function("semverCompare", &[constraint, Value::from(release)])?;
    Ok(truth(matches.truth()?))
}

/// Removes everything between a hyphen and the next plus sign. Like Sylva's template, this also removes from hyphens in the build
/// metadata on.
fn strip_pre_releases(text: &str) -> String {
    let mut kept = String::new();
    let mut skipping = false;
    for character in text.chars() {
        skipping = match character {
            '-' => true,
            '+' => false,
            _ => skipping,
        };
        if !skipping {
            kept.push(character);
        }
    }
    kept
}

/// The entries of a map, sorted by key, such as `a=x,b=1`.
pub(super) fn dict_to_key_values_separated_string(
    _: &Session,
    argument: &Value,
) -> Result<String, Error> {
    let separator = |index, default: &str| match optional(argument, index) {
        Some(given) => print::value(&given),
        None => Ok(default.to_owned()),
    };
    let (equals, comma) = (separator(1, "=")?, separator(2, ",")?);
    let entries = match item(argument, 0)? {
        Value::Nil => return Ok(String::new()),
        other => map(&other, "the argument to join")?.entries()?,
    };
    let mut text = String::new();
    for (index, (key, value)) in entries.iter().enumerate() {
        let value = print::value(value)?;
        if index > 0 {
            text.push_str(&comma);
        }
        text.push_str(key);
        text.push_str(&equals);
        text.push_str(&value);
    }
    Ok(text)
}

/// Reverts the escaping of `(raw)` values.
pub(super) fn unshield_raw(_: &Session, argument: &Value) -> Result<String, Error> {
    match argument {
        Value::String(text) => Ok(unshield(text).unwrap_or_else(|| text.to_string())),
        other => {
            let found = other.type_name();
            let message = format!("`unshield-raw` needs a string and got `{found}`");
            Err(Error::new(ErrorClass::WrongType, message))
        }
    }
}
