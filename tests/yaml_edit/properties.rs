//! Generated documents in many hands: every edit that is asked for is made, and nothing else.

use proptest::prelude::{
    Just, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use yaml_tree::edit::{Edit, Position, Step, Target, edit};
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;
use yaml_tree::value::{Entry, Map, Node, Value};

use super::{insert, item, remove, rename, set};
use crate::hostile::laws::edits::put;
use crate::support::grammar::{Habits, document, habits, text};
use crate::support::seen::Seen;

/// Scalars of every kind.
const SCALARS: &str = "a|0\\.4\\.12|'it''s'|\"q\\\\n\"|True|1\\.30|~|v1\\.31\\.8\\+rke2r1|\\{\\}|\\[\\]|'\\{\\{ \\.Values\\.x \\}\\}'|12";

/// The text of a document, now and then with comments and empty lines.
fn texts() -> impl Strategy<Value = (String, Habits)> {
    let inputs = (document(SCALARS), habits(), any::<[bool; 2]>());
    inputs.prop_map(|(document, habits, [has_comments, has_gaps])| {
        let text = text(&document, habits);
        let lines = text.lines().enumerate().map(|(number, line)| {
            let indent = &line[..line.len() - line.trim_start().len()];
            let gap = if has_gaps && number % 4 == 3 {
                habits.eol
            } else {
                ""
            };
            let (mut before, mut after) = (String::new(), String::new());
            if has_comments && number % 3 == 2 {
                before = format!("{indent}# about line {number}{}", habits.eol);
            }
            if has_comments && number % 5 == 4 {
                after = format!(" # at line {number}");
            }
            format!("{gap}{before}{line}{after}")
        });
        let lines: Vec<String> = lines.collect();
        let end = if habits.is_ended { habits.eol } else { "" };
        (lines.join(habits.eol) + end, habits)
    })
}

/// Every node below a value, as paths.
fn paths(value: &Value, path: &[Step], out: &mut Vec<(Vec<Step>, Value)>) {
    out.push((path.to_vec(), value.clone()));
    let with = |step: Step| [path, &[step]].concat();
    match value {
        Value::Map(map) => map
            .iter()
            .for_each(|entry| paths(&entry.node.value, &with(Step::from(&*entry.key)), out)),
        Value::List(items) => items
            .iter()
            .enumerate()
            .for_each(|(i, item)| paths(&item.value, &with(i.into()), out)),
        _ => {}
    }
}

fn read(text: &str) -> Value {
    yaml_tree::values(text, FileId(0), Engine::Helm3)
        .expect("generated text is YAML")
        .value
}

fn small() -> impl Strategy<Value = Value> {
    let entry = |value: Value| {
        Value::from(
            [Entry::from_value("new key", value)]
                .into_iter()
                .collect::<Map>(),
        )
    };
    prop_oneof![
        prop::sample::select(vec![
            "x",
            "yes",
            "1.30",
            "0.12.1",
            "it's",
            "two\nlines\n",
            ""
        ])
        .prop_map(Value::from),
        Just(Value::Bool(true)),
        Just(entry("v".into())),
        Just(Value::from(vec![
            Node::from_value("i"),
            Node::from_value(entry("w".into()))
        ])),
    ]
}

/// The comments of a text.
fn comments(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|line| line.find('#').map(|at| line[at..].trim_end()))
        .collect()
}

proptest! {
    #[test]
    fn a_value_is_set_and_no_comment_of_others_is_lost((text, habits) in texts(), pick in any::<prop::sample::Index>(), new in small()) {
        let tree = read(&text);
        let mut all = Vec::new();
        paths(&tree, &[], &mut all);
        all.remove(0);
        let (path, old) = pick.get(&all);
        let edits = [Edit::Set { at: Target::Path(0, path.clone()), value: new.clone() }];
        let edited = edit(&text, Engine::Helm3, &edits);
        prop_assert!(edited.is_ok(), "{edited:?} of {path:?} to {new:?} in\n{text}");
        let edited = edited.unwrap_or_default();
        prop_assert!(read(&edited).same(&put(&tree, path, Some(&new))), "{edited}");
        if !matches!(old, Value::Map(_) | Value::List(_)) {
            prop_assert_eq!(comments(&text), comments(&edited));
        }
        let is_windows = edited.contains("\r\n") && !edited.replace("\r\n", "").contains('\n');
        prop_assert_eq!(habits.eol == "\r\n" && text.contains('\n'), is_windows && text.contains('\n'));
    }

    #[test]
    fn a_member_is_taken_out((text, _) in texts(), pick in any::<prop::sample::Index>()) {
        let tree = read(&text);
        let mut all = Vec::new();
        paths(&tree, &[], &mut all);
        all.remove(0);
        let (path, _) = pick.get(&all);
        let edited = edit(&text, Engine::Helm3, &[Edit::Remove { at: Target::Path(0, path.clone()) }]);
        prop_assert!(edited.is_ok(), "{edited:?} of {path:?} in\n{text}");
        let edited = edited.unwrap_or_default();
        prop_assert!(read(&edited).same(&put(&tree, path, None)), "{path:?} of\n{text}\nis\n{edited}");
        // What is left stood there before, but for a line that lost a part.
        let new = edited.lines().filter(|line| !text.lines().any(|old| old == *line)).count();
        prop_assert!(new <= 2, "{text}\nbecame\n{edited}");
    }

    #[test]
    fn an_entry_is_added_anywhere((text, _) in texts(), pick in any::<prop::sample::Index>(), place in 0..3_usize, new in small()) {
        let tree = read(&text);
        let mut all = Vec::new();
        paths(&tree, &[], &mut all);
        all.retain(|(_, value)| matches!(value, Value::Map(_)));
        let (path, map) = pick.get(&all);
        let position = match place {
            0 => Position::First,
            1 => Position::Last,
            _ => match map.as_map().and_then(|map| map.iter().next()) {
                Some(entry) => Position::After(Step::from(&*entry.key)),
                None => Position::Last,
            },
        };
        let added = Edit::Insert { map: Target::Path(0, path.clone()), key: "added".into(), value: new.clone(), position };
        let edited = edit(&text, Engine::Helm3, std::slice::from_ref(&added));
        prop_assert!(edited.is_ok(), "{edited:?} of {path:?} in\n{text}");
        let edited = edited.unwrap_or_default();
        let wanted = put(&tree, &[&path[..], &["added".into()]].concat(), Some(&new));
        prop_assert!(read(&edited).same(&wanted), "{added:?} of\n{text}\nis\n{edited}");
        prop_assert_eq!(comments(&text), comments(&edited));
        // Taken out again, the entry leaves the tree as it was.
        let back = edit(&edited, Engine::Helm3, &[Edit::Remove { at: Target::Path(0, [&path[..], &["added".into()]].concat()) }]);
        prop_assert!(back.is_ok_and(|back| read(&back).same(&tree)));
    }
}

/// Every edit of a document that somebody damaged: a few letters are another text.
#[test]
fn any_text_and_any_edit_end_in_a_text_or_a_refusal() {
    let damage = (
        any::<prop::sample::Index>(),
        0..3_usize,
        "[a:{}\\[\\],&*#'\"|>\\- \n]{0,3}",
    );
    let engine = prop::sample::select(vec![Engine::Helm3, Engine::Helm4, Engine::Kubectl]);
    let texts = (texts(), prop::option::of(damage), engine);
    let seen = Seen::new(&["set", "removed", "renamed", "inserted", "added", "refused"]);
    seen.property(256, 10, &texts, |((mut text, _), damage, engine)| {
        let key = text.split(':').next().unwrap_or_default().to_owned();
        if let Some((at, cut, put)) = damage {
            let at = at.index(text.len());
            text.replace_range(at..(at + cut).min(text.len()), &put);
        }
        for (done, change) in [
            ("set", set(&key, "x")),
            ("removed", remove(&key)),
            ("renamed", rename(&key, "z")),
            ("inserted", insert(&key, "z", "x", Position::Last)),
            ("added", item(&key, "x", Position::Last)),
        ] {
            match edit(&text, engine, &[change]) {
                Ok(edited) => {
                    assert!(
                        yaml_tree::read(&edited, FileId(0), engine).is_ok(),
                        "{edited}"
                    );
                    seen.note(done);
                }
                Err(_) => seen.note("refused"),
            }
        }
    });
}
