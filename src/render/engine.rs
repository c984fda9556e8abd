//! The template engine, set up for YAML: strict, bounded, and with one way to write a value.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use minijinja::syntax::SyntaxConfig;
use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior, Value as Context,
};

use super::context;
use crate::model::finding::Finding;
use crate::model::place::{Source, Spot};
use crate::model::value::{Entry, Map, Value};
use crate::yaml;

/// Instructions that one rendering may take: some hundred thousand objects' worth, and the end of an endless template.
const FUEL: u64 = 50_000_000;
const YAML: AutoEscape = AutoEscape::Custom(Cow::Borrowed("yaml"));

/// The compiled templates.
pub(super) struct Engine {
    environment: Environment<'static>,
    sources: BTreeMap<String, Arc<Source>>,
    broken: BTreeSet<String>,
}

impl Engine {
    pub(super) fn new() -> Self {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        // A line with only a tag leaves nothing behind; every other line, the last included, is the text's own.
        let mut syntax = SyntaxConfig::builder();
        syntax
            .trim_blocks(true)
            .lstrip_blocks(true)
            .keep_trailing_newline(true);
        if let Ok(syntax) = syntax.build() {
            environment.set_syntax(syntax);
        }
        environment.set_fuel(Some(FUEL));
        environment.set_debug(true);
        environment.set_auto_escape_callback(|name| {
            if name.ends_with(".yaml.j2") {
                YAML
            } else {
                AutoEscape::None
            }
        });
        environment.set_formatter(format);
        environment.add_filter("yaml", block);
        Self {
            environment,
            sources: BTreeMap::new(),
            broken: BTreeSet::new(),
        }
    }

    /// Compiles a template under a name. What is wrong in it is reported once, here.
    pub(super) fn add(
        &mut self,
        name: String,
        source: Arc<Source>,
        report: &mut dyn FnMut(Finding),
    ) {
        self.sources.insert(name.clone(), Arc::clone(&source));
        let added = self
            .environment
            .add_template_owned(name.clone(), source.text.clone());
        if let Err(error) = added {
            report(self.finding(&name, &error));
            self.broken.insert(name);
        }
    }

    /// Whether the template did not compile.
    pub(super) fn is_broken(&self, name: &str) -> bool {
        self.broken.contains(name)
    }

    /// Whether the template uses a variable.
    pub(super) fn mentions(&self, name: &str, variable: &str) -> bool {
        self.environment
            .get_template(name)
            .is_ok_and(|template| template.undeclared_variables(false).contains(variable))
    }

    /// The template's text for a context.
    pub(super) fn render(&self, name: &str, context: Context) -> Result<String, Box<Finding>> {
        self.environment
            .get_template(name)
            .and_then(|template| template.render(context))
            .map_err(|error| Box::new(self.finding(name, &error)))
    }

    /// What is wrong, at its line of the template where it stands.
    fn finding(&self, name: &str, error: &Error) -> Finding {
        let cause = innermost(error);
        let name = cause.name().unwrap_or(name);
        let what = cause.detail().map_or_else(
            || cause.kind().to_string(),
            |detail| format!("{}: {detail}", cause.kind()),
        );
        let spot = self.sources.get(name).map(|source| {
            let (start, end) = line_span(&source.text, cause.line().unwrap_or(1));
            Spot {
                source: Arc::clone(source),
                start,
                end,
            }
        });
        Finding::new(
            "template-invalid",
            format!("template `{name}` cannot be rendered: {what}"),
        )
        .at(spot, "here")
    }
}

/// The error that an included template raised, rather than the one of the include.
fn innermost(error: &Error) -> &Error {
    let mut found = error;
    while let Some(inner) = std::error::Error::source(found).and_then(|e| e.downcast_ref()) {
        found = inner;
    }
    found
}

fn line_span(text: &str, line: usize) -> (u32, u32) {
    let mut start = 0;
    for (index, content) in text.split('\n').enumerate() {
        let end = start + content.len();
        if index + 1 == line {
            let indent = content.len() - content.trim_start().len();
            return ((start + indent) as u32, end as u32);
        }
        start = end + 1;
    }
    (0, 0)
}

/// Writes a value: as one YAML scalar in YAML templates, as plain text elsewhere.
fn format(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Context) -> Result<(), Error> {
    if *state.auto_escape() != YAML || value.is_safe() {
        return write!(out, "{value}").map_err(Error::from);
    }
    let node = context::node(value)?;
    if matches!(node.value, Value::List(_) | Value::Map(_)) {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            "a list or map needs the filter `yaml(COLUMNS)`",
        ));
    }
    match &node.value {
        Value::String(text) => out.write_str(&yaml::quoted(text)),
        other => out.write_str(yaml::emit(other).trim_end()),
    }
    .map_err(Error::from)
}

/// The filter `yaml`: a value in block style, its lines after the first so many columns in.
fn block(value: &Context, columns: Option<usize>) -> Result<Context, Error> {
    let node = context::node(value)?;
    let columns = columns.unwrap_or(0).min(200);
    Ok(Context::from_safe_string(placed(&node.value, columns)))
}

/// The text of a value whose first line is placed by the template and whose other lines stand so many columns in.
fn placed(value: &Value, columns: usize) -> String {
    let (text, before) = match value {
        // A literal block's lines are told by the column of its key, so it is written with a key of the right column.
        Value::String(text) if text.contains('\n') => {
            let columns = columns.saturating_sub(2);
            let map = Map::from_iter([Entry::computed("k", Value::String(text.clone()))]);
            (yaml::emit_at(&map.into(), columns), columns + "k: ".len())
        }
        other => (yaml::emit_at(other, columns), columns),
    };
    let text = text.strip_suffix('\n').unwrap_or(&text);
    text.get(before..).unwrap_or_default().to_owned()
}
