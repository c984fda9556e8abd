//! Collects the splices of an edit, and applies them together.

use super::EditError;
use super::write::{MemberStyle, Parent};

/// Ranges of the text with their replacements.
#[derive(Debug, Default)]
pub(super) struct Splices(Vec<(std::ops::Range<usize>, String)>);

impl Splices {
    /// Adds a splice. Splices at the same position keep their order.
    pub(super) fn put(&mut self, range: std::ops::Range<usize>, text: impl Into<String>) {
        self.0.push((range, text.into()));
    }

    /// The splices in the order of the text.
    pub(super) fn into_sorted(mut self) -> Vec<(std::ops::Range<usize>, String)> {
        self.0.sort_by_key(|(range, _)| (range.start, range.end));
        self.0
    }

    /// Applies the splices to the text.
    pub(super) fn apply(self, text: &str) -> Result<String, EditError> {
        let mut out = String::with_capacity(text.len() + 64);
        let mut done = 0;
        for (range, new) in self.into_sorted() {
            let kept = text.get(done..range.start).ok_or(EditError::Unsupported)?;
            out.push_str(kept);
            out.push_str(&new);
            done = range.end;
        }
        out.push_str(text.get(done..).ok_or(EditError::Unsupported)?);
        Ok(out)
    }
}

/// The position of a value.
#[derive(Clone, Copy)]
pub(super) struct ValuePosition {
    /// The end of the `:` or `-`, and of an anchor or tag after it.
    pub(super) start: usize,
    pub(super) parent: Parent,
    pub(super) in_flow: bool,
    /// The style of the members beside it.
    pub(super) member_style: MemberStyle,
}
