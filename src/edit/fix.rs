//! Applies the edits that findings carry to the user's files.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;

use yaml_tree::edit::{Edit, EditError, Target, edit};
use yaml_tree::engine::Engine;
use yaml_tree::place::{Source, Spot};

use super::texts::{self, EditedFile};
use crate::error::Error;
use crate::model::finding::Judged;
use crate::model::fix::Fix;
use crate::output::{self, Held};
use crate::read::Workspace;

use crate::pipeline::Terminal;

/// Makes every edit that a finding is sure of, in all files or none, and reports each on stderr. Answers how many were made.
///
/// # Errors
/// A file cannot be written, or is not what was read; another run is writing.
pub(crate) fn findings(
    workspace: &Workspace,
    judged: &[Judged],
    held: Option<&mut Held>,
    terminal: &mut Terminal,
) -> Result<usize, Error> {
    let fixes = judged.iter();
    let fixes = fixes.filter_map(|judged| judged.finding.fix.as_ref());
    let tried = TriedFixes::new(workspace, fixes);
    if !tried.files.is_empty() {
        output::holding(held, &workspace.settings.root, |held| {
            texts::replace(workspace, &tried.files, held)
        })?;
    }
    tried.print(Tense::Done, terminal)?;
    Ok(tried.fixes().count())
}

/// How edits are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tense {
    /// They are not made.
    Would,
    /// They are made.
    Done,
}

/// Edits in memory: what files would hold, and what became of each edit.
#[derive(Default)]
pub(crate) struct TriedFixes {
    /// The files that change.
    pub(crate) files: Vec<EditedFile>,
    outcomes: Vec<FixOutcome>,
}

impl TriedFixes {
    /// Tries each edit; nothing is written.
    pub(crate) fn new<'f>(workspace: &Workspace, fixes: impl IntoIterator<Item = &'f Fix>) -> Self {
        let mut tried = Self::default();
        for (source, fixes) in group_by_file(fixes) {
            let (text, outcomes) = apply_fixes(&source, &fixes, workspace.engine);
            tried.outcomes.extend(outcomes);
            if text != source.text {
                tried.files.push(EditedFile { source, text });
            }
        }
        tried
    }

    /// Reports each edit on stderr.
    ///
    /// # Errors
    /// Stderr is gone.
    pub(crate) fn print(&self, tense: Tense, terminal: &mut Terminal) -> Result<(), Error> {
        let (done, not_done) = match tense {
            Tense::Would => ("would fix", "would not fix"),
            Tense::Done => ("fixed", "not fixed"),
        };
        for (Fix { spot, text, .. }, outcome) in &self.outcomes {
            match outcome {
                Ok(()) => writeln!(terminal.err, "{done} {spot}: `{text}`")?,
                Err(why) => writeln!(terminal.err, "{not_done} {spot}: {why}")?,
            }
        }
        Ok(())
    }

    /// The edits that can be made.
    pub(crate) fn fixes(&self) -> impl Iterator<Item = &Fix> {
        let made = self.outcomes.iter();
        made.filter_map(|(fix, outcome)| outcome.is_ok().then_some(fix))
    }

    /// The edits that cannot be made, each with the reason.
    pub(crate) fn refusals(&self) -> impl Iterator<Item = (&Fix, &str)> {
        let refused = self.outcomes.iter();
        refused.filter_map(|(fix, outcome)| Some((fix, outcome.as_ref().err()?.as_str())))
    }
}

/// The texts that files have after all of these edits.
///
/// # Errors
/// The first edit that cannot be made, and why.
pub(crate) fn all(fixes: &[Fix], engine: Engine) -> Result<Vec<EditedFile>, String> {
    let mut files = Vec::new();
    for (source, fixes) in group_by_file(fixes) {
        let (text, outcomes) = apply_fixes(&source, &fixes, engine);
        for (fix, outcome) in outcomes {
            outcome.map_err(|why| format!("{}: {why}", fix.spot))?;
        }
        files.push(EditedFile { source, text });
    }
    Ok(files)
}

/// The fixes of each file, in the order of their places; what many clusters share once.
fn group_by_file<'f>(fixes: impl IntoIterator<Item = &'f Fix>) -> Vec<(Arc<Source>, Vec<&'f Fix>)> {
    let mut files: BTreeMap<Arc<str>, (Arc<Source>, Vec<&Fix>)> = BTreeMap::new();
    for fix in fixes {
        let source = &fix.spot.source;
        let file = files
            .entry(Arc::clone(&source.path))
            .or_insert_with(|| (Arc::clone(source), Vec::new()));
        let known = |other: &&Fix| other.spot == fix.spot && other.value == fix.value;
        if !file.1.iter().any(known) {
            file.1.push(fix);
        }
    }
    let mut files: Vec<_> = files.into_values().collect();
    for (_, fixes) in &mut files {
        fixes.sort_by_key(|fix| fix.spot.start);
    }
    files
}

/// A fix, or why it cannot be made.
type FixOutcome = (Fix, Result<(), String>);

/// A file's text after its fixes. They are applied one after the other; a refused fix does not stop the next one.
fn apply_fixes(source: &Source, fixes: &[&Fix], engine: Engine) -> (String, Vec<FixOutcome>) {
    let mut edits: Vec<Edit> = Vec::new();
    let mut text = source.text.clone();
    let mut outcomes = Vec::new();
    // They are sorted by their starts: of those before, only the one that ends last may reach a place.
    let mut last: Option<&Fix> = None;
    for (index, fix) in fixes.iter().enumerate() {
        let is_rival = |other: &&Fix| {
            let overlaps = other.spot.start < fix.spot.end && fix.spot.start < other.spot.end;
            overlaps || other.spot == fix.spot
        };
        let near = last.into_iter().chain(fixes.get(index + 1).copied());
        let rival = near.into_iter().find(is_rival);
        if last.is_none_or(|last| last.spot.end <= fix.spot.end) {
            last = Some(fix);
        }
        if let Some(rival) = rival {
            let why = format!(
                "`{}` is proposed for the same place, so metalmark made neither edit: choose one",
                rival.text
            );
            outcomes.push(((*fix).clone(), Err(why)));
            continue;
        }
        let at = |spot: &Spot| Target::Place(spot.start as usize..spot.end as usize);
        let from = fix.old().to_owned();
        edits.push(match &fix.within {
            Some(within) => {
                let before = &source.text[within.start as usize..fix.spot.start as usize];
                Edit::Replace {
                    at: at(within),
                    only: Some(before.matches(&*from).count()),
                    from,
                    to: fix.value.clone(),
                }
            }
            None => Edit::Set {
                at: at(&fix.spot),
                value: fix.value.as_str().into(),
            },
        });
        match apply_edits(&source.text, engine, &edits) {
            Ok(new) => {
                text = new;
                outcomes.push(((*fix).clone(), Ok(())));
            }
            Err(why) => {
                edits.pop();
                outcomes.push(((*fix).clone(), Err(why.to_string())));
            }
        }
    }
    (text, outcomes)
}

/// A text after edits: as the project's engine reads it, else, where the place is in a later document, as kubectl does.
pub(crate) fn apply_edits(text: &str, engine: Engine, edits: &[Edit]) -> Result<String, EditError> {
    match edit(text, engine, edits) {
        Err(EditError::Missing { .. }) if engine != Engine::Kubectl => {
            edit(text, Engine::Kubectl, edits)
        }
        done => done,
    }
}
