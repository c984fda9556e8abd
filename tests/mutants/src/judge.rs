//! Tries every mutant: which tests may notice it, and in which order.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::Options;
use crate::candidates::Candidate;
use crate::run::{self, Fate, Test};

/// Whether it is the one test of a mutant.
pub fn is_named(test: &Test, candidate: &Candidate) -> bool {
    candidate.test.as_deref() == Some(test.own_name())
}

/// What becomes of each mutant.
pub fn judge(
    candidates: &[Candidate],
    tests: &[Test],
    folder: &Path,
    options: &Options,
) -> Vec<Fate> {
    // The time begins with the first mutant that is made by rule: lists come first.
    let start = OnceLock::new();
    let limit = options.seconds.map(Duration::from_secs);
    let kills: Mutex<HashMap<&str, u32>> = Mutex::default();
    let judge_one = |candidate: &Candidate| {
        let reaching: Vec<&Test> = { tests.iter() }
            .filter(|test| match candidate.test {
                Some(_) => is_named(test, candidate),
                None => test.reached.contains(&candidate.number),
            })
            .collect();
        if reaching.is_empty() {
            return Fate::Unreached;
        }
        let passed = || start.get_or_init(Instant::now).elapsed();
        if candidate.test.is_none() && limit.is_some_and(|limit| passed() > limit) {
            return Fate::Untried;
        }
        let mut chosen = reaching;
        let is_quick = |test: &Test| test.took.as_secs_f64() < options.slowest;
        chosen.retain(|test| candidate.test.is_some() || is_quick(test));
        if chosen.is_empty() {
            return Fate::LeftOut;
        }
        sort(&mut chosen, &kills.lock().expect("no panic"));
        let killers = run::killers(candidate.number, &chosen, folder);
        let mut kills = kills.lock().expect("no panic");
        for test in killers {
            *kills.entry(&test.name).or_default() += 1;
        }
        if killers.is_empty() {
            Fate::Survived
        } else {
            Fate::Killed
        }
    };
    run::in_parallel(candidates, options.jobs, |index, candidate| {
        let fate = judge_one(candidate);
        if !matches!(fate, Fate::Killed | Fate::Untried) || index.is_multiple_of(50) {
            let (of, place) = (candidates.len(), candidate.place());
            eprintln!("{index} of {of}: {fate:?} {place}");
        }
        fate
    })
}

/// First those that killed others, then the quick ones.
fn sort(tests: &mut [&Test], kills: &HashMap<&str, u32>) {
    let weight = |test: &Test| {
        let kills = kills.get(&*test.name).copied().unwrap_or_default();
        test.took.as_secs_f64() / f64::from(1 + kills)
    };
    tests.sort_by(|one, other| weight(one).total_cmp(&weight(other)));
}
