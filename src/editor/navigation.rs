//! From a choice to its image and back, from a reference to its template, from a value to the layer that sets it.

use std::path::Path;
use std::sync::Arc;

use lsp_types::{Location, Position, Range};
use yaml_tree::Step;
use yaml_tree::place::{FileId, Place, Spot};
use yaml_tree::value::{Node, Value};

use crate::error::Error;
use crate::files::{KUSTOMIZATIONS, plain_path};
use crate::report::values::ValuePath;

use super::answers::{self, Answers};
use super::marks::{Mark, PoolMark};
use super::position::Lines;

impl Answers<'_> {
    /// The byte at a position.
    pub(super) fn offset(&self, position: Position) -> usize {
        Lines::new(self.text, self.encoding).offset(position)
    }

    /// Where what is at a byte is defined: the image that a pool chooses, the template that it refers to, the file whose path is
    /// there, the layer that sets a value.
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
            if let Some(file) = self.file_at(offset) {
                return Ok(vec![file]);
            }
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
                let spot = Spot::from_range(&file.source, bytes.start as u32, bytes.end as u32);
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
        let Some(entry) = self.entry(offset) else {
            return Ok(None);
        };
        let Some((_, values)) = self.values()? else {
            return Ok(None);
        };
        let node = entry.path.get(&values.tree);
        Ok(node.and_then(|node| values.sources.resolve(node.place)))
    }

    /// The file that the text at a byte names by its path from the document's folder, or the kustomization of that folder: what
    /// generators, resources and layers refer to.
    fn file_at(&self, offset: usize) -> Option<Location> {
        let is_part = |letter: char| !letter.is_whitespace() && !"\"'[]{},=".contains(letter);
        let path = Path::new(self.text_around(offset, is_part));
        let path = plain_path(&self.path.parent()?.join(path));
        let files = &*self.analysis.workspace().files;
        let path = if files.is_file(&path) {
            path
        } else {
            let mut names = KUSTOMIZATIONS.iter().map(|name| path.join(name));
            names.find(|path| files.is_file(path))?
        };
        Some(Location {
            uri: answers::uri(&self.analysis.root().join(path))?,
            range: Range::default(),
        })
    }

    /// The entry of a values file at a byte.
    pub(super) fn entry(&self, offset: usize) -> Option<Entry> {
        let mut steps = Vec::new();
        let bytes = inner(&self.root()?, offset, &mut steps)?;
        let path = ValuePath { steps };
        Some(Entry { path, bytes })
    }

    /// The document's root; none where it has several, or is no YAML.
    pub(super) fn root(&self) -> Option<Node> {
        let engine = self.analysis.workspace().engine;
        let documents = yaml_tree::read(self.text, FileId(0), engine)
            .ok()?
            .documents;
        let [root]: [Node; 1] = documents.try_into().ok()?;
        Some(root)
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

/// An entry of a values file.
pub(super) struct Entry {
    /// The keys from the root.
    pub(super) path: ValuePath,
    /// Its key or its value, whichever was meant.
    pub(super) bytes: std::ops::Range<usize>,
}

/// The bytes of the key or value of this tree that a byte is at; the steps to it are added to the path.
fn inner(node: &Node, offset: usize, path: &mut Vec<Step>) -> Option<std::ops::Range<usize>> {
    let at = |place: Place| {
        let bytes = place.start as usize..place.end as usize;
        (bytes.start <= offset && offset <= bytes.end).then_some(bytes)
    };
    let mut below = |step: Step, key: Option<Place>, node: &Node| {
        path.push(step);
        let found = key.and_then(at).or_else(|| inner(node, offset, path));
        if found.is_none() {
            path.pop();
        }
        found
    };
    match &node.value {
        Value::Map(map) => map.iter().find_map(|entry| {
            let step = Step::Key(entry.key.to_string());
            below(step, Some(entry.key_place), &entry.node)
        }),
        Value::List(items) => { items.iter().enumerate() }
            .find_map(|(index, item)| below(Step::Index(index), None, item)),
        _ => at(node.place),
    }
}

/// Whether two ranges have a position in common.
pub(super) fn meet(a: Range, b: Range) -> bool {
    a.start <= b.end && b.start <= a.end
}
