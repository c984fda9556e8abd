//! Templates of charts, with labels in place of what they write into Secrets, also by templates that those include.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use yaml_tree::engine::Engine;
use yaml_tree::opaque::label;
use yaml_tree::place::{FileId, Secrets, Source};

use super::seals::Seals;
use super::template::{Actions, data_lines, metadata_lines, to_u32, to_usize};
use super::{is_named_secret, mentions_secret, names_secret};

/// A template of a chart.
pub struct ChartTemplate {
    /// Its file. No line of one that is named after secrets is shown.
    pub source: Source,
    /// The template, with a label in place of what is written in its Secrets: others may include and read it.
    pub parsed: Result<go_template::Template, go_template::Error>,
}

/// The names of templates whose texts are secret, because Secrets include them.
#[derive(Default)]
pub struct Included(HashSet<String>);

impl Included {
    /// Those among the templates of a chart: what Secrets include, and what that includes. The name or label of an object is never
    /// secret, so neither is what it includes.
    pub fn find<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> Self {
        let mut wanted = Vec::new();
        for text in texts.clone().filter(|text| names_secret(text)) {
            let written = Written::find("", text);
            let found = written.found.iter().map(to_usize);
            for range in found.chain(data_lines(text)) {
                wanted.extend(written.actions.template_names(text, range));
            }
        }
        if wanted.is_empty() {
            return Self::default();
        }
        let (mut below, mut public) = (HashMap::<_, Vec<String>>::new(), Vec::new());
        for text in texts {
            let actions = Actions::find(text);
            for definition in &actions.outline(text).definitions {
                let names = below.entry(definition.name.to_string()).or_default();
                names.extend(actions.template_names(text, to_usize(&definition.range)));
            }
            for line in metadata_lines(text) {
                public.extend(actions.template_names(text, line));
            }
        }
        let close = |mut next: Vec<String>| {
            let mut all = HashSet::new();
            while let Some(name) = next.pop() {
                if all.insert(name.clone()) {
                    next.extend(below.get(&name).into_iter().flatten().cloned());
                }
            }
            all
        };
        Self(&close(wanted) - &close(public))
    }
}

/// What a template writes into Secrets.
struct Written {
    actions: Actions,
    /// The values that its structure shows.
    found: Vec<Range<u32>>,
    /// What lines show: what is no YAML without its actions may be with them.
    blocks: Vec<Range<u32>>,
    /// All of the objects that have secrets.
    hidden: Vec<Range<u32>>,
}

impl Written {
    fn find(path: &str, text: &str) -> Self {
        let actions = Actions::find(text);
        let blank = actions.blank(text);
        let mut seals = Seals::for_text(path, &blank);
        if mentions_secret(&blank)
            && let Ok(read) = yaml_tree::read(&blank, FileId(0), Engine::Helm4)
        {
            for mut document in read.documents {
                seals.objects(&mut document, "");
            }
        }
        let found = seals.found.iter().map(|seal| seal.range.clone());
        let (found, hidden) = (found.collect(), seals.hidden);
        Self {
            blocks: actions.data_blocks(text),
            actions,
            found,
            hidden,
        }
    }

    /// What is secret of the text.
    fn literals(&self, text: &str, included: &Included) -> Vec<Range<u32>> {
        let is_open = |range: &Range<u32>| {
            let mut found = self.found.iter();
            let is_text = !text[range.start as usize..].starts_with(['*', '&', '{', '[', '!', '%']);
            is_text && !found.any(|known| known.start < range.end && range.start < known.end)
        };
        let blocks = self.blocks.iter().cloned();
        let mut all: Vec<Range<u32>> = blocks.filter(is_open).collect();
        let of_range = |range| self.actions.texts(text, range);
        all.extend(self.found.iter().flat_map(of_range));
        all.extend(self.actions.secret_arguments(text, false));
        if !included.0.is_empty() {
            let definitions = self.actions.outline(text).definitions.iter();
            let secret = definitions.filter(|definition| included.0.contains(&*definition.name));
            all.extend(secret.flat_map(|definition| of_range(&definition.range)));
        }
        all
    }
}

/// Parses a template, which Helm calls by a name of its own.
pub fn parse_template(
    name: &str,
    path: impl Into<Arc<str>>,
    text: &str,
    included: &Included,
) -> ChartTemplate {
    let source = Source::new(path, text);
    let written = Written::find(&source.path, text);
    let literals = written.literals(text, included);
    // A Secret may be made of what other actions know.
    let makers = written.actions.secret_makers(text, false).into_iter();
    let makers: Vec<Range<u32>> = makers.map(to_u32).collect();
    let lines = { written.hidden.iter() }
        .chain(&written.blocks)
        .chain(&makers);
    let marks = written.found.iter().chain(lines).chain(&literals);
    let marks = marks.cloned().collect();
    let secrets: Secrets = literals.into_iter().collect();
    let label = label(&source.path, "");
    let sealed = go_template::Sealed {
        ranges: secrets.ranges(),
        label: &label,
    };
    let parsed = go_template::parse_sealed(name, text, sealed);
    let is_hidden = is_named_secret(Path::new(&*source.path));
    ChartTemplate {
        source: source.with_marks(marks, is_hidden),
        parsed,
    }
}
