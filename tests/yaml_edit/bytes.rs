//! Every byte of an edited text is one that its author would have written: the text of a tree, edited, is the text of the
//! edited tree.

use proptest::prelude::{
    ProptestConfig, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest,
};
use yaml_tree::edit::{Edit, Position, Step, Target, edit};
use yaml_tree::engine::Engine;

/// A document. Maps and lists in braces hold nothing that is not.
#[derive(Clone, Debug)]
enum Tree {
    Scalar(String),
    Map(bool, Vec<(String, Tree)>),
    List(bool, Vec<Tree>),
}

#[derive(Clone, Copy, Debug)]
struct Habits {
    step: usize,
    list_step: usize,
    eol: &'static str,
    is_ended: bool,
}

fn a_tree() -> impl Strategy<Value = Tree> {
    let scalar = "[a-z]{1,4}|v1\\.31\\.[0-9]\\+rke2r1|'[a-z ]{0,4}'|\"[a-z: ]{1,4}\"";
    let scalar = scalar.prop_filter("a word that is a string", |text| {
        !matches!(
            &**text,
            "y" | "n" | "on" | "no" | "off" | "yes" | "true" | "null"
        )
    });
    scalar
        .prop_map(Tree::Scalar)
        .prop_recursive(4, 30, 4, |inner| {
            let map = |inner| {
                prop::collection::btree_map("[a-m]{2,3}", inner, 1..5)
                    .prop_map(|map| map.into_iter().collect())
            };
            prop_oneof![
                (prop::bool::weighted(0.3), map(inner.clone()))
                    .prop_map(|(flow, map)| Tree::Map(flow, map)),
                (
                    prop::bool::weighted(0.3),
                    prop::collection::vec(inner, 1..4)
                )
                    .prop_map(|(flow, list)| Tree::List(flow, list)),
            ]
        })
}

fn a_document() -> impl Strategy<Value = Tree> {
    let maps = prop::collection::btree_map("[a-m]{2,3}", a_tree(), 1..5);
    maps.prop_map(|map| Tree::Map(false, map.into_iter().collect()))
}

fn habits() -> impl Strategy<Value = Habits> {
    any::<[bool; 4]>().prop_map(|[wide, flat, windows, is_ended]| {
        let step = if wide { 4 } else { 2 };
        Habits {
            step,
            list_step: if flat { 0 } else { step },
            eol: if windows { "\r\n" } else { "\n" },
            is_ended,
        }
    })
}

fn in_braces(tree: &Tree) -> String {
    match tree {
        Tree::Scalar(text) => text.clone(),
        Tree::Map(_, map) => {
            let entries: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{key}: {}", in_braces(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        Tree::List(_, list) => format!(
            "[{}]",
            list.iter().map(in_braces).collect::<Vec<_>>().join(", ")
        ),
    }
}

/// The lines of a collection at a column.
fn lines(tree: &Tree, column: usize, habits: Habits) -> Vec<String> {
    let indent = " ".repeat(column);
    match tree {
        Tree::Map(false, map) => {
            let entry = |(key, value): &(String, Tree)| match value {
                Tree::Map(false, _) => [
                    vec![format!("{indent}{key}:")],
                    lines(value, column + habits.step, habits),
                ]
                .concat(),
                Tree::List(false, _) => [
                    vec![format!("{indent}{key}:")],
                    lines(value, column + habits.list_step, habits),
                ]
                .concat(),
                _ => vec![format!("{indent}{key}: {}", in_braces(value))],
            };
            map.iter().flat_map(entry).collect()
        }
        Tree::List(false, list) => {
            let item = |value: &Tree| {
                let mut lines = lines(value, column + 2, habits);
                lines[0].replace_range(column..=column, "-");
                lines
            };
            list.iter().flat_map(item).collect()
        }
        _ => vec![format!("{indent}{}", in_braces(tree))],
    }
}

fn text(tree: &Tree, habits: Habits) -> String {
    let text = lines(tree, 0, habits).join(habits.eol);
    text + if habits.is_ended { habits.eol } else { "" }
}

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

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn an_edited_text_is_the_text_of_the_edited_tree(
        mut tree in a_document(), habits in habits(), pick in any::<prop::sample::Index>(), kind in 0..5_usize,
    ) {
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
            let end = |text: String| if kind == 1 && !habits.is_ended { text.trim_end().to_owned() } else { text };
            prop_assert_eq!(after.map(end), Ok(end(text(&tree, habits))), "{:?}\n{}", change, before);
        }
    }
}
