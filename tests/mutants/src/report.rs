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

    pub fn print(&mut self, candidates: &[Candidate], fates: &[Fate]) {
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
        let first = if self.is_by_file { "file" } else { "module" };
        println!("| {first} | made | tried | killed | unreached | % |\n|---|--:|--:|--:|--:|--:|");
        let mut all = [0; 4];
        for (row, numbers) in &rows {
            print_row(row, numbers);
            all = std::array::from_fn(|index| all[index] + numbers[index]);
        }
        print_row("all", &all);
        for (candidate, fate) in candidates.iter().zip(fates) {
            let word = match fate {
                Fate::Survived => "survived",
                Fate::Unreached if candidate.is_changed => "unreached, and changed",
                Fate::Unreached => "unreached",
                _ => continue,
            };
            println!("{word} {}", candidate.place());
        }
        let count = |of: Fate| fates.iter().filter(|fate| **fate == of).count();
        let (slow, untried) = (count(Fate::LeftOut), count(Fate::Untried));
        self.leave_out(
            slow,
            "mutants that only tests reach which are left out",
            &[],
        );
        self.leave_out(untried, "mutants not tried: the time was over", &[]);
        println!("not looked at:");
        for line in &self.left_out {
            println!("  {line}");
        }
    }
}

fn print_row(row: &str, [made, tried, killed, unreached]: &[usize; 4]) {
    let share = (100 * killed).checked_div(tried + unreached);
    let share = share.map_or("–".to_owned(), |share| share.to_string());
    println!("| {row} | {made} | {tried} | {killed} | {unreached} | {share} |");
}

/// Whether each mutant with a test of its own is killed, of the others that share in percent, and no line that changed is one that
/// no test reaches.
pub fn is_enough(candidates: &[Candidate], fates: &[Fate], least: usize) -> bool {
    let (mut killed, mut of) = (0, 0);
    for (candidate, fate) in candidates.iter().zip(fates) {
        match fate {
            Fate::LeftOut | Fate::Untried if candidate.test.is_none() => continue,
            Fate::Killed => {}
            Fate::Unreached if candidate.is_changed => return false,
            _ if candidate.test.is_some() => return false,
            _ => {}
        }
        if candidate.test.is_none() {
            killed += usize::from(*fate == Fate::Killed);
            of += 1;
        }
    }
    killed * 100 >= least * of
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::tests::manual;

    #[test]
    fn what_is_enough() {
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
            is_enough(&candidates, fates, 50)
        };
        use Fate::{Killed, LeftOut, Survived, Unreached, Untried};
        assert!(judge(&changed, &[Killed, Survived, LeftOut, Untried]));
        assert!(!judge(&changed, &[Killed, Survived, Survived]));
        assert!(judge(&own, &[Killed, Unreached]));
        assert!(!judge(&changed, &[Killed, Killed, Unreached]));
        for fate in [Survived, Unreached, LeftOut, Untried] {
            assert!(
                !is_enough(std::slice::from_ref(&with_test), &[fate], 0),
                "{fate:?}"
            );
        }
        assert!(is_enough(&[with_test], &[Killed], 100));
    }
}
