//! Reading evaluated values by path, typed. What is missing, mistyped or cannot be evaluated becomes a finding at its place,
//! and the reading goes on.

use std::ops::Range;
use std::sync::Arc;

use crate::evaluate::{Branch, BranchEntry, Evaluator, Failure};
use crate::gotemplate::ErrorClass;
use crate::model::finding::{Finding, Subject};
use crate::model::json;
use crate::model::place::{Located, Place, Sources, Spot};
use crate::model::value::{Node, Number, Value};
use crate::yaml;

/// A text of the values and where it stands.
pub(super) type Text = Located<Arc<str>>;

/// One cluster's values, asked by path.
pub(super) struct Reader<'a> {
    evaluator: &'a Evaluator,
    sources: &'a Sources,
    /// What was found on the way.
    pub(super) findings: Vec<Finding>,
    /// What findings are about.
    pub(super) subject: Subject,
}

impl<'a> Reader<'a> {
    pub(super) fn new(evaluator: &'a Evaluator, sources: &'a Sources, subject: Subject) -> Self {
        Self {
            evaluator,
            sources,
            findings: Vec::new(),
            subject,
        }
    }

    /// A place in the values that is looked from.
    pub(super) fn branch(&mut self, path: &[&str]) -> Option<Branch> {
        let found = self.evaluator.root().at(path);
        self.or_tell(found).flatten()
    }

    /// The entries of the map at a path.
    pub(super) fn entries(&mut self, path: &[&str]) -> Vec<BranchEntry> {
        let Some(branch) = self.branch(path) else {
            return Vec::new();
        };
        let entries = branch.entries();
        self.or_tell(entries).flatten().unwrap_or_default()
    }

    /// The value at a path, evaluated with everything below it; null is none.
    pub(super) fn node(&mut self, path: &[&str]) -> Option<Node> {
        let node = self.evaluator.get(path);
        self.present(node)
    }

    /// The value of a branch, evaluated with everything below it; null is none.
    pub(super) fn whole(&mut self, branch: &Branch) -> Option<Node> {
        self.present(branch.node())
    }

    fn present(&mut self, node: Result<Option<Node>, Failure>) -> Option<Node> {
        self.or_tell(node)
            .flatten()
            .filter(|node| !node.value.is_null())
    }

    /// The text at a path. A number or boolean is told: an engine has already changed what its author wrote.
    pub(super) fn text(&mut self, path: &[&str]) -> Option<Text> {
        let node = self.node(path)?;
        self.text_of(&node, &path.join("."))
    }

    /// A node as text.
    pub(super) fn text_of(&mut self, node: &Node, path: &str) -> Option<Text> {
        match &node.value {
            Value::String(text) => Some(Located::new(Arc::clone(text), node.place)),
            Value::Null => None,
            Value::Number(_) | Value::Bool(_) => {
                let becomes = json::to_json(&node.value, json::Html::Plain);
                let help = format!("quote it: `{path}: \"…\"`");
                self.mistyped(
                    node,
                    path,
                    "a string",
                    Some(format!("it reads as `{becomes}`")),
                    help,
                );
                Some(Located::new(becomes.into(), node.place))
            }
            _ => {
                self.mistyped(
                    node,
                    path,
                    "a string",
                    None,
                    format!("write a text: `{path}: \"…\"`"),
                );
                None
            }
        }
    }

    /// The whole number at a path, from 0.
    pub(super) fn count(&mut self, path: &[&str]) -> Option<Located<u32>> {
        let node = self.node(path)?;
        let number = match &node.value {
            Value::Number(Number::Int(number)) => u32::try_from(*number).ok(),
            Value::Number(Number::Float(number))
                if number.fract() == 0.0 && (0.0..=4e9).contains(number) =>
            {
                Some(*number as u32)
            }
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        if number.is_none() {
            let path = path.join(".");
            self.mistyped(
                &node,
                &path,
                "a whole number",
                None,
                format!("write `{path}: 1`"),
            );
        }
        number.map(|number| Located::new(number, node.place))
    }

    /// The boolean that a node says, as a boolean or as Sylva's text.
    pub(super) fn flag_of(&mut self, node: &Node, path: &str) -> Option<Located<bool>> {
        let flag = match &node.value {
            Value::Bool(flag) => *flag,
            Value::String(text) if &**text == "true" => true,
            Value::String(text) if matches!(&**text, "false" | "") => false,
            Value::Null => return None,
            _ => {
                self.mistyped(
                    node,
                    path,
                    "`true` or `false`",
                    None,
                    format!("write `{path}: true`"),
                );
                return None;
            }
        };
        Some(Located::new(flag, node.place))
    }

    /// Tells that a value has another type than it is read as.
    pub(super) fn mistyped(
        &mut self,
        node: &Node,
        path: &str,
        wanted: &str,
        label: Option<String>,
        help: String,
    ) {
        let message = format!("`{path}` is {wanted}, and this is {}", node.value.kind());
        let finding = Finding::new("value-type", message)
            .at(self.sources.resolve(node.place), label.unwrap_or_default())
            .help(help);
        self.tell(finding);
    }

    /// Adds a finding, said to be about what is being read.
    pub(super) fn tell(&mut self, finding: Finding) {
        self.findings.push(finding.about(self.subject.clone()));
    }

    /// A place with its file.
    pub(super) fn spot(&self, place: Place) -> Option<Spot> {
        self.sources.resolve(place)
    }

    /// Warns where Helm, which evaluates in another order, comes to something else than was read here (T13).
    pub(super) fn compare_order(&mut self, path: &[&str]) {
        // A failure was told when the value was read.
        let Ok(Some(difference)) = self.evaluator.differs_from_exact(path) else {
            return;
        };
        let upstream = match &difference.exact {
            Ok(node) => format!("reads `{}`", json::to_json(&node.value, json::Html::Plain)),
            Err(message) => format!("stops: {message}"),
        };
        let here = json::to_json(&difference.lazy.value, json::Html::Plain);
        let message = format!(
            "`{}` comes to `{here}`, and Helm {upstream}",
            difference.path
        );
        let finding = Finding::new("expression-order", message)
            .at(self.spot(difference.place), "uses a value that holds an expression itself")
            .help("call `interpret` on the value first, or set `evaluation: exact` to get what Helm gets");
        self.tell(finding);
    }

    pub(super) fn or_tell<T>(&mut self, result: Result<T, Failure>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(failure) => {
                let finding = self.failed(&failure);
                self.tell(finding);
                None
            }
        }
    }

    /// A failure with the chain of values that needed it, the fault first.
    fn failed(&self, failure: &Failure) -> Finding {
        let rule = match failure.class {
            ErrorClass::NilPointer => "value-missing",
            _ => "expression-error",
        };
        let fault = self.inside(failure.place, failure.span.clone());
        let mut finding = Finding::new(rule, failure.message.clone()).at(fault, "");
        for step in failure.chain.iter().rev().skip(1) {
            finding = finding.at(
                self.inside(step.place, step.span.clone()),
                format!("needed by `{}`", step.path),
            );
        }
        match failure.chain.last() {
            Some(last) if finding.labels.is_empty() => {
                finding.help(format!("look at `{}`", last.path))
            }
            _ => finding,
        }
    }

    /// The part of a value that a range of its text stands at.
    fn inside(&self, place: Place, span: Option<Range<usize>>) -> Option<Spot> {
        let spot = self.sources.resolve(place)?;
        let text = self
            .evaluator
            .raw(&[])
            .and_then(|root| text_at(root, place));
        let Some((text, span)) = text.zip(span) else {
            return Some(spot);
        };
        let inner = yaml::inside(&spot.source.text, place, &text, span);
        self.sources.resolve(inner).or(Some(spot))
    }
}

/// The text of the scalar, value or key, that stands at a place. Only failures ask, so the tree is searched.
fn text_at(node: &Node, place: Place) -> Option<Arc<str>> {
    match &node.value {
        Value::String(text) if node.place == place => Some(Arc::clone(text)),
        Value::List(items) => items.iter().find_map(|item| text_at(item, place)),
        Value::Map(map) => map.iter().find_map(|entry| {
            let key = (entry.key_place == place).then(|| Arc::clone(&entry.key));
            key.or_else(|| text_at(&entry.node, place))
        }),
        _ => None,
    }
}
