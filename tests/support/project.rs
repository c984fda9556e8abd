//! A project in memory, checked by the pipeline in this process: a case costs a millisecond and starts no program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use metalmark::error::Error;
use metalmark::files::{Files, Found};
use metalmark::model::cluster_view::ClusterView;
use metalmark::model::date::Date;
use metalmark::model::finding::{Finding, Judged};
use metalmark::model::rule::{Level, RuleId};
use metalmark::pipeline::check;
use metalmark::pipeline::fleet::Fleet;
use metalmark::read::{self, Location, PROJECT_FILE_NAME, Request};
use metalmark::rules::{ChangeInput, Side};
use yaml_tree::place::Spot;

/// Files by their paths below the root.
struct Memory(BTreeMap<PathBuf, Vec<u8>>);

impl Files for Memory {
    fn file(&self, path: &Path) -> Result<Found, Error> {
        let found = self.0.get(&plain(path));
        Ok(found.map_or(Found::Nothing, |bytes| Found::File(bytes.clone().into())))
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

/// A project whose clusters are read.
pub(crate) struct Project(Fleet);

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
        let workspace = workspace.expect("every file is in memory");
        let today = Date::parse("2026-11-21").expect("a day");
        Self(Fleet::open(workspace, today).expect("every source is in memory"))
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
        let view = |entry| self.0.view(entry).expect("every layer is in memory");
        self.0.workspace.entries().map(view).collect()
    }

    /// The only cluster, read and resolved.
    pub(crate) fn view(&self) -> ClusterView {
        let mut views = self.views();
        assert_eq!(views.len(), 1);
        views.remove(0)
    }

    /// What `check` finds, in the order of the stages.
    pub(crate) fn judged(&self) -> Vec<Judged> {
        let checked = self.0.check(|_, _, _| Ok(()));
        checked.expect("every layer is in memory").judged
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
        let found = check::change(&input, &after.0.workspace.settings).into_iter();
        let of_rule = found.filter(|finding| finding.rule == rule);
        of_rule
            .map(|finding| line(&finding, finding.unless_set.unwrap_or(Level::Error)))
            .collect()
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
