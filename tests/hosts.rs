//! The same bytes in every host: each document of a workspace as the command writes it, as a stream, inside Argo CD and from
//! the KRM function.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::krm;
use super::support::{Metalmark, copy_of, repository};

/// Documents by the path of their file, in their order there.
type Files = BTreeMap<String, Vec<String>>;

fn run(folder: &Path, line: &str, input: &str) -> String {
    let variables = [("ARGOCD_ENV_SCOPE", "all"), ("ARGOCD_APP_SOURCE_PATH", ".")];
    let outcome = Metalmark::within(folder)
        .args(line.split(' '))
        .envs(&variables)
        .run_with(input);
    assert_eq!(outcome.status, 0, "{line}: {}", outcome.stderr);
    outcome.stdout
}

/// The documents of one file's text.
fn documents(text: &str) -> Vec<String> {
    let parts = text.split("\n---\n");
    parts
        .map(|part| format!("{}\n", part.trim_end_matches('\n')))
        .collect()
}

/// What the command writes, its own records and what is no object left out.
fn on_disk(folder: &Path) -> Files {
    run(folder, "render", "");
    let rendered = folder.join("rendered");
    let mut files = Files::new();
    for entry in walkdir::WalkDir::new(&rendered) {
        let entry = entry.expect("readable");
        let path = entry.path().strip_prefix(folder).expect("below");
        let path = path.to_string_lossy().into_owned();
        if entry.file_type().is_file() && is_object(&path) {
            let text = fs::read_to_string(entry.path()).expect("text");
            files.insert(path, documents(&text));
        }
    }
    files
}

fn is_object(path: &str) -> bool {
    path.ends_with(".yaml")
}

/// What a stream holds, by the paths that it names.
fn in_stream(stream: &str) -> Files {
    let mut files = Files::new();
    for part in format!("\n{stream}").split("\n---\n# ").skip(1) {
        let (path, text) = part.split_once('\n').expect("a path");
        files.insert(path.to_owned(), documents(text));
    }
    files
}

#[test]
fn every_host_gets_the_same_bytes() {
    let folder = copy_of(&repository().join("fixtures/workspaces/sylva-baremetal"));
    let expected = on_disk(folder.path());
    assert!(expected.len() > 4, "{:?}", expected.keys());
    fs::remove_dir_all(folder.path().join("rendered")).expect("removed");

    let stream = run(folder.path(), "render --stdout", "");
    assert_eq!(in_stream(&stream), expected);
    let argocd = run(folder.path(), "cmp generate", "");
    assert_eq!(in_stream(&argocd), expected);
    let list = run(folder.path(), "fn", krm::GENERATOR);
    assert_eq!(krm::files(&list), expected);
    assert!(
        !folder.path().join("rendered").exists(),
        "only `render` writes"
    );
}

/// `kubectl apply` takes no values, so they are in a stream only where nothing else is rendered.
#[test]
fn a_stream_of_values_alone_is_printed() {
    let folder = copy_of(&repository().join("fixtures/workspaces/sylva-baremetal"));
    let stream = run(
        folder.path(),
        "render --stdout --target helm-values --out out",
        "",
    );
    assert!(stream.contains("cluster:\n"), "{stream}");
}
