//! Formats floating-point numbers: the shortest form, and the verbs of `fmt`.

use super::Spec;

/// The number as `%v` prints it: the shortest digits that parse to the same number, with an exponent below 1e-04 and from
/// 1e+06 on.
pub fn shortest(number: f64) -> String {
    general(number, None, 'e')
}

/// Writes a number; returns false if the verb does not apply to floats.
pub(super) fn write(text: &mut String, number: f64, verb: char, spec: &Spec) -> bool {
    let precision = spec.precision;
    let mut digits = match verb {
        'v' | 'g' => general(number, precision, 'e'),
        'G' => general(number, precision, 'E'),
        'e' | 'E' => exponential(number, precision.unwrap_or(6), verb),
        'f' | 'F' => plain(number, precision.unwrap_or(6)),
        'b' => binary(number),
        'x' | 'X' => hexadecimal(number, precision, verb),
        _ => return false,
    };
    if !number.is_finite() {
        spec.pad_blank(text, &special_with_sign(&digits, spec));
        return true;
    }
    if spec.sharp && verb != 'b' {
        digits = with_point(&digits, verb, precision);
    }
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None if spec.plus => ("+", &digits[..]),
        None if spec.space => (" ", &digits[..]),
        None => ("", &digits[..]),
    };
    let length = sign.len() + digits.len();
    let width = spec.width.unwrap_or(0);
    if spec.zero && !spec.minus && !sign.is_empty() && width > length {
        text.push_str(sign);
        text.extend(std::iter::repeat_n('0', width - length));
        text.push_str(digits);
    } else {
        spec.pad(text, &format!("{sign}{digits}"));
    }
    true
}

/// An infinity always has its sign; NaN has one only if a flag requires it.
fn special_with_sign(name: &str, spec: &Spec) -> String {
    let sign = match (name, spec.plus, spec.space) {
        ("-Inf", ..) | ("NaN", false, false) => "",
        (_, false, true) => " ",
        _ => "+",
    };
    format!("{sign}{}", name.trim_start_matches('+'))
}

/// `NaN`, `+Inf` or `-Inf`, which every verb prints alike; none for a finite number.
fn special(number: f64) -> Option<String> {
    if number.is_nan() {
        return Some("NaN".to_owned());
    }
    number
        .is_infinite()
        .then(|| if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned())
}

/// `%g`: positional notation if it is short, otherwise with an exponent.
fn general(number: f64, precision: Option<usize>, letter: char) -> String {
    if let Some(special) = special(number) {
        return special;
    }
    let scientific = match precision {
        None => format!("{number:e}"),
        Some(precision) => format!("{number:.*e}", (precision.max(1) - 1).min(MAX_DECIMALS)),
    };
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = match digits.trim_end_matches('0') {
        "" => "0",
        trimmed => trimmed,
    };
    let count = digits.len() as i32;
    let exponent_from = match precision {
        None => EXPONENT_FROM,
        Some(precision) => {
            let precision = precision.max(1) as i32;
            if precision > count && count > exponent {
                count
            } else {
                precision
            }
        }
    };
    let sign = if number.is_sign_negative() { "-" } else { "" };
    let body = if exponent < -4 || exponent >= exponent_from {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        format!("{first}{point}{rest}{}", exponent_part(exponent, letter))
    } else {
        positional(digits, exponent)
    };
    format!("{sign}{body}")
}

/// The smallest power of ten that the shortest form writes with an exponent.
const EXPONENT_FROM: i32 = 6;

fn positional(digits: &str, exponent: i32) -> String {
    if exponent < 0 {
        return format!("0.{}{digits}", "0".repeat((-exponent - 1) as usize));
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        return format!("{digits}{}", "0".repeat(whole - digits.len()));
    }
    format!("{}.{}", &digits[..whole], &digits[whole..])
}

fn exponent_part(exponent: i32, letter: char) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{letter}{sign}{:02}", exponent.abs())
}

fn exponential(number: f64, precision: usize, letter: char) -> String {
    if let Some(special) = special(number) {
        return special;
    }
    let scientific = format!("{number:.*e}", precision.min(MAX_DECIMALS));
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    format!(
        "{mantissa}{}{}",
        further_zeros(precision),
        exponent_part(exponent.parse().unwrap_or(0), letter)
    )
}

fn plain(number: f64, precision: usize) -> String {
    special(number).unwrap_or_else(|| {
        let places = precision.min(MAX_DECIMALS);
        format!("{number:.places$}{}", further_zeros(precision))
    })
}

/// The maximum number of decimals that are not zero: those of 2^-1074, the smallest number. Zeros beyond them are appended
/// separately, because Rust's formatting limits the precision to 16 bits.
const MAX_DECIMALS: usize = 1074;

fn further_zeros(precision: usize) -> String {
    "0".repeat(precision.saturating_sub(MAX_DECIMALS))
}

/// The mantissa and exponent of a finite number: `mantissa * 2^exponent`.
fn parts(number: f64) -> (u64, i32) {
    let bits = number.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    match ((bits >> 52) & 0x7ff) as i32 {
        0 => (fraction, -1074),
        biased => (fraction | 1 << 52, biased - 1075),
    }
}

fn binary(number: f64) -> String {
    if let Some(special) = special(number) {
        return special;
    }
    let (mantissa, exponent) = parts(number);
    let sign = if number.is_sign_negative() { "-" } else { "" };
    format!("{sign}{mantissa}p{exponent:+}")
}

/// Hexadecimal notation, such as `0x1.8p+03`.
fn hexadecimal(number: f64, precision: Option<usize>, verb: char) -> String {
    if let Some(special) = special(number) {
        return special;
    }
    let (mut mantissa, mut exponent) = parts(number);
    if mantissa == 0 {
        exponent = 0;
    } else {
        let shift = mantissa.leading_zeros() - 11;
        mantissa <<= shift;
        exponent += 52 - shift as i32;
    }
    if let Some(precision) = precision.filter(|precision| *precision < 13) {
        let dropped = 52 - 4 * precision as u32;
        let half = 1u64 << (dropped - 1);
        let rest = mantissa & ((1 << dropped) - 1);
        mantissa >>= dropped;
        mantissa += u64::from(rest > half || rest == half && mantissa & 1 == 1);
        mantissa <<= dropped;
        if mantissa >> 53 == 1 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let whole = mantissa >> 52;
    let mut fraction = format!("{:013x}", mantissa & ((1 << 52) - 1));
    match precision {
        Some(precision) if precision <= 13 => fraction.truncate(precision),
        Some(precision) => fraction.push_str(&"0".repeat(precision - 13)),
        None => fraction.truncate(fraction.trim_end_matches('0').len()),
    }
    let point = if fraction.is_empty() { "" } else { "." };
    let sign = if number.is_sign_negative() { "-" } else { "" };
    let text = format!("0x{whole}{point}{fraction}{}", exponent_part(exponent, 'p'));
    let text = if verb == 'X' {
        text.to_uppercase()
    } else {
        text
    };
    format!("{sign}{text}")
}

/// Applies the flag `#`: the number always has a decimal point, and under `%g` all digits of the precision.
fn with_point(digits: &str, verb: char, precision: Option<usize>) -> String {
    let is_hexadecimal = matches!(verb, 'x' | 'X');
    let tail = digits
        .find(|c| matches!(c, 'p' | 'P') || !is_hexadecimal && matches!(c, 'e' | 'E'))
        .unwrap_or(digits.len());
    let (number, tail) = digits.split_at(tail);
    let precision = match (verb, precision) {
        ('v' | 'g' | 'G' | 'x', Some(precision)) => precision,
        ('v' | 'g' | 'G' | 'x', None) => 6,
        _ => 0,
    };
    let significant = |c: &char| c.is_ascii_alphanumeric();
    let first = number
        .trim_start_matches(['-', '0', '.'])
        .chars()
        .filter(significant)
        .count();
    let is_zero = number.trim_start_matches('-') == "0";
    let shown = first + usize::from(is_zero);
    let point = if number.contains('.') { "" } else { "." };
    let zeros = "0".repeat(precision.saturating_sub(shown));
    format!("{number}{point}{zeros}{tail}")
}
