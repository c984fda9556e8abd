//! What is printed at the end: a table, the mutants that no test noticed, and what was not looked at.

use std::collections::BTreeMap;

use crate::candidates::Candidate;
use crate::run::Fate;

pub struct Report {
    is_by_file: bool,
    /// How many mutants there are, in each file or module.
    made: BTreeMap<String, usize>,
    left_out: Vec<String>,
}

impl Report {
    /// With a row for each file, or for each module.
    pub fn new(is_by_file: bool) -> Self {
        Self {
            is_by_file,
            made: BTreeMap::new(),
            left_out: Vec::new(),
        }
    }

    fn row(&self, candidate: &Candidate) -> String {
        match &candidate.test {
            Some(_) => "(each with its test)".to_owned(),
            None if self.is_by_file => candidate.file().to_owned(),
            None => candidate.module(),
        }
    }

    pub fn count_made(&mut self, candidates: &[Candidate]) {
        for candidate in candidates {
            *self.made.entry(self.row(candidate)).or_default() += 1;
        }
    }

    /// Notes that so many were not looked at, of what kind, and which.
    pub fn leave_out(&mut self, count: usize, what: &str, names: &[&str]) {
        if count > 0 {
            let names = names.iter().map(|name| format!("\n    {name}"));
            let names: String = names.collect();
            self.left_out.push(format!("{count} {what}{names}"));
        }
    }

    /// The whole of it.
    pub fn text(mut self, candidates: &[Candidate], fates: &[Fate]) -> String {
        let mut rows: BTreeMap<String, [usize; 4]> = BTreeMap::new();
        for (row, made) in &self.made {
            rows.entry(row.clone()).or_default()[0] = *made;
        }
        for (candidate, fate) in candidates.iter().zip(fates) {
            let row = self.row(candidate);
            let is_counted = self.made.contains_key(&row);
            let [made, tried, killed, unreached] = rows.entry(row).or_default();
            *made += usize::from(!is_counted);
            *tried += usize::from(matches!(fate, Fate::Killed | Fate::Survived));
            *killed += usize::from(*fate == Fate::Killed);
            *unreached += usize::from(*fate == Fate::Unreached);
        }
        let sums = std::array::from_fn(|index| rows.values().map(|row| row[index]).sum());
        let first = if self.is_by_file { "file" } else { "module" };
        let mut text = format!("| {first} | made | tried | killed | unreached | % |\n");
        text += "|---|--:|--:|--:|--:|--:|\n";
        for (row, numbers) in &rows {
            text += &table_row(row, *numbers);
        }
        text += &table_row("all", sums);
        for (candidate, fate) in candidates.iter().zip(fates) {
            let word = match fate {
                Fate::Survived => "survived",
                Fate::Unreached if candidate.is_changed => "unreached, and changed",
                Fate::Unreached => "unreached",
                _ => continue,
            };
            text += &format!("{word} {}\n", candidate.place());
        }
        let count = |of: Fate| fates.iter().filter(|fate| **fate == of).count();
        let (slow, untried) = (count(Fate::LeftOut), count(Fate::Untried));
        self.leave_out(slow, "mutants that only slow tests reach", &[]);
        self.leave_out(untried, "mutants not tried: the time was over", &[]);
        text + "not looked at:\n  " + &self.left_out.join("\n  ")
    }
}

fn table_row(row: &str, [made, tried, killed, unreached]: [usize; 4]) -> String {
    let share = (100 * killed).checked_div(tried + unreached);
    let share = share.map_or("–".to_owned(), |share| share.to_string());
    format!("| {row} | {made} | {tried} | {killed} | {unreached} | {share} |\n")
}

/// Why it is not enough, a line each: a mutant that its own test does not notice, a line that changed and that no test reaches, or
/// of the others less than that share in percent. The share of the mutants that were tried counts for those that were not, which
/// tests reach too; a few that were tried say little of many, so two standard errors are added to it.
pub fn reasons(candidates: &[Candidate], fates: &[Fate], least: u8) -> Vec<String> {
    let mut reasons = Vec::new();
    let (mut killed, mut tried, mut untried, mut unreached) = (0_u32, 0_u32, 0_u32, 0_u32);
    for (candidate, fate) in candidates.iter().zip(fates) {
        let place = candidate.place();
        match (fate, &candidate.test) {
            (Fate::Killed, Some(_)) => {}
            (fate, Some(test)) => {
                reasons.push(format!("{place}: {test} does not notice it ({fate:?})"));
            }
            (Fate::LeftOut, None) => {}
            (Fate::Killed, None) => (killed, tried) = (killed + 1, tried + 1),
            (Fate::Survived, None) => tried += 1,
            (Fate::Untried, None) => untried += 1,
            (Fate::Unreached, None) if candidate.is_changed => {
                reasons.push(format!("{place}: it changed, and no test reaches it"));
            }
            (Fate::Unreached, None) => unreached += 1,
        }
    }
    if tried > 0 {
        let reached = f64::from(tried + untried);
        let share = f64::from(killed) / f64::from(tried);
        let error = (share * (1.0 - share) / f64::from(tried)).sqrt();
        let error = if untried > 0 { error } else { 0.0 };
        let part = 100.0 * reached / (reached + f64::from(unreached));
        let (share, most) = (share * part, (share + 2.0 * error) * part);
        if most < f64::from(least) {
            reasons.push(format!(
                "{share:.0} % are noticed, {most:.0} % at most; at least {least} % must be"
            ));
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::tests::manual;

    #[test]
    fn what_is_not_enough_is_said_with_its_place() {
        let own = manual("a.rs", 0..1, "a");
        let with_test = Candidate {
            test: Some("t".to_owned()),
            ..own.clone()
        };
        let changed = Candidate {
            is_changed: true,
            ..own.clone()
        };
        let judge = |of: &Candidate, fates: &[Fate]| {
            let candidates = vec![of.clone(); fates.len()];
            reasons(&candidates, fates, 50)
        };
        use Fate::{Killed, LeftOut, Survived, Unreached, Untried};
        let enough: [String; 0] = [];
        assert_eq!(
            judge(&changed, &[Killed, Survived, LeftOut, Untried]),
            enough
        );
        let few = ["33 % are noticed, 33 % at most; at least 50 % must be"];
        assert_eq!(judge(&changed, &[Killed, Survived, Survived]), few);
        assert_eq!(judge(&own, &[Killed, Unreached]), enough);
        assert_eq!(judge(&own, &[Killed, Unreached, Unreached]), few);
        assert_eq!(
            judge(&own, &[Killed, Untried, Unreached, Unreached]),
            enough
        );
        // One of three is 33 % more or less 54: of nine, 33 more or less 31.
        let sample = [Killed, Survived, Survived];
        let with_untried = |times: usize| [sample.repeat(times), vec![Untried]].concat();
        assert_eq!(judge(&own, &with_untried(1)), enough);
        assert_eq!(judge(&own, &with_untried(3)), enough);
        let few = ["33 % are noticed, 49 % at most; at least 50 % must be"];
        assert_eq!(judge(&own, &with_untried(12)), few);
        let unreached = ["a.rs:1 [a.rs  a]: it changed, and no test reaches it"];
        assert_eq!(judge(&changed, &[Killed, Killed, Unreached]), unreached);
        for fate in [Survived, Unreached, LeftOut, Untried] {
            let reason = format!("a.rs:1 [a.rs  a]: t does not notice it ({fate:?})");
            assert_eq!(
                reasons(std::slice::from_ref(&with_test), &[fate], 0),
                [reason]
            );
        }
        assert_eq!(reasons(&[with_test], &[Killed], 100), enough);
    }

    #[test]
    fn the_text_counts_by_row_and_says_what_was_not_looked_at() {
        let by_rule = manual("src/a/b.rs", 0..1, "x");
        let changed = Candidate {
            is_changed: true,
            ..by_rule.clone()
        };
        let with_test = Candidate {
            test: Some("t".to_owned()),
            ..by_rule.clone()
        };
        let all = [
            by_rule.clone(),
            changed,
            with_test,
            by_rule.clone(),
            by_rule,
        ];
        let fates = [
            Fate::Survived,
            Fate::Unreached,
            Fate::Killed,
            Fate::Killed,
            Fate::Untried,
        ];
        let mut report = Report::new(false);
        report.count_made(&vec![all[0].clone(); 9]);
        report.leave_out(0, "nothing", &[]);
        report.leave_out(2, "tests", &["one", "two"]);
        let text = report.text(&all, &fates);
        let wanted = "| module | made | tried | killed | unreached | % |\n\
                      |---|--:|--:|--:|--:|--:|\n\
                      | (each with its test) | 1 | 1 | 1 | 0 | 100 |\n\
                      | src/a | 9 | 2 | 1 | 1 | 33 |\n\
                      | all | 10 | 3 | 2 | 1 | 50 |\n\
                      survived src/a/b.rs:1 [src/a/b.rs  x]\n\
                      unreached, and changed src/a/b.rs:1 [src/a/b.rs  x]\n\
                      not looked at:\n  2 tests\n    one\n    two\n  \
                      1 mutants not tried: the time was over";
        assert_eq!(text, wanted);
    }
}
