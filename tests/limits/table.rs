//! docs/limits.md says what the code holds to. tests/guards.rs holds each row to a test.

use std::collections::BTreeSet;
use std::fs;

use super::super::support::{code, repository};

/// A row: the limit in words, the constant as `file: NAME`.
struct Row {
    limit: String,
    constant: String,
}

fn rows() -> Vec<Row> {
    let page = fs::read_to_string(repository().join("docs/limits.md")).expect("the page");
    let lines = page.lines().filter(|line| line.starts_with("| "));
    let cells = lines.map(|line| -> Vec<&str> { line.split('|').map(str::trim).collect() });
    let rows = cells.filter(|cells| {
        cells.len() == 6
            && ["`src/", "`crates/"]
                .iter()
                .any(|folder| cells[3].starts_with(folder))
    });
    let row = |cells: Vec<&str>| Row {
        limit: cells[2].to_owned(),
        constant: cells[3].trim_matches('`').to_owned(),
    };
    rows.map(row).collect()
}

/// What a constant's expression, or a limit in words, comes to.
fn number(text: &str) -> u64 {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let plain: String = number
        .chars()
        .filter(|letter| !matches!(letter, ',' | '_'))
        .collect();
    let number: u64 = plain
        .parse()
        .unwrap_or_else(|_| panic!("`{text}` starts with no number"));
    let unit = unit.split(' ').next().unwrap_or_default();
    match unit {
        "<<" => {
            let shift = text
                .rsplit(' ')
                .next()
                .and_then(|shift| shift.parse::<u32>().ok());
            number << shift.expect("a shift")
        }
        "KiB" => number << 10,
        "MiB" => number << 20,
        "GiB" => number << 30,
        _ => number,
    }
}

/// The expression of a constant, or of a field of a `Default`.
fn expression(constant: &str) -> String {
    let (file, name) = constant.split_once(": ").expect("`file: NAME`");
    let text = fs::read_to_string(repository().join(file)).expect(file);
    let is_constant = name
        .chars()
        .all(|letter| letter.is_ascii_uppercase() || letter == '_');
    let found = text.lines().find_map(|line| {
        if is_constant {
            let (_, rest) = line.split_once(&format!("const {name}: "))?;
            Some(rest.split_once(" = ")?.1.trim_end_matches(';').to_owned())
        } else {
            let rest = line.trim().strip_prefix(&format!("{name}: "))?;
            let value = rest.trim_end_matches(',');
            value
                .starts_with(|digit: char| digit.is_ascii_digit())
                .then(|| value.to_owned())
        }
    });
    found.unwrap_or_else(|| panic!("{file} has no `{name}`"))
}

#[test]
fn every_limit_of_the_page_is_the_codes() {
    let rows = rows();
    assert!(rows.len() > 40, "{} rows", rows.len());
    for row in rows {
        let held = number(&expression(&row.constant));
        assert_eq!(number(&row.limit), held, "{}", row.constant);
    }
}

#[test]
fn every_limit_of_a_crates_readme_is_on_the_page() {
    let page = fs::read_to_string(repository().join("docs/limits.md")).expect("the page");
    for (name, least) in [("yaml-tree", 6), ("go-template", 15)] {
        let readme = repository().join(format!("crates/{name}/README.md"));
        let text = fs::read_to_string(readme).expect("a README");
        let (_, table) = text
            .split_once("| what | limit |\n|---|---|\n")
            .expect("limits");
        let limits: Vec<&str> = table
            .lines()
            .take_while(|line| line.starts_with('|'))
            .collect();
        assert!(limits.len() >= least, "{name}: {} limits", limits.len());
        for limit in limits {
            let row = format!("{limit} `crates/{name}/");
            assert!(page.contains(&row), "{name}: {limit}");
        }
    }
}

#[test]
fn every_limit_of_the_code_is_on_the_page() {
    let reported: BTreeSet<String> = rows().into_iter().map(|row| row.constant).collect();
    let mut missing = Vec::new();
    for (path, text) in code::code() {
        let names = text.lines().filter_map(|line| {
            let (_, rest) = line.split_once("const ")?;
            let (name, kind) = rest.split_once(": ")?;
            let is_limit = ["LIMIT", "DEPTH", "DEEPEST", "NESTING", "STEPS", "FUEL"]
                .iter()
                .any(|word| name.ends_with(word));
            (is_limit
                && ["usize", "u64", "u32"]
                    .iter()
                    .any(|number| kind.starts_with(number)))
            .then(|| name.to_owned())
        });
        missing.extend(
            names
                .map(|name| format!("{path}: {name}"))
                .filter(|constant| !reported.contains(constant)),
        );
    }
    assert!(missing.is_empty(), "docs/limits.md lacks {missing:?}");
}
