//! The output of a template file, with the positions in the file that its parts were written from.

use std::ops::Range;

/// The text that Go prints for a missing value, and that Helm removes from the result.
pub(super) const NO_VALUE: &str = "<no value>";

/// The output of a template, and where in the template each part of it was written.
#[derive(Debug, Default)]
pub struct Rendered {
    /// The output, without `<no value>`.
    pub text: String,
    /// In the order of the output, without gaps.
    parts: Vec<Part>,
}

/// A part of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The end of the part in the output.
    pub(super) end: usize,
    /// The byte range of the template: the text itself, or the expression that was printed.
    pub(super) span: (u32, u32),
    /// Whether the part is text of the template, byte by byte.
    pub(super) is_text: bool,
}

impl Rendered {
    /// The output without each [`NO_VALUE`].
    pub(super) fn new(text: String, mut parts: Vec<Part>) -> Self {
        let removed: Vec<usize> = text.match_indices(NO_VALUE).map(|(at, _)| at).collect();
        if removed.is_empty() {
            return Self { text, parts };
        }
        let mut count = 0;
        for part in &mut parts {
            while { removed.get(count) }.is_some_and(|start| start + NO_VALUE.len() <= part.end) {
                count += 1;
            }
            let inside = { removed.get(count) }.map_or(0, |start| part.end.saturating_sub(*start));
            part.end -= count * NO_VALUE.len() + inside;
        }
        let text = text.replace(NO_VALUE, "");
        Self { text, parts }
    }

    /// The byte range of the template that a range of the output was written from.
    pub fn span(&self, output: Range<usize>) -> Range<usize> {
        let start = self.part(output.start).map_or(0, |(from, part)| {
            let inside = if part.is_text { output.start - from } else { 0 };
            part.span.0 as usize + inside
        });
        let last = output.end.saturating_sub(1).max(output.start);
        let end = self.part(last).map_or(start, |(from, part)| {
            if part.is_text {
                part.span.0 as usize + last + 1 - from
            } else {
                part.span.1 as usize
            }
        });
        start..end.max(start)
    }

    /// The part at an offset of the output, and where it begins there.
    fn part(&self, at: usize) -> Option<(usize, Part)> {
        let index = self.parts.partition_point(|part| part.end <= at);
        let from = index
            .checked_sub(1)
            .map_or(0, |before| self.parts[before].end);
        Some((from, *self.parts.get(index)?))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Budget, Limits, NoHost, Value, parse, render};

    #[test]
    fn each_part_of_the_output_knows_where_it_was_written() {
        let text =
            "a: {{ .x }}b {{- range until 2 }}\n{{ $.x }}{{ . }}: v{{ end }}\nend: {{ `1` }}2\n";
        let template = parse("test", text).expect("a template");
        let values = Value::map([("x".into(), Value::Nil)].into());
        let budget = Budget::new(Limits::default());
        let rendered = render(&template, &values, &NoHost, &budget).expect("rendered");
        assert_eq!(rendered.text, "a: b\n0: v\n1: v\nend: 12\n");
        let from = |part: &str| {
            let start = rendered.text.find(part).expect("in the output");
            &text[rendered.span(start..start + part.len())]
        };
        assert_eq!(from("b"), "b");
        assert_eq!(from("a: b"), "a: {{ .x }}b");
        assert_eq!(from("1: v"), ". }}: v");
        assert_eq!(from("end"), "end");
        assert_eq!(from("2\n"), "2\n");
    }
}
