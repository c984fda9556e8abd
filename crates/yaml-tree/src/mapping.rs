//! Collects the entries of a map while it is parsed: converts keys for JSON, and handles duplicates and `<<`.

use std::sync::Arc;

use crate::place::Place;
use crate::value::{Entry, Map, Value, key_order};

use super::SyntaxError;
use super::compose::{Composed, Composer, Result};
use super::notice::{Notice, NoticeKind, Notices};
use super::resolve::{self, Resolved};

/// The entries in the order of the file. The last of several equal keys wins, whether it is the map's own or merged.
///
/// The entries of all open maps are in one list, the innermost map's last: a list for each map would be moved each time that
/// it grows, and once more when its map is complete.
pub(super) struct Pairs {
    start: usize,
    end: usize,
    height: usize,
    /// Where its entries start in [`Composer::pairs`].
    first: usize,
}

/// An entry, and whether it comes from `<<`.
pub(super) struct Pair {
    pub(super) entry: Entry,
    pub(super) is_merged: bool,
}

impl Pairs {
    pub(super) fn new(composer: &Composer<'_>, start: usize) -> Self {
        Self {
            start,
            end: start,
            height: 0,
            first: composer.pairs.len(),
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
            return merge(&mut composer.pairs, &value);
        }
        composer.check_value(&value)?;
        let key_place = key.used_at;
        let key = match key.node.value {
            // Most keys.
            Value::String(text) if key.scalar == Some(Resolved::Text) => text,
            _ => {
                let text = key_text(composer, &key)?;
                composer.note_misreading(&key, Some(&text));
                text
            }
        };
        composer.note_misreading(&value, None);
        composer.pairs.push(Pair {
            entry: Entry {
                key,
                key_place,
                node: value.node,
            },
            is_merged: false,
        });
        Ok(())
    }

    /// Builds the map. `end` is the end of the closing brace, if there is one.
    pub(super) fn finish(self, composer: &mut Composer<'_>, end: Option<usize>) -> Composed {
        let Composer { pairs, notices, .. } = composer;
        let map = unique(pairs, self.first, notices);
        let place = composer.place(self.start, end.unwrap_or(self.end));
        Composed::collection(Value::Map(Arc::new(map)), place, self.height)
    }
}

/// Adds the entries of a map, or of a list of maps in which earlier maps win over later ones.
fn merge(pairs: &mut Vec<Pair>, value: &Composed) -> Result<()> {
    let mut extend = |map: &Map| {
        pairs.extend(map.iter().map(|entry| Pair {
            entry: entry.clone(),
            is_merged: true,
        }));
    };
    match &value.node.value {
        Value::Map(map) => extend(map),
        Value::List(items) if !value.is_alias => {
            for item in items.iter().rev() {
                let Value::Map(map) = &item.value else {
                    return Err(not_a_map(item.place));
                };
                extend(map);
            }
        }
        _ => return Err(not_a_map(value.used_at)),
    }
    Ok(())
}

/// Takes the entries from an index on out of the list, and builds their map. Of several equal keys the last one wins, and a
/// notice reports it.
pub(super) fn unique(pairs: &mut Vec<Pair>, first: usize, notices: &mut Notices) -> Map {
    pairs[first..].sort_by(|a, b| key_order(&a.entry.key, &b.entry.key));
    let mut entries: Vec<Entry> = Vec::with_capacity(pairs.len() - first);
    let mut was_merged = false;
    for Pair { entry, is_merged } in pairs.drain(first..) {
        match entries.last_mut() {
            Some(earlier) if earlier.key == entry.key => {
                if let Some(notice) = note_replaced(earlier, was_merged, &entry, is_merged) {
                    notices.push(notice);
                }
                *earlier = entry;
            }
            _ => entries.push(entry),
        }
        was_merged = is_merged;
    }
    Map::from_sorted(entries)
}

/// The notice for two entries with the same key; none if the earlier one is merged, because overriding it is the purpose of `<<`.
fn note_replaced(
    earlier: &Entry,
    was_merged: bool,
    later: &Entry,
    is_merged: bool,
) -> Option<Notice> {
    let key = later.key.to_string();
    let (place, kind) = match (was_merged, is_merged) {
        (false, false) => {
            let first = earlier.key_place;
            let same_value = earlier.node.value.same(&later.node.value);
            let kind = NoticeKind::DuplicateKey {
                key,
                first,
                same_value,
            };
            (later.key_place, kind)
        }
        (false, true) => {
            let merged = later.key_place;
            (earlier.key_place, NoticeKind::MergeReplaces { key, merged })
        }
        (true, _) => return None,
    };
    Some(Notice { kind, place })
}

fn key_text(composer: &Composer<'_>, key: &Composed) -> Result<Arc<str>> {
    let message = match key.scalar {
        Some(resolved) => match resolve::key_text(resolved, &key.node.value) {
            Ok(text) => return Ok(text),
            Err(_) if matches!(key.node.value, Value::Opaque(_)) => {
                "a key depends on a secret".to_owned()
            }
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
