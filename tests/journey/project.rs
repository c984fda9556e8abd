//! A project folder of the journey: what metalmark is run with, what it reports, and what it writes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Deref;
use std::path::PathBuf;

use serde_json::Value;
use yaml_tree::engine::Engine;
use yaml_tree::json::{Html, to_json};
use yaml_tree::place::FileId;

use crate::support::Outcome;
use crate::support::stage::{self, Stage};

/// The version of the image builder that the journey starts with, and the next one.
pub(super) const BEFORE: &str = "0.4.12";
pub(super) const AFTER: &str = "0.4.13";

pub(super) struct Project(Stage);

impl Deref for Project {
    type Target = Stage;

    fn deref(&self) -> &Stage {
        &self.0
    }
}

/// What metalmark reports: each pool's image as key, reference and sha256, and the keys that the server serves.
#[derive(Debug, PartialEq)]
pub(super) struct Reported {
    pub(super) pools: BTreeMap<String, [String; 3]>,
    pub(super) served: BTreeSet<String>,
}

impl Project {
    /// An empty project.
    pub(super) fn new() -> Self {
        Self(stage::project())
    }

    /// A copy of a folder of the repository.
    pub(super) fn copy(folder: &str) -> Self {
        Self(stage::project().folder(folder))
    }

    pub(super) fn run(&self, words: &str) -> Outcome {
        self.0.run(words).outcome
    }

    /// Runs it and requires success.
    pub(super) fn succeeds(&self, words: &str) -> Outcome {
        self.0.run(words).exit(0).outcome
    }

    /// `init`, and then the one edit that the journey needs: the outputs.
    pub(super) fn init(&self, outputs: &str) -> Outcome {
        let outcome = self.succeeds("init");
        self.outputs(outputs);
        outcome
    }

    /// Replaces the outputs of the project file.
    pub(super) fn outputs(&self, outputs: &str) {
        let text = self.read("metalmark.yaml");
        let (before, _) = text.split_once("outputs:").expect("outputs");
        self.write("metalmark.yaml", format!("{before}outputs: {outputs}\n"));
    }

    pub(super) fn json(&self, words: &str) -> Value {
        let outcome = self.run(&format!("{words} --output json"));
        serde_json::from_str(&outcome.stdout)
            .unwrap_or_else(|error| panic!("{words}: {error}: {}", outcome.stderr))
    }

    pub(super) fn reported(&self) -> Reported {
        let listed = self.json("images");
        let (mut pools, mut served) = (BTreeMap::new(), BTreeSet::new());
        for image in listed.as_array().expect("a list") {
            let text = |field: &Value| field.as_str().unwrap_or("unknown").to_owned();
            let facts = &image["facts"];
            let known = [&image["key"], &image["uri"], &facts["sha256"]].map(text);
            for pool in image["used_by"].as_array().expect("a list") {
                let earlier = pools.insert(text(pool), known.clone());
                assert_eq!(earlier, None, "{pool} has two images");
            }
            if image["served"] == true {
                served.insert(text(&image["key"]));
            }
        }
        Reported { pools, served }
    }

    /// The Kubernetes version that metalmark reports for a cluster's pools.
    pub(super) fn k8s_version(&self, cluster: &str) -> String {
        let pools = self.json(&format!("explain {cluster}"));
        let versions: BTreeSet<&str> = pools
            .as_array()
            .expect("a list")
            .iter()
            .map(|pool| pool["k8s_version"]["value"].as_str().unwrap_or("unknown"))
            .collect();
        Vec::from_iter(versions).join(" ")
    }

    /// The values of a YAML file as JSON.
    pub(super) fn values(&self, path: &str) -> Value {
        parsed(&self.read(path))
    }

    /// What the overlay sets below `cluster`, one `path=value` per leaf.
    pub(super) fn pins(&self, path: &str) -> Vec<String> {
        let mut leaves = Vec::new();
        flatten("cluster", &self.values(path)["cluster"], &mut leaves);
        leaves
    }

    /// The text of each file below a folder.
    pub(super) fn files(&self, folder: &str) -> BTreeMap<PathBuf, String> {
        let entries = walkdir::WalkDir::new(self.path().join(folder)).into_iter();
        entries
            .map(|entry| entry.expect("readable"))
            .filter(|entry| entry.file_type().is_file())
            .map(|entry| {
                let path = entry.path().strip_prefix(self.path()).expect("below");
                let text = fs::read_to_string(entry.path()).expect("text");
                (path.to_owned(), text)
            })
            .collect()
    }

    /// The files that are not what they were, of every file of the project.
    pub(super) fn changed_since(&self, before: &BTreeMap<PathBuf, String>) -> Vec<String> {
        let after = self.files("");
        let paths: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
        let differing = paths
            .into_iter()
            .filter(|path| before.get(*path) != after.get(*path));
        differing
            .map(|path| path.to_string_lossy().into_owned())
            .collect()
    }
}

/// A YAML text as JSON, read as Helm reads it.
pub(super) fn parsed(text: &str) -> Value {
    let node = yaml_tree::values(text, FileId(0), Engine::Helm3).expect("YAML");
    serde_json::from_str(&to_json(&node.value, Html::Plain)).expect("JSON")
}

fn flatten(path: &str, value: &Value, leaves: &mut Vec<String>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, below) in map {
                flatten(&format!("{path}.{key}"), below, leaves);
            }
        }
        Value::String(text) => leaves.push(format!("{path}={text}")),
        other => leaves.push(format!("{path}={other}")),
    }
}
