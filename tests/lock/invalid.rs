//! What a lock may not say: each fault is reported at its line, and such a lock is not used.

use super::Project;

/// The finding of each fault, by the line that it is shown at.
fn faults(lock: &str) -> Vec<(u64, String)> {
    let project = Project::new();
    project.write("metalmark.lock", lock);
    let reported = project.run("check --output json");
    assert_eq!(reported.status, 1, "{}", reported.stderr);
    let reported: serde_json::Value = serde_json::from_str(&reported.stdout).expect("JSON");
    let findings = reported["findings"].as_array().expect("a list");
    let invalid = findings
        .iter()
        .filter(|finding| finding["rule"] == "lock-invalid");
    let mut faults: Vec<(u64, String)> = invalid
        .map(|finding| {
            assert_eq!(finding["level"], "error");
            assert_eq!(finding["labels"][0]["path"], "metalmark.lock");
            let line = finding["labels"][0]["line"].as_u64().expect("a line");
            (line, finding["message"].as_str().expect("text").to_owned())
        })
        .collect();
    faults.sort();
    faults
}

const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

#[test]
fn every_fault_of_an_entry_is_reported_at_its_line() {
    // Each entry is one line of this lock; a row without a message is no fault.
    let whole = format!("key: K, reference: 'oci://r/a:1', digest: '{DIGEST}'");
    let with = |more: &str| format!("{whole}, {more}");
    let without = |part: &str| whole.replace(part, "");
    let digest = format!(", digest: '{DIGEST}'");
    let rows: Vec<(String, &str)> = vec![
        (whole.clone(), ""),
        (whole.replace(":1'", &format!(":1@{DIGEST}'")), ""),
        (whole.replace("oci://r/a:1", "https://r.example/a.raw"), ""),
        (with("mirror: 'oci://m/a:1', origin: {}, facts: {}"), ""),
        (
            with(&format!("verified: {{form: tag, key: '{DIGEST}'}}")),
            "",
        ),
        (without(&digest), "`digest` is missing"),
        (whole.replace(DIGEST, ""), "`digest` is empty"),
        (
            whole.replace(&format!("'{DIGEST}'"), "5"),
            "`digest` is a number where a string is needed",
        ),
        (
            whole.replace(DIGEST, "sha256:1"),
            "`sha256:1` is not a digest",
        ),
        (
            without(", reference: 'oci://r/a:1'"),
            "`reference` is missing",
        ),
        (whole.replace("oci://r/a:1", ""), "`reference` is empty"),
        (
            whole.replace("oci://r/a:1", "oci://r/A:1"),
            "`oci://r/A:1` is not an OCI reference",
        ),
        (
            whole.replace(":1'", &format!(":1@sha256:{}'", "0".repeat(64))),
            "the reference names another digest than the entry",
        ),
        (without("key: K, "), "`key` is missing"),
        (
            whole.replace("key: K", "key: [K]"),
            "`key` is a list where a string is needed",
        ),
        (
            with("mirror: 5"),
            "`mirror` is a number where a string is needed",
        ),
        (with("facts: []"), "`facts` is a list where a map is needed"),
        (
            with("facts: {a: 1.30}"),
            "`a` is a number where a string is needed",
        ),
        (
            with("origin: sylva"),
            "`origin` is a string where a map is needed",
        ),
        (
            with("origin: {registry: 5}"),
            "`registry` is a number where a string is needed",
        ),
        (
            with("verified: true"),
            "`verified` is a boolean where a map is needed",
        ),
        (with("verified: {form: tag}"), "`key` is missing"),
        (
            with(&format!("verified: {{key: '{DIGEST}'}}")),
            "`form` is missing",
        ),
        (
            with("verified: {form: tag, key: abc}"),
            "`abc` is not a digest",
        ),
        (with("verified: {form: tag, key: ''}"), "`key` is empty"),
        (
            with(&format!("verified: {{form: tag, key: '{DIGEST}', by: me}}")),
            "`verified` has no `by`",
        ),
        (with("verify: {}"), "an image of a lock has no `verify`"),
    ];
    let mut lock = "version: 1\nimages:\n".to_owned();
    for (place, (entry, _)) in rows.iter().enumerate() {
        lock += &format!("- {{{}}}\n", entry.replace("K", &format!("key-{place}")));
    }
    lock += "- text\n";
    let (entry, _) = &rows[0];
    let again = entry.replace("K", "key-0");
    lock += &format!("- {{{again}}}\n- {{{}}}\n", again.replace("e3b0", "e3b1"));
    let mut expected: Vec<(u64, &str)> = rows
        .iter()
        .zip(3..)
        .filter(|((_, message), _)| !message.is_empty())
        .map(|((_, message), line)| (line, *message))
        .collect();
    let last = 3 + rows.len() as u64;
    expected.push((last, "an image is a string where a map is needed"));
    expected.push((last + 1, "`key-0` is locked twice for one reference"));
    expected.push((
        last + 2,
        "`key-0` is locked twice for one reference, to different digests",
    ));
    let actual = faults(&lock);
    let is_as_expected =
        |((line, message), (expected_line, expected)): (&(u64, String), &(u64, &str))| {
            line == expected_line && message.starts_with(expected)
        };
    assert!(
        actual.len() == expected.len() && actual.iter().zip(&expected).all(is_as_expected),
        "{actual:#?}\n{expected:#?}"
    );
}

#[test]
fn every_fault_of_the_file_is_reported_and_such_a_lock_is_left_as_it_is() {
    let rows = [
        (
            "# nothing but a comment\n",
            "a lock is a map, and this is null",
        ),
        (
            "---\nversion: 1\nimages: []\n---\n{}\n",
            "a lock is one YAML document",
        ),
        ("[]\n", "a lock is a map, and this is a list"),
        ("version: 1\n", "a lock has `images`"),
        (
            "version: 1\nimages: null\n",
            "`images` is null where a list is needed",
        ),
        (
            "version: 0\nimages: []\n",
            "the lock's `version` is none that metalmark ever wrote",
        ),
        (
            "version: '1'\nimages: []\n",
            "the lock's `version` is none that metalmark ever wrote",
        ),
        ("version: 2\nimages: []\n", "the lock has format version 2"),
        ("images: []\n", "the lock does not say its `version`"),
        (
            "version: 1\nimages: []\nimage: []\n",
            "a lock has no `image`",
        ),
        (
            "version: 1\nversion: 1\nimages: []\n",
            "`version` occurs twice in one map",
        ),
        (
            "version: 1\nimages: []\n<<<<<<< ours\n",
            "git left a conflict here",
        ),
    ];
    for (text, expected) in rows {
        let faults = faults(text);
        let is_reported =
            matches!(faults.as_slice(), [(_, message)] if message.starts_with(expected));
        assert!(is_reported, "{text}: {faults:?}");
        let project = Project::new();
        project.registry(&[super::NOBLE, super::JAMMY], "0.4.12", "a");
        project.write("metalmark.lock", text);
        for command in [
            "lock",
            "lock --check",
            "verify",
            "check --frozen",
            "render --frozen",
        ] {
            assert_eq!(project.run(command).status, 1, "{command}: {text}");
        }
        assert_eq!(project.read("metalmark.lock"), text);
    }
}
