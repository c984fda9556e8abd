//! An Argo CD Application's values: value files, inline values, parameters
//! (<https://argo-cd.readthedocs.io/en/stable/user-guide/helm/#helm-value-precedence>).

use std::path::{Path, PathBuf};

use yaml_tree::merge::{Layer, LayerKind};
use yaml_tree::place::Place;
use yaml_tree::value::{Node, Value};

use super::files::resolve_path;
use super::object::Object;
use super::overrides::{self, Override};
use super::reader::LayerReader;
use super::release::{Composed, floating};
use super::set::Style;
use super::{MissingSource, State};
use crate::read::error::ReadError;

/// Composes the values of an Application: those of its one source that is a chart.
pub(super) fn compose(
    reader: &mut LayerReader<'_>,
    state: &State,
    application: &Object,
) -> Result<Composed, ReadError> {
    let tree = &application.tree;
    let sources: Vec<&Node> = match tree.get_path(&["spec", "sources"]) {
        Some(list) => list.value.as_list().unwrap_or_default().iter().collect(),
        None => tree.get_path(&["spec", "source"]).into_iter().collect(),
    };
    // A source with a `ref` and no chart only provides files to the others.
    let Some(source) = sources
        .iter()
        .find(|source| source.get_path(&["helm"]).is_some())
        .or_else(|| {
            sources.iter().find(|source| {
                source.text(&["path"]).is_some() || source.text(&["chart"]).is_some()
            })
        })
    else {
        return Ok(Composed {
            chart: None,
            layers: Vec::new(),
            missing: Vec::new(),
        });
    };
    let mut chart = Chart {
        reader,
        state,
        application,
        source,
        sources: &sources,
        missing: Vec::new(),
    };
    let mut layers = chart.own_values()?;
    let mut overrides = chart.value_files()?;
    overrides.extend(chart.inline()?.map(Override::Values));
    chart.parameters(&mut overrides)?;
    let user = overrides::layers(overrides, None)
        .map_err(|(message, place)| chart.reader.refusal(message, place))?;
    layers.extend(user);
    Ok(Composed {
        chart: chart.home(),
        layers,
        missing: chart.missing,
    })
}

struct Chart<'c, 'r> {
    reader: &'c mut LayerReader<'r>,
    state: &'c State,
    application: &'c Object,
    source: &'c Node,
    sources: &'c [&'c Node],
    missing: Vec<MissingSource>,
}

impl Chart<'_, '_> {
    /// The chart's folder, if it is in this repository or given in the state.
    fn home(&self) -> Option<PathBuf> {
        match self.source.text(&["path"]) {
            Some(path) => resolve_path(Path::new(""), path.trim_start_matches('/')),
            None => self
                .state
                .get(&format!("HelmChart/{}", self.chart_name()))
                .cloned(),
        }
    }

    fn chart_name(&self) -> &str {
        self.source
            .text(&["chart"])
            .or_else(|| self.source.text(&["path"]))
            .unwrap_or_default()
    }

    fn own_values(&mut self) -> Result<Vec<Layer>, ReadError> {
        let tree = match self.home() {
            Some(home) => self.reader.values(&home.join("values.yaml"))?,
            None => None,
        };
        match tree {
            Some(tree) => Ok(vec![Layer {
                tree,
                kind: LayerKind::Chart,
            }]),
            // Helm renders a chart without values of its own too.
            None if self.reader.has_chart(self.home().as_deref()) => Ok(Vec::new()),
            None => {
                self.add_missing("values.yaml", self.source.place);
                Ok(Vec::new())
            }
        }
    }

    fn value_files(&mut self) -> Result<Vec<Override>, ReadError> {
        let ignores_missing = self.source.flag(&["helm", "ignoreMissingValueFiles"]);
        let mut overrides = Vec::new();
        for item in self.source.items(&["helm", "valueFiles"]) {
            let Some(written) = item.value.as_str() else {
                continue;
            };
            let named = self.substitute(written);
            let Some(path) = self.file(&named, item.place)? else {
                self.add_missing(&named, item.place);
                continue;
            };
            if self.reader.is_own_output(&path, item.place)? {
                continue;
            }
            match self.reader.values(&path)? {
                Some(tree) => overrides.push(Override::Values(tree)),
                None if ignores_missing => {}
                None => {
                    return Err(self
                        .reader
                        .refusal(format!("there is no file `{named}`"), item.place));
                }
            }
        }
        Ok(overrides)
    }

    /// Substitutes the known variables of Argo CD's build environment.
    fn substitute(&self, text: &str) -> String {
        text.replace("$ARGOCD_APP_NAMESPACE", self.destination())
            .replace("$ARGOCD_APP_NAME", self.application.name())
    }

    fn destination(&self) -> &str {
        self.application
            .tree
            .text(&["spec", "destination", "namespace"])
            .unwrap_or_default()
    }

    /// The path of a file beside the chart, below the repository's root, or in another source; none if it is not in this repository.
    fn file(&self, named: &str, place: Place) -> Result<Option<PathBuf>, ReadError> {
        let (from, path) = if let Some(rest) = named.strip_prefix('$') {
            let (name, path) = rest.split_once('/').unwrap_or((rest, ""));
            if !self
                .sources
                .iter()
                .any(|source| source.text(&["ref"]) == Some(name))
            {
                return Err(self
                    .reader
                    .refusal(format!("no source has `ref: {name}`"), place));
            }
            (PathBuf::new(), path)
        } else if named.contains("://") {
            return Ok(None);
        } else if let Some(path) = named.strip_prefix('/') {
            (PathBuf::new(), path)
        } else {
            match self.home() {
                Some(home) => (home, named),
                None => return Ok(None),
            }
        };
        match resolve_path(&from, path) {
            Some(path) => Ok(Some(path)),
            None => Err(self
                .reader
                .refusal(format!("`{named}` lies outside of the repository"), place)),
        }
    }

    /// The values in `valuesObject`, else those in `values`.
    fn inline(&mut self) -> Result<Option<Node>, ReadError> {
        if let Some(node) = self
            .source
            .get_path(&["helm", "valuesObject"])
            .filter(|node| node.value.as_map().is_some())
        {
            return Ok(Some(floating(node)));
        }
        match self.source.get_path(&["helm", "values"]) {
            Some(Node {
                value: Value::String(values),
                place,
            }) => self.reader.read_embedded(values, *place).map(Some),
            _ => Ok(None),
        }
    }

    /// `parameters` and `fileParameters`, in Helm's order: typed ones, strings, files.
    fn parameters(&mut self, overrides: &mut Vec<Override>) -> Result<(), ReadError> {
        let parameters = self.source.items(&["helm", "parameters"]);
        for (style, forced) in [(Style::Typed, false), (Style::Strings, true)] {
            for parameter in parameters
                .iter()
                .filter(|one| one.flag(&["forceString"]) == forced)
            {
                let name = parameter.text(&["name"]).unwrap_or_default();
                let value = parameter.get_path(&["value"]);
                let written = value
                    .and_then(|node| node.value.as_str())
                    .map_or("", |text| &**text);
                let value_text = with_commas(&self.substitute(written));
                let place = value.map_or(parameter.place, |node| node.place);
                overrides.push(Override::Set {
                    text: format!("{name}={value_text}"),
                    style,
                    place,
                });
            }
        }
        for parameter in self.source.items(&["helm", "fileParameters"]) {
            let name = parameter.text(&["name"]).unwrap_or_default();
            let named = parameter.text(&["path"]).unwrap_or_default();
            let Some(path) = self.file(named, parameter.place)? else {
                self.add_missing(named, parameter.place);
                continue;
            };
            if self.reader.is_own_output(&path, parameter.place)? {
                continue;
            }
            let Some(load) = self.reader.open(&path)? else {
                return Err(self
                    .reader
                    .refusal(format!("there is no file `{named}`"), parameter.place));
            };
            let source = self.reader.source(load.file);
            let place = Place::whole(load.file, &source.text);
            let text = format!("{name}={}", source.text);
            overrides.push(Override::Set {
                text,
                style: Style::Literal,
                place,
            });
        }
        Ok(())
    }

    fn add_missing(&mut self, key: &str, place: Place) {
        let (name, key) = (self.chart_name().to_owned(), key.to_owned());
        self.missing.push(MissingSource {
            kind: "HelmChart".to_owned(),
            name,
            key,
            place,
        });
    }
}

/// A parameter's value as Argo CD passes it to `--set`: with escaped commas.
fn with_commas(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut before = ' ';
    for (index, character) in value.char_indices() {
        if character == ',' && before != '\\' && index > 0 {
            text.push('\\');
        }
        text.push(character);
        before = character;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::with_commas;

    #[test]
    fn commas_of_a_parameter_are_escaped() {
        assert_eq!(with_commas(r"a,b\,c"), r"a\,b\,c");
    }
}
