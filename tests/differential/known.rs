//! The differences that are known, each with an input that still differs: an entry goes when it is fixed.

use serde_json::Value as Json;
use yaml_tree::engine::Engine;

use super::engine::Answer;
use super::{Difference, Kind, parsed};

/// A known difference.
pub(super) struct Known {
    /// Its finding.
    pub(super) id: &'static str,
    pub(super) what: &'static str,
    pub(super) kind: Kind,
    pub(super) minor: &'static str,
    /// An input that differs, as long as it is not fixed.
    pub(super) case: &'static str,
    /// Whether a difference is this one.
    pub(super) is_it: fn(&Difference) -> bool,
}

pub(super) const KNOWN: &[Known] = &[
    Known {
        id: "T1",
        what: "`fromToml` reads TOML 1.1: what is an error, and its text, differ from Helm's",
        kind: Kind::Expression,
        minor: "3.17",
        case: "{{ `%` | fromToml }}",
        is_it: |difference| {
            let is_error = difference.in_ours("toml") || difference.in_theirs("toml: ");
            difference.calls(&["fromToml"]) && is_error
        },
    },
    Known {
        id: "D6",
        what: "bytes that are not UTF-8 are refused",
        kind: Kind::Expression,
        minor: "3.17",
        case: "{{ `/w==` | b64dec | sha256sum }}",
        is_it: |difference| difference.in_ours("not UTF-8"),
    },
    Known {
        id: "N1",
        what: "`fromJson` of `null` is a map without entries, not nothing",
        kind: Kind::Expression,
        minor: "3.17",
        case: "{{ `null` | fromJson }}",
        is_it: |difference| {
            let is_empty = |empty: &&str| !difference.in_ours(empty) && difference.in_theirs(empty);
            difference.calls(&["fromJson", "fromYaml"])
                && (difference.in_ours("`<nil>`") || ["map[]", "{}", "[]"].iter().any(is_empty))
        },
    },
    Known {
        id: "D7b",
        what: "`snakecase` and `kebabcase` differ behind punctuation",
        kind: Kind::Expression,
        minor: "3.17",
        case: "{{ snakecase `{-0` }}",
        is_it: |difference| {
            let bare = |answer: &Answer| match answer {
                Answer::Text(text) => text.replace(['-', '_'], ""),
                _ => String::new(),
            };
            difference.calls(&["snakecase", "kebabcase"])
                && bare(&difference.ours) == bare(&difference.theirs)
        },
    },
    Known {
        id: "D10",
        what: "the text of an error in `fromYaml` is another one",
        kind: Kind::Expression,
        minor: "3.17",
        case: "{{ `{5:` | fromYaml }}",
        is_it: |difference| {
            difference.calls(&["fromYaml"])
                && difference.in_ours("converting")
                && difference.in_theirs("converting")
        },
    },
    Known {
        id: "D10b",
        what: "`slice` does not reach past a list's length into its capacity",
        kind: Kind::Expression,
        minor: "3.17",
        case: "{{ slice (slice (list `b` `a` ``) 0 1) 0 3 }}",
        is_it: |difference| difference.in_ours("`slice` outside of a list of"),
    },
    Known {
        id: "A1",
        what: "`atoi` of more digits than an int64 has and something behind them is 0, not the largest number",
        kind: Kind::Expression,
        minor: "3.17",
        case: "{{ atoi `60660808845331085141e` }}",
        is_it: |difference| {
            difference.calls(&["atoi"]) && difference.in_theirs("922337203685477580")
        },
    },
    Known {
        id: "F1",
        what: "of two shortest spellings that are as near to a float, the one with an odd last digit is written",
        kind: Kind::Expression,
        minor: "3.17",
        case: "{{ print 21687357856.164064 }}",
        is_it: |difference| match (&difference.ours, &difference.theirs) {
            (Answer::Text(ours), Answer::Text(theirs)) => are_next_digits(ours, theirs),
            _ => false,
        },
    },
    Known {
        id: "H1",
        what: "a text with a hexadecimal float is 0",
        kind: Kind::Expression,
        minor: "3.17",
        case: "{{ `0x1.4p+05` | float64 }}",
        is_it: |difference| {
            difference.calls(&["%x", "0x1.4p+05"])
                && difference.calls(&["float64", "floor", "ceil", "round"])
        },
    },
    Known {
        id: "G1",
        what: "`range` over an integer is refused for Helm before 3.19, as in its releases, which Go 1.23 built; here a newer Go builds it",
        kind: Kind::Expression,
        minor: "3.17",
        case: "{{ range 2 }}x{{ end }}",
        is_it: |difference| {
            difference.minor.engine == Engine::Helm3_18
                && difference.in_ours("`range` cannot go over")
                && (difference.in_ours("of type `int") || difference.in_ours("of type `uint8`"))
        },
    },
    Known {
        id: "D11",
        what: "`.NaN` is refused also where a later line of the same key wins",
        kind: Kind::Values,
        minor: "3.17",
        case: "l: .NaN\nl: 1\n",
        is_it: |difference| {
            matches!(difference.ours, Answer::Error(_))
                && [".nan", ".inf"]
                    .iter()
                    .any(|word| difference.input.to_lowercase().contains(word))
        },
    },
    Known {
        id: "L1",
        what: "Helm 4 takes a line break of CR, CR and LF for one",
        kind: Kind::Values,
        minor: "4.1",
        case: "v: |\r\r\n b",
        is_it: |difference| {
            difference.minor.engine == Engine::Helm4 && difference.input.contains("\r\r\n")
        },
    },
    Known {
        id: "Y1",
        what: "`-0.0` and `0.0` are two keys; of keys that become one text, Go's own order is random",
        kind: Kind::Values,
        minor: "3.17",
        case: "-0.0:\n0.0:\n",
        is_it: |difference| match (&difference.ours, &difference.theirs) {
            (Answer::Text(ours), Answer::Text(theirs)) => {
                without_numbers(parsed(ours)) == without_numbers(parsed(theirs))
            }
            _ => false,
        },
    },
];

/// Whether the texts differ in digits only, each of which follows the other's.
fn are_next_digits(one: &str, other: &str) -> bool {
    let pairs = one.bytes().zip(other.bytes());
    let mut differing = pairs.filter(|(one, other)| one != other);
    one.len() == other.len()
        && differing.all(|(one, other)| {
            one.is_ascii_digit() && other.is_ascii_digit() && one.abs_diff(other) == 1
        })
}

/// The value without the entries whose keys are numbers.
fn without_numbers(json: Json) -> Json {
    match json {
        Json::Object(map) => {
            let entries = map.into_iter();
            let entries = entries.filter(|(key, _)| key.parse::<f64>().is_err());
            Json::Object(
                entries
                    .map(|(key, value)| (key, without_numbers(value)))
                    .collect(),
            )
        }
        Json::Array(items) => items.into_iter().map(without_numbers).collect(),
        json => json,
    }
}

impl Difference {
    /// Whether one of these functions is in the input.
    fn calls(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.input.contains(name))
    }

    fn in_ours(&self, part: &str) -> bool {
        self.ours.contains(part)
    }

    fn in_theirs(&self, part: &str) -> bool {
        self.theirs.contains(part)
    }
}

impl Answer {
    fn contains(&self, part: &str) -> bool {
        match self {
            Self::Text(text) | Self::Error(text) => text.contains(part),
            Self::Death => false,
        }
    }
}
