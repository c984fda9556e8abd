//! An Argo CD Application's values: value files, inline values, parameters
//! (<https://argo-cd.readthedocs.io/en/stable/user-guide/helm/#helm-value-precedence>).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use yaml_tree::merge::{Layer, LayerKind};
use yaml_tree::place::Place;
use yaml_tree::value::{Node, Value};

use super::application_set::is_zero;
use super::files::{matches, resolve_path};
use super::object::Object;
use super::overrides::{self, Override};
use super::reader::LayerReader;
use super::release::floating;
use super::set::Style;
use super::{Composition, Deployer, State};
use crate::read::error::ReadError;

/// What Argo CD takes a source for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SourceType {
    Helm,
    Kustomize,
    Directory,
    Plugin,
}

impl SourceType {
    const ALL: [Self; 4] = [Self::Helm, Self::Kustomize, Self::Directory, Self::Plugin];

    /// The field of a source that holds its settings.
    pub(super) const fn field(self) -> &'static str {
        match self {
            Self::Helm => "helm",
            Self::Kustomize => "kustomize",
            Self::Directory => "directory",
            Self::Plugin => "plugin",
        }
    }

    /// The types whose settings a source has: Argo CD takes it for that one, whatever its folder holds, and refuses several
    /// (<https://pkg.go.dev/github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1#ApplicationSource.ExplicitType>).
    pub(super) fn settings(source: &Node) -> Vec<Self> {
        let mut types = Self::ALL.to_vec();
        types.retain(|one| {
            let mut settings = source.entries(&[one.field()]);
            settings.any(|setting| !is_zero(&setting.node))
        });
        types
    }

    /// What a folder holds. It is a kustomization where a chart is beside it
    /// (<https://github.com/argoproj/argo-cd/blob/v3.0.0/util/app/discovery/discovery.go>).
    pub(super) fn discover(reader: &LayerReader<'_>, folder: &Path) -> Self {
        if reader.has_kustomization(folder) {
            Self::Kustomize
        } else if reader.has_chart(Some(folder)) {
            Self::Helm
        } else {
            Self::Directory
        }
    }

    /// That of a source; none where nobody knows what its folder holds.
    pub(super) fn from_source(reader: &LayerReader<'_>, source: &Node) -> Option<Self> {
        let set = Self::settings(source).first().copied();
        set.or_else(|| {
            let folder = folder(source).filter(|folder| reader.files.is_folder(folder))?;
            Some(Self::discover(reader, &folder))
        })
    }
}

/// The sources of an Application.
pub(super) fn sources(application: &Object) -> Vec<&Node> {
    let tree = &application.tree;
    let several = tree.items(&["spec", "sources"]).iter();
    let one = tree.get_path(&["spec", "source"]).into_iter();
    let several: Vec<&Node> = several.collect();
    if several.is_empty() {
        one.collect()
    } else {
        several
    }
}

/// The sources of an Application that are charts, or else the first that may be one. One with a `ref` and no chart only provides files
/// to the others.
pub(super) fn charts<'a>(reader: &LayerReader<'_>, application: &'a Object) -> Vec<&'a Node> {
    let mut all = sources(application);
    all.retain(|source| !reader.repositories.is_other(source));
    let is_other_type = |source: &Node| {
        let is_kustomization = |folder: PathBuf| reader.has_kustomization(&folder);
        SourceType::from_source(reader, source) == Some(SourceType::Kustomize)
            && folder(source).is_some_and(is_kustomization)
    };
    all.retain(|source| !is_other_type(source));
    let is_chart = |source: &&Node| {
        let home = folder(source);
        source.get_path(&["helm"]).is_some() || reader.has_chart(home.as_deref())
    };
    let charts: Vec<&Node> = all.iter().copied().filter(is_chart).collect();
    if !charts.is_empty() {
        return charts;
    }
    let may_be = |source: &&Node| folder(source).is_some() || source.text(&["chart"]).is_some();
    all.into_iter().find(may_be).into_iter().collect()
}

/// The folder of a source, if it names one.
pub(super) fn folder(source: &Node) -> Option<PathBuf> {
    let path = source.text(&["path"])?;
    resolve_path(Path::new(""), path.trim_start_matches('/'))
}

/// The release of one source of an Application, with its values.
pub(super) fn compose(
    reader: &mut LayerReader<'_>,
    state: &State,
    application: &Object,
    source: &Node,
) -> Result<Composition, ReadError> {
    let of_source = |field: &str| source.nonempty_text(&["helm", field]);
    let destination = || application.tree.text(&["spec", "destination", "namespace"]);
    let name = of_source("releaseName").unwrap_or(application.name());
    let namespace = of_source("namespace").or_else(destination);
    let composition = Composition {
        namespace: namespace.unwrap_or_default().to_owned(),
        deployer: Deployer::ArgoCd,
        ..Composition::empty(name.to_owned(), application.tree.place)
    };
    let mut chart = Chart {
        reader,
        state,
        source,
        sources: &sources(application),
        environment: Environment {
            application,
            source,
        },
        composition,
    };
    let mut layers = chart.own_values()?;
    let mut overrides = chart.value_files()?;
    overrides.extend(chart.inline()?.map(Override::Values));
    chart.parameters(&mut overrides)?;
    let user = overrides::layers(overrides, None);
    layers.extend(user.map_err(|error| chart.reader.refuse(error))?);
    chart.composition.chart = chart.home();
    chart.composition.layers = layers;
    Ok(chart.composition)
}

/// Argo CD's build environment of a source.
pub(super) struct Environment<'e> {
    pub(super) application: &'e Object,
    pub(super) source: &'e Node,
}

impl Environment<'_> {
    /// A text with its variables filled in, `$NAME` and `${NAME}`. Those that Argo CD does not set are empty.
    pub(super) fn fill(
        &self,
        reader: &LayerReader<'_>,
        text: &str,
        place: Place,
    ) -> Result<String, ReadError> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            filled.push_str(before);
            let is_end = |letter: char| !letter.is_ascii_alphanumeric() && letter != '_';
            let braces = after
                .strip_prefix('{')
                .and_then(|inner| inner.split_once('}'));
            let (name, behind) =
                braces.unwrap_or_else(|| after.split_at(after.find(is_end).unwrap_or(after.len())));
            rest = behind;
            if let Some(behind) = after.strip_prefix('$') {
                filled.push('$');
                rest = behind;
            } else if name.is_empty() {
                filled.push('$');
            } else if RUN_TIME.contains(&name) {
                let message = format!("`${name}` is known only where Argo CD runs");
                return Err(reader.support_error(message, place));
            } else {
                filled.push_str(self.value(name));
            }
        }
        Ok(filled + rest)
    }

    fn value(&self, name: &str) -> &str {
        let of_spec = |path: &[&str]| self.application.tree.text(path);
        let value = match name {
            "ARGOCD_APP_NAME" => Some(self.application.name()),
            "ARGOCD_APP_NAMESPACE" => of_spec(&["spec", "destination", "namespace"]),
            "ARGOCD_APP_PROJECT_NAME" => of_spec(&["spec", "project"]),
            "ARGOCD_APP_SOURCE_PATH" => self.source.text(&["path"]),
            "ARGOCD_APP_SOURCE_REPO_URL" => self.source.text(&["repoURL"]),
            "ARGOCD_APP_SOURCE_TARGET_REVISION" => self.source.text(&["targetRevision"]),
            _ => None,
        };
        value.unwrap_or_default()
    }
}

/// The variables that depend on the commit and the cluster.
const RUN_TIME: [&str; 5] = [
    "ARGOCD_APP_REVISION",
    "ARGOCD_APP_REVISION_SHORT",
    "ARGOCD_APP_REVISION_SHORT_8",
    "KUBE_API_VERSIONS",
    "KUBE_VERSION",
];

struct Chart<'c, 'r> {
    reader: &'c mut LayerReader<'r>,
    state: &'c State,
    source: &'c Node,
    sources: &'c [&'c Node],
    environment: Environment<'c>,
    composition: Composition,
}

impl Chart<'_, '_> {
    /// The chart's folder, if it is in this repository or given in the state.
    fn home(&self) -> Option<PathBuf> {
        match self.source.text(&["path"]) {
            Some(_) => folder(self.source),
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
        let mut named = Vec::new();
        for item in self.source.items(&["helm", "valueFiles"]) {
            let Some(written) = item.value.as_str() else {
                continue;
            };
            match self.file(written, item.place)? {
                Some(path) => named.push((path, item)),
                None => self.add_missing(written, item.place),
            }
        }
        let is_pattern = |path: &Path| path.to_string_lossy().contains(['*', '?', '[']);
        let plain = named.iter().map(|(path, _)| path);
        let plain: BTreeSet<PathBuf> = plain.filter(|path| !is_pattern(path)).cloned().collect();
        let (mut overrides, mut taken) = (Vec::new(), BTreeSet::new());
        for (path, item) in &named {
            let mut is_there = false;
            // A file that is named by itself counts there.
            let found = if is_pattern(path) {
                let mut found = matches(self.reader.files, &path.to_string_lossy())?;
                is_there = !found.is_empty();
                found.retain(|path| !plain.contains(path) && taken.insert(path.clone()));
                found
            } else {
                vec![path.clone()]
            };
            for path in found {
                if self.reader.is_own_output(&path, item.place)? {
                    is_there = true;
                } else if let Some(tree) = self.reader.values(&path)? {
                    overrides.push(Override::Values(tree));
                    is_there = true;
                }
            }
            if !is_there && !ignores_missing {
                let named = item.text(&[]).unwrap_or_default();
                return Err(self.reader.missing_file(named, path, item.place));
            }
        }
        Ok(overrides)
    }

    /// The path of a file beside the chart, below the repository's root, or in another source; none if it is not in this repository.
    fn file(&self, written: &str, place: Place) -> Result<Option<PathBuf>, ReadError> {
        let reference = written
            .strip_prefix('$')
            .filter(|rest| !is_of_environment(rest));
        let rest = match reference {
            Some(rest) => {
                let (name, path) = rest.split_once('/').unwrap_or((rest, ""));
                let mut sources = self.sources.iter();
                match sources.find(|source| source.text(&["ref"]) == Some(name)) {
                    Some(source) if self.reader.repositories.is_other(source) => return Ok(None),
                    Some(_) => path,
                    None => {
                        let message = format!("no source has `ref: {name}`");
                        return Err(self.reader.refusal(message, place));
                    }
                }
            }
            None => written,
        };
        let named = &*self.environment.fill(self.reader, rest, place)?;
        let (from, path) = if reference.is_some() {
            (PathBuf::new(), named)
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
        let outside = || format!("`{named}` lies outside of the repository");
        let path = resolve_path(&from, path);
        path.map(Some)
            .ok_or_else(|| self.reader.refusal(outside(), place))
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
                let written = parameter.text(&["value"]).unwrap_or_default();
                let place = parameter.place_at(&["value"]);
                let filled = self.environment.fill(self.reader, written, place)?;
                let value_text = with_commas(&filled);
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
                return Err(self.reader.missing_file(named, &path, parameter.place));
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
        let name = self.chart_name().to_owned();
        self.composition.add_missing("HelmChart", &name, key, place);
    }
}

/// Whether what follows a `$` is a variable of the build environment, and no other source.
fn is_of_environment(text: &str) -> bool {
    ["{", "ARGOCD_", "KUBE_"]
        .iter()
        .any(|begin| text.starts_with(begin))
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
