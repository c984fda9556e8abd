//! What is shown about the thing under the pointer: the same words as `metalmark explain` prints.

use std::io;

use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Range};

use crate::error::Error;
use crate::evaluate::{Evaluator, TemplateCache};
use crate::model::rule::RuleId;
use crate::printer::{Printer, fence};
use crate::report::explain::{self, ImageAccount, PoolAccount, RuleAccount};
use crate::report::values::{self, ValuePath, ValueQuery};
use crate::report::{Color, Format};
use crate::rules::rule;

use super::answers::Answers;
use super::marks::Mark;
use super::position::Lines;

/// How many pools or clusters are named.
const NAMED: usize = 12;

impl Answers<'_> {
    /// The hover at a byte.
    ///
    /// # Errors
    /// A file cannot be read any more.
    pub(super) fn hover(&self, offset: usize, markup: &MarkupKind) -> Result<Option<Hover>, Error> {
        let (marks, range) = self.marks(offset);
        let pools: Vec<usize> = marks.iter().filter_map(|mark| mark.pool()).collect();
        let image = marks.iter().find_map(|mark| match mark {
            Mark::Image(key) => Some(&**key),
            _ => None,
        });
        let mut texts: Vec<String> = Vec::new();
        texts.extend(match (&*pools, image) {
            ([first, ..], _) => self.pool(*first, &pools)?,
            ([], Some(key)) => self.image(key)?,
            ([], None) => self.explain_word(self.word(offset))?,
        });
        if let Some(Mark::Version(pool)) = marks.first() {
            texts.extend(self.next_versions(*pool)?);
        }
        let entry = self.entry(offset).filter(|_| !self.is_project_file());
        let entry = entry.filter(|entry| {
            let is_expression = self.text[entry.bytes.clone()].contains("{{");
            is_expression || texts.is_empty()
        });
        let range = match &entry {
            Some(entry) if texts.is_empty() => {
                let lines = Lines::new(self.text, self.encoding);
                Some(lines.first_line(entry.bytes.clone()))
            }
            _ => range,
        };
        if let Some(entry) = entry {
            texts.extend(self.value(&entry.path)?);
        }
        let is_any = !texts.is_empty();
        Ok(is_any.then(|| hover(&texts.join("\n"), markup, range)))
    }

    /// What a value is for the document's cluster, and why: what `metalmark values --why` prints.
    fn value(&self, path: &ValuePath) -> Result<Option<String>, Error> {
        let Some((entry, values)) = self.values()? else {
            return Ok(None);
        };
        let templates = TemplateCache::default();
        let tree = &values.tree;
        let evaluator = Evaluator::with_trace(tree, &values.options, &templates);
        let query = ValueQuery::new(&entry.name, path, &values, &evaluator);
        match query.account(&mut Vec::new()) {
            Ok(account) => print_to_string(|out| values::account(&account, out)).map(Some),
            // A key that is itself an expression has no path of its own.
            Err(_) => Ok(None),
        }
    }

    /// The versions that a pool's cluster can go to: the newest patch, and the next minor.
    fn next_versions(&self, pool: usize) -> Result<Option<String>, Error> {
        let cluster = self.analysis.index.pools[pool].cluster;
        let Some(view) = self.view(cluster)? else {
            return Ok(None);
        };
        print_to_string(|out| explain::next_versions(&view, out)).map(Some)
    }

    /// A pool, and the others that share its place.
    fn pool(&self, number: usize, all: &[usize]) -> Result<Option<String>, Error> {
        let pools = &self.analysis.index.pools;
        let Some(view) = self.view(pools[number].cluster)? else {
            return Ok(None);
        };
        let settings = &self.analysis.workspace().settings;
        let first = pools
            .iter()
            .position(|pool| pool.cluster == pools[number].cluster);
        let index = number - first.unwrap_or(number);
        let Some(of) = view.pools().nth(index) else {
            return Ok(None);
        };
        let patterns = &self.analysis.fleet.patterns;
        let account = PoolAccount::new(&view, of, settings.matching, patterns);
        let mut text = print_to_string(|out| explain::pools(&[account], Format::Human, out))?;
        let others: Vec<String> = { all.iter().filter(|other| **other != number) }
            .map(|other| format!("{} boots {}", pools[*other].name, pools[*other].boots))
            .collect();
        if !others.is_empty() {
            text += &print_to_string(|out| {
                use io::Write as _;
                writeln!(out, "\nand, by the same line")?;
                shorten(others)
                    .iter()
                    .try_for_each(|other| writeln!(out, "  {other}"))
            })?;
        }
        Ok(Some(text))
    }

    /// An image, as the catalog of this document's cluster has it, else that of a cluster that boots it.
    fn image(&self, key: &str) -> Result<Option<String>, Error> {
        let index = &self.analysis.index;
        let booting = index.booting(key).map(|pool| pool.cluster);
        let clusters = self.analysis.clusters();
        for cluster in [self.cluster()].into_iter().chain(booting.take(1)) {
            let view = self.view(cluster)?;
            let Some(account) = view.and_then(|view| ImageAccount::new(key, &view)) else {
                continue;
            };
            let users = index.booting(key).map(|pool| pool.name.clone()).collect();
            let served = index
                .clusters_using(key)
                .iter()
                .filter_map(|cluster| clusters.get(*cluster));
            let served = served.map(|entry| entry.name.to_string()).collect();
            let account = account.with_users(shorten(users), shorten(served));
            return print_to_string(|out| explain::images(&[account], Format::Human, out))
                .map(Some);
        }
        Ok(None)
    }

    /// What a word names: in the project file a rule, anywhere the key of an image.
    fn explain_word(&self, word: &str) -> Result<Option<String>, Error> {
        match word.parse::<RuleId>() {
            Ok(id) if self.is_project_file() => {
                let account = RuleAccount::new(rule(id));
                print_to_string(|out| explain::rule(&account, Format::Human, out)).map(Some)
            }
            _ if self.is_image(word) => self.image(word),
            _ => Ok(None),
        }
    }

    /// Whether a word is the key of an image that a catalog has.
    fn is_image(&self, word: &str) -> bool {
        let index = &self.analysis.index;
        index.booting(word).next().is_some() || index.images(word).next().is_some()
    }
}

/// The first names, and how many more there are.
fn shorten(mut names: Vec<String>) -> Vec<String> {
    let more = names.len().saturating_sub(NAMED);
    if more > 0 {
        names.truncate(NAMED);
        names.push(format!("and {more} more"));
    }
    names
}

fn print_to_string(print: impl FnOnce(&mut Printer) -> io::Result<()>) -> Result<String, Error> {
    Ok(Printer::print_to_string(Color::Never, print)?)
}

fn hover(text: &str, markup: &MarkupKind, range: Option<Range>) -> Hover {
    let value = match markup {
        MarkupKind::PlainText => text.to_owned(),
        MarkupKind::Markdown => fence(text),
    };
    let kind = markup.clone();
    Hover {
        contents: HoverContents::Markup(MarkupContent { kind, value }),
        range,
    }
}
