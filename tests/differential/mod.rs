//! Random inputs give what Helm's own engine gives, with the YAML reader, the regular expressions and the versions that belong to
//! it, in each minor of Helm that Flux and Argo CD embed.
//!
//! `METALMARK_DIFFERENTIAL=60` builds the engines with Go and tries new inputs for so many seconds. Without it, the same few inputs are
//! tried where the engines have been built. What differs is made small and printed with both answers; it is fixed, or becomes an entry of
//! `known.rs`.

mod engine;
pub(crate) mod expressions;
mod known;
mod patterns;
pub(crate) mod random;
mod shrink;
mod texts;
mod values;
mod versions;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant, SystemTime};

use go_template::ErrorClass;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value as Json, json};
use yaml_tree::engine::Engine;

use self::engine::{Answer, MINORS, Minor, Server, are_built};
use self::expressions::VALUES;
use self::known::{KNOWN, Known};
use self::random::Random;
use self::shrink::shrink;
use crate::helm;
use crate::hostile::{self, on_a_large_stack};
use crate::oracle::canonical;
use crate::oracle::expressions::Chart;
use crate::support::rounds;

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Expression,
    Values,
    Pattern,
}

/// Two answers to one input.
#[derive(Debug)]
struct Difference {
    input: String,
    minor: &'static Minor,
    ours: Answer,
    theirs: Answer,
}

/// The engines that some minor of Helm is.
const ENGINES: [Engine; 3] = [Engine::Helm3_18, Engine::Helm3, Engine::Helm4];

/// How many inputs a test tries where no time is given.
const CASES: u64 = 400;

/// How many inputs one request has.
const BATCH: usize = 40;

/// After how many new differences a test ends.
const ENOUGH: usize = 12;

/// Tests of random inputs.
macro_rules! random_inputs {
    ($($name:ident: $kind:ident, $inputs:expr;)*) => {
        $(#[test]
        fn $name() {
            if are_built() {
                on_a_large_stack(|| agree(Kind::$kind, $inputs));
            }
        })*

        /// How many there are: they share the time given.
        const TESTS: u64 = [$(stringify!($name)),*].len() as u64;
    };
}

random_inputs! {
    expressions_agree: Expression, of(Random::expression);
    functions_of_texts_agree: Expression, of(Random::call);
    versions_agree: Expression, of(Random::comparison);
    regular_expressions_agree: Pattern, of(Random::pattern);
    values_files_agree: Values, files();
}

fn of(generate: fn(&mut Random) -> String) -> impl FnMut() -> String {
    let mut random = Random::new(seed());
    move || generate(&mut random)
}

fn files() -> impl FnMut() -> String {
    let mutations = hostile::mutations(values::seeds());
    let seed = [seed(); 4].map(u64::to_le_bytes).concat();
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    move || {
        let tree = mutations.new_tree(&mut runner).expect("a mutation");
        String::from_utf8_lossy(&tree.current()).into_owned()
    }
}

#[test]
fn each_known_difference_is_still_there() {
    if !are_built() {
        return;
    }
    let mut kinds = [Kind::Expression, Kind::Values, Kind::Pattern].map(Engines::new);
    for known in KNOWN {
        let of_kind = kinds.iter_mut().find(|engines| engines.kind == known.kind);
        let engines = of_kind.expect("each kind has engines");
        let found = engines.differences(&[known.case.to_owned()]);
        let found = found.iter().find(|found| found.minor.name == known.minor);
        let found = found.unwrap_or_else(|| {
            panic!("{} is fixed, remove it: {}", known.id, known.what);
        });
        let first = KNOWN
            .iter()
            .find(|known| known.explains(engines.kind, found));
        assert_eq!(first.map(|known| known.id), Some(known.id), "{found:?}");
    }
}

/// The time given, or none.
fn time() -> Option<Duration> {
    let seconds = std::env::var("METALMARK_DIFFERENTIAL").ok()?;
    let seconds: u64 = seconds
        .parse()
        .expect("METALMARK_DIFFERENTIAL is a number of seconds");
    Some(Duration::from_millis(seconds * 1000 / TESTS))
}

/// A new one where time is given.
fn seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    time().map_or(0x5eed, |_| now.unwrap_or_default().as_nanos() as u64)
}

/// Compares inputs until the time or the number of cases is over.
#[expect(clippy::print_stdout, reason = "a long run says how much it tried")]
fn agree(kind: Kind, mut generate: impl FnMut() -> String) {
    let (begin, time) = (Instant::now(), time());
    let mut engines = Engines::new(kind);
    let cases = rounds(CASES, 10 * CASES) as usize;
    let mut tried = 0;
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let mut new = BTreeSet::new();
    while new.len() < ENOUGH && time.map_or(tried < cases, |time| begin.elapsed() < time) {
        let inputs: Vec<String> = (0..BATCH).map(|_| generate()).collect();
        tried += inputs.len();
        for difference in engines.differences(&inputs) {
            match KNOWN.iter().find(|known| known.explains(kind, &difference)) {
                Some(entry) => *known.entry(entry.id).or_default() += 1,
                None => drop(new.insert(engines.smallest(&difference.input))),
            }
        }
    }
    println!(
        "{tried} inputs, {} minors, known differences: {known:?}",
        engines.servers.len()
    );
    assert!(
        new.is_empty(),
        "{} new differences\n{}",
        new.len(),
        Vec::from_iter(new).join("\n")
    );
}

/// One server for each minor that the kind is compared with.
struct Engines {
    kind: Kind,
    servers: Vec<Server>,
}

impl Engines {
    fn new(kind: Kind) -> Self {
        // Go's `regexp` is part of Go, not of Helm.
        let minors = match kind {
            Kind::Pattern => &MINORS[MINORS.len() - 1..],
            Kind::Expression | Kind::Values => MINORS,
        };
        let servers = minors.iter().map(Server::new).collect();
        Self { kind, servers }
    }

    /// What differs from some minor's answer.
    fn differences<'i>(&mut self, inputs: &'i [String]) -> Vec<Difference> {
        // What our limits refuse would take Helm minutes.
        let ours = |input: &'i String| {
            let answer = |engine| Some((engine, self.kind.ours(input, engine)?));
            let answers: Option<Vec<_>> = ENGINES.map(answer).into_iter().collect();
            Some((input, answers?))
        };
        let ours: Vec<_> = inputs.iter().filter_map(ours).collect();
        let requests = ours.iter().map(|(input, _)| self.kind.request(input));
        let requests: Vec<Json> = requests.collect();
        let evaluate = |server: &mut Server| (server.minor, server.evaluate(&requests));
        let theirs: Vec<_> = self.servers.iter_mut().map(evaluate).collect();
        let mut differences = Vec::new();
        for (index, (input, ours)) in ours.into_iter().enumerate() {
            for (minor, answers) in &theirs {
                let theirs = &answers[index];
                let (_, ours) = { ours.iter() }
                    .find(|(engine, _)| *engine == minor.engine)
                    .expect("an answer of each engine");
                if !self.kind.are_same(ours, theirs) {
                    differences.push(Difference {
                        input: input.clone(),
                        minor,
                        ours: ours.clone(),
                        theirs: theirs.clone(),
                    });
                }
            }
        }
        differences
    }

    fn new_difference(&mut self, input: &str) -> Option<Difference> {
        let found = self.differences(&[input.to_owned()]);
        let is_new =
            |found: &Difference| !KNOWN.iter().any(|known| known.explains(self.kind, found));
        found.into_iter().find(is_new)
    }

    /// The smallest input with a new difference, and the answers to it.
    fn smallest(&mut self, input: &str) -> String {
        let small = shrink(input, |input| self.new_difference(input).is_some());
        let difference = self.new_difference(&small);
        let Some(difference) = difference else {
            return format!("{input:?} does not differ each time");
        };
        let [ours, theirs] = excerpts(&difference.ours.shown(), &difference.theirs.shown());
        format!(
            "{small:?}\n  ours     {ours}\n  Helm {} {theirs}",
            difference.minor.name
        )
    }
}

impl Kind {
    fn request(self, input: &str) -> Json {
        match self {
            Self::Expression => {
                let partials = include_str!("../../fixtures/oracle/helpers.tpl");
                json!({"Kind": "expression", "Text": input, "Values": VALUES, "Partials": partials})
            }
            Self::Values => values::request(input),
            Self::Pattern => patterns::request(input),
        }
    }

    /// Our answer; none where our limits refuse the input.
    fn ours(self, input: &str, engine: Engine) -> Option<Answer> {
        match self {
            Self::Expression => match helm::evaluate(&Chart::new(engine), input, engine) {
                Ok(text) => Some(Answer::Text(text)),
                Err(error) if error.class == ErrorClass::Limit => None,
                Err(error) => Some(Answer::Error(error.message)),
            },
            Self::Values => values::ours(input, engine),
            Self::Pattern => patterns::ours(input),
        }
    }

    fn are_same(self, ours: &Answer, theirs: &Answer) -> bool {
        match (self, ours, theirs) {
            (_, Answer::Error(_), Answer::Error(_) | Answer::Death) => true,
            (Self::Expression, Answer::Text(ours), Answer::Text(theirs)) => ours == theirs,
            (Self::Values, Answer::Text(ours), Answer::Text(theirs)) => {
                canonical(ours) == canonical(theirs)
            }
            (Self::Pattern, Answer::Text(ours), Answer::Text(theirs)) => {
                parsed(ours) == parsed(theirs)
            }
            _ => false,
        }
    }
}

fn parsed(text: &str) -> Json {
    serde_json::from_str(text).expect("it is JSON")
}

/// The answers from shortly before the first character that differs.
fn excerpts(ours: &str, theirs: &str) -> [String; 2] {
    const BEFORE: usize = 60;
    const MOST: usize = 300;
    let same = ours
        .chars()
        .zip(theirs.chars())
        .take_while(|(one, other)| one == other)
        .count();
    [ours, theirs].map(|text| {
        text.chars()
            .skip(same.saturating_sub(BEFORE))
            .take(MOST)
            .collect()
    })
}

impl Known {
    fn explains(&self, kind: Kind, difference: &Difference) -> bool {
        self.kind == kind && (self.is_it)(difference)
    }
}
