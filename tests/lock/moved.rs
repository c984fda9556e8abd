//! A tag that stands for other bytes than when it was locked.

use super::{JAMMY, NOBLE, Project};

#[test]
fn a_tag_that_moved_is_refused_until_somebody_says_that_it_is_meant() {
    let project = Project::new();
    project.registry(&[NOBLE, JAMMY], "0.4.12", "a");
    assert_eq!(project.run("lock").status, 0);
    let before = project.read("metalmark.lock");
    project.registry(&[NOBLE, JAMMY], "0.4.12", "b");
    assert_eq!(project.run("lock").status, 0);
    let upgrade = project.run("lock --upgrade");
    assert_eq!(upgrade.status, 1, "{}", upgrade.stderr);
    assert_eq!(
        upgrade.stderr.matches("error[tag-moved]").count(),
        2,
        "{}",
        upgrade.stderr
    );
    assert_eq!(project.read("metalmark.lock"), before);
    let one = project.run(&format!("lock --upgrade {NOBLE}"));
    assert_eq!(
        one.stderr.matches("error[tag-moved]").count(),
        1,
        "{}",
        one.stderr
    );
    let accepted = project.run(&format!("lock --accept-moved {NOBLE}"));
    assert_eq!(accepted.status, 0, "{}", accepted.stderr);
    assert!(
        accepted.stdout.contains("1 kept, 0 added, 1 updated"),
        "{}",
        accepted.stdout
    );
    assert_ne!(project.read("metalmark.lock"), before);
    let unknown = project.run("lock --upgrade ubuntu-noble-plain-rke2-1-31-9");
    assert_eq!(unknown.status, 2);
    assert!(
        unknown.stderr.contains(&format!("did you mean `{NOBLE}`?")),
        "{}",
        unknown.stderr
    );
}

#[test]
fn verify_sees_what_moved_what_went_and_what_was_edited() {
    let project = Project::new();
    assert_eq!(project.run("verify").status, 2);
    project.registry(&[NOBLE, JAMMY], "0.4.12", "a");
    assert_eq!(project.run("lock").status, 0);
    let clean = project.run("verify");
    assert_eq!((clean.status, &*clean.stderr), (0, ""));
    assert_eq!(
        clean.stdout.matches("as locked").count(),
        2,
        "{}",
        clean.stdout
    );
    let edited = project
        .read("metalmark.lock")
        .replace(&"a".repeat(64), &"c".repeat(64));
    project.write("metalmark.lock", &edited);
    let found = project.run("verify");
    assert!(
        found
            .stderr
            .contains("error[lock-tampered]: `sha256` of `ubuntu-jammy"),
        "{}",
        found.stderr
    );
    project.registry(&[NOBLE], "0.4.12", "b");
    let found = project.run("verify");
    assert_eq!(found.status, 1);
    assert!(
        found
            .stderr
            .contains("error[tag-moved]: `oci://registry.example.org/os/ubuntu-noble"),
        "{}",
        found.stderr
    );
    assert!(
        found
            .stderr
            .contains("error[catalog-drift]: `oci://registry.example.org/os/ubuntu-jammy"),
        "{}",
        found.stderr
    );
    let json = project.run("verify --output json");
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(json["images"][1]["in_place"], false);
}
