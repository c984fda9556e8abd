//! The laws of merging values layers.

use std::sync::Arc;

use proptest::prelude::{
    Just, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use yaml_tree::engine::Engine;
use yaml_tree::merge::{Layer, LayerKind, coalesce, layers, merge};
use yaml_tree::place::{FileId, Place};
use yaml_tree::value::{Entry, Map, Node, Value};

use super::support::seen::Seen;

/// Trees in which a key's name says whether it holds a map (`m…`), if `consistent`; else anything stands anywhere.
fn trees(consistent: bool) -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        3 => any::<i8>().prop_map(|number| Value::from(i64::from(number))),
        1 => prop::collection::vec(any::<bool>().prop_map(Node::from_value), 0..3).prop_map(Value::from),
        1 => Just(Value::empty_map()),
    ];
    let tree = leaf.prop_recursive(4, 24, 4, move |inner| {
        prop::collection::btree_map("[m-p]", inner, 0..4).prop_map(move |map| {
            let entries = map.into_iter().map(|(key, value)| {
                let named_map = key == "m" || key == "n";
                let value = match (&value, named_map) {
                    _ if !consistent => value,
                    (Value::Map(_), true) => value,
                    (_, true) => Value::empty_map(),
                    (Value::Map(_), false) => Value::from(7),
                    (_, false) => value,
                };
                Entry::from_value(key, value)
            });
            Value::from(entries.collect::<Map>())
        })
    });
    tree.prop_map(|value| {
        Node::from_value(if matches!(value, Value::Map(_)) {
            value
        } else {
            Value::empty_map()
        })
    })
}

/// The same tree as if it had been read from a file.
fn placed(node: &Node, file: u32, next: &mut u32) -> Node {
    *next += 1;
    let place = Place {
        file: FileId(file),
        start: *next,
        end: *next + 1,
    };
    let value = match &node.value {
        Value::Map(map) => Value::from(
            map.iter()
                .map(|entry| Entry {
                    key_place: place,
                    node: placed(&entry.node, file, next),
                    ..entry.clone()
                })
                .collect::<Map>(),
        ),
        Value::List(items) => Value::from(
            items
                .iter()
                .map(|item| placed(item, file, next))
                .collect::<Vec<_>>(),
        ),
        other => other.clone(),
    };
    Node { value, place }
}

/// Every path to something that is no map with entries.
fn leaves<'n>(node: &'n Node, path: &mut Vec<String>, out: &mut Vec<(Vec<String>, &'n Node)>) {
    match &node.value {
        Value::Map(map) if !map.is_empty() => {
            for entry in map.iter() {
                path.push(entry.key.to_string());
                leaves(&entry.node, path, out);
                path.pop();
            }
        }
        _ => out.push((path.clone(), node)),
    }
}

fn all_leaves(node: &Node) -> Vec<(Vec<String>, &Node)> {
    let mut out = Vec::new();
    leaves(node, &mut Vec::new(), &mut out);
    out
}

fn at<'n>(node: &'n Node, path: &[String]) -> Option<&'n Node> {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    node.get_path(&path)
}

fn same_branch(a: &Node, b: &Node) -> bool {
    match (&a.value, &b.value) {
        (Value::Map(a), Value::Map(b)) => Arc::ptr_eq(a, b) || a.is_empty() && b.is_empty(),
        (Value::List(a), Value::List(b)) => Arc::ptr_eq(a, b),
        (a, b) => a == b,
    }
}

proptest! {
    #[test]
    fn the_empty_map_changes_nothing(tree in trees(false)) {
        let empty = Node::from_value(Value::empty_map());
        prop_assert!(same_branch(&merge(&tree, &empty), &tree));
        prop_assert!(same_branch(&merge(&empty, &tree), &tree));
        for engine in [Engine::Helm3, Engine::Helm4] {
            prop_assert!(same_branch(&coalesce(&tree, &empty, engine).tree, &tree));
            prop_assert!(same_branch(&coalesce(&empty, &tree, engine).tree, &tree));
        }
    }

    #[test]
    fn a_layer_over_itself_is_itself(tree in trees(false)) {
        prop_assert!(merge(&tree, &tree).value.same(&tree.value));
    }

    #[test]
    fn the_later_layer_wins(low in trees(false), high in trees(false)) {
        let merged = merge(&low, &high);
        for (path, leaf) in all_leaves(&high) {
            let found = at(&merged, &path).expect("nothing of the later layer is lost");
            let is_empty_map = matches!(&leaf.value, Value::Map(map) if map.is_empty());
            prop_assert!(is_empty_map || same_branch(found, leaf), "{path:?}");
        }
    }

    #[test]
    fn merging_is_associative_where_no_map_is_replaced(a in trees(true), b in trees(true), c in trees(true)) {
        let left = merge(&merge(&a, &b), &c);
        let right = merge(&a, &merge(&b, &c));
        prop_assert_eq!(left, right);
    }

    #[test]
    fn every_leaf_comes_from_a_layer(trees in prop::collection::vec(trees(false), 1..5), charts in 0_usize..3) {
        let stack: Vec<Layer> = trees
            .iter()
            .enumerate()
            .map(|(index, tree)| Layer {
                tree: placed(tree, index as u32, &mut 0),
                kind: if index < charts { LayerKind::Chart } else { LayerKind::Override },
            })
            .collect();
        for engine in [Engine::Helm3, Engine::Helm4] {
            let merged = layers(&stack, engine).tree;
            for (path, leaf) in all_leaves(&merged) {
                if path.is_empty() {
                    continue;
                }
                // A map that lost all its keys to nulls is empty, and stands where the winner stood.
                if matches!(leaf.value, Value::Map(_)) {
                    prop_assert!(leaf.place.is_known());
                    continue;
                }
                let origin = &stack[leaf.place.file.0 as usize].tree;
                let found = at(origin, &path);
                prop_assert_eq!(found, Some(leaf), "{:?}", path);
            }
        }
    }

    #[test]
    fn what_a_layer_does_not_touch_is_shared(low in trees(false), high in trees(false)) {
        let merged = merge(&low, &high);
        if let (Value::Map(low), Value::Map(high), Value::Map(merged)) = (&low.value, &high.value, &merged.value) {
            for entry in low.iter().filter(|entry| high.get(&entry.key).is_none()) {
                let kept = merged.get(&entry.key).expect("it is kept");
                prop_assert!(same_branch(kept, &entry.node));
            }
            for entry in high.iter().filter(|entry| low.get(&entry.key).is_none()) {
                let kept = merged.get(&entry.key).expect("it is kept");
                prop_assert!(same_branch(kept, &entry.node));
            }
        }
    }

}

#[test]
fn a_null_removes_what_the_chart_sets() {
    let seen = Seen::new(&["a null over a value"]);
    seen.property(256, 20, &(trees(false), trees(false)), |(chart, user)| {
        for engine in [Engine::Helm3, Engine::Helm4] {
            let merged = coalesce(&chart, &user, engine).tree;
            for (path, leaf) in all_leaves(&user) {
                let under = at(&chart, &path).is_some_and(|node| !node.value.is_null());
                if leaf.value.is_null() && under {
                    assert_eq!(at(&merged, &path), None);
                    seen.note("a null over a value");
                }
            }
        }
    });
}

fn tree(text: &str) -> Node {
    yaml_tree::values(text, FileId(0), Engine::Helm3).expect("it is YAML")
}

#[test]
fn a_null_between_two_maps_breaks_associativity() {
    let [a, b, c] = [tree("k: {p: 1}"), tree("k: null"), tree("k: {q: 2}")];
    let left = merge(&merge(&a, &b), &c);
    let right = merge(&a, &merge(&b, &c));
    assert!(left.value.same(&tree("k: {q: 2}").value));
    assert!(right.value.same(&tree("k: {p: 1, q: 2}").value));
}

#[test]
fn where_chart_and_user_disagree_about_maps_is_reported() {
    // Helm says nothing of `m`: it warns of a map that is lost only below the top.
    let chart = tree("a: {x: {y: 1}, z: 2}\nb: 3\nc: {d: 1}\nm: {x: 1}\n");
    let user = tree("a: {x: 4, z: {w: 5}}\nb: {e: 6}\nc: null\nm: 4\n");
    let merged = coalesce(&chart, &user, Engine::Helm3);
    assert!(
        merged
            .tree
            .value
            .same(&tree("a: {x: 4, z: {w: 5}}\nb: {e: 6}\nm: 4\n").value)
    );
    let conflicts: Vec<(String, LayerKind)> = merged
        .conflicts
        .iter()
        .map(|conflict| (conflict.path.join("."), conflict.map))
        .collect();
    assert_eq!(
        conflicts,
        [
            ("a.x".to_owned(), LayerKind::Chart),
            ("a.z".to_owned(), LayerKind::Override),
            ("b".to_owned(), LayerKind::Override),
        ]
    );
}

/// As in Helm, where values that are null override nothing.
#[test]
fn values_that_are_null_as_a_whole_leave_the_chart_alone() {
    let chart = tree("a: {x: 1}\nb: null\n");
    for engine in [Engine::Helm3, Engine::Helm4] {
        let merged = coalesce(&chart, &Node::from_value(Value::Null), engine);
        assert!(merged.tree.value.same(&chart.value));
        assert!(merged.conflicts.is_empty());
    }
}
