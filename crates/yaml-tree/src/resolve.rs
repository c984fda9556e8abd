//! Resolves the types of scalars: YAML 1.1 as implemented by go-yaml v2, then JSON.
//!
//! Sexagesimal numbers (`12:30:45`) and dates remain strings, `yes` and `on` are booleans, and a leading zero means octal.

use std::sync::Arc;

use crate::engine::Engine;
use crate::json::format_float_go;
use crate::value::{Number, Value};

use super::notice::Misreading;

/// The type and value of a scalar before the conversion to JSON.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Resolved {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer above the range of a signed 64-bit integer.
    Uint(u64),
    Float(f64),
    /// The text itself.
    Text,
    /// The text, decoded from base64.
    Binary,
}

const STR: &str = "tag:yaml.org,2002:str";
const BOOL: &str = "tag:yaml.org,2002:bool";
const INT: &str = "tag:yaml.org,2002:int";
const FLOAT: &str = "tag:yaml.org,2002:float";
const NULL: &str = "tag:yaml.org,2002:null";
const TIMESTAMP: &str = "tag:yaml.org,2002:timestamp";
const BINARY: &str = "tag:yaml.org,2002:binary";
pub(super) const MERGE: &str = "tag:yaml.org,2002:merge";

/// Resolves a scalar without tag and quotes.
pub(super) fn plain(text: &str) -> Resolved {
    match text.as_bytes().first() {
        None | Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => {
            word(text).unwrap_or(Resolved::Text)
        }
        Some(b'.') => word(text).or_else(|| float(text)).unwrap_or(Resolved::Text),
        Some(b'+' | b'-' | b'0'..=b'9') => word(text)
            .or_else(|| number(text))
            .unwrap_or(Resolved::Text),
        Some(_) => Resolved::Text,
    }
}

/// Resolves a scalar with a tag. The error is the type that the tag requires.
pub(super) fn with_tag(tag: &str, text: &str) -> Result<Resolved, &'static str> {
    let found = plain(text);
    match (tag, found) {
        (BINARY, _) => Ok(Resolved::Binary),
        (BOOL, Resolved::Bool(_)) | (NULL, Resolved::Null) => Ok(found),
        (INT, Resolved::Int(_) | Resolved::Uint(_)) | (FLOAT, Resolved::Float(_)) => Ok(found),
        (FLOAT, Resolved::Int(number)) => Ok(Resolved::Float(number as f64)),
        (TIMESTAMP, _) if is_timestamp(text) => Ok(Resolved::Text),
        (BOOL, _) => Err("a boolean"),
        (INT, _) => Err("an integer"),
        (FLOAT, _) => Err("a number"),
        (NULL, _) => Err("null"),
        (TIMESTAMP, _) => Err("a date"),
        (STR, _) | (_, _) => Ok(Resolved::Text),
    }
}

/// Converts a scalar by way of JSON: Helm has only floats, kubectl keeps numbers that are written as an integer of up to 64 bits.
/// None for a number that JSON cannot represent.
pub(super) fn value(resolved: Resolved, text: &str, engine: Engine) -> Option<Value> {
    let number = match resolved {
        Resolved::Null => return Some(Value::Null),
        Resolved::Bool(flag) => return Some(Value::Bool(flag)),
        Resolved::Text | Resolved::Binary => return Some(Value::from(text)),
        Resolved::Float(number) if !number.is_finite() => return None,
        Resolved::Int(number) if engine == Engine::Kubectl => Number::Int(number),
        Resolved::Int(number) => Number::Float(number as f64),
        Resolved::Uint(number) => Number::Float(number as f64),
        Resolved::Float(number) if engine == Engine::Kubectl => format_float_go(number)
            .parse()
            .map_or(Number::Float(number), Number::Int),
        Resolved::Float(number) => Number::Float(number),
    };
    Some(Value::Number(number))
}

/// The text of a key, because keys in JSON are strings; `value` is the converted key. The error says what cannot be a key.
pub(super) fn key_text(resolved: Resolved, value: &Value) -> Result<Arc<str>, &'static str> {
    let text = match (resolved, value) {
        (Resolved::Text | Resolved::Binary, Value::String(text)) => return Ok(Arc::clone(text)),
        (Resolved::Bool(flag), _) => flag.to_string(),
        (Resolved::Int(number), _) => number.to_string(),
        (Resolved::Float(number), _) => float_key(number),
        (Resolved::Uint(_), _) => return Err("an integer of more than 63 bits"),
        (Resolved::Null | Resolved::Text | Resolved::Binary, _) => return Err("null"),
    };
    Ok(text.into())
}

/// Whether a scalar is evidently what it looks like: `true`, `false`, or an integer in its usual spelling. Most are.
pub(super) fn is_as_written(resolved: Resolved, text: &str) -> bool {
    /// Digits of an integer that every reader keeps.
    const EXACT: usize = 15;
    let digits = text.as_bytes();
    match resolved {
        Resolved::Bool(_) => matches!(digits, b"true" | b"false"),
        Resolved::Int(_) => {
            digits.len() <= EXACT
                && (digits.first() != Some(&b'0') || digits.len() == 1)
                && digits.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

/// What a plain scalar was probably intended to be, if its value differs. `becomes` is its JSON.
pub(super) fn misreading(resolved: Resolved, text: &str, becomes: &str) -> Option<Misreading> {
    if matches!(resolved, Resolved::Bool(_)) {
        let is_intended = matches!(text.as_bytes(), [b't' | b'T' | b'f' | b'F', ..]);
        return (!is_intended).then_some(Misreading::Boolean);
    }
    if !matches!(
        resolved,
        Resolved::Int(_) | Resolved::Uint(_) | Resolved::Float(_)
    ) || text == becomes
    {
        return None;
    }
    let digits = text.trim_start_matches(['+', '-']);
    let all_digits =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits.contains('_') {
        Some(Misreading::Underscores)
    } else if all_digits(digits) {
        let zero = digits.len() > 1 && digits.starts_with('0');
        let lost = digits != becomes.trim_start_matches('-');
        (zero || lost).then_some(if zero {
            Misreading::LeadingZero
        } else {
            Misreading::LostDigits
        })
    } else if let Some((whole, part)) = digits.split_once('.') {
        let short = whole.len() <= 4 && part.len() <= 4;
        (all_digits(whole) && all_digits(part)).then_some(if short {
            Misreading::Version
        } else {
            Misreading::LostDigits
        })
    } else {
        let mut halves = digits.splitn(2, ['e', 'E']);
        let both = halves.next().is_some_and(all_digits) && halves.next().is_some_and(all_digits);
        both.then_some(Misreading::Exponent)
    }
}

/// Resolves the words that are not strings. The composer handles `<<`, which has a meaning as a key only.
fn word(text: &str) -> Option<Resolved> {
    Some(match text {
        "" | "~" | "null" | "Null" | "NULL" => Resolved::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Resolved::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Resolved::Bool(false)
        }
        ".nan" | ".NaN" | ".NAN" => Resolved::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Resolved::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Resolved::Float(f64::NEG_INFINITY),
        _ => return None,
    })
}

/// Resolves integers in four bases, and floats, with underscores anywhere after the first digit.
fn number(text: &str) -> Option<Resolved> {
    if !text.contains('_') {
        return integer(text).or_else(|| float(text));
    }
    let joined = text.replace('_', "");
    integer(&joined).or_else(|| float(&joined))
}

fn integer(text: &str) -> Option<Resolved> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => ("-", &text[1..]),
        b'+' => ("+", &text[1..]),
        _ => ("", text),
    };
    let (base, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    // `from_str_radix` would accept a second sign.
    if !digits.as_bytes().first()?.is_ascii_alphanumeric() {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, base).ok()?;
    match (sign, i64::try_from(magnitude)) {
        ("-", Ok(number)) => Some(Resolved::Int(-number)),
        ("-", Err(_)) => (magnitude == i64::MIN.unsigned_abs()).then_some(Resolved::Int(i64::MIN)),
        (_, Ok(number)) => Some(Resolved::Int(number)),
        ("", Err(_)) => Some(Resolved::Uint(magnitude)),
        (_, Err(_)) => None,
    }
}

/// Resolves `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, unless it overflows.
fn float(text: &str) -> Option<Resolved> {
    let bytes = text.as_bytes();
    let digits_from = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let mut at = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let whole = digits_from(at);
    at += whole;
    if bytes.get(at) == Some(&b'.') {
        let part = digits_from(at + 1);
        if whole + part == 0 {
            return None;
        }
        at += 1 + part;
    } else if whole == 0 {
        return None;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits_from(at.min(bytes.len()));
        if exponent == 0 {
            return None;
        }
        at += exponent;
    }
    if at != bytes.len() {
        return None;
    }
    let number: f64 = text.parse().ok()?;
    number.is_finite().then_some(Resolved::Float(number))
}

/// The text of a float as a key: with the precision of 32 bits, in Go's `%g`
/// (<https://github.com/kubernetes-sigs/yaml>, convertToJSONableObject).
fn float_key(number: f64) -> String {
    let number = number as f32;
    if !number.is_finite() {
        let text = if number.is_nan() {
            ".nan"
        } else if number > 0.0 {
            ".inf"
        } else {
            "-.inf"
        };
        return text.to_owned();
    }
    let scientific = format!("{number:e}");
    let exponent = scientific
        .split_once('e')
        .and_then(|(digits, exponent)| Some((digits, exponent.parse::<i32>().ok()?)));
    match exponent {
        // Go decides about the exponent as if the shortest form had six digits.
        Some((digits, exponent)) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => format!("{number}"),
    }
}

/// Whether the text has one of the four date layouts of go-yaml.
pub(super) fn is_timestamp(text: &str) -> bool {
    let Some((date, time)) = split_date(text) else {
        return false;
    };
    let zoned = time.strip_prefix(['T', 't']).and_then(|time| {
        let at = time.find(['Z', '+', '-'])?;
        Some((&time[..at], &time[at..]))
    });
    match zoned {
        _ if !is_date(date) => false,
        _ if time.is_empty() => true,
        Some((clock, zone)) => is_clock(clock) && is_zone(zone),
        None => time.strip_prefix(' ').is_some_and(is_clock),
    }
}

fn split_date(text: &str) -> Option<(&str, &str)> {
    let end = text.find(['T', 't', ' ']).unwrap_or(text.len());
    (text.is_ascii()).then(|| text.split_at(end))
}

fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let (Some(year), Some(month), Some(day), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let (Some(number), Some(month), Some(day)) =
        (small(year, 4..=4), small(month, 1..=2), small(day, 1..=2))
    else {
        return false;
    };
    let leap = number % 4 == 0 && (number % 100 != 0 || number % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

fn is_clock(text: &str) -> bool {
    let (clock, fraction) = text.split_once(['.', ',']).unwrap_or((text, "0"));
    let parts: Vec<Option<u32>> = clock.split(':').map(|part| small(part, 1..=2)).collect();
    let digits = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    digits && matches!(parts[..], [Some(0..24), Some(0..60), Some(0..60)])
}

fn is_zone(text: &str) -> bool {
    text == "Z"
        || text[1..].split_once(':').is_some_and(|(hours, minutes)| {
            matches!(
                (small(hours, 2..=2), small(minutes, 2..=2)),
                (Some(0..=24), Some(0..60))
            )
        })
}

fn small(text: &str, width: std::ops::RangeInclusive<usize>) -> Option<u32> {
    let digits = width.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}
