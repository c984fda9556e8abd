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

const CHECK: [&str; 2] = ["check", "--lib"];
const BUILD: [&str; 4] = ["test", "--no-run", "--lib", "--test=all"];

/// The copy, below the project's `target`.
pub struct Copy {
    pub folder: PathBuf,
    project: PathBuf,
    target: PathBuf,
}

impl Copy {
    /// Copies what git knows of, as it is in the work tree, and what it does not ignore.
    pub fn of(project: &Path) -> Result<Self, Box<dyn Error>> {
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
        // The code of every package asks the switch.
        let dependency = format!("[dependencies]\nmutants_switch.path = {switch:?}");
        for path in kept.iter().filter(|path| is_package(path)) {
            let manifest = fs::read_to_string(project.join(path))?;
            let manifest = manifest.replacen("[dependencies]", &dependency, 1);
            write_changed(&folder.join(path), &manifest)?;
        }
        committed(&folder)?;
        Ok(Self {
            folder,
            project: project.to_owned(),
            target: base.join("target"),
        })
    }

    /// Writes the mutants into the copy, leaves out those that the compiler refuses, and builds: the others, with the names and
    /// paths of the test programs.
    pub fn build(&self, candidates: &mut Vec<Candidate>) -> Result<Programs, Box<dyn Error>> {
        let edits = candidates.iter().flat_map(|candidate| &candidate.edits);
        let paths: BTreeSet<String> = edits.map(|(path, _)| path.clone()).collect();
        // A check finds nearly all that are refused, in a fraction of the time of a build.
        while self.compile(&paths, candidates, &CHECK)?.is_none() {}
        loop {
            if let Some(messages) = self.compile(&paths, candidates, &BUILD)? {
                return Ok(messages.iter().filter_map(program).collect());
            }
        }
    }

    /// Writes the mutants into these files of the copy, and compiles it: what cargo says. Where the compiler refuses some, they are
    /// taken out of the candidates, and there is no answer.
    fn compile(
        &self,
        paths: &BTreeSet<String>,
        candidates: &mut Vec<Candidate>,
        arguments: &[&str],
    ) -> Result<Option<Vec<Value>>, Box<dyn Error>> {
        let mut files: BTreeMap<String, Spliced> = BTreeMap::new();
        for path in paths {
            let all = candidates.iter().flat_map(|candidate| {
                let own = candidate.edits.iter().filter(|(file, _)| file == path);
                own.map(|(_, mutant)| (candidate.number, mutant))
            });
            let mut of: Vec<(u32, &Mutant)> = all.collect();
            of.sort_by_key(|(_, mutant)| (mutant.range.start, mutant.range.end));
            let text = fs::read_to_string(self.project.join(path))?;
            let spliced = splice(&text, &of);
            write_changed(&self.folder.join(path), &spliced.text)?;
            files.insert(path.clone(), spliced);
        }
        let (is_built, messages) = self.cargo(arguments)?;
        if is_built {
            return Ok(Some(messages));
        }
        let refused = refused(&messages, &files)?;
        eprintln!("{} mutants do not compile", refused.len());
        candidates.retain(|candidate| !refused.contains(&candidate.number));
        Ok(None)
    }

    /// Runs cargo, and says whether that succeeded, and what it says.
    fn cargo(&self, arguments: &[&str]) -> Result<(bool, Vec<Value>), Box<dyn Error>> {
        // A check follows others of nearly the same code, and a build follows none.
        let incremental = if arguments == CHECK { "1" } else { "0" };
        let output = Command::new("cargo")
            .args(arguments)
            .args(["--workspace", "--message-format=json", "--offline"])
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_INCREMENTAL", incremental)
            // What the project's own build has made of the dependencies is not made again.
            .env("CARGO_BUILD_BUILD_DIR", self.project.join("target"))
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()?;
        let text = String::from_utf8(output.stdout)?;
        let messages = text.lines().flat_map(serde_json::from_str);
        Ok((output.status.success(), messages.collect()))
    }
}

/// Names of test programs, and their paths.
pub type Programs = Vec<(String, PathBuf)>;

/// The mutants that the compiler's errors point at.
fn refused(
    messages: &[Value],
    files: &BTreeMap<String, Spliced>,
) -> Result<BTreeSet<u32>, Box<dyn Error>> {
    let mut refused = BTreeSet::new();
    let mut others = Vec::new();
    for message in messages {
        let error = &message["message"];
        if message["reason"] != "compiler-message" || error["level"] != "error" {
            continue;
        }
        let spans = error["spans"].as_array().map_or(&[][..], Vec::as_slice);
        let is_primary = |span: &&Value| span["is_primary"] == true;
        let primary: Vec<&Value> = spans.iter().filter(is_primary).collect();
        let mut found: BTreeSet<u32> = primary.iter().flat_map(|span| at(files, span)).collect();
        if found.is_empty() {
            found = spans.iter().flat_map(|span| at(files, span)).collect();
        }
        if found.is_empty() {
            let near = primary.iter().filter_map(|span| nearest(files, span));
            found = near.collect();
        }
        if found.is_empty() {
            others.push(error["rendered"].as_str().unwrap_or_default());
        }
        refused.extend(found);
    }
    if refused.is_empty() {
        return Err(format!("the copy cannot be built\n{}", others.join("\n")).into());
    }
    Ok(refused)
}

/// The test program that a message of cargo is about.
fn program(message: &Value) -> Option<(String, PathBuf)> {
    let is_test = message["profile"]["test"] == true && message["reason"] == "compiler-artifact";
    let path = message["executable"].as_str().filter(|_| is_test)?;
    let name = match message["target"]["name"].as_str()? {
        "metalmark" => "lib".to_owned(),
        name => name.replace('_', "-"),
    };
    Some((name, PathBuf::from(path)))
}

/// Whether a file is the manifest of a package of the workspace.
fn is_package(path: &Path) -> bool {
    path == Path::new("Cargo.toml") || (path.starts_with("crates") && path.ends_with("Cargo.toml"))
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
