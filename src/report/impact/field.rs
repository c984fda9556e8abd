//! A field of an object that changes, as people and machines read it.

use capi::changes::Effect;
use capi::unknown::Unknown;
use serde::Serialize;
use yaml_tree::json::{Html, to_json};
use yaml_tree::opaque::is_opaque;
use yaml_tree::value::{Node, Value};

use crate::decide::object_changes::{Difference, ObjectChange, Values, another_order};
use crate::printer;

/// How many characters of a value are printed.
const LONGEST: usize = 60;

/// What is printed in place of a value that is not shown.
const HIDDEN: &str = "…";

/// How existing machines get a change, the strongest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rollout {
    /// They get it without being replaced.
    Propagated,
    /// They do not change; only later machines have it.
    InPlace,
    /// They do not: a webhook refuses the change.
    Refused,
    /// It is not known whether they do.
    Unknown,
    /// They are replaced one after the other.
    Roll,
}

impl Rollout {
    /// How machines get what has this effect; none where nothing reaches them.
    pub(super) fn from_effect(effect: Effect) -> Option<Self> {
        match effect {
            Effect::NoEffect => None,
            Effect::Propagated => Some(Self::Propagated),
            Effect::InPlace => Some(Self::InPlace),
            Effect::Refused => Some(Self::Refused),
            Effect::Contents | Effect::Hold | Effect::NotKnown => Some(Self::Unknown),
            Effect::Rolls => Some(Self::Roll),
        }
    }
}

/// One field that changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldChange {
    /// The object, as `Kind/name`; `values` of a cluster's values, and `deployed by` of what deploys it.
    pub object: String,
    /// Its keys, with dots between them; empty where the whole object comes or goes.
    pub field: String,
    /// What was there, shortened, or [`HIDDEN`]; none where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What will be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// How existing machines get it; none where that is nothing to them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollout: Option<Rollout>,
    /// Whether both are a secret that may change.
    #[serde(skip)]
    pub is_secret: bool,
}

impl FieldChange {
    pub(super) fn from_object(change: &ObjectChange<'_>) -> Self {
        let object = &change.object.object;
        let values = [change.from, change.to];
        let [from, to] = match change.path.as_slice() {
            [] => values.map(|node| node.map(|_| "an object".to_owned())),
            _ => texts(values),
        };
        Self {
            object: format!("{}/{}", object.kind, object.name),
            field: join(&change.path),
            from,
            to,
            rollout: Rollout::from_effect(change.answer.effect),
            is_secret: change.is_secret,
        }
    }

    /// A change of what is called `object`, of which nobody knows what it does.
    pub fn not_known(object: &str, from: &str, to: &str) -> Self {
        Self {
            object: object.to_owned(),
            field: String::new(),
            from: Some(from.to_owned()),
            to: Some(to.to_owned()),
            rollout: Some(Rollout::Unknown),
            is_secret: false,
        }
    }

    /// That the files of a cluster are read, or deployed, otherwise: what is known of them before and after.
    pub fn from_files(was: Option<Unknown>, is: Option<Unknown>) -> Self {
        let [from, to] = [was, is].map(|why| match why {
            Some(why) => format!("not known: {}", why.text()),
            None => "known".to_owned(),
        });
        Self::not_known("files", &from, &to)
    }

    /// A value of a cluster, of which nobody knows what its charts make.
    pub fn from_values(difference: &Difference<'_>) -> Self {
        Self::from_difference("values", difference, Some(Rollout::Unknown))
    }

    /// A field of what is called `object`.
    pub fn from_difference(
        object: &str,
        difference: &Difference<'_>,
        rollout: Option<Rollout>,
    ) -> Self {
        let [from, to] = texts([difference.from, difference.to]);
        Self {
            object: object.to_owned(),
            field: join(&difference.path),
            from,
            to,
            rollout,
            is_secret: difference.is_secret,
        }
    }
}

fn join(path: &[String]) -> String {
    path.join(".").replace(".[", "[")
}

/// What was there and what will be; of a list in another order, the names of its items.
fn texts(values: Values<'_>) -> [Option<String>; 2] {
    match another_order(values) {
        Some(orders) => orders.map(|names| Some(shorten(&names.join(", ")))),
        None => values.map(|node| node.map(text)),
    }
}

/// A value in one line. Of a map or list only that it changes, because the law is about the paths below it.
fn text(node: &Node) -> String {
    let has_parts = node.children().next().is_some();
    match &node.value {
        _ if has_parts => HIDDEN.to_owned(),
        Value::String(text) => shorten(text),
        value => shorten(&to_json(value, Html::Plain)),
    }
}

/// A text, cut where it is long. A label of a secret stays whole.
pub(super) fn shorten(text: &str) -> String {
    if is_opaque(text) {
        return text.to_owned();
    }
    cut(text, LONGEST)
}

/// The first characters of a text as it is shown: a part of a URL alone does not show where its password is.
pub(super) fn cut(text: &str, longest: usize) -> String {
    let shown = printer::display(text);
    match shown.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown.into_owned(),
    }
}
