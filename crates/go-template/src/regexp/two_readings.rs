//! Whether the groups of a pattern are ambiguous: a text that two ways through the pattern divide in two ways.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use regex_automata::nfa::thompson::{NFA, State, Transition};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;
use regex_syntax::hir::{Capture, Hir, HirKind, Repetition};

use super::parse::Parsed;
use super::{Error, error, parse};

/// A text that a pattern divides into its groups in two ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwoReadings {
    /// The shortest one.
    pub text: String,
    /// A group that has two texts in it.
    pub group: String,
    /// One of them.
    pub one: String,
    /// The other one, which may be empty.
    pub other: String,
}

/// The largest automaton, in bytes, and the most pairs of its states that are visited.
const SIZE: usize = 64 << 10;
const PAIRS: usize = 400_000;

/// What a byte of a text is to one way through the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Text of the pattern.
    Text,
    /// What may be of any length outside of the groups, whose greed decides; groups that are named as such are like it.
    Free,
    /// Of a named group.
    Group(usize),
}

/// Two ways through the pattern, each before its next byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Pair {
    one: StateID,
    other: StateID,
    /// Whether they divided the text before it in different ways.
    differs: bool,
}

struct Step {
    pair: Pair,
    /// The step before, and the byte behind it.
    before: Option<(usize, u8)>,
}

/// The shortest text that a pattern, between `^` and `$`, divides into its named groups in two ways, if there is one. Texts of the
/// groups in `free` do not count. A pattern with borders of words or lines is not looked at.
///
/// # Errors
/// The pattern is invalid in Go, or too large.
pub fn find_two_readings(pattern: &str, free: &[&str]) -> Result<Option<TwoReadings>, Error> {
    let Parsed { hir, names } = parse::pattern(pattern)?;
    let too_large = || error("pattern is too large to look for two readings");
    let hir = mark(hir, &names, &mut names.len());
    let mut compiler = NFA::compiler();
    let config = NFA::config().nfa_size_limit(Some(SIZE));
    let nfa = compiler.configure(config).build_from_hir(&hir);
    let nfa = nfa.map_err(|_| too_large())?;
    let looks = nfa.look_set_any().iter();
    if { looks }.any(|look| !matches!(look, Look::Start | Look::End)) {
        return Ok(None);
    }
    let walk = Walk::new(&nfa, &names, free);
    walk.find().ok_or_else(too_large)
}

/// Puts a group without a name around what may be of any length outside of named ones.
fn mark(hir: Hir, names: &[Option<String>], next: &mut usize) -> Hir {
    let is_named = |group: u32| names.get(group as usize).is_some_and(Option::is_some);
    match hir.kind() {
        HirKind::Capture(capture) if is_named(capture.index) => return hir,
        HirKind::Capture(_)
        | HirKind::Repetition(_)
        | HirKind::Concat(_)
        | HirKind::Alternation(_) => {}
        _ => return hir,
    }
    match hir.into_kind() {
        HirKind::Capture(capture) => Hir::capture(Capture {
            sub: Box::new(mark(*capture.sub, names, next)),
            ..capture
        }),
        HirKind::Repetition(repetition) => {
            let is_free = repetition.max != Some(1) && repetition.max != Some(repetition.min);
            let index = u32::try_from(*next).unwrap_or(u32::MAX);
            *next += usize::from(is_free);
            let hir = Hir::repetition(Repetition {
                sub: Box::new(mark(*repetition.sub, names, next)),
                ..repetition
            });
            if is_free {
                let sub = Box::new(hir);
                Hir::capture(Capture {
                    index,
                    name: None,
                    sub,
                })
            } else {
                hir
            }
        }
        HirKind::Concat(all) => {
            Hir::concat(all.into_iter().map(|it| mark(it, names, next)).collect())
        }
        HirKind::Alternation(all) => {
            Hir::alternation(all.into_iter().map(|it| mark(it, names, next)).collect())
        }
        _ => Hir::fail(),
    }
}

/// The ways through an automaton.
struct Walk<'n> {
    nfa: &'n NFA,
    names: &'n [Option<String>],
    /// What a byte is, by the state that reads it.
    parts: HashMap<StateID, Part>,
    /// The states that read the next byte, or match, behind each state.
    next: HashMap<StateID, Rc<[StateID]>>,
}

impl<'n> Walk<'n> {
    fn new(nfa: &'n NFA, names: &'n [Option<String>], free: &[&str]) -> Self {
        let part = |group: usize| match names.get(group) {
            Some(Some(name)) if !free.contains(&&**name) => Some(Part::Group(group)),
            Some(None) => None,
            Some(Some(_)) | None => Some(Part::Free),
        };
        let mut parts = HashMap::new();
        let mut open = vec![(nfa.start_anchored(), vec![Part::Text])];
        while let Some((state, stack)) = open.pop() {
            if parts.contains_key(&state) {
                continue;
            }
            parts.insert(state, stack.last().copied().unwrap_or(Part::Text));
            let mut stack = stack;
            if let State::Capture {
                group_index, slot, ..
            } = nfa.state(state)
                && let Some(part) = part(group_index.as_usize())
            {
                if slot.as_usize() % 2 == 0 {
                    stack.push(part);
                } else {
                    stack.pop();
                }
            }
            let states = empty_steps(nfa, state).into_iter();
            let states = states.chain(transitions(nfa, state).into_iter().map(|it| it.next));
            open.extend(states.map(|state| (state, stack.clone())));
        }
        let mut walk = Self {
            nfa,
            names,
            parts,
            next: HashMap::new(),
        };
        let states: Vec<StateID> = walk.parts.keys().copied().collect();
        for state in states {
            let readers = walk.readers(state, state == nfa.start_anchored());
            walk.next.insert(state, readers);
        }
        walk
    }

    /// The states that read the next byte behind a state, and the one that matches where the text may end.
    fn readers(&self, state: StateID, is_start: bool) -> Rc<[StateID]> {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        let mut open = vec![(state, false)];
        while let Some((state, is_end)) = open.pop() {
            if !seen.insert((state, is_end)) {
                continue;
            }
            match self.nfa.state(state) {
                State::Match { .. } => found.push(state),
                State::Look {
                    look: Look::Start, ..
                } if !is_start => {}
                State::Look {
                    look: Look::End,
                    next,
                } => open.push((*next, true)),
                _ if !is_end && !transitions(self.nfa, state).is_empty() => found.push(state),
                _ => open.extend(
                    empty_steps(self.nfa, state)
                        .into_iter()
                        .map(|it| (it, is_end)),
                ),
            }
        }
        found.into()
    }

    /// The first pair of ways that end with different texts of the groups; nothing where there are too many.
    fn find(&self) -> Option<Option<TwoReadings>> {
        let (mut steps, mut seen) = (Vec::new(), HashSet::new());
        let start = self.nfa.start_anchored();
        self.extend(&mut steps, &mut seen, [start, start], false, None);
        let mut at = 0;
        while at < steps.len() {
            let pair = steps[at].pair;
            let ends = [pair.one, pair.other].map(|state| self.nfa.state(state));
            if let [State::Match { .. }, State::Match { .. }] = ends {
                if pair.differs {
                    return Some(Some(self.readings(&steps, at)));
                }
            } else if steps.len() > PAIRS {
                return None;
            } else if let Some(differs) = self.compare(pair) {
                let others = transitions(self.nfa, pair.other);
                let ones = transitions(self.nfa, pair.one);
                let both = ones
                    .iter()
                    .flat_map(|one| others.iter().map(move |other| (one, other)));
                let shared = both.filter_map(|(one, other)| {
                    let byte = find_byte(one, other)?;
                    Some((byte, [one.next, other.next]))
                });
                let mut shared: Vec<_> = shared.collect();
                shared.sort_by_key(|(byte, _)| !byte.is_ascii_alphanumeric());
                for (byte, next) in shared {
                    self.extend(&mut steps, &mut seen, next, differs, Some((at, byte)));
                }
            }
            at += 1;
        }
        Some(None)
    }

    fn extend(
        &self,
        steps: &mut Vec<Step>,
        seen: &mut HashSet<Pair>,
        [one, other]: [StateID; 2],
        differs: bool,
        before: Option<(usize, u8)>,
    ) {
        for one in &*self.next[&one] {
            for other in &*self.next[&other] {
                let pair = Pair {
                    one: *one,
                    other: *other,
                    differs,
                };
                if seen.insert(pair) {
                    steps.push(Step { pair, before });
                }
            }
        }
    }

    /// Whether two ways differ once they have read the next byte; nothing where free text would decide it.
    fn compare(&self, pair: Pair) -> Option<bool> {
        match [pair.one, pair.other].map(|state| self.parts[&state]) {
            [Part::Free, Part::Free] => Some(pair.differs),
            [Part::Free, _] | [_, Part::Free] => None,
            [one, other] => Some(pair.differs || one != other),
        }
    }

    /// The text of the steps up to one, and what both ways make of it.
    fn readings(&self, steps: &[Step], end: usize) -> TwoReadings {
        let (mut path, mut at) = (Vec::new(), end);
        while let Some((before, byte)) = steps[at].before {
            path.push((steps[before].pair, byte));
            at = before;
        }
        path.reverse();
        let bytes = |is_read: &dyn Fn(Pair) -> bool| {
            let bytes = path.iter().filter(|(pair, _)| is_read(*pair));
            let bytes: Vec<u8> = bytes.map(|(_, byte)| *byte).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let mut readings = self.names.iter().enumerate().filter_map(|(group, name)| {
            let part = Part::Group(group);
            let one = bytes(&|pair| self.parts[&pair.one] == part);
            let other = bytes(&|pair| self.parts[&pair.other] == part);
            let group = name.clone().filter(|_| one != other)?;
            // The longer one first.
            let (one, other) = if one.len() < other.len() {
                (other, one)
            } else {
                (one, other)
            };
            Some((group, one, other))
        });
        let (group, one, other) = readings.next().unwrap_or_default();
        TwoReadings {
            text: bytes(&|_| true),
            group,
            one,
            other,
        }
    }
}

/// Where a state leads without a byte.
fn empty_steps(nfa: &NFA, state: StateID) -> Vec<StateID> {
    match nfa.state(state) {
        State::Look { next, .. } | State::Capture { next, .. } => vec![*next],
        State::Union { alternates } => alternates.to_vec(),
        State::BinaryUnion { alt1, alt2 } => vec![*alt1, *alt2],
        _ => Vec::new(),
    }
}

/// Where a state leads with a byte.
fn transitions(nfa: &NFA, state: StateID) -> Vec<Transition> {
    match nfa.state(state) {
        State::ByteRange { trans } => vec![*trans],
        State::Sparse(all) => all.transitions.to_vec(),
        // A compiled pattern has no dense states.
        _ => Vec::new(),
    }
}

/// A byte that both have, a letter or a digit where they can.
fn find_byte(one: &Transition, other: &Transition) -> Option<u8> {
    let range = one.start.max(other.start)..=one.end.min(other.end);
    let usual = [b'a', b'0', b'A'].map(|byte| byte.max(*range.start()));
    let mut usual = usual
        .into_iter()
        .filter(|byte| byte.is_ascii_alphanumeric());
    let usual = usual.find(|byte| range.contains(byte));
    usual.or_else(|| (!range.is_empty()).then(|| *range.start()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, proptest};
    use proptest::sample::select;

    use super::super::Regexp;
    use super::find_two_readings;

    fn find(pattern: &str) -> String {
        let found = find_two_readings(pattern, &["raw"]).expect(pattern);
        found.map_or_else(String::new, |it| {
            format!("{}: {} {}|{}", it.text, it.group, it.one, it.other)
        })
    }

    #[test]
    fn a_text_that_two_groups_may_share_has_two_readings() {
        for (pattern, expected) in [
            (r"^(?P<os>[a-z]+)(?P<flavor>[a-z]+)$", "aaa: os aa|a"),
            (r"^(?P<os>.+)-(?P<k8s>.+)$", "a--a: os a-|a"),
            (
                r"^(?P<os>[a-z-]+?)(?:-(?P<flavor>cis))?$",
                "a-cis: os a-cis|a",
            ),
            (
                r"^(?P<os>a|ab)(?P<flavor>c|bcd)(?P<k8s>d*)$",
                "abcd: os ab|a",
            ),
            (r"^(?P<os>[a-z]+)(?P<release>\d+)-(?P<k8s>1\.\d+)$", ""),
            (r"^(?P<os>[a-z]+)-(?P<release>[a-z]+|\d+)$", ""),
            (r"^(?P<k8s>1\.\d+\.\d+).*$", ""),
            (r"^.*-(?P<os>[a-z-]+)$", ""),
            (r"^(?P<os>[é-ü]+)x?(?P<k8s>é?)$", "éé: os éé|é"),
            (r"^(?P<os>[a.]+)(?:\.(?P<raw>a))?$", ""),
            (r"^(?P<os>\w+)\b(?P<k8s>\w*)$", ""),
            (r"^(?P<os>a+)(?:x|y)*$|^b$", ""),
            (r"^(x+)(?P<os>[a-z]+)$", ""),
            (r"^(x|y)(?P<os>[a-z]+)(?P<flavor>[a-z]+)$", "xaaa: os aa|a"),
        ] {
            assert_eq!(find(pattern), expected, "{pattern}");
        }
        assert!(find_two_readings("(", &[]).is_err());
        assert!(find_two_readings(r"^(?P<a>.{900})$", &[]).is_err());
    }

    /// Counts how often a text can be cut into one of the first pattern, the gap, and one of the second.
    fn counter([one, gap, other]: [&'static str; 3]) -> impl Fn(&str) -> usize {
        let whole = |pattern: &str| Regexp::new(&format!("^(?:{pattern})$")).expect("a pattern");
        let (one, other) = (whole(one), whole(other));
        move |text| {
            let is_cut = |at: &usize| {
                let behind = text[*at..].strip_prefix(gap);
                one.is_match(&text[..*at]) && behind.is_some_and(|behind| other.is_match(behind))
            };
            (0..=text.len()).filter(is_cut).count()
        }
    }

    proptest! {
        /// Two parts are ambiguous exactly where some text can be cut in two ways.
        #[test]
        fn parts_are_ambiguous_where_a_text_can_be_cut_in_two_ways(
            one in part(),
            gap in gap(),
            other in part(),
        ) {
            let count = counter([one, gap, other]);
            let pattern = format!("^(?P<one>{one}){gap}(?P<other>{other})$");
            let found = find_two_readings(&pattern, &[]).expect("small");
            match found {
                Some(found) => assert!(count(&found.text) > 1, "{pattern}: {found:?}"),
                None => {
                    for number in 0..3_usize.pow(6) {
                        let digits = (0..6).map(|place| number / 3_usize.pow(place) % 3);
                        let text: String = digits.map(|digit| ["a", "-", "1"][digit]).collect();
                        for end in 0..=text.len() {
                            assert!(count(&text[..end]) < 2, "{pattern}: {text}");
                        }
                    }
                }
            }
        }
    }

    fn part() -> impl Strategy<Value = &'static str> {
        select(vec![
            "a",
            "a+",
            "a*",
            "a?",
            "a+-?",
            "[a-]+",
            "a|a-a",
            "1+",
            "[a1]+",
            "a1|a",
            "-a*",
            "(?:a-)*",
            "a{2}|a{3}",
            "",
        ])
    }

    fn gap() -> impl Strategy<Value = &'static str> {
        select(vec!["", "-", "a", "-1"])
    }
}
