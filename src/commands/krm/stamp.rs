//! The transformer and the validator: the image fields of machine templates, held against what their images say.

use std::collections::BTreeMap;

use crate::check;
use crate::commands::fleet;
use crate::error::Error;
use crate::model::engine::Engine;
use crate::model::policy::Date;
use crate::model::value::Node;
use crate::providers::{Kind, PROVIDERS, Provider};
use crate::read::{self, Request, Workspace};
use crate::render::Renderer;
use crate::yaml::edit::{Edit, edit};

use super::change::{changes, wanted};
use super::choice::{Choice, Project};
use super::config::Config;
use super::findings;
use super::list::List;
use super::result::{FunctionResult, ItemReference, Outcome, Severity};

/// Stamps the items; as they came where an error stands.
pub(super) fn transform(
    request: &Request,
    config: &Config,
    list: &List<'_>,
    today: Date,
) -> Result<Outcome, Error> {
    let (stamped, _) = stamped(request, config, list, today)?;
    let Stamped { edits, results } = stamped;
    if results
        .iter()
        .any(|result| result.severity == Severity::Error)
    {
        return Ok(super::unchanged(list, results));
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
            Ok(super::unchanged(list, vec![fault]))
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
    let (stamped, mut workspace) = stamped(request, config, list, today)?;
    let tools = fleet::tools(&mut workspace, today)?;
    let survey = fleet::survey(&workspace, &tools, |_, _| Ok(((), Vec::new())))?;
    let mut results = findings::results(&survey.judged);
    let of_items = stamped
        .results
        .into_iter()
        .filter(|result| result.item.is_some());
    results.extend(of_items.map(as_fault));
    Ok(super::unchanged(list, results))
}

/// A change that the transformer would make, as the validator tells it.
fn as_fault(result: FunctionResult) -> FunctionResult {
    let Some(field) = result
        .field
        .as_ref()
        .filter(|_| result.severity == Severity::Info)
    else {
        return result;
    };
    FunctionResult {
        message: format!("`{}` is not what the project says", field.path),
        severity: Severity::Error,
        ..result
    }
}

/// What stamping comes to.
#[derive(Default)]
struct Stamped {
    edits: Vec<Edit>,
    results: Vec<FunctionResult>,
}

fn stamped(
    request: &Request,
    config: &Config,
    list: &List<'_>,
    today: Date,
) -> Result<(Stamped, Workspace), Error> {
    let mut workspace = read::workspace(request)?;
    let tools = fleet::tools(&mut workspace, today)?;
    let (settings, templates) = (workspace.settings.clone(), BTreeMap::new());
    let mut found = workspace.findings.clone();
    let renderer = Renderer::new(&settings, &templates, None, &mut |finding| {
        found.push(finding)
    });
    let mut stamped = Stamped::default();
    let checked = check::findings(found, &settings, today);
    stamped.results = findings::results(&checked.findings);
    let mut project = Project {
        workspace: &workspace,
        tools: &tools,
        renderer: &renderer,
        config,
        clusters: BTreeMap::new(),
        shared: None,
    };
    for (index, item) in list.items.iter().enumerate() {
        if let Some(template) = template(item) {
            one(&mut project, item, index, &template, &mut stamped)?;
        }
    }
    for (_, cluster) in project.clusters {
        stamped.results.extend(findings::results(&cluster.judged));
    }
    Ok((stamped, workspace))
}

/// Whose machine template an item is, of which kind, and in which API version.
type Template = (&'static dyn Provider, &'static Kind, String);

/// The template that an item is, in a version that is known or not. Machines and hosts are made from templates, or are not
/// metalmark's to choose an image for.
fn template(item: &Node) -> Option<Template> {
    let identity = ItemReference::of(item);
    let (group, version) = identity.api_version.split_once('/')?;
    let of_provider = |provider: &'static dyn Provider| {
        let mut kinds = provider.kinds().iter().filter(|kind| kind.is_template());
        let kind = kinds.find(|known| known.kind == identity.kind && known.group == group)?;
        Some((provider, kind, version.to_owned()))
    };
    PROVIDERS.iter().copied().find_map(of_provider)
}

fn one(
    project: &mut Project<'_>,
    item: &Node,
    index: usize,
    (provider, kind, version): &Template,
    stamped: &mut Stamped,
) -> Result<(), Error> {
    let about = |mut result: FunctionResult| {
        result.item = Some(ItemReference::of(item));
        result.file = file(item);
        result
    };
    if !kind.versions.contains(&version.as_str()) {
        let known = kind.versions.join(", ");
        let message = format!("{} is known in {known}, not in {version}", kind.kind);
        let fault = FunctionResult::new(Severity::Error, message);
        stamped.results.push(about(fault));
        return Ok(());
    }
    let stamp = match project.choice(item)? {
        Choice::Stamp(stamp) => stamp,
        Choice::Faulty => return Ok(()),
        Choice::Refused(result) => {
            stamped.results.push(about(result));
            return Ok(());
        }
    };
    let wanted = wanted(&stamp, *provider, (kind, version));
    let changes =
        wanted.and_then(|wanted| changes(item, index, &wanted).map_err(|problem| vec![problem]));
    let changes = match changes {
        Ok(changes) => changes,
        Err(problems) => {
            let faults = problems.into_iter();
            let faults = faults.map(|problem| about(FunctionResult::new(Severity::Error, problem)));
            stamped.results.extend(faults);
            return Ok(());
        }
    };
    let key = stamp.key.as_deref().unwrap_or(&stamp.url);
    for change in changes {
        let message = match &change.field.proposed {
            Some(_) => format!("`{}` is stamped for image `{key}`", change.field.path),
            None => format!("`{}` goes: image `{key}` has none", change.field.path),
        };
        let mut result = FunctionResult::new(Severity::Info, message);
        result.field = Some(change.field);
        stamped.results.push(about(result));
        stamped.edits.extend(change.edit);
    }
    Ok(())
}

/// Where an item comes from, as its annotations say.
fn file(item: &Node) -> Option<(String, Option<i64>)> {
    let annotation = |name: &str| {
        ["internal.config.kubernetes.io", "config.kubernetes.io"]
            .iter()
            .find_map(|group| {
                let key = format!("{group}/{name}");
                let node = item.at(&["metadata", "annotations", &key])?;
                node.value.as_str().map(|text| text.to_string())
            })
    };
    let index = annotation("index").and_then(|index| index.parse().ok());
    Some((annotation("path")?, index))
}
