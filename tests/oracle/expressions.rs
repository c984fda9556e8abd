//! Expressions give what Helm 3 and Helm 4 gave: the same text, or the same class of error.

use std::collections::BTreeMap;
use std::rc::Rc;

use go_template::function::{Signature, Type};
use go_template::object::Struct;
use go_template::value::Object;
use go_template::{
    Budget, Definition, Error, ErrorClass, Host, Limits, Template, Value, convert, execute, parse,
};
use serde_json::Value as Json;
use yaml_tree::engine::Engine;
use yaml_tree::merge::{Layer, LayerKind, layers};
use yaml_tree::place::FileId;

use super::{ENGINES, compare};

/// Cases that cannot agree, and why.
pub(crate) const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "strings-018",
        "a text is UTF-8 here: half a character is refused",
    ),
    (
        "errors-080",
        "dates depend on the machine's time zone and are refused",
    ),
    ("strings-057", "random functions are refused"),
    ("strings-058", "random functions are refused"),
    ("strings-059", "random functions are refused"),
];

#[test]
fn every_case_agrees() {
    compare(
        "expressions.jsonl",
        &ENGINES[..2],
        EXCEPTIONS,
        answer,
        is_same,
    );
}

fn is_same(ours: &Result<String, Error>, expect: &Json) -> bool {
    match ours {
        Ok(text) => expect["text"].as_str() == Some(text),
        Err(error) if error.class == ErrorClass::Fail => {
            let message = expect["error"]["user_message"].as_str().unwrap_or_default();
            expect["error"]["class"] == "fail" && message == error.message
        }
        Err(error) => expect["error"]["class"] == class_name(error.class),
    }
}

/// The names that the oracle data has for the classes.
fn class_name(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Parse => "parse",
        ErrorClass::MissingFunction | ErrorClass::Refused => "missing_function",
        ErrorClass::MissingTemplate => "missing_template",
        ErrorClass::NilPointer => "nil_pointer",
        ErrorClass::WrongType => "wrong_type",
        ErrorClass::WrongArgCount => "wrong_arg_count",
        ErrorClass::OutOfRange => "out_of_range",
        ErrorClass::Fail => "fail",
        ErrorClass::Depth => "depth",
        // Ours alone: a text that Helm's reader of values refuses.
        ErrorClass::Cycle => "values",
        ErrorClass::Limit | ErrorClass::Secret | ErrorClass::Cluster | ErrorClass::Other => "other",
    }
}

/// What `{{ tpl .Values.expr . }}` gives in the chart that the engines were asked with.
fn answer(case: &Json, engine: Engine) -> Result<String, Error> {
    let values = values(case, engine)?;
    let text = values.get("expr")?;
    let Some(Value::String(expression)) = text else {
        return Err(unreadable());
    };
    let chart = Chart::new(engine);
    let root = chart.root(values);
    let template = parse("gotpl", &expression)?;
    execute(&template, &root, &chart, &Budget::new(Limits::default()))
}

fn values(case: &Json, engine: Engine) -> Result<Rc<go_template::value::Map>, Error> {
    let text = case["values"].as_str().expect("values are a text");
    let expression = ascii_json(
        case["expression"]
            .as_str()
            .expect("an expression is a text"),
    );
    let mut stack = Vec::new();
    if case["values_at"] == "chart" {
        stack.push(layer(text, LayerKind::Chart, engine)?);
    } else if case["values_at"] != "--set" {
        stack.push(layer(text, LayerKind::Override, engine)?);
    }
    let expression = format!("{{\"expr\": {expression}}}");
    stack.push(layer(&expression, LayerKind::Override, engine)?);
    let merged = layers(&stack, engine).tree;
    let Some(map) = merged.value.as_map() else {
        return Err(unreadable());
    };
    let Value::Map(values) = convert::from_map(type_name(engine), map) else {
        return Err(unreadable());
    };
    if case["values_at"] == "--set" {
        for assignment in text.split(',') {
            let (key, value) = assignment.split_once('=').expect("an assignment");
            values.set(key, set_value(value));
        }
    }
    Ok(values)
}

fn layer(text: &str, kind: LayerKind, engine: Engine) -> Result<Layer, Error> {
    let tree = yaml_tree::values(text, FileId(0), engine).map_err(|_| unreadable())?;
    Ok(Layer { tree, kind })
}

/// The class stands for one that only this test has.
fn unreadable() -> Error {
    Error::new(ErrorClass::Cycle, "the values cannot be read")
}

/// `--set` knows booleans, null and integers; all else is text.
fn set_value(text: &str) -> Value {
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Nil,
        number if !number.starts_with('0') || number == "0" => {
            number.parse().map_or_else(|_| number.into(), Value::Int64)
        }
        text => text.into(),
    }
}

/// The expression as the asking program wrote it: JSON in ASCII, wide characters as two escapes.
fn ascii_json(text: &str) -> String {
    let mut escaped = String::new();
    for character in serde_json::to_string(text).expect("a text").chars() {
        if character.is_ascii() {
            escaped.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    escaped
}

pub(crate) fn type_name(engine: Engine) -> &'static str {
    if engine.is_helm3() {
        "chartutil.Values"
    } else {
        "common.Values"
    }
}

/// The chart `oracle` with its partials.
pub(crate) struct Chart {
    engine: Engine,
    partials: Template,
}

impl Host for Chart {
    fn engine(&self) -> Engine {
        self.engine
    }

    fn find_definition(&self, name: &str) -> Option<Definition<'_>> {
        self.partials
            .find_definition(name)
            .map(Definition::Template)
    }
}

impl Chart {
    pub(crate) fn new(engine: Engine) -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/oracle/helpers.tpl");
        let text = std::fs::read_to_string(path).expect("the partials are in the repository");
        let partials = parse("_helpers.tpl", &text).expect("the partials are templates");
        Self { engine, partials }
    }

    pub(crate) fn root(&self, values: Rc<go_template::value::Map>) -> Value {
        let root = go_template::value::Map::with_type(
            type_name(self.engine),
            BTreeMap::from([
                ("Values".into(), Value::Map(values)),
                ("Chart".into(), self.chart()),
                ("Release".into(), release()),
                ("Capabilities".into(), self.capabilities()),
                ("Template".into(), template()),
                ("Files".into(), Value::Object(Rc::new(Files))),
                ("Subcharts".into(), map([])),
            ]),
        );
        Value::Map(Rc::new(root))
    }

    fn chart(&self) -> Value {
        let fields = vec![
            ("Name", Value::from("oracle")),
            ("Version", "1.2.3".into()),
            ("AppVersion", "4.5".into()),
            ("Type", "application".into()),
            ("IsRoot", true.into()),
        ];
        if self.engine.is_helm3() {
            return structure("chartutil.chartMetadata", fields);
        }
        map(fields)
    }

    fn capabilities(&self) -> Value {
        let (version, minor, helm) = match self.engine {
            Engine::Helm3_18 => ("v1.32.0", "32", "v3.17.2"),
            _ => ("v1.35.0", "35", "v4.1.4"),
        };
        let kubernetes = vec![
            ("Version", version.into()),
            ("Major", "1".into()),
            ("Minor", minor.into()),
        ];
        structure(
            "*chartutil.Capabilities",
            vec![
                (
                    "KubeVersion",
                    structure("chartutil.KubeVersion", kubernetes),
                ),
                ("APIVersions", Value::Object(Rc::new(ApiVersions))),
                (
                    "HelmVersion",
                    structure("version.BuildInfo", vec![("Version", helm.into())]),
                ),
            ],
        )
    }
}

fn release() -> Value {
    map([
        ("Name", "rel".into()),
        ("Namespace", "ns".into()),
        ("IsInstall", true.into()),
        ("IsUpgrade", false.into()),
        ("Revision", Value::Int(1)),
        ("Service", "Helm".into()),
    ])
}

fn template() -> Value {
    map([
        ("Name", "oracle/templates/out.yaml".into()),
        ("BasePath", "oracle/templates".into()),
    ])
}

fn map(entries: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let entries = entries.into_iter().map(|(key, value)| (key.into(), value));
    Value::map(entries.collect())
}

fn structure(type_name: &'static str, fields: Vec<(&'static str, Value)>) -> Value {
    Value::Object(Rc::new(Struct { type_name, fields }))
}

/// The chart has no files.
#[derive(Debug)]
struct Files;

impl Object for Files {
    fn type_name(&self) -> &str {
        "engine.files"
    }

    fn kind(&self) -> &'static str {
        "map"
    }

    fn text(&self) -> String {
        "map[]".to_owned()
    }

    fn truth(&self) -> bool {
        false
    }

    fn method(&self, name: &str) -> Option<Signature> {
        (name == "Get").then_some(Signature {
            parameters: &[Type::String],
            rest: None,
        })
    }

    fn call(&self, _name: &str, _arguments: &[Value]) -> Result<Value, Error> {
        Ok("".into())
    }
}

/// `.Capabilities.APIVersions`
#[derive(Debug)]
struct ApiVersions;

impl Object for ApiVersions {
    fn type_name(&self) -> &str {
        "chartutil.VersionSet"
    }

    fn kind(&self) -> &'static str {
        "slice"
    }

    fn text(&self) -> String {
        "[v1 apps/v1]".to_owned()
    }

    fn method(&self, name: &str) -> Option<Signature> {
        (name == "Has").then_some(Signature {
            parameters: &[Type::String],
            rest: None,
        })
    }

    fn call(&self, _name: &str, arguments: &[Value]) -> Result<Value, Error> {
        let known =
            matches!(arguments, [Value::String(name)] if ["v1", "apps/v1"].contains(&&**name));
        Ok(Value::Bool(known))
    }
}
