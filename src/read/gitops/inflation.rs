//! The charts that a kustomization renders: `helmCharts`, as kustomize renders them with `--enable-helm` and `helm template`.
//!
//! Source: kustomize's HelmChartInflationGenerator. A chart that kustomize would pull is not known.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use yaml_tree::merge;
use yaml_tree::place::Place;
use yaml_tree::value::{Node, Value};

use super::super::files::display;
use super::super::helm_charts::load;
use super::super::helm_charts::releases::release;
use super::files::resolve_path;
use super::reader::LayerReader;
use super::strategic;
use crate::read::error::ReadError;

/// What Helm calls a release without a name.
const UNNAMED: &str = "release-name";

/// A chart that a kustomization renders.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::read) struct Inflation {
    /// The file of the kustomization.
    pub(in crate::read) file: Arc<str>,
    /// The folder of the chart.
    pub(in crate::read) chart: PathBuf,
}

/// A kustomization with the one chart that the file of a generator renders; none where the file is of another generator.
pub(super) fn parse_generator(file: &Node) -> Option<Node> {
    let text = |key: &str| file.text(&[key]).unwrap_or_default();
    if (text("apiVersion"), text("kind")) != ("builtin", "HelmChartInflationGenerator") {
        return None;
    }
    let mut kustomization = Node::from_value(Value::empty_map());
    let mut chart = file.clone();
    for key in ["apiVersion", "kind", "metadata", "configHome", "chartHome"] {
        let entry = chart.map_mut(&[]).remove(key);
        if let Some(entry) = entry.filter(|_| key == "chartHome") {
            kustomization.set(&["helmGlobals", key], entry.node.value);
        }
    }
    let charts = Value::from(vec![chart]);
    kustomization.set(&["helmCharts"], charts);
    Some(kustomization)
}

/// The objects that the charts of a kustomization in `folder` make.
pub(super) fn inflate_all(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    kustomization: &Node,
) -> Result<Vec<Node>, ReadError> {
    let mut objects = Vec::new();
    for item in kustomization.items(&["helmCharts"]) {
        let chart = find_chart(reader, folder, kustomization, item)?;
        let values = values(reader, folder, &chart, item)?;
        objects.extend(inflate(reader, &chart, item, &values)?);
    }
    Ok(objects)
}

/// The charts that a kustomization names itself, whether they are there or not.
pub(super) fn own_inflations(
    reader: &LayerReader<'_>,
    folder: &Path,
    kustomization: &Node,
) -> Vec<Inflation> {
    let inflation = |item: &Node| {
        Some(Inflation {
            file: Arc::clone(&reader.source(item.place.file).path),
            chart: chart_folder(folder, kustomization, item)?,
        })
    };
    let items = kustomization.items(&["helmCharts"]).iter();
    items.filter_map(inflation).collect()
}

/// The folder that kustomize looks for a chart in, also for one that it pulls.
pub(in crate::read) fn chart_folder(
    folder: &Path,
    kustomization: &Node,
    item: &Node,
) -> Option<PathBuf> {
    let home = kustomization
        .nonempty_text(&["helmGlobals", "chartHome"])
        .unwrap_or("charts");
    let name = item.nonempty_text(&["name"])?;
    let path = match (
        item.nonempty_text(&["repo"]),
        item.nonempty_text(&["version"]),
    ) {
        // What is pulled in a version is kept apart from the others.
        (Some(_), Some(version)) => format!("{home}/{name}-{version}/{name}"),
        _ => format!("{home}/{name}"),
    };
    resolve_path(folder, &path)
}

/// The folder of a chart that is in the repository.
fn find_chart(
    reader: &LayerReader<'_>,
    folder: &Path,
    kustomization: &Node,
    item: &Node,
) -> Result<PathBuf, ReadError> {
    let place = item.place;
    let name = item.nonempty_text(&["name"]).unwrap_or_default();
    if name.is_empty() || name.contains('/') {
        let message = "a chart of `helmCharts` has a `name`, which is that of a folder";
        return Err(reader.refusal(message, place));
    }
    if let Some(release) = item.nonempty_text(&["releaseName"])
        && !is_release_name(release)
    {
        let message = format!("Helm refuses the release name `{release}`");
        return Err(reader.refusal(message, place));
    }
    let Some(chart) = chart_folder(folder, kustomization, item) else {
        let message = format!("the chart `{name}` lies outside of the repository");
        return Err(reader.refusal(message, place));
    };
    if reader.has_chart(Some(&chart)) {
        return Ok(chart);
    }
    let missing = format!("the chart `{}` is not in the repository", display(&chart));
    Err(match item.nonempty_text(&["repo"]) {
        Some(_) => {
            let message = format!("{missing}, and none is pulled here");
            reader.support_error(message, place)
        }
        None => {
            let message = format!("{missing}, and no `repo` says where kustomize gets it");
            reader.refusal(message, place)
        }
    })
}

/// Whether Helm takes a text for the name of a release.
fn is_release_name(text: &str) -> bool {
    let is_part = |part: &str| {
        let is_letter =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        !part.is_empty()
            && part.chars().all(is_letter)
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    text.len() <= 53 && text.split('.').all(is_part)
}

/// The values that kustomize gives Helm: those of a file with those of the kustomization, then those of further files.
fn values(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    chart: &Path,
    item: &Node,
) -> Result<Node, ReadError> {
    let file = match item.nonempty_text(&["valuesFile"]) {
        Some(named) => values_path(folder, named),
        None => chart.join("values.yaml"),
    };
    let inline = item.get_path(&["valuesInline"]);
    let inline = inline.filter(|inline| !inline.value.is_null());
    let mut values = match inline {
        Some(inline) if inline.value.as_map().is_none() => {
            let message = format!(
                "`valuesInline` is a map, and this is {}",
                inline.value.kind()
            );
            return Err(reader.refusal(message, inline.place));
        }
        Some(inline) if inline.entries(&[]).next().is_some() => {
            join_inline(reader, &file, inline, item)?
        }
        _ => file_values(reader, &file, item.place)?,
    };
    for more in item.items(&["additionalValuesFiles"]) {
        let named = reader.path_text(more)?;
        let file = values_path(folder, named);
        values = merge::merge(&values, &file_values(reader, &file, more.place)?);
    }
    Ok(values)
}

/// The path of a file of values. One that leads out stays as it is, and is refused where it is opened.
fn values_path(folder: &Path, named: &str) -> PathBuf {
    resolve_path(folder, named).unwrap_or_else(|| named.into())
}

fn file_values(reader: &mut LayerReader<'_>, file: &Path, place: Place) -> Result<Node, ReadError> {
    let values = reader.values(file)?;
    values.ok_or_else(|| missing_file(reader, file, place))
}

fn missing_file(reader: &LayerReader<'_>, file: &Path, place: Place) -> ReadError {
    let message = format!("there is no file `{}` with values", display(file));
    reader.refusal(message, place)
}

/// The values of a kustomization with those of a file, as `valuesMerge` says. Kustomize merges them as it merges a patch.
fn join_inline(
    reader: &mut LayerReader<'_>,
    file: &Path,
    inline: &Node,
    item: &Node,
) -> Result<Node, ReadError> {
    let mode = item.nonempty_text(&["valuesMerge"]).unwrap_or("override");
    if mode == "replace" {
        return Ok(inline.clone());
    }
    let documents = reader.objects(file)?;
    let documents = documents.ok_or_else(|| missing_file(reader, file, item.place))?;
    let Some(values) = documents.first() else {
        let message = format!("kustomize refuses the empty file `{}`", display(file));
        return Err(reader.refusal(message, item.place));
    };
    let source = reader.source(values.place.file);
    let has_alias = |line: &str| !line.trim_start().starts_with('#') && line.contains(" *");
    if source.text.lines().any(has_alias) {
        let message = format!(
            "how kustomize merges the aliases in `{}` is not known",
            display(file)
        );
        return Err(reader.support_error(message, item.place));
    }
    let values = reader.spell(values);
    let joined = match mode {
        "override" => strategic::join(&values, inline),
        "merge" => strategic::join(inline, &values),
        _ => {
            let message = "`valuesMerge` is `merge`, `override` or `replace`";
            return Err(reader.refusal(message, item.place));
        }
    };
    joined.map_err(|error| reader.refuse(error))
}

/// The objects of a chart with these values.
fn inflate(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    item: &Node,
    values: &Node,
) -> Result<Vec<Node>, ReadError> {
    let chart = load::any_chart(reader.files, folder, reader.engine, reader.sources)?;
    let name = item.nonempty_text(&["releaseName"]).unwrap_or(UNNAMED);
    let release = release(name, item.text(&["namespace"]).unwrap_or_default());
    let file = &reader.source(item.place.file).path;
    let by = format!("as `{file}` renders it");
    let mut input = chart.input(values, release, item.place, by);
    let sources = &*reader.sources;
    let made = chart.deploy(&mut input, |input| Ok(chart.make(input, sources, |_| true)))?;
    if let Some(refusal) = made.refusal {
        return Err(refusal.finding(&[input.by], reader.sources).into());
    }
    // Also where its values cannot be compared with its schema.
    if let Some(finding) = made.findings.into_iter().next() {
        return Err(finding.into());
    }
    let mut objects = made.objects;
    objects.retain(|node| !node.value.is_null() && !is_left_out(node, item));
    Ok(objects)
}

/// Whether an object is a hook that is not wanted.
fn is_left_out(object: &Node, item: &Node) -> bool {
    let hooks = object.text(&["metadata", "annotations", "helm.sh/hook"]);
    hooks.is_some_and(|hooks| {
        let mut hooks = hooks.split(',');
        item.flag(&["skipHooks"])
            || item.flag(&["skipTests"]) && hooks.any(|hook| hook.trim() == "test")
    })
}
