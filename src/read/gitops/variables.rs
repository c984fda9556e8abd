//! Variables in manifests, as Flux and clusterctl fill them in: `${NAME}`, `${NAME:=default}`.
//!
//! Both use <https://github.com/drone/envsubst>. Its other functions are left as they are, and so are variables without a value.

use std::collections::BTreeMap;
use std::sync::Arc;

use yaml_tree::place::{Located, Place};
use yaml_tree::value::{Entry, Node, Number, Value};

/// The deepest nesting of variables in defaults.
const DEEPEST: usize = 10;

/// Values by name, each with the place that sets it, if that is known.
pub(in crate::read) type Variables = BTreeMap<Arc<str>, Located<Arc<str>>>;

/// The entry that says that more variables are set than these: then no default is known to apply. No variable is called so.
pub(super) const MORE: &str = "*";

/// The same tree with its variables filled in; none if nothing changes.
pub(in crate::read) fn substitute(node: &Node, variables: &Variables) -> Option<Node> {
    let (value, place) = match &node.value {
        Value::String(text) => {
            let filled = fill(text, variables, 0)?;
            let set_at = filled.place.is_known();
            let place = if set_at { filled.place } else { node.place };
            (infer_type(filled.value), place)
        }
        Value::List(items) => {
            let filled: Vec<Option<Node>> = { items.iter() }
                .map(|item| substitute(item, variables))
                .collect();
            if filled.iter().all(Option::is_none) {
                return None;
            }
            let items = filled.into_iter().zip(&**items);
            let items: Vec<Node> = items
                .map(|(new, old)| new.unwrap_or_else(|| old.clone()))
                .collect();
            (Value::from(items), node.place)
        }
        Value::Map(map) => {
            let mut changed = None;
            for entry in &**map {
                if let Some(node) = substitute(&entry.node, variables) {
                    let map = changed.get_or_insert_with(|| Arc::clone(map));
                    Arc::make_mut(map).insert(Entry {
                        node,
                        ..entry.clone()
                    });
                }
            }
            (Value::Map(changed?), node.place)
        }
        _ => return None,
    };
    Some(Node { value, place })
}

/// A whole number where the text is one, as reading the filled-in YAML again gives.
fn infer_type(text: String) -> Value {
    match text.parse::<i64>() {
        Ok(number) if number.to_string() == text => Value::Number(Number::Int(number)),
        _ => Value::from(text),
    }
}

/// A text with its variables filled in, and the place of its value where it is one variable alone; none if nothing changes.
fn fill(text: &str, variables: &Variables, depth: usize) -> Option<Located<String>> {
    let (mut filled, mut rest) = (String::new(), text);
    let (mut place, mut is_changed) = (Place::NONE, false);
    while let Some(start) = rest.find("${") {
        let end = start + closing(&rest[start..])?;
        let (before, whole) = (&rest[..start], &rest[start..end]);
        filled.push_str(before);
        rest = &rest[end..];
        let value = if before.ends_with('$') {
            None
        } else {
            value(&whole[2..whole.len() - 1], variables, depth)
        };
        match value {
            Some(value) => {
                filled.push_str(&value.value);
                let is_all = whole.len() == text.len();
                place = if is_all { value.place } else { Place::NONE };
                is_changed = true;
            }
            None => filled.push_str(whole),
        }
    }
    filled.push_str(rest);
    is_changed.then(|| Located::new(filled, place))
}

/// The end of the variable that a text begins with.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.checked_sub(1)?,
            _ => continue,
        }
        if depth == 0 {
            return Some(index + 1);
        }
    }
    None
}

/// The value of what is between the braces.
fn value(inner: &str, variables: &Variables, depth: usize) -> Option<Located<Arc<str>>> {
    let is_of_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let end = inner.find(|character| !is_of_name(character));
    let (name, operation) = inner.split_at(end.unwrap_or(inner.len()));
    let set = variables.get(name).cloned();
    let default = match operation {
        "" => return set,
        _ => [":=", ":-", "=", "-"]
            .iter()
            .find_map(|operator| operation.strip_prefix(operator))?,
    };
    if let Some(set) = set.filter(|set| !set.value.is_empty()) {
        return Some(set);
    }
    if variables.contains_key(MORE) {
        return Some(Located::new(format!("${{{name}}}").into(), Place::NONE));
    }
    let nested = if depth < DEEPEST {
        fill(default, variables, depth + 1)
    } else {
        None
    };
    let text = nested.map_or_else(|| default.into(), |nested| Arc::from(nested.value));
    Some(Located::new(text, Place::NONE))
}

#[cfg(test)]
mod tests {
    use yaml_tree::place::{FileId, Located, Place};

    use super::{DEEPEST, Variables, fill};

    #[test]
    fn variables_have_values_or_defaults_or_stay() {
        let place = Place {
            file: FileId(3),
            start: 1,
            end: 2,
        };
        let set = [("A", "one"), ("EMPTY", "")];
        let variables: Variables = set
            .into_iter()
            .map(|(name, value)| (name.into(), Located::new(value.into(), place)))
            .collect();
        for (text, expected) in [
            ("${A}", Some("one")),
            ("x-${A}-${B}", Some("x-one-${B}")),
            ("${B:=v1.34.1}", Some("v1.34.1")),
            ("${B:-${A}}", Some("one")),
            ("${B=x}${A-y}", Some("xone")),
            ("${EMPTY:=x}", Some("x")),
            ("${EMPTY}", Some("")),
            ("${B}", None),
            ("$${A}", None),
            ("${A", None),
            ("${A^^}", None),
            ("${A/one/two}", None),
            ("A", None),
        ] {
            let filled = fill(text, &variables, 0);
            let filled = filled.map(|filled| filled.value);
            assert_eq!(filled.as_deref(), expected, "{text}");
        }
        let place_of = |text: &str| {
            let filled = fill(text, &variables, 0);
            filled.map(|filled| filled.place)
        };
        assert_eq!(place_of("${A}"), Some(place));
        assert_eq!(place_of("a${A}"), Some(Place::NONE));
    }

    #[test]
    fn variables_end_at_the_deepest_default() {
        let nested =
            |depth: usize| (0..depth).fold("x".to_owned(), |inner, _| format!("${{B:={inner}}}"));
        let filled = |depth: usize| {
            let filled = fill(&nested(depth), &Variables::new(), 0);
            filled.expect("a default").value
        };
        assert_eq!(filled(DEEPEST + 1), "x");
        assert_eq!(filled(DEEPEST + 2), "${B:=x}");
    }
}
