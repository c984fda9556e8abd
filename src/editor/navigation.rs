//! From a choice to its image and back, from a reference to its template, from a value to the layer that sets it.

use std::sync::Arc;

use lsp_types::{Location, Position, Range};

use crate::error::Error;
use crate::model::place::{FileId, Place, Spot};
use crate::model::value::{Node, Value};
use crate::read;
use crate::yaml;

use super::answers::Answers;
use super::marks::{Mark, PoolMark};
use super::position::Lines;

impl Answers<'_> {
    /// The byte at a position.
    pub(super) fn offset(&self, position: Position) -> usize {
        Lines::new(self.text, self.encoding).offset(position)
    }

    /// Where what is at a byte is defined: the image that a pool chooses, the template that it refers to, the layer that sets a
    /// value.
    ///
    /// # Errors
    /// A file cannot be read any more.
    pub(super) fn definition(&self, offset: usize) -> Result<Vec<Location>, Error> {
        let (marks, _) = self.marks(offset);
        let index = &self.analysis.index;
        let mut found: Vec<Spot> = Vec::new();
        for mark in &marks {
            match mark {
                Mark::Choice(pool) => {
                    let key = index.pools[*pool].key.as_deref();
                    found.extend(key.into_iter().flat_map(|key| index.images(key)));
                }
                Mark::Template(pool) => found.extend(index.pools[*pool].template.clone()),
                Mark::Pool(pool) => found.extend(index.pools[*pool].choices.first().cloned()),
                Mark::Version(_) | Mark::Image(_) => {}
            }
        }
        let word = self.word(offset);
        if found.is_empty() {
            found.extend(index.images(word));
        }
        if found.is_empty() {
            found.extend(self.set_by(offset)?);
        }
        Ok(self.locations(found))
    }

    /// What refers to what is at a byte: the pools that boot an image, those that refer to a template.
    pub(super) fn references(&self, offset: usize, with_definition: bool) -> Vec<Location> {
        let (marks, _) = self.marks(offset);
        let index = &self.analysis.index;
        let mut keys: Vec<&str> = Vec::new();
        let mut found: Vec<Spot> = Vec::new();
        for mark in marks {
            match mark {
                Mark::Image(key) => keys.push(key),
                Mark::Choice(pool) | Mark::Pool(pool) => {
                    keys.extend(index.pools[*pool].key.as_deref());
                }
                Mark::Template(pool) => found.extend(self.referring(*pool)),
                Mark::Version(_) => {}
            }
        }
        if keys.is_empty() && found.is_empty() {
            keys.push(self.word(offset));
        }
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            let first = |pool: &PoolMark| pool.choices.first().cloned();
            found.extend(index.booting(key).filter_map(first));
            if with_definition {
                found.extend(index.images(key));
            }
        }
        self.locations(found)
    }

    /// Every reference to the machine template of a pool.
    fn referring(&self, pool: usize) -> Vec<Spot> {
        let index = &self.analysis.index;
        let Some(wanted) = &index.pools[pool].template else {
            return Vec::new();
        };
        let is_same = |number: &usize| index.pools[*number].template.as_ref() == Some(wanted);
        let mut found = Vec::new();
        for file in index.files.values() {
            for (bytes, mark) in file.all() {
                let spot = Spot::at(&file.source, bytes.start as u32, bytes.end as u32);
                let refers = matches!(mark, Mark::Template(number) if is_same(number));
                if refers && spot != *wanted {
                    found.push(spot);
                }
            }
        }
        found
    }

    /// Where the value at the key under a byte is set for the document's cluster: in the strongest layer that sets it.
    fn set_by(&self, offset: usize) -> Result<Option<Spot>, Error> {
        let clusters = self.analysis.clusters();
        let (Some(path), Some(entry)) = (self.value_path(offset), clusters.get(self.cluster()))
        else {
            return Ok(None);
        };
        let values = read::values(&self.analysis.workspace, entry)?;
        let mut node = &values.tree;
        for key in &path {
            let next = match &node.value {
                Value::Map(map) => map.get(key),
                _ => None,
            };
            let Some(next) = next else {
                return Ok(None);
            };
            node = next;
        }
        Ok(values.sources.resolve(node.place))
    }

    /// The keys from the root of a values file to the entry at a byte.
    fn value_path(&self, offset: usize) -> Option<Vec<String>> {
        let engine = self.analysis.workspace.engine;
        let documents = yaml::read(self.text, FileId(0), engine).ok()?;
        let mut path = Vec::new();
        documents
            .documents
            .iter()
            .find(|root| inner(root, offset, &mut path))?;
        Some(path)
    }

    /// Places as the protocol has them, each once.
    fn locations(&self, mut spots: Vec<Spot>) -> Vec<Location> {
        let order = |spot: &Spot| (Arc::clone(&spot.source.path), spot.start);
        spots.sort_by_key(order);
        spots.dedup();
        let locations = spots.iter().filter_map(|spot| self.location(spot));
        locations.collect()
    }
}

/// Whether a byte is at a key or a value of this tree; the keys to it are added to the path.
fn inner(node: &Node, offset: usize, path: &mut Vec<String>) -> bool {
    let has = |place: Place| place.start as usize <= offset && offset <= place.end as usize;
    let Value::Map(map) = &node.value else {
        return has(node.place);
    };
    for entry in map.iter() {
        path.push(entry.key.to_string());
        if has(entry.key_place) || inner(&entry.node, offset, path) {
            return true;
        }
        path.pop();
    }
    false
}

/// Whether two ranges have a position in common.
pub(super) fn meet(a: Range, b: Range) -> bool {
    a.start <= b.end && b.start <= a.end
}
