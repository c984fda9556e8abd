//! Selects the objects for a patch: kustomize's target selector, with anchored regular expressions and label selectors.

use go_template::regexp::Regexp;
use yaml_tree::value::Node;

use super::object::{Named, Object};

/// A target. A missing part selects everything.
pub(super) struct Selector {
    group: Option<Part>,
    version: Option<Part>,
    kind: Option<Part>,
    name: Option<Part>,
    namespace: Option<Part>,
    labels: Vec<Requirement>,
    annotations: Vec<Requirement>,
}

/// What a part of a name is compared with.
struct Part {
    text: String,
    /// Nearly all are words, which match themselves, and it takes a while to compile a pattern.
    pattern: Option<Regexp>,
}

/// How parts are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Text,
    Pattern,
}

impl Part {
    /// Parses a field; none where it is empty.
    fn parse(text: &str) -> Result<Option<Self>, String> {
        let is_word = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'-';
        let pattern = if text.bytes().all(is_word) {
            None
        } else {
            let pattern = Regexp::new(&format!("^(?:{text})$"));
            Some(pattern.map_err(|_| format!("`{text}` is not a regular expression"))?)
        };
        let part = Self {
            text: text.to_owned(),
            pattern,
        };
        Ok((!text.is_empty()).then_some(part))
    }

    fn fits(part: &Option<Self>, text: &str, by: By) -> bool {
        part.as_ref().is_none_or(|part| match by {
            By::Pattern if let Some(pattern) = &part.pattern => pattern.is_match(text),
            By::Text | By::Pattern => part.text == text,
        })
    }
}

impl Selector {
    /// Parses a `target`; the error describes what is wrong.
    pub(super) fn new(target: &Node) -> Result<Self, String> {
        let part = |field: &str| Part::parse(target.text(&[field]).unwrap_or_default());
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

    /// Whether it selects an object, by its current name and namespace or its first ones.
    pub(super) fn selects(&self, object: &Object) -> bool {
        let ends = [object.original(), object.current()];
        let fits = |part: &Option<Part>, text: fn(&Named) -> &str| {
            ends.iter()
                .any(|named| Part::fits(part, text(named), By::Pattern))
        };
        fits(&self.name, |named| &named.name)
            && fits(&self.namespace, |named| &named.namespace)
            && self.is_of(object, By::Pattern)
            && self.is_marked(object)
    }

    /// Whether kind and names fit, by any name that the object has had.
    pub(super) fn names(&self, object: &Object, by: By) -> bool {
        let mut names = object.names();
        self.is_of(object, by)
            && names.any(|named| {
                Part::fits(&self.name, &named.name, by)
                    && Part::fits(&self.namespace, &named.namespace, by)
            })
    }

    fn is_of(&self, object: &Object, by: By) -> bool {
        Part::fits(&self.group, object.group(), by)
            && Part::fits(&self.version, object.version(), by)
            && Part::fits(&self.kind, object.kind(), by)
    }

    /// Whether labels and annotations fit.
    pub(super) fn is_marked(&self, object: &Object) -> bool {
        let marked = |requirements: &[Requirement], field: &'static str| {
            requirements
                .iter()
                .all(|requirement| requirement.is_met(object.metadata(field, &requirement.key)))
        };
        marked(&self.labels, "labels") && marked(&self.annotations, "annotations")
    }

    /// Whether it says anything about kind and names.
    pub(super) fn has_name(&self) -> bool {
        let parts = [
            &self.group,
            &self.version,
            &self.kind,
            &self.name,
            &self.namespace,
        ];
        parts.into_iter().any(Option::is_some)
    }

    /// Whether it says anything about labels and annotations.
    pub(super) fn has_marks(&self) -> bool {
        !self.labels.is_empty() || !self.annotations.is_empty()
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
    use super::{Condition, Part, requirements};

    #[test]
    fn only_what_is_no_word_is_compiled() {
        let is_compiled = |text| {
            let part = Part::parse(text).expect("it is a pattern");
            part.map(|part| part.pattern.is_some())
        };
        assert_eq!(is_compiled(""), None);
        assert_eq!(is_compiled("Cluster"), Some(false));
        assert_eq!(is_compiled("edge-1"), Some(false));
        assert_eq!(is_compiled("edge.1"), Some(true));
    }

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
