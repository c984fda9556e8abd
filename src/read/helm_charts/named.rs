//! Which files name a chart, so that something deploys it, whether it can be composed here or not: a HelmRelease, an Application or an
//! ApplicationSet, kustomize's `helmCharts`, a helmfile, Fleet's `fleet.yaml` beside it, and whatever else has a key `chart` or `path`
//! with the chart's folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capi::secrets;
use yaml_tree::place::{Place, Sources};

use crate::error::Error;
use crate::files::{Files, Found};
use crate::model::pattern::Pattern;

use super::super::expressions::{ACTIONS, blank_expressions};
use super::super::files::display;
use super::super::gitops::{Composition, Deploying, Inflation, resolve_path};

/// The keys of the folder of a chart.
const KEYS: [&str; 3] = ["chart", "path", "chartPath"];

/// What Fleet reads of the folder that it deploys (<https://fleet.rancher.io/ref-fleet-yaml>), and its keys that set a chart's values.
const FLEET: &str = "fleet.yaml";
const FLEET_KEYS: [&str; 2] = ["helm", "targetCustomizations"];

/// The letter for what is computed: no text of YAML has it.
const COMPUTED: char = '\u{1}';

/// What kustomize calls charts.
const INFLATED: [&str; 2] = ["helmCharts", "elmChartInflationGenerator"];

/// Where a file names a chart.
pub(super) struct Naming<'c> {
    pub(super) place: Place,
    /// What does not compose there; none where nothing was tried.
    pub(super) failed: Option<&'c Composition>,
}

/// Where these files name charts, by the chart's folder. What composes there is left out, and what a kustomization renders.
///
/// # Errors
/// A file cannot be read.
pub(super) fn namings<'c>(
    tree: &dyn Files,
    files: &BTreeSet<PathBuf>,
    charts: &[&Path],
    compositions: &'c [Composition],
    inflations: &BTreeSet<Inflation>,
    sources: &mut Sources,
) -> Result<BTreeMap<PathBuf, Vec<Naming<'c>>>, Error> {
    let mut composed: BTreeMap<Arc<str>, Vec<&Composition>> = BTreeMap::new();
    for composition in compositions {
        if let Some(source) = sources.get(composition.place.file) {
            let path = Arc::clone(&source.path);
            composed.entry(path).or_default().push(composition);
        }
    }
    let mut found: BTreeMap<PathBuf, Vec<Naming<'c>>> = BTreeMap::new();
    for file in files {
        let content = match tree.file(file) {
            Ok(Found::File(content)) => content,
            Ok(_) | Err(Error::Pointer { .. }) => continue,
            Err(error) => return Err(error),
        };
        let Some(Ok(text)) = content.plain().map(std::str::from_utf8) else {
            continue;
        };
        let shown = display(file);
        let here = composed.get(&*shown).map_or(&[][..], |all| all);
        let folder = file.parent().unwrap_or(Path::new(""));
        let mut id = None;
        for (start, document) in documents(text) {
            let is_inside = |one: &&&Composition| {
                let at = one.place.start as usize;
                (start..start + document.len()).contains(&at)
            };
            let inside: Vec<_> = here.iter().filter(is_inside).collect();
            let failed = inside.iter().find(|one| is_unknown(one)).map(|one| **one);
            if failed.is_none() && !inside.is_empty() {
                continue;
            }
            let is_unknown = failed.is_some() || may_deploy_any(document);
            let mut named = find_names(document, folder, is_unknown);
            if file.ends_with(FLEET) {
                named.extend(find_fleet(document, folder));
            }
            let is_other = |chart: &&&Path| {
                let is_inflation = |one: &Inflation| *one.file == *shown && one.chart == **chart;
                !is_of_chart(file, chart) && !inflations.iter().any(is_inflation)
            };
            for chart in charts.iter().filter(is_other) {
                let Some(named) = named.iter().find(|named| named.is(chart)) else {
                    continue;
                };
                let file = *id
                    .get_or_insert_with(|| sources.add(Arc::new(secrets::source(&*shown, text))));
                let at = start + named.start;
                let place = Place::new(file, at..at + named.length);
                let all = found.entry((*chart).to_owned()).or_default();
                all.push(Naming { place, failed });
            }
        }
    }
    Ok(found)
}

/// Whether an object of a document may deploy any chart of the repository, where it computes which one: what sets and templates make is
/// not composed here. One of a Helm repository is none of these.
fn may_deploy_any(document: &str) -> bool {
    let mut kinds = Deploying::KINDS.iter();
    kinds.any(|kind| document.contains(kind)) && !document.contains("HelmRepository")
}

/// Whether a file is read as a part of a chart. What lies beside Chart.yaml may deploy the chart.
fn is_of_chart(file: &Path, chart: &Path) -> bool {
    let Ok(inside) = file.strip_prefix(chart) else {
        return false;
    };
    let name = inside.to_string_lossy();
    name.contains('/') || name.starts_with("values") || name.starts_with("Chart.")
}

/// Where a `fleet.yaml` sets values of the chart that it lies beside.
fn find_fleet(document: &str, folder: &Path) -> Option<Named> {
    let is_key = |line: &str| {
        let key = line.split_once(':').map(|(key, _)| key);
        key.is_some_and(|key| FLEET_KEYS.contains(&key))
    };
    let line = document.lines().find(|line| is_key(line))?;
    Some(Named {
        paths: vec![display(folder)],
        start: line.as_ptr() as usize - document.as_ptr() as usize,
        length: line.find(':')?,
    })
}

/// Whether a release did not compose, and its chart is not known.
fn is_unknown(composition: &Composition) -> bool {
    let is_empty = composition.chart.is_none() && composition.layers.is_empty();
    is_empty && !composition.findings.is_empty()
}

/// The documents of a text, each with its start.
fn documents(text: &str) -> Vec<(usize, &str)> {
    let ends = text.match_indices("\n---").map(|(at, _)| at + 1);
    let bounds: Vec<usize> = [0].into_iter().chain(ends).chain([text.len()]).collect();
    let document = |bounds: &[usize]| (bounds[0], &text[bounds[0]..bounds[1]]);
    bounds.windows(2).map(document).collect()
}

/// What a document names as a chart, or as a folder.
struct Named {
    /// The paths that may be meant, with [`COMPUTED`] for what is computed, and `*` for any name.
    paths: Vec<String>,
    start: usize,
    length: usize,
}

impl Named {
    fn is(&self, chart: &Path) -> bool {
        let is_it = |path: &String| {
            // What is computed may have slashes.
            let is_computed = path.contains(COMPUTED);
            if !is_computed && !path.contains('*') {
                return Path::new(path) == chart;
            }
            let pattern = path.replace(COMPUTED, "*");
            let glob = if is_computed {
                Pattern::parse_across(&pattern)
            } else {
                Pattern::parse(&pattern)
            };
            glob.is_ok_and(|glob| glob.is_match(chart))
        };
        self.paths.iter().any(is_it)
    }
}

/// What a document in a folder names. `is_unknown` means that it may be whatever it computes.
fn find_names(document: &str, folder: &Path, is_unknown: bool) -> Vec<Named> {
    let blank = blank_expressions(document, [ACTIONS, ("${", "}")], |_| COMPUTED);
    let document = blank.as_deref().unwrap_or(document);
    let is_inflated = INFLATED.iter().any(|word| document.contains(word));
    let written: Vec<_> = document.match_indices(':').collect();
    let written = written.iter().filter_map(|(at, _)| value(document, *at));
    let written: Vec<Written<'_>> = written.collect();
    let homes = written.iter().filter(|one| one.key == "chartHome");
    let homes: Vec<&str> = homes.map(|one| one.text).chain(["charts"]).collect();
    let mut found = Vec::new();
    for Written { key, text, start } in written.iter().copied() {
        let mut paths = Vec::new();
        let mut add = |from: &Path, path: &str| {
            let path = resolve_path(from, path.trim_start_matches('/'));
            paths.extend(path.map(|path| display(&path)));
        };
        if key == "name" && is_inflated {
            homes
                .iter()
                .for_each(|home| add(folder, &format!("{home}/{text}")));
        } else if !KEYS.contains(&key) {
            continue;
        } else if text.chars().all(|letter| matches!(letter, COMPUTED | '*')) {
            if is_unknown {
                paths.push(COMPUTED.to_string());
            }
        } else {
            let text = join_computed(text);
            add(Path::new(""), &text);
            if text == "." && key != "path" || text.contains('/') {
                add(folder, &text);
            }
        }
        found.push(Named {
            paths,
            start,
            length: text.len(),
        });
    }
    found
}

/// A text with one letter for what is computed instead of several.
fn join_computed(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter != COMPUTED || !short.ends_with(COMPUTED) {
            short.push(letter);
        }
    }
    short
}

/// A value that is on the line of its key.
#[derive(Clone, Copy)]
struct Written<'d> {
    key: &'d str,
    text: &'d str,
    start: usize,
}

/// The value behind a colon; none in a comment.
fn value(document: &str, colon: usize) -> Option<Written<'_>> {
    const QUOTES: [char; 2] = ['"', '\''];
    let line = document[..colon].rfind('\n').map_or(0, |at| at + 1);
    let before = document[line..colon].trim_end_matches(QUOTES);
    if before.trim_start().starts_with('#') {
        return None;
    }
    let is_word = |letter: char| letter.is_ascii_alphanumeric();
    let key = before.rsplit(|letter| !is_word(letter)).next()?;
    let rest = &document[colon + 1..];
    let text = rest.trim_start_matches([' ', '"', '\'']);
    let start = document.len() - text.len();
    let text = text.split(['\n', '\r', ',', '}', ']', '"', '\'']).next()?;
    let text = text.split(" #").next()?.trim_end();
    let text = text.trim_end_matches('/');
    (!text.is_empty()).then_some(Written { key, text, start })
}
