//! `urlParse` and `urlJoin`: convert between a URL and a map of its parts.

use std::collections::BTreeMap;

use super::super::function::{Call, Function};
use super::super::print::quoted;
use super::super::signature::Type;
use super::super::{Error, ErrorClass, Value};
use super::url_text::{self, Url};

/// The functions of this module.
pub(super) const TABLE: &[Function] = &[
    Function::new("urlParse", &[Type::String], url_parse),
    Function::new("urlJoin", &[Type::Map], url_join),
];

fn url_parse(call: &mut Call<'_>) -> Result<Value, Error> {
    let text = call.string(0)?;
    call.ensure_room(text.len() * 4)?;
    call.work(text.len() / 8)?;
    let url = url_text::parse(&text)
        .map_err(|error| call.error(format!("`{}` is not a URL: {error}", quoted(&text))))?;
    let hostname = url.hostname().to_owned();
    let parts = [
        ("scheme", url.scheme),
        ("host", url.host),
        ("hostname", hostname),
        ("path", url.path),
        ("query", url.query),
        ("opaque", url.opaque),
        ("fragment", url.fragment),
        ("userinfo", url.userinfo.unwrap_or_default()),
    ];
    let entries: BTreeMap<_, _> = parts
        .into_iter()
        .map(|(key, part)| (key.into(), part.into()))
        .collect();
    Ok(Value::map(entries))
}

fn url_join(call: &mut Call<'_>) -> Result<Value, Error> {
    let map = call.map(0)?;
    let part = |key: &str| match map.get(key)? {
        None => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.to_string()),
        Some(other) => {
            let message = format!(
                "`{key}` of a URL must be a string, not `{}`",
                other.type_name()
            );
            Err(Error::new(ErrorClass::WrongType, message))
        }
    };
    let userinfo = part("userinfo")?;
    let userinfo = match userinfo.is_empty() {
        true => None,
        false => Some(url_text::userinfo(&userinfo).map_err(|error| {
            call.error(format!(
                "`{}` is not a user and password: {error}",
                quoted(&userinfo)
            ))
        })?),
    };
    let url = Url {
        scheme: part("scheme")?,
        userinfo,
        host: part("host")?,
        path: part("path")?,
        query: part("query")?,
        opaque: part("opaque")?,
        fragment: part("fragment")?,
    };
    let text = url.text();
    call.work(text.len() / 4)?;
    Ok(text.into())
}
