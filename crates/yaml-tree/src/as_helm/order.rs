//! Sorts keys in the natural order of go-yaml.

use std::cmp::Ordering;

use crate::value::{Entry, Map};

/// The entries in the order of their keys.
///
/// go-yaml's comparison is not transitive for some keys (`1` < `01` < `0a` < `1`), and Go's result for these is arbitrary.
/// `sort_by` may panic for such an order, so this is a merge sort, which ends with any order.
pub(super) fn sort_entries(map: &Map) -> Vec<&Entry> {
    let mut entries: Vec<&Entry> = map.iter().collect();
    let mut merged = Vec::with_capacity(entries.len());
    let mut run = 1;
    while run < entries.len() {
        for pair in entries.chunks(2 * run) {
            let (mut left, mut right) = pair.split_at(run.min(pair.len()));
            while let ([first, left_rest @ ..], [second, right_rest @ ..]) = (left, right) {
                if natural(&first.key, &second.key).is_le() {
                    merged.push(*first);
                    left = left_rest;
                } else {
                    merged.push(*second);
                    right = right_rest;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        std::mem::swap(&mut entries, &mut merged);
        merged.clear();
        run *= 2;
    }
    entries
}

/// Compares keys: numbers in them by value, so that `a2` comes before `a10`, and letters after all other characters.
fn natural(left: &str, right: &str) -> Ordering {
    let bytes = left.bytes().zip(right.bytes());
    let same = bytes.take_while(|(a, b)| a == b).count();
    let at = left.floor_char_boundary(same);
    let (rest, other) = (&left[at..], &right[at..]);
    let (Some(a), Some(b)) = (rest.chars().next(), other.chars().next()) else {
        return rest.len().cmp(&other.len());
    };
    match (a.is_alphabetic(), b.is_alphabetic()) {
        (true, true) => return a.cmp(&b),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // A zero after other digits of the same number counts as a digit of its own number.
    let inside = (a == '0' || b == '0')
        && left[..at]
            .bytes()
            .rev()
            .take_while(u8::is_ascii_digit)
            .any(|digit| digit != b'0');
    let number = |text: &str| {
        let digits = text.bytes().take_while(u8::is_ascii_digit);
        digits.fold((i64::from(inside), 0), |(number, length), digit| {
            let digit = i64::from(digit - b'0');
            (number.wrapping_mul(10).wrapping_add(digit), length + 1)
        })
    };
    number(rest).cmp(&number(other)).then(a.cmp(&b))
}

#[cfg(test)]
mod tests {
    use super::{natural, sort_entries};
    use crate::value::{Entry, Map};

    fn order(keys: &[String]) -> Vec<String> {
        let map: Map = keys
            .iter()
            .map(|key| Entry::from_value(key.as_str(), true))
            .collect();
        let entries = sort_entries(&map).into_iter();
        entries.map(|entry| entry.key.to_string()).collect()
    }

    #[test]
    fn numbers_are_ordered_by_value_and_letters_come_last() {
        let keys = ["b", "a10", "a2", "_", "B", "a", "10", "9"].map(str::to_owned);
        assert_eq!(order(&keys), ["_", "9", "10", "B", "a", "a2", "a10", "b"]);
    }

    #[test]
    fn keys_without_a_consistent_order_are_all_written() {
        let less = |a: &str, b: &str| natural(a, b).is_lt();
        assert!(less("1", "01") && less("01", "0a") && less("0a", "1"));
        // Hundreds of keys, so that a sorting algorithm cannot avoid the inconsistency.
        let key = |number: usize| format!("{}{number:o}", ["", "0", "0a"][number % 3]);
        let keys: Vec<String> = (0..300).map(key).collect();
        let mut written = order(&keys);
        assert_eq!(written.len(), keys.len());
        written.sort();
        written.dedup();
        assert_eq!(written.len(), keys.len());
    }
}
