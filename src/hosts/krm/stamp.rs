//! The transformer and the validator: the image fields of machine templates, compared with the facts of their images.

use std::collections::BTreeMap;

use capi::providers::{self, Kind, PROVIDERS, Provider};
use yaml_tree::edit::{Edit, Step, edit};
use yaml_tree::engine::Engine;
use yaml_tree::value::Node;

use crate::edit::stamp::{changes, problems};
use crate::error::Error;
use crate::model::date::Date;
use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};
use crate::pipeline::check;
use crate::pipeline::fleet::Fleet;
use crate::read::{self, Request};
use crate::render::Renderer;

use super::config::Config;
use super::list::List;
use super::result::{self, Field, FunctionResult, ItemReference, Outcome, Severity};
use super::selection::{ItemSelection, Project};

/// Stamps the items; unchanged where there is an error.
pub(super) fn transform(
    request: &Request,
    config: &Config,
    list: &List<'_>,
    today: Date,
) -> Result<Outcome, Error> {
    let (stamped, _) = stamp_items(request, config, list, today)?;
    let Stamped { edits, results } = stamped;
    if results
        .iter()
        .any(|result| result.severity == Severity::Error)
    {
        return Ok(super::pass_through(list, results));
    }
    match edit(list.text, Engine::Kubectl, &edits) {
        Ok(text) => Ok(Outcome {
            text,
            has_results: list.has_results,
            results,
        }),
        Err(error) => {
            let message = format!("the machine templates cannot be stamped: {error}");
            let fault = FunctionResult::new(Severity::Error, message);
            Ok(super::pass_through(list, vec![fault]))
        }
    }
}

/// Says what the transformer would change, as errors, and what the rules say of the whole project. The items stay as they are.
pub(super) fn validate(
    request: &Request,
    config: &Config,
    list: &List<'_>,
    today: Date,
) -> Result<Outcome, Error> {
    let (stamped, fleet) = stamp_items(request, config, list, today)?;
    let fleet_check = fleet.check(|_, _, _| Ok(()))?;
    let mut results = result::results(&fleet_check.judged);
    let of_items = stamped
        .results
        .into_iter()
        .filter(|result| result.item.is_some());
    let level = fleet
        .workspace
        .settings
        .policy
        .level(&Finding::new(RuleId::ImageUnstamped, ""));
    results.extend(of_items.filter_map(|result| as_fault(result, level)));
    Ok(super::pass_through(list, results))
}

/// What the transformer would change, or could not stamp, as the validator reports it: at the level that the policy gives to
/// machine templates without an image of the project.
fn as_fault(result: FunctionResult, unstamped: Level) -> Option<FunctionResult> {
    let rule = RuleId::ImageUnstamped.as_str();
    let is_unstamped = result.tags.iter().any(|(_, value)| value == rule);
    match (&result.field, result.severity) {
        (Some(field), Severity::Info) => Some(FunctionResult {
            message: format!("`{}` is not what the project says", field.path),
            severity: Severity::Error,
            ..result
        }),
        (None, Severity::Warning) if is_unstamped => {
            let severity = match unstamped {
                Level::Error => Severity::Error,
                Level::Warning => Severity::Warning,
                Level::Off => return None,
            };
            Some(FunctionResult { severity, ..result })
        }
        _ => Some(result),
    }
}

/// The result of stamping.
#[derive(Default)]
struct Stamped {
    edits: Vec<Edit>,
    results: Vec<FunctionResult>,
}

fn stamp_items(
    request: &Request,
    config: &Config,
    list: &List<'_>,
    today: Date,
) -> Result<(Stamped, Fleet), Error> {
    let fleet = Fleet::open(read::workspace(request)?, today)?;
    let workspace = &fleet.workspace;
    let (settings, templates) = (workspace.settings.clone(), BTreeMap::new());
    let mut found = workspace.findings.clone();
    let renderer = Renderer::new(&settings, &templates, None, &mut found);
    let mut stamped = Stamped::default();
    let checked = check::findings(found, &settings, today);
    stamped.results = result::results(&checked.findings);
    let mut project = Project {
        fleet: &fleet,
        renderer: &renderer,
        config,
        clusters: BTreeMap::new(),
        shared: None,
    };
    for (index, item) in list.items.iter().enumerate() {
        let identity = ItemReference::from_item(item);
        let known = providers::find_for_object(&identity.api_version, &identity.kind);
        if known.is_none() {
            stamped.results.extend(version_fault(item));
        }
        if let Some((provider, kind)) = known {
            one(&mut project, item, index, provider, kind, &mut stamped)?;
        }
    }
    for (_, cluster) in project.clusters {
        stamped.results.extend(result::results(&cluster.judged));
    }
    Ok((stamped, fleet))
}

fn one(
    project: &mut Project<'_>,
    item: &Node,
    index: usize,
    provider: &dyn Provider,
    kind: &Kind,
    stamped: &mut Stamped,
) -> Result<(), Error> {
    let about = |mut result: FunctionResult| {
        result.item = Some(ItemReference::from_item(item));
        result.file = file(item);
        result
    };
    let stamp = match project.selection(item)? {
        ItemSelection::Stamp(stamp) => stamp,
        ItemSelection::Faulty => return Ok(()),
        ItemSelection::Refused(result) => {
            stamped.results.push(about(result));
            return Ok(());
        }
    };
    let identity = ItemReference::from_item(item);
    let version = identity.api_version.split_once('/');
    let version = version.map_or("", |(_, version)| version);
    let mut problems = problems(&stamp, provider, kind);
    let wanted = provider.stamp(kind, version, &stamp);
    let steps = [Step::from("items"), Step::from(index)];
    let changes = match wanted.and_then(|wanted| changes(item, 0, &steps, &wanted)) {
        Ok(changes) => changes,
        Err(problem) => {
            problems.push(problem);
            Vec::new()
        }
    };
    if !problems.is_empty() {
        let faults = problems.into_iter();
        let faults = faults.map(|problem| about(FunctionResult::new(Severity::Error, problem)));
        stamped.results.extend(faults);
        return Ok(());
    }
    let key = stamp.key.as_deref().unwrap_or(&stamp.url);
    for change in changes {
        let message = match &change.proposed {
            Some(_) => format!("`{}` is stamped for image `{key}`", change.path),
            None => format!("`{}` goes: image `{key}` has none", change.path),
        };
        let mut result = FunctionResult::new(Severity::Info, message);
        result.field = Some(Field {
            path: change.path,
            current: change.current.map(|node| node.value),
            proposed: change.proposed,
        });
        stamped.results.push(about(result));
        stamped.edits.extend(change.edit);
    }
    Ok(())
}

/// A kind that is known, in a version that is not: the place of its image is unknown.
fn version_fault(item: &Node) -> Option<FunctionResult> {
    let identity = ItemReference::from_item(item);
    let (group, version) = identity.api_version.split_once('/')?;
    let mut kinds = PROVIDERS.iter().flat_map(|provider| provider.data().kinds);
    let kind = kinds.find(|kind| kind.kind == identity.kind && kind.group == group)?;
    let known = kind.versions.join(", ");
    let message = format!("{} is known in {known}, not in {version}", kind.kind);
    let mut fault = FunctionResult::new(Severity::Error, message);
    fault.file = file(item);
    fault.item = Some(identity);
    Some(fault)
}

/// Where an item comes from, as its annotations say.
fn file(item: &Node) -> Option<(String, Option<i64>)> {
    let annotation = |name: &str| {
        ["internal.config.kubernetes.io", "config.kubernetes.io"]
            .iter()
            .find_map(|group| {
                let key = format!("{group}/{name}");
                let node = item.get_path(&["metadata", "annotations", &key])?;
                node.value.as_str().map(|text| text.to_string())
            })
    };
    let index = annotation("index").and_then(|index| index.parse().ok());
    Some((annotation("path")?, index))
}
