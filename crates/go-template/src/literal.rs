//! Parses Go's literals: numbers of every form, quoted and raw strings, characters.

/// A number literal as each Go type that can represent it, like Go's untyped constants.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Number {
    pub(super) int: Option<i64>,
    pub(super) uint: Option<u64>,
    pub(super) float: Option<f64>,
    pub(super) complex: Option<(f64, f64)>,
    /// Whether the literal has the form of a float, which decides its type if the context does not.
    pub(super) is_float_form: bool,
}

/// Parses a signed decimal, octal, hexadecimal, binary, floating-point or imaginary literal.
pub(super) fn number(text: &str) -> Result<Number, String> {
    if let Some(imaginary) = text.strip_suffix('i')
        && let Some(imaginary) = float(imaginary)
    {
        return Ok(complex_number(0.0, imaginary));
    }
    let mut number = Number {
        int: integer(text).and_then(|(negative, value)| apply_sign(negative, value)),
        uint: (!text.starts_with(['+', '-']))
            .then(|| integer(text))
            .flatten()
            .and_then(|(_, value)| u64::try_from(value).ok()),
        ..Number::default()
    };
    if number.int == Some(0) {
        number.uint = Some(0);
    }
    let has_float_characters = text.contains(['.', 'e', 'E', 'p', 'P']);
    number.is_float_form = has_float_characters && !is_hexadecimal_integer(text);
    if let Some(int) = number.int {
        number.float = Some(int as f64);
    } else if let Some(uint) = number.uint {
        number.float = Some(uint as f64);
    } else if let Some(value) = float(text) {
        if !has_float_characters {
            return Err(format!("`{text}` overflows an integer"));
        }
        number.float = Some(value);
        number.int = (value as i64 as f64 == value).then_some(value as i64);
        number.uint = (value as u64 as f64 == value).then_some(value as u64);
    } else {
        return Err(format!("`{text}` is not a number"));
    }
    Ok(number)
}

/// Parses a complex literal such as `1+2i`.
pub(super) fn complex(text: &str) -> Result<Number, String> {
    let split = text
        .char_indices()
        .skip(1)
        .filter(|(index, character)| {
            matches!(character, '+' | '-') && !text[..*index].ends_with(['e', 'E', 'p', 'P'])
        })
        .last()
        .map_or(0, |(index, _)| index);
    let real = float(&text[..split]);
    let imaginary = text[split..].strip_suffix('i').and_then(float);
    match (real, imaginary) {
        (Some(real), Some(imaginary)) => Ok(complex_number(real, imaginary)),
        _ => Err(format!("`{text}` is not a number")),
    }
}

fn complex_number(real: f64, imaginary: f64) -> Number {
    let mut number = Number {
        complex: Some((real, imaginary)),
        ..Number::default()
    };
    if imaginary == 0.0 {
        number.float = Some(real);
        number.int = (real as i64 as f64 == real).then_some(real as i64);
        number.uint = (real as u64 as f64 == real).then_some(real as u64);
    }
    number
}

/// Parses a character literal with its quotes. Its value is an integer.
pub(super) fn character(text: &str) -> Result<Number, String> {
    let malformed = || format!("`{text}` is not one character");
    let inner = text
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''))
        .ok_or_else(malformed)?;
    let (unit, rest) = unit(inner, '\'').ok_or_else(malformed)?;
    if !rest.is_empty() {
        return Err(malformed());
    }
    let code = match unit {
        Unit::Character(character) => u32::from(character),
        Unit::Byte(byte) => u32::from(byte),
    };
    Ok(Number {
        int: Some(i64::from(code)),
        uint: Some(u64::from(code)),
        float: Some(f64::from(code)),
        ..Number::default()
    })
}

/// Parses a `"quoted"` or `` `raw` `` literal with its quotes.
pub(super) fn string(text: &str) -> Result<String, String> {
    if let Some(raw) = text.strip_prefix('`') {
        return Ok(raw.trim_end_matches('`').replace('\r', ""));
    }
    let malformed = || format!("{text} holds an escape that Go does not know");
    let mut rest = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .ok_or_else(malformed)?;
    if !rest.contains('\\') {
        return Ok(rest.to_owned());
    }
    let mut bytes = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        let (unit, after) = unit(rest, '"').ok_or_else(malformed)?;
        match unit {
            Unit::Character(character) => {
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Unit::Byte(byte) => bytes.push(byte),
        }
        rest = after;
    }
    String::from_utf8(bytes).map_err(|_| format!("the bytes of {text} are not UTF-8"))
}

/// A character or escape of a quoted text.
enum Unit {
    Character(char),
    /// A byte from a `\x` or octal escape, which need not be a complete character.
    Byte(u8),
}

/// The first unit of a quoted text, and the rest of the text.
fn unit(text: &str, quote: char) -> Option<(Unit, &str)> {
    let mut characters = text.chars();
    let first = characters.next()?;
    if first == quote {
        return None;
    }
    if first != '\\' {
        return Some((Unit::Character(first), characters.as_str()));
    }
    let escape = characters.next()?;
    let rest = characters.as_str();
    let plain = match escape {
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        '\\' => '\\',
        '\'' | '"' if escape == quote => quote,
        'x' => return code(rest, 2, 16).and_then(|(code, rest)| Some((byte(code)?, rest))),
        'u' => return code(rest, 4, 16).and_then(|(code, rest)| Some((scalar(code)?, rest))),
        'U' => return code(rest, 8, 16).and_then(|(code, rest)| Some((scalar(code)?, rest))),
        '0'..='7' => {
            return code(&text[1..], 3, 8).and_then(|(code, rest)| Some((byte(code)?, rest)));
        }
        _ => return None,
    };
    Some((Unit::Character(plain), rest))
}

fn code(text: &str, digits: usize, radix: u32) -> Option<(u32, &str)> {
    let (number, rest) = text.split_at_checked(digits)?;
    if !number.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    Some((u32::from_str_radix(number, radix).ok()?, rest))
}

fn byte(code: u32) -> Option<Unit> {
    u8::try_from(code).ok().map(Unit::Byte)
}

fn scalar(code: u32) -> Option<Unit> {
    char::from_u32(code).map(Unit::Character)
}

/// The sign and magnitude of an integer literal with Go's prefixes (`0x`, `0o`, `0b`, `0`) and underscores.
fn integer(text: &str) -> Option<(bool, u128)> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (digits, radix) = match unsigned.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&unsigned[2..], 16),
        [b'0', b'o' | b'O', ..] => (&unsigned[2..], 8),
        [b'0', b'b' | b'B', ..] => (&unsigned[2..], 2),
        [b'0', _, ..] => (&unsigned[1..], 8),
        _ => (unsigned, 10),
    };
    if !underscores_separate_digits(unsigned) {
        return None;
    }
    let digits = digits.replace('_', "");
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let magnitude = u128::from_str_radix(&digits, radix).ok()?;
    Some((text.starts_with('-'), magnitude))
}

fn apply_sign(negative: bool, magnitude: u128) -> Option<i64> {
    let magnitude = i128::try_from(magnitude).ok()?;
    i64::try_from(if negative { -magnitude } else { magnitude }).ok()
}

/// Go's rule for underscores: only between two digits, or between a base prefix and a digit.
fn underscores_separate_digits(unsigned: &str) -> bool {
    let has_prefix = matches!(
        unsigned.as_bytes(),
        [b'0', b'x' | b'X' | b'o' | b'O' | b'b' | b'B', ..]
    );
    let hexadecimal = has_prefix && matches!(unsigned.as_bytes()[1], b'x' | b'X');
    let is_digit = |byte: u8| byte.is_ascii_digit() || hexadecimal && byte.is_ascii_hexdigit();
    let mut after_digit = has_prefix;
    let mut after_underscore = false;
    for byte in unsigned.bytes().skip(if has_prefix { 2 } else { 0 }) {
        if is_digit(byte) {
            (after_digit, after_underscore) = (true, false);
        } else if byte == b'_' {
            if !after_digit {
                return false;
            }
            (after_digit, after_underscore) = (false, true);
        } else if after_underscore {
            return false;
        } else {
            after_digit = false;
        }
    }
    !after_underscore
}

/// A decimal or hexadecimal floating-point literal; none if it is malformed or overflows.
fn float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !underscores_separate_digits(unsigned) {
        return None;
    }
    let digits = unsigned.replace('_', "");
    let magnitude = if let Some(digits) = digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        hexadecimal_float(digits)?
    } else {
        let is_decimal = |c: char| c.is_ascii_digit() || ".eE+-".contains(c);
        if !digits.chars().all(is_decimal) {
            return None;
        }
        digits.parse().ok()?
    };
    magnitude.is_finite().then_some(if text.starts_with('-') {
        -magnitude
    } else {
        magnitude
    })
}

/// The literal after its `0x`, such as `1.8p3`. The exponent is required.
fn hexadecimal_float(digits: &str) -> Option<f64> {
    let (mantissa, exponent) = digits.split_once(['p', 'P'])?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut exponent: i32 = exponent.parse().ok()?;
    let mut value = 0.0f64;
    for digit in whole.chars() {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    for digit in fraction.chars() {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
        exponent = exponent.checked_sub(4)?;
    }
    Some(value * 2.0f64.powi(exponent))
}

fn is_hexadecimal_integer(text: &str) -> bool {
    let has_prefix = text.starts_with("0x") || text.starts_with("0X");
    text.len() > 2 && has_prefix && !text.contains(['p', 'P'])
}

#[cfg(test)]
mod tests {
    use super::{Number, character, complex, number, string};

    fn int(text: &str) -> Option<i64> {
        number(text).ok().and_then(|number| number.int)
    }

    #[test]
    fn integers_may_have_prefixes_and_underscores() {
        assert_eq!(int("0x_1F"), Some(31));
        assert_eq!(int("0b11"), Some(3));
        assert_eq!(int("0o17"), Some(15));
        assert_eq!(int("017"), Some(15));
        assert_eq!(int("-0x10"), Some(-16));
        assert_eq!(int("1_000"), Some(1000));
        for malformed in ["1__0", "1_", "0b2", "089", "99999999999999999999", "+", "."] {
            assert!(number(malformed).is_err(), "{malformed}");
        }
    }

    #[test]
    fn float_literals_with_integer_values_are_also_integers() {
        let thousand = number("1e3").ok();
        assert_eq!(thousand.and_then(|number| number.int), Some(1000));
        assert_eq!(number("0x1.8p3").ok().and_then(|n| n.float), Some(12.0));
        assert_eq!(number(".5").ok().and_then(|n| n.int), None);
        assert_eq!(number("0x1e").ok().map(|n| n.is_float_form), Some(false));
        assert!(number("1e999").is_err());
    }

    #[test]
    fn imaginary_literals_are_complex_numbers() {
        assert_eq!(number("2i").ok().and_then(|n| n.complex), Some((0.0, 2.0)));
        assert_eq!(
            complex("1e-3-2i").ok().and_then(|n| n.complex),
            Some((0.001, -2.0))
        );
        assert_eq!(complex("1+i"), Err("`1+i` is not a number".to_owned()));
    }

    #[test]
    fn character_literals_are_integers() {
        let code = |text| character(text).ok().and_then(|n: Number| n.int);
        assert_eq!(code("'a'"), Some(97));
        assert_eq!(code(r"'\x41'"), Some(65));
        assert_eq!(code(r"'\''"), Some(39));
        assert_eq!(code("''"), None);
        assert_eq!(code("'ab'"), None);
    }

    #[test]
    fn escapes_are_those_of_go() {
        assert_eq!(
            string(r#""\t\x41\101\u00e9\"""#).as_deref(),
            Ok("\tAA\u{e9}\"")
        );
        assert_eq!(string(r#""\xc3\xa9""#).as_deref(), Ok("\u{e9}"));
        assert_eq!(string("`a\\n\r\n`").as_deref(), Ok("a\\n\n"));
        for malformed in [r#""\q""#, r#""\'""#, r#""\ud800""#, r#""\x4""#, r#""\400""#] {
            assert!(string(malformed).is_err(), "{malformed}");
        }
    }
}
