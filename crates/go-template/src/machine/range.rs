//! Loops over lists, maps and integers.

use std::collections::btree_map;
use std::rc::Rc;
use std::sync::Arc;

use super::super::code::{Index, Variables};
use super::super::value::{List, Value};
use super::super::{Engine, Error, ErrorClass, print, secret};
use super::Machine;
use super::operands::Operand;

/// An active loop.
pub(super) struct Loop {
    items: Items,
    variables: Variables,
    /// The heights of the machine's stacks when the loop started.
    variable_count: usize,
    mark_count: usize,
    dot_count: usize,
}

enum Items {
    List(Rc<List>, usize),
    Map(btree_map::IntoIter<Arc<str>, Value>),
    Count(i64, i64),
}

/// What one run through a loop's body gets.
struct Iteration {
    /// The index or key; nil where a count has none.
    key: Operand,
    item: Operand,
}

impl Machine<'_> {
    /// Pops the value to iterate and starts a loop, or jumps if it has no items.
    pub(super) fn begin_range(&mut self, variables: Variables, target: Index) -> Result<(), Error> {
        let value = self.pop().value;
        let value = match value {
            Value::Object(object) if object.kind() == "map" => object.plain(),
            value => value,
        };
        let items = match value {
            Value::Nil => None,
            Value::List(list) => (!list.items.is_empty()).then_some(Items::List(list, 0)),
            Value::Map(map) => {
                let entries = map.entries()?;
                (!entries.is_empty()).then(|| Items::Map(entries.into_iter()))
            }
            Value::Int(count) | Value::Int64(count) => self.count(count, &value, variables)?,
            Value::Uint8(count) => self.count(i64::from(count), &value, variables)?,
            Value::Uint64(count) => {
                let count = i64::try_from(count).unwrap_or(i64::MAX);
                self.count(count, &value, variables)?
            }
            Value::Object(object) if object.items().is_some() => object
                .items()
                .filter(|list| !list.items.is_empty())
                .map(|list| Items::List(list, 0)),
            other => return Err(not_iterable(&other)),
        };
        let Some(items) = items else {
            self.jump(target);
            return Ok(());
        };
        self.loops.push(Loop {
            items,
            variables,
            variable_count: self.variables.len(),
            mark_count: self.marks.len(),
            dot_count: self.dots.len(),
        });
        Ok(())
    }

    /// Starts a loop over an integer, which Go has since 1.24, and Helm since 3.18.
    fn count(
        &self,
        count: i64,
        value: &Value,
        variables: Variables,
    ) -> Result<Option<Items>, Error> {
        if self.host.engine() == Engine::Helm3_18 {
            return Err(not_iterable(value));
        }
        if matches!(variables, Variables::Declared(2) | Variables::Assigned(..)) {
            let message = "a `range` over an integer has one variable only";
            return Err(Error::new(ErrorClass::Other, message));
        }
        Ok((count > 0).then_some(Items::Count(0, count)))
    }

    /// Moves to the next item, or ends the loop and jumps.
    pub(super) fn next_item(&mut self, target: Index) -> Result<(), Error> {
        let Some(current) = self.loops.last_mut() else {
            return Ok(());
        };
        let Some(Iteration { key, item }) = current.items.next() else {
            self.end_loop();
            self.jump(target);
            return Ok(());
        };
        self.variables.truncate(current.variable_count);
        self.marks.truncate(current.mark_count);
        self.dots.truncate(current.dot_count);
        let variables = current.variables;
        let top = self.variables.len();
        match variables {
            Variables::None => {}
            Variables::Declared(count) => {
                self.variables[top - 1].1 = item.clone();
                if count > 1 {
                    self.variables[top - 2].1 = key;
                }
            }
            Variables::AssignedItem(name) => self.assign(name, item.clone())?,
            Variables::Assigned(first, second) => {
                self.assign(first, key)?;
                self.assign(second, item.clone())?;
            }
        }
        self.dots.push(item);
        Ok(())
    }

    /// Ends the innermost loop, from anywhere in its body.
    pub(super) fn end_loop(&mut self) {
        if let Some(ended) = self.loops.pop() {
            self.variables.truncate(ended.variable_count);
            self.marks.truncate(ended.mark_count);
            self.dots.truncate(ended.dot_count);
        }
    }
}

impl Items {
    fn next(&mut self) -> Option<Iteration> {
        match self {
            Self::List(list, index) => {
                let item = list.items.get(*index)?.clone();
                *index += 1;
                let key = Operand::plain(Value::Int(*index as i64 - 1));
                Some(Iteration {
                    key,
                    item: Operand::new_boxed(item),
                })
            }
            Self::Map(entries) => {
                let (key, item) = entries.next()?;
                Some(Iteration {
                    key: Operand::plain(Value::String(key)),
                    item: Operand::new_boxed(item),
                })
            }
            Self::Count(index, count) => {
                if index == count {
                    return None;
                }
                *index += 1;
                Some(Iteration {
                    key: Operand::default(),
                    item: Operand::plain(Value::Int(*index - 1)),
                })
            }
        }
    }
}

fn not_iterable(value: &Value) -> Error {
    if let Value::String(text) = value
        && let Some(error) = secret::error(text)
    {
        return error;
    }
    let shown = print::short(value);
    let message = format!(
        "`range` cannot go over `{shown}`, of type `{}`",
        value.type_name()
    );
    Error::new(ErrorClass::WrongType, message)
}
