//! A project in memory, read, resolved and checked in this process: a case costs a millisecond and starts no program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use metalmark::catalog::resolve::{self, Catalogs};
use metalmark::catalog::sources;
use metalmark::decide::matching::PatternCache;
use metalmark::error::Error;
use metalmark::evaluate::TemplateCache;
use metalmark::files::{Files, Found};
use metalmark::model::cluster_view::ClusterView;
use metalmark::model::date::Date;
use metalmark::model::finding::{Finding, Judged};
use metalmark::model::rule::{Level, RuleId};
use metalmark::model::selection::Outcome;
use metalmark::pipeline::check;
use metalmark::read::{self, Location, PROJECT_FILE_NAME, Request, SharedCatalog, Workspace};
use metalmark::rules::{ChangeInput, ImageUse, RunScope, Side, WorkspaceInput};
use yaml_tree::place::Spot;

/// Files by their paths below the root.
struct Memory(BTreeMap<PathBuf, Vec<u8>>);

impl Files for Memory {
    fn file(&self, path: &Path) -> Result<Found, Error> {
        let found = self.0.get(&plain(path));
        Ok(found.map_or(Found::Nothing, |bytes| Found::File(bytes.clone())))
    }

    fn folder(&self, path: &Path) -> Result<Option<Vec<String>>, Error> {
        let folder = plain(path);
        let below = self
            .0
            .keys()
            .filter_map(|path| path.strip_prefix(&folder).ok());
        let names: BTreeSet<String> = below
            .filter_map(|path| path.iter().next())
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        Ok((!names.is_empty()).then(|| names.into_iter().collect()))
    }
}

fn plain(path: &Path) -> PathBuf {
    path.components()
        .filter(|part| matches!(part, Component::Normal(_)))
        .collect()
}

/// A project and what its stages need.
pub(crate) struct Project {
    workspace: Workspace,
    templates: TemplateCache,
    shared: SharedCatalog,
    catalogs: Catalogs,
    patterns: PatternCache,
}

impl Project {
    /// The project of these files: paths and texts.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| (PathBuf::from(path), text.as_bytes().to_vec());
        let memory = Memory(files.iter().map(file).collect());
        let location = Location {
            root: PathBuf::from("/nonexistent"),
            file: Some(PathBuf::from(PROJECT_FILE_NAME)),
        };
        let workspace = read::workspace_in(&Request::default(), &location, Arc::new(memory));
        let mut workspace = workspace.expect("every file is in memory");
        let mut facts = sources::facts(
            &workspace.settings.root,
            &*workspace.files,
            &workspace.facts,
            &workspace.settings.registries.architecture,
            &mut workspace.findings,
        )
        .expect("every source is in memory");
        if let Some((records, file)) = &workspace.records {
            facts.add_records(records, file);
        }
        let templates = TemplateCache::default();
        Self {
            shared: read::read_shared_catalog(&workspace, &templates),
            catalogs: Catalogs::new(facts),
            patterns: PatternCache::default(),
            templates,
            workspace,
        }
    }

    /// A project with one cluster, `edge`, of these values; `more` is added to its project file.
    pub(crate) fn of(values: &str, more: &str) -> Self {
        Self::layered("", values, more)
    }

    /// The same with values that clusters share below the cluster's own.
    pub(crate) fn layered(shared: &str, values: &str, more: &str) -> Self {
        let project = format!(
            "version: 1\nvalues: [shared.yaml]\nclusters:\n  - {{name: edge, values: [values.yaml]}}\n{more}"
        );
        Self::new(&[
            (PROJECT_FILE_NAME, &project),
            ("shared.yaml", shared),
            ("values.yaml", values),
        ])
    }

    /// Every cluster, read and resolved.
    pub(crate) fn views(&self) -> Vec<ClusterView> {
        let settings = &self.workspace.settings;
        let view = |entry| {
            let read = read::cluster(&self.workspace, entry, &self.shared, &self.templates);
            let read = read.expect("every layer is in memory");
            resolve::cluster(read, &self.catalogs, settings, &self.patterns)
                .expect("no source fails")
        };
        self.workspace.clusters.iter().map(view).collect()
    }

    /// The only cluster, read and resolved.
    pub(crate) fn view(&self) -> ClusterView {
        let mut views = self.views();
        assert_eq!(views.len(), 1);
        views.remove(0)
    }

    /// What `check` finds, in the order of the stages.
    pub(crate) fn judged(&self) -> Vec<Judged> {
        let today = Date::parse("2026-11-21").expect("a day");
        let settings = &self.workspace.settings;
        let (mut judged, mut uses, mut used) = (Vec::new(), ImageUse::default(), BTreeSet::new());
        for view in self.views() {
            let checked = check::cluster(&view, settings, today);
            judged.extend(checked.findings);
            used.extend(checked.waivers_used);
            uses.add(image_use(&view));
        }
        let read = read::cluster_without_nodes(&self.workspace, &self.shared);
        let shared = resolve::cluster(read, &self.catalogs, settings, &self.patterns);
        let shared = shared.expect("no source fails");
        let input = WorkspaceInput {
            run_scope: RunScope::Fleet,
            uses: &uses,
            images: &shared.images,
            sources: &shared.sources,
            settings,
            facts_given: !self.workspace.facts.is_empty() || self.workspace.records.is_some(),
            lock: None,
        };
        let found = self.workspace.findings.clone();
        judged.extend(check::workspace(&input, found, &used, today).findings);
        judged
    }

    /// What one rule finds, each as [`line`] shows it.
    pub(crate) fn found(&self, rule: &str) -> Vec<String> {
        let rule: RuleId = rule.parse().expect("a rule");
        let judged = self.judged();
        let of_rule = judged.iter().filter(|judged| judged.finding.rule == rule);
        of_rule
            .map(|judged| line(&judged.finding, judged.level))
            .collect()
    }

    /// What one rule finds of the change from this project to that one.
    pub(crate) fn found_in_change(&self, after: &Self, rule: &str) -> Vec<String> {
        let rule: RuleId = rule.parse().expect("a rule");
        let (was, is) = (self.view(), after.view());
        let side = |view| Side {
            view,
            stamps: &[],
            api_version: None,
        };
        let input = ChangeInput {
            before: side(&was),
            after: side(&is),
            revision: "HEAD",
        };
        let found = check::change(&input, &after.workspace.settings).into_iter();
        let of_rule = found.filter(|finding| finding.rule == rule);
        of_rule
            .map(|finding| line(&finding, finding.unless_set.unwrap_or(Level::Error)))
            .collect()
    }
}

fn image_use(view: &ClusterView) -> ImageUse {
    let boots = view.selections.iter();
    let boots = boots.filter_map(|selection| match &selection.outcome {
        Outcome::Image(key) => Some(Arc::clone(key)),
        _ => None,
    });
    ImageUse {
        booted: boots.collect(),
        served: view.served.iter().cloned().collect(),
        ..ImageUse::default()
    }
}

/// A finding without its words: level, pool, the text that each label marks, and the edits that its help quotes. `fix` says
/// that `check --fix` would make one of them.
pub(crate) fn line(finding: &Finding, level: Level) -> String {
    let level = match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Off => "off",
    };
    let pool = finding.subject.pool.as_deref().unwrap_or("-");
    let labels: Vec<String> = finding
        .labels
        .iter()
        .map(|label| marked(&label.spot))
        .collect();
    let fix = finding.fix.as_ref();
    let fix = fix.map_or(String::new(), |fix| format!(" fix {}", fix.value));
    let edits = finding.help.iter().flat_map(|help| quoted(help));
    let edits: Vec<&str> = edits.collect();
    let edits = if edits.is_empty() {
        String::new()
    } else {
        format!(" => {}", edits.join(" | "))
    };
    format!("{level} {pool} [{}]{fix}{edits}", labels.join(", "))
}

/// The text that a label marks; its first line where it has more.
fn marked(spot: &Spot) -> String {
    let text = &spot.source.text[spot.start as usize..spot.end as usize];
    text.lines().next().unwrap_or_default().trim().to_owned()
}

/// What a text has between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}
