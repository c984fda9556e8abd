//! The releases of charts that HelmReleases and Applications deploy, or what else names a chart.

use capi::unknown::Unknown;
use yaml_tree::merge;
use yaml_tree::place::Sources;
use yaml_tree::value::Node;

use crate::error::Error;
use crate::evaluate::Release;
use crate::files::Files;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;

use super::super::gitops::{self, Composition, Deployer};
use super::kinds::is_of_cluster_api;
use super::load::Chart;
use super::named::Naming;
use super::output::Output;
use super::releases::{Input, Unchecked, release};
use super::rendering::MadeObjects;

/// What a HelmRelease or Application deploys.
pub(super) fn composition_input(chart: &Chart, composition: &Composition) -> Input {
    let failed = [RuleId::CompositionFailed, RuleId::CompositionUnsupported];
    let is_error = |finding: &&Finding| {
        finding.unless_set.is_none() && failed.contains(&finding.rule)
            || composition.layers.is_empty()
    };
    let finding = composition.findings.iter().find(is_error);
    let broken = finding.filter(|finding| finding.rule == RuleId::YamlSyntax);
    let broken = broken.and_then(|finding| finding.labels.first());
    let broken = broken.map(|label| label.spot.source.path.to_string());
    let why = match (composition.missing.first(), finding) {
        (Some(missing), _) => Some(format!(
            "`{}` of the {} `{}` is not in the repository",
            missing.key, missing.kind, missing.name
        )),
        (None, Some(finding)) => Some(match &broken {
            Some(file) => format!("`{file}` is no YAML"),
            None => finding.message.clone(),
        }),
        _ => None,
    };
    let Composition { name, place, .. } = composition;
    let (own, user) = merge::sides(&composition.layers);
    Input {
        chart: match why {
            Some(why) => Err(Unchecked {
                broken,
                ..chart.cannot_check(why, *place)
            }),
            None => Ok(chart.tree.with_values(&own, &user, chart.engine)),
        },
        release: Release {
            is_live: composition.deployer == Deployer::Flux,
            ..release(name, &composition.namespace)
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

/// The objects of Cluster API that a release deploys in one cluster.
pub(super) fn make_objects(
    chart: &Chart,
    input: &Input,
    tree: &dyn Files,
    sources: &mut Sources,
) -> Result<MadeObjects, Error> {
    let renderers = &input.post_renderers;
    if renderers.is_empty() {
        return Ok(chart.make(input, sources, Output::is_kept));
    }
    // A patch may be of any object.
    let mut made = chart.make(input, sources, |_| true);
    let objects = std::mem::take(&mut made.objects);
    match gitops::post_render(tree, renderers, objects, sources)? {
        Ok(objects) => made.objects = objects,
        Err(finding) => {
            made.unknown = Some(Unknown::ValuesUnknown);
            made.refusal = Some(chart.cannot_check(finding.message, input.place));
        }
    }
    let is_kept = |object: &Node| object.text(&["apiVersion"]).is_some_and(is_of_cluster_api);
    made.objects.retain(is_kept);
    Ok(made)
}
