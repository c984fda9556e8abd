//! deny.toml without cargo-deny and without a network: where dependencies come from, under which licenses, in how many versions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use serde_json::Value;

use super::programs::missing;
use super::support::repository;

/// What is in the binary or makes it, on Linux. None where cargo has not got all of it at hand.
fn packages() -> Option<Vec<Value>> {
    let metadata = cargo(&["metadata", "--format-version=1", "--filter-platform", HOST])?;
    let tree = tree("normal,build", "{p}")?;
    let used: BTreeSet<(&str, &str)> = tree.lines().filter_map(name_and_version).collect();
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages").iter();
    let of_use =
        |package: &&Value| used.contains(&(word(package, "name"), word(package, "version")));
    Some(packages.filter(of_use).cloned().collect())
}

const HOST: &str = "x86_64-unknown-linux-gnu";

/// A line for each package behind the workspace's default members.
fn tree(edges: &str, format: &str) -> Option<String> {
    cargo(&[
        "tree",
        "--prefix=none",
        "--target",
        HOST,
        "--edges",
        edges,
        "--format",
        format,
    ])
}

/// What cargo says without asking the network.
fn cargo(arguments: &[&str]) -> Option<String> {
    let output = Command::new(env!("CARGO"))
        .current_dir(repository())
        .args(arguments)
        .args(["--locked", "--offline"])
        .output()
        .expect("cargo starts");
    if !output.status.success() {
        missing("crates");
        return None;
    }
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}

/// `serde v1.0.2 (proc-macro)`
fn name_and_version(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split(' ');
    let (name, version) = (words.next()?, words.next()?);
    Some((name, version.strip_prefix('v')?))
}

fn word<'v>(package: &'v Value, key: &str) -> &'v str {
    package[key].as_str().unwrap_or_default()
}

/// The texts between quotes on the line of deny.toml that starts so, or on the lines of its list.
fn denied(key: &str) -> Vec<String> {
    let text = fs::read_to_string(repository().join("deny.toml")).expect("deny.toml");
    let (_, list) = text.split_once(&format!("\n{key} = [")).expect(key);
    let (list, _) = list.split_once(']').expect("a list");
    list.split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// Whether an SPDX expression can be met by these licenses. Exceptions (`WITH`) are licenses of their own.
fn is_met(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    let met = either(&mut words, allowed);
    met && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn either(words: &mut Words<'_>, allowed: &[String]) -> bool {
    let mut met = both(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        met |= both(words, allowed);
    }
    met
}

fn both(words: &mut Words<'_>, allowed: &[String]) -> bool {
    let mut met = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words, allowed);
    }
    met
}

fn one(words: &mut Words<'_>, allowed: &[String]) -> bool {
    match words.next() {
        Some("(") => {
            let met = either(words, allowed);
            words.next() == Some(")") && met
        }
        Some(license) => match words.next_if_eq(&"WITH") {
            Some(_) => allowed.contains(&format!(
                "{license} WITH {}",
                words.next().unwrap_or_default()
            )),
            None => allowed.iter().any(|known| known == license),
        },
        None => false,
    }
}

#[test]
fn expressions_of_licenses_are_read() {
    let allowed = ["MIT", "ISC"].map(str::to_owned);
    for met in [
        "MIT",
        "MIT OR GPL-3.0",
        "MIT/GPL-3.0",
        "ISC AND (GPL-2.0 OR MIT)",
        "GPL-2.0 OR ISC AND MIT",
    ] {
        assert!(is_met(met, &allowed), "{met}");
    }
    for unmet in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "(MIT",
        "MIT WITH x",
        "ISC AND (GPL-2.0 OR BSD)",
        "MIT ISC",
    ] {
        assert!(!is_met(unmet, &allowed), "{unmet}");
    }
}

#[test]
fn every_dependency_is_of_crates_io_and_under_a_license_that_is_allowed() {
    let Some(packages) = packages() else { return };
    let allowed = denied("allow");
    assert!(packages.len() > 100);
    for package in &packages {
        let (name, source) = (word(package, "name"), word(package, "source"));
        let is_ours = package["source"].is_null();
        let is_known = source == "registry+https://github.com/rust-lang/crates.io-index";
        assert!(is_ours || is_known, "{name} comes from `{source}`");
        let license = word(package, "license");
        assert!(is_met(license, &allowed), "{name} is under `{license}`");
    }
}

#[test]
fn no_dependency_comes_in_two_versions_but_those_that_are_said() {
    let Some(packages) = packages() else { return };
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in &packages {
        let all = versions.entry(word(package, "name")).or_default();
        all.insert(word(package, "version"));
    }
    let skipped = denied("skip");
    for (name, all) in versions.iter().filter(|(_, all)| all.len() > 1) {
        let is_said = |version: &&str| skipped.iter().any(|skip| version_of(skip, name, version));
        let unsaid = all.iter().filter(|version| !is_said(version)).count();
        assert!(unsaid <= 1, "{name} is there as {all:?}");
    }
}

/// Whether `name@0.7` means this version.
fn version_of(skip: &str, name: &str, version: &str) -> bool {
    let begins = skip.split_once('@').filter(|(skipped, _)| *skipped == name);
    begins.is_some_and(|(_, begin)| version.starts_with(&format!("{begin}.")))
}

/// Dependencies of tests turn features on. Where they do that to what is released, `cargo build` after `cargo test` compiles
/// it again, and tests run another program than users.
#[test]
fn tests_run_with_the_features_that_are_released() {
    let features = |edges| tree(edges, "{p} with {f}").map(|tree| tree.replace(" (*)", ""));
    let (Some(released), Some(tested)) = (features("normal,build"), features("normal,build,dev"))
    else {
        return;
    };
    let tested: BTreeSet<&str> = tested.lines().collect();
    assert!(tested.iter().any(|line| line.starts_with("proptest v")));
    let released: BTreeSet<&str> = released.lines().collect();
    assert!(released.len() > 100);
    let other: Vec<&&str> = released.difference(&tested).collect();
    assert!(
        other.is_empty(),
        "tests turn on more features of these: {other:#?}"
    );
}
