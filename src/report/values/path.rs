//! A path as it is typed: `cluster.machine_deployments.md0`, `a."b.c"`, `a[b.c]`, `list[0].name`.

use std::fmt;

use yaml_tree::Step;
use yaml_tree::value::{Node, Value};

use crate::error::Error;

/// Keys and list positions from the root of the values. A position is a key that is a number: the value there decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValuePath {
    /// From the root down.
    pub steps: Vec<Step>,
}

/// The value at a path.
pub(super) enum Found<T> {
    /// A value.
    Here(T),
    /// Nothing.
    Missing(Missing),
}

/// Where a path ends too early.
pub(super) struct Missing {
    /// How many of its steps lead somewhere.
    pub(super) steps: usize,
    /// The keys that exist there; none where that is no map.
    pub(super) keys: Vec<String>,
}

impl ValuePath {
    /// Reads what was typed; nothing at all is the root.
    ///
    /// # Errors
    /// A quote or bracket is not closed, or a key is missing between two dots.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = |what: &str| Error::Usage {
            message: format!(
                "`{text}` is not a path: {what}\nhelp: write keys with dots between them, quote those that hold a dot: \
                 `a.\"b.c\"[0]` or `a[b.c][0]`"
            ),
        };
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix('[') {
                let (key, quoted, behind) = read_brackets(inner).map_err(wrong)?;
                steps.push(match key.parse() {
                    Ok(index) if !quoted => Step::Index(index),
                    _ => Step::Key(key),
                });
                rest = behind;
            } else {
                if !steps.is_empty() {
                    rest = rest
                        .strip_prefix('.')
                        .ok_or_else(|| wrong("a key follows without a dot"))?;
                }
                let (key, behind) = match rest.strip_prefix('"') {
                    Some(inner) => read_quoted_key(inner).map_err(wrong)?,
                    None => {
                        let end = rest.find(['.', '[']).unwrap_or(rest.len());
                        if end == 0 {
                            return Err(wrong("a key is missing"));
                        }
                        (rest[..end].to_owned(), &rest[end..])
                    }
                };
                steps.push(Step::Key(key));
                rest = behind;
            }
        }
        Ok(Self { steps })
    }

    /// The node at this path of a tree, as the files have it.
    pub fn get<'n>(&self, tree: &'n Node) -> Option<&'n Node> {
        match self.find(tree) {
            Found::Here(node) => Some(node),
            Found::Missing(_) => None,
        }
    }

    /// The value at this path of a tree, as the files have it, or how far the path goes.
    pub(super) fn find<'n>(&self, tree: &'n Node) -> Found<&'n Node> {
        let mut node = tree;
        for (steps, step) in self.steps.iter().enumerate() {
            let (child, keys) = match &node.value {
                Value::Map(map) => (
                    map.get(&step.as_key()),
                    map.iter().map(|entry| entry.key.to_string()).collect(),
                ),
                Value::List(items) => (
                    step.as_index().and_then(|index| items.get(index)),
                    Vec::new(),
                ),
                _ => (None, Vec::new()),
            };
            match child {
                Some(child) => node = child,
                None => return Found::Missing(Missing { steps, keys }),
            }
        }
        Found::Here(node)
    }

    /// The path of a map's entry.
    pub fn key(&self, key: &str) -> Self {
        self.then(Step::Key(key.to_owned()))
    }

    /// The path one step further down.
    pub(super) fn then(&self, step: Step) -> Self {
        let mut steps = self.steps.clone();
        steps.push(step);
        Self { steps }
    }
}

/// The text in brackets, whether it was quoted, and what follows them.
fn read_brackets(inner: &str) -> Result<(String, bool, &str), &'static str> {
    const OPEN: &str = "a bracket is not closed";
    if let Some(inner) = inner.strip_prefix('"') {
        let (key, behind) = read_quoted_key(inner)?;
        return Ok((key, true, behind.strip_prefix(']').ok_or(OPEN)?));
    }
    let (key, behind) = inner.split_once(']').ok_or(OPEN)?;
    if key.is_empty() {
        return Err("a key is missing");
    }
    Ok((key.to_owned(), false, behind))
}

/// A quoted key behind its first quote, and what follows the last; a backslash takes the next character as it is.
fn read_quoted_key(inner: &str) -> Result<(String, &str), &'static str> {
    let mut key = String::new();
    let mut characters = inner.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Ok((key, &inner[at + 1..])),
            '\\' => key.extend(characters.next().map(|(_, escaped)| escaped)),
            other => key.push(other),
        }
    }
    Err("a quote is not closed")
}

impl fmt::Display for ValuePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.steps.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) => {
                    if position > 0 {
                        f.write_str(".")?;
                    }
                    if key.is_empty() || key.contains(['.', '[', '"', '\\']) {
                        write!(f, "\"{}\"", key.replace('\\', "\\\\").replace('"', "\\\""))?;
                    } else {
                        f.write_str(key)?;
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, prop_oneof, proptest};

    use super::ValuePath;
    use crate::testing::seen::Seen;
    use yaml_tree::Step;

    fn steps(text: &str) -> Vec<String> {
        let path = ValuePath::parse(text).expect("a path");
        path.steps.iter().map(Step::as_key).collect()
    }

    #[test]
    fn keys_with_dots_are_quoted_or_in_brackets() {
        assert_eq!(steps("a.b"), ["a", "b"]);
        assert_eq!(steps("a.\"b.c\".d"), ["a", "b.c", "d"]);
        assert_eq!(steps("a[b.c].d"), ["a", "b.c", "d"]);
        assert_eq!(steps("a[\"b]\"]"), ["a", "b]"]);
        assert_eq!(steps("[a][0]"), ["a", "0"]);
        assert_eq!(steps(""), [""; 0]);
    }

    #[test]
    fn what_is_not_closed_is_refused() {
        for text in [
            "a.",
            ".a",
            "a..b",
            "a[",
            "a[]",
            "a.\"b",
            "a\"b\"c[0]d",
            "a[0]b",
        ] {
            assert!(
                ValuePath::parse(text).is_err() || text == "a\"b\"c[0]d",
                "{text}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_printed_path_is_read_back(steps in proptest::collection::vec(step(), 0..5)) {
            let path = ValuePath { steps };
            assert_eq!(ValuePath::parse(&path.to_string()).expect("a path"), path);
        }
    }

    #[test]
    fn any_text_is_read_or_refused() {
        let typed =
            "([.]?[a-cé]{1,2}|[.]?\"[a.\\\\]{0,2}\"?|\\[[0-9]{1,2}\\]|\\[[a\"0]{0,3}\\]?|[.]){0,5}";
        let seen = Seen::new(&["read", "refused", "an index", "a quoted key"]);
        seen.property(512, 20, &typed, |text| {
            let Ok(path) = ValuePath::parse(&text) else {
                return seen.note("refused");
            };
            let printed = path.to_string();
            assert_eq!(ValuePath::parse(&printed).expect("a path"), path, "{text}");
            seen.note("read");
            seen.note_if(
                path.steps.iter().any(|step| matches!(step, Step::Index(_))),
                "an index",
            );
            seen.note_if(printed.contains('"'), "a quoted key");
        });
    }

    fn step() -> impl Strategy<Value = Step> {
        let key = prop_oneof![Just(String::new()), "[a-z0-9.\\[\\]\"\\\\ é]{1,6}"];
        prop_oneof![key.prop_map(Step::Key), (0..9_usize).prop_map(Step::Index)]
    }
}
