//! A position in the values, from which children are looked up and evaluated on demand.

use std::rc::Rc;
use std::sync::Arc;

use go_template::Value;
use yaml_tree::place::Place;
use yaml_tree::value::{self as tree, Node};

use super::complete;
use super::convert;
use super::failure::Failure;
use super::path::Path;
use super::session::{Session, UNIT_DEFAULTS, UNIT_TEMPLATES};
use super::text::{RAW, SKIP, is_template};

/// A value that may contain expressions that are not evaluated yet.
#[derive(Clone)]
pub struct Branch {
    session: Rc<Session>,
    node: Node,
    path: Path,
    state: State,
}

/// An entry of a map.
pub struct BranchEntry {
    /// The evaluated key.
    pub key: Arc<str>,
    /// The span of the key in its file.
    pub key_place: Place,
    /// The value.
    pub branch: Branch,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The value is as in the files, and may contain expressions.
    Raw,
    /// The value is the result of an expression, and contains nothing to evaluate.
    Evaluated,
}

impl Branch {
    pub(super) fn root(session: &Rc<Session>) -> Self {
        Self {
            session: Rc::clone(session),
            node: session.root.clone(),
            path: Path::default(),
            state: State::Raw,
        }
    }

    /// The span of the value in its file.
    pub fn place(&self) -> Place {
        self.node.place
    }

    /// The text as in the files, with its expressions; none if it is no text.
    pub fn text(&self) -> Option<&Arc<str>> {
        self.node.value.as_str()
    }

    /// The path of the value, such as `cluster.capm3`.
    pub fn path(&self) -> String {
        self.path.to_string()
    }

    /// The child under a key; none if the key does not exist or this value is not a map.
    ///
    /// # Errors
    /// This value, or one of its keys, is an expression that fails.
    pub fn child(&self, key: &str) -> Result<Option<Self>, Failure> {
        let Some((branch, map)) = self.map()? else {
            return Ok(None);
        };
        if let Some(evaluated) = branch.child_of_internal(key)? {
            return Ok(Some(evaluated));
        }
        let map = branch.evaluate_keys(&map)?;
        Ok(map.entry(key).map(|entry| branch.entry_branch(entry)))
    }

    /// The value at a path of keys below this one; none if it does not exist.
    ///
    /// # Errors
    /// As for [`Branch::child`].
    pub fn get_path(&self, path: &[&str]) -> Result<Option<Self>, Failure> {
        let mut branch = self.clone();
        for key in path {
            match branch.child(key)? {
                Some(child) => branch = child,
                None => return Ok(None),
            }
        }
        Ok(Some(branch))
    }

    /// The entries with their evaluated keys; none if this value is not a map. The values are not evaluated, so some of them may
    /// later turn out to be left out.
    ///
    /// # Errors
    /// This value, or one of its keys, is an expression that fails.
    pub fn entries(&self) -> Result<Option<Vec<BranchEntry>>, Failure> {
        let Some((branch, map)) = self.map()? else {
            return Ok(None);
        };
        let keyed = branch.evaluate_keys(&map)?;
        let entry = |entry: &tree::Entry| BranchEntry {
            key: Arc::clone(&entry.key),
            key_place: entry.key_place,
            branch: branch.entry_branch(entry),
        };
        Ok(Some(keyed.iter().map(entry).collect()))
    }

    /// The completely evaluated value; none if an expression leaves it out.
    ///
    /// # Errors
    /// An expression in the value fails, or one that it depends on.
    pub fn node(&self) -> Result<Option<Node>, Failure> {
        if self.state == State::Evaluated {
            return Ok(Some(self.node.clone()));
        }
        if self.session.is_exact() && self.path.depth() == 0 {
            return Ok(Some(self.session.evaluate_all()?));
        }
        if self.is_evaluated_per_unit() {
            return Ok(Some(self.node.clone()));
        }
        Ok(complete::complete(&self.session, &self.node, &self.path)?)
    }

    /// The value, evaluated at its top level only; none if an expression leaves it out.
    ///
    /// # Errors
    /// The value is an expression that fails.
    pub fn shallow(&self) -> Result<Option<Node>, Failure> {
        let opened = self.open()?;
        let is_left_out = opened.state == State::Evaluated
            && self.state == State::Raw
            && opened.node.value.is_null()
            && !opened.node.place.is_known();
        Ok((!is_left_out).then_some(opened.node))
    }

    /// Whether the value contains no expression that is not evaluated yet.
    pub fn is_plain(&self) -> bool {
        self.state == State::Evaluated || complete::is_plain(&self.node)
    }

    /// The items; none if this value is not a list.
    ///
    /// # Errors
    /// This value is an expression that fails.
    pub fn items(&self) -> Result<Option<Vec<Self>>, Failure> {
        let opened = self.open()?;
        let item = |(index, node): (usize, &Node)| Self {
            session: Rc::clone(&opened.session),
            node: node.clone(),
            path: opened.path.index(index),
            state: opened.state,
        };
        let items = opened.node.value.as_list();
        Ok(items.map(|items| items.iter().enumerate().map(item).collect()))
    }

    /// Whether Sylva evaluates the value once for each unit, and leaves it unevaluated in the values.
    pub fn is_evaluated_per_unit(&self) -> bool {
        [UNIT_TEMPLATES, UNIT_DEFAULTS]
            .iter()
            .any(|key| self.path.begins_with(&[key]))
    }

    /// The map that this value evaluates to, with the branch that it belongs to.
    fn map(&self) -> Result<Option<(Self, Arc<tree::Map>)>, Failure> {
        let branch = self.open()?;
        let map = match &branch.node.value {
            tree::Value::Map(map) if map.get(RAW).is_none() => Some(Arc::clone(map)),
            _ => None,
        };
        Ok(map.map(|map| (branch, map)))
    }

    /// This value after its own expression, if it is one, is evaluated.
    fn open(&self) -> Result<Self, Failure> {
        let mut opened = self.clone();
        if let Some(text) = self.node.value.text_with_labels()
            && self.state == State::Raw
            && !self.is_evaluated_per_unit()
            && is_template(text)
        {
            let place = self.node.place;
            let value = self.session.leaf(text, place, &self.path)?;
            opened.node = match &value {
                Value::String(text) if **text == *SKIP => Node::from_value(tree::Value::Null),
                value => convert::node(value, place)?,
            };
            opened.state = State::Evaluated;
        }
        Ok(opened)
    }

    /// In exact evaluation, a child of `_internal`, which is evaluated before everything else.
    fn child_of_internal(&self, key: &str) -> Result<Option<Self>, Failure> {
        if !self.session.is_exact()
            || self.path.depth() != 1
            || !self.path.begins_with(&["_internal"])
        {
            return Ok(None);
        }
        let Some(value) = self.session.internal_entry(key)? else {
            return Ok(None);
        };
        let raw = self.node.get_path(&[key]);
        Ok(Some(Self {
            session: Rc::clone(&self.session),
            node: convert::node_with_places(&value, raw, self.node.place)?,
            path: self.path.key(&Arc::from(key)),
            state: State::Evaluated,
        }))
    }

    /// The map of this value with its keys evaluated.
    fn evaluate_keys(&self, map: &Arc<tree::Map>) -> Result<Arc<tree::Map>, Failure> {
        Ok(match self.state {
            State::Raw => self.session.evaluate_keys(map, &self.path)?,
            State::Evaluated => Arc::clone(map),
        })
    }

    fn entry_branch(&self, entry: &tree::Entry) -> Self {
        Self {
            session: Rc::clone(&self.session),
            node: entry.node.clone(),
            path: self.path.key(&entry.key),
            state: self.state,
        }
    }
}
