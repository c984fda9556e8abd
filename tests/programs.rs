//! The real programs that tests ask where they are found.

use std::path::PathBuf;
use std::process::Command;

/// A program from `METALMARK_<NAME>` or the search path. Where it is missing, says so; fails if `METALMARK_REQUIRE` names it.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let variable = format!("METALMARK_{}", name.to_uppercase().replace('-', "_"));
    let named = std::env::var_os(variable).map(PathBuf::from);
    let found = named.or_else(|| {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path)
            .map(|folder| folder.join(name))
            .find(|file| file.is_file())
    });
    if found.is_none() {
        missing(name);
    }
    found
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

/// Says that a test is skipped for want of something; fails if `METALMARK_REQUIRE` names it.
#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
pub(crate) fn missing(name: &str) {
    let required = std::env::var("METALMARK_REQUIRE").unwrap_or_default();
    assert!(
        !required.split([',', ' ']).any(|word| word == name),
        "{name} is required and not found"
    );
    println!("skipped: {name} is not found");
}
