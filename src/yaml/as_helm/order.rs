//! The order in which keys are written.

use std::cmp::Ordering;

/// The order of keys: numbers inside by value, so that `a2` stands before `a10`; letters after everything else.
pub(super) fn natural(left: &str, right: &str) -> Ordering {
    if left == right {
        return Ordering::Equal;
    }
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let Some(at) = (0..left.len().min(right.len())).find(|&at| left[at] != right[at]) else {
        return left.len().cmp(&right.len());
    };
    let (a, b) = (left[at], right[at]);
    match (a.is_alphabetic(), b.is_alphabetic()) {
        (true, true) => return a.cmp(&b),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // A zero behind other digits of the same number is a digit like another one.
    let inside = (a == '0' || b == '0')
        && left[..at]
            .iter()
            .rev()
            .take_while(|c| c.is_ascii_digit())
            .any(|c| *c != '0');
    let number = |text: &[char]| {
        let digits = text[at..].iter().take_while(|c| c.is_ascii_digit());
        digits.fold((i64::from(inside), at), |(number, end), c| {
            let digit = i64::from(u32::from(*c) - u32::from('0'));
            (number.wrapping_mul(10).wrapping_add(digit), end + 1)
        })
    };
    number(&left).cmp(&number(&right)).then(a.cmp(&b))
}
