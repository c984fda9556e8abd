//! docs/limits.md says what the code holds to. tests/guards/limits.jsonl has a test for each limit.

use std::fs;

use super::super::guards::guarded_limits;
use super::super::support::{code, repository};

/// A limit: what it is of, the number in words, the constant as `file: NAME`.
struct Row {
    what: String,
    limit: String,
    constant: String,
}

/// The rows of the page: a row may have several limits of one file.
fn rows() -> Vec<Row> {
    let page = fs::read_to_string(repository().join("docs/limits.md")).expect("the page");
    let mut rows = Vec::new();
    for line in page.lines().filter(|line| line.ends_with("` |")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, whats, limits, constants, _] = cells[..] else {
            panic!("{line}");
        };
        let (file, names) = constants.split_once(": ").expect("`file: NAME`");
        let all = [whats, limits, names].map(|cell| cell.split(" · ").collect::<Vec<_>>());
        let [whats, limits, names] = all;
        assert!(
            whats.len() == names.len() && limits.len() == names.len(),
            "{line}"
        );
        for ((what, limit), name) in whats.into_iter().zip(limits).zip(names) {
            rows.push(Row {
                what: what.to_owned(),
                limit: limit.to_owned(),
                constant: format!("{file}: {name}").replace('`', ""),
            });
        }
    }
    rows
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
    let rows = rows();
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
            let is_it = |row: &Row| {
                *limit == format!("| {} | {} |", row.what, row.limit)
                    && row.constant.starts_with(&format!("crates/{name}/"))
            };
            assert!(rows.iter().any(is_it), "{name}: {limit}");
        }
    }
}

#[test]
fn every_limit_of_the_code_and_of_the_page_has_a_guard() {
    let guarded = guarded_limits();
    let of_page = rows().into_iter().map(|row| row.constant);
    let mut missing: Vec<String> = of_page.filter(|it| !guarded.contains(it)).collect();
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
                .filter(|constant| !guarded.contains(constant)),
        );
    }
    assert!(
        missing.is_empty(),
        "tests/guards/limits.jsonl lacks {missing:?}"
    );
}
