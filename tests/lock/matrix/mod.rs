//! Every state of the key, every state of the lock, every answer of the registry: what is locked, what is refused, and
//! which commands say so. The rules are those of the documentation ([`rules`]); the answers are the binary's.

mod cosign;
mod rules;
mod world;

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde_json::Value;

use rules::{ANSWERS, Answer, ENTRIES, Entry, KEYS, Outcome, Proof, Trust};
use world::{Cell, Site, World};

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
struct Output {
    findings: Vec<Value>,
    rest: String,
}

impl Output {
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

    /// How much could not be had: failures of one cause are one message, which names the first ones and counts the others.
    fn failures(&self) -> usize {
        let count = |line: &str| {
            let more = line.strip_prefix("  and ");
            let more = more.and_then(|line| line.strip_suffix(" more")?.parse().ok());
            let is_named = line.starts_with("  and ") || line.contains("oci://");
            more.unwrap_or(usize::from(is_named))
        };
        self.rest.lines().map(count).sum()
    }

    /// Whether there is an error of a rule, whatever it names.
    fn has(&self, rule: &str) -> bool {
        let mut findings = self.findings.iter();
        findings.any(|finding| finding["rule"] == rule && finding["level"] == "error")
    }

    /// The rules of the findings of a level that name a cell's image, sorted; that entries have no evidence is one finding for
    /// several.
    fn rules(&self, cell: Cell, level: &str) -> Vec<&str> {
        let findings = self.findings.iter();
        let named = findings.filter(|finding| {
            let message = finding["message"].as_str().unwrap_or_default();
            finding["image"] == cell.name().as_str() || cell.is_named_in(message)
        });
        let of_level = named.filter(|finding| finding["level"] == level);
        let rules = of_level.filter_map(|finding| finding["rule"].as_str());
        let is_of_lock = |rule: &&str| {
            let prefixes = [
                "artifact-",
                "lock-",
                "signature-",
                "tag-",
                "catalog-",
                "fact-",
            ];
            *rule != "lock-stale" && prefixes.iter().any(|prefix| rule.starts_with(prefix))
        };
        let mut rules: Vec<&str> = rules.filter(is_of_lock).collect();
        rules.sort_unstable();
        rules
    }
}

/// What is wrong, by cell.
#[derive(Default)]
struct Wrong(Vec<String>);

impl Wrong {
    fn compare<T: PartialEq + Debug>(&mut self, cell: Cell, what: &str, actual: T, expected: T) {
        if actual != expected {
            let name = cell.name();
            self.0
                .push(format!("{name}: {what}: {actual:?}, expected {expected:?}"));
        }
    }

    fn none(self, command: &str) {
        let cells = self.0.join("\n");
        assert!(cells.is_empty(), "`metalmark {command}`:\n{cells}");
    }
}

/// What a run says of each cell's image beside what it writes.
fn compare_output(wrong: &mut Wrong, reported: &Output, cell: Cell, expected: &Outcome) {
    if !expected.fails {
        wrong.compare(cell, "failures", cell.is_named_in(&reported.rest), false);
    }
    let mut rules = expected.rules.clone();
    rules.sort_unstable();
    wrong.compare(cell, "errors", reported.rules(cell, "error"), rules);
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
        let reported = Output::read(&run.stderr);
        assert_eq!(run.status, status, "{}", run.stderr);
        for key in cells.iter().filter_map(|cell| cell.key.finding()) {
            assert!(
                reported
                    .findings
                    .iter()
                    .any(|finding| finding["rule"] == key),
                "{key}"
            );
        }
        let written = crate::lock::lock_of(&site.project);
        let failed = cells.iter().filter(|cell| rules::lock(**cell).fails);
        assert_eq!(reported.failures(), failed.count(), "{}", reported.rest);
        let (actual, mut wrong) = (blocks(&written), Wrong::default());
        for cell in &cells {
            let outcome = rules::lock(*cell);
            compare_output(&mut wrong, &reported, *cell, &outcome);
            let actual = actual.get(cell.name().as_str());
            let expected = site.after(*cell, &outcome.after);
            wrong.compare(
                *cell,
                "entry",
                actual.map(|block| (*block).to_owned()),
                expected.map(|text| text.trim().to_owned()),
            );
        }
        wrong.none("lock");
        let whole = site.lock_of(|cell| site.after(cell, &rules::lock(cell).after));
        assert_eq!(written, whole, "every byte");
        let proof = |cell| site.proof_after(cell, &rules::lock(cell).after);
        assert_eq!(
            crate::lock::read(&site.project, "metalmark.evidence"),
            site.evidence_of(proof),
            "every byte"
        );
    }
}

#[test]
fn verify_reports_what_is_not_in_place_and_what_the_key_did_not_sign() {
    let mut cells = cells();
    cells.retain(|cell| cell.entry != Entry::Absent);
    let world = World::new(&cells);
    let status = |cell: Cell| match rules::verify(cell).status(cell.key) {
        0 if rules::is_stale(cell) => 1,
        status => status,
    };
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
        let (reported, mut wrong) = (Output::read(&run.stderr), Wrong::default());
        for key in cells.iter().filter_map(|cell| cell.key.finding()) {
            assert!(reported.has(key), "{key}");
        }
        let is_stale = cells.iter().any(|cell| rules::is_stale(*cell));
        assert_eq!(reported.has("lock-stale"), is_stale);
        let failed = cells.iter().filter(|cell| rules::verify(**cell).fails);
        assert_eq!(reported.failures(), failed.count(), "{}", reported.rest);
        let shown: Value = serde_json::from_str(&run.stdout).expect("JSON");
        let shown = shown["images"].as_array().expect("a list");
        assert_eq!(shown.len(), cells.len());
        for cell in &cells {
            let outcome = rules::verify(*cell);
            compare_output(&mut wrong, &reported, *cell, &outcome);
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
    let status = |cell: Cell| {
        let is_refused = !rules::refused_offline(cell).is_empty() || rules::is_stale(cell);
        i32::from(is_refused || cell.key.trust() == Trust::Nobody)
    };
    for (status, cells) in by_status(&cells, status) {
        let site = Site::new(&world, &cells, true);
        let before = site.project.read("metalmark.lock");
        for command in [
            "lock --check --output json",
            "check --output json",
            "check --frozen --output json",
            "render --frozen --stdout",
            "render --stdout",
        ] {
            let run = site.run(command);
            let text = format!("{}{}", run.stdout, run.stderr);
            // Where all has to be locked, nothing may lack evidence, whether it has to be signed or not.
            let is_bare = |cell: &Cell| !cell.entry.has_evidence() && cell.entry != Entry::Absent;
            let is_strict = command.contains("--frozen") || command.starts_with("lock");
            let lacks = is_strict && cells.iter().any(is_bare);
            assert_eq!(
                run.status,
                status.max(i32::from(lacks)),
                "{command}: {text}"
            );
            if command.starts_with("render") {
                let is_reported = |cell: &&Cell| cell.is_named_in(&text);
                let refused = cells.iter();
                let refused = refused.filter(|cell| !rules::refused_offline(**cell).is_empty());
                assert_eq!(refused.clone().count(), refused.filter(is_reported).count());
                continue;
            }
            let (reported, mut wrong) = (Output::read(&run.stdout), Wrong::default());
            for key in cells.iter().filter_map(|cell| cell.key.finding()) {
                assert!(reported.has(key), "{command}: {key}");
            }
            let is_stale = lacks || cells.iter().any(|cell| rules::is_stale(*cell));
            assert_eq!(reported.has("lock-stale"), is_stale, "{command}");
            for cell in &cells {
                let expected = rules::refused_offline(*cell);
                wrong.compare(*cell, "errors", reported.rules(*cell, "error"), expected);
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
