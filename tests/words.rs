//! The project writes plain American English: words of its own dialect are not used again.

use std::fs;
use std::path::{Path, PathBuf};

use go_template::regexp::Regexp;

use super::support::repository;

/// What is not written, as a pattern of whole words, and what is written instead. An underscore ends a word, so that names in the
/// code are read as text.
const WORDS: [(&str, &str); 12] = [
    ("told|tells?|telling", "report, print, declare"),
    ("stands?|stood|standing", "be, exist; current, existing"),
    ("(un)?asked|asks?|asking", "request, query, require"),
    ("comes?[ _]to|came[ _]to", "resolve to, evaluate to, equal"),
    ("mend(s|ed|ing)?", "fix, repair, recover"),
    ("speaks?|spoken?|speaking", "apply to, support"),
    ("held[ _]against", "compare with"),
    ("whoever", "name the actor"),
    ("anew", "again"),
    ("by[ _]hand", "manually"),
    ("in[ _]the[ _]place[ _]of", "instead of"),
    (
        "so[ _]many|as[ _]many[ _]as|put[ _](together|down)",
        "at most N, one per …; join, split, write",
    ),
];

/// Files whose words are not ours to change: the names in this script are part of rendered objects.
const EXCEPTIONS: [(&str, &str); 1] = [(
    "src/render/objects/component_bundle/mod.rs",
    "(un)?asked|asks?|asking",
)];

/// Files below a folder with one of the extensions, as paths below the repository.
fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(repository().join(folder)).sort_by_file_name();
    let paths = entries
        .into_iter()
        .filter_entry(|entry| entry.file_name() != "target")
        .map(|entry| entry.expect("readable").into_path());
    let is_read = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| extensions.contains(&extension))
    };
    let below = |path: PathBuf| path.strip_prefix(repository()).expect("below").to_owned();
    paths.filter(is_read).map(below).collect()
}

/// The name of the function that a line of code declares.
fn function(line: &str) -> &str {
    let name = line
        .split_once("fn ")
        .and_then(|(_, rest)| rest.split(['(', '<']).next());
    name.unwrap_or("")
}

fn is_exception(file: &Path, words: &str) -> bool {
    let mut exceptions = EXCEPTIONS.iter();
    exceptions.any(|(path, of)| file == Path::new(path) && *of == words)
}

/// What is not written, as in [`WORDS`], and its pattern.
type Patterns = [(&'static str, Regexp, &'static str); 12];

fn patterns() -> Patterns {
    WORDS.map(|(words, instead)| {
        let pattern = format!("(?i)(^|[^a-z])({words})([^a-z]|$)");
        (words, Regexp::new(&pattern).expect("a pattern"), instead)
    })
}

/// The words of a line that are not written in that file.
fn faults(patterns: &Patterns, file: &Path, line: &str) -> Vec<String> {
    let of_pattern = |(words, pattern, instead): &(&str, Regexp, &str)| {
        let word = pattern.find(line).filter(|_| !is_exception(file, words))?;
        let word = word.trim_matches(|letter: char| !letter.is_alphabetic());
        Some(format!("`{word}`: write: {instead}"))
    };
    patterns.iter().filter_map(of_pattern).collect()
}

#[test]
fn plain_words_are_used() {
    let patterns = patterns();
    // The patterns find what they are for: each of its first word, however it is written.
    for (words, _) in WORDS {
        let word = words
            .replace("(un)?", "")
            .replace("[ _]", "_")
            .replace(['(', ')', '?'], "");
        let word = word.split('|').next().expect("a word");
        let planted = format!("fn it_{}_it()", word.to_uppercase());
        assert_eq!(
            faults(&patterns, Path::new("x"), function(&planted)).len(),
            1,
            "{planted}"
        );
    }
    let texts = files("src", &["rs", "md"])
        .into_iter()
        .chain(files("crates", &["rs", "md"]))
        .chain(files("docs", &["md"]))
        .chain([PathBuf::from("README.md")])
        .map(|file| (file, false));
    let code = ["tests", "benches", "fuzz/src"];
    let code = code.into_iter().flat_map(|folder| files(folder, &["rs"]));
    let (mut found, mut lines) = (Vec::new(), 0);
    for (file, names_only) in texts.chain(code.map(|file| (file, true))) {
        let text = fs::read_to_string(repository().join(&file)).expect("a text");
        lines += text.lines().count();
        for (line, number) in text.lines().zip(1..) {
            let read = if names_only { function(line) } else { line };
            let faults = faults(&patterns, &file, read).into_iter();
            found.extend(faults.map(|fault| format!("{}:{number}: {fault}", file.display())));
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
    assert!(lines > 100_000, "{lines} lines are read");
}
