//! What of a side is not read, so that nobody knows what it deploys.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use oci_artifacts::sha256;

use crate::model::cluster_view::ClusterView;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::read::{Delivery, Workspace};

/// The rules for what is not read.
const READING: [RuleId; 5] = [
    RuleId::CompositionFailed,
    RuleId::CompositionUnsupported,
    RuleId::ExpressionError,
    RuleId::ProjectFile,
    RuleId::YamlSyntax,
];

/// What of a side is not read.
pub(super) struct Unread {
    /// A digest of its content, by what it is called.
    contents: BTreeMap<String, Vec<u8>>,
    /// The files in which something is not read.
    paths: BTreeSet<Arc<str>>,
}

/// One that is another one on the other side, or is there alone.
pub(super) struct UnreadDifference {
    pub(super) note: String,
    /// Whether it is on the later side.
    pub(super) is_there: bool,
}

impl Unread {
    pub(super) fn new(workspace: &Workspace, delivery: &Delivery) -> Self {
        let mut found = Self {
            contents: BTreeMap::new(),
            paths: BTreeSet::new(),
        };
        // What composes a cluster is read as values.
        let layers = workspace
            .clusters
            .iter()
            .filter_map(|entry| entry.layers.last());
        let own = layers.flat_map(|layer| delivery.find_declared(&delivery.path(layer)));
        let own: BTreeSet<&str> = own.map(|one| &*one.title).collect();
        let unseen = delivery.unseen().iter();
        for (name, known) in unseen.filter(|(name, _)| !own.contains(&***name)) {
            let content = known.clone().into_bytes();
            found.contents.insert(name.clone(), content);
        }
        for (path, digest) in workspace.digests() {
            let path = path.to_string_lossy();
            found.contents.insert(format!("`{path}`"), digest);
            found.paths.insert(path.into());
        }
        let findings = workspace.findings.iter();
        for finding in findings.filter(|finding| READING.contains(&finding.rule)) {
            let sources = finding.labels.iter().map(|label| &label.spot.source);
            let texts = sources.clone().map(|source| &*source.text);
            let digest = sha256(texts.collect::<String>().as_bytes());
            found.contents.insert(name(finding), digest.to_vec());
            found
                .paths
                .extend(sources.map(|source| Arc::clone(&source.path)));
        }
        found
    }

    pub(super) fn count(&self) -> usize {
        self.contents.len()
    }

    /// What is not read, and is not the same on both sides.
    pub(super) fn compare(&self, after: &Self) -> Vec<UnreadDifference> {
        let names = self.contents.keys().chain(after.contents.keys());
        let names: BTreeSet<&String> = names.collect();
        let differs = |name: &&String| self.contents.get(*name) != after.contents.get(*name);
        let differing = names.into_iter().filter(differs);
        let difference = |name: &String| {
            let is_there = after.contents.contains_key(name);
            let what = match (self.contents.contains_key(name), is_there) {
                (true, true) => "changes",
                (true, false) => "was there before",
                (false, _) => "is new",
            };
            UnreadDifference {
                note: format!("not known, because it is not read: {name}, which {what}"),
                is_there,
            }
        };
        differing.map(difference).collect()
    }

    /// Whether a cluster of the other side may have been here: a file of it is not read.
    pub(super) fn has_source_of(&self, view: &ClusterView) -> bool {
        let mut sources = view.sources.all();
        sources.any(|source| self.paths.contains(&source.path))
    }
}

/// Whether a part of a cluster is not read.
pub(super) fn has_failed(view: &ClusterView) -> bool {
    let is_failure = |finding: &Finding| READING.contains(&finding.rule);
    view.findings.iter().any(is_failure)
}

/// The texts of the files of a cluster.
pub(super) fn texts(view: &ClusterView) -> BTreeSet<(Arc<str>, String)> {
    let sources = view.sources.all();
    sources
        .map(|source| (Arc::clone(&source.path), source.text.clone()))
        .collect()
}

fn name(finding: &Finding) -> String {
    let path = finding.labels.first().map(|label| &label.spot.source.path);
    match path {
        Some(path) => format!("`{path}` ({})", finding.message),
        None => finding.message.clone(),
    }
}
