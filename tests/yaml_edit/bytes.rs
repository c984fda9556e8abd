//! Every byte of an edited text is one that its author would have written: the text of a tree, edited, is the text of the
//! edited tree.

use proptest::prelude::{any, prop, prop_oneof};
use yaml_tree::edit::{Edit, Position, Step, Target, edit};
use yaml_tree::engine::Engine;

use crate::support::grammar::{Tree, document, habits, text};
use crate::support::seen::Seen;

/// Scalars that are strings, with quotes or without.
const QUOTED: &str = "[a-z]{1,4}|v1\\.31\\.[0-9]\\+rke2r1|'[a-z ]{0,4}'|\"[a-z: ]{1,4}\"";
const PLAIN: &str = "[a-z]{1,4}|v1\\.31\\.[0-9]\\+rke2r1";

/// Every node below the root, by its way.
fn ways(tree: &Tree, way: &[Step], found: &mut Vec<Vec<Step>>) {
    let below: Vec<(Step, &Tree)> = match tree {
        Tree::Scalar(_) => Vec::new(),
        Tree::Map(_, map) => map
            .iter()
            .map(|(key, value)| (Step::from(&**key), value))
            .collect(),
        Tree::List(_, list) => list
            .iter()
            .enumerate()
            .map(|(index, value)| (Step::from(index), value))
            .collect(),
    };
    for (step, value) in below {
        let way: Vec<Step> = way.iter().cloned().chain([step]).collect();
        found.push(way.clone());
        ways(value, &way, found);
    }
}

fn at<'t>(tree: &'t mut Tree, way: &[Step]) -> &'t mut Tree {
    way.iter().fold(tree, |tree, step| match (tree, step) {
        (Tree::Map(_, map), Step::Key(key)) => {
            &mut map.iter_mut().find(|(own, _)| own == key).expect("there").1
        }
        (Tree::List(_, list), Step::Index(index)) => &mut list[*index],
        (tree, step) => panic!("{step:?} in {tree:?}"),
    })
}

/// A new scalar in the quotes of the old one.
fn quoted(old: &str) -> String {
    match old.chars().next() {
        Some(quote @ ('"' | '\'')) => format!("{quote}new{quote}"),
        _ => "new".to_owned(),
    }
}

/// The kinds of edits.
const KINDS: [&str; 5] = [
    "set",
    "removed",
    "added first",
    "added behind",
    "added last",
];

/// An edit of the tree, and the same of its text; none where it is another kind of edit.
fn edited(tree: &mut Tree, way: &[Step], kind: usize) -> Option<Edit> {
    let (last, above) = way.split_last()?;
    let target = |way: &[Step]| Target::Path(0, way.to_vec());
    let position = [
        Position::First,
        Position::After(last.clone()),
        Position::Last,
    ];
    match kind {
        0 => {
            let Tree::Scalar(scalar) = at(tree, way) else {
                return None;
            };
            *scalar = quoted(scalar);
            Some(Edit::Set {
                at: target(way),
                value: "new".into(),
            })
        }
        1 => {
            match (at(tree, above), last) {
                (Tree::Map(_, map), Step::Key(key)) if map.len() > 1 => {
                    map.retain(|(own, _)| own != key)
                }
                (Tree::List(_, list), Step::Index(index)) if list.len() > 1 => {
                    drop(list.remove(*index))
                }
                _ => return None,
            }
            Some(Edit::Remove { at: target(way) })
        }
        _ => {
            let position = position[kind - 2].clone();
            let index = |own: usize, length: usize| [0, own + 1, length][kind - 2];
            let new = || Tree::Scalar("new".to_owned());
            match (at(tree, above), last) {
                (Tree::Map(_, map), Step::Key(key)) => {
                    let own = map.iter().position(|(own, _)| own == key)?;
                    map.insert(index(own, map.len()), ("zz".to_owned(), new()));
                    Some(Edit::Insert {
                        map: target(above),
                        key: "zz".to_owned(),
                        value: "new".into(),
                        position,
                    })
                }
                (Tree::List(_, list), Step::Index(own)) => {
                    list.insert(index(*own, list.len()), new());
                    Some(Edit::InsertItem {
                        list: target(above),
                        value: "new".into(),
                        position,
                    })
                }
                _ => None,
            }
        }
    }
}

#[test]
fn an_edited_text_is_the_text_of_the_edited_tree() {
    let inputs = (
        prop_oneof![document(QUOTED), document(PLAIN)],
        habits(),
        any::<prop::sample::Index>(),
        0..5_usize,
    );
    let seen = Seen::new(&KINDS);
    seen.property(256, 5, &inputs, |(mut tree, habits, pick, kind)| {
        let before = text(&tree, habits);
        let mut found = Vec::new();
        ways(&tree, &[], &mut found);
        // What is new gets the quotes of what is around it.
        let is_plain = kind < 2 || !before.contains(['"', '\'']);
        // A text of one line shows no line end of its author's.
        let shows_line_end = before.contains('\n') || habits.eol == "\n";
        let way = pick.get(&found);
        let change = edited(&mut tree, way, kind).filter(|_| is_plain && shows_line_end);
        if let Some(change) = change {
            let after = edit(&before, Engine::Kubectl, std::slice::from_ref(&change));
            // The line break of the line before one that goes stays.
            let end = |text: String| {
                if kind == 1 && !habits.is_ended {
                    text.trim_end().to_owned()
                } else {
                    text
                }
            };
            assert_eq!(
                after.map(end),
                Ok(end(text(&tree, habits))),
                "{change:?}\n{before}"
            );
            seen.note(KINDS[kind]);
        }
    });
}
