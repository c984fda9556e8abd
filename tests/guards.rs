//! Each threat of docs/threats.md and each limit of docs/limits.md has a guard in the code, and a test that fails without it.
//!
//! tests/guards/threats.jsonl and limits.jsonl list them, one place in the code a line: the page's row, the guard's id, the
//! test, and the text that is the guard with the one that takes it out. In that one, `ON` stands for the condition that the
//! guard is out; lines with one id are places of one guard. Checked here: each text occurs in its file exactly once, and
//! each test is there. That the test fails without the guard is tried by tests/mutants.
//!
//! tests/guards/promises.jsonl has the same form, without a row: the product broken in a way that one test is to notice, whose
//! name promises it.
//!
//! tests/guards/known.jsonl lists what is known to get past the guards of a row, so that no row pretends to hold.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::support::{code, repository};

/// One place of a guard.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Place {
    #[serde(default)]
    row: String,
    id: String,
    binary: String,
    test: String,
    file: String,
    find: String,
    replace: String,
}

/// What gets past the guards of a row of docs/threats.md.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Known {
    row: String,
    finding: String,
    what: String,
}

fn lines<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let file = repository().join("tests/guards").join(name);
    let text = fs::read_to_string(file).expect("the table");
    let line = |line: &str| {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}: {line}"))
    };
    text.lines().map(line).collect()
}

/// The rows of docs/threats.md with the test that each names.
fn rows() -> BTreeMap<String, String> {
    let text = fs::read_to_string(repository().join("docs/threats.md")).expect("the page");
    let tables = text.lines().filter(|line| line.ends_with("` |"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, _, what, _, test, _] = cells[..] else {
            panic!("{line}");
        };
        (what.to_owned(), test.trim_matches('`').to_owned())
    };
    tables.map(row).collect()
}

/// The constants of the limits that have a guard.
pub(crate) fn guarded_limits() -> BTreeSet<String> {
    let places = lines::<Place>("limits.jsonl").into_iter();
    places.map(|place| place.row).collect()
}

#[test]
fn every_threat_has_a_guard_and_names_one_of_its_tests() {
    let mut tests: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for place in lines::<Place>("threats.jsonl") {
        let name = place.test.rsplit("::").next().unwrap_or_default();
        tests.entry(place.row).or_default().insert(name.to_owned());
    }
    let rows = rows();
    assert!(rows.len() > 30, "{} rows", rows.len());
    for (row, test) in &rows {
        let known = tests.remove(row).unwrap_or_default();
        assert!(known.contains(test), "{row}: {test}, not of {known:?}");
    }
    assert!(tests.is_empty(), "docs/threats.md lacks the rows {tests:?}");
}

#[test]
fn every_guard_is_in_the_code_once_and_has_its_test() {
    let tests = code::tests_by_binary();
    for table in ["limits.jsonl", "threats.jsonl", "promises.jsonl"] {
        let mut guards: BTreeMap<String, (String, String)> = BTreeMap::new();
        for place in lines::<Place>(table) {
            let Place { id, file, find, .. } = &place;
            let text = fs::read_to_string(repository().join(file)).expect(file);
            assert_eq!(
                text.matches(find).count(),
                1,
                "{table}: {id}: {file}: {find}"
            );
            let mut words = place
                .replace
                .split(|letter: char| !letter.is_alphanumeric());
            assert!(words.any(|word| word == "ON"), "{table}: {id}: no `ON`");
            let test = (place.binary.clone(), place.test.clone());
            assert!(tests.contains(&test), "{table}: {id}: there is no {test:?}");
            let guard = guards.entry(id.clone()).or_insert_with(|| test.clone());
            assert_eq!(*guard, test, "{table}: {id} has one test");
        }
    }
}

#[test]
fn every_promise_of_security_names_tests_that_are_there() {
    let text = fs::read_to_string(repository().join("docs/SECURITY.md")).expect("the page");
    let tests = code::tests_by_binary();
    let names: BTreeSet<&str> = { tests.iter() }
        .filter_map(|(_, path)| path.rsplit("::").next())
        .collect();
    let rows: Vec<&str> = { text.lines() }
        .filter(|line| line.starts_with("| "))
        .skip(1)
        .collect();
    assert_eq!(rows.len(), 6, "{rows:?}");
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        let [_, _, tests] = cells[..] else {
            panic!("{row}");
        };
        for test in tests.split(',') {
            let name = test.trim().trim_matches('`');
            assert!(names.contains(name), "there is no {name}: {row}");
        }
    }
}

#[test]
fn what_gets_past_a_guard_is_of_a_row() {
    let rows = rows();
    for Known { row, finding, what } in lines("known.jsonl") {
        assert!(rows.contains_key(&row), "{row}");
        assert!(!finding.is_empty() && !what.is_empty(), "{row}");
    }
}

#[test]
fn every_mutation_that_a_person_chose_has_one_place_in_the_code() {
    let mutants = repository().join("tests/mutants");
    let mut edits = BTreeSet::new();
    for entry in fs::read_dir(mutants).expect("the folder") {
        let file = entry.expect("an entry").path();
        if file
            .extension()
            .is_none_or(|extension| extension != "jsonl")
        {
            continue;
        }
        for line in fs::read_to_string(&file).expect("the list").lines() {
            let mutation: serde_json::Value = serde_json::from_str(line).expect(line);
            let text = |name: &str| mutation[name].as_str().expect(line).to_owned();
            let code = fs::read_to_string(repository().join(text("file"))).expect(line);
            assert_eq!(code.matches(&text("find")).count(), 1, "{line}");
            let edit = (text("file"), text("find"), text("replace"));
            assert!(edits.insert(edit), "twice: {line}");
        }
    }
    assert!(edits.len() > 140, "{} mutations", edits.len());
}
