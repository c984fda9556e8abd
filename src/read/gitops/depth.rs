//! How deep values may become: patches copy trees into one another, which everything that walks them must survive.

use std::collections::HashMap;
use std::sync::Arc;

use yaml_tree::value::{Node, Value};

/// The deepest nesting of values that patches may create: the YAML parser's limit, and a path below it.
const DEEPEST: usize = 400;

/// Fails where a tree is too deep to be put below `above` levels.
pub(super) fn check_depth(node: &Node, above: usize) -> Result<(), String> {
    if above + height(node, &mut HashMap::new()) > DEEPEST {
        return Err(format!("values are nested more than {DEEPEST} deep"));
    }
    Ok(())
}

/// How deep a tree is. A tree that was copied into itself shares its parts: each is looked at once.
fn height(node: &Node, known: &mut HashMap<usize, usize>) -> usize {
    let address = match &node.value {
        Value::Map(map) => Arc::as_ptr(map).addr(),
        Value::List(items) => Arc::as_ptr(items).addr(),
        _ => return 0,
    };
    if let Some(height) = known.get(&address) {
        return *height;
    }
    let below = node.children().map(|child| 1 + height(child, known));
    let height = below.max().unwrap_or(0);
    known.insert(address, height);
    height
}

#[cfg(test)]
mod tests {
    use super::{DEEPEST, check_depth};
    use yaml_tree::value::{Node, Value};

    fn nested(depth: usize) -> Node {
        let wrap = |inner: Node, _| Node::from_value(Value::from(vec![inner]));
        (0..depth).fold(Node::from_value("x"), wrap)
    }

    #[test]
    fn the_deepest_tree_is_walked_and_a_deeper_one_refused() {
        assert_eq!(check_depth(&nested(DEEPEST), 0), Ok(()));
        assert_eq!(check_depth(&nested(DEEPEST - 7), 7), Ok(()));
        assert!(check_depth(&nested(DEEPEST + 1), 0).is_err());
        assert!(check_depth(&nested(DEEPEST - 7), 8).is_err());
    }

    #[test]
    fn a_part_that_is_shared_is_walked_once() {
        let double = |inner: Node, _| Node::from_value(Value::from(vec![inner.clone(), inner]));
        let shared = (0..100).fold(Node::from_value("x"), double);
        assert_eq!(check_depth(&shared, DEEPEST - 100), Ok(()));
        assert!(check_depth(&shared, DEEPEST - 99).is_err());
    }
}
