//! Notices about scalars, and the marks of an expression that lacks its quotes.

use crate::model::json::{Html, to_json};
use crate::model::place::Place;

use super::compose::{Composer, Made};
use super::notice::{Notice, NoticeKind};
use super::resolve::{self, Resolved};

impl Composer<'_> {
    /// Tells of a plain scalar that becomes something else than it looks like. `key` is what it becomes as a key.
    pub(super) fn note_misreading(&mut self, made: &Made, key: Option<&str>) {
        let Some(resolved) = made.scalar else { return };
        if made.is_alias || matches!(resolved, Resolved::Null | Resolved::Text | Resolved::Binary) {
            return;
        }
        let place = made.node.place;
        let text = &self.text[place.start as usize..place.end as usize];
        if text.starts_with(['"', '\'', '|', '>']) {
            return;
        }
        let becomes = match key {
            Some(key) => key.to_owned(),
            None => to_json(&made.node.value, Html::Plain),
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

    /// Whether a map starts as an expression does: `{{`.
    pub(super) fn is_template(&self, map: Place) -> bool {
        let start = map.start as usize;
        let bytes = self.text.as_bytes();
        bytes.get(start) == Some(&b'{')
            && (bytes.get(start + 1) == Some(&b'{') || (start > 0 && bytes[start - 1] == b'{'))
    }
}
