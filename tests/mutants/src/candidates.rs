//! Which mutants are tried: those of lists, and those that are made by rule of all code that is not test code.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::find::{self, Form, Mutant};

/// A mutant, with its number in the build.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub number: u32,
    /// Its edits, by file: one, but for some that are made by hand.
    pub edits: Vec<(String, Mutant)>,
    /// The one test that has to fail.
    pub test: Option<String>,
    /// Whether its own line changed.
    pub is_changed: bool,
}

impl Candidate {
    fn new(file: &str, mutant: Mutant) -> Self {
        Self {
            number: 0,
            edits: vec![(file.to_owned(), mutant)],
            test: None,
            is_changed: false,
        }
    }

    pub fn file(&self) -> &str {
        &self.edits[0].0
    }

    /// A name that stays the same while other lines change.
    pub fn key(&self) -> String {
        let (file, mutant) = &self.edits[0];
        format!("{file} {} {}", mutant.function, mutant.change)
    }

    /// As the output lists it.
    pub fn place(&self) -> String {
        let (file, mutant) = &self.edits[0];
        format!("{file}:{} [{}]", mutant.line, self.key())
    }

    /// Whether an edit of it is in the same text as one of the other; not where both are the same edit, if that may be.
    pub fn overlaps(&self, other: &Self, may_be_same: bool) -> bool {
        self.edits.iter().any(|(file, one)| {
            other.edits.iter().any(|(in_file, mutant)| {
                let (own, other) = (&one.range, &mutant.range);
                let is_same = may_be_same && own == other && one.form == mutant.form;
                file == in_file && own.start < other.end && other.start < own.end && !is_same
            })
        })
    }

    /// The folder two deep in `src` of its package.
    pub fn module(&self) -> String {
        let (base, path) = self.file().split_once("src/").unwrap_or_default();
        let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
        let folders: Vec<&str> = folders.split('/').take(2).collect();
        let module = format!("{base}src/{}", folders.join("/"));
        module.trim_end_matches('/').to_owned()
    }
}

/// The source files of the workspace's packages, by their paths, without those that only tests compile.
pub fn sources(project: &Path) -> Result<BTreeMap<String, String>, Box<dyn Error>> {
    let listed = [
        &["ls-files", "-co", "--exclude-standard", "--"][..],
        SOURCES,
    ]
    .concat();
    let mut texts = BTreeMap::new();
    for file in git(project, &listed)?.lines() {
        if project.join(file).exists() {
            texts.insert(file.to_owned(), fs::read_to_string(project.join(file))?);
        }
    }
    let of_tests: Vec<String> = { texts.iter() }
        .flat_map(|(file, text)| test_modules(file, text))
        .collect();
    texts.retain(|file, _| {
        !{ of_tests.iter() }.any(|module| {
            let rest = file.strip_prefix(module);
            rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        })
    });
    Ok(texts)
}

const SOURCES: &[&str] = &["src/*.rs", "crates/*/src/*.rs"];

/// The paths, without `.rs`, of the modules that a file declares for tests alone.
fn test_modules(file: &str, text: &str) -> Vec<String> {
    let (folder, name) = file.rsplit_once('/').unwrap_or_default();
    let folder = match name {
        "lib.rs" | "main.rs" | "mod.rs" => folder,
        _ => file.trim_end_matches(".rs"),
    };
    let declared = text.split("#[cfg(test)]").skip(1);
    let name = |rest: &str| {
        let line = rest.trim_start().lines().next()?.strip_suffix(';')?;
        let (_, name) = line.split_once("mod ")?;
        Some(format!("{folder}/{name}"))
    };
    declared.filter_map(name).collect()
}

/// Lines that changed, by file.
pub type Changed = BTreeMap<String, Vec<RangeInclusive<usize>>>;

/// What differs from a revision in the work tree.
pub fn changed(
    project: &Path,
    revision: &str,
    sources: &BTreeMap<String, String>,
) -> Result<Changed, Box<dyn Error>> {
    let diff = ["diff", "--unified=0", "--no-color", "--diff-filter=d", "-M"];
    let diff = git(project, &[&diff[..], &[revision, "--"], SOURCES].concat())?;
    let mut changed = changed_lines(&diff);
    let new = ["ls-files", "--others", "--exclude-standard", "--"];
    for file in git(project, &[&new[..], SOURCES].concat())?.lines() {
        changed.insert(file.to_owned(), vec![1..=usize::MAX]);
    }
    changed.retain(|file, _| sources.contains_key(file));
    Ok(changed)
}

/// The lines of a diff without context.
fn changed_lines(diff: &str) -> Changed {
    let mut changed = Changed::new();
    let mut file = String::new();
    for line in diff.lines() {
        if let Some(path) = line.strip_prefix("+++ b/") {
            path.clone_into(&mut file);
        }
        let Some(hunk) = line.strip_prefix("@@ ") else {
            continue;
        };
        let now = hunk.split(' ').find_map(|word| word.strip_prefix('+'));
        let now = now.unwrap_or_default();
        let (start, count) = now.split_once(',').unwrap_or((now, "1"));
        let number = |text: &str| text.parse().unwrap_or_default();
        let (start, count): (usize, usize) = (number(start), number(count));
        // Where lines only went, those around them.
        let end = if count == 0 {
            start + 1
        } else {
            start + count - 1
        };
        changed.entry(file.clone()).or_default().push(start..=end);
    }
    changed
}

fn git(project: &Path, arguments: &[&str]) -> Result<String, Box<dyn Error>> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(project)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// All mutants that the rules make; with `--changed`, those of functions that changed.
pub fn by_rule(
    sources: &BTreeMap<String, String>,
    changed: Option<&Changed>,
) -> Result<Vec<Candidate>, Box<dyn Error>> {
    let mut candidates = Vec::new();
    for (file, text) in sources {
        let lines = changed.map(|changed| changed.get(file).map_or(&[][..], Vec::as_slice));
        if lines.is_some_and(<[_]>::is_empty) {
            continue;
        }
        for mutant in find::mutants(text).map_err(|error| format!("{file}: {error}"))? {
            let mut candidate = Candidate::new(file, mutant);
            let (_, Mutant { line, scope, .. }) = &candidate.edits[0];
            let is_in_function = |lines: &RangeInclusive<usize>| {
                lines.start() <= scope.end() && scope.start() <= lines.end()
            };
            if lines.is_none_or(|lines| lines.iter().any(is_in_function)) {
                candidate.is_changed =
                    lines.is_some_and(|lines| lines.iter().any(|lines| lines.contains(line)));
                candidates.push(candidate);
            }
        }
    }
    Ok(candidates)
}

/// An even choice over the modules, and all of lines that changed, in a random order: by a hash of what the mutant does, so that it
/// depends on no other file.
pub fn sample(candidates: Vec<Candidate>, most: usize, seed: u64) -> Vec<Candidate> {
    let total = candidates.len();
    let mut modules: BTreeMap<String, Vec<(u64, Candidate)>> = BTreeMap::new();
    for candidate in candidates {
        let mut hasher = DefaultHasher::new();
        (candidate.key(), candidate.edits[0].1.range.start % 7, seed).hash(&mut hasher);
        let of = modules.entry(candidate.module()).or_default();
        of.push((hasher.finish(), candidate));
    }
    let mut chosen = Vec::new();
    for mut of in modules.into_values() {
        of.sort_by_key(|(hash, candidate)| (!candidate.is_changed, *hash));
        let changed = of.iter().filter(|(_, candidate)| candidate.is_changed);
        // By size, rounded up: at least one of each.
        let share = (of.len() * most).div_ceil(total).max(changed.count());
        chosen.extend(of.into_iter().take(if most == 0 { total } else { share }));
    }
    chosen.sort_by_key(|(hash, _)| *hash);
    chosen.into_iter().map(|(_, candidate)| candidate).collect()
}

/// One edit of a mutant made by hand; lines with the same `id` and test are one mutant.
#[derive(Deserialize)]
struct Edit {
    #[serde(default)]
    id: String,
    file: String,
    find: String,
    replace: String,
    test: Option<String>,
}

/// The mutants of lists.
pub fn manual(project: &Path, lists: &[PathBuf]) -> Result<Vec<Candidate>, Box<dyn Error>> {
    let mut candidates: Vec<(String, Candidate)> = Vec::new();
    for list in lists {
        for line in fs::read_to_string(list)?.lines() {
            let edit: Edit = serde_json::from_str(line)
                .map_err(|error| format!("{}: {error}: {line}", list.display()))?;
            let mut candidate = Candidate::new(&edit.file, edit.mutant(project)?);
            candidate.test = edit.test;
            let same = candidates.iter_mut().find(|(id, other)| {
                !id.is_empty() && *id == edit.id && candidate.test == other.test
            });
            match same {
                Some((_, other)) => other.edits.extend(candidate.edits),
                None => candidates.push((edit.id, candidate)),
            }
        }
    }
    let candidates: Vec<Candidate> = candidates.into_iter().map(|(_, one)| one).collect();
    match conflicts(&candidates) {
        conflicts if conflicts.is_empty() => Ok(candidates),
        conflicts => Err(conflicts.into()),
    }
}

/// Names mutants made by hand that replace a text in different ways: one build cannot hold both.
fn conflicts(candidates: &[Candidate]) -> String {
    let mut conflicts = String::new();
    for (index, one) in candidates.iter().enumerate() {
        for other in candidates[..index]
            .iter()
            .filter(|other| one.overlaps(other, true))
        {
            let (one, other) = (one.place(), other.place());
            conflicts += &format!("these overlap, try them apart:\n  {other}\n  {one}\n");
        }
    }
    conflicts
}

impl Edit {
    fn mutant(&self, project: &Path) -> Result<Mutant, Box<dyn Error>> {
        let text = fs::read_to_string(project.join(&self.file))?;
        let places: Vec<_> = text.match_indices(&self.find).collect();
        let [(start, _)] = places[..] else {
            let count = places.len();
            return Err(format!("{}: {count} times, not once: {}", self.file, self.find).into());
        };
        let lines = (find::one_line(&self.find), find::one_line(&self.replace));
        let line = text[..start].matches('\n').count() + 1;
        Ok(Mutant {
            range: start..start + self.find.len(),
            form: Form::ByHand(self.replace.clone()),
            function: String::new(),
            change: format!("`{}` → `{}`", lines.0, lines.1),
            line,
            scope: line..=line,
        })
    }
}

#[cfg(test)]
pub mod tests {
    use std::collections::BTreeSet;
    use std::ops::Range;

    use super::*;

    pub fn manual(file: &str, range: Range<usize>, text: &str) -> Candidate {
        let mutant = Mutant {
            range,
            form: Form::ByHand(text.to_owned()),
            function: String::new(),
            change: text.to_owned(),
            line: 1,
            scope: 1..=1,
        };
        Candidate::new(file, mutant)
    }

    #[test]
    fn texts_that_overlap_are_named_and_equal_ones_are_not() {
        let [one, same, apart] = [(0..5, "a"), (0..5, "a"), (5..9, "b")]
            .map(|(range, text)| manual("x.rs", range, text));
        assert!(conflicts(&[one.clone(), same, apart, manual("y.rs", 1..2, "c")]).is_empty());
        for other in [manual("x.rs", 4..6, "c"), manual("x.rs", 0..5, "c")] {
            let conflict = conflicts(&[one.clone(), other]);
            assert!(conflict.contains("x.rs:1 [x.rs  a]") && conflict.contains("[x.rs  c]"));
        }
    }

    #[test]
    fn modules_are_folders_two_deep() {
        for (file, module) in [
            ("src/error.rs", "src"),
            ("src/cli/mod.rs", "src/cli"),
            ("src/read/gitops/selector.rs", "src/read/gitops"),
            ("src/read/gitops/deep/er.rs", "src/read/gitops"),
            ("crates/capi/src/lib.rs", "crates/capi/src"),
            (
                "crates/capi/src/objects/a/b.rs",
                "crates/capi/src/objects/a",
            ),
        ] {
            assert_eq!(manual(file, 0..1, "").module(), module);
        }
    }

    #[test]
    fn a_module_of_tests_is_where_its_parent_says() {
        let text = "#[cfg(test)]\nmod tests {\n#[cfg(test)]\nmod recorded;\nmod other;\n#[cfg(test)]\npub(super) mod tests;";
        assert_eq!(
            test_modules("src/a.rs", text),
            ["src/a/recorded", "src/a/tests"]
        );
        assert_eq!(
            test_modules("src/a/mod.rs", "#[cfg(test)]\nmod t;"),
            ["src/a/t"]
        );
    }

    #[test]
    fn a_diff_says_which_lines_changed() {
        let diff = "+++ b/a.rs\n@@ -1 +1,2 @@ fn x\n+a\n@@ -9,2 +10,0 @@\n-b\nrename to c.rs\n+++ b/b.rs\n@@ -0,0 +7 @@\n";
        let changed = changed_lines(diff);
        assert_eq!(changed["a.rs"], [1..=2, 10..=11]);
        assert_eq!(changed["b.rs"], [7..=7]);
        assert_eq!(changed.len(), 2);
    }

    #[test]
    fn only_mutants_of_changed_functions_are_made_and_changed_lines_are_known() {
        let text = "fn one() -> bool {\n    f()\n}\n\nfn two() -> bool {\n    g()\n}\n";
        let sources = BTreeMap::from([("a.rs".to_owned(), text.to_owned())]);
        let functions = |changed: Option<&Changed>| {
            let mutants = by_rule(&sources, changed).expect("Rust").into_iter();
            mutants
                .map(|one| one.edits[0].1.function.clone())
                .collect::<BTreeSet<_>>()
        };
        let of = |lines| Changed::from([("a.rs".to_owned(), vec![lines])]);
        assert_eq!(functions(None).len(), 2);
        assert_eq!(functions(Some(&of(4..=5))), ["two".to_owned()].into());
        assert_eq!(functions(Some(&of(4..=4))).len(), 0);
        assert_eq!(functions(Some(&Changed::new())).len(), 0);
        let is_changed = |lines| {
            let mutants = by_rule(&sources, Some(&of(lines))).expect("Rust");
            mutants.iter().any(|one| one.is_changed)
        };
        assert!(is_changed(5..=5) && !is_changed(7..=7));
    }

    #[test]
    fn a_sample_has_some_of_each_module_and_a_seed_repeats_it() {
        let of = |file, at: usize| manual(file, at..at + 1, &at.to_string());
        let all = (0..100).map(|at| of(if at < 90 { "src/a/b.rs" } else { "src/b/b.rs" }, at));
        let all: Vec<Candidate> = all.collect();
        let keys = |most, seed| {
            let chosen = sample(all.clone(), most, seed).into_iter();
            chosen.map(|one| one.key()).collect::<Vec<_>>()
        };
        let chosen = keys(20, 1);
        assert_eq!(chosen.len(), 20);
        assert_eq!(
            chosen.iter().filter(|key| key.starts_with("src/b")).count(),
            2
        );
        assert_eq!(chosen, keys(20, 1));
        assert_ne!(chosen, keys(20, 2));
        assert_eq!(keys(0, 1).len(), 100);
    }

    #[test]
    fn all_of_lines_that_changed_are_in_a_sample() {
        let of = |at: usize| Candidate {
            is_changed: at.is_multiple_of(2),
            ..manual("src/a.rs", at..at + 1, &at.to_string())
        };
        let count = |most| {
            let chosen = sample((0..100).map(of).collect(), most, 1);
            let changed = chosen.iter().filter(|one| one.is_changed).count();
            (changed, chosen.len())
        };
        assert_eq!([count(20), count(60)], [(50, 50), (50, 60)]);
    }
}
