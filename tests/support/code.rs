//! The project's own files, for pages that name what stands in them.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use super::repository;

fn rust_files(folder: &str) -> Vec<(String, String)> {
    let files = walkdir::WalkDir::new(repository().join(folder)).sort_by_file_name();
    let paths = files
        .into_iter()
        .map(|entry| entry.expect("readable").into_path());
    let rust: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .collect();
    let file = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("sources are UTF-8");
        let path = path.strip_prefix(repository()).expect("below");
        (path.to_string_lossy().into_owned(), text)
    };
    rust.into_iter().map(file).collect()
}

/// The folders of crates below `crates/`, bottom first.
pub(crate) const CRATES: [&str; 4] = ["yaml-tree", "go-template", "oci-artifacts", "capi"];

/// The files of `src/` and of the crates by path, without their tests.
pub(crate) fn code() -> Vec<(String, String)> {
    let mut files = rust_files("src");
    files.extend(
        CRATES
            .iter()
            .flat_map(|name| rust_files(&format!("crates/{name}/src"))),
    );
    for (_, text) in &mut files {
        let end = text.find("#[cfg(test)]\nmod tests {");
        text.truncate(end.unwrap_or(text.len()));
    }
    files
}

/// The tests of a file: functions behind `#[test]`, attributes and comments between.
fn tests_of(text: &str) -> impl Iterator<Item = &str> {
    text.split("#[test]").skip(1).map(|behind| {
        let name = behind.split("fn ").nth(1).unwrap_or_default();
        let end = name.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        &name[..end.unwrap_or(name.len())]
    })
}

/// All tests by the binary that has them (`lib`, `all` or a crate's folder), with their modules: `limits::yaml::NAME`.
pub(crate) fn tests_by_binary() -> BTreeSet<(String, String)> {
    let mut names = BTreeSet::new();
    let crates = CRATES.map(|name| (format!("crates/{name}/src"), name));
    let own = [("src", "lib"), ("tests", "all")].map(|(folder, name)| (folder.to_owned(), name));
    for (folder, binary) in own.into_iter().chain(crates) {
        for (path, text) in rust_files(&folder) {
            let modules = path.trim_start_matches(&folder).trim_end_matches(".rs");
            let modules = modules.trim_end_matches("/mod").trim_start_matches('/');
            let inline = text.contains("\nmod tests {").then_some("tests");
            let modules = modules
                .split('/')
                .filter(|name| *name != "lib")
                .chain(inline);
            let modules: Vec<&str> = modules.collect();
            let modules = modules.join("::");
            let test = |name: &str| (binary.to_owned(), format!("{modules}::{name}"));
            names.extend(tests_of(&text).map(test));
        }
    }
    names
}
