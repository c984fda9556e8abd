//! Expressions that change other values, which Helm does in the order of its evaluation, and metalmark does not.

use std::sync::Arc;

use yaml_tree::merge::{Layer, LayerKind};
use yaml_tree::place::{Place, Sources};
use yaml_tree::value::{Node, Value};

use crate::model::finding::Finding;
use crate::model::rule::RuleId;

/// The functions that change the map that is their first argument.
const CHANGING: [&str; 7] = [
    "merge",
    "mergeOverwrite",
    "mustMerge",
    "mustMergeOverwrite",
    "merge-append",
    "set",
    "unset",
];

/// Where an expression changes other values, and by which function.
#[derive(Clone, Debug)]
pub(super) struct ChangedValue {
    keys: Vec<Arc<str>>,
    place: Place,
    function: &'static str,
}

/// The first expression in each of these layers that changes other values.
pub(super) fn changes<'l>(layers: impl IntoIterator<Item = &'l Layer>) -> Vec<ChangedValue> {
    let first = |layer: &Layer| {
        let mut change = change(&layer.tree)?;
        change.keys.reverse();
        Some(change)
    };
    layers.into_iter().filter_map(first).collect()
}

impl ChangedValue {
    /// The finding, where the expression is in one of the layers of a chart.
    pub(super) fn chart_finding(&self, layers: &[Layer], sources: &Sources) -> Finding {
        let keys: Vec<&str> = self.keys.iter().map(|key| &**key).collect();
        let own = { layers.iter() }.filter(|layer| layer.kind == LayerKind::Chart);
        let place = { own.map(|layer| layer.tree.place_at(&keys)) }.find(|place| place.is_known());
        let place = place.unwrap_or(Place::NONE);
        Self {
            place,
            ..self.clone()
        }
        .finding(sources)
    }

    pub(super) fn finding(&self, sources: &Sources) -> Finding {
        let message = format!(
            "`{}` changes other values by `{}`, which is not followed: what reads them may be something else in Helm",
            self.keys.join("."),
            self.function
        );
        Finding::new(RuleId::ExpressionOrder, message)
            .with_label(
                sources.resolve(self.place),
                "it changes values that others read",
            )
            .help("write the value where it is read, or change a copy: `deepCopy .Values.…`")
    }
}

/// The first change in a value. Its keys are those below the value, the last one first.
fn change(node: &Node) -> Option<ChangedValue> {
    match &node.value {
        Value::String(text) => changing_function(text).map(|function| ChangedValue {
            keys: Vec::new(),
            place: node.place,
            function,
        }),
        Value::List(items) => items.iter().find_map(change),
        Value::Map(map) => map.iter().find_map(|entry| {
            let mut found = change(&entry.node)?;
            found.keys.push(Arc::clone(&entry.key));
            Some(found)
        }),
        _ => None,
    }
}

/// The function that a text calls to change values: its first argument is one of them.
fn changing_function(text: &str) -> Option<&'static str> {
    let called = |(at, _): (usize, &str)| {
        let open = text[..at].rfind("{{")?;
        if text[open..at].contains("}}") {
            return None;
        }
        let before = text[open + 2..at].trim_end_matches(['$', '(', ' ', '\t', '\n']);
        let is_gap = before.len() < text[open + 2..at].trim_end_matches('$').len();
        let is_name =
            |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '"';
        let name = before.rsplit(|letter| !is_name(letter)).next()?;
        let is_appended = name == "tuple" && text[at..].contains("merge-append");
        let name = if is_appended { "merge-append" } else { name };
        CHANGING.into_iter().find(|own| is_gap && *own == name)
    };
    // Most texts are no expressions, and this is tried on all.
    let is_expression = text.as_bytes().contains(&b'{');
    let mut values = is_expression.then(|| text.match_indices(".Values"))?;
    values.find_map(called)
}

#[cfg(test)]
mod tests {
    use super::changing_function;

    #[test]
    fn functions_whose_first_argument_is_a_value_change_it() {
        for (text, found) in [
            ("{{ $_ := mergeOverwrite .Values.images (dict) }}", true),
            ("{{- $_ := set ($.Values) \"a\" 1 }}", true),
            ("{{ dict \"a\" 1 | merge .Values.images | toJson }}", true),
            (
                "{{ tuple .Values.a .Values.b | include \"merge-append\" }}",
                true,
            ),
            ("{{ merge (dict) .Values.images }}", false),
            ("{{ set (deepCopy .Values.a) \"b\" 1 }}", false),
            (
                "{{ tuple .Values.a true | include \"set-only-if\" }}",
                false,
            ),
            ("{{ .Values.a }} set .Values", false),
        ] {
            assert_eq!(changing_function(text).is_some(), found, "{text}");
        }
    }
}
