//! Findings as SARIF 2.1.0, for code scanning and editors.
//!
//! The format: <https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/sarif-v2.1.0-errata01-os-complete.html>; what GitHub
//! wants of it: <https://docs.github.com/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning>
//! (a place for each result, and a fingerprint). Fixes are left out: what helps is a sentence, not a replacement of bytes.

use std::collections::HashMap;
use std::io;

use serde_json::{Value, json};

use super::issue::{self, Issue, IssueKind, Site};
use super::{Findings, Report};
use crate::model::rule::Level;
use crate::printer::Printer;

/// For code scanning.
pub(super) struct Sarif;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

impl Report for Sarif {
    fn name(&self) -> &'static str {
        "sarif"
    }

    fn summary(&self) -> &'static str {
        "SARIF 2.1.0: code scanning and editors"
    }

    fn findings(&self, findings: &Findings<'_>, out: &mut Printer) -> io::Result<()> {
        let kinds: Vec<IssueKind> = issue::kinds().collect();
        let numbers: HashMap<&str, usize> = kinds
            .iter()
            .enumerate()
            .map(|(number, kind)| (kind.code, number))
            .collect();
        let issues = issue::issues(findings);
        let results: Vec<Value> = issues.iter().map(|issue| result(issue, &numbers)).collect();
        let document = json!({
            "$schema": SCHEMA,
            "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {
                    "name": "metalmark",
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "rules": kinds.iter().map(rule).collect::<Vec<_>>(),
                }},
                "columnKind": "unicodeCodePoints",
                "results": results,
            }],
        });
        out.json(&document)
    }
}

fn rule(kind: &IssueKind) -> Value {
    json!({
        "id": kind.code,
        "shortDescription": {"text": kind.summary},
        "fullDescription": {"text": kind.summary},
        "help": {"text": kind.explanation, "markdown": kind.explanation},
        "defaultConfiguration": {"level": level(kind.level)},
    })
}

fn result(issue: &Issue<'_>, numbers: &HashMap<&str, usize>) -> Value {
    let related = issue.related.iter().map(|(site, text)| {
        let mut location = location(site);
        if !text.is_empty() {
            location["message"] = json!({"text": text});
        }
        location
    });
    let mut result = json!({
        "ruleId": issue.code,
        "level": level(issue.level),
        "message": {"text": issue.text()},
        "locations": [location(&issue.site)],
        "relatedLocations": related.collect::<Vec<_>>(),
        "partialFingerprints": {"metalmark/v1": issue.fingerprint},
        "properties": {"clusters": issue.clusters},
    });
    // A rule that is not in the table is a slip of ours: its findings still count.
    if let Some(number) = numbers.get(issue.code) {
        result["ruleIndex"] = json!(number);
    }
    result
}

fn location(site: &Site) -> Value {
    let region = match site.range {
        Some(range) => json!({
            "startLine": range.line,
            "startColumn": range.column,
            "endLine": range.end_line,
            "endColumn": range.end_column,
        }),
        None => json!({"startLine": 1}),
    };
    let file = json!({"uri": uri(&site.path), "uriBaseId": "%SRCROOT%"});
    json!({"physicalLocation": {"artifactLocation": file, "region": region}})
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Off => "none",
    }
}

/// A path as a relative URI reference (RFC 3986, section 4.2: no colon in the first segment).
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&byte);
        if plain {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn a_path_becomes_a_relative_reference() {
        assert_eq!(uri("a/b c#%é:1.yaml"), "a/b%20c%23%25%C3%A9%3A1.yaml");
    }
}
