//! `urlParse` and `urlJoin`: convert between a URL, parsed and formatted as Go's `net/url` does, and a map of its parts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::super::function::{Call, Function, Type};
use super::super::print::excerpt;
use super::super::{Error, ErrorClass, Value};

/// The functions of this module.
pub(super) const TABLE: &[Function] = &[
    Function::new("urlParse", &[Type::String], url_parse),
    Function::new("urlJoin", &[Type::Map], url_join),
];

fn url_parse(call: &mut Call<'_>) -> Result<Value, Error> {
    let text = call.string(0)?;
    let url = parse(&text)
        .map_err(|error| call.error(format!("`{}` is not a URL: {error}", excerpt(&text))))?;
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
    let userinfo = if userinfo.is_empty() {
        None
    } else {
        Some(escape_userinfo(&userinfo).map_err(|error| {
            call.error(format!(
                "`{}` is not a user and password: {error}",
                excerpt(&userinfo)
            ))
        })?)
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
    Ok(url.text().into())
}

/// The parts of a URL, unescaped except for the query and the user information.
#[derive(Debug, Default, PartialEq, Eq)]
struct Url {
    scheme: String,
    /// The user and password before the host, escaped.
    userinfo: Option<String>,
    host: String,
    path: String,
    query: String,
    /// The rest after the scheme, if it does not start with a slash.
    opaque: String,
    fragment: String,
}

/// Parses a URL. An error describes what is wrong with it.
fn parse(text: &str) -> Result<Url, &'static str> {
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return Err("it has a control character");
    }
    let (scheme, rest) = scheme(text)?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let mut url = Url {
        scheme: scheme.to_ascii_lowercase(),
        query: query.to_owned(),
        fragment: unescape(fragment)?,
        ..Url::default()
    };
    if !rest.starts_with('/') {
        if !scheme.is_empty() {
            url.opaque = rest.to_owned();
            return Ok(url);
        }
        if rest
            .split('/')
            .next()
            .is_some_and(|first| first.contains(':'))
        {
            return Err("the first part of its path has a colon");
        }
    }
    let authority = rest
        .strip_prefix("//")
        .filter(|rest| !scheme.is_empty() || !rest.starts_with('/'));
    let path = match authority {
        None => rest,
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            (url.userinfo, url.host) = user_and_host(authority)?;
            path
        }
    };
    url.path = unescape(path)?;
    Ok(url)
}

impl Url {
    /// The host without port and brackets.
    fn hostname(&self) -> &str {
        if let Some((inside, _)) = self
            .host
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'))
        {
            return inside;
        }
        self.host
            .rsplit_once(':')
            .map_or(&*self.host, |(name, _)| name)
    }

    /// The escaped text of the URL.
    fn text(&self) -> String {
        let mut out = String::new();
        if !self.scheme.is_empty() {
            out.push_str(&self.scheme);
            out.push(':');
        }
        if self.opaque.is_empty() {
            self.write_hierarchy(&mut out);
        } else {
            out.push_str(&self.opaque);
        }
        if !self.query.is_empty() {
            out.push('?');
            out.push_str(&self.query);
        }
        if !self.fragment.is_empty() {
            out.push('#');
            escape(&mut out, &self.fragment, "$&+,/:;=?@!()*");
        }
        out
    }

    fn write_hierarchy(&self, out: &mut String) {
        if !self.host.is_empty()
            || self.userinfo.is_some()
            || (!self.scheme.is_empty() && !self.path.is_empty())
        {
            out.push_str("//");
        }
        if let Some(userinfo) = &self.userinfo {
            out.push_str(userinfo);
            out.push('@');
        }
        escape(out, &self.host, "!$&'()*+,;=:[]<>\"");
        if !self.path.is_empty() && !self.path.starts_with('/') && !self.host.is_empty() {
            out.push('/');
        }
        let first = self.path.split('/').next().unwrap_or_default();
        if out.is_empty() && first.contains(':') {
            out.push_str("./");
        }
        if self.path == "*" {
            out.push('*');
        } else {
            escape(out, &self.path, "$&+,/:;=@");
        }
    }
}

fn scheme(text: &str) -> Result<(&str, &str), &'static str> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c));
    match end {
        Some(0) if text.starts_with(':') => Err("it has no scheme before the colon"),
        Some(end)
            if text[end..].starts_with(':')
                && text.starts_with(|c: char| c.is_ascii_alphabetic()) =>
        {
            Ok((&text[..end], &text[end + 1..]))
        }
        _ => Ok(("", text)),
    }
}

fn user_and_host(authority: &str) -> Result<(Option<String>, String), &'static str> {
    match authority.rsplit_once('@') {
        None => Ok((None, host(authority)?)),
        Some((user, host)) => {
            let host = self::host(host)?;
            Ok((Some(escape_userinfo(user)?), host))
        }
    }
}

fn host(text: &str) -> Result<String, &'static str> {
    let port = if text.starts_with('[') {
        let end = text.rfind(']').ok_or("its host has no `]`")?;
        &text[end + 1..]
    } else if text.contains('[') {
        return Err("its host has a `[`");
    } else {
        text.rfind(':').map_or("", |colon| &text[colon..])
    };
    let digits = port.strip_prefix(':').unwrap_or(port);
    let is_port = digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_port || (digits.len() == port.len() && !port.is_empty()) {
        return Err("its port is not a number");
    }
    if text
        .bytes()
        .any(|byte| byte == b' ' || (byte.is_ascii() && "\\^`{|}".contains(char::from(byte))))
    {
        return Err("its host has an invalid character");
    }
    unescape(text)
}

/// Unescapes a user, or a user and password, and escapes it in Go's normal form.
fn escape_userinfo(text: &str) -> Result<String, &'static str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    if !text.chars().all(fits) {
        return Err("its user has an invalid character");
    }
    let mut out = String::new();
    let (user, password) = text
        .split_once(':')
        .map_or((text, None), |(user, password)| (user, Some(password)));
    escape(&mut out, &unescape(user)?, "$&+,;=");
    if let Some(password) = password {
        out.push(':');
        escape(&mut out, &unescape(password)?, "$&+,;=");
    }
    Ok(out)
}

/// Replaces `%41` with `A`, and so on.
fn unescape(text: &str) -> Result<String, &'static str> {
    let mut unescaped = Vec::with_capacity(text.len());
    let mut pieces = text.split('%');
    unescaped.extend_from_slice(pieces.next().unwrap_or_default().as_bytes());
    for piece in pieces {
        let code = piece
            .get(..2)
            .filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .ok_or("a `%` is not followed by two hexadecimal digits")?;
        unescaped.push(u8::from_str_radix(code, 16).unwrap_or_default());
        unescaped.extend_from_slice(&piece.as_bytes()[2..]);
    }
    String::from_utf8(unescaped).map_err(|_| "its bytes are not UTF-8")
}

/// Appends a text; each byte that is neither unreserved nor in `allowed` becomes `%` and two digits.
fn escape(out: &mut String, text: &str, allowed: &str) {
    for byte in text.bytes() {
        let c = char::from(byte);
        if c.is_ascii_alphanumeric() || "-_.~".contains(c) || allowed.contains(c) {
            out.push(c);
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
}
