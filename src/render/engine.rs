//! The template engine for YAML: strict, bounded, and with one way to write a value.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, OnceLock};
use std::thread;

use minijinja::syntax::SyntaxConfig;
use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior, Value as Context,
};
use yaml_tree::place::{Source, Spot};
use yaml_tree::value::{Entry, Map, Value};

use super::context;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;

/// The most instructions of one rendering. An object takes about fifty; an endless template fails.
const FUEL: u64 = 2_000_000;
/// The same, of a template that makes one line: there is one rendering for each image and pool. One takes about ten.
const LINE_FUEL: u64 = 20_000;
/// The most bytes that one rendering may write.
const WRITTEN_LIMIT: usize = 16_773_120;
/// The most bytes of a template: each may be one in another, such as a `-`, and takes 300 bytes of stack.
const TEXT_LIMIT: usize = 65_536;
/// The bytes of a template that any stack holds.
const SHALLOW: usize = 2_048;
/// The bytes of stack that a template needs within its limits.
const STACK: usize = 256 << 20;
const YAML: AutoEscape = AutoEscape::Custom(Cow::Borrowed("yaml"));

/// The compiled templates.
pub(super) struct Engine {
    environment: Environment<'static>,
    /// The same for templates of one line, made when all templates are compiled.
    of_lines: OnceLock<Environment<'static>>,
    sources: BTreeMap<String, Arc<Source>>,
    /// Where the project file has the templates that are values of it.
    values: BTreeMap<String, Option<Spot>>,
    broken: BTreeSet<String>,
}

impl Engine {
    pub(super) fn new() -> Self {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        // A line with only a tag leaves nothing behind; all other line breaks are kept, also the last one.
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
        // Nothing else keeps what a loop makes, so no value is deeper than the text of its template, and any stack holds it.
        environment.remove_global("namespace");
        Self {
            environment,
            of_lines: OnceLock::new(),
            sources: BTreeMap::new(),
            values: BTreeMap::new(),
            broken: BTreeSet::new(),
        }
    }

    /// Compiles a template under a name, and reports its errors once.
    pub(super) fn add(&mut self, name: String, source: Arc<Source>, findings: &mut Vec<Finding>) {
        self.sources.insert(name.clone(), Arc::clone(&source));
        self.compile(name, source, findings);
    }

    /// Compiles a template that is a value of the project file, whose errors are reported at that value.
    pub(super) fn add_value(
        &mut self,
        name: String,
        text: &str,
        spot: Option<Spot>,
        findings: &mut Vec<Finding>,
    ) {
        let source = Arc::new(Source::new(name.as_str(), text));
        self.values.insert(name.clone(), spot);
        self.compile(name, source, findings);
    }

    fn compile(&mut self, name: String, source: Arc<Source>, findings: &mut Vec<Finding>) {
        let text = source.text.clone();
        let (environment, owned) = (&mut self.environment, name.clone());
        let compiled = if text.len() > TEXT_LIMIT {
            let what = format!("it has more than {TEXT_LIMIT} bytes");
            Err(Error::new(ErrorKind::InvalidOperation, what))
        } else {
            run_deep(text.len() > SHALLOW, || {
                environment.add_template_owned(owned, text)
            })
        };
        if let Err(error) = compiled {
            findings.push(self.finding(&name, &error));
            self.broken.insert(name);
        }
    }

    /// Whether the template did not compile.
    pub(super) fn is_broken(&self, name: &str) -> bool {
        self.broken.contains(name)
    }

    /// Whether the template uses a variable.
    pub(super) fn mentions(&self, name: &str, variable: &str) -> bool {
        let template = self.environment.get_template(name);
        template.is_ok_and(|template| {
            let variables = || template.undeclared_variables(false);
            run_deep(template.source().len() > SHALLOW, variables).contains(variable)
        })
    }

    /// Renders a template with a context.
    pub(super) fn render(&self, name: &str, context: Context) -> Result<String, Box<Finding>> {
        self.render_in(&self.environment, name, context)
    }

    /// Renders a template of one line, such as a URL.
    pub(super) fn render_line(&self, name: &str, context: Context) -> Result<String, Box<Finding>> {
        let of_lines = || {
            let mut of_lines = self.environment.clone();
            of_lines.set_fuel(Some(LINE_FUEL));
            of_lines
        };
        self.render_in(self.of_lines.get_or_init(of_lines), name, context)
    }

    fn render_in(
        &self,
        environment: &Environment<'static>,
        name: &str,
        context: Context,
    ) -> Result<String, Box<Finding>> {
        // With room for most files: a text that grows piece by piece is moved often.
        let mut written = Written(Vec::with_capacity(4096));
        let template = environment.get_template(name);
        template
            .and_then(|template| template.render_captured_to(context, &mut written).map(drop))
            .map_err(|error| Box::new(self.finding(name, &error)))?;
        Ok(String::from_utf8(written.0).unwrap_or_default())
    }

    /// The finding for an error, at its line of the template.
    fn finding(&self, name: &str, error: &Error) -> Finding {
        let cause = innermost(error);
        let name = cause.name().unwrap_or(name);
        let what = match (cause.kind(), cause.detail()) {
            (ErrorKind::WriteFailure, _) => too_long(),
            (kind, Some(detail)) => format!("{kind}: {detail}"),
            (kind, None) => kind.to_string(),
        };
        let of_file = || {
            let source = self.sources.get(name)?;
            let (start, end) = line_span(&source.text, cause.line().unwrap_or(1));
            Some(Spot::from_range(source, start, end))
        };
        let spot = self.values.get(name).cloned().unwrap_or_else(of_file);
        Finding::new(
            RuleId::TemplateError,
            format!("template `{name}` cannot be rendered: {what}"),
        )
        .with_label(spot, "here")
    }
}

/// Does work that goes as deep as a template has bytes: on a stack of its own, where that may be deep.
fn run_deep<T: Send>(is_deep: bool, work: impl FnOnce() -> T + Send) -> T {
    if !is_deep {
        return work();
    }
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK);
        let started = thread
            .spawn_scoped(scope, work)
            .expect("memory for a stack");
        started.join().expect("a panic aborts")
    })
}

fn too_long() -> String {
    format!("it writes more than {WRITTEN_LIMIT} bytes")
}

/// The output of one rendering, up to the limit.
struct Written(Vec<u8>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > WRITTEN_LIMIT {
            return Err(io::Error::other(too_long()));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The error that an included template raised, rather than that of the include.
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

/// Writes a value: in YAML templates as one YAML scalar, elsewhere as plain text.
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
        Value::String(text) => out.write_str(&yaml_tree::quote(text)),
        other => out.write_str(yaml_tree::emit(other).trim_end()),
    }
    .map_err(Error::from)
}

/// The filter `yaml`: a value in block style, with the lines after the first one indented by a number of columns.
fn block(value: &Context, columns: Option<usize>) -> Result<Context, Error> {
    let node = context::node(value)?;
    let columns = columns.unwrap_or(0).min(200);
    Ok(Context::from_safe_string(indent_yaml(&node.value, columns)))
}

/// The text of a value. The template indents the first line; the other lines are indented by `columns`.
fn indent_yaml(value: &Value, columns: usize) -> String {
    let (text, before) = match value {
        // A literal block is indented relative to its key, so it is written with a key at the right column.
        Value::String(text) if text.contains('\n') => {
            let columns = columns.saturating_sub(2);
            let map = Map::from_iter([Entry::from_value("k", Value::String(text.clone()))]);
            (
                yaml_tree::emit_at(&map.into(), columns),
                columns + "k: ".len(),
            )
        }
        other => (yaml_tree::emit_at(other, columns), columns),
    };
    let text = text.strip_suffix('\n').unwrap_or(&text);
    text.get(before..).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::{ProptestConfig, proptest};

    use super::{Engine, LINE_FUEL};
    use crate::model::finding::Finding;
    use crate::model::rule::RuleId;
    use crate::render::context;
    use yaml_tree::engine::Engine as Reader;
    use yaml_tree::place::{FileId, Source};
    use yaml_tree::value::{Entry, Map, Value};

    /// An engine with one template, and the findings from compiling it.
    fn engine(name: &str, text: &str) -> (Engine, Vec<Finding>) {
        let mut engine = Engine::new();
        let mut found = Vec::new();
        let source = Arc::new(Source::new("own.yaml.j2", text));
        engine.add(name.to_owned(), source, &mut found);
        (engine, found)
    }

    fn rendered(text: &str, value: impl Into<Value>) -> Result<String, Box<Finding>> {
        let (engine, found) = engine("t.yaml.j2", text);
        assert!(found.is_empty(), "{found:?}");
        let map = Map::from_iter([Entry::from_value("v", value)]);
        engine.render("t.yaml.j2", context::map(&Arc::new(map)))
    }

    #[test]
    fn a_url_takes_about_as_many_instructions_as_is_stated() {
        // A turn takes three instructions.
        let turns = |count: u64| {
            let text = format!("{{% for a in range({count}) %}}{{% endfor %}}");
            let (engine, found) = engine("images.url", &text);
            assert!(found.is_empty(), "{found:?}");
            engine.render_line("images.url", context::map(&Arc::default()))
        };
        assert!(turns(LINE_FUEL / 3 - 100).is_ok());
        let refused = turns(LINE_FUEL / 3 + 100).expect_err("too many");
        assert!(refused.message.contains("fuel"), "{refused:?}");
    }

    #[test]
    fn values_are_quoted_if_necessary() {
        assert_eq!(rendered("a: {{ v }}\n", "1.30").unwrap(), "a: \"1.30\"\n");
        assert_eq!(rendered("a: {{ v }}\n", true).unwrap(), "a: true\n");
    }

    #[test]
    fn a_tree_is_indented_to_its_column() {
        let tree = Map::from_iter([Entry::from_value("b", "x\ny\n"), Entry::from_value("c", 1)]);
        let text = rendered("a:\n  {{ v | yaml(2) }}\n", tree.clone()).unwrap();
        assert_eq!(text, "a:\n  b: |\n    x\n    y\n  c: 1\n");
        let refused = rendered("a: {{ v }}\n", tree).unwrap_err();
        assert!(
            refused
                .message
                .ends_with("a list or map needs the filter `yaml(COLUMNS)`")
        );
    }

    #[test]
    fn an_error_of_a_template_is_reported_at_its_line() {
        let (_, found) = engine("t.yaml.j2", "a: 1\n  {% if %}\n");
        let spot = &found[0].labels[0].spot;
        assert_eq!(spot.to_string(), "own.yaml.j2:2:3");
        let unknown = rendered("a: 1\nb: {{ v.missing }}\n", Map::default()).unwrap_err();
        assert_eq!(unknown.rule, RuleId::TemplateError);
        assert_eq!(unknown.labels[0].spot.to_string(), "own.yaml.j2:2:1");
    }

    #[test]
    fn an_endless_template_fails() {
        let text = "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{% endfor %}{% endfor %}{% endfor %}";
        let finding = rendered(text, true).unwrap_err();
        assert!(finding.message.contains("fuel"), "{}", finding.message);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn any_text_is_read_back_as_it_was_written(text in "([ \t\n]|[a-c#:'\"\\\\{}|-]|\\PC){0,24}") {
            let file = rendered("k:\n  a: {{ v }}\n  b: {{ v | yaml(4) }}\n  c: 1\n", text.as_str()).unwrap();
            let read = yaml_tree::read(&file, FileId(0), Reader::Kubectl).unwrap_or_else(|error| panic!("{error}: {file}"));
            for key in ["a", "b"] {
                let found = read.documents[0].get_path(&["k", key]).unwrap();
                assert_eq!(found.value.as_str().map(|text| &**text), Some(&*text), "{file}");
            }
            assert!(read.documents[0].get_path(&["k", "c"]).is_some(), "{file}");
        }
    }
}
