//! Mutation tests: compiles many small mistakes into one copy of the project, each behind a switch, and runs, for each, the
//! tests that execute its place. A mistake that no test notices is printed.
//!
//!     cargo run --release --manifest-path tests/mutants/Cargo.toml -- --most 800
//!
//! Made by rule: conditions, comparisons, match arms, answers of functions, calls left out, orders of arguments. Made by hand:
//! lines of JSON (`--file`) with `file`, `find` (text that occurs once), `replace` (in which `ON` is the switch's condition),
//! and optionally `test`, the one test that has to fail, and `id`, which joins several edits into one mutant.

mod build;
mod find;
mod run;
mod splice;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::error::Error;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use clap::Parser;
use serde::Deserialize;

use find::{Form, Mutant};
use run::{Fate, Test};

/// The modules that select, match, prove, lock, sign, write and edit.
const MODULES: &[&str] = &[
    "src/decide/matching",
    "src/model/version",
    "src/decide/proof",
    "crates/yaml-tree/src/merge",
    "src/catalog/resolve",
    "src/read/sylva",
    "src/rules",
    "src/catalog/locking",
    "crates/oci-artifacts/src/signature",
    "src/catalog/sources/lock_file",
    "src/output",
    "src/edit/stamp",
    "src/catalog/offers",
    "crates/yaml-tree/src/edit",
    "src/edit/fix",
    "src/edit/update",
    "src/commands/update",
    "src/commands/lock",
    "src/commands/verify",
    "src/pipeline/booted",
];

#[derive(Parser)]
struct Options {
    /// At most this many mutants, chosen evenly over the modules; 0: all.
    #[arg(long, default_value_t = 800)]
    most: usize,
    /// Another number chooses other mutants.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Only files below these paths, instead of the modules that decide.
    #[arg(long = "only", value_name = "PATH")]
    only: Vec<String>,
    /// Only files that changed since that revision.
    #[arg(long, value_name = "REV")]
    changed: Option<String>,
    /// Mutants made by hand, instead of those made by rule; with `--only` or `--changed`, both.
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,
    /// Only mutants that this output of an earlier run lists: those that survived it.
    #[arg(long, value_name = "FILE")]
    again: Option<PathBuf>,
    /// Without the mutants that this file lists, each as the output does in brackets: those that change nothing that a test could
    /// see.
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,
    /// Stops trying further mutants after that time.
    #[arg(long)]
    seconds: Option<u64>,
    /// Tests that take longer than this alone are left out.
    #[arg(long, default_value_t = 4.0)]
    slowest: f64,
    /// Fails below this share of killed mutants, in percent.
    #[arg(long, default_value_t = 95)]
    least: usize,
    /// Only tests with one of these in their name.
    #[arg(long, value_name = "TEXT")]
    test: Vec<String>,
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Lists the mutants and stops.
    #[arg(long)]
    list: bool,
}

/// A mutant of a file, with its number in the build.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub number: u32,
    pub file: String,
    pub mutant: Mutant,
    /// Its other edits, by file.
    pub more: Vec<(String, Mutant)>,
    /// The one test that has to fail.
    pub test: Option<String>,
}

impl Candidate {
    /// A name that stays the same while other lines change.
    fn key(&self) -> String {
        format!(
            "{} {} {}",
            self.file, self.mutant.function, self.mutant.change
        )
    }

    fn overlaps(&self, manual: &Self) -> bool {
        let more = manual.more.iter().map(|(file, mutant)| (file, mutant));
        let mut all = more.chain([(&manual.file, &manual.mutant)]);
        let own = &self.mutant.range;
        all.any(|(file, mutant)| {
            let other = &mutant.range;
            *file == self.file && own.start < other.end && other.start < own.end
        })
    }

    /// As the output lists it.
    fn place(&self) -> String {
        format!("{}:{} {}", self.file, self.mutant.line, self.mutant.change)
    }

    fn module(&self) -> &str {
        let of = MODULES
            .iter()
            .find(|module| self.file.starts_with(**module));
        of.copied().unwrap_or_else(|| {
            self.file
                .rsplit_once('/')
                .map_or(&*self.file, |(folder, _)| folder)
        })
    }
}

fn main() -> ExitCode {
    match whole(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn whole(options: &Options) -> Result<bool, Box<dyn Error>> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()?;
    let mut candidates = manual(&project, &options.file)?;
    if options.file.is_empty() || !options.only.is_empty() || options.changed.is_some() {
        // Texts that are replaced as a whole have no mutants of their own.
        let mut by_rule = by_rule(&project, options)?;
        by_rule.retain(|one| !candidates.iter().any(|other| one.overlaps(other)));
        let known = options.known.as_ref().map(fs::read_to_string);
        let known = known.transpose()?.unwrap_or_default();
        let known: HashSet<&str> = known.lines().collect();
        by_rule.retain(|one| !known.contains(&*one.key()));
        candidates.extend(sampled(by_rule, options));
    }
    if let Some(output) = &options.again {
        let output = fs::read_to_string(output)?;
        let listed: HashSet<&str> = { output.lines() }
            .filter_map(|line| line.split_once(": "))
            .map(|(_, mutant)| mutant)
            .collect();
        candidates.retain(|candidate| listed.contains(&*candidate.place()));
    }
    for (index, candidate) in candidates.iter_mut().enumerate() {
        candidate.number = u32::try_from(index)? + 1;
    }
    if options.list {
        for candidate in &candidates {
            println!("{}", candidate.place());
        }
        println!("{} mutants", candidates.len());
        return Ok(true);
    }
    let copy = build::Copy::of(&project, candidates.len() > 600)?;
    let candidates = copy.write(candidates)?;
    eprintln!("{} mutants compile", candidates.len());
    let mut tests = Vec::new();
    for (label, program) in copy.build()? {
        tests.extend(run::tests(&label, &program, &copy.folder)?);
    }
    if !options.test.is_empty() {
        let is_named = |test: &Test| options.test.iter().any(|part| test.name.contains(part));
        tests.retain(is_named);
    }
    let named: Vec<&String> = candidates
        .iter()
        .filter_map(|candidate| candidate.test.as_ref())
        .collect();
    if named.len() == candidates.len() {
        tests.retain(|test| {
            named
                .iter()
                .any(|name| test.name.ends_with(&format!(" {name}")))
        });
    }
    let scratch = copy.folder.join("../scratch");
    fs::create_dir_all(&scratch)?;
    let start = Instant::now();
    run::survey(&mut tests, &copy.folder, &scratch, options.jobs);
    let failing: Vec<&str> = tests
        .iter()
        .filter(|test| !test.passes)
        .map(|test| &*test.name)
        .collect();
    eprintln!(
        "{} tests in {:.0?}; {} fail without a mutant: {failing:?}",
        tests.len(),
        start.elapsed(),
        failing.len()
    );
    let fates = judge(&candidates, &tests, &copy.folder, options);
    Ok(report(&candidates, &fates, options))
}

fn by_rule(project: &Path, options: &Options) -> Result<Vec<Candidate>, Box<dyn Error>> {
    let git = |arguments: &[&str]| -> Result<Vec<String>, Box<dyn Error>> {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(project)
            .output()?;
        Ok(String::from_utf8(output.stdout)?
            .lines()
            .map(str::to_owned)
            .collect())
    };
    let mut files = git(&["ls-files", "src", "crates"])?;
    if let Some(revision) = &options.changed {
        let changed = git(&["diff", "--name-only", revision, "--", "src", "crates"])?;
        files.retain(|file| changed.contains(file));
    }
    let below = |file: &str| match &options.only[..] {
        [] => MODULES.iter().any(|module| file.starts_with(module)),
        only => only.iter().any(|path| file.starts_with(&**path)),
    };
    let is_test = |file: &str| {
        file.contains("/tests/") || file.ends_with("/tests.rs") || file.ends_with("/testing.rs")
    };
    files.retain(|file| file.ends_with(".rs") && below(file) && !is_test(file));
    let mut candidates = Vec::new();
    for file in files {
        let text = fs::read_to_string(project.join(&file))?;
        for mutant in find::mutants(&text).map_err(|error| format!("{file}: {error}"))? {
            candidates.push(Candidate {
                number: 0,
                file: file.clone(),
                mutant,
                more: Vec::new(),
                test: None,
            });
        }
    }
    Ok(candidates)
}

/// An even choice over the modules: in each, by a hash of what the mutant does, so that it depends on no other file.
fn sampled(candidates: Vec<Candidate>, options: &Options) -> Vec<Candidate> {
    if options.most == 0 || candidates.len() <= options.most {
        return candidates;
    }
    let mut modules: BTreeMap<String, Vec<(u64, Candidate)>> = BTreeMap::new();
    for candidate in candidates {
        let mut hasher = DefaultHasher::new();
        (
            candidate.key(),
            candidate.mutant.range.start % 7,
            options.seed,
        )
            .hash(&mut hasher);
        modules
            .entry(candidate.module().to_owned())
            .or_default()
            .push((hasher.finish(), candidate));
    }
    let total: usize = modules.values().map(Vec::len).sum();
    let mut chosen = Vec::new();
    for (_, mut of) in modules {
        of.sort_by_key(|(hash, _)| *hash);
        // By size, but at least twenty of each.
        let share = (of.len() * options.most).div_ceil(total).max(20);
        chosen.extend(of.into_iter().take(share).map(|(_, candidate)| candidate));
    }
    chosen.sort_by(|one, other| {
        let place = |candidate: &Candidate| {
            (
                candidate.file.clone(),
                candidate.mutant.range.start,
                candidate.mutant.range.end,
            )
        };
        place(one).cmp(&place(other))
    });
    chosen
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

fn manual(project: &Path, files: &[PathBuf]) -> Result<Vec<Candidate>, Box<dyn Error>> {
    let mut candidates: Vec<(String, Candidate)> = Vec::new();
    for list in files {
        for line in fs::read_to_string(list)?.lines() {
            let edit: Edit = serde_json::from_str(line)
                .map_err(|error| format!("{}: {error}: {line}", list.display()))?;
            let mutant = edit.mutant(project)?;
            let same = candidates.iter_mut().find(|(id, candidate)| {
                !id.is_empty() && *id == edit.id && candidate.test == edit.test
            });
            match same {
                Some((_, candidate)) => candidate.more.push((edit.file, mutant)),
                None => candidates.push((
                    edit.id,
                    Candidate {
                        number: 0,
                        file: edit.file,
                        mutant,
                        more: Vec::new(),
                        test: edit.test,
                    },
                )),
            }
        }
    }
    Ok(candidates
        .into_iter()
        .map(|(_, candidate)| candidate)
        .collect())
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
        Ok(Mutant {
            range: start..start + self.find.len(),
            form: Form::ByHand(self.replace.clone()),
            function: String::new(),
            change: format!("`{}` → `{}`", lines.0, lines.1),
            line: text[..start].matches('\n').count() + 1,
        })
    }
}

/// Tries every mutant; `None` where the time was over.
fn judge(
    candidates: &[Candidate],
    tests: &[Test],
    folder: &Path,
    options: &Options,
) -> Vec<Option<Fate>> {
    let start = Instant::now();
    let next = AtomicUsize::new(0);
    let fates: Mutex<Vec<Option<Fate>>> = Mutex::new(vec![None; candidates.len()]);
    let kills: Mutex<HashMap<String, u32>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(candidate) = candidates.get(index) else {
                        break;
                    };
                    if options
                        .seconds
                        .is_some_and(|limit| start.elapsed() > Duration::from_secs(limit))
                    {
                        break;
                    }
                    let chosen =
                        chosen(candidate, tests, &kills.lock().expect("no panic"), options);
                    let fate = run::fate(candidate.number, &chosen, folder);
                    let mut line = candidate.place();
                    match &fate {
                        Fate::Killed(by) => {
                            let mut kills = kills.lock().expect("no panic");
                            by.split(", ")
                                .for_each(|name| *kills.entry(name.to_owned()).or_default() += 1);
                        }
                        Fate::Survived(count) => line = format!("SURVIVED {count} tests: {line}"),
                        Fate::Unreached => line = format!("UNREACHED: {line}"),
                    }
                    if !matches!(fate, Fate::Killed(_)) {
                        let _ =
                            writeln!(std::io::stderr(), "[{index}/{}] {line}", candidates.len());
                    }
                    fates.lock().expect("no panic")[index] = Some(fate);
                }
            });
        }
    });
    fates.into_inner().expect("no panic")
}

/// The tests that reach a mutant: first those that killed others, then the quick ones.
fn chosen<'t>(
    candidate: &Candidate,
    tests: &'t [Test],
    kills: &HashMap<String, u32>,
    options: &Options,
) -> Vec<&'t Test> {
    let is_chosen = |test: &&Test| match &candidate.test {
        Some(name) => test.name.ends_with(&format!(" {name}")),
        None => {
            test.reached.contains(&candidate.number) && test.took.as_secs_f64() < options.slowest
        }
    };
    let mut chosen: Vec<&Test> = tests
        .iter()
        .filter(|test| test.passes)
        .filter(is_chosen)
        .collect();
    let weight = |test: &Test| {
        test.took.as_secs_f64() / f64::from(1 + kills.get(&test.name).copied().unwrap_or_default())
    };
    chosen.sort_by(|one, other| weight(one).total_cmp(&weight(other)));
    chosen
}

/// Prints the table by module and those that were not killed; whether enough were.
fn report(candidates: &[Candidate], fates: &[Option<Fate>], options: &Options) -> bool {
    let mut modules: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut lines = Vec::new();
    for (candidate, fate) in candidates.iter().zip(fates) {
        let Some(fate) = fate else { continue };
        let (killed, all) = modules.entry(candidate.module()).or_default();
        *all += 1;
        match fate {
            Fate::Killed(_) => *killed += 1,
            Fate::Survived(_) => lines.push(format!(
                "survived   {}:{} [{}]",
                candidate.file,
                candidate.mutant.line,
                candidate.key()
            )),
            Fate::Unreached => lines.push(format!(
                "unreached  {}:{} [{}]",
                candidate.file,
                candidate.mutant.line,
                candidate.key()
            )),
        }
    }
    println!("| module | killed | of | % |\n|---|--:|--:|--:|");
    let (mut killed, mut all) = (0, 0);
    for (module, (of_killed, of_all)) in modules {
        println!(
            "| {module} | {of_killed} | {of_all} | {} |",
            100 * of_killed / of_all
        );
        killed += of_killed;
        all += of_all;
    }
    println!("| all | {killed} | {all} | {} |", 100 * killed / all.max(1));
    let untried = fates.iter().filter(|fate| fate.is_none()).count();
    if untried > 0 {
        println!("{untried} mutants were not tried: the time was over");
    }
    for line in lines {
        println!("{line}");
    }
    killed * 100 >= options.least * all
}
