//! The real programs that tests ask where they are found.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command};

use super::support::{repository, skips};

/// A program from `METALMARK_<NAME>` or the search path. Where it is missing, says so; fails if `METALMARK_REQUIRE` names it.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let found = on_path(name);
    if found.is_none() {
        missing(&name.replace('-', "_"));
    }
    found
}

/// The same for a test that does not need it, as its answers are recorded: it is no skip.
pub(crate) fn find_optional(name: &str) -> Option<PathBuf> {
    let found = on_path(name);
    if found.is_none() {
        assert_not_required(&name.replace('-', "_"));
    }
    found
}

fn on_path(name: &str) -> Option<PathBuf> {
    let variable = format!("METALMARK_{}", name.to_uppercase().replace('-', "_"));
    let named = std::env::var_os(variable).map(PathBuf::from);
    named.or_else(|| {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path)
            .map(|folder| folder.join(name))
            .find(|file| file.is_file())
    })
}

/// A Python that has PyYAML.
pub(crate) fn python_with_yaml() -> Option<PathBuf> {
    let python = find("python3")?;
    let output = Command::new(&python).args(["-c", "import yaml"]).output();
    if output.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    missing("pyyaml");
    None
}

/// The folder that a variable names; says so where it names none.
pub(crate) fn named(variable: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    if folder.is_none() {
        missing(&variable.to_lowercase());
    }
    folder
}

/// Notes that a test is skipped for want of something; fails if `METALMARK_REQUIRE` names it. `cargo test` counts the skips in
/// its last line.
#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
pub(crate) fn missing(name: &str) {
    println!("skipped: {name} is not found");
    skips::note(name);
    assert_not_required(name);
}

fn assert_not_required(name: &str) {
    let required = std::env::var("METALMARK_REQUIRE").unwrap_or_default();
    let is_required = skips::names(&required, name);
    assert!(!is_required, "{name} is required and not found");
}

/// The folder of CRDs, by API group: what `CRDS` names, else one beside the repository.
pub(crate) fn crds() -> Option<PathBuf> {
    find_folder("CRDS", "crds")
}

/// The folder of input sets of the Sylva of 2026: what `SYLVA_SETS` names, else one beside the repository.
pub(crate) fn sylva_sets() -> Option<PathBuf> {
    find_folder("SYLVA_SETS", "reference/sylva-2026")
}

fn find_folder(variable: &str, path: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let folder = named.unwrap_or_else(|| repository().join("../shared").join(path));
    if folder.is_dir() {
        return Some(folder);
    }
    missing(&variable.to_lowercase());
    None
}

/// Programs that run beside a test, and end with this value.
#[derive(Default)]
pub(crate) struct Running(pub(crate) Vec<Child>);

impl Drop for Running {
    fn drop(&mut self) {
        for program in &mut self.0 {
            // It may have ended by itself.
            let _ = program.kill();
            let _ = program.wait();
        }
    }
}

#[test]
fn skips_are_reported_by_what_is_missing() {
    let notes = "a\thelm\nb\thelm\nb\tcosign\na\thelm\n";
    assert_eq!(skips::summary(notes), "2 tests skipped: cosign 1, helm 2");
    assert_eq!(skips::summary("a\thelm\n"), "1 test skipped: helm 1");
    assert_eq!(skips::summary(""), "no tests skipped");
}

/// `.ci/run` builds a program where one of its paths changed: one that is gone would never change again.
#[test]
fn what_the_built_programs_test_is_there() {
    let read = |path: &str| fs::read_to_string(repository().join(path)).expect(path);
    let (table, script) = (
        read("tests/interop/engines"),
        read("tests/interop/install.sh"),
    );
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    let mut count = 0;
    for row in rows {
        let mut words = row.split_whitespace();
        let (name, minutes) = (words.next().expect(row), words.next().expect(row));
        assert!(
            script.contains(&format!(" {name} ")) || script.contains(&format!(" {name};")),
            "{name}"
        );
        assert!(minutes.parse::<u32>().is_ok(), "{row}");
        for path in words {
            assert!(repository().join(path).exists(), "{name}: {path}");
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}
