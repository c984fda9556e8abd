//! Version constraints such as `>=1.30, <1.32 || ^1.33.x`, with the rules of the Masterminds library
//! (<https://github.com/Masterminds/semver#checking-version-constraints>).
//!
//! The rules differ from Cargo's and npm's: blanks and commas both mean "and", a bare version means `=`, and a pre-release
//! version satisfies a constraint only if the constraint names a pre-release too. Up to version 3.3 of the library, this applies
//! to each bound on its own; since 3.4, a pre-release in one bound of an "and" group admits pre-releases in the whole group.

use std::cmp::Ordering;
use std::sync::LazyLock;

use semver::Version;
use yaml_tree::engine::Engine;

use super::super::function::MADE_LIMIT;
use super::version::parse;
use crate::regexp::Regexp;

/// Alternatives, separated by `||`: a version must satisfy all constraints of one of them.
pub(super) struct Constraints {
    alternatives: Vec<Vec<Constraint>>,
}

struct Constraint {
    operator: Operator,
    version: Version,
    /// The first segment that is missing or is a wildcard.
    open: Open,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterEqual,
    LessEqual,
    Tilde,
    Caret,
}

impl Operator {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "" | "=" => Self::Equal,
            "!=" => Self::NotEqual,
            ">" => Self::Greater,
            "<" => Self::Less,
            ">=" | "=>" => Self::GreaterEqual,
            "<=" | "=<" => Self::LessEqual,
            "~" | "~>" => Self::Tilde,
            "^" => Self::Caret,
            _ => return None,
        })
    }
}

/// Constraints with the bounds that their ranges mean: `1.2 - 1.4` is `>= 1.2, <= 1.4`. A longer text than a function makes is not
/// whole.
pub(super) fn expand_ranges(text: &str) -> Option<String> {
    let Grammar { range, .. } = GRAMMAR.as_ref()?;
    Some(range.replace_all(text, ">= $1, <= $11 ", MADE_LIMIT))
}

/// The first segment of a constraint's version that is missing or a wildcard.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    /// All three segments are given.
    Nowhere,
    Major,
    Minor,
    Patch,
}

const VERSION: &str = r"v?([0-9|x|X|\*]+)(\.[0-9|x|X|\*]+)?(\.[0-9|x|X|\*]+)?(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?";

/// The operators, in the order in which the library's expression tries them.
const OPERATORS: &str = r"=||!=|>|<|>=|=>|<=|=<|~|~>|\^";

/// The regular expressions of the library, used unchanged so that the same malformed constraints are accepted.
struct Grammar {
    range: Regexp,
    valid: Regexp,
    one: Regexp,
}

static GRAMMAR: LazyLock<Option<Grammar>> = LazyLock::new(|| {
    let one = format!(r"({OPERATORS})\s*({VERSION})");
    Some(Grammar {
        range: Regexp::new(&format!(r"\s*({VERSION})\s+-\s+({VERSION})\s*")).ok()?,
        valid: Regexp::new(&format!(r"^(\s*{one}\s*)((?:\s+|,\s*){one}\s*)*$")).ok()?,
        one: Regexp::new(&one).ok()?,
    })
});

impl Constraints {
    /// Parses constraints without ranges; none if the text is malformed.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let Grammar { valid, one, .. } = GRAMMAR.as_ref()?;
        let mut alternatives = Vec::new();
        for alternative in text.split("||") {
            if !valid.is_match(alternative) {
                return None;
            }
            let found = one.find_all(alternative, -1);
            let constraints: Option<Vec<Constraint>> =
                found.into_iter().map(Constraint::parse).collect();
            alternatives.push(constraints?);
        }
        Some(Self { alternatives })
    }

    /// Whether a version satisfies the constraints, under the rules of the library version that the engine uses.
    pub(super) fn admits(&self, version: &Version, engine: Engine) -> bool {
        self.alternatives.iter().any(|all| {
            let is_open = |each: &Constraint| match engine {
                Engine::Helm3_18 => {
                    each.names_prerelease()
                        || each.operator == Operator::NotEqual && each.open == Open::Nowhere
                }
                _ => all.iter().any(Constraint::names_prerelease),
            };
            let is_refused = |each| !version.pre.is_empty() && !is_open(each);
            all.iter()
                .all(|each| !is_refused(each) && each.admits(version))
        })
    }
}

impl Constraint {
    fn parse(text: &str) -> Option<Self> {
        let start = text.find(|c: char| !"=!<>~^".contains(c))?;
        let (operator, version) = text.split_at(start);
        let operator = Operator::parse(operator)?;
        let version = version.trim();
        let end = version.find(['-', '+']).unwrap_or(version.len());
        let (numbers, suffix) = version.split_at(end);
        let prerelease = suffix.split('+').next().unwrap_or_default();
        let bare = numbers.strip_prefix('v').unwrap_or(numbers);
        let segments: Vec<&str> = bare.split('.').collect();
        let is_open = |index: usize| {
            segments
                .get(index)
                .is_none_or(|segment| matches!(*segment, "x" | "X" | "*"))
        };
        let (open, version) = if is_open(0) {
            (Open::Major, format!("0.0.0{prerelease}"))
        } else if is_open(1) {
            (Open::Minor, format!("{}.0.0{prerelease}", segments[0]))
        } else if is_open(2) {
            (
                Open::Patch,
                format!("{}.{}.0{prerelease}", segments[0], segments[1]),
            )
        } else {
            (Open::Nowhere, version.to_owned())
        };
        Some(Self {
            operator,
            version: parse(&version)?,
            open,
        })
    }

    fn names_prerelease(&self) -> bool {
        !self.version.pre.is_empty()
    }

    fn admits(&self, version: &Version) -> bool {
        let bound = &self.version;
        let order = version.cmp_precedence(bound);
        match self.operator {
            Operator::Equal if self.open == Open::Nowhere => order == Ordering::Equal,
            Operator::Equal | Operator::Tilde => {
                order != Ordering::Less && self.same_start(version)
            }
            Operator::NotEqual => self.differs(version, order),
            Operator::Greater => self.is_below(version, order),
            Operator::Less => order == Ordering::Less,
            Operator::GreaterEqual => order != Ordering::Less,
            Operator::LessEqual => self.is_above(version, order),
            Operator::Caret => order != Ordering::Less && self.is_compatible(version),
        }
    }

    /// `~1.2.3` admits the same minor version, `~1` the same major version, `~*` and `~0.0.0` every version.
    fn same_start(&self, version: &Version) -> bool {
        let bound = &self.version;
        let zero = (bound.major, bound.minor, bound.patch) == (0, 0, 0);
        if zero && matches!(self.open, Open::Nowhere | Open::Major) {
            return true;
        }
        version.major == bound.major && (version.minor == bound.minor || self.open == Open::Minor)
    }

    fn differs(&self, version: &Version, order: Ordering) -> bool {
        let bound = &self.version;
        if self.open == Open::Nowhere || version.major != bound.major {
            return order != Ordering::Equal;
        }
        match self.open {
            Open::Minor => false,
            _ if version.minor != bound.minor => true,
            Open::Patch => version.pre != bound.pre,
            _ => version.patch != bound.patch || order != Ordering::Equal,
        }
    }

    /// `>1` admits versions from 2.0.0 on, `>1.2` from 1.3.0 on.
    fn is_below(&self, version: &Version, order: Ordering) -> bool {
        let bound = &self.version;
        match self.open {
            Open::Minor => version.major > bound.major,
            Open::Patch => (version.major, version.minor) > (bound.major, bound.minor),
            _ => order == Ordering::Greater,
        }
    }

    /// `<=1` admits all of 1.x, `<=1.2` all of 1.2.x.
    fn is_above(&self, version: &Version, order: Ordering) -> bool {
        let bound = &self.version;
        match self.open {
            Open::Nowhere => order != Ordering::Greater,
            Open::Minor => version.major <= bound.major,
            _ => (version.major, version.minor) <= (bound.major, bound.minor),
        }
    }

    /// `^1.2.3` admits the same major version; below 1.0, the same minor version; below 0.1, the same version only.
    fn is_compatible(&self, version: &Version) -> bool {
        let bound = &self.version;
        if bound.major > 0 || self.open == Open::Minor {
            return version.major == bound.major;
        }
        if version.major > 0 {
            return false;
        }
        if bound.minor > 0 || self.open == Open::Patch {
            return version.minor == bound.minor;
        }
        version.minor == 0 && version.patch == bound.patch
    }
}

#[cfg(test)]
mod tests {
    use super::{Constraints, Engine, expand_ranges};
    use crate::functions::version;

    /// The versions that each constraint is checked with.
    const VERSIONS: &[&str] = &[
        "0.0.3",
        "0.0.4",
        "0.1.9",
        "1.2.0",
        "1.2.3-rc",
        "1.4.9",
        "1.31.8",
        "v1.31.8+rke2r1",
        "1.31.8-alpha",
        "1.33.1",
        "2.0.0",
    ];

    /// The result of every Helm version: one digit per version, 1 if the constraint admits it.
    const ADMITTED: &[(&str, &str)] = &[
        (">=1.30.0, <1.32 || ^1.33.x", "00000011010"),
        ("1.2 - 1.4", "00010100000"),
        ("~1.2.3-beta", "00001000000"),
        ("^0.1", "00100000000"),
        ("^0.0.3", "10000000000"),
        ("^0.0", "11000000000"),
        ("~0", "11100000000"),
        ("~0.0.0", "11110111011"),
        ("!=1.31", "11110100011"),
        ("!=*", "11110111011"),
        ("<1.3 || >=1.33.0-0", "11110000011"),
        (">1", "00000000001"),
        (">1.2", "00000111011"),
        ("<=1", "11110111010"),
        ("<=1.2", "11110000000"),
        ("<1.x", "11100000000"),
        ("=>1.2", "00010111011"),
        ("1.x.3", "00010111010"),
        ("*", "11110111011"),
        (">=1.31.8-0", "00000011111"),
        ("v1.31", "00000011000"),
        ("1.31.8+rke2r1", "00000011000"),
        ("~> 1.2", "00010000000"),
    ];

    /// The results of Helm before 3.19, and since.
    const CHANGED: &[(&str, [&str; 2])] = &[
        ("!=1.31.8", ["11111100111", "11110100011"]),
        (">=1.31.8-alpha, <1.33", ["00000011000", "00000011100"]),
        ("1.2 - 1.31.8-beta", ["00010100000", "00011100100"]),
        ("!=1.31.8 || <0.0.1-0", ["11111100111", "11110100011"]),
    ];

    fn parse(constraint: &str) -> Option<Constraints> {
        Constraints::parse(&expand_ranges(constraint)?)
    }

    fn admitted(constraint: &str, engine: Engine) -> String {
        let constraints = parse(constraint).expect(constraint);
        let admitted = |version: &&str| {
            let version = version::parse(version).expect("a version");
            if constraints.admits(&version, engine) {
                '1'
            } else {
                '0'
            }
        };
        VERSIONS.iter().map(admitted).collect()
    }

    #[test]
    fn constraints_admit_the_same_versions_as_in_helm() {
        for (constraint, expected) in ADMITTED {
            for engine in [Engine::Helm3_18, Engine::Helm3, Engine::Helm4] {
                assert_eq!(admitted(constraint, engine), *expected, "{constraint}");
            }
        }
    }

    #[test]
    fn since_helm_3_19_a_prerelease_in_one_bound_admits_prereleases_in_all_bounds() {
        for (constraint, [before, since]) in CHANGED {
            assert_eq!(
                admitted(constraint, Engine::Helm3_18),
                *before,
                "{constraint}"
            );
            for engine in [Engine::Helm3, Engine::Helm4] {
                assert_eq!(admitted(constraint, engine), *since, "{constraint}");
            }
        }
    }

    #[test]
    fn malformed_constraints_are_refused() {
        for wrong in [
            "", "==1.2.3", "!1.2", "1.2.3.4", "^", "1.2.3-01", ">=1,", "a",
        ] {
            assert!(parse(wrong).is_none(), "{wrong}");
        }
    }
}
