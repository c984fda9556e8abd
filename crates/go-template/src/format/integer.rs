//! Formats integers under the verbs of `fmt`.

use super::{Spec, quote};

/// Writes an integer; returns false if the verb does not apply to integers. `negative` is none for an unsigned type.
pub(super) fn write(
    text: &mut String,
    magnitude: u64,
    negative: Option<bool>,
    verb: char,
    spec: &Spec,
) -> bool {
    let signed_bits = if negative == Some(true) {
        magnitude.wrapping_neg()
    } else {
        magnitude
    };
    match verb {
        'v' if spec.go_syntax && negative.is_none() => {
            let hexadecimal = Spec {
                sharp: true,
                ..spec.clone()
            };
            digits(text, magnitude, false, 'x', &hexadecimal);
        }
        'v' | 'd' | 'b' | 'o' | 'O' | 'x' | 'X' => {
            digits(text, magnitude, negative == Some(true), verb, spec);
        }
        'c' => spec.pad(text, &character(signed_bits).to_string()),
        'q' => spec.pad(text, &quote::character(character(signed_bits), spec)),
        'U' => unicode(text, signed_bits, spec),
        _ => return false,
    }
    true
}

fn character(code: u64) -> char {
    u32::try_from(code)
        .ok()
        .and_then(char::from_u32)
        .unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn digits(text: &mut String, magnitude: u64, is_negative: bool, verb: char, spec: &Spec) {
    if spec.precision == Some(0) && magnitude == 0 {
        return spec.pad_blank(text, "");
    }
    let mut number = match verb {
        'b' => format!("{magnitude:b}"),
        'o' | 'O' => format!("{magnitude:o}"),
        'x' => format!("{magnitude:x}"),
        'X' => format!("{magnitude:X}"),
        _ => magnitude.to_string(),
    };
    let has_sign = is_negative || spec.plus || spec.space;
    let zeros = match (spec.precision, spec.width) {
        (Some(precision), _) => precision,
        (None, Some(width)) if spec.zero && !spec.minus => {
            width - usize::from(has_sign && width > 0)
        }
        _ => 0,
    };
    if number.len() < zeros {
        number = format!("{}{number}", "0".repeat(zeros - number.len()));
    }
    let prefix = match verb {
        'b' if spec.sharp => "0b",
        'o' if spec.sharp && !number.starts_with('0') => "0",
        'O' if spec.sharp && !number.starts_with('0') => "0o0",
        'O' => "0o",
        'x' if spec.sharp => "0x",
        'X' if spec.sharp => "0X",
        _ => "",
    };
    let sign = match (is_negative, spec.plus, spec.space) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    };
    spec.pad_blank(text, &format!("{sign}{prefix}{number}"));
}

/// `U+0078`, and with `#` also the character.
fn unicode(text: &mut String, code: u64, spec: &Spec) {
    let digits = format!("{code:04X}");
    let zeros = spec.precision.unwrap_or(0).saturating_sub(digits.len());
    let mut piece = format!("U+{}{digits}", "0".repeat(zeros));
    if spec.sharp
        && let Some(character) = u32::try_from(code).ok().and_then(char::from_u32)
        && quote::is_printable(character)
    {
        piece.push_str(&format!(" '{character}'"));
    }
    spec.pad_blank(text, &piece);
}
