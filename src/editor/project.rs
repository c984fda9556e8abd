//! One project of the editor's folders, checked as `metalmark check` does, with the texts of open documents in place of the
//! files on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Error;
use crate::files::{Disk, Files, Overlay};
use crate::model::finding::{Judged, Level};
use crate::model::fix::Fix;
use crate::model::place::Spot;
use crate::model::policy::Date;
use crate::model::rule::RuleId;
use crate::pipeline::fleet::{self, Tools};
use crate::read::{self, ClusterEntry, Location, Request, Workspace};
use crate::report::{Color, Findings, Group};

use super::marks::{Gatherer, Index};

/// The texts of open documents, by their path as the project names it.
pub(super) type Texts = BTreeMap<PathBuf, Arc<str>>;

/// Reads and checks a project again and again.
pub(super) struct Checker {
    request: Request,
    /// The text of each open document when it last was valid YAML: what a half-typed one is read as.
    valid: Texts,
}

/// What a check learned.
pub(super) struct Analysis {
    pub(super) workspace: Workspace,
    pub(super) tools: Tools,
    pub(super) index: Index,
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
            valid: Texts::new(),
        }
    }

    /// Checks the project with these texts.
    ///
    /// # Errors
    /// The project cannot be read at all.
    pub(super) fn check(&mut self, texts: &Texts, today: Date) -> Result<Analysis, Error> {
        let now = self.run(texts, today)?;
        let broken = broken(&now, texts);
        let last_valid = self.with_valid(texts, &broken);
        self.valid = texts
            .iter()
            .filter_map(|(path, text)| match broken.contains(path) {
                false => Some((path.clone(), Arc::clone(text))),
                true => Some((path.clone(), Arc::clone(self.valid.get(path)?))),
            })
            .collect();
        match last_valid {
            None => Ok(now),
            Some(last_valid) => {
                let known = self.run(&last_valid, today)?;
                Ok(joined(now, known, &broken))
            }
        }
    }

    /// The texts with the broken ones as they last were valid; none where no broken one ever was.
    fn with_valid(&self, texts: &Texts, broken: &BTreeSet<PathBuf>) -> Option<Texts> {
        let valid = broken.iter().filter_map(|path| {
            let valid = self.valid.get(path)?;
            Some((path.clone(), Arc::clone(valid)))
        });
        let valid: Texts = valid.collect();
        (!valid.is_empty()).then(|| {
            let mut texts = texts.clone();
            texts.extend(valid);
            texts
        })
    }

    fn run(&self, texts: &Texts, today: Date) -> Result<Analysis, Error> {
        let location = read::location(&self.request)?;
        let scope = read::scope(&self.request, &location.root)?;
        let disk: Arc<dyn Files> = Arc::new(Disk::within(&location.root, scope)?);
        let texts = texts.iter();
        let texts = texts.map(|(path, text)| (path.clone(), text.as_bytes().to_vec()));
        let files = Overlay::new(disk, texts);
        analysis(&self.request, &location, Arc::new(files), today)
    }
}

fn analysis(
    request: &Request,
    location: &Location,
    files: Arc<dyn Files>,
    today: Date,
) -> Result<Analysis, Error> {
    let mut workspace = read::workspace_in(request, location, files)?;
    let tools = fleet::tools(&mut workspace, today)?;
    let gatherer = Gatherer::new(workspace.settings.matching);
    let mut found = fleet::check_fleet(&workspace, &tools, |view, _| {
        Ok((gatherer.cluster(view), Vec::new()))
    })?;
    if location.file.is_some() {
        found.require_pools(&workspace, today);
    }
    let problems = problems(&found.judged);
    Ok(Analysis {
        index: Index::new(found.results),
        problems,
        workspace,
        tools,
    })
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

/// The open documents that are no valid YAML.
fn broken(analysis: &Analysis, texts: &Texts) -> BTreeSet<PathBuf> {
    let faults = analysis.problems.iter();
    let faults = faults.filter(|problem| problem.rule == RuleId::YamlSyntax);
    let paths =
        faults.filter_map(|problem| Some(PathBuf::from(&*problem.spot.as_ref()?.source.path)));
    paths.filter(|path| texts.contains_key(path)).collect()
}

/// What was known while the broken documents were valid; of these, only why they are broken.
fn joined(now: Analysis, known: Analysis, broken: &BTreeSet<PathBuf>) -> Analysis {
    let is_in_broken = |problem: &Problem| {
        let spot = problem.spot.as_ref();
        spot.is_some_and(|spot| broken.contains(Path::new(&*spot.source.path)))
    };
    let syntax = now.problems.into_iter();
    let syntax =
        syntax.filter(|problem| problem.rule == RuleId::YamlSyntax && is_in_broken(problem));
    let others = known.problems.into_iter();
    let others = others.filter(|problem| !is_in_broken(problem));
    Analysis {
        problems: syntax.chain(others).collect(),
        ..known
    }
}

impl Analysis {
    /// The clusters, in the order of their numbers.
    pub(super) fn clusters(&self) -> Vec<&ClusterEntry> {
        fleet::entries(&self.workspace).collect()
    }

    /// The folder that paths start from.
    pub(super) fn root(&self) -> &Path {
        &self.workspace.settings.root
    }
}
