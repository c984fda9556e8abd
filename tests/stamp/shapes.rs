//! The shapes that people write manifests in: only image, name, version and reference lines change, and what is stamped back is
//! as it was.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};
use similar::{ChangeTag, TextDiff};

use super::{files, fixtures};
use crate::support::{Metalmark, copy_of, golden};

/// Words that a changed line may hold: the image's fields, a name, a reference to it.
const TOUCHED: [&str; 10] = [
    "image",
    "url",
    "checksum",
    "format",
    "ami",
    "id:",
    "template:",
    "sourcenode:",
    "value:",
    "version:",
];

/// That line ends and the file's end stay, and that each line that changes is about the image.
fn is_changed_in_its_image(path: &Path, old: &str, text: &str) {
    assert_eq!(old.contains("\r\n"), text.contains("\r\n"));
    let bare = text.matches('\n').count() - text.matches("\r\n").count();
    assert!(bare == 0 || !old.contains("\r\n"), "{}", path.display());
    assert_eq!(
        old.ends_with('\n'),
        text.ends_with('\n'),
        "{}",
        path.display()
    );
    for change in TextDiff::from_lines(old, text).iter_all_changes() {
        let line = change.value().to_lowercase();
        let expected = change.tag() == ChangeTag::Equal
            || TOUCHED.iter().any(|word| line.contains(word))
            || line.trim() == "filter:"
            || line.trim() == "name: noble-1";
        assert!(expected, "{}: {line}", path.display());
    }
}

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
        let shapes = path
            .extension()
            .is_some_and(|end| end == "yaml" || end == "json");
        if !shapes || path.starts_with("after") || path.ends_with("metalmark.yaml") {
            continue;
        }
        golden(&fixtures().join("shapes-after").join(path), text);
        assert_ne!(old, text, "{}", path.display());
        is_changed_in_its_image(path, old, text);
    }
    let again = Metalmark::within(scratch.path())
        .args(["stamp", "--check"])
        .run();
    assert_eq!(again.status, 0, "{}{}", again.stdout, again.stderr);
    assert_eq!(files(scratch.path()), after);
}

/// Stamps a folder with that project file.
fn stamped(folder: &Path, project: &str, arguments: &[&str]) -> BTreeMap<PathBuf, String> {
    fs::write(folder.join("metalmark.yaml"), project).expect("written");
    let all = ["stamp"].into_iter().chain(arguments.iter().copied());
    let outcome = Metalmark::within(folder).args(all).run();
    assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
    let mut files = files(folder);
    files.remove(Path::new("metalmark.yaml"));
    files
}

/// The same images, each in another build.
fn next_build(project: &str) -> String {
    project
        .replace("noble-2", "noble-10")
        .replace("jammy-2", "jammy-10")
        .replace("noble:2", "noble:10")
        .replace("0123456789abcdef", "f0e1d2c3b4a59687")
        .replace("fedcba9876543210", "8796a5b4c3d2e1f0")
        .replace("2222222222222222", "0000000000000003")
        .replace("8f1b2c3d", "d41d8cd9")
        .replace("ami-0a1b2c3d", "ami-ffffffff")
        .replace("\"1.34.2\"", "\"1.34.3\"")
        .replace("v1.34.2", "v1.34.3")
        .replace("\"102\"", "\"2103\"")
}

#[test]
fn every_shape_comes_back_to_its_first_bytes() {
    let scratch = copy_of(&fixtures().join("shapes"));
    let project = fs::read_to_string(scratch.path().join("metalmark.yaml")).expect("text");
    let next = next_build(&project);
    for arguments in [&[][..], &["--rotate", "--keep", "0"]] {
        // A name gets its hash with the first change.
        stamped(scratch.path(), &next, arguments);
        let first = stamped(scratch.path(), &project, arguments);
        let second = stamped(scratch.path(), &next, arguments);
        for (path, text) in &first {
            assert_ne!(&second[path], text, "{}", path.display());
        }
        let third = stamped(scratch.path(), &project, arguments);
        for (path, text) in &first {
            assert_eq!(&third[path], text, "{}", path.display());
        }
    }
}

/// The same template where people put it: in a file, in a block of a ConfigMap, in lists of Helm values.
fn at_home(text: &str, home: usize) -> String {
    let deeper = |pad: &str| {
        let lines = text.lines().map(|line| format!("{pad}{line}\n"));
        lines.collect::<String>()
    };
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n";
    match home {
        0 => text.to_owned(),
        1 => format!("{map}  a.yaml: |\n{}", deeper("    ")),
        2 => format!("{map}  a.yaml: |-\n{}  b: c\n", deeper("      ")),
        3 => format!("extra:\n- |+\n{}\n\n- b\n", deeper("     ")),
        _ => format!("extra:\n  -\n{}", deeper("    ")),
    }
}

/// The text of one template that is written in some way.
fn written(indent: usize, quote: &str, comment: &str, flow: bool, home: usize) -> String {
    let pad = " ".repeat(indent);
    let word = |text: &str| format!("{quote}{text}{quote}");
    let url = word("https://images.example.org/noble-1.raw");
    let image = if flow {
        format!(
            "{pad}{pad}{pad}image: {{url: {url}, checksum: {}}}{comment}\n",
            word("ab")
        )
    } else {
        format!(
            "{pad}{pad}{pad}image:{comment}\n{pad}{pad}{pad}{pad}url: {url}{comment}\n{pad}{pad}{pad}{pad}checksum: {}\n",
            word("ab")
        )
    };
    let text = format!(
        "# metalmark: image=noble\napiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: {}\nmetadata:{comment}\n\
         {pad}name: a\nspec:\n{pad}template:\n{pad}{pad}spec:\n{image}{pad}{pad}{pad}nodes: [1, 2]{comment}\n",
        word("Metal3MachineTemplate")
    );
    at_home(&text, home)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn a_stamp_keeps_comments_and_line_ends_and_is_the_last_one(
        indent in 1..5usize,
        quote in "|'|\"",
        comment in "|  # kept: \\{as it is",
        crlf in proptest::bool::ANY,
        flow in proptest::bool::ANY,
        home in 0..5usize,
        cut in proptest::bool::ANY,
    ) {
        let ending = if crlf { "\r\n" } else { "\n" };
        let mut text = written(indent, &quote, &comment, flow, home).replace('\n', ending);
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
        let project = fs::read_to_string(scratch.path().join("metalmark.yaml")).expect("text");
        let next = stamped(scratch.path(), &next_build(&project), &[]);
        prop_assert!(next[Path::new("a.yaml")].contains("noble-10.raw"));
        let back = stamped(scratch.path(), &project, &[]);
        prop_assert_eq!(&back[Path::new("a.yaml")], &once);
        let again = Metalmark::within(scratch.path()).args(["stamp", "--check"]).run();
        prop_assert_eq!(again.status, 0, "{}", again.stdout);
    }
}
