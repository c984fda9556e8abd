//! Formats and parses durations as Go does (<https://pkg.go.dev/time#Duration.String>, <https://pkg.go.dev/time#ParseDuration>).

use std::num::IntErrorKind;

use super::super::function::{Call, Function, Type};
use super::super::{Error, Value};

const ANY: &[Type] = &[Type::Any];

/// The functions of this module.
pub(super) const TABLE: &[Function] = &[
    Function::new("duration", ANY, duration),
    Function::new("durationRound", ANY, duration_round),
];

const SECOND: u64 = 1_000_000_000;
const HOUR: u64 = 3600 * SECOND;

/// Converts seconds to a duration. Sprig accepts an `int64` or a string of digits; any other value counts as 0.
fn duration(call: &mut Call<'_>) -> Result<Value, Error> {
    let seconds = match call.value(0) {
        Value::Int64(seconds) => seconds,
        Value::String(text) => match text.parse::<i64>() {
            Ok(seconds) => seconds,
            Err(error) if *error.kind() == IntErrorKind::PosOverflow => i64::MAX,
            Err(error) if *error.kind() == IntErrorKind::NegOverflow => i64::MIN,
            Err(_) => 0,
        },
        _ => 0,
    };
    Ok(format_nanoseconds(seconds.wrapping_mul(SECOND.cast_signed())).into())
}

/// The duration in its largest unit, without a sign, as kubectl prints ages.
fn duration_round(call: &mut Call<'_>) -> Result<Value, Error> {
    let duration = match call.value(0) {
        Value::Int64(nanoseconds) => nanoseconds,
        Value::String(text) => parse_nanoseconds(&text).unwrap_or(0),
        _ => 0,
    };
    let units = [
        (365 * 24 * HOUR, "y"),
        (30 * 24 * HOUR, "mo"),
        (24 * HOUR, "d"),
        (HOUR, "h"),
        (60 * SECOND, "m"),
        (SECOND, "s"),
    ];
    let length = duration.unsigned_abs();
    let unit = units.iter().find(|(unit, _)| length > *unit);
    let text = unit.map(|(unit, name)| format!("{}{name}", length / unit));
    Ok(text.unwrap_or_else(|| "0s".to_owned()).into())
}

fn format_nanoseconds(nanoseconds: i64) -> String {
    let length = nanoseconds.unsigned_abs();
    let (unit, name) = match length {
        0 => return "0s".to_owned(),
        1..1_000 => (1, "ns"),
        1_000..1_000_000 => (1_000, "µs"),
        1_000_000..SECOND => (1_000_000, "ms"),
        _ => (SECOND, "s"),
    };
    let mut text = if nanoseconds < 0 { "-" } else { "" }.to_owned();
    let mut whole = length / unit;
    if unit == SECOND {
        if whole >= 3600 {
            text += &format!("{}h", whole / 3600);
        }
        if whole >= 60 {
            text += &format!("{}m", whole / 60 % 60);
        }
        whole %= 60;
    }
    text += &whole.to_string();
    if !length.is_multiple_of(unit) {
        let width = unit.ilog10() as usize;
        let fraction = format!("{:0width$}", length % unit);
        text += &format!(".{}", fraction.trim_end_matches('0'));
    }
    text + name
}

/// The nanoseconds of a text such as `-1h15m30.5s`; none if Go refuses the text.
fn parse_nanoseconds(text: &str) -> Option<i64> {
    const MAX: u64 = 1 << 63;
    let bare = text.strip_prefix(['-', '+']).unwrap_or(text);
    if bare == "0" {
        return Some(0);
    }
    let (mut rest, mut sum) = (bare, 0u64);
    loop {
        let digits = digits(rest);
        let whole: u64 = match digits {
            "" => 0,
            digits => digits.parse().ok().filter(|whole| *whole <= MAX)?,
        };
        rest = &rest[digits.len()..];
        let fraction = rest.strip_prefix('.').map(self::digits);
        if digits.is_empty() && fraction.is_none_or(str::is_empty) {
            return None;
        }
        rest = &rest[fraction.map_or(0, |fraction| fraction.len() + 1)..];
        let end = rest
            .find(|c: char| c == '.' || c.is_ascii_digit())
            .unwrap_or(rest.len());
        let unit: u64 = match &rest[..end] {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => SECOND,
            "m" => 60 * SECOND,
            "h" => HOUR,
            _ => return None,
        };
        rest = &rest[end..];
        let (numerator, scale) = leading(fraction.unwrap_or_default());
        // In floating point, as in Go.
        let part = (numerator as f64 * (unit as f64 / scale)) as u64;
        let length = whole.checked_mul(unit).filter(|length| *length <= MAX)?;
        sum = sum.checked_add(length)?.checked_add(part)?;
        if sum > MAX {
            return None;
        }
        if rest.is_empty() {
            break;
        }
    }
    if text.starts_with('-') {
        return 0i64.checked_sub_unsigned(sum);
    }
    i64::try_from(sum).ok()
}

fn digits(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit());
    &text[..end.unwrap_or(text.len())]
}

/// The leading digits of a fraction that fit into 63 bits, and the power of ten to divide them by.
fn leading(digits: &str) -> (u64, f64) {
    let (mut number, mut scale) = (0u64, 1.0);
    for digit in digits.bytes().map(|digit| u64::from(digit - b'0')) {
        let next = number * 10 + digit;
        if next > 1 << 63 {
            break;
        }
        (number, scale) = (next, scale * 10.0);
        if number > (u64::MAX >> 1) / 10 {
            break;
        }
    }
    (number, scale)
}
