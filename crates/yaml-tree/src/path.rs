//! Paths through a tree: the way to one node, as [`Step`]s, and what several notations write to reach any number of nodes.
//!
//! A [`Path`] finds nodes; edits take the steps to one. Who may go how deep, and what that costs, is for the callers to say.

use std::convert::Infallible;

use crate::value::{Node, Value};

/// A step from a node to a child.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// The entry of a map with this key.
    Key(String),
    /// The item of a list with this index.
    Index(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

impl Step {
    /// The step into a map.
    pub fn as_key(&self) -> String {
        match self {
            Self::Key(key) => key.clone(),
            Self::Index(index) => index.to_string(),
        }
    }

    /// The step into a list.
    pub fn as_index(&self) -> Option<usize> {
        match self {
            Self::Key(key) => key.parse().ok(),
            Self::Index(index) => Some(*index),
        }
    }
}

/// The node at these steps below another one.
pub fn node_at<'n>(node: &'n Node, steps: &[Step]) -> Option<&'n Node> {
    steps.iter().try_fold(node, |node, step| match step {
        Step::Key(key) => node.value.as_map()?.get(key),
        Step::Index(index) => node.value.as_list()?.get(*index),
    })
}

/// The nodes directly below one, each with the step to it.
pub fn children(node: &Node) -> impl Iterator<Item = (Step, &Node)> {
    let entries = node.entries(&[]);
    let items = node.items(&[]).iter().enumerate();
    entries
        .map(|entry| (Step::from(&*entry.key), &entry.node))
        .chain(items.map(|(index, item)| (Step::Index(index), item)))
}

/// A part of a path: what it leads to from one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A child. An index into a map is one of its keys.
    One(Step),
    /// Each item of a list.
    Every,
    /// The items of a list that have this text below this key.
    Where {
        /// The key.
        key: String,
        /// The text.
        value: String,
    },
}

/// A path to any number of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path(Vec<Part>);

impl Path {
    /// Reads `a.b[].c[0]`, where `[]` is each item; none where brackets hold anything else. A key has no dot.
    pub fn parse_fields(text: &str) -> Option<Self> {
        let mut parts = Vec::new();
        for part in text.split('.') {
            let (key, indexes) = part.split_once('[').unwrap_or((part, ""));
            parts.push(Part::One(Step::from(key)));
            for index in indexes.split('[').filter(|index| !index.is_empty()) {
                parts.push(match index.strip_suffix(']')? {
                    "" => Part::Every,
                    index => Part::One(Step::Index(index.parse().ok()?)),
                });
            }
        }
        Some(Self(parts))
    }

    /// Reads a `fieldPath` of kustomize: `a.b.[name=x].c`, `a.0`, `a.*`; a dot within a key has a backslash before it or brackets
    /// around it.
    pub fn parse_field_path(text: &str) -> Self {
        let mut parts = vec![String::new()];
        let (mut characters, mut is_inside) = (text.chars(), false);
        while let Some(character) = characters.next() {
            let last = parts.len() - 1;
            match character {
                '\\' => parts[last].extend(characters.next()),
                '.' if !is_inside => parts.push(String::new()),
                other => {
                    is_inside = other == '[' || is_inside && other != ']';
                    parts[last].push(other);
                }
            }
        }
        let part = |part: String| {
            let inner = part.strip_prefix('[');
            let inner = inner.and_then(|part| part.strip_suffix(']'));
            match (inner.map(|inner| inner.split_once('=')), part.parse()) {
                (Some(Some((key, value))), _) => Part::Where {
                    key: key.to_owned(),
                    value: value.to_owned(),
                },
                (Some(None), _) => Part::One(Step::from(inner.unwrap_or_default())),
                (None, Ok(index)) => Part::One(Step::Index(index)),
                (None, _) if part == "*" => Part::Every,
                (None, _) => Part::One(Step::Key(part)),
            }
        };
        Self(parts.into_iter().map(part).collect())
    }

    /// How many parts it has.
    pub fn depth(&self) -> usize {
        self.0.len()
    }

    /// Whether it leads to each item of a list.
    pub fn has_every(&self) -> bool {
        self.0.contains(&Part::Every)
    }

    /// Its steps, where it leads to one node at most.
    pub fn steps(self) -> Option<Vec<Step>> {
        let step = |part| match part {
            Part::One(step) => Some(step),
            Part::Every | Part::Where { .. } => None,
        };
        self.0.into_iter().map(step).collect()
    }

    /// The nodes that it leads to below a root, in their order, each with the steps to it.
    pub fn nodes<'n>(&self, root: &'n Node) -> Vec<(Vec<Step>, &'n Node)> {
        let mut nodes = Vec::new();
        let mut visit = |steps: &[Step], node: Option<&'n Node>| {
            nodes.extend(node.map(|node| (steps.to_vec(), node)));
            Ok::<(), Infallible>(())
        };
        let Ok(()) = self.walk(root, false, &mut visit);
        nodes
    }

    /// Visits what it leads to below a root, in the order of the nodes, with the steps to it; if it `creates`, also keys that maps
    /// lack, without a node.
    ///
    /// # Errors
    /// Those of `visit`.
    pub fn walk<'n, E>(
        &self,
        root: &'n Node,
        creates: bool,
        visit: &mut Visit<'_, 'n, E>,
    ) -> Result<(), E> {
        let mut walk = Walk {
            creates,
            visit,
            steps: Vec::new(),
        };
        walk.follow(&self.0, Some(root))
    }
}

/// What is done at the end of a path: with the steps to it, and its node if there is one.
type Visit<'v, 'n, E> = dyn FnMut(&[Step], Option<&'n Node>) -> Result<(), E> + 'v;

/// A way along a path.
struct Walk<'n, 'w, E> {
    creates: bool,
    visit: &'w mut Visit<'w, 'n, E>,
    steps: Vec<Step>,
}

impl<'n, E> Walk<'n, '_, E> {
    fn follow(&mut self, parts: &[Part], node: Option<&'n Node>) -> Result<(), E> {
        let Some((part, rest)) = parts.split_first() else {
            return (self.visit)(&self.steps, node);
        };
        match (part, node.map(|node| &node.value)) {
            (Part::One(step), Some(Value::Map(map))) => {
                let key = step.as_key();
                match map.get(&key) {
                    None if !self.creates => Ok(()),
                    child => self.step(Step::Key(key), rest, child),
                }
            }
            (Part::One(Step::Key(key)), None | Some(Value::Null)) if self.creates => {
                self.step(Step::Key(key.clone()), rest, None)
            }
            (_, Some(Value::List(items))) => {
                for (index, item) in items.iter().enumerate() {
                    let is_meant = match part {
                        Part::One(step) => *step == Step::Index(index),
                        Part::Every => true,
                        Part::Where { key, value } => item.text(&[key]) == Some(value),
                    };
                    if is_meant {
                        self.step(Step::Index(index), rest, Some(item))?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn step(&mut self, step: Step, rest: &[Part], node: Option<&'n Node>) -> Result<(), E> {
        self.steps.push(step);
        let followed = self.follow(rest, node);
        self.steps.pop();
        followed
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, Path, Step};
    use crate::engine::Engine;
    use crate::place::FileId;
    use crate::value::Node;

    fn key(key: &str) -> Part {
        Part::One(Step::from(key))
    }

    #[test]
    fn a_field_path_has_keys_indexes_and_conditions() {
        let parts = |text: &str| Path::parse_field_path(text).0;
        let name = Part::Where {
            key: "name".to_owned(),
            value: "a.b".to_owned(),
        };
        assert_eq!(
            parts("spec.containers.[name=a.b].image"),
            [key("spec"), key("containers"), name, key("image")]
        );
        let first = Part::One(Step::Index(0));
        assert_eq!(parts(r"a\.b.0.*"), [key("a.b"), first, Part::Every]);
        assert_eq!(parts("data.[x.y/z]"), [key("data"), key("x.y/z")]);
    }

    #[test]
    fn brackets_behind_a_field_hold_an_index_or_nothing() {
        let parts = |text: &str| Path::parse_fields(text).map(|path| path.0);
        let first = Part::One(Step::Index(0));
        let expected = [key("a"), key("b"), Part::Every, key("c"), first];
        assert_eq!(parts("a.b[].c[0]").as_deref(), Some(&expected[..]));
        assert_eq!(parts("a[x]"), None);
    }

    #[test]
    fn what_is_not_there_is_reached_only_to_be_created() {
        let read = crate::values(
            "a: [{id: x, b: 1}, {id: z}]\nl: [1, 2, 3]",
            FileId(0),
            Engine::Helm4,
        );
        let tree = read.expect("YAML");
        let reached = |text: &str, creates: bool| {
            let mut count = 0;
            let mut visit = |_: &[Step], _: Option<&Node>| {
                count += 1;
                Ok::<(), &str>(())
            };
            let path = Path::parse_field_path(text);
            path.walk(&tree, creates, &mut visit)?;
            Ok::<_, &str>(count)
        };
        assert_eq!(reached("a.*.b", false), Ok(1));
        assert_eq!(reached("a.*.b", true), Ok(2));
        assert_eq!(reached("a.[id=z].b.c", true), Ok(1));
        assert_eq!(reached("a.2.b", true), Ok(0));
    }
}
