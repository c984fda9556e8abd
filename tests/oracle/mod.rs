//! The oracle data: what the real engines answered, and what ours answers.

pub(crate) mod expressions;
mod layers;
mod scalars;
mod selection;
pub(crate) mod typed;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Debug, Write as _};
use std::sync::Mutex;

use serde_json::Value;
use yaml_tree::engine::Engine;

use snapbox::Data;

use super::support::repository;
use super::support::stage::assert_text;

/// The engines under the names they have in the data.
pub(crate) const ENGINES: [(&str, Engine); 3] = [
    ("helm3", Engine::Helm3_18),
    ("helm4", Engine::Helm4),
    ("kubectl", Engine::Kubectl),
];

/// The cases of one file.
pub(crate) fn cases(file: &str) -> Vec<Value> {
    let path = format!("{}/fixtures/oracle/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the oracle data is in the repository");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("each line is one JSON object"))
        .collect()
}

/// The answers that count as right: one, or several where the engine itself varies.
pub(crate) fn accepted(expect: &Value) -> Vec<&Value> {
    match expect.get("varies").and_then(Value::as_array) {
        Some(results) => results.iter().collect(),
        None => vec![expect],
    }
}

/// Compares the answers to each case of a file with those of its engines, but for the exceptions, which differ for a reason; and
/// the counts with docs/oracle.md.
pub(crate) fn compare<A: Debug>(
    file: &'static str,
    engines: &[(&'static str, Engine)],
    exceptions: &[(&str, &'static str)],
    answer: impl Fn(&Value, Engine) -> A,
    agree: impl Fn(&A, &Value) -> bool,
) {
    let (mut wrong, mut tally) = (Vec::new(), Tally::new(file));
    for case in cases(file) {
        let exception = exceptions.iter().find(|(id, _)| case["id"] == *id);
        for (name, engine) in engines {
            let (ours, theirs) = (answer(&case, *engine), &case["expect"][name]);
            let agrees = accepted(theirs).iter().any(|it| agree(&ours, it));
            tally.count(&case, name, exception.map(|(_, reason)| *reason));
            if agrees == exception.is_some() {
                let mut question = case.clone();
                question["expect"] = Value::Null;
                let theirs = theirs.to_string();
                wrong.push(format!(
                    "{question} {name}\n  ours   {ours:.300?}\n  theirs {theirs:.300}"
                ));
            }
        }
    }
    let count = wrong.len();
    assert!(wrong.is_empty(), "{count} wrong\n{}", wrong.join("\n"));
    tally.is_documented();
}

/// Whether an answer is the recorded JSON, or has the recorded class of error.
pub(crate) fn is_same_json(answer: &Result<String, &str>, expect: &Value) -> bool {
    match (answer, expect["json"].as_str()) {
        (Ok(ours), Some(theirs)) => canonical(ours) == canonical(theirs),
        (Err(class), None) => expect["error"]["class"] == *class,
        _ => false,
    }
}

/// JSON text in one form: no space, strings with the fewest escapes; number literals and the order of keys as they are.
pub(crate) fn canonical(json: &str) -> String {
    let mut out = String::new();
    let mut rest = json;
    while let Some(start) = rest.find('"') {
        out.extend(rest[..start].chars().filter(|c| !c.is_whitespace()));
        let body = &rest[start + 1..];
        let mut end = 0;
        while body.as_bytes()[end] != b'"' {
            end += if body.as_bytes()[end] == b'\\' { 2 } else { 1 };
        }
        let literal = &rest[start..start + end + 2];
        let text: String = serde_json::from_str(literal).expect("a JSON string");
        out.push_str(&serde_json::to_string(&text).expect("strings can be written"));
        rest = &body[end + 1..];
    }
    out.extend(rest.chars().filter(|c| !c.is_whitespace()));
    out
}

/// Compares one file's section of docs/oracle.md with what a test has counted; `SNAPSHOTS=overwrite` rewrites it.
pub(crate) fn section(file: &str, content: &str) {
    /// The sections are one file's, and tests run side by side.
    static FILE: Mutex<()> = Mutex::new(());
    let _alone = FILE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let path = repository().join("docs/oracle.md");
    let text = std::fs::read_to_string(&path).expect("docs/oracle.md");
    let start = format!("<!-- {file} -->\n");
    let end = format!("<!-- end of {file} -->\n");
    let (before, behind) = text.split_once(&start).expect("a section for each file");
    let (_, after) = behind.split_once(&end).expect("a section has an end");
    let whole = [before, &start, content, &end, after].concat();
    assert_text(&whole, Data::read_from(&path, None));
}

/// How many answers of one file agree with ours: docs/oracle.md shows it, and each run proves it.
struct Tally {
    file: &'static str,
    groups: BTreeMap<String, Count>,
    /// The cases that differ, each with its engines and the reason.
    differences: BTreeMap<String, (Vec<&'static str>, &'static str)>,
}

#[derive(Default)]
struct Count {
    cases: BTreeSet<String>,
    agree: usize,
    differ: usize,
}

impl Tally {
    fn new(file: &'static str) -> Self {
        Self {
            file,
            groups: BTreeMap::new(),
            differences: BTreeMap::new(),
        }
    }

    /// Counts one engine's answer to a case: one that ours agrees with, or the reason why it does not.
    fn count(&mut self, case: &Value, engine: &'static str, differs: Option<&'static str>) {
        let id = case["id"].as_str().expect("a case has an id").to_owned();
        let group = case["group"].as_str().unwrap_or("all").to_owned();
        let count = self.groups.entry(group).or_default();
        count.cases.insert(id.clone());
        match differs {
            None => count.agree += 1,
            Some(reason) => {
                count.differ += 1;
                let difference = self.differences.entry(id).or_default();
                difference.0.push(engine);
                difference.1 = reason;
            }
        }
    }

    /// Compares this file's section of docs/oracle.md with the count; `SNAPSHOTS=overwrite` rewrites it.
    fn is_documented(&self) {
        section(self.file, &self.table());
    }

    fn table(&self) -> String {
        let mut table =
            "| group | cases | answers that agree | that differ |\n|---|---|---|---|\n".to_owned();
        let mut sum = (0, 0, 0);
        for (group, count) in &self.groups {
            let (cases, agree, differ) = (count.cases.len(), count.agree, count.differ);
            writeln!(table, "| {group} | {cases} | {agree} | {differ} |").expect("a string");
            sum = (sum.0 + cases, sum.1 + agree, sum.2 + differ);
        }
        if self.groups.len() > 1 {
            let (cases, agree, differ) = sum;
            let all = format!("| **all** | **{cases}** | **{agree}** | **{differ}** |\n");
            table += &all;
        }
        for (position, (id, (engines, reason))) in self.differences.iter().enumerate() {
            let gap = if position == 0 { "\n" } else { "" };
            writeln!(table, "{gap}* `{id}` ({}): {reason}", engines.join(", ")).expect("a string");
        }
        table
    }
}
