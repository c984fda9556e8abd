//! The results of a function: each is written to the ResourceList and as a line to stderr.

use std::fmt;

use yaml_tree::value::{Entry, Map, Node, Value};

use crate::model::finding::Judged;
use crate::model::rule::Level;
use crate::printer::{display_value, plain};
use crate::report::{Color, Findings, Lines};

/// What a function made of a list.
pub(super) struct Outcome {
    /// The list's text, without new results.
    pub(super) text: String,
    /// Whether it has `results`.
    pub(super) has_results: bool,
    pub(super) results: Vec<FunctionResult>,
}

/// How much a result matters. The specification's default is `error`, so it is always written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Severity {
    Error,
    Warning,
    Info,
}

/// One result.
#[derive(Clone, Debug)]
pub(super) struct FunctionResult {
    pub(super) message: String,
    pub(super) severity: Severity,
    /// The item that it is about.
    pub(super) item: Option<ItemReference>,
    pub(super) field: Option<Field>,
    /// The file, and the document's number in it.
    pub(super) file: Option<(String, Option<i64>)>,
    /// Anything else, by name.
    pub(super) tags: Vec<(&'static str, String)>,
}

/// Which object an item is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ItemReference {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
}

/// A field, what it holds and what it should.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) path: String,
    pub(super) current: Option<Value>,
    pub(super) proposed: Option<Value>,
}

impl FunctionResult {
    pub(super) fn new(severity: Severity, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            severity,
            item: None,
            field: None,
            file: None,
            tags: Vec::new(),
        }
    }

    /// As the ResourceList has it: nothing in it is a secret, and nothing in it is obeyed.
    pub(super) fn value(&self) -> Map {
        let mut map = Map::from_iter([
            Entry::from_value("message", plain(&self.message)),
            Entry::from_value("severity", self.severity.word()),
        ]);
        if let Some(item) = &self.item {
            map.insert(Entry::from_value("resourceRef", item.value()));
        }
        if let Some(field) = &self.field {
            map.insert(Entry::from_value("field", field.value()));
        }
        if let Some((path, index)) = &self.file {
            let index = index.map(|index| Entry::from_value("index", index));
            let path = Entry::from_value("path", plain(path));
            map.insert(Entry::from_value(
                "file",
                [path].into_iter().chain(index).collect::<Map>(),
            ));
        }
        if !self.tags.is_empty() {
            let tags = self.tags.iter();
            let tags: Map = tags
                .map(|(name, text)| Entry::from_value(*name, plain(text)))
                .collect();
            map.insert(Entry::from_value("tags", tags));
        }
        map
    }
}

impl Severity {
    fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

impl ItemReference {
    /// The object that a node is.
    pub(super) fn from_item(item: &Node) -> Self {
        let text = |path: &[&str]| item.text(path).unwrap_or_default().to_owned();
        Self {
            api_version: text(&["apiVersion"]),
            kind: text(&["kind"]),
            namespace: text(&["metadata", "namespace"]),
            name: text(&["metadata", "name"]),
        }
    }

    fn value(&self) -> Map {
        let parts = [
            ("apiVersion", &self.api_version),
            ("kind", &self.kind),
            ("name", &self.name),
            ("namespace", &self.namespace),
        ];
        let set = parts.into_iter().filter(|(_, text)| !text.is_empty());
        set.map(|(name, text)| Entry::from_value(name, plain(text)))
            .collect()
    }
}

impl Field {
    fn value(&self) -> Map {
        let path = Entry::from_value("path", plain(&self.path));
        let current = self.current.as_ref().map(display_value);
        let proposed = self.proposed.as_ref().map(display_value);
        [path]
            .into_iter()
            .chain(current.map(|value| Entry::from_value("currentValue", value)))
            .chain(proposed.map(|value| Entry::from_value("proposedValue", value)))
            .collect()
    }
}

/// One line for people: what, and where.
impl fmt::Display for FunctionResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tag = |wanted: &str| self.tags.iter().find(|(name, _)| *name == wanted);
        write!(f, "{}", self.severity.word())?;
        if let Some((_, rule)) = tag("rule") {
            write!(f, "[{rule}]")?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(item) = &self.item {
            write!(f, " ({} {})", item.kind, item.name)?;
        }
        if let Some((path, _)) = &self.file {
            write!(f, " --> {path}")?;
            for (_, number) in [tag("line"), tag("column")].into_iter().flatten() {
                write!(f, ":{number}")?;
            }
        }
        if let Some((_, help)) = tag("help") {
            write!(f, "\n  help: {}", help.replace('\n', "\n  help: "))?;
        }
        Ok(())
    }
}

/// One result for each thing to fix, in the order of the files.
pub(super) fn results(judged: &[Judged]) -> Vec<FunctionResult> {
    let findings = Findings::new(judged, 0, Color::Never);
    let (mut lines, groups) = (Lines::default(), findings.groups.iter());
    groups
        .map(|group| result(group.judged, &mut lines))
        .collect()
}

fn result(judged: &Judged, lines: &mut Lines) -> FunctionResult {
    let finding = &judged.finding;
    let severity = match judged.level {
        Level::Error => Severity::Error,
        Level::Warning | Level::Off => Severity::Warning,
    };
    let mut result = FunctionResult::new(severity, finding.message.as_str());
    result.tags.push(("rule", finding.rule.to_string()));
    let subject = &finding.subject;
    for (name, about) in [
        ("cluster", &subject.cluster),
        ("pool", &subject.pool),
        ("image", &subject.image),
    ] {
        result.tags.extend(about.clone().map(|about| (name, about)));
    }
    if let Some(label) = finding.labels.first() {
        let (line, column) = lines.line_column(&label.spot);
        result.file = Some((label.spot.source.path.to_string(), None));
        result.tags.push(("line", line.to_string()));
        result.tags.push(("column", column.to_string()));
    }
    if !finding.help.is_empty() {
        result.tags.push(("help", finding.help.join("\n")));
    }
    result
}
