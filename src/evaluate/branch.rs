//! A place in the values to look from: children are found and evaluated as they are asked for.

use std::rc::Rc;
use std::sync::Arc;

use super::convert;
use super::exact;
use super::failure::{Failure, Fault};
use super::path::Path;
use super::session::Session;
use super::text::{SKIP, is_template};
use super::view;
use crate::helm::Value;
use crate::model::place::Place;
use crate::model::value::{self as tree, Node};

/// A value that is not yet evaluated, or not all of it.
#[derive(Clone)]
pub struct Branch {
    session: Rc<Session>,
    node: Node,
    path: Path,
    state: State,
}

/// One entry of a map.
pub struct BranchEntry {
    /// The key, evaluated.
    pub key: Arc<str>,
    /// Where the key stands.
    pub key_place: Place,
    /// The value.
    pub branch: Branch,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// As the files have it.
    Raw,
    /// An expression's result: nothing in it is left to evaluate.
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

    /// Where the value stands.
    pub fn place(&self) -> Place {
        self.node.place
    }

    /// Its path, as people write it.
    pub fn path(&self) -> String {
        self.path.to_string()
    }

    /// The child of a key; none where nothing stands, also where this is no map.
    ///
    /// # Errors
    /// This value or a key of it is an expression that cannot be evaluated.
    pub fn child(&self, key: &str) -> Result<Option<Self>, Failure> {
        let Some(map) = self.map()? else {
            return Ok(None);
        };
        let (branch, map) = map;
        if let Some(evaluated) = branch.child_of_internal(key)? {
            return Ok(Some(evaluated));
        }
        let entry = if branch.state == State::Raw {
            view::entry(&self.session, &map, &self.path, key).map_err(|fault| fault.failure())?
        } else {
            map.entry(key)
        };
        let key = |entry: &tree::Entry| match *entry.key == *key {
            true => Arc::clone(&entry.key),
            false => Arc::from(key),
        };
        Ok(entry.map(|entry| branch.below(key(entry), &entry.node)))
    }

    /// The value at a path of keys below this one; none where nothing stands.
    ///
    /// # Errors
    /// As for [`Branch::child`].
    pub fn at(&self, path: &[&str]) -> Result<Option<Self>, Failure> {
        let mut branch = self.clone();
        for key in path {
            match branch.child(key)? {
                Some(child) => branch = child,
                None => return Ok(None),
            }
        }
        Ok(Some(branch))
    }

    /// The entries by key; none where this is no map. Values are not evaluated yet, so that some may be left out later.
    ///
    /// # Errors
    /// This value or a key of it is an expression that cannot be evaluated.
    pub fn entries(&self) -> Result<Option<Vec<BranchEntry>>, Failure> {
        let Some((branch, map)) = self.map()? else {
            return Ok(None);
        };
        let table = if branch.state == State::Raw {
            view::key_table(&self.session, &map, &self.path).map_err(|fault| fault.failure())?
        } else {
            None
        };
        let entry = |key: &Arc<str>, entry: &tree::Entry| BranchEntry {
            key: Arc::clone(key),
            key_place: entry.key_place,
            branch: branch.below(Arc::clone(key), &entry.node),
        };
        let all: Vec<&tree::Entry> = map.iter().collect();
        for entry in &all {
            self.session.guard_key(&entry.key, entry.key_place);
        }
        Ok(Some(match table {
            Some(table) => table
                .iter()
                .map(|(key, position)| entry(key, all[*position]))
                .collect(),
            None => all.iter().map(|raw| entry(&raw.key, raw)).collect(),
        }))
    }

    /// The value, evaluated with everything below it; none where an expression leaves it out.
    ///
    /// # Errors
    /// An expression in it, or that one of those needs, cannot be evaluated.
    pub fn node(&self) -> Result<Option<Node>, Failure> {
        if self.state == State::Evaluated {
            return Ok(Some(self.node.clone()));
        }
        if self.session.is_exact() && self.path.depth() == 0 {
            return self.whole().map(Some).map_err(|fault| fault.failure());
        }
        if self.is_set_aside() {
            return Ok(Some(self.node.clone()));
        }
        self.session
            .complete(&self.node, &self.path)
            .map_err(|fault| fault.failure())
    }

    /// The value itself, evaluated; what is below a list or map may not be. None where an expression leaves it out.
    ///
    /// # Errors
    /// The value is an expression that cannot be evaluated.
    pub fn shallow(&self) -> Result<Option<Node>, Failure> {
        let opened = self.opened()?;
        let left_out = opened.state == State::Evaluated
            && self.state == State::Raw
            && opened.node.value.is_null()
            && !opened.node.place.is_known();
        Ok((!left_out).then_some(opened.node))
    }

    /// Whether there is nothing in it to evaluate.
    pub fn is_plain(&self) -> bool {
        self.state == State::Evaluated || super::interpret::is_plain(&self.node)
    }

    /// The items; none where this is no list.
    ///
    /// # Errors
    /// This value is an expression that cannot be evaluated.
    pub fn items(&self) -> Result<Option<Vec<Self>>, Failure> {
        let opened = self.opened()?;
        let item = |(index, node): (usize, &Node)| Self {
            session: Rc::clone(&opened.session),
            node: node.clone(),
            path: opened.path.index(index),
            state: opened.state,
        };
        let items = opened.node.value.as_list();
        Ok(items.map(|items| items.iter().enumerate().map(item).collect()))
    }

    /// Sylva evaluates these once for each unit, and leaves them in the values as they were written.
    pub fn is_set_aside(&self) -> bool {
        [exact::TAKEN_ASIDE, exact::PUT_BACK]
            .iter()
            .any(|key| self.path.begins_with(key))
    }

    fn whole(&self) -> Result<Node, Rc<Fault>> {
        let session = &self.session;
        exact::whole(session)
            .and_then(|value| exact::placed(session, &value, Some(&session.root), Place::NONE))
            .map_err(|error| session.fault(error))
    }

    /// This value as a map, with the branch that it is a map of: what an expression comes to, or this one.
    fn map(&self) -> Result<Option<(Self, Arc<tree::Map>)>, Failure> {
        let branch = self.opened()?;
        let map = match &branch.node.value {
            tree::Value::Map(map) if map.get(super::text::RAW).is_none() => Some(Arc::clone(map)),
            _ => None,
        };
        Ok(map.map(|map| (branch, map)))
    }

    /// This value, evaluated if it is itself an expression.
    fn opened(&self) -> Result<Self, Failure> {
        let mut opened = self.clone();
        if let tree::Value::String(text) = &self.node.value
            && self.state == State::Raw
            && !self.is_set_aside()
            && is_template(text)
        {
            let place = self.node.place;
            let value = self
                .session
                .leaf(text, place, &self.path)
                .map_err(|fault| fault.failure())?;
            opened.node = match &value {
                Value::String(text) if **text == *SKIP => Node::computed(tree::Value::Null),
                value => convert::node(value, place, &self.session.budget)
                    .map_err(|error| self.session.fault(error).failure())?,
            };
            opened.state = State::Evaluated;
        }
        Ok(opened)
    }

    /// By name, `_internal` is evaluated before everything else.
    fn child_of_internal(&self, key: &str) -> Result<Option<Self>, Failure> {
        if !self.session.is_exact() || self.path.depth() != 1 || !self.path.begins_with("_internal")
        {
            return Ok(None);
        }
        let fail = |error| self.session.fault(error).failure();
        let Some(value) = exact::internal_entry(&self.session, key).map_err(fail)? else {
            return Ok(None);
        };
        let raw = self.node.value.as_map().and_then(|map| map.get(key));
        let node = exact::placed(&self.session, &value, raw, self.node.place).map_err(fail)?;
        Ok(Some(Self {
            session: Rc::clone(&self.session),
            node,
            path: self.path.key(&Arc::from(key)),
            state: State::Evaluated,
        }))
    }

    fn below(&self, key: Arc<str>, node: &Node) -> Self {
        Self {
            session: Rc::clone(&self.session),
            node: node.clone(),
            path: self.path.key(&key),
            state: self.state,
        }
    }
}
