//! The outline of a document, the names of a project, and what each pool boots beside its line.

use std::collections::BTreeMap;

use lsp_types::{
    DocumentSymbol, InlayHint, InlayHintLabel, Location, OneOf, Range, SymbolKind, WorkspaceSymbol,
};

use yaml_tree::place::Spot;

use super::answers::{Answers, Locations};
use super::marks::{Mark, PoolMark};
use super::navigation::meet;
use super::position::{Encoding, Lines};
use super::project::Analysis;
use super::rolls;

/// The most symbols that an answer has: a person reads no more.
const SHOWN: usize = 256;

impl Answers<'_> {
    /// The pools and images that the document names.
    pub(super) fn symbols(&self) -> Vec<DocumentSymbol> {
        let Some(file) = self.file() else {
            return Vec::new();
        };
        let lines = Lines::new(self.text, self.encoding);
        let index = &self.analysis.index;
        let mut found = BTreeMap::new();
        for (bytes, mark) in file.all() {
            let (name, detail, kind) = match mark {
                Mark::Pool(pool) => {
                    let pool = &index.pools[*pool];
                    (pool.name.clone(), pool.boots.clone(), SymbolKind::CLASS)
                }
                Mark::Image(key) => (key.to_string(), "image".to_owned(), SymbolKind::CONSTANT),
                Mark::Choice(_) | Mark::Version(_) | Mark::Template(_) => continue,
            };
            let range = lines.first_line(bytes.clone());
            found
                .entry((bytes.start, name))
                .or_insert((detail, kind, range));
        }
        let symbols = found.into_iter().map(|((_, name), (detail, kind, range))| {
            #[expect(deprecated, reason = "the field is a part of the type")]
            DocumentSymbol {
                name,
                detail: Some(detail),
                kind,
                tags: None,
                deprecated: None,
                range,
                selection_range: range,
                children: None,
            }
        });
        symbols.collect()
    }

    /// What the pools that a line decides on boot, and how many machines the change replaces, at the ends of the lines.
    pub(super) fn hints(&self, within: Range) -> Vec<InlayHint> {
        let Some(file) = self.file() else {
            return Vec::new();
        };
        let lines = Lines::new(self.text, self.encoding);
        let index = &self.analysis.index;
        let mut by_line: BTreeMap<u32, Vec<&PoolMark>> = BTreeMap::new();
        let path = &file.source.path;
        for (bytes, mark) in file.all() {
            // The choice says it where it is in this document, else the pool's name does.
            let is_shown = |pool: usize| {
                let choice = index.pools[pool].choices.first();
                match choice.filter(|choice| choice.source.path == *path) {
                    Some(choice) => {
                        choice.start as usize == bytes.start && matches!(mark, Mark::Choice(_))
                    }
                    None => matches!(mark, Mark::Pool(_)),
                }
            };
            if let Some(pool) = mark.pool().filter(|pool| is_shown(*pool)) {
                let line = lines.position(bytes.start).line;
                by_line.entry(line).or_default().push(&index.pools[pool]);
            }
        }
        let hints = by_line.into_iter().map(|(line, pools)| {
            let mut boots: Vec<&str> = pools.iter().map(|pool| &*pool.boots).collect();
            boots.sort_unstable();
            boots.dedup();
            let mut label = match &*boots {
                [one] => format!("→ {one}"),
                several => format!("→ {} images for {} pools", several.len(), pools.len()),
            };
            let machines = pools.iter().filter_map(|pool| self.rolls.get(&pool.name));
            if let Some(words) = rolls::words(&machines.copied().collect::<Vec<_>>()) {
                label += &format!("; {words}");
            }
            InlayHint {
                position: lines.line_end(line),
                label: InlayHintLabel::String(label),
                kind: None,
                text_edits: None,
                tooltip: None,
                padding_left: Some(true),
                padding_right: None,
                data: None,
            }
        });
        let is_within = |hint: &InlayHint| meet(within, Range::new(hint.position, hint.position));
        hints.filter(is_within).collect()
    }
}

/// The pools and images of a project whose names have a text in them.
pub(super) fn search(analysis: &Analysis, query: &str, encoding: Encoding) -> Vec<WorkspaceSymbol> {
    let index = &analysis.index;
    let query = query.to_lowercase();
    let is_wanted = |name: &str| name.to_lowercase().contains(&query);
    let mut found: Vec<(String, SymbolKind, Location)> = Vec::new();
    for file in index.files.values() {
        for (bytes, mark) in file.all() {
            let (name, kind) = match mark {
                Mark::Pool(pool) => (&*index.pools[*pool].name, SymbolKind::CLASS),
                Mark::Image(key) => (&**key, SymbolKind::CONSTANT),
                Mark::Choice(_) | Mark::Version(_) | Mark::Template(_) => continue,
            };
            if found.len() < SHOWN && is_wanted(name) {
                let spot = Spot::from_range(&file.source, bytes.start as u32, bytes.end as u32);
                let location = Locations::new(analysis.root(), encoding).location(&spot);
                found.extend(location.map(|location| (name.to_owned(), kind, location)));
            }
        }
    }
    let symbols = found
        .into_iter()
        .map(|(name, kind, location)| WorkspaceSymbol {
            name,
            kind,
            tags: None,
            container_name: None,
            location: OneOf::Left(location),
            data: None,
        });
    symbols.collect()
}
