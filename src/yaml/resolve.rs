//! What a scalar means: YAML 1.1 as go-yaml v2 understands it, then JSON.
//!
//! Sexagesimal numbers (`12:30:45`) and dates stay strings, `yes` and `on` are booleans, a leading zero makes an octal.

use std::sync::Arc;

use crate::model::engine::Engine;
use crate::model::json::format_float_go;
use crate::model::value::{Number, Value};

use super::notice::Misreading;

/// The type and value of a scalar before it goes through JSON.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Resolved {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer above the range of 64 bits with a sign.
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

/// A scalar without a tag and without quotes.
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

/// A scalar with a tag. The error says what the text is not.
pub(super) fn tagged(tag: &str, text: &str) -> Result<Resolved, &'static str> {
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

/// The value that a number becomes by way of JSON: Helm has nothing but floats, kubectl keeps what is written as an
/// integer and fits 64 bits. None for what JSON has no word for.
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

/// The text of a key, which JSON has as strings only; `value` is the key's. The error says what cannot be a key.
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

/// What a plain scalar was probably meant as, if it was read as something else. `becomes` is its JSON.
pub(super) fn misreading(resolved: Resolved, text: &str, becomes: &str) -> Option<Misreading> {
    if matches!(resolved, Resolved::Bool(_)) {
        let meant = !matches!(text.as_bytes(), [b't' | b'T' | b'f' | b'F', ..]);
        return meant.then_some(Misreading::Boolean);
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

/// The words that are no strings. `<<` is one only as a key, and there the composer looks for it.
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

/// Integers in four bases, with underscores anywhere behind the first digit, then floats.
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
    // A second sign would be taken by from_str_radix.
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

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, unless it is too large for a float.
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

/// A key that is a float is written with the precision of 32 bits, as Go's `%g` does
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
        // Shortest digits are weighed as if they were six.
        Some((digits, exponent)) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => format!("{number}"),
    }
}

/// The four layouts of a date that go-yaml knows.
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
