//! Collects the items of a list while it is parsed.

use std::sync::Arc;

use crate::value::{Node, Value};

use super::{Composed, Composer, Result};

#[derive(Default)]
pub(super) struct Items {
    pub(super) nodes: Vec<Node>,
    pub(super) start: Option<usize>,
    pub(super) end: usize,
    height: usize,
}

impl Items {
    /// Sets the start of the list, unless it is set.
    pub(super) fn open(&mut self, start: usize) {
        self.start.get_or_insert(start);
    }
}

impl Composer<'_> {
    pub(super) fn add(&mut self, items: &mut Items, item: Composed, end: usize) -> Result<()> {
        self.check_value(&item)?;
        self.note_misreading(&item, None);
        items.height = items.height.max(item.height);
        items.end = end.max(item.used_at.end as usize);
        items.nodes.push(item.node);
        Ok(())
    }

    pub(super) fn list(&self, mut items: Items) -> Composed {
        items.nodes.shrink_to_fit();
        let place = self.place(items.start.unwrap_or(items.end), items.end);
        Composed::collection(Value::List(Arc::new(items.nodes)), place, items.height)
    }
}
