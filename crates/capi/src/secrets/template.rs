//! What is written in a template: the texts around its actions, and the strings in them.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use go_template::{Outline, Role, Written};

/// Where a text has actions of a template: `{{ … }}`.
pub(super) struct Actions {
    found: Vec<Range<usize>>,
    outline: OnceCell<Outline>,
}

impl Actions {
    pub(super) fn find(text: &str) -> Self {
        let (mut found, mut from) = (Vec::new(), 0);
        while let Some(start) = text[from..].find("{{").map(|at| from + at) {
            let end = end_of_action(text, start + 2);
            found.push(start..end);
            from = end;
        }
        Self {
            found,
            outline: OnceCell::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// What is written in the actions. Where they are no template, each is a string.
    pub(super) fn outline(&self, text: &str) -> &Outline {
        self.outline.get_or_init(|| {
            let strings = self.found.iter().map(|action| {
                let start = (action.start + 2) as u32;
                Written {
                    range: start..start.max((action.end as u32).saturating_sub(2)),
                    role: Role::Passed,
                }
            });
            go_template::outline(text).unwrap_or_else(|_| Outline {
                strings: strings.collect(),
                definitions: Vec::new(),
            })
        })
    }

    /// The strings in a range that are passed along and say something.
    fn words<'a>(
        &'a self,
        text: &'a str,
        range: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let inside = self.strings(text, range).iter();
        inside.filter_map(|written| {
            let range = to_usize(&written.range);
            let is_word = written.role == Role::Passed && has_words(&text[range.clone()]);
            is_word.then_some(range)
        })
    }

    fn strings(&self, text: &str, range: Range<usize>) -> &[Written] {
        let strings = &self.outline(text).strings;
        let start = strings.partition_point(|written| (written.range.start as usize) < range.start);
        let end = strings.partition_point(|written| (written.range.start as usize) < range.end);
        &strings[start..end.max(start)]
    }

    /// The names of the templates that are included in a range.
    pub(super) fn template_names(&self, text: &str, range: Range<usize>) -> Vec<String> {
        let inside = self.strings(text, range).iter();
        let names = inside.filter(|written| written.role == Role::Included);
        names
            .map(|written| text[to_usize(&written.range)].to_owned())
            .collect()
    }

    /// Where actions make Secrets: from the key `stringData`, or `data` where they name a Secret.
    pub(super) fn secret_makers(&self, text: &str, names_secret: bool) -> Vec<Range<usize>> {
        let actions = self.found.iter();
        let makers = actions.filter_map(|action| {
            let names_secret = names_secret || text[action.clone()].contains("Secret");
            let is_data = |written: &&Written| {
                let word = &text[to_usize(&written.range)];
                let is_manifest = word.contains("Secret") && word.contains("data");
                let is_key = matches!(word, "data" | "binaryData") && names_secret;
                is_key || is_manifest || word.contains("stringData")
            };
            let first = self.strings(text, action.clone()).iter().find(is_data)?;
            Some(first.range.start as usize..action.end)
        });
        makers.collect()
    }

    /// What is written into the Secrets that an action makes.
    pub(super) fn secret_arguments(&self, text: &str, names_secret: bool) -> Vec<Range<u32>> {
        let makers = self.secret_makers(text, names_secret).into_iter();
        let words = makers.flat_map(|maker| self.words(text, maker));
        words.map(to_u32).collect()
    }

    /// The text with nothing where lines hold only actions, and letters where others do: as long as it was, and often YAML.
    pub(super) fn blank<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut blank = String::with_capacity(text.len());
        let mut kept = 0;
        for action in &self.found {
            blank += &text[kept..action.start];
            let is_silent = is_silent(&text[action.clone()]);
            let filler = if is_silent || self.is_alone(text, action) {
                " "
            } else {
                "x"
            };
            blank += &filler.repeat(action.len());
            // What is behind it begins a line of YAML.
            if is_silent
                && blank
                    .lines()
                    .next_back()
                    .is_some_and(|line| line.trim().is_empty())
            {
                blank.pop();
                blank.push('\n');
            }
            kept = action.end;
        }
        (blank + &text[kept..]).into()
    }

    /// Whether the lines of an action hold nothing else.
    fn is_alone(&self, text: &str, action: &Range<usize>) -> bool {
        let start = text[..action.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[action.end..].find('\n');
        let end = end.map_or(text.len(), |at| action.end + at);
        let pieces = self.pieces(start..end);
        { pieces }.all(|piece| text[piece].trim().is_empty())
    }

    /// What is around the actions in a range.
    fn pieces(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let first = self
            .found
            .partition_point(|action| action.end <= range.start);
        let inside = self.found[first..].iter();
        let inside = inside.take_while(move |action| action.start < range.end);
        let mut kept = range.start;
        let mut ends: Vec<Range<usize>> = Vec::new();
        for action in inside {
            ends.push(kept..action.start.max(kept));
            kept = action.end.min(range.end);
        }
        ends.push(kept..range.end);
        ends.into_iter()
    }

    /// What is written in the range of a value with actions, line by line, without keys and quotes: around them, and as the text
    /// that one begins with. None where it has no actions.
    pub(super) fn literals(&self, text: &str, range: Range<usize>) -> Option<Vec<Range<usize>>> {
        let is_block = text[range.clone()].contains('\n');
        let mut inside = self.found.iter();
        if !inside.any(|action| range.start <= action.start && action.end <= range.end) {
            return None;
        }
        let mut found: Vec<Range<usize>> = self.words(text, range.clone()).collect();
        let pieces = self.pieces(range);
        let lines = pieces.flat_map(|piece| lines(text, piece));
        found.extend(lines.filter_map(|line| {
            let begins = line.start == 0 || text[..line.start].ends_with('\n');
            literal(text, line, is_block && begins)
        }));
        found.sort_by_key(|literal| literal.start);
        Some(found)
    }

    /// What is written in the range of a value, without keys and quotes: around actions, and line by line.
    pub(super) fn texts(&self, text: &str, range: &Range<u32>) -> Vec<Range<u32>> {
        let range = to_usize(range);
        let of_lines = || {
            let lines = lines(text, range.clone()).into_iter();
            lines
                .filter_map(|line| literal(text, line, false))
                .collect()
        };
        let found = self.literals(text, range.clone()).unwrap_or_else(of_lines);
        found.into_iter().map(to_u32).collect()
    }

    /// What is written below `data` and `stringData` of the Secrets in a text, as people write them: of several lines of which a
    /// template keeps one, all, and also where the text is no YAML.
    pub(super) fn data_blocks(&self, text: &str) -> Vec<Range<u32>> {
        let lines = data_lines(text).into_iter();
        let literals = lines.flat_map(|line| {
            let whole = || literal(text, line.clone(), true).into_iter().collect();
            self.literals(text, line.clone()).unwrap_or_else(whole)
        });
        literals.map(to_u32).collect()
    }
}

/// The lines below `data` and `stringData` of the Secrets in a text.
pub(super) fn data_lines(text: &str) -> Vec<Range<usize>> {
    let is_kind = |line: &Range<usize>| {
        let kind = skip_silent(&text[line.clone()])
            .trim()
            .strip_prefix("kind:");
        let kind = kind.map(|kind| kind.trim().trim_matches(['"', '\'']));
        kind.is_some_and(|kind| kind == "Secret" || kind.contains("{{"))
    };
    let documents = documents(text).into_iter();
    let secrets = documents.filter(|document| document.iter().any(is_kind));
    secrets
        .flat_map(|document| lines_below(text, &document, &["data:", "stringData:"]))
        .collect()
}

/// The lines below `metadata` of the objects in a text, which nobody takes for secret.
pub(super) fn metadata_lines(text: &str) -> Vec<Range<usize>> {
    let documents = documents(text).into_iter();
    documents
        .flat_map(|document| lines_below(text, &document, &["metadata:"]))
        .collect()
}

/// The lines of each document of a text.
fn documents(text: &str) -> Vec<Vec<Range<usize>>> {
    let (mut all, mut document) = (Vec::new(), Vec::new());
    for line in lines(text, 0..text.len()) {
        if text[line.clone()].starts_with("---") {
            all.push(std::mem::take(&mut document));
        }
        document.push(line);
    }
    all.push(document);
    all
}

/// The lines of a document that begin with one of these keys, and those below.
fn lines_below(text: &str, document: &[Range<usize>], keys: &[&str]) -> Vec<Range<usize>> {
    let (mut found, mut block) = (Vec::new(), None);
    for line in document {
        let written = text[line.clone()].trim_end();
        let depth = written.len() - written.trim_start().len();
        let key = written.trim_start();
        let is_inside =
            block.is_some_and(|outer| depth > outer || key.is_empty() || key.starts_with("{{"));
        if !is_inside {
            let is_start = keys.iter().any(|start| key.starts_with(start));
            block = is_start.then_some(depth);
        }
        found.extend(block.map(|_| line.clone()));
    }
    found
}

/// Whether an action prints nothing itself.
fn is_silent(action: &str) -> bool {
    const WORDS: [&str; 6] = ["define", "end", "if", "else", "range", "with"];
    let inner = action.trim_start_matches(['{', '-', ' ']);
    let word = inner.split(|letter: char| !letter.is_alphabetic()).next();
    word.is_some_and(|word| WORDS.contains(&word))
}

/// What is behind the actions at the start of a line that print nothing.
fn skip_silent(line: &str) -> &str {
    let rest = line.trim_start();
    match rest.split_once("}}") {
        Some((action, rest)) if action.starts_with("{{") && is_silent(action) => skip_silent(rest),
        _ => line,
    }
}

/// Whether a string says something beside signs, and the places of a format.
fn has_words(text: &str) -> bool {
    let parts = text.split('%').enumerate();
    let mut said = parts.map(|(at, part)| &part[part.ceil_char_boundary(at.min(1))..]);
    said.any(|part| part.contains(char::is_alphanumeric))
}

pub(super) fn to_usize(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

pub(super) fn to_u32(range: Range<usize>) -> Range<u32> {
    range.start as u32..range.end as u32
}

fn lines(text: &str, piece: Range<usize>) -> Vec<Range<usize>> {
    let mut start = piece.start;
    let lines = text[piece].split_inclusive('\n').map(|line| {
        let range = start..start + line.len();
        start = range.end;
        range
    });
    lines.collect()
}

/// The part of a line that is no key, quote or sign of YAML; none if nothing is left.
fn literal(text: &str, line: Range<usize>, has_key: bool) -> Option<Range<usize>> {
    const PUNCTUATION: &[char] = &['-', '+', ':', ',', '{', '}', '[', ']'];
    const INDICATORS: &[char] = &['+', '-', '1', '2', '3', '4', '5', '6', '7', '8', '9'];
    const SIGNS: &[char] = &['"', '\'', ' ', '\t', '\r', '\n', '|', '>'];
    let whole = &text[line.clone()];
    let key = whole.find(": ").map(|at| at + 2);
    let key = key.or_else(|| whole.trim_end().strip_suffix(':').map(|key| key.len() + 1));
    let value = &whole[key.filter(|_| has_key).unwrap_or(0)..];
    // `|2-` says how the lines below are read.
    let header = value.trim().strip_prefix(['|', '>']);
    if header.is_some_and(|rest| rest.trim_matches(INDICATORS).is_empty()) {
        return None;
    }
    let value = value.trim_matches(SIGNS);
    let value = value.strip_prefix("- ").unwrap_or(value);
    // A comment stays one.
    let value = value.trim_start_matches('#');
    let start = value.as_ptr().addr() - text.as_ptr().addr();
    (!value.trim_matches(PUNCTUATION).is_empty()).then(|| start..start + value.len())
}

/// Where the action ends whose first two braces end here: at two braces outside its strings.
fn end_of_action(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut quote) = (from, None);
    while at < bytes.len() {
        match (quote, bytes[at]) {
            (Some(b'"'), b'\\') => at += 1,
            (Some(open), byte) if byte == open => quote = None,
            (None, byte @ (b'"' | b'`')) => quote = Some(byte),
            (None, b'}') if bytes.get(at + 1) == Some(&b'}') => return at + 2,
            _ => {}
        }
        at += 1;
    }
    text.len()
}
