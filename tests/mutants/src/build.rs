//! One copy of the project that holds every mutant, and its test programs.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use serde_json::Value;

use crate::Candidate;
use crate::find::Mutant;
use crate::splice::{Spliced, splice};

/// The copy, below the project's `target`.
pub struct Copy {
    pub folder: PathBuf,
    project: PathBuf,
    target: PathBuf,
}

impl Copy {
    /// Copies what git knows of, as it is in the work tree, and what it does not ignore.
    pub fn of(project: &Path, is_optimized: bool) -> Result<Self, Box<dyn Error>> {
        let base = project.join("target/mutants");
        let folder = base.join("tree");
        fs::create_dir_all(&folder)?;
        let listed = Command::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .current_dir(project)
            .output()?;
        let mut kept = BTreeSet::new();
        for path in String::from_utf8(listed.stdout)?
            .split('\0')
            .filter(|path| !path.is_empty())
        {
            let from = project.join(path);
            if from.symlink_metadata().is_ok() {
                copy_changed(&from, &folder.join(path))?;
                kept.insert(PathBuf::from(path));
            }
        }
        remove_others(&folder, &folder, &kept)?;
        let switch = base.join("switch");
        fs::create_dir_all(switch.join("src"))?;
        for path in ["Cargo.toml", "src/lib.rs"] {
            copy_changed(
                &project.join("tests/mutants/switch").join(path),
                &switch.join(path),
            )?;
        }
        for path in kept.iter().filter(|path| is_crate(path)) {
            let manifest = fs::read_to_string(project.join(path))?;
            let switch = "[dependencies]\nmutants_switch = { path = \"../../../switch\" }";
            let manifest = manifest.replacen("[dependencies]", switch, 1);
            write_changed(&folder.join(path), &manifest)?;
        }
        let manifest = fs::read_to_string(project.join("Cargo.toml"))?;
        // With many mutants, tests run so often that an optimized build pays.
        let profile = match is_optimized {
            true => "[profile.dev]\nopt-level = 1\nlto = \"off\"\nincremental = false",
            false => "[profile.dev]\nincremental = false",
        };
        let manifest = manifest
            .replacen(
                "[dependencies]",
                "[dependencies]\nmutants_switch = { path = \"../switch\" }",
                1,
            )
            .replacen("[profile.dev]", profile, 1);
        write_changed(&folder.join("Cargo.toml"), &manifest)?;
        committed(&folder)?;
        Ok(Self {
            folder,
            project: project.to_owned(),
            target: base.join("target"),
        })
    }

    /// Writes the mutants into the copy, leaves out those that the compiler refuses, and returns the others.
    pub fn write(&self, mut candidates: Vec<Candidate>) -> Result<Vec<Candidate>, Box<dyn Error>> {
        loop {
            let mut files: BTreeMap<String, Spliced> = BTreeMap::new();
            let mut edits: BTreeMap<&str, Vec<(u32, &Mutant)>> = BTreeMap::new();
            for candidate in &candidates {
                let more = candidate.more.iter().map(|(file, mutant)| (file, mutant));
                for (file, mutant) in more.chain([(&candidate.file, &candidate.mutant)]) {
                    edits
                        .entry(file)
                        .or_default()
                        .push((candidate.number, mutant));
                }
            }
            for (path, mut of) in edits {
                of.sort_by_key(|(_, mutant)| (mutant.range.start, mutant.range.end));
                let text = fs::read_to_string(self.project.join(path))?;
                let spliced = splice(&text, &of);
                write_changed(&self.folder.join(path), &spliced.text)?;
                files.insert(path.to_owned(), spliced);
            }
            let refused = self.refused(&files)?;
            if refused.is_empty() {
                return Ok(candidates);
            }
            eprintln!("{} mutants do not compile", refused.len());
            candidates.retain(|candidate| !refused.contains(&candidate.number));
            // A file that loses all of its mutants gets its own text back.
            for path in files.keys() {
                copy_changed(&self.project.join(path), &self.folder.join(path))?;
            }
        }
    }

    fn cargo(&self, arguments: &[&str]) -> Result<Vec<Value>, Box<dyn Error>> {
        let output = Command::new("cargo")
            .args(arguments)
            .args(["--message-format=json", "--offline"])
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("RUSTFLAGS", "-Awarnings")
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()?;
        let text = String::from_utf8(output.stdout)?;
        Ok(text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect())
    }

    /// The mutants that the compiler's errors point at.
    fn refused(&self, files: &BTreeMap<String, Spliced>) -> Result<BTreeSet<u32>, Box<dyn Error>> {
        let mut refused = BTreeSet::new();
        let mut others = Vec::new();
        for message in self.cargo(&["check", "--workspace", "--lib", "--bins"])? {
            if message["reason"] != "compiler-message" || message["message"]["level"] != "error" {
                continue;
            }
            let spans = message["message"]["spans"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            let primary: Vec<&Value> = spans
                .iter()
                .filter(|span| span["is_primary"] == true)
                .collect();
            let mut found: BTreeSet<u32> =
                primary.iter().flat_map(|span| at(files, span)).collect();
            if found.is_empty() {
                found = spans.iter().flat_map(|span| at(files, span)).collect();
            }
            if found.is_empty() {
                found = primary
                    .iter()
                    .filter_map(|span| nearest(files, span))
                    .collect();
            }
            if found.is_empty() && !spans.is_empty() {
                others.push(
                    message["message"]["rendered"]
                        .as_str()
                        .unwrap_or_default()
                        .to_owned(),
                );
            }
            refused.extend(found);
        }
        if refused.is_empty() && !others.is_empty() {
            return Err(others.join("\n").into());
        }
        Ok(refused)
    }

    /// Builds the test programs: their names and paths.
    pub fn build(&self) -> Result<Vec<(String, PathBuf)>, Box<dyn Error>> {
        let messages =
            self.cargo(&["test", "--no-run", "--workspace", "--lib", "--test", "all"])?;
        let mut programs = Vec::new();
        for message in messages {
            if message["reason"] == "compiler-message" && message["message"]["level"] == "error" {
                return Err(message["message"]["rendered"]
                    .as_str()
                    .unwrap_or_default()
                    .into());
            }
            let is_test =
                message["profile"]["test"] == true && message["reason"] == "compiler-artifact";
            if let (true, Some(path)) = (is_test, message["executable"].as_str()) {
                let name = message["target"]["name"].as_str().unwrap_or_default();
                let name = match name {
                    "metalmark" => "lib".to_owned(),
                    name => name.replace('_', "-"),
                };
                programs.push((name, PathBuf::from(path)));
            }
        }
        Ok(programs)
    }
}

/// Whether a file is the manifest of a crate below `crates/`.
fn is_crate(path: &Path) -> bool {
    path.starts_with("crates") && path.ends_with("Cargo.toml")
}

/// Makes the copy a repository of its own, with all files committed: some tests compare with what git has.
fn committed(folder: &Path) -> Result<(), Box<dyn Error>> {
    let name = [
        "-c",
        "user.name=mutants",
        "-c",
        "user.email=mutants@localhost",
    ];
    for arguments in [
        &["init", "-q"][..],
        &["add", "-A"],
        &["commit", "-q", "--allow-empty", "-m", "copy"],
    ] {
        let status = Command::new("git")
            .args(name)
            .args(arguments)
            .current_dir(folder)
            .status()?;
        if !status.success() {
            return Err(format!("git {} failed", arguments.join(" ")).into());
        }
    }
    Ok(())
}

/// The mutants at a span of the compiler: those whose own text has it, else those of the innermost place around it.
fn at(files: &BTreeMap<String, Spliced>, span: &Value) -> Vec<u32> {
    let number = |name: &str| {
        span[name]
            .as_u64()
            .and_then(|number| usize::try_from(number).ok())
            .unwrap_or_default()
    };
    let range = number("byte_start")..number("byte_end");
    let Some(spliced) = span["file_name"].as_str().and_then(|path| files.get(path)) else {
        // Within a macro: where it is called.
        let caller = &span["expansion"]["span"];
        return if caller.is_null() {
            Vec::new()
        } else {
            at(files, caller)
        };
    };
    let within = |outer: &Range<usize>| outer.start <= range.start && range.end <= outer.end;
    let own: Vec<u32> = spliced
        .places
        .iter()
        .filter(|(_, own, _)| within(own))
        .map(|(number, ..)| *number)
        .collect();
    if !own.is_empty() {
        return own;
    }
    let around = spliced.places.iter().filter(|(.., whole)| within(whole));
    let smallest = around.map(|(.., whole)| whole.len()).min();
    let inner = spliced
        .places
        .iter()
        .filter(|(.., whole)| within(whole) && Some(whole.len()) == smallest);
    let inner: Vec<u32> = inner.map(|(number, ..)| *number).collect();
    if !inner.is_empty() {
        return inner;
    }
    // An error over several places is one of the first place in it.
    let inside = spliced
        .places
        .iter()
        .filter(|(.., whole)| range.start <= whole.start && whole.end <= range.end);
    inside.map(|(number, ..)| *number).collect()
}

/// The mutant nearest to a span, of an error that points at no place of any.
fn nearest(files: &BTreeMap<String, Spliced>, span: &Value) -> Option<u32> {
    let spliced = files.get(span["file_name"].as_str()?)?;
    let start = usize::try_from(span["byte_start"].as_u64()?).ok()?;
    let places = spliced.places.iter();
    let nearest = places.min_by_key(|(_, own, _)| own.start.abs_diff(start));
    nearest.map(|(number, ..)| *number)
}

fn write_changed(path: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|now| now == text) {
        return Ok(());
    }
    fs::write(path, text)
}

/// Copies a file or link, unless the copy is equal: cargo goes by the time of change.
fn copy_changed(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    if from.is_symlink() {
        let _ = fs::remove_file(to);
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    let bytes = fs::read(from)?;
    if fs::read(to).is_ok_and(|now| now == bytes) {
        return Ok(());
    }
    fs::copy(from, to).map(drop)
}

fn remove_others(root: &Path, folder: &Path, kept: &BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let relative = path.strip_prefix(root).unwrap_or(&path);
        if relative == Path::new(".git") {
            continue;
        }
        if path.is_dir() && !path.is_symlink() {
            remove_others(root, &path, kept)?;
        } else if !kept.contains(relative) && relative != Path::new("Cargo.lock") {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}
