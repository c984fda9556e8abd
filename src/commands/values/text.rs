//! Why a value is what it is, in words.

use std::io::{self, Write};

use serde_json::Value as Json;

use crate::model::value::Value;

use super::flat;
use super::origin::Origin;
use super::why::{Account, Effect, Link, Setting};

/// The whole answer.
pub(super) fn account(account: &Account, out: &mut dyn Write) -> io::Result<()> {
    match &account.result {
        Some(result) if result.value.is_object() || result.value.is_array() => {
            writeln!(out, "{} is {}", account.path, result.kind)?;
        }
        Some(result) => writeln!(
            out,
            "{} is {}: {}",
            account.path,
            result.kind,
            shown(&result.value)
        )?,
        None if account.fails => writeln!(out, "{} cannot be evaluated", account.path)?,
        None => writeln!(out, "{} has no value", account.path)?,
    }
    writeln!(out, "set by, the last one wins")?;
    for setting in &account.layers {
        self::setting(setting, &account.path, out)?;
    }
    if account.layers.is_empty() {
        writeln!(out, "  no layer")?;
    }
    let Some(link) = &account.expression else {
        return Ok(());
    };
    // What is written there was told with the layers.
    match &link.value {
        Some(value) => writeln!(out, "evaluated to {}", shown(value))?,
        None => writeln!(out, "evaluated by {}", link.path)?,
    }
    reads(link, 1, out)
}

fn setting(setting: &Setting, asked: &str, out: &mut dyn Write) -> io::Result<()> {
    let what = match setting.effect {
        Effect::Sets => shown(&setting.value),
        Effect::Merges => format!("merges {}", shown(&setting.value)),
        Effect::Removes => "null, which removes it".to_owned(),
    };
    let above = match setting.path == asked {
        true => String::new(),
        false => format!("{}: ", setting.path),
    };
    writeln!(out, "  {above}{what}{}", at(setting.origin.as_ref()))
}

fn reads(link: &Link, depth: usize, out: &mut dyn Write) -> io::Result<()> {
    let indent = "  ".repeat(depth);
    for read in &link.reads {
        let (path, written) = (&read.path, shown(&read.written));
        let at = at(read.origin.as_ref());
        writeln!(out, "{indent}reads {path}: {written}{at}")?;
        if let Some(value) = &read.value {
            writeln!(out, "{indent}  which is {}", shown(value))?;
        }
        reads(read, depth + 1, out)?;
    }
    Ok(())
}

fn at(origin: Option<&Origin>) -> String {
    origin
        .map(|origin| format!("  # {origin}"))
        .unwrap_or_default()
}

/// A value on one line.
fn shown(json: &Json) -> String {
    match json {
        Json::Object(map) if !map.is_empty() => {
            let keys: Vec<&str> = map.keys().map(String::as_str).collect();
            format!("a map of {}", keys.join(", "))
        }
        Json::Array(items) if !items.is_empty() => format!("a list of {}", items.len()),
        scalar => flat(&Value::from(scalar.clone())),
    }
}
