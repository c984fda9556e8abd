//! Collects the entries of a map while it is parsed: converts keys for JSON, and handles duplicates and `<<`.

use std::sync::Arc;

use crate::model::place::Place;
use crate::model::value::{Entry, Map, Value};

use super::SyntaxError;
use super::compose::{Composed, Composer, Result};
use super::notice::{Notice, NoticeKind, Notices};
use super::resolve;

/// The entries in the order of the file. The last of several equal keys wins, whether it is the map's own or merged.
pub(super) struct Pairs {
    start: usize,
    end: usize,
    height: usize,
    entries: Vec<Pair>,
}

/// An entry, and whether it comes from `<<`.
pub(super) struct Pair {
    pub(super) entry: Entry,
    pub(super) is_merged: bool,
}

impl Pairs {
    pub(super) fn new(start: usize) -> Self {
        Self {
            start,
            end: start,
            height: 0,
            entries: Vec::new(),
        }
    }

    /// Adds an entry, or the entries of the map that `<<` refers to.
    pub(super) fn add(
        &mut self,
        composer: &mut Composer<'_>,
        key: Composed,
        value: Composed,
    ) -> Result<()> {
        self.end = key.used_at.end.max(value.used_at.end) as usize;
        self.height = self.height.max(value.height);
        if key.is_merge {
            return self.merge(&value);
        }
        composer.check_value(&value)?;
        let text = key_text(composer, &key)?;
        composer.note_misreading(&key, Some(&text));
        composer.note_misreading(&value, None);
        self.entries.push(Pair {
            entry: Entry {
                key: text,
                key_place: key.used_at,
                node: value.node,
            },
            is_merged: false,
        });
        Ok(())
    }

    /// Adds the entries of a map, or of a list of maps in which earlier maps win over later ones.
    fn merge(&mut self, value: &Composed) -> Result<()> {
        match &value.node.value {
            Value::Map(map) => self.extend(map),
            Value::List(items) if !value.is_alias => {
                for item in items.iter().rev() {
                    let Value::Map(map) = &item.value else {
                        return Err(not_a_map(item.place));
                    };
                    self.extend(map);
                }
            }
            _ => return Err(not_a_map(value.used_at)),
        }
        Ok(())
    }

    fn extend(&mut self, map: &Map) {
        self.entries.extend(map.iter().map(|entry| Pair {
            entry: entry.clone(),
            is_merged: true,
        }));
    }

    /// Builds the map. `end` is the end of the closing brace, if there is one.
    pub(super) fn finish(self, composer: &mut Composer<'_>, end: Option<usize>) -> Composed {
        let map = unique(self.entries, &mut composer.notices);
        let place = composer.place(self.start, end.unwrap_or(self.end));
        Composed::collection(Value::Map(Arc::new(map)), place, self.height)
    }
}

/// Builds a map from entries in the order of the file. The last of several equal keys wins, and a notice reports it.
pub(super) fn unique(mut entries: Vec<Pair>, notices: &mut Notices) -> Map {
    if !entries.is_sorted_by(|a, b| a.entry.key < b.entry.key) {
        entries.sort_by(|a, b| a.entry.key.cmp(&b.entry.key));
        entries.dedup_by(|later, earlier| {
            let same = later.entry.key == earlier.entry.key;
            if same {
                if let Some(notice) = note_replaced(earlier, later) {
                    notices.push(notice);
                }
                std::mem::swap(later, earlier);
            }
            same
        });
    }
    Map::of_sorted(entries.into_iter().map(|pair| pair.entry).collect())
}

/// The notice for two entries with the same key; none if the earlier one is merged, because overriding it is the purpose of `<<`.
fn note_replaced(earlier: &Pair, later: &Pair) -> Option<Notice> {
    let key = later.entry.key.to_string();
    match (earlier.is_merged, later.is_merged) {
        (false, false) => Some(Notice {
            place: later.entry.key_place,
            kind: NoticeKind::DuplicateKey {
                key,
                first: earlier.entry.key_place,
                same_value: earlier.entry.node.value.same(&later.entry.node.value),
            },
        }),
        (false, true) => Some(Notice {
            place: earlier.entry.key_place,
            kind: NoticeKind::MergeReplaces {
                key,
                merged: later.entry.key_place,
            },
        }),
        (true, _) => None,
    }
}

fn key_text(composer: &Composer<'_>, key: &Composed) -> Result<Arc<str>> {
    let message = match key.scalar {
        Some(resolved) => match resolve::key_text(resolved, &key.node.value) {
            Ok(text) => return Ok(text),
            Err(what) => format!("{what} cannot be a key"),
        },
        None if composer.is_template(key.used_at) => {
            "an expression without quotes is read as a map".to_owned()
        }
        None => format!("{} cannot be a key", key.node.value.kind()),
    };
    Err(SyntaxError::new(message, key.used_at))
}

fn not_a_map(place: Place) -> SyntaxError {
    let message = "`<<` takes a map, or a list of maps".to_owned();
    SyntaxError::new(message, place)
}
