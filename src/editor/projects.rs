//! The projects of an editor's folders: which one a document belongs to, and which checks are due.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};
use lsp_types::Diagnostic;
use parking_lot::Mutex;

use crate::budget::Turn;
use crate::error::Error;
use crate::files::{plain_path, repository_top};
use crate::model::date::Date;
use crate::read;

use super::actions;
use super::answers::Locations;
use super::position::Encoding;
use super::project::{Analysis, Checked, Checker, Problem, Texts};
use super::rolls::{Bases, Rolls, rolls};

/// A document that is open in the editor.
pub(super) struct Document {
    pub(super) text: Arc<str>,
    pub(super) version: i32,
}

/// The open documents, by their path.
pub(super) type Documents = BTreeMap<PathBuf, Document>;

/// Does some work on a thread of its own; on this one where the system has none to spare.
fn start_beside(work: impl FnOnce() + Send + 'static) {
    fn run(work: &Mutex<Option<impl FnOnce()>>) {
        let taken = work.lock().take();
        if let Some(work) = taken {
            work();
        }
    }
    let work = Arc::new(Mutex::new(Some(work)));
    let theirs = Arc::clone(&work);
    let started = thread::Builder::new().spawn(move || run(&theirs));
    if started.is_err() {
        run(&work);
    }
}

/// Diagnostics, by file.
pub(super) type Diagnostics = BTreeMap<PathBuf, Vec<Diagnostic>>;

/// A project and its last check.
pub(super) struct Project {
    /// The folder of its project file; without one, the folder that the editor has opened.
    pub(super) root: PathBuf,
    /// None while a check runs, which owns it then.
    checker: Option<Box<Checker>>,
    /// Whether something has changed since the last check began.
    is_stale: bool,
    /// Whether the editor has closed its folder.
    is_closed: bool,
    /// Whether files on disk may have changed since the last check began.
    is_disk_stale: bool,
    /// The model of the last check that had one.
    pub(super) analysis: Option<Arc<Analysis>>,
    /// The findings of the last check that had some, or the first ones of the one that runs.
    pub(super) problems: Arc<[Problem]>,
    /// What the last check found.
    pub(super) diagnostics: Diagnostics,
    /// Why the last check ended without a result.
    pub(super) failure: Option<String>,
    /// Whether no check has ended yet.
    pub(super) is_first: bool,
    /// The machines that the change of the project replaces, as last compared.
    pub(super) rolls: Rolls,
    comparison: Comparison,
    /// How long nothing is typed before the next comparison.
    pause: Duration,
}

/// How long nothing is typed before a project is compared: as long as its last comparison took, and at least this, so that
/// comparisons never take most of the time.
const PAUSE: Duration = Duration::from_millis(300);

/// The comparison of a project with the commit that its change starts from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comparison {
    /// The project has changed since the last one.
    Due,
    /// It runs; whether the project has changed since.
    Running {
        is_stale: bool,
    },
    Done,
}

/// What a check sends.
pub(super) struct Outcome {
    pub(super) project: usize,
    what: Progress,
}

/// How far a check is.
enum Progress {
    /// The findings with those of the few clusters that come first.
    First(Vec<Problem>),
    /// It has ended.
    End(Box<Checker>, Result<Checked, Error>),
    /// A comparison has ended.
    Compared(Result<Rolls, Error>, Duration),
}

/// All projects.
pub(super) struct Projects {
    pub(super) all: Vec<Project>,
    sender: Sender<Outcome>,
    pub(super) outcomes: Receiver<Outcome>,
}

impl Project {
    /// Whether its last check saw the current texts.
    pub(super) fn is_fresh(&self) -> bool {
        self.checker.is_some() && !self.is_stale
    }

    /// Whether it is in a repository, and has changed since it was last compared.
    fn is_comparison_due(&self) -> bool {
        let is_known = self.is_fresh() && !self.is_closed && self.analysis.is_some();
        is_known && self.comparison == Comparison::Due && repository_top(&self.root).is_some()
    }

    /// The path of a file as the project names it; none of one that it cannot read.
    pub(super) fn relative_path(&self, file: &Path) -> Option<PathBuf> {
        if let Ok(below) = file.strip_prefix(&self.root) {
            return Some(below.to_owned());
        }
        // A layer that several projects share may be beside them, in the same repository.
        let top = repository_top(&self.root)?;
        file.canonicalize().ok()?.strip_prefix(top).ok()?;
        let mut above = self.root.ancestors().enumerate();
        let (steps, below) = above.find_map(|(steps, folder)| {
            let below = file.strip_prefix(folder).ok()?;
            Some((steps, below))
        })?;
        let up = std::iter::repeat_n("..", steps).collect::<PathBuf>();
        Some(up.join(below))
    }

    /// Whether its last check found clusters that read the file; none of a file that it cannot read.
    fn reads(&self, file: &Path) -> Option<bool> {
        let named = self.relative_path(file)?;
        let analysis = self.analysis.as_ref();
        Some(analysis.is_some_and(|analysis| {
            let files = &analysis.index.files;
            files.contains_key(&*named.to_string_lossy())
        }))
    }

    fn diagnose(&mut self, encoding: Encoding) {
        self.diagnostics = Diagnostics::new();
        let problems = Arc::clone(&self.problems);
        let root = self.root.clone();
        let mut locations = Locations::new(&root, encoding);
        for problem in &*problems {
            let path = problem.spot.as_ref().map(|spot| &*spot.source.path);
            let path = path.unwrap_or(read::PROJECT_FILE_NAME);
            let file = plain_path(&self.root.join(path));
            let found = actions::diagnostic(problem, &mut locations);
            self.diagnostics.entry(file).or_default().extend(found);
        }
        // Nothing leads to a line: the whole project is not read.
        let file = read::project_file(&self.root, Some(0));
        if let (Some(file), Some(failure)) = (file, &self.failure) {
            let found = actions::error(failure.clone());
            self.diagnostics.entry(file).or_default().push(found);
        }
    }
}

impl Projects {
    /// None yet.
    pub(super) fn new() -> Self {
        let (sender, outcomes) = crossbeam_channel::unbounded();
        Self {
            all: Vec::new(),
            sender,
            outcomes,
        }
    }

    /// Adds the project of a folder that the editor has opened, or, where it has none, the manifests below it.
    pub(super) fn open_folder(&mut self, folder: &Path) {
        match project_above(folder) {
            Some(root) => self.add(root),
            // Elsewhere the manifests below a folder may be all files of a machine.
            None if repository_top(folder).is_some() => self.add(folder.to_owned()),
            None => {}
        }
    }

    /// Forgets the projects below a folder that the editor has closed, until one of their files is opened.
    pub(super) fn close_folder(&mut self, folder: &Path) {
        let projects = self.all.iter_mut();
        for project in projects.filter(|project| project.root.starts_with(folder)) {
            project.is_closed = true;
            project.is_stale = false;
            project.analysis = None;
            project.problems = Arc::default();
            project.diagnostics.clear();
        }
    }

    /// The project of a file, which may be a new one: one that reads it, before one whose folder it is in.
    pub(super) fn find_project(&mut self, file: &Path) -> Option<usize> {
        if let Some(root) = file.parent().and_then(project_above) {
            self.add(root);
        }
        let open = self.all.iter().enumerate();
        let open = open.filter(|(_, project)| !project.is_closed);
        let ranks = open.filter_map(|(number, project)| {
            let depth = project.root.components().count();
            let is_below = file.starts_with(&project.root);
            Some((project.reads(file)?, is_below, depth, number))
        });
        let (_, _, _, number) = ranks.max()?;
        Some(number)
    }

    /// Whether a project that may read the file has not been checked yet.
    pub(super) fn is_first(&self, file: &Path) -> bool {
        let mut open = self.all.iter().filter(|project| !project.is_closed);
        open.any(|project| project.is_first && project.relative_path(file).is_some())
    }

    fn add(&mut self, root: PathBuf) {
        let mut known = self.all.iter_mut();
        if let Some(known) = known.find(|project| project.root == root) {
            known.is_stale |= std::mem::take(&mut known.is_closed);
            return;
        }
        self.all.push(Project {
            checker: Some(Box::new(Checker::new(&root))),
            root,
            is_stale: true,
            is_closed: false,
            is_disk_stale: false,
            analysis: None,
            problems: Arc::default(),
            diagnostics: Diagnostics::new(),
            failure: None,
            is_first: true,
            rolls: Rolls::new(),
            comparison: Comparison::Due,
            pause: PAUSE,
        });
    }

    /// Marks every project as changed on disk.
    pub(super) fn disk_changed(&mut self) {
        self.mark_stale();
        for project in &mut self.all {
            project.is_disk_stale = true;
        }
    }

    /// Marks every project as changed: a file may be read by any of them.
    pub(super) fn mark_stale(&mut self) {
        for project in &mut self.all {
            project.is_stale = !project.is_closed;
            project.comparison = match project.comparison {
                Comparison::Running { .. } => Comparison::Running { is_stale: true },
                _ => Comparison::Due,
            };
        }
    }

    /// How long to wait for the next comparison; none where none is due.
    pub(super) fn pause(&self) -> Option<Duration> {
        let due = self
            .all
            .iter()
            .filter(|project| project.is_comparison_due());
        due.map(|project| project.pause).max()
    }

    /// Starts the comparisons that are due, each on its own thread.
    pub(super) fn compare(&mut self, bases: &Arc<Bases>, today: Date) {
        let due = self.all.iter_mut().enumerate();
        for (number, project) in due.filter(|(_, project)| project.is_comparison_due()) {
            let Some(analysis) = project.analysis.clone() else {
                continue;
            };
            project.comparison = Comparison::Running { is_stale: false };
            let (sender, bases) = (self.sender.clone(), Arc::clone(bases));
            start_beside(move || {
                let _turn = Turn::begin();
                let (request, texts) = (&analysis.request, &analysis.texts);
                let start = Instant::now();
                let rolls = rolls(&bases, request, texts, today);
                let what = Progress::Compared(rolls, start.elapsed());
                // Nobody waits for it any more where the server has ended.
                let _ = sender.send(Outcome {
                    project: number,
                    what,
                });
            });
        }
    }

    /// Starts the checks that are due, each on its own thread. Returns the projects that are checked for the first time.
    pub(super) fn start(&mut self, documents: &Documents, today: Date) -> Vec<usize> {
        let mut first = Vec::new();
        for number in 0..self.all.len() {
            let project = &mut self.all[number];
            if !project.is_stale || project.checker.is_none() {
                continue;
            }
            let texts = documents.iter().filter_map(|(file, document)| {
                Some((project.relative_path(file)?, Arc::clone(&document.text)))
            });
            let texts: Texts = texts.collect();
            let Some(mut checker) = project.checker.take() else {
                continue;
            };
            project.is_stale = false;
            if std::mem::take(&mut project.is_disk_stale) {
                checker.disk_changed();
            }
            if project.is_first {
                first.push(number);
            }
            let sender = self.sender.clone();
            start_beside(move || {
                let _turn = Turn::begin();
                let send = |what| {
                    // Nobody waits for it any more where the server has ended.
                    let _ = sender.send(Outcome {
                        project: number,
                        what,
                    });
                };
                let first = |problems| send(Progress::First(problems));
                let result = checker.check(&texts, today, &first);
                send(Progress::End(checker, result));
            });
        }
        first
    }

    /// Keeps what a check sent. Returns whether the machines that are replaced are others than before.
    pub(super) fn finish(&mut self, outcome: Outcome, encoding: Encoding) -> bool {
        let project = &mut self.all[outcome.project];
        let result = match outcome.what {
            Progress::Compared(result, took) => {
                project.pause = took.max(PAUSE);
                let is_stale = project.comparison == Comparison::Running { is_stale: true };
                project.comparison = if is_stale {
                    Comparison::Due
                } else {
                    Comparison::Done
                };
                // Without a repository or a commit there is nothing to compare with.
                let rolls = result.unwrap_or_default();
                let is_other = rolls != project.rolls;
                project.rolls = rolls;
                return is_other;
            }
            Progress::First(problems) => {
                if !project.is_closed {
                    project.problems = problems.into();
                    project.diagnose(encoding);
                }
                return false;
            }
            Progress::End(checker, result) => {
                project.checker = Some(checker);
                project.is_first = false;
                result
            }
        };
        if project.is_closed {
            return false;
        }
        match result {
            Ok(Checked { analysis, problems }) => {
                project.analysis = Some(analysis);
                project.problems = problems.into();
                project.failure = None;
            }
            // What was known before is better than nothing while a person types.
            Err(error) => project.failure = Some(error.to_string()),
        }
        project.diagnose(encoding);
        false
    }
}

/// The nearest folder with a project file: this one or one above it.
fn project_above(folder: &Path) -> Option<PathBuf> {
    let mut above = folder.ancestors();
    let has_file = |folder: &&Path| read::project_file(folder, Some(0)).is_some();
    above.find(has_file).map(Path::to_owned)
}
