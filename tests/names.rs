//! A function is called by a verb (`resolve`) or by the noun that it returns (`images`), never by a participle or a preposition alone
//! (`named`, `shown`, `of`, `below`): those say neither what happens nor what comes back. docs/development.md has the rule.

use std::collections::BTreeSet;

use super::support::code;

/// First words that say where or whose, not what. `from`, `to`, `into`, `as`, `with` and `for` begin conversions and constructors,
/// where a word follows.
const PREPOSITIONS: &[&str] = &[
    "about", "above", "across", "after", "against", "along", "among", "around", "at", "before",
    "behind", "below", "beside", "between", "beyond", "by", "down", "in", "inside", "of", "off",
    "on", "out", "outside", "over", "per", "since", "than", "through", "toward", "under", "until",
    "up", "via", "within", "without",
];

/// Words that begin a name only where another follows.
const CONVERSIONS: &[&str] = &["as", "for", "from", "into", "to", "with"];

/// Participles that do not end in `ed`.
const PARTICIPLES: &[&str] = &[
    "begun",
    "bought",
    "bound",
    "broken",
    "brought",
    "built",
    "caught",
    "chosen",
    "dealt",
    "done",
    "drawn",
    "driven",
    "found",
    "given",
    "gone",
    "grown",
    "held",
    "hidden",
    "kept",
    "known",
    "laid",
    "led",
    "left",
    "lent",
    "lost",
    "made",
    "met",
    "overridden",
    "paid",
    "proven",
    "said",
    "seen",
    "sent",
    "shown",
    "sold",
    "spent",
    "spoken",
    "taken",
    "thought",
    "thrown",
    "told",
    "understood",
    "unknown",
    "unread",
    "unwritten",
    "written",
];

/// Nouns and verbs that end as participles do.
const NO_PARTICIPLES: &[&str] = &[
    "embed", "exceed", "feed", "need", "proceed", "seed", "speed", "succeed",
];

/// Names that are right although the rule does not know it. At most three in a hundred.
const EXCEPTIONS: &[&str] = &[
    // The image that is booted, selected, described.
    "booted_image",
    "described_image",
    "selected_image",
    // The trait `ServerCertVerifier` of rustls.
    "supported_verify_schemes",
    // Functions of templates, by Sprig's and Helm's own names.
    "required",
    "until",
    "until_step",
    "without",
];

/// Whether a name begins with a participle or a preposition.
fn is_odd(name: &str) -> bool {
    let first = name
        .trim_start_matches('_')
        .split('_')
        .next()
        .unwrap_or_default();
    let is_alone = first == name;
    let is_participle =
        first.len() > 3 && first.ends_with("ed") && !NO_PARTICIPLES.contains(&first);
    PREPOSITIONS.contains(&first)
        || PARTICIPLES.contains(&first)
        || is_participle
        || is_alone && CONVERSIONS.contains(&first)
}

/// The names of the functions that a text defines. The trait `From` names `from`.
fn functions(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter_map(|line| {
        let (before, rest) = line.split_once("fn ")?;
        let words = ["pub", "const", "async"];
        let mut before = before.split_whitespace();
        let is_definition = before
            .all(|word| words.iter().any(|known| word.starts_with(known)) || word.ends_with(')'));
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        is_definition.then(|| &rest[..end.unwrap_or(rest.len())])
    });
    lines.filter(|name| *name != "from")
}

/// Whether a file is there for tests alone.
fn is_for_tests(path: &str) -> bool {
    ["tests.rs", "testing.rs"]
        .iter()
        .any(|name| path.ends_with(name))
        || path.contains("/tests/")
}

#[test]
fn functions_are_called_by_verbs_or_by_what_they_return() {
    let files = code::code();
    let product = files.iter().filter(|(path, _)| !is_for_tests(path));
    let texts = product.filter_map(|(_, text)| text.split("mod tests {").next());
    let all: Vec<&str> = texts.flat_map(functions).collect();
    let odd: BTreeSet<&str> = all.iter().copied().filter(|name| is_odd(name)).collect();
    let exceptions: BTreeSet<&str> = EXCEPTIONS.iter().copied().collect();
    let new: Vec<_> = odd.difference(&exceptions).collect();
    assert!(
        new.is_empty(),
        "a verb, or the noun that is returned, instead of {new:?}"
    );
    let old: Vec<_> = exceptions.difference(&odd).collect();
    assert!(old.is_empty(), "no longer exceptions: {old:?}");
    assert!(
        all.len() > 4_000 && EXCEPTIONS.len() * 100 <= all.len() * 3,
        "{} of {}",
        EXCEPTIONS.len(),
        all.len()
    );
}

#[test]
fn names_are_judged_by_their_first_word() {
    for odd in [
        "of",
        "named",
        "shown_value",
        "below",
        "with",
        "unknown",
        "from",
    ] {
        assert!(is_odd(odd), "{odd}");
    }
    for even in [
        "resolve",
        "images",
        "with_place",
        "from_map",
        "need",
        "is_shown",
        "as_text",
        "read",
    ] {
        assert!(!is_odd(even), "{even}");
    }
}
