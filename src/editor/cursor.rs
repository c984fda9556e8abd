//! Where in a YAML text a person types: the keys above, and what is typed so far. Half-typed text is no YAML yet, so this reads
//! lines and their indentation.

use std::ops::Range;

/// A position in a text that is being typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    /// The keys from the root to the map or the value, without the positions in lists.
    pub(super) keys: Vec<String>,
    /// What is typed.
    pub(super) slot: Slot,
    /// The bytes of the word that is typed.
    pub(super) word: Range<usize>,
}

/// What is at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// A key of the map at [`Cursor::keys`].
    Key,
    /// The value at [`Cursor::keys`].
    Value,
}

/// A line without its indentation and the dashes of lists.
struct Line<'t> {
    /// The column of the first dash, if there is one.
    dash: Option<usize>,
    /// The column of the content.
    column: usize,
    content: &'t str,
}

impl<'t> Line<'t> {
    fn parse(text: &'t str) -> Self {
        let mut content = text.trim_start_matches(' ');
        let mut dash = None;
        while let Some(rest) = content
            .strip_prefix('-')
            .filter(|rest| rest.is_empty() || rest.starts_with(' '))
        {
            dash = dash.or(Some(text.len() - content.len()));
            content = rest.trim_start_matches(' ');
        }
        Self {
            dash,
            column: text.len() - content.len(),
            content,
        }
    }

    /// The key, and the column of what is behind its colon.
    fn key(&self) -> Option<(&'t str, usize)> {
        if self.content.starts_with('#') {
            return None;
        }
        let colon = match self.content.find(": ") {
            Some(colon) => colon,
            None => self.content.trim_end().strip_suffix(':')?.len(),
        };
        let key = self.content[..colon].trim_matches(['"', '\'', ' ']);
        Some((key, self.column + colon + 1))
    }
}

/// The cursor at a byte of a text; none in a comment.
pub(super) fn cursor(text: &str, offset: usize) -> Option<Cursor> {
    let start = text[..offset].rfind('\n').map_or(0, |end| end + 1);
    let before = &text[start..offset];
    let line = Line::parse(before);
    if line.content.starts_with('#') || line.content.contains(" #") {
        return None;
    }
    let (mut keys, mut typed, slot) = match line.key() {
        Some((key, behind)) => {
            let value = &before[behind..];
            let value = value.len() - value.trim_start_matches([' ', '"', '\'']).len();
            (vec![key.to_owned()], behind + value, Slot::Value)
        }
        None => (Vec::new(), line.column, Slot::Key),
    };
    typed += start;
    if slot == Slot::Key {
        typed +=
            text[typed..offset].len() - text[typed..offset].trim_start_matches(['"', '\'']).len();
    }
    let is_part = |letter: char| letter.is_alphanumeric() || "-_.+".contains(letter);
    let rest = &text[offset..];
    let end = offset + (rest.len() - rest.trim_start_matches(is_part).len());
    keys.extend(parent_keys(&text[..start], &line));
    keys.reverse();
    Some(Cursor {
        keys,
        slot,
        word: typed.min(offset)..end,
    })
}

/// The keys above a line, the nearest first.
fn parent_keys(text: &str, line: &Line<'_>) -> Vec<String> {
    let mut keys = Vec::new();
    // A list may be as far to the left as the key that it belongs to.
    let (mut column, mut is_item) = (line.dash.unwrap_or(line.column), line.dash.is_some());
    for above in text.lines().rev() {
        let above = Line::parse(above.trim_end_matches('\r'));
        if above.content.is_empty() || above.content.starts_with('#') {
            continue;
        }
        if above.dash.is_none_or(|dash| dash < column) || !is_item {
            let is_above =
                above.column < column || is_item && above.dash.is_none() && above.column == column;
            if let Some((key, _)) = above.key().filter(|_| is_above) {
                keys.push(key.to_owned());
                (column, is_item) = (above.column, false);
            }
        }
        if let Some(dash) = above.dash.filter(|dash| *dash < column) {
            (column, is_item) = (dash, true);
        }
        if column == 0 && !is_item {
            break;
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::{Slot, cursor};

    /// The keys, the slot and the word at `|`.
    fn at(text: &str) -> (String, Slot, String) {
        let offset = text.find('|').expect("a cursor");
        let text = text.replacen('|', "", 1);
        let cursor = cursor(&text, offset).expect("no comment");
        let word = text[cursor.word.clone()].to_owned();
        (cursor.keys.join("."), cursor.slot, word)
    }

    #[test]
    fn keys_are_those_with_less_indentation() {
        let text = "a:\n  b: 1\n  c:\n    # d:\n\n    e: no|ble\n";
        assert_eq!(at(text), ("a.c.e".into(), Slot::Value, "noble".into()));
        assert_eq!(
            at("a:\n  b:\n    c: 1\n  d|\n"),
            ("a".into(), Slot::Key, "d".into())
        );
        assert_eq!(
            at("a:\n  b: \"x|y\""),
            ("a.b".into(), Slot::Value, "xy".into())
        );
        assert_eq!(at("|"), (String::new(), Slot::Key, String::new()));
    }

    #[test]
    fn an_item_belongs_to_the_key_of_its_list() {
        for list in [
            "w:\n- rule: x\n  where: |y",
            "w:\n  - rule: x\n    where: |y",
        ] {
            assert_eq!(at(list), ("w.where".into(), Slot::Value, "y".into()));
        }
        assert_eq!(
            at("p:\n  w:\n  - rule: |x"),
            ("p.w.rule".into(), Slot::Value, "x".into())
        );
        assert_eq!(
            at("p:\n  w:\n    - a: 1\n    - b|"),
            ("p.w".into(), Slot::Key, "b".into())
        );
        assert_eq!(
            at("p:\r\n  w:\r\n  - a:\r\n      c: |\r\n"),
            ("p.w.a.c".into(), Slot::Value, "".into())
        );
    }

    #[test]
    fn nothing_is_typed_in_a_comment() {
        assert_eq!(cursor("a: 1 # b", 8), None);
        assert_eq!(cursor("# a", 3), None);
    }
}
