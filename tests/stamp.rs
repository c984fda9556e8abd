//! Stamping in place: golden workspaces, the shapes that people write, and the laws of an edit.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};
use similar::{ChangeTag, TextDiff};

use super::support::{Metalmark, copy_of, golden, repository};

fn fixtures() -> PathBuf {
    repository().join("fixtures/stamp")
}

fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let files = walkdir::WalkDir::new(folder).sort_by_file_name();
    files
        .into_iter()
        .map(|entry| entry.expect("readable"))
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let path = entry.path().strip_prefix(folder).expect("below");
            let text = fs::read_to_string(entry.path()).expect("text");
            (path.to_owned(), text)
        })
        .collect()
}

#[test]
fn each_workspace_comes_to_its_after_and_stays_there() {
    for name in ["capm3", "capo", "capv"] {
        let case = fixtures().join(name);
        let scratch = copy_of(&case);
        let folder = scratch.path().join("before");
        let arguments = fs::read_to_string(case.join("args")).expect("arguments");
        let run = || {
            Metalmark::within(&folder)
                .args(arguments.split_whitespace())
                .run()
        };
        let outcome = run();
        assert_eq!(outcome.status, 0, "{name}: {}", outcome.stderr);
        golden(&case.join("printed.txt"), &outcome.stdout);
        let once = files(&folder);
        for (path, text) in &once {
            golden(&case.join("after").join(path), text);
        }
        let again = run();
        assert_eq!(again.status, 0, "{name}: {}", again.stderr);
        assert_eq!(files(&folder), once, "{name}");
    }
}

/// Words that a changed line may hold: the image's fields, a name, a reference to it.
const TOUCHED: [&str; 9] = [
    "image",
    "url",
    "checksum",
    "format",
    "ami",
    "id:",
    "template:",
    "value:",
    "version:",
];

#[test]
fn every_shape_changes_only_in_its_image() {
    let case = fixtures().join("shapes");
    let scratch = copy_of(&case);
    let before = files(scratch.path());
    let outcome = Metalmark::within(scratch.path())
        .args(["stamp", "--check"])
        .run();
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    assert_eq!(files(scratch.path()), before, "--check writes nothing");
    let outcome = Metalmark::within(scratch.path()).args(["stamp"]).run();
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let after = files(scratch.path());
    for (path, text) in &after {
        let old = &before[path];
        let shapes = path.extension().is_some_and(|end| end == "yaml");
        if !shapes || path.starts_with("after") || path.ends_with("metalmark.yaml") {
            continue;
        }
        golden(&fixtures().join("shapes-after").join(path), text);
        assert_ne!(old, text, "{}", path.display());
        assert_eq!(old.contains("\r\n"), text.contains("\r\n"));
        let bare = text.matches('\n').count() - text.matches("\r\n").count();
        assert!(bare == 0 || !old.contains("\r\n"), "{}", path.display());
        assert_eq!(
            old.ends_with('\n'),
            text.ends_with('\n'),
            "{}",
            path.display()
        );
        for change in TextDiff::from_lines(old.as_str(), text).iter_all_changes() {
            let line = change.value().to_lowercase();
            let expected = change.tag() == ChangeTag::Equal
                || TOUCHED.iter().any(|word| line.contains(word))
                || line.trim() == "filter:"
                || line.trim() == "name: noble-1";
            assert!(expected, "{}: {line}", path.display());
        }
    }
    let again = Metalmark::within(scratch.path())
        .args(["stamp", "--check"])
        .run();
    assert_eq!(again.status, 0, "{}{}", again.stdout, again.stderr);
    assert_eq!(files(scratch.path()), after);
}

#[test]
fn a_file_of_ten_thousand_lines_changes_in_its_image_lines() {
    let scratch = copy_of(&fixtures().join("shapes"));
    let template = fs::read_to_string(scratch.path().join("01-plain.yaml")).expect("text");
    let other = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n";
    let filler = format!(
        "{other}{}",
        "  key: 'value' # as it was\n".replacen("key", "a", 1)
    );
    let mut long = filler.repeat(1_000);
    long.push_str("---\n");
    long.push_str(&template);
    long.push_str(&filler.repeat(700));
    assert!(long.lines().count() > 10_000);
    let path = scratch.path().join("long.yaml");
    fs::write(&path, &long).expect("written");
    let outcome = Metalmark::within(scratch.path())
        .args(["stamp", "long.yaml"])
        .run();
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let text = fs::read_to_string(&path).expect("text");
    let lines = long.lines().zip(text.lines());
    assert_eq!(lines.filter(|(old, new)| old != new).count(), 2);
    assert_eq!(long.lines().count(), text.lines().count());
}

#[test]
fn the_answer_is_there_for_machines_too() {
    let scratch = copy_of(&fixtures().join("shapes"));
    let outcome = Metalmark::within(scratch.path())
        .args(["stamp", "--check", "--output", "json", "01-plain.yaml"])
        .run();
    let answer: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(outcome.status, 1);
    assert_eq!(answer["changes"][0]["path"], "01-plain.yaml");
}

#[test]
fn nothing_is_written_while_an_image_is_unknown() {
    let scratch = copy_of(&fixtures().join("shapes"));
    let path = scratch.path().join("01-plain.yaml");
    let text = fs::read_to_string(&path).expect("text");
    fs::write(&path, text.replace("image=noble", "image=nobel")).expect("written");
    let before = files(scratch.path());
    let outcome = Metalmark::within(scratch.path()).args(["stamp"]).run();
    assert_eq!(outcome.status, 1);
    assert!(
        outcome.stderr.contains("write `noble`"),
        "{}",
        outcome.stderr
    );
    assert_eq!(files(scratch.path()), before);
}

/// The text of one template that is written in some way.
fn written(indent: usize, quote: &str, comment: &str, ending: &str, flow: bool) -> String {
    let pad = " ".repeat(indent);
    let word = |text: &str| format!("{quote}{text}{quote}");
    let url = word("https://images.example.org/noble-1.raw");
    let image = match flow {
        true => format!(
            "{pad}{pad}{pad}image: {{url: {url}, checksum: {}}}{comment}\n",
            word("ab")
        ),
        false => format!(
            "{pad}{pad}{pad}image:{comment}\n{pad}{pad}{pad}{pad}url: {url}{comment}\n{pad}{pad}{pad}{pad}checksum: {}\n",
            word("ab")
        ),
    };
    let text = format!(
        "# metalmark: image=noble\napiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: {}\nmetadata:{comment}\n\
         {pad}name: a\nspec:\n{pad}template:\n{pad}{pad}spec:\n{image}{pad}{pad}{pad}nodes: [1, 2]{comment}\n",
        word("Metal3MachineTemplate")
    );
    text.replace('\n', ending)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn a_stamp_keeps_comments_and_line_ends_and_is_the_last_one(
        indent in 1..5usize,
        quote in "|'|\"",
        comment in "|  # kept: \\{as it is",
        crlf in proptest::bool::ANY,
        flow in proptest::bool::ANY,
        cut in proptest::bool::ANY,
    ) {
        let ending = if crlf { "\r\n" } else { "\n" };
        let mut text = written(indent, &quote, &comment, ending, flow);
        if cut {
            text.truncate(text.len() - ending.len());
        }
        let scratch = tempfile::tempdir().expect("a folder");
        let project = fs::read(fixtures().join("shapes/metalmark.yaml")).expect("the project");
        fs::write(scratch.path().join("metalmark.yaml"), project).expect("written");
        let path = scratch.path().join("a.yaml");
        fs::write(&path, &text).expect("written");
        let outcome = Metalmark::within(scratch.path()).args(["stamp"]).run();
        prop_assert_eq!(outcome.status, 0, "{}\n{}", outcome.stderr, text);
        let once = fs::read_to_string(&path).expect("text");
        prop_assert!(once.contains("noble-2.raw"));
        prop_assert_eq!(once.matches("# kept").count(), text.matches("# kept").count());
        let bare = once.matches('\n').count() - once.matches("\r\n").count();
        prop_assert_eq!(bare == 0, crlf);
        prop_assert_eq!(once.ends_with('\n'), !cut);
        let again = Metalmark::within(scratch.path()).args(["stamp", "--check"]).run();
        prop_assert_eq!(again.status, 0, "{}", again.stdout);
    }
}
