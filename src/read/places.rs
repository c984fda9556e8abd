//! Places in the project file, for findings about it.

use std::sync::Arc;

use yaml_tree::place::{Source, Spot};
use yaml_tree::value::Node;

use crate::model::finding::Finding;
use crate::model::rule::RuleId;

/// Finds the place of a path of keys in the project file.
pub(super) struct Places<'a> {
    /// The file's tree; none without a project file.
    pub(super) tree: Option<&'a Node>,
    /// The file.
    pub(super) source: Option<&'a Arc<Source>>,
}

impl Places<'_> {
    /// The place of the value of a path.
    pub(super) fn spot(&self, path: &[&str]) -> Option<Spot> {
        self.node_spot(self.tree?.get_path(path)?)
    }

    fn node_spot(&self, node: &Node) -> Option<Spot> {
        Some(Spot::new(self.source?, node.place))
    }

    /// A finding about the value of a path.
    pub(super) fn finding(&self, message: impl Into<String>, path: &[&str]) -> Finding {
        Finding::new(RuleId::ProjectFile, message).with_label(self.spot(path), "")
    }

    /// The place of a word in the file, quoted or not: for names that no path leads to.
    pub(super) fn word(&self, word: &str) -> Option<Spot> {
        let source = self.source?;
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
        let is_separate = |start: &usize| {
            let (before, after) = (&source.text[..*start], &source.text[start + word.len()..]);
            !before.ends_with(is_part) && !after.starts_with(is_part)
        };
        let mut found = source.text.match_indices(word).map(|(start, _)| start);
        let start = found.find(is_separate)? as u32;
        Some(Spot::from_range(source, start, start + word.len() as u32))
    }

    /// The key of a map that is an item of the list there.
    pub(super) fn key_of_item(&self, path: &[&str], index: usize, key: &str) -> Option<Spot> {
        self.key_spot(self.tree?.get_path(path)?.value.as_list()?.get(index)?, key)
    }

    /// The key of the map there.
    pub(super) fn key(&self, path: &[&str], key: &str) -> Option<Spot> {
        self.key_spot(self.tree?.get_path(path)?, key)
    }

    fn key_spot(&self, map: &Node, key: &str) -> Option<Spot> {
        let entry = map.value.as_map()?.entry(key)?;
        Some(Spot::new(self.source?, entry.key_place))
    }

    /// The item of the list there.
    pub(super) fn item(&self, path: &[&str], index: usize) -> Option<Spot> {
        self.node_spot(self.tree?.get_path(path)?.value.as_list()?.get(index)?)
    }
}

/// Collects what is wrong with the project file, with its places.
pub(super) struct Problems<'a> {
    pub(super) places: &'a Places<'a>,
    pub(super) findings: &'a mut Vec<Finding>,
}

impl Problems<'_> {
    /// Reports the value of a path.
    pub(super) fn refuse(
        &mut self,
        message: impl Into<String>,
        path: &[&str],
        help: impl Into<String>,
    ) {
        self.refuse_at(message, self.places.spot(path), help);
    }

    /// Reports what is at a place.
    pub(super) fn refuse_at(
        &mut self,
        message: impl Into<String>,
        spot: Option<Spot>,
        help: impl Into<String>,
    ) {
        let finding = Finding::new(RuleId::ProjectFile, message).with_label(spot, "");
        self.findings.push(finding.help(help));
    }

    /// Reports a pattern that cannot be read.
    pub(super) fn refuse_pattern(&mut self, text: &str, why: &str, spot: Option<Spot>) {
        let help = "`*` matches any letters of one name, `**` for names and slashes";
        self.refuse_at(format!("`{text}` is not a pattern: {why}"), spot, help);
    }

    /// Reports a text that is no start of references.
    pub(super) fn refuse_prefix(&mut self, text: &str, spot: Option<Spot>, help: &str) {
        let message = format!("`{text}` is not a registry, nor a prefix of repositories in one");
        self.refuse_at(message, spot, help);
    }
}

/// How a prefix is written.
pub(super) const PREFIX: &str = "write a host, its port if it has one, and a path in small letters: `registry.example:5000/group`";
