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

    /// A finding about the item of the list there.
    pub(super) fn item_finding(
        &self,
        message: impl Into<String>,
        path: &[&str],
        index: usize,
    ) -> Finding {
        Finding::new(RuleId::ProjectFile, message).with_label(self.item(path, index), "")
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
        let item = self.tree?.get_path(path)?.value.as_list()?.get(index)?;
        let entry = item.value.as_map()?.entry(key)?;
        Some(Spot::new(self.source?, entry.key_place))
    }

    /// The item of the list there.
    pub(super) fn item(&self, path: &[&str], index: usize) -> Option<Spot> {
        self.node_spot(self.tree?.get_path(path)?.value.as_list()?.get(index)?)
    }
}

/// A finding about a pattern that cannot be read.
pub(super) fn bad_pattern(text: &str, why: &str) -> Finding {
    Finding::new(
        RuleId::ProjectFile,
        format!("`{text}` is not a pattern: {why}"),
    )
    .help("`*` matches any letters of one name, `**` for names and slashes")
}
