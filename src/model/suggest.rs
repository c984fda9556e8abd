//! "Did you mean": the known word nearest to one that is not known.

/// Longer words are nobody's typing slip, and comparing them would cost time.
const LONGEST: usize = 128;

/// The candidate that a slip of the fingers turns into `word`: one edit for every three characters, at least one. A swap
/// of neighbors is one edit; letter case, `_` and `-` count nothing. Of equally near ones the first in the alphabet.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let wanted = letters(word);
    if wanted.is_empty() || wanted.len() > LONGEST {
        return None;
    }
    let limit = (wanted.len() / 3).max(1);
    candidates
        .into_iter()
        .filter(|candidate| *candidate != word)
        .filter_map(|candidate| {
            let letters = letters(candidate);
            let near = letters.len().abs_diff(wanted.len()) <= limit;
            let edits = near.then(|| edits(&wanted, &letters))?;
            // A word of one or two letters is not near another that shares none of them.
            (edits <= limit && edits < wanted.len()).then_some((edits, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// The one candidate that differs from `word` by a slip of letters: at most two edits, the same digits, and no other
/// candidate as near. Certain enough to be put in its place.
pub fn only_meant<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    /// The maximum number of edits: more of them make another word.
    const SLIP: usize = 2;
    let digits = |word: &str| -> String { word.chars().filter(char::is_ascii_digit).collect() };
    let wanted = letters(word);
    if wanted.len() <= 3 * SLIP || wanted.len() > LONGEST {
        return None;
    }
    let own = alphabet(word);
    let mut near = candidates.into_iter().filter(|candidate| {
        // Most candidates are too far by what costs little to compare. Each edit takes at most one letter away and brings
        // another one.
        let is_far = || {
            candidate.len().abs_diff(word.len()) > SLIP
                || (own ^ alphabet(candidate)).count_ones() > 2 * SLIP as u32
        };
        if word.is_ascii() && candidate.is_ascii() && is_far() {
            return false;
        }
        let letters = letters(candidate);
        *candidate != word
            && letters.len().abs_diff(wanted.len()) <= SLIP
            && digits(candidate) == digits(word)
            && edits(&wanted, &letters) <= SLIP
    });
    near.next().filter(|_| near.next().is_none())
}

/// Which letters a word has, a bit each, as [`letters`] spells them; several letters may share one.
fn alphabet(word: &str) -> u64 {
    let bit = |letter: u8| match letter.to_ascii_lowercase() {
        b'_' => 1 << (b'-' & 63),
        letter => 1_u64 << (letter & 63),
    };
    word.bytes().fold(0, |known, letter| known | bit(letter))
}

fn letters(word: &str) -> Vec<char> {
    word.chars()
        .flat_map(char::to_lowercase)
        .map(|letter| if letter == '_' { '-' } else { letter })
        .collect()
}

/// The optimal string alignment distance: insert, delete, replace, or swap two neighbors.
fn edits(from: &[char], to: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (row, letter) in from.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in to.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != other);
            let best = replaced.min(last[column + 1] + 1).min(current[column] + 1);
            let swapped = row > 0
                && column > 0
                && from[row - 1] == *other
                && to[column - 1] == *letter
                && before_last[column - 1] < best;
            current.push(if swapped {
                before_last[column - 1] + 1
            } else {
                best
            });
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::{alphabet, did_you_mean, edits, only_meant};

    const KEYS: [&str; 4] = ["os_image_key", "os_image_selector", "image_key", "values"];

    #[test]
    fn a_slip_finds_its_word() {
        assert_eq!(did_you_mean("os_image_kye", KEYS), Some("os_image_key"));
        assert_eq!(did_you_mean("os-image-key", KEYS), Some("os_image_key"));
        assert_eq!(did_you_mean("Values", KEYS), Some("values"));
        assert_eq!(did_you_mean("value", KEYS), Some("values"));
    }

    #[test]
    fn another_word_finds_nothing() {
        assert_eq!(did_you_mean("replicas", KEYS), None);
        assert_eq!(did_you_mean("", KEYS), None);
        assert_eq!(did_you_mean("x", ["y"]), None);
        assert_eq!(did_you_mean("values", ["values"]), None);
        assert_eq!(did_you_mean(&"v".repeat(200), KEYS), None);
    }

    #[test]
    fn of_equally_near_words_the_first_in_the_alphabet_is_meant() {
        assert_eq!(did_you_mean("bat", ["cat", "bad", "bar"]), Some("bad"));
    }

    #[test]
    fn a_word_is_meant_for_certain_only_where_no_other_is_near() {
        let keys = [
            "noble-plain-1-31-8",
            "noble-plain-1-31-9",
            "jammy-plain-1-31-8",
        ];
        assert_eq!(only_meant("nobel-plain-1-31-8", keys), Some(keys[0]));
        assert_eq!(only_meant("noble-plain-1-31-7", keys), None);
        assert_eq!(only_meant("nobel", ["noble", "novel"]), None);
        assert_eq!(
            only_meant("os-image-a1", ["os-image-b1", "os-image-c1"]),
            None
        );
    }

    #[test]
    fn a_swap_is_one_edit() {
        let distance = |a: &str, b: &str| {
            let letters = |word: &str| word.chars().collect::<Vec<_>>();
            edits(&letters(a), &letters(b))
        };
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }

    proptest! {
        #[test]
        fn the_distance_is_symmetric_and_zero_only_for_equals(a in "[abc]{0,6}", b in "[abc]{0,6}") {
            let (left, right): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            assert_eq!(edits(&left, &right), edits(&right, &left));
            assert_eq!(edits(&left, &right) == 0, a == b);
        }

        #[test]
        fn words_of_other_letters_are_further_apart_than_these_letters_say(a in "[a-eA-C_-]{0,8}", b in "[a-eA-C_-]{0,8}") {
            let letters = (alphabet(&a) ^ alphabet(&b)).count_ones() as usize;
            assert!(letters <= 2 * edits(&super::letters(&a), &super::letters(&b)));
        }
    }
}
