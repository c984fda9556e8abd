//! Reads one cluster: merges its own layers over the shared ones, and evaluates what they say of node pools and images.

use std::sync::Arc;

use yaml_tree::merge;
use yaml_tree::place::Sources;
use yaml_tree::value::{Entry, Map, Node};

use crate::error::Error;
use crate::evaluate::{Evaluator, TemplateCache};
use crate::model::catalog::Catalog;
use crate::model::cluster::{Cluster, MappedVersion};
use crate::model::cluster_view::ClusterRead;
use crate::model::finding::{Finding, Subject};
use crate::model::rule::{Level, RuleId};
use crate::model::signing::SigningKeys;

use super::management::{self, Depth, State};
use super::project::EvaluationOption;
use super::{ClusterEntry, Workspace, release_options};
use crate::read::gitops::MissingSource;
use crate::read::sylva::{self, CATALOG_KEYS, is_about_number};

/// The catalog of the layers that all clusters share, and whether a cluster that touches none of its keys has the same.
pub struct SharedCatalog {
    /// The catalog.
    catalog: Arc<Catalog>,
    /// Its values hold no expression, so that nothing that a cluster sets can change them.
    is_literal: bool,
}

/// Reads what the shared layers alone say of images. What is wrong with it is reported by the clusters that have it.
pub fn read_shared_catalog(workspace: &Workspace, templates: &TemplateCache) -> SharedCatalog {
    let values = &workspace.shared.values;
    let sources = workspace.shared.sources();
    let options = release_options::for_release(workspace, None, None);
    let evaluator = Evaluator::new(values, &options, templates);
    let mut findings = Vec::new();
    let catalog = sylva::catalog(&evaluator, sources, Subject::default(), &mut findings);
    let literal = |key: &&str| values.get_path(&[key]).is_none_or(Node::is_literal);
    SharedCatalog {
        catalog: Arc::new(catalog),
        is_literal: findings.is_empty() && CATALOG_KEYS.iter().all(literal),
    }
}

/// The shared layers as a cluster without nodes: faults of images that no cluster touches are reported for it.
pub fn cluster_without_nodes(workspace: &Workspace, shared: &SharedCatalog) -> ClusterRead {
    ClusterRead {
        cluster: Cluster::default(),
        catalog: Arc::clone(&shared.catalog),
        signing: SigningKeys::default(),
        sources: workspace.shared.sources().clone(),
        folder: None,
        findings: Vec::new(),
    }
}

/// Reads one cluster. Its catalog is the shared one where nothing that it sets can change that.
///
/// # Errors
/// A layer cannot be read.
pub fn cluster(
    workspace: &Workspace,
    entry: &ClusterEntry,
    shared: &SharedCatalog,
    templates: &TemplateCache,
) -> Result<ClusterRead, Error> {
    if let Some(read) = workspace.of_manifests.get(&entry.name) {
        return Ok(read.clone());
    }
    let state = |depth| State::new(workspace, entry, templates, depth);
    // What only exact evaluation could need without saying so is evaluated at once.
    if workspace.evaluation == EvaluationOption::Lazy {
        let state = state(Depth::Placeholders);
        let read = with_state(&state, shared)?;
        if !state.is_used.get() || read.findings.is_empty() {
            return Ok(read);
        }
    }
    with_state(&state(Depth::Evaluated), shared)
}

/// The chart's map of Kubernetes versions, as it evaluates for a cluster with another bootstrap provider.
///
/// # Errors
/// A layer cannot be read.
pub fn version_map(
    workspace: &Workspace,
    entry: &ClusterEntry,
    templates: &TemplateCache,
    bootstrap_provider: &str,
) -> Result<Vec<MappedVersion>, Error> {
    let state = State::new(workspace, entry, templates, Depth::Evaluated);
    let own = workspace.shared.with_layers(entry, Some(&state))?;
    let path = ["cluster", "capi_providers", "bootstrap_provider"];
    let provider = Node::from_value(bootstrap_provider);
    let over = path.into_iter().rfold(provider, |node, key| {
        Node::from_value(Map::from_iter([Entry::holding(key, node)]))
    });
    let values = merge::merge(&own.values, &over);
    let options = release_options::for_cluster(workspace, entry, &own);
    let evaluate = |values: &Node| Evaluator::new(values, &options, templates);
    Ok(sylva::read_version_map(
        &evaluate(&values),
        &values,
        evaluate,
    ))
}

/// Reads one cluster with this state of its management cluster.
fn with_state(state: &State<'_>, shared: &SharedCatalog) -> Result<ClusterRead, Error> {
    let State {
        workspace, entry, ..
    } = *state;
    let own = workspace.shared.with_layers(entry, Some(state))?;
    let chart = own.chart.as_deref();
    let options = release_options::for_cluster(workspace, entry, &own);
    let namespace = Arc::clone(&options.release.namespace);
    let evaluator = Evaluator::new(&own.values, &options, state.templates);
    let subject = Subject::cluster(&entry.name);
    // A value may be in an object that is not in the repository.
    let is_whole = own.missing.is_empty() && own.is_known;
    let schema = chart.and_then(|chart| chart.schema.as_ref());
    let of_schema = schema.filter(|_| is_whole);
    let of_schema = of_schema.map(|schema| schema.check(&own.values, &own.sources));
    let mut findings: Vec<_> = { own.findings.into_iter() }
        .chain(of_schema.into_iter().flatten())
        .map(|finding| finding.with_subject(subject.clone()))
        .collect();
    let scope = if workspace.settings.renders_endpoints() {
        sylva::Scope::Endpoints
    } else {
        sylva::Scope::ImagesAlone
    };
    if !own.is_known {
        return Ok(ClusterRead {
            cluster: Cluster::empty(&entry.name, namespace),
            catalog: Arc::clone(&shared.catalog),
            signing: SigningKeys::default(),
            sources: own.sources,
            folder: None,
            findings,
        });
    }
    let mut cluster = sylva::cluster(
        &evaluator,
        &own.sources,
        &entry.name,
        &namespace,
        scope,
        &mut findings,
    );
    let release = own.release.iter();
    cluster.helm_release = release.flat_map(|it| it.helm_release.clone()).collect();
    cluster.chart = chart.map(|chart| Arc::clone(&chart.name));
    let library = workspace.library.or(chart.and_then(|chart| chart.library));
    cluster.library = library.unwrap_or_default();
    findings.extend(sylva::spelling_findings(
        &own.values,
        &own.sources,
        &subject,
    ));
    let untouched = |key: &&str| match (
        own.values.get_path(&[key]),
        workspace.shared.values.get_path(&[key]),
    ) {
        (Some(own), Some(shared)) => own.is_same(shared),
        (own, shared) => own.is_none() && shared.is_none(),
    };
    let catalog = if shared.is_literal && CATALOG_KEYS.iter().all(untouched) {
        Arc::clone(&shared.catalog)
    } else {
        Arc::new(sylva::catalog(
            &evaluator,
            &own.sources,
            subject.clone(),
            &mut findings,
        ))
    };
    let mut signing = SigningKeys::default();
    if workspace.checks_signers {
        let is_required = !workspace.settings.policy.signatures.is_empty();
        signing = sylva::signing_keys(
            &evaluator,
            &own.sources,
            subject.clone(),
            &catalog,
            is_required,
            &mut findings,
        );
    }
    // Last: what only this needs is not evaluated for anything else.
    let evaluate = |values: &Node| Evaluator::new(values, &options, state.templates);
    cluster.k8s_versions = sylva::read_version_map(&evaluator, &own.values, evaluate);
    report_missing(&own.missing, &mut findings);
    findings.extend(missing_config_maps(&own.missing, &own.sources, &subject));
    Ok(ClusterRead {
        cluster,
        catalog,
        signing,
        sources: own.sources,
        folder: None,
        findings,
    })
}

/// That a ConfigMap whose values may change any other value is not known. A Secret cannot be given, and what a management cluster
/// provides sets neither versions nor images.
fn missing_config_maps(
    missing: &[MissingSource],
    sources: &Sources,
    subject: &Subject,
) -> Vec<Finding> {
    let is_unknown = |missing: &&MissingSource| {
        missing.kind == "ConfigMap" && !management::is_provided(&missing.kind, &missing.name)
    };
    let finding = |missing: &MissingSource| {
        let object = format!("ConfigMap/{}", missing.name);
        let message = format!(
            "`{object}` is not in the repository, and its values may change what is checked"
        );
        Finding::new(RuleId::ValueMissing, message)
            .with_subject(subject.clone())
            .with_label(sources.resolve(missing.place), "its values are taken here")
            .help(format!(
                "give it as a file: `state: {{{object}: FILE}}` in metalmark.yaml"
            ))
            .help("or mark it as `optional: true`, where it need not exist")
            .unless_set(Level::Warning)
    };
    missing.iter().filter(is_unknown).map(finding).collect()
}

/// What findings of missing values say beside themselves: which objects exist only at run time.
pub(super) fn report_missing(missing: &[MissingSource], findings: &mut [Finding]) {
    let wanted = missing
        .iter()
        .map(|missing| format!("`{}/{}`", missing.kind, missing.name));
    let wanted: Vec<String> = wanted.collect();
    if wanted.is_empty() {
        return;
    }
    let is_provided =
        |missing: &MissingSource| management::is_provided(&missing.kind, &missing.name);
    let management = if missing.iter().any(is_provided) {
        ", or name the cluster that provides it: `management: …`"
    } else {
        ""
    };
    let help = format!(
        "{} may hold it, which exists only at run time: give it as a file under `state:`{management}",
        wanted.join(" or ")
    );
    for finding in findings
        .iter_mut()
        .filter(|finding| NEEDS_VALUES.contains(&finding.rule) && !is_about_number(finding))
    {
        finding.help.push(help.clone());
    }
}

/// The rules of findings that a missing layer can cause.
const NEEDS_VALUES: [RuleId; 2] = [RuleId::ExpressionError, RuleId::ValueMissing];
