//! One project of the editor's folders, checked as `metalmark check` does, with the texts of open documents in place of the
//! files on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use yaml_tree::place::Spot;

use crate::error::Error;
use crate::files::{Disk, Files, Overlay};
use crate::model::date::Date;
use crate::model::finding::Judged;
use crate::model::fix::Fix;
use crate::model::rule::{Level, RuleId};
use crate::pipeline::fleet::Fleet;
use crate::read::{self, ClusterEntry, Location, Request, Workspace};
use crate::report::{Color, Findings, Group};

use super::marks::{Gatherer, Index};

/// The clusters that come first are at most one of this many: fewer would come no sooner than all of them.
const FEW: usize = 16;

/// The texts of open documents, by their path as the project names it.
pub(super) type Texts = BTreeMap<PathBuf, Arc<str>>;

/// Reads and checks a project again and again.
pub(super) struct Checker {
    request: Request,
    /// The last run whose open documents were valid YAML: what is known while one is half typed.
    known: Option<Run>,
    /// Whether files on disk may have changed since.
    is_known_old: bool,
}

/// What a run over the texts learned.
#[derive(Clone)]
struct Run {
    analysis: Arc<Analysis>,
    judged: Vec<Judged>,
}

/// The model that answers are made of.
pub(super) struct Analysis {
    pub(super) request: Request,
    /// The open documents that it was made of.
    pub(super) texts: Texts,
    pub(super) fleet: Fleet,
    pub(super) index: Index,
}

/// The end of a check.
pub(super) struct Checked {
    pub(super) analysis: Arc<Analysis>,
    pub(super) problems: Vec<Problem>,
}

/// A finding as an editor shows it.
pub(super) struct Problem {
    pub(super) rule: RuleId,
    pub(super) level: Level,
    /// The message with what helps.
    pub(super) text: String,
    /// Where it is; none where it is of no file.
    pub(super) spot: Option<Spot>,
    /// The other places that matter.
    pub(super) related: Vec<(Spot, String)>,
    /// The edit that repairs it.
    pub(super) fix: Option<Fix>,
    /// What a waiver of it matches: `cluster/pool`, a cluster or an image key.
    pub(super) subject: Option<String>,
}

impl Checker {
    /// A checker of the project that a folder is in.
    pub(super) fn new(folder: &Path) -> Self {
        let mut request = Request {
            directory: Some(folder.to_owned()),
            ..Request::default()
        };
        request.flags.discovers = true;
        Self {
            request,
            known: None,
            is_known_old: false,
        }
    }

    /// Files on disk have changed.
    pub(super) fn disk_changed(&mut self) {
        self.is_known_old = true;
    }

    /// Checks the project with these texts. Where few clusters read what was typed, `first` takes the findings with theirs before
    /// the others are checked.
    ///
    /// # Errors
    /// The project cannot be read at all.
    pub(super) fn check(
        &mut self,
        texts: &Texts,
        today: Date,
        first: &dyn Fn(Vec<Problem>),
    ) -> Result<Checked, Error> {
        let now = self.run(texts, today, Some(first))?;
        let broken = invalid_documents(&now.judged, texts);
        let Some(valid) = self.with_known(texts, &broken) else {
            let problems = problems(&now.judged);
            let analysis = Arc::clone(&now.analysis);
            self.known = Some(now).filter(|_| broken.is_empty());
            self.is_known_old = false;
            return Ok(Checked { analysis, problems });
        };
        let known = match &self.known {
            Some(known) if known.analysis.texts == valid && !self.is_known_old => known,
            _ => &*self.known.insert(self.run(&valid, today, None)?),
        };
        self.is_known_old = false;
        Ok(Checked {
            analysis: Arc::clone(&known.analysis),
            problems: problems(&join_findings(now.judged, known, &broken)),
        })
    }

    /// The texts with the broken ones as they last were valid; none where none of them is known.
    fn with_known(&self, texts: &Texts, broken: &BTreeSet<PathBuf>) -> Option<Texts> {
        let known = &self.known.as_ref()?.analysis.texts;
        let valid = broken.iter().filter_map(|path| {
            let valid = known.get(path)?;
            Some((path.clone(), Arc::clone(valid)))
        });
        let valid: Texts = valid.collect();
        (!valid.is_empty()).then(|| {
            let mut texts = texts.clone();
            texts.extend(valid);
            texts
        })
    }

    fn run(
        &self,
        texts: &Texts,
        today: Date,
        first: Option<&dyn Fn(Vec<Problem>)>,
    ) -> Result<Run, Error> {
        let (location, workspace) = read_project(&self.request, texts)?;
        let fleet = Fleet::open(workspace, today)?;
        if let (Some(first), Some(known)) = (first, &self.known)
            && let Some(judged) = check_new_text(&fleet, known, texts)?
        {
            let broken = invalid_documents(&judged, texts);
            first(problems(&join_findings(judged, known, &broken)));
        }
        let gatherer = Gatherer::default();
        let mut found = fleet.check(|view, _, _| Ok(gatherer.cluster(view)))?;
        if location.file.is_some() {
            found.require_pools(&fleet);
        }
        let analysis = Analysis {
            request: self.request.clone(),
            texts: texts.clone(),
            index: Index::new(found.results),
            fleet,
        };
        Ok(Run {
            analysis: Arc::new(analysis),
            judged: found.judged,
        })
    }
}

/// The project that a request is about, with these texts in place of the files on disk.
///
/// # Errors
/// It cannot be read at all.
pub(super) fn read_project(
    request: &Request,
    texts: &Texts,
) -> Result<(Location, Workspace), Error> {
    let location = read::location(request)?;
    let scope = read::scope(request, &location.root)?;
    let disk: Arc<dyn Files> = Arc::new(Disk::with_scope(&location.root, scope)?);
    let bytes = texts.iter();
    let bytes = bytes.map(|(path, text)| (path.clone(), text.as_bytes().to_vec()));
    let files = Arc::new(Overlay::new(disk, bytes));
    let workspace = read::workspace_while_typed(request, &location, files)?;
    Ok((location, workspace))
}

/// The findings of a run with those of the clusters that read what was typed since; none where these are too many to come first.
fn check_new_text(fleet: &Fleet, known: &Run, texts: &Texts) -> Result<Option<Vec<Judged>>, Error> {
    let is_typed =
        |(path, text): &(&PathBuf, &Arc<str>)| known.analysis.texts.get(*path) != Some(*text);
    let typed: BTreeSet<&Path> = { texts.iter().filter(is_typed) }
        .map(|(path, _)| path.as_path())
        .collect();
    let reads = |entry: &&ClusterEntry| {
        let mut layers = entry.layers.iter();
        layers.any(|layer| typed.iter().any(|path| path.starts_with(layer)))
    };
    let clusters: Vec<&ClusterEntry> = fleet.workspace.entries().filter(reads).collect();
    if clusters.is_empty() || clusters.len() * FEW > fleet.workspace.clusters.len() {
        return Ok(None);
    }
    let names: BTreeSet<&str> = clusters.iter().map(|entry| &*entry.name).collect();
    let is_theirs = |judged: &&Judged| {
        let cluster = judged.finding.subject.cluster.as_deref();
        let path = path(judged).map(Path::new);
        cluster.is_some_and(|cluster| names.contains(cluster))
            || path.is_some_and(|path| typed.contains(path))
    };
    let others = known.judged.iter().filter(|judged| !is_theirs(judged));
    let mut judged: Vec<Judged> = others.cloned().collect();
    for cluster in clusters {
        let found = fleet.check_one(cluster, |_, _, _| Ok(()))?;
        judged.extend(found.judged.iter().filter(is_theirs).cloned());
    }
    Ok(Some(judged))
}

/// The findings, each fault once.
fn problems(judged: &[Judged]) -> Vec<Problem> {
    let findings = Findings::new(judged, 0, Color::Never);
    let groups = findings.groups.iter();
    let problems = groups.map(|group| {
        let finding = &group.judged.finding;
        let mut labels = finding.labels.iter();
        Problem {
            rule: finding.rule,
            level: group.judged.level,
            text: group.text(),
            spot: labels.next().map(|label| label.spot.clone()),
            related: labels
                .map(|label| (label.spot.clone(), label.text.clone()))
                .collect(),
            fix: finding.fix.clone(),
            subject: subject(group),
        }
    });
    problems.collect()
}

/// What a waiver matches; none where one waiver is not enough.
fn subject(group: &Group<'_>) -> Option<String> {
    let subject = &group.judged.finding.subject;
    match (&*group.clusters, &subject.pool) {
        ([cluster], Some(pool)) if group.other_pools.is_empty() => {
            Some(format!("{cluster}/{pool}"))
        }
        ([cluster], _) => Some((*cluster).to_owned()),
        ([], _) => subject.image.clone(),
        _ => None,
    }
}

/// The file that a finding is in.
fn path(judged: &Judged) -> Option<&str> {
    let label = judged.finding.labels.first()?;
    Some(&*label.spot.source.path)
}

/// The open documents that are no valid YAML.
fn invalid_documents(judged: &[Judged], texts: &Texts) -> BTreeSet<PathBuf> {
    let faults = judged.iter();
    let faults = faults.filter(|judged| judged.finding.rule == RuleId::YamlSyntax);
    let paths = faults.filter_map(|judged| path(judged).map(PathBuf::from));
    paths.filter(|path| texts.contains_key(path)).collect()
}

/// What was known while the broken documents were valid; of these, only why they are broken. All of it where none is.
fn join_findings(now: Vec<Judged>, known: &Run, broken: &BTreeSet<PathBuf>) -> Vec<Judged> {
    if broken.is_empty() {
        return now;
    }
    let is_in_broken =
        |judged: &Judged| path(judged).is_some_and(|path| broken.contains(Path::new(path)));
    let is_syntax = |judged: &Judged| judged.finding.rule == RuleId::YamlSyntax;
    let syntax = now.into_iter();
    let syntax = syntax.filter(|judged| is_syntax(judged) && is_in_broken(judged));
    let others = known.judged.iter().filter(|judged| !is_in_broken(judged));
    syntax.chain(others.cloned()).collect()
}

impl Analysis {
    /// The project as it was read.
    pub(super) fn workspace(&self) -> &Workspace {
        &self.fleet.workspace
    }

    /// The clusters, in the order of their numbers.
    pub(super) fn clusters(&self) -> Vec<&ClusterEntry> {
        self.workspace().entries().collect()
    }

    /// The folder that paths start from.
    pub(super) fn root(&self) -> &Path {
        &self.workspace().settings.root
    }
}
