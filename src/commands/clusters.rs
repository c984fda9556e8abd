//! `metalmark clusters`: clusters and node pools, each with its judgment.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

use capi::labels::Labels;
use capi::providers::PROVIDERS;
use clap::Args;
use clap::builder::PossibleValuesParser;
use yaml_tree::suggest::did_you_mean;

use crate::error::Error;
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::model::date::Date;
use crate::model::judgment::Grade;
use crate::model::pattern::Pattern;
use crate::model::version::Version;
use crate::pipeline::fleet::{Fleet, pool_names};
use crate::pipeline::{Terminal, Verdict};
use crate::printer::Detail;
use crate::read::{self, Request};
use crate::report::{self, ClusterRow, Format};

use super::images::print_gaps;
use super::options::grades;

/// Which clusters are listed, and how.
#[derive(Clone, Debug, Args)]
pub struct ClustersOptions {
    /// List these alone: a file or folder of clusters, or a pattern of clusters, node pools (CLUSTER/POOL) or images, such as
    /// `edge-*` or `*/control-plane`.
    #[arg(value_name = "FILTER", value_parser = Filter::parse)]
    pub filters: Vec<Filter>,
    /// List those of this infrastructure provider.
    #[arg(long, value_name = "PROVIDER", value_parser = providers())]
    pub provider: Option<String>,
    /// List node pools that are judged so; may be given several times.
    #[arg(long, value_name = "JUDGMENT", value_parser = grades(&Grade::ALL))]
    pub judgment: Vec<Grade>,
    /// List node pools that are to run this Kubernetes version; `1.33` is any patch of it.
    #[arg(long, value_name = "VERSION", value_parser = version)]
    pub k8s_version: Option<Version>,
    /// List clusters whose object has this label; may be given several times.
    #[arg(long, value_name = "NAME=VALUE", value_parser = label)]
    pub label: Vec<Label>,
    /// The format of what is printed.
    #[arg(long = "output", value_enum, default_value_t = Format::Human, value_name = "FORMAT")]
    pub format: Format,
}

/// Which clusters, node pools or images are listed.
#[derive(Clone, Debug)]
pub struct Filter {
    pattern: Pattern,
}

impl Filter {
    fn parse(text: &str) -> Result<Self, String> {
        Pattern::parse(text).map(|pattern| Self { pattern })
    }

    /// That something has such a name: of a typo, nothing would be listed, which reads as an answer.
    fn require_match(&self, names: &BTreeSet<&str>) -> Result<(), Error> {
        if names.iter().any(|name| self.pattern.is_match(name)) {
            return Ok(());
        }
        let help = did_you_mean(self.pattern.text(), names.iter().copied()).map_or_else(
            || "`metalmark clusters` lists them all".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        Err(Error::usage(format!(
            "there is no file, cluster, node pool or image `{}`\nhelp: {help}",
            self.pattern.text()
        )))
    }
}

/// A label that an object is to have.
#[derive(Clone, Debug)]
pub struct Label {
    name: String,
    value: String,
}

fn providers() -> PossibleValuesParser {
    PossibleValuesParser::new(PROVIDERS.iter().map(|provider| provider.data().name))
}

fn version(text: &str) -> Result<Version, String> {
    Version::parse(text).ok_or_else(|| "a version is `1.33` or `1.33.5`".to_owned())
}

fn label(text: &str) -> Result<Label, String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    Ok(Label {
        name: name.to_owned(),
        value: value.to_owned(),
    })
}

/// Lists clusters with their node pools: on stdout, whatever the rules say.
///
/// # Errors
/// I/O failed, or there is no project.
pub fn clusters(
    request: &Request,
    options: &ClustersOptions,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let mut request = request.clone();
    let is_path = |filter: &&Filter| request.locate(Path::new(filter.pattern.text())).exists();
    let (paths, patterns): (Vec<&Filter>, Vec<&Filter>) = options.filters.iter().partition(is_path);
    let paths = paths
        .into_iter()
        .map(|filter| filter.pattern.text().to_owned());
    request.flags.selected = paths.collect();
    let fleet = Fleet::open(read::workspace(&request)?, today)?;
    let mut fleet_check = fleet.check(|view, _, _| {
        let is_wanted = |it: &SelectedPool<'_>| options.is_wanted(view, *it, &patterns);
        let row = ClusterRow::new(view, view.pools().filter(is_wanted));
        let named = view.pools().filter(|_| !patterns.is_empty());
        let names: Vec<String> = named.flat_map(|it| pool_names(view, it)).collect();
        Ok((row, names))
    })?;
    let names = fleet.workspace.entries().map(|entry| &*entry.name);
    let of_pools = fleet_check.results.iter().flat_map(|(_, names)| names);
    let names: BTreeSet<&str> = names.chain(of_pools.map(String::as_str)).collect();
    for filter in &patterns {
        filter.require_match(&names)?;
    }
    let rows = fleet_check
        .results
        .iter()
        .filter_map(|(row, _)| row.as_ref());
    let rows: Vec<&ClusterRow> = rows.collect();
    report::clusters(&rows, options.format, &mut terminal.out)?;
    terminal.out.flush()?;
    if rows.is_empty() && options.is_part() && terminal.err.detail != Detail::Quiet {
        writeln!(terminal.err, "no node pool is listed")?;
    }
    print_gaps(&fleet, &mut fleet_check, terminal)?;
    Ok(Verdict::Clean)
}

impl ClustersOptions {
    /// Whether they leave node pools out.
    fn is_part(&self) -> bool {
        let is_narrow = !self.filters.is_empty() || !self.judgment.is_empty();
        is_narrow || self.provider.is_some() || self.k8s_version.is_some() || !self.label.is_empty()
    }

    fn is_wanted(&self, view: &ClusterView, it: SelectedPool<'_>, filters: &[&Filter]) -> bool {
        let cluster = &view.cluster;
        let names = pool_names(view, it);
        let is_named = |filter: &&Filter| names.iter().any(|name| filter.pattern.is_match(name));
        let provider = cluster.infra_provider.as_ref();
        let runs = cluster.k8s_version_of(it.pool);
        let runs = runs.and_then(|runs| Version::parse(&runs.value));
        let is_of = |wanted: &Version| runs.as_ref().is_some_and(|runs| wanted.admits(runs));
        (filters.is_empty() || filters.iter().any(is_named))
            && (self.judgment.is_empty() || self.judgment.contains(&it.judgment.grade()))
            && self.k8s_version.iter().all(is_of)
            && { self.provider.iter() }
                .all(|wanted| provider.is_some_and(|provider| *provider.value == **wanted))
            && self.label.iter().all(|label| label.is_on(&cluster.labels))
    }
}

impl Label {
    fn is_on(&self, labels: &Labels) -> bool {
        labels
            .get(&*self.name)
            .is_some_and(|value| **value == *self.value)
    }
}
