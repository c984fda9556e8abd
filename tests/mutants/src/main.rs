//! Mutation tests: compiles many small mistakes into one copy of the project, each behind a switch, and runs, for each, the
//! tests that execute its place. A mistake that no test notices is printed, and so is what was not looked at.
//!
//!     cargo run --release --manifest-path tests/mutants/Cargo.toml -- --most 600
//!
//! Made by rule, in all code that is not test code: conditions, comparisons, match arms, answers of functions, calls left out,
//! orders of arguments. Made by hand: lines of JSON (`--file`) with `file`, `find` (text that occurs once), `replace` (in which
//! `ON` is the switch's condition), and optionally `test`, the one test that has to fail, and `id`, which joins several edits
//! into one mutant.

mod build;
mod candidates;
mod find;
mod judge;
mod report;
mod run;
mod splice;

use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;

use candidates::{Candidate, Changed};
use report::Report;
use run::Test;

#[derive(Parser)]
struct Options {
    /// About so many mutants made by rule, chosen evenly over the modules, instead of 600, and all of lines that changed; 0: all.
    #[arg(long)]
    most: Option<usize>,
    /// The number that a choice of mutants is repeated with.
    #[arg(long)]
    seed: Option<u64>,
    /// Only files below these paths.
    #[arg(long = "only", value_name = "PATH")]
    only: Vec<String>,
    /// Only functions that changed since that revision; fails where no test reaches a line that changed.
    #[arg(long, value_name = "REV")]
    changed: Option<String>,
    /// Mutants made by hand, instead of those made by rule; with `--most`, `--only` or `--changed`, both.
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,
    /// Only mutants that this output of an earlier run lists: those that survived it.
    #[arg(long, value_name = "FILE")]
    again: Option<PathBuf>,
    /// Stops trying further mutants made by rule after that time.
    #[arg(long)]
    seconds: Option<u64>,
    /// Tests that take longer than this alone are left out.
    #[arg(long, default_value_t = 4.0)]
    slowest: f64,
    /// Fails where this share of killed mutants, in percent, is more than two standard errors away. Mutants that name their test must
    /// all be killed.
    #[arg(long, default_value_t = 95)]
    least: u8,
    /// Only tests with one of these in their name.
    #[arg(long, value_name = "TEXT")]
    test: Vec<String>,
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Lists the mutants and stops.
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    match try_all(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn try_all(options: &Options) -> Result<bool, Box<dyn Error>> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let project = project.canonicalize()?;
    let has_place = !options.only.is_empty() || options.changed.is_some();
    let mut report = Report::new(has_place);
    let mut candidates = candidates::manual(&project, &options.file)?;
    if options.file.is_empty() || has_place || options.most.is_some() {
        candidates.extend(made_by_rule(&project, &candidates, options, &mut report)?);
    }
    if let Some(output) = &options.again {
        let output = fs::read_to_string(output)?;
        let keys = output.lines().filter_map(|line| line.split_once(" ["));
        let listed: HashSet<&str> = keys.map(|(_, key)| key.trim_end_matches(']')).collect();
        candidates.retain(|candidate| listed.contains(&*candidate.key()));
    }
    for (index, candidate) in candidates.iter_mut().enumerate() {
        candidate.number = u32::try_from(index)? + 1;
    }
    if options.list {
        candidates
            .iter()
            .for_each(|one| println!("{}", one.place()));
        println!("{} mutants", candidates.len());
        return Ok(true);
    }
    let copy = build::Copy::of(&project)?;
    let (start, all) = (Instant::now(), candidates.len());
    let programs = copy.build(&mut candidates)?;
    eprintln!(
        "{} mutants built in {:.0?}",
        candidates.len(),
        start.elapsed()
    );
    report.leave_out(all - candidates.len(), "mutants that do not compile", &[]);
    let mut tests = Vec::new();
    for (label, program) in programs {
        tests.extend(run::tests(&label, &program, &copy.folder)?);
    }
    let is_part = |test: &Test| options.test.iter().any(|part| test.name.contains(part));
    tests.retain(|test| options.test.is_empty() || is_part(test));
    if candidates.iter().all(|candidate| candidate.test.is_some()) {
        tests.retain(|test| candidates.iter().any(|one| judge::is_named(test, one)));
    }
    let scratch = copy.folder.join("../scratch");
    fs::create_dir_all(&scratch)?;
    let start = Instant::now();
    let is_passing = |test: &Test| test.passes;
    let named: HashSet<&str> = { candidates.iter() }
        .filter_map(|candidate| candidate.test.as_deref())
        .collect();
    let limit = |test: &Test| {
        let is_named = named.contains(test.own_name());
        // What a slow test reaches counts as reached: it gets some more time than one that is used.
        Duration::from_secs_f64(if is_named {
            300.0
        } else {
            options.slowest * 3.0
        })
    };
    let tests = run::survey(&tests, limit, &copy.folder, &scratch, options.jobs);
    eprintln!("survey: {} tests in {:.0?}", tests.len(), start.elapsed());
    let (mut passing, failing): (Vec<Test>, Vec<Test>) = tests.into_iter().partition(is_passing);
    // What fails beside another test may pass alone.
    let failing = run::survey(&failing, limit, &copy.folder, &scratch, 1);
    let (alone, failing): (Vec<Test>, Vec<Test>) = failing.into_iter().partition(is_passing);
    passing.extend(alone);
    let names: Vec<&str> = failing.iter().map(|test| &*test.name).collect();
    report.leave_out(names.len(), "tests that fail without a mutant", &names);
    let is_slow = |test: &&Test| test.took.as_secs_f64() >= options.slowest;
    let names: Vec<&str> = { passing.iter() }
        .filter(is_slow)
        .map(|test| &*test.name)
        .collect();
    report.leave_out(names.len(), "tests left out, for they are slow", &names);
    let fates = judge::judge(&candidates, &passing, &copy.folder, options);
    println!("{}", report.text(&candidates, &fates));
    // Last, for of a long output people read the end.
    let reasons = report::reasons(&candidates, &fates, options.least);
    for reason in &reasons {
        println!("not enough: {reason}");
    }
    Ok(reasons.is_empty())
}

/// Mutants made by rule, without those that others say to leave out.
fn made_by_rule(
    project: &Path,
    manual: &[Candidate],
    options: &Options,
    report: &mut Report,
) -> Result<Vec<Candidate>, Box<dyn Error>> {
    let mut sources = candidates::sources(project)?;
    let is_below = |file: &str| options.only.iter().any(|path| file.starts_with(&**path));
    sources.retain(|file, _| options.only.is_empty() || is_below(file));
    let since = options.changed.as_ref();
    let changed = since.map(|revision| candidates::changed(project, revision, &sources));
    let changed: Option<Changed> = changed.transpose()?;
    let mut mutants = candidates::by_rule(&sources, changed.as_ref())?;
    report.count_made(&mutants);
    let files = changed.iter().flat_map(BTreeMap::keys);
    let has_none = |file: &&String| !mutants.iter().any(|mutant| mutant.file() == *file);
    let files: Vec<&str> = files.filter(has_none).map(String::as_str).collect();
    report.leave_out(
        files.len(),
        "changed files in which no mutant is made",
        &files,
    );
    let known = fs::read_to_string(project.join("tests/mutants/known.txt"))?;
    let known: HashSet<&str> = known.lines().collect();
    let all = mutants.len();
    mutants.retain(|mutant| !known.contains(&*mutant.key()));
    report.leave_out(all - mutants.len(), "mutants of known.txt", &[]);
    let all = mutants.len();
    mutants.retain(|mutant| !manual.iter().any(|other| mutant.overlaps(other, false)));
    report.leave_out(
        all - mutants.len(),
        "mutants in texts that a list replaces",
        &[],
    );
    let seed = options
        .seed
        .unwrap_or_else(|| RandomState::new().hash_one(0) >> 32);
    let all = mutants.len();
    let sample = candidates::sample(mutants, options.most.unwrap_or(600), seed);
    report.leave_out(
        all - sample.len(),
        "mutants that the sample does not have",
        &[],
    );
    eprintln!(
        "{} mutants are chosen: `--seed {seed}` chooses them again",
        sample.len()
    );
    Ok(sample)
}
