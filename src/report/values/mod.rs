//! The values of a cluster, with their origins and explanations.

mod path;
mod query;
mod why;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value as Json;

use yaml_tree::children;
use yaml_tree::merge::Layer;
use yaml_tree::place::{Place, Sources};
use yaml_tree::value::{Node, Value};

use super::Lines;

pub use path::ValuePath;
pub use query::ValueQuery;

/// A scalar, or an empty map or list, and where it is.
#[derive(Debug, Serialize)]
pub struct Leaf {
    /// Its path.
    pub path: String,
    /// Its value.
    pub value: Json,
    /// Where it is.
    #[serde(flatten)]
    pub origin: Option<Origin>,
}

/// Where a value is.
#[derive(Clone, Debug, Serialize)]
pub struct Origin {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The layer's number, the lowest is 1.
    pub layer: Option<usize>,
}

/// Why a value is what it is.
#[derive(Debug, Serialize)]
pub struct Account {
    /// The cluster.
    pub cluster: String,
    /// The path of the value.
    pub path: String,
    /// The layers that set it, lowest first.
    pub layers: Vec<Setting>,
    /// How it was evaluated, if it is an expression.
    pub expression: Option<Link>,
    /// Whether its evaluation fails.
    pub fails: bool,
    /// The value in the end; none if it is removed or its expression fails.
    pub result: Option<Outcome>,
}

/// What one layer sets.
#[derive(Debug, Serialize)]
pub struct Setting {
    /// The path that it sets: the requested one, or one above it.
    pub path: String,
    /// What the layer does.
    pub effect: Effect,
    /// The value in the layer.
    pub value: Json,
    /// Where it is.
    #[serde(flatten)]
    pub origin: Option<Origin>,
}

/// What a layer does to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Gives it a value, over any that it had.
    Sets,
    /// Adds keys to the map that it is, or begins one.
    Merges,
    /// Takes it away: the null of a layer above the chart's.
    Removes,
}

/// A value, and what its expression read.
#[derive(Debug, Serialize)]
pub struct Link {
    /// The path of the value.
    pub path: String,
    /// What the file says.
    pub written: Json,
    /// What it evaluates to, where that is something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Json>,
    /// Where it is.
    #[serde(flatten)]
    pub origin: Option<Origin>,
    /// What its expression read.
    pub reads: Vec<Link>,
}

/// The value in the end.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The value.
    pub value: Json,
}

/// One line a leaf.
pub fn leaves(leaves: &[Leaf], out: &mut dyn Write) -> io::Result<()> {
    for leaf in leaves {
        let text = flat(&Value::from(leaf.value.clone()));
        match &leaf.origin {
            Some(origin) => writeln!(out, "{}: {}  # {origin}", leaf.path, text)?,
            None => writeln!(out, "{}: {}", leaf.path, text)?,
        }
    }
    Ok(())
}

/// Prints why a value is what it is.
pub fn account(account: &Account, out: &mut dyn Write) -> io::Result<()> {
    match &account.result {
        Some(result) if result.value.is_object() || result.value.is_array() => {
            writeln!(out, "{} is {}", account.path, result.kind)?;
        }
        Some(result) => writeln!(
            out,
            "{} is {}: {}",
            account.path,
            result.kind,
            display(&result.value)
        )?,
        None if account.fails => writeln!(out, "{} cannot be evaluated", account.path)?,
        None => writeln!(out, "{} has no value", account.path)?,
    }
    writeln!(out, "set by, the last one wins")?;
    for setting in &account.layers {
        self::setting(setting, &account.path, out)?;
    }
    if account.layers.is_empty() {
        writeln!(out, "  no layer")?;
    }
    let Some(link) = &account.expression else {
        return Ok(());
    };
    // What is written there is among the layers.
    match &link.value {
        Some(value) => writeln!(out, "evaluated to {}", display(value))?,
        None => writeln!(out, "evaluated by {}", link.path)?,
    }
    reads(link, 1, out)
}

fn setting(setting: &Setting, requested: &str, out: &mut dyn Write) -> io::Result<()> {
    let what = match setting.effect {
        Effect::Sets => display(&setting.value),
        Effect::Merges => format!("merges {}", display(&setting.value)),
        Effect::Removes => "null, which removes it".to_owned(),
    };
    let above = if setting.path == requested {
        String::new()
    } else {
        format!("{}: ", setting.path)
    };
    writeln!(
        out,
        "  {above}{what}{}",
        origin_comment(setting.origin.as_ref())
    )
}

fn reads(link: &Link, depth: usize, out: &mut dyn Write) -> io::Result<()> {
    let indent = "  ".repeat(depth);
    for read in &link.reads {
        let (path, written) = (&read.path, display(&read.written));
        let at = origin_comment(read.origin.as_ref());
        writeln!(out, "{indent}reads {path}: {written}{at}")?;
        if let Some(value) = &read.value {
            writeln!(out, "{indent}  which is {}", display(value))?;
        }
        reads(read, depth + 1, out)?;
    }
    Ok(())
}

fn origin_comment(origin: Option<&Origin>) -> String {
    origin
        .map(|origin| format!("  # {origin}"))
        .unwrap_or_default()
}

/// A value on one line.
fn display(json: &Json) -> String {
    match json {
        Json::Object(map) if !map.is_empty() => {
            let keys: Vec<&str> = map.keys().map(String::as_str).collect();
            format!("a map of {}", keys.join(", "))
        }
        Json::Array(items) if !items.is_empty() => format!("a list of {}", items.len()),
        scalar => flat(&Value::from(scalar.clone())),
    }
}

/// `file:line:column (layer N)`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)?;
        match self.layer {
            Some(layer) => write!(f, " (layer {layer})"),
            None => Ok(()),
        }
    }
}

/// A scalar, or an empty map or list, as YAML on one line.
fn flat(value: &Value) -> String {
    yaml_tree::emit(value).trim_end().to_owned()
}

/// Finds origins.
struct Origins<'a> {
    sources: &'a Sources,
    layers: HashMap<Place, usize>,
    lines: RefCell<Lines>,
}

impl<'a> Origins<'a> {
    fn new(sources: &'a Sources, layers: &[Layer]) -> Self {
        let mut known = HashMap::new();
        for (index, layer) in layers.iter().enumerate() {
            number(&layer.tree, index + 1, &mut known);
        }
        Self {
            sources,
            layers: known,
            lines: RefCell::default(),
        }
    }

    fn find(&self, place: Place) -> Option<Origin> {
        let spot = self.sources.resolve(place)?;
        let (line, column) = self.lines.borrow_mut().line_column(&spot);
        Some(Origin {
            file: spot.source.path.to_string(),
            line,
            column,
            layer: self.layers.get(&place).copied(),
        })
    }

    /// The leaves below a path: scalars, and lists and maps with nothing in them.
    fn leaves(&self, node: &Node, path: &ValuePath) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.collect(node, path, &mut leaves);
        leaves
    }

    fn collect(&self, node: &Node, path: &ValuePath, leaves: &mut Vec<Leaf>) {
        let mut below = children(node).peekable();
        if below.peek().is_none() {
            leaves.push(Leaf {
                path: path.to_string(),
                value: Json::from(&node.value),
                origin: self.find(node.place),
            });
        }
        for (step, child) in below {
            self.collect(child, &path.then(step), leaves);
        }
    }
}

fn number(node: &Node, layer: usize, known: &mut HashMap<Place, usize>) {
    known.insert(node.place, layer);
    node.children()
        .for_each(|child| number(child, layer, known));
}
