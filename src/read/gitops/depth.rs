//! How deep and large values may become: patches copy trees into one another, which everything that walks them must survive.

use std::collections::HashMap;
use std::sync::Arc;

use yaml_tree::value::{Node, Value};

/// The deepest nesting of values that patches may create: the YAML parser's limit, and a path below it.
const DEEPEST: usize = 400;

/// The most values of a tree that a patch puts somewhere: the most of a file. A copy shares its parts with what was copied,
/// so that thirty copies of an object into itself take no memory, and are a billion values to everything that walks them.
const MOST: usize = 750_000;

/// Fails where a tree is too deep to be put below `above` levels, or too large to be walked.
pub(super) fn check_extent(node: &Node, above: usize) -> Result<(), String> {
    let Extent { height, values } = measure(node, &mut HashMap::new());
    if above + height > DEEPEST {
        return Err(format!("values are nested more than {DEEPEST} deep"));
    }
    if values > MOST {
        return Err(format!("more than {MOST} values are copied"));
    }
    Ok(())
}

/// How far a tree extends.
#[derive(Clone, Copy)]
struct Extent {
    height: usize,
    /// The values, each as often as the tree has it.
    values: usize,
}

/// A tree that was copied into itself shares its parts: each is looked at once.
fn measure(node: &Node, known: &mut HashMap<usize, Extent>) -> Extent {
    let mut extent = Extent {
        height: 0,
        values: 1,
    };
    let address = match &node.value {
        Value::Map(map) => Arc::as_ptr(map).addr(),
        Value::List(items) => Arc::as_ptr(items).addr(),
        _ => return extent,
    };
    if let Some(extent) = known.get(&address) {
        return *extent;
    }
    for child in node.children() {
        let below = measure(child, known);
        extent.height = extent.height.max(1 + below.height);
        extent.values = extent.values.saturating_add(below.values);
    }
    known.insert(address, extent);
    extent
}

#[cfg(test)]
mod tests {
    use super::{DEEPEST, MOST, check_extent};
    use yaml_tree::value::{Node, Value};

    fn nested(depth: usize) -> Node {
        let wrap = |inner: Node, _| Node::from_value(Value::from(vec![inner]));
        (0..depth).fold(Node::from_value("x"), wrap)
    }

    #[test]
    fn the_deepest_tree_is_walked_and_a_deeper_one_refused() {
        assert_eq!(check_extent(&nested(DEEPEST), 0), Ok(()));
        assert_eq!(check_extent(&nested(DEEPEST - 7), 7), Ok(()));
        assert!(check_extent(&nested(DEEPEST + 1), 0).is_err());
        assert!(check_extent(&nested(DEEPEST - 7), 8).is_err());
    }

    #[test]
    fn a_part_that_is_shared_is_walked_once_and_counted_as_often_as_it_is_there() {
        let double = |inner: Node, _| Node::from_value(Value::from(vec![inner.clone(), inner]));
        let shared = |times: usize| (0..times).fold(Node::from_value("x"), double);
        assert_eq!(check_extent(&shared(18), DEEPEST - 18), Ok(()));
        assert!(check_extent(&shared(18), DEEPEST - 17).is_err());
        // More than a number can say.
        assert!(check_extent(&shared(100), 0).is_err());
    }

    #[test]
    fn the_largest_tree_is_copied_and_a_larger_one_refused() {
        let list = |values: usize| {
            let items = vec![Node::from_value("x"); values - 1];
            Node::from_value(Value::from(items))
        };
        assert_eq!(check_extent(&list(MOST), 0), Ok(()));
        let refused = check_extent(&list(MOST + 1), 0).expect_err("too large");
        assert_eq!(refused, "more than 750000 values are copied");
    }
}
