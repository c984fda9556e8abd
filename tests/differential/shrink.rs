//! Makes an input small while it keeps what was found in it.

/// How many smaller inputs are tried.
const TRIES: usize = 3000;

/// The smallest input that still has the property, by leaving out ever smaller runs of characters.
pub(super) fn shrink(input: &str, mut has_it: impl FnMut(&str) -> bool) -> String {
    let mut smallest: Vec<char> = input.chars().collect();
    let mut length = smallest.len().div_ceil(2);
    let mut tries = 0;
    while length > 0 && tries < TRIES {
        let before = smallest.len();
        let mut at = 0;
        while at < smallest.len() && tries < TRIES {
            let end = (at + length).min(smallest.len());
            let rest = [&smallest[..at], &smallest[end..]].concat();
            tries += 1;
            if has_it(&rest.iter().collect::<String>()) {
                smallest = rest;
            } else {
                at += length;
            }
        }
        // Single characters are tried until none of them can go.
        if length > 1 || smallest.len() == before {
            length /= 2;
        }
    }
    smallest.into_iter().collect()
}

#[test]
fn what_is_left_cannot_be_left_out() {
    let small = shrink("some (text) with [two] {parts} in it", |text| {
        text.contains('[') && text.contains('}')
    });
    assert_eq!(small, "[}");
    assert_eq!(shrink("abc", |_| false), "abc");
}
