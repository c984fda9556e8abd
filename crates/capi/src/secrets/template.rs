//! The texts around the actions of a template.

use std::borrow::Cow;
use std::ops::Range;

/// Where a text has actions of a template: `{{ … }}`.
pub(super) struct Actions(Vec<Range<usize>>);

impl Actions {
    pub(super) fn find(text: &str) -> Self {
        let (mut found, mut from) = (Vec::new(), 0);
        while let Some(start) = text[from..].find("{{").map(|at| from + at) {
            let end = end_of_action(text, start + 2);
            found.push(start..end);
            from = end;
        }
        Self(found)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text with nothing where lines hold only actions, and letters where others do: as long as it was, and often YAML.
    pub(super) fn blank<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut blank = String::with_capacity(text.len());
        let mut kept = 0;
        for action in &self.0 {
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
        let first = self.0.partition_point(|action| action.end <= range.start);
        let inside = self.0[first..].iter();
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
        let inside = self.0.iter();
        let inside = inside.filter(|action| range.start <= action.start && action.end <= range.end);
        let inside: Vec<&Range<usize>> = inside.collect();
        if inside.is_empty() {
            return None;
        }
        let texts = inside
            .into_iter()
            .filter_map(|action| first_text(text, action));
        let mut found: Vec<Range<usize>> = texts.collect();
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
        let range = range.start as usize..range.end as usize;
        let of_lines = || {
            let lines = lines(text, range.clone()).into_iter();
            lines
                .filter_map(|line| literal(text, line, false))
                .collect()
        };
        let found = self.literals(text, range.clone()).unwrap_or_else(of_lines);
        let found = found.into_iter();
        found
            .map(|range| range.start as u32..range.end as u32)
            .collect()
    }

    /// What is written below `data` and `stringData` of the Secrets in a text, as people write them: of several lines of which a
    /// template keeps one, all, and also where the text is no YAML.
    pub(super) fn data_blocks(&self, text: &str) -> Vec<Range<u32>> {
        let mut found = Vec::new();
        let mut document = Vec::new();
        for line in lines(text, 0..text.len()) {
            if text[line.clone()].starts_with("---") {
                self.add_blocks(text, &std::mem::take(&mut document), &mut found);
            }
            document.push(line);
        }
        self.add_blocks(text, &document, &mut found);
        found
    }

    /// Adds those of one document, by its lines.
    fn add_blocks(&self, text: &str, document: &[Range<usize>], found: &mut Vec<Range<u32>>) {
        let is_kind = |line: &Range<usize>| {
            let kind = skip_silent(&text[line.clone()])
                .trim()
                .strip_prefix("kind:");
            let kind = kind.map(|kind| kind.trim().trim_matches(['"', '\'']));
            kind.is_some_and(|kind| {
                kind == "Secret" || kind.contains("{{") && kind.contains("Secret")
            })
        };
        if !document.iter().any(is_kind) {
            return;
        }
        let mut block: Option<usize> = None;
        for line in document {
            let written = text[line.clone()].trim_end();
            let depth = written.len() - written.trim_start().len();
            let key = written.trim_start();
            let is_inside =
                block.is_some_and(|outer| depth > outer || key.is_empty() || key.starts_with("{{"));
            if !is_inside {
                block =
                    (key.starts_with("data:") || key.starts_with("stringData:")).then_some(depth);
            }
            if block.is_none() {
                continue;
            }
            let whole = || literal(text, line.clone(), true).into_iter().collect();
            let literals = self.literals(text, line.clone()).unwrap_or_else(whole);
            let literals = literals.into_iter();
            found.extend(literals.map(|range| range.start as u32..range.end as u32));
        }
    }
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

/// The text that an action begins with, which it prints or encodes.
fn first_text(text: &str, action: &Range<usize>) -> Option<Range<usize>> {
    let inner = text[action.clone()].trim_start_matches(['{', '-', ' ', '(']);
    let mut quotes = ['"', '`'].into_iter();
    let value = quotes.find_map(|quote| inner.strip_prefix(quote)?.split(quote).next())?;
    let start = value.as_ptr().addr() - text.as_ptr().addr();
    (!value.is_empty()).then(|| start..start + value.len())
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
