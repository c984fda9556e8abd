//! The items of one list while it is read.

use std::sync::Arc;

use crate::model::value::{Node, Value};

use super::{Composer, Made, Result};

#[derive(Default)]
pub(super) struct Items {
    pub(super) nodes: Vec<Node>,
    pub(super) start: Option<usize>,
    pub(super) end: usize,
    height: usize,
}

impl Items {
    /// Notes where the list starts.
    pub(super) fn open(&mut self, start: usize) {
        self.start.get_or_insert(start);
    }
}

impl Composer<'_> {
    pub(super) fn add(&mut self, items: &mut Items, item: Made, end: usize) -> Result<()> {
        self.check_value(&item)?;
        self.note_misreading(&item, None);
        items.height = items.height.max(item.height);
        items.end = end.max(item.used_at.end as usize);
        items.nodes.push(item.node);
        Ok(())
    }

    pub(super) fn list(&self, mut items: Items) -> Made {
        items.nodes.shrink_to_fit();
        let place = self.place(items.start.unwrap_or(items.end), items.end);
        self.collection(Value::List(Arc::new(items.nodes)), place, items.height)
    }
}
