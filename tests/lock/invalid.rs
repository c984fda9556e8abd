//! What a lock may not say: each fault is reported at its line, and such a lock is not used.

use snapbox::str;

use super::{JAMMY, NOBLE, site, write_registry};
use crate::support::stage::Is;

/// The finding of each fault, by the line that it is shown at.
fn faults(lock: &str) -> String {
    let stage = site();
    stage.write("metalmark.lock", lock);
    let outcome = stage.run("check --output json").exit(1).outcome;
    let reported: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let findings = reported["findings"].as_array().expect("a list").iter();
    let is_of_file = |rule: &str| ["lock-invalid", "lock-conflict"].contains(&rule);
    let invalid = findings.filter(|finding| finding["rule"].as_str().is_some_and(is_of_file));
    let mut faults: Vec<(u64, String)> = invalid
        .map(|finding| {
            assert_eq!(finding["level"], "error");
            assert_eq!(finding["labels"][0]["path"], "metalmark.lock");
            let line = finding["labels"][0]["line"].as_u64().expect("a line");
            (line, finding["message"].as_str().expect("text").to_owned())
        })
        .collect();
    faults.sort();
    let faults = faults.into_iter();
    faults
        .map(|(line, text)| format!("{line}: {text}"))
        .collect()
}

const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// Entries of a lock; `DIGEST` is replaced by one.
const ENTRIES: [&str; 28] = [
    // None of these is a fault.
    "key: K, reference: 'oci://r/a:1', digest: 'DIGEST'",
    "key: K, reference: 'oci://r/a:1@DIGEST', digest: 'DIGEST'",
    "key: K, reference: 'https://r.example/a.raw', digest: 'DIGEST'",
    "key: K, reference: 'oci://r/a:1', digest: 'DIGEST', mirror: 'oci://m/a:1', origin: {}, facts: {}",
    "key: K, reference: 'oci://r/a:1', digest: 'DIGEST', verified: {form: tag, key: 'DIGEST'}",
    // Each of these is one.
    "key: K, reference: 'oci://r/a:1'",
    "key: K, reference: 'oci://r/a:1', digest: ''",
    "key: K, reference: 'oci://r/a:1', digest: 5",
    "key: K, reference: 'oci://r/a:1', digest: 'sha256:1'",
    "key: K, digest: 'DIGEST'",
    "key: K, reference: '', digest: 'DIGEST'",
    "key: K, reference: 'oci://r/A:1', digest: 'DIGEST'",
    "key: K, reference: 'oci://r/a:1@sha256:ZEROS', digest: 'DIGEST'",
    "reference: 'oci://r/a:1', digest: 'DIGEST'",
    "key: [K], reference: 'oci://r/a:1', digest: 'DIGEST'",
    "key: K, reference: 'oci://r/a:1', digest: 'DIGEST', mirror: 5",
    "key: K, reference: 'oci://r/a:1', digest: 'DIGEST', facts: []",
    "key: K, reference: 'oci://r/a:1', digest: 'DIGEST', facts: {a: 1.30}",
    "key: K, reference: 'oci://r/a:1', digest: 'DIGEST', origin: sylva",
    "key: K, reference: 'oci://r/a:1', digest: 'DIGEST', origin: {registry: 5}",
    "key: K, reference: 'oci://r/a:1', digest: 'DIGEST', verified: true",
    "key: K, reference: 'oci://r/a:1', digest: 'DIGEST', verified: {form: tag}",
    "key: K, reference: 'oci://r/a:1', digest: 'DIGEST', verified: {key: 'DIGEST'}",
    "key: K, reference: 'oci://r/a:1', digest: 'DIGEST', verified: {form: tag, key: abc}",
    "key: K, reference: 'oci://r/a:1', digest: 'DIGEST', verified: {form: tag, key: ''}",
    "key: K, reference: 'oci://r/a:1', digest: 'DIGEST', verified: {form: tag, key: 'DIGEST', by: me}",
    "key: K, reference: 'oci://r/a:1', digest: 'DIGEST', verify: {}",
    "text",
];

#[test]
fn every_fault_of_an_entry_is_reported() {
    let mut found = String::new();
    for entry in ENTRIES {
        let full = entry.replace("DIGEST", DIGEST);
        let full = full.replace("ZEROS", &"0".repeat(64));
        let item = if entry == "text" {
            full
        } else {
            format!("{{{full}}}")
        };
        let faults = faults(&format!("version: 1\nimages:\n- {item}\n"));
        found += format!("{entry} => {faults}").trim_end();
        found += "\n";
    }
    found.is(str![[r#"
key: K, reference: 'oci://r/a:1', digest: 'DIGEST' =>
key: K, reference: 'oci://r/a:1@DIGEST', digest: 'DIGEST' =>
key: K, reference: 'https://r.example/a.raw', digest: 'DIGEST' =>
key: K, reference: 'oci://r/a:1', digest: 'DIGEST', mirror: 'oci://m/a:1', origin: {}, facts: {} =>
key: K, reference: 'oci://r/a:1', digest: 'DIGEST', verified: {form: tag, key: 'DIGEST'} =>
key: K, reference: 'oci://r/a:1' => 3: `digest` is missing
key: K, reference: 'oci://r/a:1', digest: '' => 3: `digest` is empty
key: K, reference: 'oci://r/a:1', digest: 5 => 3: `digest` is a number where a string is needed
key: K, reference: 'oci://r/a:1', digest: 'sha256:1' => 3: `sha256:1` is not a digest: write `sha256:` and 64 lower-case hex digits
key: K, digest: 'DIGEST' => 3: `reference` is missing
key: K, reference: '', digest: 'DIGEST' => 3: `reference` is empty
key: K, reference: 'oci://r/A:1', digest: 'DIGEST' => 3: `oci://r/A:1` is not an OCI reference: a repository is lower-case letters, digits, `.`, `_`, `-` and `/`
key: K, reference: 'oci://r/a:1@sha256:ZEROS', digest: 'DIGEST' => 3: the reference names another digest than the entry
reference: 'oci://r/a:1', digest: 'DIGEST' => 3: `key` is missing
key: [K], reference: 'oci://r/a:1', digest: 'DIGEST' => 3: `key` is a list where a string is needed
key: K, reference: 'oci://r/a:1', digest: 'DIGEST', mirror: 5 => 3: `mirror` is a number where a string is needed
key: K, reference: 'oci://r/a:1', digest: 'DIGEST', facts: [] => 3: `facts` is a list where a map is needed
key: K, reference: 'oci://r/a:1', digest: 'DIGEST', facts: {a: 1.30} => 3: `a` is a number where a string is needed
key: K, reference: 'oci://r/a:1', digest: 'DIGEST', origin: sylva => 3: `origin` is a string where a map is needed
key: K, reference: 'oci://r/a:1', digest: 'DIGEST', origin: {registry: 5} => 3: `registry` is a number where a string is needed
key: K, reference: 'oci://r/a:1', digest: 'DIGEST', verified: true => 3: `verified` is a boolean where a map is needed
key: K, reference: 'oci://r/a:1', digest: 'DIGEST', verified: {form: tag} => 3: `key` is missing
key: K, reference: 'oci://r/a:1', digest: 'DIGEST', verified: {key: 'DIGEST'} => 3: `form` is missing
key: K, reference: 'oci://r/a:1', digest: 'DIGEST', verified: {form: tag, key: abc} => 3: `abc` is not a digest: write `sha256:` and 64 lower-case hex digits
key: K, reference: 'oci://r/a:1', digest: 'DIGEST', verified: {form: tag, key: ''} => 3: `key` is empty
key: K, reference: 'oci://r/a:1', digest: 'DIGEST', verified: {form: tag, key: 'DIGEST', by: me} => 3: `verified` has no `by`
key: K, reference: 'oci://r/a:1', digest: 'DIGEST', verify: {} => 3: an image of a lock has no `verify`
text => 3: an image is a string where a map is needed

"#]]);
}

#[test]
fn every_fault_of_a_lock_is_reported_at_its_line() {
    let once = format!("- {{key: K, reference: 'oci://r/a:1', digest: '{DIGEST}'}}\n");
    let other = once.replace("e3b0", "e3b1");
    let lock = format!("version: 1\nimages:\n{once}- text\n{once}- {{}}\n{other}");
    let found = faults(&lock).replace("; ", "\n");
    (found + "\n").is(str![[r#"
4: an image is a string where a map is needed5: `K` is locked twice for one reference6: `digest` is missing6: `key` is missing6: `reference` is missing7: `K` is locked twice for one reference, and not the same

"#]]);
}

#[test]
fn every_fault_of_the_file_is_reported_and_such_a_lock_is_left_as_it_is() {
    // A slash is the end of a line.
    let cases = [
        "# nothing but a comment",
        "--- / version: 1 / images: [] / --- / {}",
        "[]",
        "version: 1",
        "version: 1 / images: null",
        "version: 0 / images: []",
        "version: '1' / images: []",
        "version: 2 / images: []",
        "images: []",
        "version: 1 / images: [] / image: []",
        "version: 1 / version: 1 / images: []",
        "version: 1 / images: [] / <<<<<<< ours",
    ];
    let mut found = String::new();
    for case in cases {
        let text = case.replace(" / ", "\n") + "\n";
        let stage = site();
        write_registry(&stage, &[NOBLE, JAMMY], "0.4.12", "a");
        stage.write("metalmark.lock", &text);
        for command in [
            "lock",
            "lock --check",
            "verify",
            "check --frozen",
            "render --frozen",
        ] {
            let _ = stage.run(command).exit(1);
        }
        assert_eq!(stage.read("metalmark.lock"), text);
        found += &format!("{case} => {}\n", faults(&text));
    }
    found.is(str![[r#"
# nothing but a comment => 2: a lock is a map, and this is null
--- / version: 1 / images: [] / --- / {} => 1: a lock is one YAML document
[] => 1: a lock is a map, and this is a list
version: 1 => 1: a lock has `images`
version: 1 / images: null => 2: `images` is null where a list is needed
version: 0 / images: [] => 1: the lock's `version` is none that metalmark ever wrote
version: '1' / images: [] => 1: the lock's `version` is none that metalmark ever wrote
version: 2 / images: [] => 1: the lock has format version 2, and this metalmark reads version 1
images: [] => 1: the lock does not say its `version`
version: 1 / images: [] / image: [] => 3: a lock has no `image`
version: 1 / version: 1 / images: [] => 2: `version` occurs twice in one map
version: 1 / images: [] / <<<<<<< ours => 3: git left a conflict here

"#]]);
}
