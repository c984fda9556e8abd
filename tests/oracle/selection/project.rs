//! The fixture's clusters as projects, one for each catalog, read and resolved the way every command does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use capi::image::Image;
use metalmark::catalog::resolve::{self, Catalogs};
use metalmark::catalog::sources;
use metalmark::decide::matching::PatternCache;
use metalmark::evaluate::TemplateCache;
use metalmark::model::cluster_view::ClusterView;
use metalmark::model::date::Date;
use metalmark::model::finding::Judged;
use metalmark::model::rule::Level;
use metalmark::model::selection::Outcome;
use metalmark::model::selector::{Library, Matching};
use metalmark::model::settings::Settings;
use metalmark::pipeline::check;
use metalmark::read::{self, Request};
use serde_json::{Value, json};

use super::verdict::Mode;
use crate::oracle::cases;
use crate::support::stage::project;

/// One cluster: its line of the fixture and metalmark's answers.
pub(super) struct Cluster {
    pub(super) id: String,
    pub(super) catalog: String,
    /// Its line.
    pub(super) case: Value,
    /// The references of its images: its own, or its catalog's.
    pub(super) images: Value,
    answers: Answers,
}

struct Answers {
    exact: Answer,
    normalized: Answer,
    /// In exact mode, as sylva-library 0.3.5 matches.
    older: Answer,
    /// The findings at error level with the default mode: each one's rule, and its pool where it has one.
    errors: Vec<(&'static str, Option<String>)>,
}

impl Cluster {
    /// What metalmark makes of it in a mode.
    pub(super) fn answer(&self, mode: Mode) -> &Answer {
        match mode {
            Mode::Exact => &self.answers.exact,
            Mode::Normalized => &self.answers.normalized,
        }
    }

    /// What metalmark makes of it in exact mode as sylva-library 0.3.5 matches.
    pub(super) fn older_answer(&self) -> &Answer {
        &self.answers.older
    }

    /// Whether one of these rules has an error for that pool, or for the whole cluster.
    pub(super) fn refuses(&self, rules: &[&str], pool: &str) -> bool {
        let is_of = |of: &Option<String>| of.as_deref().is_none_or(|of| of == pool);
        let mut errors = self.answers.errors.iter();
        errors.any(|(rule, of)| rules.contains(rule) && is_of(of))
    }

    /// Whether its values name the infrastructure provider.
    pub(super) fn has_provider(&self) -> bool {
        let values = &self.case["values"];
        !values["cluster"]["capi_providers"]["infra_provider"].is_null()
    }

    /// Whether one level has both names of the image's key, and Sylva's own is null or false.
    pub(super) fn has_both_names_of_the_key(&self) -> bool {
        has(&self.case["values"]["cluster"], &|level| {
            let empty = level.get("image_key");
            empty.is_some_and(|key| key.is_null() || key == false)
                && !level["os_image_key"].is_null()
        })
    }

    /// Whether a selector has a pattern for Kubernetes versions that is more than one version.
    pub(super) fn has_version_pattern(&self) -> bool {
        has(&self.case["values"]["cluster"], &|selector| {
            let version = selector["k8s-version"].as_str();
            version.is_some_and(|version| version.contains(['(', '|', '?', '*', '[']))
        })
    }

    /// The library's answers that a mode is compared with.
    pub(super) fn recorded(&self, mode: Mode) -> Value {
        match mode {
            Mode::Exact => self.case["answers"].clone(),
            Mode::Normalized => self.recorded_by("normalized"),
        }
    }

    /// Answers of another version of the library, or to another question: those that differ are recorded.
    pub(super) fn recorded_by(&self, name: &str) -> Value {
        let mut answers = self.case["answers"].clone();
        for (key, differs) in self.case[name].as_object().into_iter().flatten() {
            answers[key.as_str()] = differs.clone();
        }
        answers
    }
}

/// What metalmark makes of one cluster in one mode.
pub(super) struct Answer {
    /// Each pool with its outcome.
    pub(super) pools: BTreeMap<String, Outcome>,
    /// The pools whose outcome is another one in the other mode.
    pub(super) differs: BTreeSet<String>,
    /// The images that are served.
    pub(super) served: Vec<String>,
    /// The reference of each image, in the words of the catalog: by artifact.
    pub(super) images: BTreeMap<String, Option<String>>,
}

/// Every cluster of the fixture with its answers.
pub(super) fn clusters() -> Vec<Cluster> {
    let (catalogs, clusters): (Vec<Value>, Vec<Value>) = cases("selection.jsonl")
        .into_iter()
        .partition(|line| line["id"].is_null());
    let mut by_catalog: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for case in clusters {
        by_catalog
            .entry(text(&case["catalog"]))
            .or_default()
            .push(case);
    }
    let of_catalog = |catalog: &Value| {
        let cases = by_catalog.get(&text(&catalog["catalog"]));
        of_catalog(catalog, cases.map_or(&[][..], Vec::as_slice))
    };
    let used = |catalog: &&Value| by_catalog.contains_key(&text(&catalog["catalog"]));
    catalogs.iter().filter(used).flat_map(of_catalog).collect()
}

fn of_catalog(catalog: &Value, cases: &[Value]) -> Vec<Cluster> {
    let stage = project();
    let write = |name: &str, value: &Value| {
        stage.write(name, value.to_string());
    };
    let entry = |case: &Value| {
        let name = text(&case["id"]);
        let file = format!("{name}.yaml");
        write(&file, &case["values"]);
        json!({"name": name, "values": [file]})
    };
    let entries: Vec<Value> = cases.iter().map(entry).collect();
    let facts = if catalog["info"].is_null() {
        json!([])
    } else {
        json!(["info.yaml"])
    };
    write("catalog.yaml", &catalog["values"]);
    write("info.yaml", &json!({"os_images": catalog["info"]}));
    let file = json!({"version": 1, "values": ["catalog.yaml"], "clusters": entries, "images": {"facts": facts}});
    write("metalmark.yaml", &file);
    let answers = answers(stage.path());
    let cluster = |(case, answers): (&Value, Answers)| Cluster {
        id: text(&case["id"]),
        catalog: text(&case["catalog"]),
        case: case.clone(),
        images: if case["images"].is_null() {
            catalog
        } else {
            case
        }["images"]
            .clone(),
        answers,
    };
    cases.iter().zip(answers).map(cluster).collect()
}

/// The answers to each cluster of a project, in its order.
fn answers(folder: &Path) -> Vec<Answers> {
    let request = Request {
        directory: Some(folder.to_owned()),
        ..Request::default()
    };
    let workspace = read::workspace(&request).expect("a project");
    assert!(workspace.findings.is_empty(), "{:?}", workspace.findings);
    let templates = TemplateCache::default();
    let shared = read::read_shared_catalog(&workspace, &templates);
    let platform = &workspace.settings.registries.platform;
    let (files, mut found) = (&*workspace.files, Vec::new());
    let facts = sources::facts(folder, files, &workspace.facts, platform, &mut found);
    let facts = facts.expect("the facts are there");
    let (catalogs, patterns) = (
        Catalogs::new(facts, Default::default()),
        PatternCache::default(),
    );
    let modes = [Matching::Exact, Matching::Normalized].map(|matching| Settings {
        matching,
        ..workspace.settings.clone()
    });
    let answers = workspace.clusters.iter().map(|entry| {
        let read = read::cluster(&workspace, entry, &shared, &templates).expect("it is read");
        let views = modes.each_ref().map(|settings| {
            let view = resolve::cluster(read.clone(), &catalogs, settings, &patterns);
            view.expect("it is resolved")
        });
        let mut older = read;
        older.cluster.library = Library::WithoutRegistries;
        let older = resolve::cluster(older, &catalogs, &modes[0], &patterns);
        let today = Date::parse("2026-01-01").expect("a date");
        let judged = check::cluster(&views[1], &modes[1], today).findings;
        let error = |judged: &Judged| judged.level == Level::Error;
        let errors = judged.into_iter().filter(error);
        let errors =
            errors.map(|judged| (judged.finding.rule.as_str(), judged.finding.subject.pool));
        Answers {
            exact: answer(&views[0]),
            normalized: answer(&views[1]),
            older: answer(&older.expect("it is resolved")),
            errors: errors.collect(),
        }
    });
    answers.collect()
}

fn answer(view: &ClusterView) -> Answer {
    let pools = view.cluster.pools.iter().zip(&view.selections);
    let reference = |image: &Image| image.uri.as_ref().map(|uri| uri.value.to_string());
    let images = view.images.values();
    let differs = pools
        .clone()
        .filter(|(_, selection)| selection.other_mode.is_some());
    Answer {
        differs: differs.map(|(pool, _)| pool.name.to_string()).collect(),
        pools: pools
            .map(|(pool, selection)| (pool.name.to_string(), selection.outcome.clone()))
            .collect(),
        served: view.served.iter().map(ToString::to_string).collect(),
        images: images
            .map(|image| (image.artifact.to_string(), reference(image)))
            .collect(),
    }
}

/// Whether that is so of a map of the values.
fn has(values: &Value, is_so: &dyn Fn(&Value) -> bool) -> bool {
    let Some(map) = values.as_object() else {
        return false;
    };
    is_so(values) || map.values().any(|value| has(value, is_so))
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}
