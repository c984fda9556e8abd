//! The releases of charts: with which values, for whom, and why one is not rendered.

use std::path::Path;

use yaml_tree::merge;
use yaml_tree::place::{Place, Sources};
use yaml_tree::value::{Node, Value};

use crate::error::Error;
use crate::evaluate::{ChartRelease, Release, Served};
use crate::files::Files;
use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};

use super::super::files::{self, display};
use super::super::gitops::{Composition, Deployer};
use super::load::Chart;
use super::named::Naming;

/// One release of a chart.
pub(super) struct Input {
    /// The chart with its values, or why these are not known.
    pub(super) chart: Result<ChartRelease, Unchecked>,
    pub(super) release: Release,
    /// Where it is declared.
    pub(super) place: Place,
    /// For whom it is rendered, in a finding.
    pub(super) by: String,
    /// Whether nothing deploys the chart.
    pub(super) is_own: bool,
    /// What changes its objects.
    pub(super) post_renderers: Vec<Node>,
}

/// Why a release is not rendered.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unchecked {
    pub(super) chart: String,
    pub(super) why: String,
    pub(super) place: Place,
    pub(super) help: Option<String>,
}

impl Unchecked {
    /// One finding for all releases of the chart that are not rendered for this reason.
    pub(super) fn finding(self, releases: &[String], sources: &Sources) -> Finding {
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
        let finding = Finding::new(RuleId::CompositionUnsupported, message);
        let finding = finding
            .with_label(sources.resolve(self.place), "")
            .unless_set(Level::Warning);
        match self.help {
            Some(help) => finding.help(help),
            None => finding,
        }
    }
}

/// What a HelmRelease or Application deploys.
pub(super) fn composition_input(chart: &Chart, composition: &Composition) -> Input {
    let failed = [RuleId::CompositionFailed, RuleId::CompositionUnsupported];
    let is_error = |finding: &&Finding| {
        finding.unless_set.is_none() && failed.contains(&finding.rule)
            || composition.layers.is_empty()
    };
    let finding = composition.findings.iter().find(is_error);
    let why = match (composition.missing.first(), finding) {
        (Some(missing), _) => Some(format!(
            "`{}` of the {} `{}` is not in the repository",
            missing.key, missing.kind, missing.name
        )),
        (None, Some(finding)) => Some(finding.message.clone()),
        _ => None,
    };
    let Composition { name, place, .. } = composition;
    let (own, user) = merge::sides(&composition.layers);
    Input {
        chart: match why {
            Some(why) => Err(chart.cannot_check(why, *place)),
            None => Ok(chart.tree.with_values(&own, &user, chart.engine)),
        },
        release: Release {
            name: name.as_str().into(),
            namespace: namespace(&composition.namespace).into(),
            revision: 1,
            is_live: composition.deployer == Deployer::Flux,
            cluster: Served::default(),
        },
        place: *place,
        by: format!("as `{name}` deploys it"),
        is_own: false,
        post_renderers: composition.post_renderers.clone(),
    }
}

/// What a file deploys that names the chart and is not composed here.
pub(super) fn naming_input(chart: &Chart, naming: &Naming<'_>, sources: &Sources) -> Input {
    let place = naming.place;
    let file = sources.get(place.file).map_or("", |source| &source.path);
    match naming.failed {
        Some(composition) => {
            let input = composition_input(chart, composition);
            Input { place, ..input }
        }
        None => Input {
            chart: Err(chart.cannot_check("what names it is not composed here".to_owned(), place)),
            release: chart.own_release(),
            place,
            by: format!("as `{file}` deploys it"),
            is_own: false,
            post_renderers: Vec::new(),
        },
    }
}

/// Helm's own default, where a release names no namespace.
pub(super) fn namespace(named: &str) -> &str {
    if named.is_empty() { "default" } else { named }
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
    let input = |(user, by): (Node, String)| Input {
        chart: Ok({ &chart.tree }.with_values(&chart.tree.values, &user, chart.engine)),
        release: chart.own_release(),
        place: if user.place.is_known() {
            user.place
        } else {
            chart.place()
        },
        by,
        is_own: true,
        post_renderers: Vec::new(),
    };
    Ok(given.into_iter().map(input).collect())
}
