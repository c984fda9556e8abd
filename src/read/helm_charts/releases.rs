//! The releases of charts: with which values, for whom, and why one is not rendered.

use std::path::Path;

use yaml_tree::place::{Place, Sources};
use yaml_tree::value::{Node, Value};

use crate::error::Error;
use crate::evaluate::{ChartRelease, Release, Served};
use crate::files::Files;
use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};

use super::super::files::{self, display};
use super::load::Chart;

/// One release of a chart.
pub(in crate::read) struct Input {
    /// The chart with its values, or why these are not known.
    pub(super) chart: Result<ChartRelease, Unchecked>,
    pub(super) release: Release,
    /// Where it is declared.
    pub(super) place: Place,
    /// For whom it is rendered, in a finding.
    pub(in crate::read) by: String,
    /// Whether nothing deploys the chart.
    pub(super) is_own: bool,
    /// What changes its objects.
    pub(super) post_renderers: Vec<Node>,
}

/// Why a release is not rendered.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::read) struct Unchecked {
    pub(super) chart: String,
    pub(super) why: String,
    pub(super) place: Place,
    pub(super) help: Option<String>,
    /// The file that is no YAML, so that Helm refuses the release too.
    pub(super) broken: Option<String>,
}

impl Unchecked {
    /// One finding for all releases of the chart that are not rendered for this reason.
    pub(in crate::read) fn finding(self, releases: &[String], sources: &Sources) -> Finding {
        let others = match releases.len() {
            0 | 1 => String::new(),
            2 => " and another one".to_owned(),
            count => format!(" and {} others", count - 1),
        };
        let first = releases.first().map_or("", |first| first);
        let message = format!(
            "the chart `{}` is not checked {first}{others}: {}",
            self.chart, self.why
        );
        let spot = sources.resolve(self.place);
        let finding = match self.broken {
            Some(_) => Finding::new(RuleId::CompositionFailed, message),
            None => {
                Finding::new(RuleId::CompositionUnsupported, message).unless_set(Level::Warning)
            }
        };
        let finding = Finding {
            follows: self.broken,
            ..finding.with_label(spot, "")
        };
        match self.help {
            Some(help) => finding.help(help),
            None => finding,
        }
    }
}

/// Helm's own default, where a release names no namespace.
pub(super) fn namespace(named: &str) -> &str {
    if named.is_empty() { "default" } else { named }
}

/// A release that no cluster is known of, of that name and in that namespace.
pub(in crate::read) fn release(name: &str, namespace_name: &str) -> Release {
    Release {
        name: name.into(),
        namespace: namespace(namespace_name).into(),
        revision: 1,
        is_live: false,
        cluster: Served::default(),
    }
}

/// The releases of a chart that nothing deploys: one for each file of values for tests, else one with its own values.
pub(super) fn chart_inputs(
    tree: &dyn Files,
    folder: &Path,
    chart: &Chart,
    sources: &mut Sources,
    found: &mut Vec<Finding>,
) -> Result<Vec<Input>, Error> {
    let tests = folder.join("ci");
    let names = tree.folder(&tests)?.unwrap_or_default();
    let names = names.iter().filter(|name| name.ends_with("values.yaml"));
    let mut given = Vec::new();
    for name in names {
        let file = tests.join(name);
        let mut findings = Vec::new();
        let values = files::values(tree, &file, chart.engine, sources, &mut findings)?;
        if findings.iter().all(|one| one.rule != RuleId::YamlSyntax) {
            given.push((values, format!("with `{}`", display(&file))));
        }
        found.extend(findings);
    }
    if given.is_empty() {
        let none = Node::from_value(Value::empty_map());
        given.push((none, "with its own values".to_owned()));
    }
    let input = |(user, by): (Node, String)| {
        let place = if user.place.is_known() {
            user.place
        } else {
            chart.place()
        };
        Input {
            is_own: true,
            ..chart.input(&user, chart.own_release(), place, by)
        }
    };
    Ok(given.into_iter().map(input).collect())
}
