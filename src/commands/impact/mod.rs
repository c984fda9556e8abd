//! `metalmark impact`: what a change does to images, versions and machines, both sides compared by meaning.

mod in_place;
mod markdown;
mod pairs;
mod sides;
mod text;
mod words;

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use crate::error::Error;
use crate::model::finding::{Finding, Judged};
use crate::model::policy::Date;
use crate::model::workspace::ClusterView;
use crate::pipeline::check;
use crate::read::{ClusterEntry, Request, Workspace};
use crate::render::Renderer;
use crate::report::impact::{self, ClusterChange, Kind, Served, ServedChange};
use crate::rules::{ChangeInput, Side};

use crate::pipeline::{Format, Terminal, Verdict, fleet, print_findings};
use pairs::Pairs;
use sides::Sides;

/// What `impact` was asked for.
#[derive(Clone, Debug)]
pub struct ImpactOptions {
    /// The commit that the change leads to; without it, the files as they stand.
    pub to: Option<String>,
    /// The commit that it starts from; without it, the merge base with the default branch.
    pub against: Option<String>,
    /// The format of what is printed.
    pub format: ImpactFormat,
    /// The day that waivers are held against.
    pub today: Date,
}

/// The format of what a change does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImpactFormat {
    /// For people.
    Human,
    /// JSON.
    Json,
    /// For a comment on a merge request.
    Markdown,
}

/// What a change does to the whole.
#[derive(Debug, Serialize)]
struct Impact {
    /// The commit that it starts from, in full, and how that was found.
    against: String,
    base: String,
    /// The clusters that it touches: those that are there after it in the project's order, then those that are gone.
    clusters: Vec<ClusterChange>,
    /// How many clusters it leaves as they are.
    unchanged: usize,
    /// Images.
    served: ServedChange,
    /// What could not be compared.
    notes: Vec<String>,
}

/// Everything that is needed of one side.
struct End {
    workspace: Workspace,
    tools: fleet::Tools,
    api_version: Option<String>,
}

impl End {
    fn new(mut workspace: Workspace, today: Date) -> Result<Self, Error> {
        let tools = fleet::tools(&mut workspace, today)?;
        let mut outputs = workspace.settings.outputs.iter();
        let version = outputs.find_map(|output| output.options.get("api-version")?.as_str());
        Ok(Self {
            api_version: version.map(str::to_owned),
            tools,
            workspace,
        })
    }

    fn renderer(&self) -> Renderer<'_> {
        let workspace = &self.workspace;
        // What is wrong with a template is told by `check` and `render`.
        Renderer::new(&workspace.settings, &workspace.templates, None, &mut |_| {})
    }

    fn view(&self, entry: &ClusterEntry) -> Result<ClusterView, Error> {
        fleet::view(&self.workspace, &self.tools, entry)
    }
}

/// What one cluster came to.
#[derive(Default)]
struct Compared {
    change: Option<ClusterChange>,
    note: Option<String>,
}

/// Compares every cluster of both sides, and runs the rules over the later one and over what changes.
///
/// # Errors
/// The world failed; there is no project, no repository or no such commit.
pub fn impact(
    request: &Request,
    options: &ImpactOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let sides = Sides::open(request, options.to.as_deref(), options.against.as_deref())?;
    let Sides {
        before,
        after,
        commit,
        base,
        mut notes,
    } = sides;
    let (before, after) = (
        End::new(before, options.today)?,
        End::new(after, options.today)?,
    );
    let pairs = Pairs::new(&before, &after.workspace);
    let comparison = Comparison {
        renderers: (before.renderer(), after.renderer()),
        before: &before,
        after: &after,
        commit: &commit,
        served: Mutex::default(),
    };
    let survey = fleet::survey(&after.workspace, &after.tools, |view, _| {
        let old = pairs.before(&view.cluster);
        Ok(comparison.cluster(old, view))
    })?;
    let count = survey.results.len();
    let mut clusters = Vec::new();
    for compared in survey.results {
        clusters.extend(compared.change);
        notes.extend(compared.note);
    }
    let unchanged = count - clusters.len();
    let renamed = clusters
        .iter()
        .filter(|change| change.change == Kind::Renamed);
    let renamed: Vec<&str> = renamed
        .filter_map(|change| change.from.as_deref())
        .collect();
    let gone: Vec<Compared> = pairs
        .gone(&renamed)
        .map(|entry| comparison.gone(entry))
        .collect();
    for compared in gone {
        clusters.extend(compared.change);
        notes.extend(compared.note);
    }
    let served = comparison
        .served
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let impact = Impact {
        against: commit,
        base,
        clusters,
        unchanged,
        served: ServedChange::between(&served.0, &served.1),
        notes,
    };
    print(&impact, &survey.judged, count, options, terminal)?;
    let has_errors = survey
        .judged
        .iter()
        .any(|judged| judged.level == crate::model::finding::Level::Error);
    Ok(match has_errors {
        true => Verdict::Findings,
        false => Verdict::Clean,
    })
}

/// The result goes to stdout, findings beside it to stderr.
fn print(
    impact: &Impact,
    judged: &[Judged],
    checked: usize,
    options: &ImpactOptions,
    terminal: &mut Terminal,
) -> Result<(), Error> {
    let out = &mut terminal.out;
    let format = match options.format {
        ImpactFormat::Human => {
            text::write(impact, out)?;
            Format::Human
        }
        ImpactFormat::Markdown => {
            markdown::write(impact, judged, out)?;
            Format::Human
        }
        ImpactFormat::Json => {
            out.json(impact)?;
            Format::Json
        }
    };
    if !judged.is_empty() {
        out.flush()?;
        print_findings(&mut terminal.err, judged, checked, format)?;
    }
    Ok(())
}

/// Compares clusters, and gathers the images that each side serves.
struct Comparison<'a> {
    before: &'a End,
    after: &'a End,
    renderers: (Renderer<'a>, Renderer<'a>),
    commit: &'a str,
    served: Mutex<(Served, Served)>,
}

impl Comparison<'_> {
    /// A cluster that is there after the change, and what its change breaks.
    fn cluster(&self, old: Option<&ClusterEntry>, view: &ClusterView) -> (Compared, Vec<Finding>) {
        let stamps = self.renderers.1.stamps(view, &mut |_| {});
        let after = Side {
            view,
            stamps: &stamps,
            api_version: self.after.api_version.as_deref(),
        };
        self.serve(None, Some(view));
        let before = old.map(|entry| self.before.view(entry));
        let old_view = match before {
            Some(Ok(old_view)) => old_view,
            unread => {
                let note = match unread {
                    Some(Err(error)) => Some(format!(
                        "`{}` cannot be read as it was, so that it counts as new: {}",
                        view.cluster.name,
                        first_line(&error)
                    )),
                    _ => None,
                };
                let change = Some(impact::whole(&after, Kind::Added));
                return (Compared { change, note }, Vec::new());
            }
        };
        self.serve(Some(&old_view), None);
        let old_stamps = self.renderers.0.stamps(&old_view, &mut |_| {});
        let before = Side {
            view: &old_view,
            stamps: &old_stamps,
            api_version: self.before.api_version.as_deref(),
        };
        let input = ChangeInput {
            before,
            after,
            revision: self.commit.get(..10).unwrap_or(self.commit),
        };
        let is_in_place = self.has_own_templates() && {
            let old = self.renderers.0.cluster(&old_view, &mut |_| {});
            let new = self.renderers.1.cluster(view, &mut |_| {});
            in_place::keeps_names(&old, &new)
        };
        let change = impact::cluster(&input, is_in_place);
        let is_same = change
            .as_ref()
            .is_none_or(|change| change.change != Kind::Replaced);
        let found = match is_same {
            true => check::change(&input, &self.after.workspace.settings),
            false => Vec::new(),
        };
        (Compared { change, note: None }, found)
    }

    /// A cluster that is not there any more.
    fn gone(&self, entry: &ClusterEntry) -> Compared {
        match self.before.view(entry) {
            Ok(view) => {
                self.serve(Some(&view), None);
                let stamps = self.renderers.0.stamps(&view, &mut |_| {});
                let side = Side {
                    view: &view,
                    stamps: &stamps,
                    api_version: self.before.api_version.as_deref(),
                };
                Compared {
                    change: Some(impact::whole(&side, Kind::Removed)),
                    note: None,
                }
            }
            Err(error) => Compared {
                change: None,
                note: Some(format!(
                    "`{}` is gone, and cannot be read as it was: {}",
                    entry.name,
                    first_line(&error)
                )),
            },
        }
    }

    fn serve(&self, before: Option<&ClusterView>, after: Option<&ClusterView>) {
        let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(view) = before {
            impact::served::add(view, &mut served.0);
        }
        if let Some(view) = after {
            impact::served::add(view, &mut served.1);
        }
    }

    /// Whether the names of machine templates may be other than ours, which end in a hash of their content.
    fn has_own_templates(&self) -> bool {
        let mut sides = [self.before, self.after].into_iter();
        sides.any(|end| {
            let mut names = end.workspace.templates.keys();
            names.any(|name| name.starts_with("manifests/"))
        })
    }
}

fn first_line(error: &Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}
