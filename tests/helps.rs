//! No help advises to delete a file: of a cluster that exists, it would take what Flux applies. What is gone, a run deletes itself.

use std::fs;

use go_template::regexp::Regexp;

use super::support::{code, repository};

/// What would be advice to delete something.
const ADVICE: &str = r"\b(delete|erase|unlink|git rm|rm -[rf]+)\b|\bremove (the|this|that|these|those|its) (old |stale )?(file|folder|manifest|object)";

/// What the code says with such words, which is no advice about a file of a cluster.
const OTHER: [&str; 10] = [
    // The lock: a run fetches every image again.
    "take the file back from git, or delete it and run `metalmark lock`",
    // An expression in a field.
    "which is not replaced: delete it first",
    // A warning of what an engine would do.
    "a GitOps engine that prunes would delete everything",
    "Argo CD would delete everything that the application has",
    // Words of other programs.
    "[\"autoremove\", \"erase\", \"purge\", \"remove\"]",
    r#"rm -f \"$new\""#,
    "trap 'rm -rf ",
    r"# one rm -rf /\n",
    "Some(\"delete\") => Ok(Directive::Delete)",
    "`$patch` is `merge`, `replace` or `delete`",
];

/// The lines that advise it, each with its file.
fn advice<'t>(files: impl IntoIterator<Item = (String, &'t str)>) -> Vec<String> {
    let advice = Regexp::new(ADVICE).expect("a pattern");
    let mut found = Vec::new();
    for (path, line) in files {
        let is_comment = line.trim_start().starts_with("//");
        let is_other = || OTHER.iter().any(|other| line.contains(other));
        if !is_comment && advice.find(line).is_some() && !is_other() {
            found.push(format!("{path}: {}", line.trim()));
        }
    }
    found
}

/// Whether a line of code has a text: the names of functions are none.
fn is_text(line: &str) -> bool {
    line.contains('"') || !line.trim_end().ends_with(['{', ';', ','])
}

#[test]
fn no_message_of_the_code_advises_to_delete_a_file() {
    let code = code::code();
    let lines = { code.iter() }.flat_map(|(path, text)| {
        let lines = text.lines().filter(|line| is_text(line));
        lines.map(move |line| (path.clone(), line))
    });
    let found = advice(lines);
    assert!(found.is_empty(), "{found:#?}");
    for other in OTHER {
        let is_there = code.iter().any(|(_, text)| text.contains(other));
        assert!(is_there, "no code says `{other}` any more");
    }
}

#[test]
fn no_screen_and_no_page_of_a_rule_advises_to_delete_a_file() {
    let mut texts = Vec::new();
    for folder in ["tests", "docs", "fixtures", "src/rules/pages"] {
        let files = walkdir::WalkDir::new(repository().join(folder)).sort_by_file_name();
        for file in files {
            let path = file.expect("readable").into_path();
            let text = path.is_file().then(|| fs::read_to_string(&path).ok());
            texts.extend(text.flatten().map(|text| (path, text)));
        }
    }
    let lines = texts.iter().flat_map(|(path, text)| {
        let is_page = path.starts_with(repository().join("src/rules/pages"));
        let helps = text.lines().filter(move |line| {
            is_page || line.trim_start().starts_with("= help:") || line.starts_with("help:")
        });
        helps.map(|line| (path.display().to_string(), line))
    });
    let lines: Vec<(String, &str)> = lines.collect();
    assert!(lines.len() > 500, "{} lines", lines.len());
    let found = advice(lines);
    assert!(found.is_empty(), "{found:#?}");
}
