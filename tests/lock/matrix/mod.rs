//! Every state of the key, every state of the lock, every answer of the registry: what is locked, what is refused, and
//! which commands say so. The rules are those of the documentation ([`rules`]); the answers are the binary's.

mod cosign;
mod rules;
mod world;

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde_json::Value;

use rules::{ANSWERS, Answer, ENTRIES, Entry, KEYS, Key, Outcome, Proof, Trust};
use world::{Cell, Site, World};

use crate::support::known::known_failure;

const EDITED: &str =
    "registry-and-lock.md D1: an edited fact of a locked artifact is only a warning of `verify`";
const UNCHECKED: &str = "registry-and-lock.md D2, tests.md D1: no gate compares an entry's signer with the key of the values";
const UNESTABLISHED: &str =
    "registry-and-lock.md D3: images are locked although their key's expression fails";

/// Every cell.
fn cells() -> Vec<Cell> {
    let pairs = KEYS
        .into_iter()
        .flat_map(|key| ENTRIES.map(|entry| (key, entry)));
    let cells = pairs.flat_map(|(key, entry)| ANSWERS.map(|answer| Cell { key, entry, answer }));
    cells.collect()
}

/// The cells by the exit status that each would have alone. One run of each group shows the status of all: what should end
/// with 0 is only among its like; what should end with 1 or 2 names its image.
fn by_status(cells: &[Cell], status: impl Fn(Cell) -> i32) -> BTreeMap<i32, Vec<Cell>> {
    let mut groups: BTreeMap<i32, Vec<Cell>> = BTreeMap::new();
    for cell in cells {
        groups.entry(status(*cell)).or_default().push(*cell);
    }
    groups
}

/// The findings of a run, and what else it printed: the failures.
struct Told {
    findings: Vec<Value>,
    rest: String,
}

impl Told {
    /// Of a stream that begins with a JSON document, where there are findings.
    fn read(text: &str) -> Self {
        let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        match text.starts_with('{').then(|| documents.next()).flatten() {
            Some(Ok(document)) => Self {
                findings: document["findings"].as_array().cloned().unwrap_or_default(),
                rest: text[documents.byte_offset()..].to_owned(),
            },
            _ => Self {
                findings: Vec::new(),
                rest: text.to_owned(),
            },
        }
    }

    /// The rules of the findings of a level that name a cell's image.
    fn rules(&self, cell: Cell, level: &str) -> Vec<&str> {
        let findings = self.findings.iter();
        let named = findings.filter(|finding| {
            let message = finding["message"].as_str().unwrap_or_default();
            finding["image"] == cell.name().as_str() || cell.is_named_in(message)
        });
        let of_level = named.filter(|finding| finding["level"] == level);
        of_level
            .filter_map(|finding| finding["rule"].as_str())
            .collect()
    }
}

/// What is wrong, by cell; and which cells of a known failure are right.
#[derive(Default)]
struct Wrong {
    cells: Vec<String>,
    /// By the reason: how many are wrong as they are known to be, and those that are right.
    known: BTreeMap<&'static str, (usize, Vec<String>)>,
}

impl Wrong {
    fn compare<T: PartialEq + Debug>(&mut self, cell: Cell, what: &str, actual: T, expected: T) {
        if actual != expected {
            let name = cell.name();
            self.cells
                .push(format!("{name}: {what}: {actual:?}, expected {expected:?}"));
        }
    }

    /// What should be right, and is known to be wrong.
    fn known(&mut self, reason: &'static str, name: String, is_right: bool) {
        let (wrong, right) = self.known.entry(reason).or_default();
        match is_right {
            true => right.push(name),
            false => *wrong += 1,
        }
    }

    fn none(self, command: &str) {
        let cells = self.cells.join("\n");
        assert!(cells.is_empty(), "`metalmark {command}`:\n{cells}");
        for (reason, (wrong, right)) in self.known {
            assert!(
                right.is_empty() || wrong == 0,
                "{reason}: right only of {right:?}"
            );
            known_failure(reason, || assert_eq!(wrong, 0));
        }
    }
}

/// What a run says of each cell's image beside what it writes.
fn compare_told(wrong: &mut Wrong, told: &Told, cell: Cell, expected: &Outcome) {
    let errors = told.rules(cell, "error");
    wrong.compare(cell, "errors", errors, expected.rules.clone());
    wrong.compare(
        cell,
        "failures",
        cell.is_named_in(&told.rest),
        expected.fails,
    );
}

/// The blocks of a lock by key.
fn blocks(lock: &str) -> BTreeMap<&str, &str> {
    let blocks = lock.split("\n\n").skip(1);
    let named = blocks.filter_map(|block| {
        let (first, _) = block.strip_prefix("- key: ")?.split_once('\n')?;
        Some((first, block.trim_end()))
    });
    named.collect()
}

#[test]
fn lock_writes_what_the_key_the_lock_and_the_registry_allow() {
    let cells = cells();
    let world = World::new(&cells);
    for (status, cells) in by_status(&cells, |cell| rules::lock(cell).status(cell.key)) {
        let site = Site::new(&world, &cells, false);
        let run = site.run("lock --output json");
        let told = Told::read(&run.stderr);
        assert_eq!(run.status, status, "{}", run.stderr);
        for key in cells.iter().filter_map(|cell| cell.key.finding()) {
            assert!(
                told.findings.iter().any(|finding| finding["rule"] == key),
                "{key}"
            );
        }
        let written = site.project.read("metalmark.lock");
        let (actual, mut wrong) = (blocks(&written), Wrong::default());
        for cell in &cells {
            let outcome = rules::lock(*cell);
            compare_told(&mut wrong, &told, *cell, &outcome);
            let name = cell.name();
            let is_locked_unproven = cell.key == Key::ExpressionFails
                && cell.entry == Entry::Absent
                && cell.answer.has_manifest();
            let actual = actual.get(name.as_str()).map(|block| (*block).to_owned());
            match is_locked_unproven {
                true => wrong.known(UNESTABLISHED, name, actual.is_none()),
                false => {
                    let expected = site.after(*cell, &outcome.after);
                    let expected = expected.map(|text| text.trim().to_owned());
                    wrong.compare(*cell, "entry", actual, expected);
                }
            }
        }
        wrong.none("lock");
        if cells.iter().all(|cell| cell.key != Key::ExpressionFails) {
            let whole = site.lock_of(|cell| site.after(cell, &rules::lock(cell).after));
            assert_eq!(written, whole, "every byte");
        }
    }
}

#[test]
fn verify_tells_what_is_not_in_place_and_what_the_key_did_not_sign() {
    let mut cells = cells();
    cells.retain(|cell| cell.entry != Entry::Absent);
    let world = World::new(&cells);
    // What is wrong with the key itself is not told today.
    let status = |cell| rules::verify(cell).status(Key::NotConfigured);
    for (status, cells) in by_status(&cells, status) {
        let site = Site::new(&world, &cells, false);
        let before = site.project.read("metalmark.lock");
        let run = site.run("verify --output json");
        assert_eq!(run.status, status, "{}", run.stderr);
        assert_eq!(
            site.project.read("metalmark.lock"),
            before,
            "nothing is written"
        );
        let (told, mut wrong) = (Told::read(&run.stderr), Wrong::default());
        let shown: Value = serde_json::from_str(&run.stdout).expect("JSON");
        let shown = shown["images"].as_array().expect("a list");
        assert_eq!(shown.len(), cells.len());
        for cell in &cells {
            let outcome = rules::verify(*cell);
            compare_told(&mut wrong, &told, *cell, &outcome);
            let name = cell.name();
            let image = shown.iter().find(|image| image["key"] == name.as_str());
            let image = image.expect("every entry has its line");
            let has_manifest = cell.answer.has_manifest();
            let in_place = image["in_place"].as_bool();
            wrong.compare(*cell, "in place", in_place, has_manifest.then_some(true));
            let signer = match cell.key.trust() {
                Trust::Signer(signer) if has_manifest => match cell.answer.proves(signer) {
                    Proof::Good(_) => Some(world.key(signer).fingerprint().to_string()),
                    _ => None,
                },
                _ => None,
            };
            let signed_by = image["signed_by"].as_str().map(str::to_owned);
            wrong.compare(*cell, "signed by", signed_by, signer);
            let is_edited = cell.entry == Entry::Edited && has_manifest;
            let conflicts = told.rules(*cell, "warning");
            let expected = if is_edited { 2 } else { 0 };
            wrong.compare(
                *cell,
                "conflicts",
                conflicts,
                vec!["fact-conflict"; expected],
            );
            if is_edited {
                let errors = told.rules(*cell, "error").len();
                wrong.known(EDITED, name.clone(), errors > outcome.rules.len());
            }
            let is_unproven = match cell.key.trust() {
                Trust::Anybody => cell.entry.signer().is_some(),
                Trust::Nobody => true,
                Trust::Signer(_) => false,
            };
            if is_unproven && has_manifest {
                let errors = told.rules(*cell, "error").len();
                wrong.known(UNCHECKED, name, errors > 0);
            }
        }
        wrong.none("verify");
    }
}

#[test]
fn gates_without_a_network_refuse_what_is_not_locked_or_not_signed_by_the_key() {
    let pairs = KEYS
        .into_iter()
        .flat_map(|key| ENTRIES.map(|entry| (key, entry)));
    let answer = Answer::SignedByA;
    let cells: Vec<Cell> = pairs
        .map(|(key, entry)| Cell { key, entry, answer })
        .collect();
    let world = World::new(&cells);
    // 0: trusted; 1: refused; 2: to be refused, and trusted today.
    let group = |cell: Cell| match rules::refused_offline(cell) {
        None => 0,
        Some(_) if cell.entry == Entry::Absent => 1,
        Some(_) => 2,
    };
    for (group, cells) in by_status(&cells, group) {
        let site = Site::new(&world, &cells, true);
        let before = site.project.read("metalmark.lock");
        for command in [
            "lock --check --output json",
            "check --frozen --output json",
            "render --frozen --stdout",
        ] {
            let run = site.run(command);
            let text = format!("{}{}", run.stdout, run.stderr);
            let (told, mut wrong) = (Told::read(&run.stdout), Wrong::default());
            let is_told = |cell: Cell| match command.starts_with("render") {
                true => cell.is_named_in(&text),
                false => !told.rules(cell, "error").is_empty(),
            };
            match group {
                0 | 1 => assert_eq!(run.status, group, "{command}: {text}"),
                _ => wrong.known(UNCHECKED, command.to_owned(), run.status == 1),
            }
            for cell in &cells {
                match group {
                    0 => wrong.compare(*cell, "errors", told.rules(*cell, "error"), Vec::new()),
                    1 => wrong.compare(*cell, "is told", is_told(*cell), true),
                    _ if command.starts_with("render") => {}
                    _ => wrong.known(UNCHECKED, cell.name(), is_told(*cell)),
                }
            }
            wrong.none(command);
        }
        assert_eq!(
            site.project.read("metalmark.lock"),
            before,
            "nothing is written"
        );
    }
    assert_eq!(world.registry.count(), 0, "nothing is asked");
}
