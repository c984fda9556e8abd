//! The values of a Flux HelmRelease: the chart's files, `valuesFrom` in order, `values`
//! (<https://github.com/fluxcd/helm-controller/blob/main/docs/spec/v2/helmreleases.md>).

use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use oci_artifacts::sha256;
use yaml_tree::merge::{Layer, LayerKind};
use yaml_tree::place::Place;
use yaml_tree::value::{Node, Number, Value};

use crate::model::finding::Finding;

use super::files::resolve_path;
use super::kustomization::Built;
use super::names::{Referred, resolve_reference};
use super::object::Object;
use super::overrides::{self, Override};
use super::reader::{LayerReader, decode};
use super::set::Style;
use super::{Composition, FAILED, State, UNSUPPORTED};
use crate::read::error::ReadError;

/// The default of `valuesKey`.
const VALUES_KEY: &str = "values.yaml";

/// The release of a HelmRelease, with its values and the objects of its build.
pub(super) fn compose(
    reader: &mut LayerReader<'_>,
    state: &State,
    built: &Built,
    release: &Object,
) -> Result<Composition, ReadError> {
    let spec = |field: &str| release.tree.nonempty_text(&["spec", field]);
    let target = spec("targetNamespace");
    let name = match (spec("releaseName"), target) {
        (Some(name), _) => name.to_owned(),
        (None, Some(namespace)) => format!("{namespace}-{}", release.name()),
        (None, None) => release.name().to_owned(),
    };
    let composition = Composition {
        namespace: target.unwrap_or(release.namespace()).to_owned(),
        helm_release: release.names().map(|named| named.name).collect(),
        post_renderers: release.tree.items(&["spec", "postRenderers"]).to_vec(),
        ..Composition::empty(shorten(name), release.tree.place)
    };
    let mut release = Release {
        reader,
        state,
        built,
        release,
        composition,
    };
    let mut layers = release.chart()?;
    let mut overrides = Vec::new();
    for item in release.release.tree.items(&["spec", "valuesFrom"]) {
        overrides.extend(release.values_from(item)?);
    }
    let inline = release.inline()?;
    let user = overrides::layers(overrides, inline);
    layers.extend(user.map_err(|error| release.reader.refuse(error))?);
    release.composition.layers = layers;
    let mut missing = release.composition.missing.iter();
    if missing.any(|missing| missing.kind != "HelmChart") {
        release
            .reader
            .findings
            .extend(built.unknown.iter().cloned());
    }
    Ok(release.composition)
}

/// A release's name as helm-controller shortens one that is longer than Helm accepts
/// (<https://pkg.go.dev/github.com/fluxcd/helm-controller/internal/release#ShortenName>).
fn shorten(name: String) -> String {
    /// In bytes: of Helm's names, and of the two parts.
    const LONGEST: usize = 53;
    const KEPT: usize = 40;
    const DIGITS: usize = 12;
    match name.get(..KEPT) {
        Some(kept) if name.len() > LONGEST => {
            format!(
                "{kept}-{}",
                &HEXLOWER.encode(&sha256(name.as_bytes()))[..DIGITS]
            )
        }
        _ => name,
    }
}

struct Release<'c, 'r> {
    reader: &'c mut LayerReader<'r>,
    state: &'c State,
    built: &'c Built,
    release: &'c Object,
    composition: Composition,
}

impl Release<'_, '_> {
    /// The chart's own values: `valuesFiles`, or its `values.yaml`.
    fn chart(&mut self) -> Result<Vec<Layer>, ReadError> {
        if let Some(reference) = self.release.tree.get_path(&["spec", "chartRef"]) {
            let message =
                "the chart of a `chartRef` is not in this repository: its values are not known";
            let finding = self.reader.finding(UNSUPPORTED, message, reference.place);
            self.reader.findings.push(finding);
            return Ok(Vec::new());
        }
        let Some(spec) = self.release.tree.get_path(&["spec", "chart", "spec"]) else {
            return Ok(Vec::new());
        };
        let chart = spec.text(&["chart"]).unwrap_or_default();
        let is_here = !matches!(spec.text(&["sourceRef", "kind"]), Some("HelmRepository"));
        let home = self.state.get(&format!("HelmChart/{chart}")).cloned();
        let in_source = chart.trim_matches('/');
        let is_given = home.is_some();
        self.composition.chart = home.or_else(|| {
            let is_path = is_here.then_some(in_source);
            is_path.and_then(|path| resolve_path(Path::new(""), path))
        });
        let mut files: Vec<(&str, Place)> = Vec::new();
        let named = spec
            .get_path(&["valuesFile"])
            .into_iter()
            .chain(spec.items(&["valuesFiles"]));
        files.extend(named.filter_map(|node| Some((&**node.value.as_str()?, node.place))));
        let default = if is_here {
            format!("{}/{VALUES_KEY}", chart.trim_end_matches('/'))
        } else {
            VALUES_KEY.to_owned()
        };
        let chart_place = spec.place_at(&["chart"]);
        let is_default = files.is_empty();
        if is_default {
            files.push((&default, chart_place));
        }
        let ignores_missing = spec.flag(&["ignoreMissingValuesFiles"]);
        let mut layers = Vec::new();
        for (file, place) in files {
            // A source other than a registry names files from its own root, and only the chart's folder is given of it.
            let below = match (is_here, is_given) {
                (true, true) => {
                    let file = Path::new(file.trim_start_matches('/'));
                    file.strip_prefix(in_source).ok().and_then(Path::to_str)
                }
                _ => Some(file),
            };
            let root = if is_here && !is_given {
                Some(PathBuf::new())
            } else {
                self.composition.chart.clone()
            };
            let tree = match (root, below) {
                (Some(root), Some(below)) => self.chart_file(&root, below, place)?,
                _ => None,
            };
            match tree {
                Some(tree) => layers.push(Layer {
                    tree,
                    kind: LayerKind::Chart,
                }),
                None if ignores_missing => {}
                // Helm renders a chart without values of its own too.
                None if is_default && self.reader.has_chart(self.composition.chart.as_deref()) => {}
                None => self
                    .composition
                    .add_missing("HelmChart", chart, file, place),
            }
        }
        Ok(layers)
    }

    fn chart_file(
        &mut self,
        root: &Path,
        file: &str,
        place: Place,
    ) -> Result<Option<Node>, ReadError> {
        let outside = || format!("`{file}` lies outside of the repository");
        let path = resolve_path(root, file.trim_start_matches('/'));
        let path = path.ok_or_else(|| self.reader.refusal(outside(), place))?;
        self.reader.values(&path)
    }

    /// The values of one item of `valuesFrom`; none if its object is not known.
    fn values_from(&mut self, item: &Node) -> Result<Option<Override>, ReadError> {
        let kind = item.text(&["kind"]).unwrap_or_default();
        let name = item.text(&["name"]).unwrap_or_default();
        let key = item.nonempty_text(&["valuesKey"]).unwrap_or(VALUES_KEY);
        let name_place = item.place_at(&["name"]);
        if !matches!(kind, "ConfigMap" | "Secret") {
            let message =
                format!("`valuesFrom` takes a ConfigMap or a Secret, and this is `{kind}`");
            return Err(self.reader.refusal(message, item.place));
        }
        let is_optional = item.flag(&["optional"]);
        let found = match resolve_reference(&self.built.objects, self.release, kind, name) {
            Referred::Object(object) => self.data(object, key)?,
            Referred::Renamed(object) if self.state_file(kind, name).is_none() => {
                let finding = self.rename_finding(object, kind, name, name_place);
                self.reader.findings.push(finding);
                return Ok(None);
            }
            Referred::Nothing | Referred::Renamed(_) => match self.state_file(kind, name) {
                Some(path) => self.state_data(&path, kind, key)?,
                None => {
                    let known = self.run_time_values(item, kind, name, key)?;
                    if known.is_none() && !is_optional {
                        self.composition.add_missing(kind, name, key, name_place);
                    }
                    return Ok(known);
                }
            },
        };
        match found {
            Some((_, place)) if self.reader.is_rendered(place, name_place)? => Ok(None),
            Some((text, place)) => self.override_of(item, text, place).map(Some),
            None if is_optional => Ok(None),
            None => {
                let place = item
                    .get_path(&["valuesKey"])
                    .map_or(name_place, |node| node.place);
                let message = format!("{kind} `{name}` has no key `{key}`");
                let finding = self.reader.finding(FAILED, message, place);
                let help = "add the key, or set `optional: true` on the item of `valuesFrom`";
                self.reader.findings.push(finding.help(help));
                Ok(None)
            }
        }
    }

    /// The known values of a run-time object.
    fn run_time_values(
        &mut self,
        item: &Node,
        kind: &str,
        name: &str,
        key: &str,
    ) -> Result<Option<Override>, ReadError> {
        let is_path = item.nonempty_text(&["targetPath"]).is_some();
        let Some(run_time) = self.reader.run_time.filter(|_| !is_path) else {
            return Ok(None);
        };
        let values = run_time.values(kind, name, key, self.reader.sources)?;
        Ok(values.map(Override::Values))
    }

    fn override_of(
        &mut self,
        item: &Node,
        value: String,
        place: Place,
    ) -> Result<Override, ReadError> {
        let Some(path) = item.nonempty_text(&["targetPath"]) else {
            return self
                .reader
                .read_embedded(&value, place)
                .map(Override::Values);
        };
        let is_quoted = |quote: char| value.starts_with(quote) && value.ends_with(quote);
        let (style, value) = if item.flag(&["literal"]) {
            (Style::Literal, &*value)
        } else if is_quoted('\'') || is_quoted('"') {
            (Style::Strings, value.trim_matches(['\'', '"']))
        } else {
            (Style::Typed, &*value)
        };
        Ok(Override::Set {
            text: format!("{path}={value}"),
            style,
            place,
        })
    }

    /// The text of a key of a ConfigMap or Secret, and its place.
    fn data(&self, object: &Object, key: &str) -> Result<Option<(String, Place)>, ReadError> {
        let is_secret = object.kind() == "Secret";
        let plain = is_secret
            .then(|| object.tree.get_path(&["stringData", key]))
            .flatten();
        let Some(node) = plain.or_else(|| object.tree.get_path(&["data", key])) else {
            return Ok(None);
        };
        let found = match (&node.value, is_secret && plain.is_none()) {
            (Value::Null, _) => Some(String::new()),
            (_, true) => decode(node),
            (value, false) => value.text_with_labels().map(|text| text.to_string()),
        };
        match found {
            Some(text) => Ok(Some((text, node.place))),
            None => {
                let expected = if is_secret { "base64 of text" } else { "text" };
                let message = format!(
                    "the key `{key}` of {} `{}` is not {expected}",
                    object.kind(),
                    object.name()
                );
                Err(self.reader.refusal(message, node.place))
            }
        }
    }

    /// The file that the state gives for a run-time object.
    fn state_file(&self, kind: &str, name: &str) -> Option<PathBuf> {
        self.state.get(&format!("{kind}/{name}")).cloned()
    }

    /// A key of an object given by a file: its manifest, or a file of values for every key.
    fn state_data(
        &mut self,
        path: &Path,
        kind: &str,
        key: &str,
    ) -> Result<Option<(String, Place)>, ReadError> {
        let documents = self.reader.objects(path)?;
        let manifest = documents.iter().flat_map(|documents| documents.iter());
        let is_object = |node: &&Node| {
            node.text(&["kind"]) == Some(kind) && node.get_path(&["metadata"]).is_some()
        };
        if let Some(node) = manifest.into_iter().find(is_object) {
            return self.data(&Object::new(node.clone()), key);
        }
        let Some(load) = self.reader.open(path)? else {
            let error = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(ReadError::Error(crate::error::Error::Read {
                path: path.to_owned(),
                cause: error,
            }));
        };
        let source = self.reader.source(load.file);
        let place = Place::whole(load.file, &source.text);
        Ok(Some((source.text.clone(), place)))
    }

    fn rename_finding(&self, object: &Object, kind: &str, name: &str, place: Place) -> Finding {
        let message = if object.is_hashed {
            format!(
                "{kind} `{name}` gets a hash at the end of its name, which `valuesFrom` does not follow"
            )
        } else {
            format!(
                "{kind} `{name}` is renamed to `{}`, which `valuesFrom` does not follow",
                object.name()
            )
        };
        let origin = self.reader.sources.resolve(object.tree.place);
        let finding = self
            .reader
            .finding(FAILED, message, place)
            .with_label(origin, "defined here");
        let help = if object.is_hashed {
            "set `options: {disableNameSuffixHash: true}` on its generator"
        } else {
            "add a `nameReference` for `spec/valuesFrom/name` of HelmRelease under `configurations`"
        };
        finding.help(help)
    }

    /// `spec.values`. The controller reads its numbers from JSON.
    fn inline(&self) -> Result<Option<Node>, ReadError> {
        match self.release.tree.get_path(&["spec", "values"]) {
            None => Ok(None),
            Some(node) => match node.value {
                Value::Map(_) => Ok(Some(floating(node))),
                Value::Null => Ok(None),
                _ => Err(self.reader.refusal("`values` is not a map", node.place)),
            },
        }
    }
}

/// The same values with numbers as floats, as in Helm.
pub(super) fn floating(node: &Node) -> Node {
    match node.value {
        Value::Number(Number::Int(number)) => {
            Node::new(Value::Number(Number::Float(number as f64)), node.place)
        }
        _ => node.map_children(&mut floating),
    }
}

#[cfg(test)]
mod tests {
    use super::shorten;

    #[test]
    fn a_name_is_as_long_as_helm_accepts() {
        let fits = "a".repeat(53);
        assert_eq!(shorten(fits.clone()), fits);
        let short = shorten("a".repeat(54));
        assert_eq!(short.len(), 53);
        // `printf 'a%.0s' {1..54} | sha256sum`
        assert_eq!(short, format!("{}-a3f01b693925", "a".repeat(40)));
    }
}
