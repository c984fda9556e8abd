//! YAML inside a YAML string: the places of its nodes in the outer file.

use std::sync::Arc;

use crate::model::place::Place;
use crate::model::value::{Entry, Map, Node, Value};

/// A string of the outer file that is YAML itself.
pub(super) struct Embedded<'a> {
    scalar: Place,
    text: &'a str,
    /// Where each line of the text starts in it, and in the outer file. None unless the outer file spells the text line by
    /// line, in a literal block: then every place is the whole scalar's.
    lines: Option<Vec<(usize, usize)>>,
}

impl<'a> Embedded<'a> {
    pub(super) fn new(outer: &str, scalar: Place, text: &'a str) -> Self {
        Self {
            scalar,
            text,
            lines: literal_lines(outer, scalar, text),
        }
    }

    /// The place in the outer file of a place in the text.
    pub(super) fn place(&self, inner: Place) -> Place {
        let Some(lines) = &self.lines else {
            return self.scalar;
        };
        let outer = |offset: u32| {
            let offset = (offset as usize).min(self.text.len());
            let line = lines.partition_point(|(start, _)| *start <= offset);
            let (start, outer) = line.checked_sub(1).and_then(|line| lines.get(line))?;
            u32::try_from(outer + (offset - start)).ok()
        };
        // The last byte decides where a place ends: its end may be the start of the next line.
        let last = inner.end.saturating_sub(1).max(inner.start);
        match (outer(inner.start), outer(last)) {
            (Some(start), Some(last)) => Place {
                start,
                end: last + u32::from(inner.end > inner.start),
                ..self.scalar
            },
            _ => self.scalar,
        }
    }

    /// The tree with every place moved to the outer file.
    pub(super) fn relocated(&self, node: &Node) -> Node {
        let value = match &node.value {
            Value::List(items) => {
                let items: Vec<Node> = items.iter().map(|item| self.relocated(item)).collect();
                Value::from(items)
            }
            Value::Map(map) => {
                let entry = |entry: &Entry| Entry {
                    key: Arc::clone(&entry.key),
                    key_place: self.place(entry.key_place),
                    node: self.relocated(&entry.node),
                };
                Value::from(map.iter().map(entry).collect::<Map>())
            }
            scalar => scalar.clone(),
        };
        Node {
            value,
            place: self.place(node.place),
        }
    }
}

/// The lines of a literal block scalar: all are indented alike, and nothing is folded or escaped.
fn literal_lines(outer: &str, scalar: Place, text: &str) -> Option<Vec<(usize, usize)>> {
    let start = scalar.start as usize;
    let token = outer.get(start..).filter(|token| token.starts_with('|'))?;
    let mut outer_start = start + token.find('\n')? + 1;
    let mut inner_start = 0;
    let mut indent = None;
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n') {
        let spelled = outer.get(outer_start..)?;
        let spelled = &spelled[..spelled.find('\n').unwrap_or(spelled.len())];
        let content = line.strip_suffix('\n').unwrap_or(line);
        let spelled_content = spelled.strip_suffix('\r').unwrap_or(spelled);
        let indented = spelled_content.strip_suffix(content)?.len();
        if !content.is_empty() && *indent.get_or_insert(indented) != indented {
            return None;
        }
        lines.push((inner_start, outer_start + indented));
        inner_start += line.len();
        outer_start += spelled.len() + 1;
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::Embedded;
    use crate::model::place::{FileId, Place};

    fn place(start: usize, end: usize) -> Place {
        Place {
            file: FileId(0),
            start: start as u32,
            end: end as u32,
        }
    }

    fn spelled<'o>(outer: &'o str, embedded: &Embedded<'_>, inner: (usize, usize)) -> &'o str {
        let place = embedded.place(place(inner.0, inner.1));
        &outer[place.start as usize..place.end as usize]
    }

    #[test]
    fn a_place_in_a_literal_block_is_where_the_file_spells_it() {
        for newline in ["\n", "\r\n"] {
            let outer = "data:\n  values.yaml: |\n    a: one\n\n    b:\n      - two\nx: y\n";
            let outer = outer.replace('\n', newline);
            let text = "a: one\n\nb:\n  - two\n";
            let start = outer.find('|').unwrap_or_default();
            let embedded = Embedded::new(&outer, place(start, outer.len() - 6), text);
            for word in ["one", "two", "b", "a: one"] {
                let inner = text.find(word).unwrap_or_default();
                let found = spelled(&outer, &embedded, (inner, inner + word.len()));
                assert_eq!(found, word);
            }
        }
    }

    #[test]
    fn text_that_is_spelled_in_another_way_has_the_whole_scalars_place() {
        let outer = "a: \"x: 1\\ny: 2\\n\"\n";
        let scalar = place(3, outer.len() - 1);
        let embedded = Embedded::new(outer, scalar, "x: 1\ny: 2\n");
        assert_eq!(embedded.place(place(8, 9)), scalar);
    }
}
