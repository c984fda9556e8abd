//! What a release says of itself: one version, wherever it is named.

use std::fs;

use crate::support::repository;

/// The texts that name a version of metalmark: those of hosts, and of the installation.
#[test]
fn every_page_and_template_names_the_version_of_the_crate() {
    let mut looked_at = 0;
    for folder in ["docs", "templates/hosts", ".ci"] {
        for entry in walkdir::WalkDir::new(repository().join(folder)) {
            let entry = entry.expect("readable");
            let is_picture = entry.path().extension().is_some_and(|it| it == "png");
            if !entry.file_type().is_file() || is_picture {
                continue;
            }
            let text = fs::read_to_string(entry.path()).expect("text");
            for before in [
                "metalmark==",
                "tools/metalmark:",
                "metalmark-cmp:",
                "rev: v",
                "revision: v",
            ] {
                for (at, _) in text.match_indices(before) {
                    let named = &text[at + before.len()..];
                    let end = named.find(|c: char| !c.is_ascii_digit() && c != '.');
                    let named = named[..end.unwrap_or(named.len())].trim_end_matches('.');
                    assert_eq!(
                        named,
                        env!("CARGO_PKG_VERSION"),
                        "{}",
                        entry.path().display()
                    );
                    looked_at += 1;
                }
            }
        }
    }
    assert!(looked_at > 8, "{looked_at}");
}

/// What CI installs is what the page says.
#[test]
fn the_hook_of_the_page_is_the_one_that_ci_installs() {
    let page = fs::read_to_string(repository().join("docs/hosts/pre-commit.md")).expect("text");
    let (_, hook) = page
        .split_once("<!-- python hook -->\n```yaml\n")
        .expect("the marker");
    let (hook, _) = hook.split_once("\n```\n").expect("its end");
    let manifest = fs::read_to_string(repository().join(".pre-commit-hooks.yaml")).expect("text");
    let entry = "entry: metalmark render --fail-on-change --tracked\n";
    assert!(hook.contains(entry) && manifest.contains(entry));
    let script = fs::read_to_string(repository().join(".ci/installs")).expect("text");
    assert!(script.contains("python hook"));
}
