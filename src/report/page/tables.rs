//! What rows share, stored once: texts and places are numbers in every row.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use serde::Serialize;

/// Numbers values in the order in which they are first seen.
pub(super) struct Ids<T> {
    ids: HashMap<T, u32>,
}

impl<T> Default for Ids<T> {
    fn default() -> Self {
        Self {
            ids: HashMap::new(),
        }
    }
}

impl<T: Eq + Hash> Ids<T> {
    /// The number of a value.
    pub(super) fn id(&mut self, value: T) -> u32 {
        let next = self.ids.len() as u32;
        *self.ids.entry(value).or_insert(next)
    }

    /// The values in the order of their numbers.
    pub(super) fn values(&self) -> Vec<&T> {
        let mut values: Vec<(&T, &u32)> = self.ids.iter().collect();
        values.sort_unstable_by_key(|(_, id)| **id);
        values.into_iter().map(|(value, _)| value).collect()
    }
}

/// A place in a file of a cluster: the file's number in the cluster's list from 1, line and column. Zeros where there is none.
/// Clusters whose files are alike share it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub(super) struct Site(pub(super) u32, pub(super) u32, pub(super) u32);

/// The texts and places of a page. Number 0 is no text, and no place.
pub(super) struct Tables {
    texts: Ids<Arc<str>>,
    sites: Ids<Site>,
}

impl Default for Tables {
    fn default() -> Self {
        let mut tables = Self {
            texts: Ids::default(),
            sites: Ids::default(),
        };
        tables.text("");
        tables.site(Site::default());
        tables
    }
}

impl Tables {
    /// The number of a text.
    pub(super) fn text(&mut self, text: &str) -> u32 {
        match self.texts.ids.get(text) {
            Some(id) => *id,
            None => self.texts.id(text.into()),
        }
    }

    /// The number of a text, 0 where there is none.
    pub(super) fn optional(&mut self, text: Option<&str>) -> u32 {
        text.map_or(0, |text| self.text(text))
    }

    /// The number of a place.
    pub(super) fn site(&mut self, site: Site) -> u32 {
        self.sites.id(site)
    }

    /// All texts.
    pub(super) fn texts(&self) -> Vec<&str> {
        self.texts
            .values()
            .into_iter()
            .map(|text| &**text)
            .collect()
    }

    /// All places.
    pub(super) fn sites(&self) -> Vec<Site> {
        self.sites.values().into_iter().copied().collect()
    }
}

/// Whether a number refers to nothing: such fields are left out.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
pub(super) fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::{Site, Tables};

    #[test]
    fn a_text_and_a_place_are_stored_once() {
        let mut tables = Tables::default();
        let first = (tables.text("a"), tables.site(Site(1, 2, 3)));
        assert_eq!((tables.text("b"), tables.optional(None)), (2, 0));
        assert_eq!((tables.text("a"), tables.site(Site(1, 2, 3))), first);
        assert_eq!(tables.texts(), ["", "a", "b"]);
        assert_eq!(tables.sites(), [Site(0, 0, 0), Site(1, 2, 3)]);
    }
}
