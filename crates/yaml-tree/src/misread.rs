//! Finds scalars that are easily misread, and expressions without quotes.

use crate::json::{Html, to_json};
use crate::place::Place;

use super::compose::{Composed, Composer};
use super::notice::{Notice, NoticeKind};
use super::resolve::{self, Resolved};

impl Composer<'_> {
    /// Adds a notice for a plain scalar whose value differs from its text. `key` is its text as a key, if it is one.
    pub(super) fn note_misreading(&mut self, composed: &Composed, key: Option<&str>) {
        let Some(resolved) = composed.scalar else {
            return;
        };
        if composed.is_alias
            || matches!(resolved, Resolved::Null | Resolved::Text | Resolved::Binary)
        {
            return;
        }
        let place = composed.node.place;
        let text = &self.text[place.start as usize..place.end as usize];
        if text.starts_with(['"', '\'', '|', '>']) {
            return;
        }
        if resolve::is_as_written(resolved, text) {
            return;
        }
        let becomes = match key {
            Some(key) => key.to_owned(),
            None => to_json(&composed.node.value, Html::Plain),
        };
        if let Some(why) = resolve::misreading(resolved, text, &becomes) {
            let kind = NoticeKind::Misread {
                text: text.to_owned(),
                becomes,
                why,
                is_key: key.is_some(),
            };
            self.notices.push(Notice { kind, place });
        }
    }

    /// Whether a map starts with `{{`, as an expression does.
    pub(super) fn is_template(&self, map: Place) -> bool {
        let start = map.start as usize;
        let bytes = self.text.as_bytes();
        bytes.get(start) == Some(&b'{')
            && (bytes.get(start + 1) == Some(&b'{') || (start > 0 && bytes[start - 1] == b'{'))
    }
}
