//! Whole numbers as Go programs and Sprig read them from text.

/// What Sprig's `int` makes of a text (`cast.ToInt64`): a decimal part of zeros is dropped, the text says its own base, and
/// a text that is not a number is 0.
pub fn cast(text: &str) -> i64 {
    parse(trim_zero_decimals(text), 0).unwrap_or(0)
}

/// `strconv.ParseInt`. With base 0 the text says its own: `0x`, `0o`, `0b`, a leading `0`, and `_` between digits.
pub fn parse(text: &str, base: u32) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix(['+', '-']) {
        Some(digits) => (text.starts_with('-'), digits),
        None => (false, text),
    };
    let magnitude = if base == 0 {
        literal(digits)?
    } else {
        magnitude(digits, base)?
    };
    let signed = i128::from(magnitude) * if negative { -1 } else { 1 };
    i64::try_from(signed).ok()
}

/// `"22.00"` → `"22"`; anything else as it is. Written as the loop that it is upstream: `"1.0."` is 1 there.
fn trim_zero_decimals(text: &str) -> &str {
    let mut zeros = false;
    for (index, byte) in text.bytes().enumerate().rev() {
        match byte {
            b'0' => zeros = true,
            b'.' if zeros => return &text[..index],
            b'.' => {}
            _ => return text,
        }
    }
    text
}

fn literal(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let prefixed = [("0x", 16), ("0o", 8), ("0b", 2)]
        .into_iter()
        .find_map(|(prefix, base)| Some((lower.strip_prefix(prefix)?, base)));
    let (digits, base) = match prefixed {
        Some(prefixed) => prefixed,
        None => match lower.strip_prefix('0') {
            Some(octal) if !octal.is_empty() => (octal, 8),
            _ => (lower.as_str(), 10),
        },
    };
    // An underscore is only valid between two digits, or between the base and a digit.
    let misplaced =
        digits.contains("__") || digits.ends_with('_') || (base == 10 && digits.starts_with('_'));
    if misplaced {
        return None;
    }
    magnitude(&digits.replace('_', ""), base)
}

/// Digits only: a second sign would be taken by `from_str_radix`.
fn magnitude(text: &str, base: u32) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    u64::from_str_radix(text, base).ok().filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::cast;

    #[test]
    fn texts_are_read_as_go_reads_them() {
        for (text, number) in [
            ("22000000000", 22_000_000_000),
            ("022", 18),
            ("0x10", 16),
            ("0o17", 15),
            ("0b101", 5),
            ("1_000", 1000),
            ("0_17", 15),
            ("0x_10", 16),
            ("1__000", 0),
            ("_1", 0),
            ("1_", 0),
            ("0x", 0),
            ("089", 0),
            ("22000000000.0", 22_000_000_000),
            ("22.00", 22),
            ("1.0.", 1),
            ("1.0.0", 0),
            ("22.5", 0),
            ("22.", 0),
            (".0", 0),
            ("22G", 0),
            (" 22", 0),
            ("", 0),
            ("0", 0),
            ("00", 0),
            ("-5", -5),
            ("+5", 5),
            ("--5", 0),
            ("0x-5", 0),
            ("9223372036854775807", i64::MAX),
            ("9223372036854775808", 0),
            ("-9223372036854775808", i64::MIN),
            ("99999999999999999999999999999999999999999999", 0),
        ] {
            assert_eq!(cast(text), number, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_reading(text in ".{0,30}|[-+]?0?[xob]?[0-9a-f_.]{0,30}") {
            let _ = cast(&text);
        }

        #[test]
        fn decimal_numbers_are_themselves(number in 1_i64..) {
            prop_assert_eq!(cast(&number.to_string()), number);
        }
    }
}
