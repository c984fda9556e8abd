//! Selects the objects for a patch: kustomize's target selector, with anchored regular expressions and label selectors.

use go_template::regexp::Regexp;
use yaml_tree::value::Node;

use super::object::Object;

/// A target. A missing part selects everything.
pub(super) struct Selector {
    group: Option<Regexp>,
    version: Option<Regexp>,
    kind: Option<Regexp>,
    name: Option<Regexp>,
    namespace: Option<Regexp>,
    labels: Vec<Requirement>,
    annotations: Vec<Requirement>,
}

impl Selector {
    /// Parses a `target`; the error describes what is wrong.
    pub(super) fn new(target: &Node) -> Result<Self, String> {
        let part = |field: &str| match target.text(&[field]) {
            None | Some("") => Ok(None),
            Some(pattern) => Regexp::new(&format!("^(?:{pattern})$"))
                .map(Some)
                .map_err(|_| format!("`{pattern}` is not a regular expression")),
        };
        let marks = |field: &str| requirements(target.text(&[field]).unwrap_or_default());
        Ok(Self {
            group: part("group")?,
            version: part("version")?,
            kind: part("kind")?,
            name: part("name")?,
            namespace: part("namespace")?,
            labels: marks("labelSelector")?,
            annotations: marks("annotationSelector")?,
        })
    }

    /// Whether it selects an object, by its current name or an earlier one.
    pub(super) fn selects(&self, object: &Object) -> bool {
        let fits = |part: &Option<Regexp>, text: &str| {
            part.as_ref().is_none_or(|pattern| pattern.is_match(text))
        };
        let named = object
            .names()
            .any(|named| fits(&self.name, &named.name) && fits(&self.namespace, &named.namespace));
        let marked = |requirements: &[Requirement], field: &str| {
            requirements
                .iter()
                .all(|requirement| requirement.is_met(object.metadata(field, &requirement.key)))
        };
        named
            && fits(&self.group, object.group())
            && fits(&self.version, object.version())
            && fits(&self.kind, object.kind())
            && marked(&self.labels, "labels")
            && marked(&self.annotations, "annotations")
    }
}

/// One requirement of a label selector.
#[derive(Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    condition: Condition,
}

#[derive(Debug, PartialEq, Eq)]
enum Condition {
    Present,
    Absent,
    In(Vec<String>),
    NotIn(Vec<String>),
}

impl Requirement {
    fn is_met(&self, value: Option<&str>) -> bool {
        let is_among =
            |list: &[String]| value.is_some_and(|value| list.iter().any(|one| one == value));
        match &self.condition {
            Condition::Present => value.is_some(),
            Condition::Absent => value.is_none(),
            Condition::In(list) => is_among(list),
            Condition::NotIn(list) => !is_among(list),
        }
    }
}

/// Parses `a=b,c!=d,e in (x,y),f notin (z),g,!h`
/// (<https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors>).
fn requirements(selector: &str) -> Result<Vec<Requirement>, String> {
    parts(selector)
        .into_iter()
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| requirement(part).ok_or_else(|| format!("`{part}` is not a label selector")))
        .collect()
}

/// Splits at commas outside of parentheses.
fn parts(selector: &str) -> Vec<&str> {
    let (mut parts, mut start, mut is_inside) = (Vec::new(), 0, false);
    for (index, character) in selector.char_indices() {
        match character {
            '(' => is_inside = true,
            ')' => is_inside = false,
            ',' if !is_inside => {
                parts.push(&selector[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&selector[start..]);
    parts
}

fn requirement(part: &str) -> Option<Requirement> {
    let is_key = |key: &str| !key.is_empty() && !key.contains([' ', '=', '!', '(', ')']);
    let one = |value: &str| vec![value.trim().to_owned()];
    let (key, condition) = if let Some(key) = part.strip_prefix('!') {
        (key, Condition::Absent)
    } else if let Some((key, value)) = part.split_once("!=") {
        (key, Condition::NotIn(one(value)))
    } else if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        (key, Condition::In(one(value)))
    } else if let Some((key, rest)) = part.split_once(char::is_whitespace) {
        let rest = rest.trim();
        let (list, is_in) = match rest.strip_prefix("notin") {
            Some(list) => (list, false),
            None => (rest.strip_prefix("in")?, true),
        };
        let list = list.trim().strip_prefix('(')?.strip_suffix(')')?;
        let list = list
            .split(',')
            .map(|value| value.trim().to_owned())
            .collect();
        (
            key,
            if is_in {
                Condition::In(list)
            } else {
                Condition::NotIn(list)
            },
        )
    } else {
        (part, Condition::Present)
    };
    let key = key.trim();
    is_key(key).then(|| Requirement {
        key: key.to_owned(),
        condition,
    })
}

#[cfg(test)]
mod tests {
    use super::{Condition, requirements};

    #[test]
    fn label_selectors_have_six_forms() {
        let read = requirements("a=b, c!=d,e in (x, y),f notin (z),g,!h,i==j").expect("is one");
        let condition: Vec<_> = read.iter().map(|one| (&*one.key, &one.condition)).collect();
        let list = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
        assert_eq!(
            condition,
            [
                ("a", &Condition::In(list(&["b"]))),
                ("c", &Condition::NotIn(list(&["d"]))),
                ("e", &Condition::In(list(&["x", "y"]))),
                ("f", &Condition::NotIn(list(&["z"]))),
                ("g", &Condition::Present),
                ("h", &Condition::Absent),
                ("i", &Condition::In(list(&["j"]))),
            ]
        );
        assert!(requirements("a b c").is_err());
    }

    #[test]
    fn a_missing_label_is_not_in_any_list() {
        let read = requirements("a!=b").expect("is one");
        assert!(read[0].is_met(None) && read[0].is_met(Some("c")) && !read[0].is_met(Some("b")));
    }
}
