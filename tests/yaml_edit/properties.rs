//! Generated documents in many hands: every edit that is asked for is made, and nothing else.

use std::fmt::Write as _;

use proptest::prelude::{
    Just, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use yaml_tree::edit::{Edit, Position, Step, Target, edit};
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;
use yaml_tree::value::{Entry, Map, Node, Value};

use crate::hostile::laws::edits::put;

/// A document as an author thinks of it.
#[derive(Clone, Debug)]
enum Written {
    Scalar(&'static str),
    Map { flow: bool, members: Vec<Written> },
    List { flow: bool, members: Vec<Written> },
}

/// An author's habits.
#[derive(Clone, Debug)]
struct Habits {
    step: usize,
    list_step: usize,
    comments: bool,
    blank_lines: bool,
    windows: bool,
    ended: bool,
}

const SCALARS: [&str; 12] = [
    "a",
    "0.4.12",
    "'it''s'",
    "\"q\\n\"",
    "true",
    "1.30",
    "null",
    "v1.31.8+rke2r1",
    "{}",
    "[]",
    "'{{ .Values.x }}'",
    "12",
];

fn written() -> impl Strategy<Value = Written> {
    let scalar = prop::sample::select(&SCALARS[..]).prop_map(Written::Scalar);
    scalar.prop_recursive(4, 40, 5, |inner| {
        let members = || prop::collection::vec(inner.clone(), 1..5);
        prop_oneof![
            (any::<bool>(), members()).prop_map(|(flow, members)| Written::Map { flow, members }),
            (prop::bool::weighted(0.2), members())
                .prop_map(|(flow, members)| Written::Map { flow, members }),
            (prop::bool::weighted(0.2), members())
                .prop_map(|(flow, members)| Written::List { flow, members }),
        ]
    })
}

fn habits() -> impl Strategy<Value = Habits> {
    let steps = (prop::sample::select(vec![2_usize, 4]), any::<bool>());
    (steps, any::<[bool; 4]>()).prop_map(
        |((step, indented), [comments, blank_lines, windows, ended])| Habits {
            step,
            list_step: if indented { step } else { 0 },
            comments,
            blank_lines,
            windows,
            ended,
        },
    )
}

fn document() -> impl Strategy<Value = Written> {
    prop::collection::vec(written(), 1..6).prop_map(|members| Written::Map {
        flow: false,
        members,
    })
}

fn flow(value: &Written) -> String {
    match value {
        Written::Scalar(text) => (*text).to_owned(),
        Written::Map { members, .. } => {
            let entries: Vec<String> = members
                .iter()
                .enumerate()
                .map(|(i, member)| format!("k{i}: {}", flow(member)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        Written::List { members, .. } => {
            let items: Vec<String> = members.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
    }
}

struct Author<'h> {
    habits: &'h Habits,
    out: String,
    written: usize,
}

impl Author<'_> {
    fn line_start(&mut self, column: usize) {
        self.written += 1;
        if self.habits.blank_lines && self.written.is_multiple_of(4) {
            self.out.push('\n');
        }
        if self.habits.comments && self.written.is_multiple_of(3) {
            let _ = writeln!(self.out, "{:column$}# about line {}", "", self.written);
        }
        let _ = write!(self.out, "{:column$}", "");
    }

    fn line_end(&mut self) {
        if self.habits.comments && self.written.is_multiple_of(5) {
            let _ = write!(self.out, " # at line {}", self.written);
        }
        self.out.push('\n');
    }

    /// A value behind `key:` or `-`, at the column of those.
    fn value(&mut self, value: &Written, column: usize, behind_dash: bool) {
        match value {
            Written::Map {
                flow: false,
                members,
            } => {
                let column = if behind_dash {
                    column + 2
                } else {
                    column + self.habits.step
                };
                self.members(members, true, column, behind_dash);
            }
            Written::List {
                flow: false,
                members,
            } => {
                let column = if behind_dash {
                    column + 2
                } else {
                    column + self.habits.list_step
                };
                self.members(members, false, column, behind_dash);
            }
            inline => {
                let text = flow(inline);
                let _ = write!(self.out, " {text}");
                self.line_end();
            }
        }
    }

    fn members(&mut self, members: &[Written], is_map: bool, column: usize, behind_dash: bool) {
        if behind_dash {
            self.out.push(' ');
        } else if !self.out.is_empty() {
            self.line_end();
        }
        for (index, member) in members.iter().enumerate() {
            if index > 0 || !behind_dash {
                self.line_start(column);
            }
            if is_map {
                let _ = write!(self.out, "k{index}:");
            } else {
                self.out.push('-');
            }
            self.value(member, column, !is_map);
        }
    }
}

fn text(document: &Written, habits: &Habits) -> String {
    let mut author = Author {
        habits,
        out: String::new(),
        written: 0,
    };
    if let Written::Map { members, .. } = document {
        author.members(members, true, 0, false);
    }
    let mut text = author.out;
    if !habits.ended {
        text.truncate(text.trim_end().len());
    }
    if habits.windows {
        text.replace('\n', "\r\n")
    } else {
        text
    }
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
    fn a_value_is_set_and_no_comment_of_others_is_lost(document in document(), habits in habits(), pick in any::<prop::sample::Index>(), new in small()) {
        let text = text(&document, &habits);
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
        prop_assert_eq!(habits.windows && text.contains('\n'), edited.contains("\r\n") && !edited.replace("\r\n", "").contains('\n') && text.contains('\n'));
    }

    #[test]
    fn a_member_is_taken_out(document in document(), habits in habits(), pick in any::<prop::sample::Index>()) {
        let text = text(&document, &habits);
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
    fn an_entry_is_added_anywhere(document in document(), habits in habits(), pick in any::<prop::sample::Index>(), place in 0..3_usize, new in small()) {
        let text = text(&document, &habits);
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

    #[test]
    fn any_text_and_any_edit_end_in_a_text_or_a_refusal(text in "[a-c:{}\\[\\],&*#'\"|>\\- \n]{0,40}", key in "[a-c]", engine in prop::sample::select(vec![Engine::Helm3, Engine::Helm4, Engine::Kubectl])) {
        let at = Target::Path(0, vec![Step::Key(key)]);
        for batch in [
            vec![Edit::Set { at: at.clone(), value: "x".into() }],
            vec![Edit::Remove { at: at.clone() }],
            vec![Edit::Rename { at: at.clone(), key: "z".into() }],
            vec![Edit::Insert { map: at.clone(), key: "z".into(), value: "x".into(), position: Position::First }],
            vec![Edit::InsertItem { list: at, value: "x".into(), position: Position::Last }],
        ] {
            if let Ok(edited) = edit(&text, engine, &batch) {
                prop_assert!(yaml_tree::read(&edited, FileId(0), engine).is_ok());
            }
        }
    }
}
