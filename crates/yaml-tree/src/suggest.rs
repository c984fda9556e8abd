//! "Did you mean": the known word nearest to one that is not known.

use std::collections::{BTreeSet, HashMap};

/// Longer words are nobody's typing slip, and comparing them would cost time.
const LONGEST: usize = 128;

/// The most edits of a slip, however long the word is.
const MOST_EDITS: usize = 8;

/// The most candidates that are compared letter by letter with one word.
const MOST_COMPARED: usize = 1_000;

/// The candidate that a slip of the fingers turns into `word`: one edit for every three characters, at least one and at most
/// eight. A swap of neighbors is one edit; letter case, `_` and `-` count nothing. None of several that are equally near.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let wanted = letters(word);
    if wanted.is_empty() || wanted.len() > LONGEST {
        return None;
    }
    // A word of one or two letters is not near another that shares none of them.
    let limit = (wanted.len() / 3)
        .clamp(1, MOST_EDITS)
        .min(wanted.len() - 1);
    nearest(word, &wanted, candidates, limit)
}

/// The one candidate that differs from `word` by a slip of letters: at most two edits, the same digits, and no other
/// candidate as near. Certain enough to be put in its place.
pub fn only_meant<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    /// The maximum number of edits: more of them make another word.
    const SLIP: usize = 2;
    let wanted = letters(word);
    if wanted.len() <= 3 * SLIP || wanted.len() > LONGEST {
        return None;
    }
    let own = digits(word);
    let candidates = candidates.into_iter();
    let alike = candidates.filter(|candidate| digits(candidate) == own);
    nearest(word, &wanted, alike, SLIP)
}

/// The candidate within a limit of edits to which no other one is as near. Two spellings of one word, such as `a_b` and `a-b`, are
/// one candidate: the first.
fn nearest<'a>(
    word: &str,
    wanted: &[char],
    candidates: impl IntoIterator<Item = &'a str>,
    limit: usize,
) -> Option<&'a str> {
    let mut nearest: Option<(usize, Option<&str>)> = None;
    let near = candidates
        .into_iter()
        .filter(|candidate| *candidate != word && !is_far(word, candidate, limit));
    for candidate in near.take(MOST_COMPARED) {
        let limit = nearest.map_or(limit, |(edits, _)| edits);
        let Some(edits) = edits(wanted, &letters(candidate), limit) else {
            continue;
        };
        let as_near = nearest.filter(|(least, _)| *least == edits);
        let best = as_near.map_or(Some(candidate), |(_, known)| {
            known.filter(|known| is_same_word(known, candidate))
        });
        nearest = Some((edits, best));
    }
    nearest?.1
}

/// The known key that another one is a slip of: the same word in another spelling, or the only one that is meant. None for a known one.
pub fn meant_key<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    if known.contains(&key) {
        return None;
    }
    let all = || known.iter().copied();
    let same = all().find(|known| is_same_word(key, known));
    same.or_else(|| only_meant(key, all()))
}

/// Many known words, of which a misspelled one is compared with few: those that begin or end as it does.
#[derive(Debug, Default)]
pub struct Words {
    all: Vec<Box<str>>,
    /// The letters of each word with its number, sorted; none where all are compared anyway.
    forward: Vec<(Vec<char>, usize)>,
    /// The same of letters from the last one to the first.
    backward: Vec<(Vec<char>, usize)>,
    /// The numbers of the words with the same digits.
    by_digits: HashMap<String, Vec<usize>>,
}

impl Words {
    /// Those that are known.
    pub fn new<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let all: Vec<Box<str>> = words.into_iter().map(Box::from).collect();
        let mut words = Self::default();
        for (number, word) in all.iter().enumerate() {
            let own = words.by_digits.entry(digits(word)).or_default();
            own.push(number);
            if all.len() > MOST_COMPARED && word.len() <= 2 * LONGEST {
                let mut letters = letters(word);
                words.forward.push((letters.clone(), number));
                letters.reverse();
                words.backward.push((letters, number));
            }
        }
        words.forward.sort_unstable();
        words.backward.sort_unstable();
        Self { all, ..words }
    }

    /// As [`did_you_mean`]. Of more than a thousand words, those that begin or end as the word does are compared.
    pub fn did_you_mean(&self, word: &str) -> Option<&str> {
        if self.all.len() <= MOST_COMPARED || word.len() > 2 * LONGEST {
            return did_you_mean(word, self.all.iter().map(|known| &**known));
        }
        let mut letters = letters(word);
        let mut near: BTreeSet<usize> = neighbors(&self.forward, &letters).collect();
        letters.reverse();
        near.extend(neighbors(&self.backward, &letters));
        did_you_mean(word, near.into_iter().map(|number| &*self.all[number]))
    }

    /// As [`only_meant`]. Of more than a thousand words with the same digits none is certain.
    pub fn only_meant(&self, word: &str) -> Option<&str> {
        let same = self.by_digits.get(&digits(word))?;
        let known = same.iter().map(|number| &*self.all[*number]);
        only_meant(word, known).filter(|_| same.len() <= MOST_COMPARED)
    }
}

/// The numbers of the words around a place in a sorted list.
fn neighbors<'w>(
    sorted: &'w [(Vec<char>, usize)],
    letters: &[char],
) -> impl Iterator<Item = usize> + 'w {
    let at = sorted.partition_point(|(known, _)| &**known < letters);
    let most = MOST_COMPARED / 4;
    let around = at.saturating_sub(most)..sorted.len().min(at + most);
    sorted[around].iter().map(|(_, number)| *number)
}

/// What to write in place of a key that nobody reads: the known one that is meant, or which there are.
pub fn key_help(key: &str, known: &[&str]) -> String {
    match did_you_mean(key, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("it has `{}`", known.join("`, `")),
    }
}

/// Whether two words are one but for letter case, `_` and `-`: `controlPlane` and `control-plane`.
pub fn is_same_word(word: &str, other: &str) -> bool {
    let letters = |word: &str| {
        let letters = word.chars().filter(|letter| !matches!(letter, '_' | '-'));
        letters.flat_map(char::to_lowercase).collect::<Vec<_>>()
    };
    word.len().abs_diff(other.len()) < word.len().min(other.len())
        && letters(word) == letters(other)
}

/// Whether two words differ in more edits by what costs little to compare. Each edit takes at most one letter away and brings
/// another one.
fn is_far(word: &str, other: &str, limit: usize) -> bool {
    let letters = || (alphabet(word) ^ alphabet(other)).count_ones() as usize;
    word.is_ascii()
        && other.is_ascii()
        && (word.len().abs_diff(other.len()) > limit || letters() > 2 * limit)
}

/// Which letters a word has, a bit each, as [`letters`] spells them; several letters may share one.
fn alphabet(word: &str) -> u64 {
    let bit = |letter: u8| match letter.to_ascii_lowercase() {
        b'_' => 1 << (b'-' & 63),
        letter => 1_u64 << (letter & 63),
    };
    word.bytes().fold(0, |known, letter| known | bit(letter))
}

fn digits(word: &str) -> String {
    word.chars().filter(char::is_ascii_digit).collect()
}

fn letters(word: &str) -> Vec<char> {
    word.chars()
        .flat_map(char::to_lowercase)
        .map(|letter| if letter == '_' { '-' } else { letter })
        .collect()
}

/// The optimal string alignment distance, if it is within a limit: insert, delete, replace, or swap two neighbors.
fn edits(from: &[char], to: &[char], limit: usize) -> Option<usize> {
    let alike = |(one, other): &(&char, &char)| one == other;
    let start = from.iter().zip(to).take_while(alike).count();
    let (from, to) = (&from[start..], &to[start..]);
    let end = { from.iter().rev().zip(to.iter().rev()) }.take_while(alike);
    let end = end.count();
    let (from, to) = (&from[..from.len() - end], &to[..to.len() - end]);
    if from.len().abs_diff(to.len()) > limit {
        return None;
    }
    // Only what is as near to the diagonal as the limit can be within it; all else is beyond.
    let beyond = limit + 1;
    let mut before_last = vec![beyond; to.len() + 1];
    let mut last: Vec<usize> = (0..=to.len()).map(|column| column.min(beyond)).collect();
    let mut current = before_last.clone();
    for (row, letter) in from.iter().enumerate() {
        let columns = row.saturating_sub(limit)..to.len().min(row + limit + 1);
        current[columns.start] = match columns.start {
            0 => (row + 1).min(beyond),
            _ => beyond,
        };
        let mut least = current[columns.start];
        for column in columns.clone() {
            let other = &to[column];
            let replaced = last[column] + usize::from(letter != other);
            let mut best = replaced.min(last[column + 1] + 1).min(current[column] + 1);
            let is_swap =
                row > 0 && column > 0 && from[row - 1] == *other && to[column - 1] == *letter;
            if is_swap {
                best = best.min(before_last[column - 1] + 1);
            }
            current[column + 1] = best.min(beyond);
            least = least.min(best);
        }
        if let Some(next) = current.get_mut(columns.end + 1) {
            *next = beyond;
        }
        if least > limit {
            return None;
        }
        (before_last, last, current) = (last, current, before_last);
    }
    Some(last[to.len()]).filter(|edits| *edits <= limit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::{MOST_COMPARED, Words, alphabet, did_you_mean, edits, only_meant};

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
    fn no_word_is_meant_if_another_one_is_as_near() {
        assert_eq!(did_you_mean("bat", ["cat", "bad", "bar"]), None);
        assert_eq!(did_you_mean("bat", ["cat", "cat"]), Some("cat"));
    }

    #[test]
    fn a_word_is_meant_for_certain_only_where_no_other_is_as_near() {
        let keys = [
            "noble-plain-1-31-8",
            "noble-plain-1-31-9",
            "jammy-plain-1-31-8",
        ];
        assert_eq!(only_meant("nobel-plain-1-31-8", keys), Some(keys[0]));
        assert_eq!(only_meant("noble-plain-1-31-7", keys), None);
        assert_eq!(only_meant("nobel", ["noble", "novel"]), None);
        let both = ["os_images", "osImages"];
        assert_eq!(only_meant("os_imges", both), Some("os_images"));
        assert_eq!(
            only_meant("os-image-a1", ["os-image-b1", "os-image-c1"]),
            None
        );
    }

    #[test]
    fn a_swap_is_one_edit() {
        let distance = |a: &str, b: &str| {
            let letters = |word: &str| word.chars().collect::<Vec<_>>();
            edits(&letters(a), &letters(b), 100)
        };
        assert_eq!(distance("ab", "ba"), Some(1));
        assert_eq!(distance("kitten", "sitting"), Some(3));
        assert_eq!(distance("", "abc"), Some(3));
    }

    #[test]
    fn a_thousand_words_are_compared_letter_by_letter() {
        let word = "0123456789";
        // Of the same letters, and far; a swap away.
        let (far, near) = ("9876543210", "0123456798");
        let after = |count: usize| {
            let candidates = std::iter::repeat_n(far, count).chain([near]);
            did_you_mean(word, candidates)
        };
        assert_eq!(after(MOST_COMPARED - 1), Some(near));
        assert_eq!(after(MOST_COMPARED), None);
    }

    #[test]
    fn among_many_words_a_slip_at_either_end_is_found() {
        let many: Vec<String> = (0..3 * MOST_COMPARED)
            .map(|it| format!("image-{it}-raw"))
            .collect();
        let words = Words::new(many.iter().map(String::as_str));
        assert_eq!(words.did_you_mean("imgae-2717-raw"), Some("image-2717-raw"));
        assert_eq!(words.did_you_mean("image-2717-rwa"), Some("image-2717-raw"));
        assert_eq!(words.only_meant("imgae-2717-raw"), Some("image-2717-raw"));
        assert_eq!(words.only_meant("imgae-9999-raw"), None);
    }

    /// The distance without a limit.
    fn all_edits(from: &[char], to: &[char]) -> usize {
        let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
        for row in 0..from.len() {
            let mut current = vec![row + 1];
            for column in 0..to.len() {
                let replaced = rows[row][column] + usize::from(from[row] != to[column]);
                let mut best = replaced
                    .min(rows[row][column + 1] + 1)
                    .min(current[column] + 1);
                let is_swap = row > 0
                    && column > 0
                    && from[row - 1] == to[column]
                    && to[column - 1] == from[row];
                if is_swap {
                    best = best.min(rows[row - 1][column - 1] + 1);
                }
                current.push(best);
            }
            rows.push(current);
        }
        rows[from.len()][to.len()]
    }

    proptest! {
        #[test]
        fn the_distance_is_that_of_all_edits_within_the_limit(a in "[abc]{0,12}", b in "[abc]{0,12}", limit in 0_usize..9) {
            let (left, right): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            let all = all_edits(&left, &right);
            assert_eq!(edits(&left, &right, limit), Some(all).filter(|all| *all <= limit));
        }

        #[test]
        fn few_words_are_compared_as_without_an_index(words in proptest::collection::vec("[ab1]{4,9}", 0..9), word in "[ab1]{4,9}") {
            let known = || words.iter().map(String::as_str);
            let index = Words::new(known());
            assert_eq!(index.did_you_mean(&word), did_you_mean(&word, known()));
            assert_eq!(index.only_meant(&word), only_meant(&word, known()));
        }

        #[test]
        fn words_of_other_letters_are_further_apart_than_these_letters_say(a in "[a-eA-C_-]{0,8}", b in "[a-eA-C_-]{0,8}") {
            let letters = (alphabet(&a) ^ alphabet(&b)).count_ones() as usize;
            assert!(letters <= 2 * all_edits(&super::letters(&a), &super::letters(&b)));
        }
    }
}
