//! The fuzz targets' laws on a stable toolchain: their seeds, and what becomes of those by chance. `METALMARK_LONG=N`
//! tries 200 times N of each instead of a few.

use std::collections::BTreeSet;
use std::fs;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread;

use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_oneof};
use proptest::test_runner::TestRunner;

use super::support::seen::Seen;
use super::support::{repository, rounds};

#[allow(unreachable_pub)]
#[path = "../fuzz/src/lib.rs"]
pub(crate) mod laws;

/// One test a target, so that they run side by side and a failure has a name.
macro_rules! targets {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            on_a_large_stack(|| holds(stringify!($name)));
        })*

        const TESTED: &[&str] = &[$(stringify!($name)),*];
    };
}

targets!(
    archives,
    cmp,
    edits,
    expressions,
    krm,
    lock,
    manifests,
    names,
    oci,
    project,
    regexps,
    registry,
    repositories,
    schemas,
    selectors,
    signatures,
    values,
    workspaces,
);

/// How many changed seeds of each target are tried.
const CASES: u64 = 24;

/// And in the long form.
const LONG: u64 = 200;

/// Frames are several times larger here than as released, where the limits of nesting are held against the stacks that
/// threads have.
pub(crate) fn on_a_large_stack(run: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(16 << 20).spawn(run);
    if let Err(panic) = thread.expect("a thread").join() {
        resume_unwind(panic);
    }
}

fn fuzz() -> PathBuf {
    repository().join("fuzz")
}

/// A target's seeds, in the order of their names.
pub(crate) fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = fuzz().join("seeds").join(target);
    let entries = fs::read_dir(&folder).expect("seeds");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let seeds = paths.iter().map(|path| fs::read(path).expect("a seed"));
    seeds.collect()
}

fn holds(target: &str) {
    let seeds = seeds(target);
    for seed in &seeds {
        laws::run(target, seed);
    }
    let config = ProptestConfig {
        cases: rounds(CASES, LONG) as u32,
        failure_persistence: None,
        max_shrink_time: 30_000,
        ..ProptestConfig::default()
    };
    let outcome = TestRunner::new(config).run(&mutations(seeds), |data| {
        laws::run(target, &data);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{target}: {error}");
    }
}

/// What chance makes of seeds.
pub(crate) fn mutations(seeds: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let pick = prop::sample::select(seeds.clone());
    let changes = prop::collection::vec(change(seeds), 1..5);
    (pick, changes).prop_map(|(seed, changes)| {
        let apply = |data: Vec<u8>, change: &Change| change.applied(data);
        changes.iter().fold(seed, apply)
    })
}

/// What chance does to a seed.
#[derive(Clone, Debug)]
enum Change {
    /// Puts these bytes in.
    Insert(prop::sample::Index, Vec<u8>),
    /// Takes as many bytes out.
    Remove(prop::sample::Index, usize),
    /// Puts others in the place of as many bytes.
    Replace(prop::sample::Index, Vec<u8>),
    /// Repeats as many bytes, so often.
    Repeat(prop::sample::Index, usize, usize),
    /// Leaves the rest out.
    Cut(prop::sample::Index),
}

/// Words that mean something to one parser or another.
const WORDS: &[&str] = &[
    "\n",
    "\r\n",
    "\t",
    " ",
    ": ",
    "- ",
    "{",
    "}",
    "[",
    "]",
    "#",
    "&a ",
    "*a",
    "<<: ",
    "'",
    "\"",
    "|\n",
    ">-\n",
    "---\n",
    "...\n",
    "!!",
    "? ",
    "{{ ",
    " }}",
    "{{- ",
    "| ",
    "$x := ",
    "range ",
    "end",
    "template \"x\"",
    "(",
    ")",
    "\\",
    "%",
    "..",
    "/",
    "=== ",
    "\n===\n",
    "~",
    "null",
    "-9223372036854775808",
    "1e999",
    "0x",
    "\u{feff}",
    "\u{2028}",
    "é",
    "\u{10ffff}",
    "\0",
    "*",
    "+",
    "{1000}",
    "(?P<a>",
    "[^",
    "@sha256:",
];

fn change(seeds: Vec<Vec<u8>>) -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>;
    let part = (prop::sample::select(seeds), at(), 0..60_usize).prop_map(|(seed, at, length)| {
        let at = at.index(seed.len() + 1);
        seed[at..(at + length).min(seed.len())].to_vec()
    });
    let word = prop::sample::select(WORDS).prop_map(|word| word.as_bytes().to_vec());
    let bytes =
        prop_oneof![4 => word, 2 => part, 1 => prop::collection::vec(any::<u8>(), 1..4)].boxed();
    prop_oneof![
        (at(), bytes.clone()).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        (at(), bytes).prop_map(|(at, bytes)| Change::Replace(at, bytes)),
        (at(), 1..40_usize).prop_map(|(at, length)| Change::Remove(at, length)),
        (at(), 1..30_usize, prop_oneof![Just(2), Just(300)])
            .prop_map(|(at, length, times)| Change::Repeat(at, length, times)),
        at().prop_map(Change::Cut),
    ]
}

impl Change {
    fn applied(&self, mut data: Vec<u8>) -> Vec<u8> {
        let length = data.len();
        let range = |at: &prop::sample::Index, many: usize| {
            let at = at.index(length + 1);
            at..(at + many).min(length)
        };
        match self {
            Self::Insert(at, bytes) => drop(data.splice(range(at, 0), bytes.iter().copied())),
            Self::Remove(at, many) => drop(data.drain(range(at, *many))),
            Self::Replace(at, bytes) => {
                let range = range(at, bytes.len());
                drop(data.splice(range, bytes.iter().copied()));
            }
            Self::Repeat(at, many, times) => {
                let range = range(at, *many);
                let repeated = data[range.clone()].repeat(*times);
                drop(data.splice(range, repeated));
            }
            Self::Cut(at) => data.truncate(at.index(length + 1)),
        }
        data
    }
}

/// Where every seed is refused, so is all that chance makes of them.
#[test]
fn every_target_makes_something_of_a_seed() {
    on_a_large_stack(|| {
        let seen = Seen::new(TESTED);
        for target in TESTED {
            let is_any = seeds(target).iter().any(|seed| laws::takes(target, seed));
            seen.note_if(is_any, target);
        }
        seen.assert_each(1);
    });
}

#[test]
fn every_target_is_tested_and_has_seeds() {
    let targets: BTreeSet<String> = laws::TARGETS
        .iter()
        .map(|target| target.name.to_owned())
        .collect();
    let tested = TESTED.iter().map(|name| (*name).to_owned());
    assert_eq!(targets, tested.collect());
    let folders = fs::read_dir(fuzz().join("seeds")).expect("a folder");
    let names = folders.map(|folder| folder.expect("an entry").file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    assert_eq!(targets, names.collect());
}
