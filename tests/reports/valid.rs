//! What the readers of the formats ask for, as far as it concerns what is written here.

use std::collections::BTreeSet;

use serde_json::Value;

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    let text = value[field].as_str();
    text.unwrap_or_else(|| panic!("`{field}` is not text in {value}"))
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    let list = value[field].as_array();
    list.unwrap_or_else(|| panic!("`{field}` is not a list in {value}"))
}

/// Fields that there are, and no others.
fn only(value: &Value, fields: &[&str]) {
    for name in value.as_object().expect("an object").keys() {
        assert!(
            fields.contains(&name.as_str()),
            "no field `{name}` in {value}"
        );
    }
}

fn relative(path: &str) {
    let plain = !path.is_empty() && !path.starts_with('/') && !path.starts_with("./");
    assert!(plain && !path.split('/').any(|name| name == ".."), "{path}");
}

fn distinct<'a>(fingerprints: impl Iterator<Item = &'a str>) -> usize {
    let all: Vec<&str> = fingerprints.collect();
    let different: BTreeSet<&str> = all.iter().copied().collect();
    assert_eq!(different.len(), all.len(), "fingerprints collide: {all:?}");
    all.len()
}

/// <https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format>
pub(super) fn gitlab(report: &Value) -> usize {
    let entries = report.as_array().expect("a list");
    for entry in entries {
        only(
            entry,
            &[
                "check_name",
                "description",
                "fingerprint",
                "severity",
                "location",
            ],
        );
        assert!(!text(entry, "check_name").is_empty() && !text(entry, "description").is_empty());
        let severities = ["info", "minor", "major", "critical", "blocker"];
        assert!(severities.contains(&text(entry, "severity")));
        relative(text(&entry["location"], "path"));
        assert!(entry["location"]["lines"]["begin"].as_u64() > Some(0));
    }
    distinct(entries.iter().map(|entry| text(entry, "fingerprint")))
}

/// The required fields, the closed enumerations and the cross-references of SARIF 2.1.0, and what GitHub asks for besides.
pub(super) fn sarif(report: &Value) -> usize {
    only(report, &["$schema", "version", "runs"]);
    assert_eq!(text(report, "version"), "2.1.0");
    let [run] = list(report, "runs") else {
        panic!("one run")
    };
    only(run, &["tool", "columnKind", "results"]);
    assert!(["utf16CodeUnits", "unicodeCodePoints"].contains(&text(run, "columnKind")));
    let driver = &run["tool"]["driver"];
    only(driver, &["name", "semanticVersion", "rules"]);
    assert_eq!(text(driver, "name"), "metalmark");
    let rules = list(driver, "rules");
    for rule in rules {
        only(
            rule,
            &[
                "id",
                "shortDescription",
                "fullDescription",
                "help",
                "defaultConfiguration",
            ],
        );
        for field in ["shortDescription", "fullDescription", "help"] {
            assert!(!text(&rule[field], "text").is_empty());
        }
        level(&rule["defaultConfiguration"]);
    }
    assert_eq!(
        distinct(rules.iter().map(|rule| text(rule, "id"))),
        rules.len()
    );
    let results = list(run, "results");
    for result in results {
        level(result);
        assert!(!text(&result["message"], "text").is_empty());
        let rule = &rules[result["ruleIndex"].as_u64().expect("a number") as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        let [place] = list(result, "locations") else {
            panic!("one place")
        };
        location(place);
        list(result, "relatedLocations").iter().for_each(location);
    }
    let prints = results
        .iter()
        .map(|result| text(&result["partialFingerprints"], "metalmark/v1"));
    distinct(prints)
}

fn level(value: &Value) {
    assert!(["none", "note", "warning", "error"].contains(&text(value, "level")));
}

fn location(location: &Value) {
    let place = &location["physicalLocation"];
    let uri = text(&place["artifactLocation"], "uri");
    relative(uri);
    assert!(uri.bytes().all(|byte| byte.is_ascii_graphic()), "{uri}");
    let number = |field: &str| place["region"][field].as_u64();
    let start = (
        number("startLine").expect("a line"),
        number("startColumn").unwrap_or(1),
    );
    assert!(start.0 > 0 && start.1 > 0);
    if let Some(line) = number("endLine") {
        assert!((line, number("endColumn").expect("a column")) >= start);
    }
}

/// Each line is one command or plain words.
pub(super) fn workflow_commands(report: &str) -> usize {
    let (words, commands): (Vec<&str>, Vec<&str>) =
        report.lines().partition(|line| !line.starts_with("::"));
    assert_eq!(words.len(), 1, "{report}");
    for command in &commands {
        let command = command.trim_start_matches("::");
        let (head, message) = command.split_once("::").expect("a message");
        let (name, properties) = head.split_once(' ').expect("properties");
        assert!(
            ["error", "warning"].contains(&name) && !message.is_empty(),
            "{command}"
        );
        for property in properties.split(',') {
            let (key, value) = property.split_once('=').expect("a value");
            assert!(
                ["file", "line", "endLine", "col", "endColumn", "title"].contains(&key),
                "{key}"
            );
            assert!(!value.is_empty() && !value.contains(':'), "{property}");
            if key == "file" {
                relative(value);
            }
        }
    }
    commands.len()
}

/// Cases as `suite/name`.
#[derive(Default)]
pub(super) struct Cases {
    pub(super) passed: BTreeSet<String>,
    pub(super) failed: BTreeSet<String>,
}

/// Well-formed, each case once, and the counts right.
pub(super) fn junit(report: &str) -> Cases {
    let body = report
        .strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
        .expect("a head");
    let (mut open, mut cases): (Vec<&str>, Cases) = (Vec::new(), Cases::default());
    let mut counted = (0, 0);
    for tag in body.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').expect("a tag ends");
        assert!(
            text.split('&').skip(1).all(|part| part.contains(';')),
            "{text}"
        );
        let name = tag
            .split([' ', '/'])
            .find(|word| !word.is_empty())
            .expect("a name");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        assert_eq!(attribute(tag, "").matches('"').count() % 2, 0, "{tag}");
        let parents: &[&str] = match name {
            "testsuites" => &[],
            "testsuite" => &["testsuites"],
            "testcase" => &["testsuites", "testsuite"],
            "failure" | "system-out" => &["testsuites", "testsuite", "testcase"],
            other => panic!("<{other}>"),
        };
        assert_eq!(open, parents, "{tag}");
        if name == "testsuites" {
            let number = |name| attribute(tag, name).parse::<usize>().expect("a number");
            counted = (number("tests"), number("failures"));
        }
        let case = format!("{}/{}", attribute(tag, "classname"), attribute(tag, "name"));
        if name == "testcase" {
            assert!(cases.passed.insert(case), "twice: {tag}");
        } else if name == "failure" {
            let last = text_of_last_case(body, tag);
            cases.failed.insert(last);
        }
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty());
    cases.passed = cases.passed.difference(&cases.failed).cloned().collect();
    assert_eq!(
        counted,
        (cases.passed.len() + cases.failed.len(), cases.failed.len())
    );
    cases
}

/// The case that a failure stands in.
fn text_of_last_case(body: &str, failure: &str) -> String {
    let before = &body[..failure.as_ptr() as usize - body.as_ptr() as usize];
    let case = before.rsplit("<testcase").next().expect("a case");
    format!(
        "{}/{}",
        attribute(case, "classname"),
        attribute(case, "name")
    )
}

/// An attribute's value; the whole tag for no name.
fn attribute<'a>(tag: &'a str, name: &str) -> &'a str {
    if name.is_empty() {
        return tag;
    }
    let value = tag.split_once(&format!(" {name}=\"")).map(|(_, rest)| rest);
    value
        .and_then(|rest| rest.split('"').next())
        .unwrap_or_default()
}
