//! Sylva's typed evaluation, by name, comes to what Sylva's own templates came to.

use go_template::{Engine, ErrorClass};
use metalmark::evaluate::{Evaluation, Evaluator, Options, TemplateCache};
use serde_json::Value;
use yaml_tree::json::{Html, to_json};
use yaml_tree::merge::merge;
use yaml_tree::place::FileId;
use yaml_tree::value::{Node, Value as Tree};

use super::{ENGINES, compare, is_same_json};

/// Cases that cannot agree, and why.
pub(crate) const EXCEPTIONS: &[(&str, &str)] = &[(
    "typed-081",
    "`internalPersistentRandomPasswd` makes 64 random characters, which are refused",
)];

/// What the scratch chart has beneath each case.
const CHART: &str = "_internal: {state: {}}\nunit_templates: {}\n";

#[test]
fn every_case_agrees() {
    let answer = |case: &Value, engine| answer(case["values"].as_str().expect("values"), engine);
    compare(
        "typed.jsonl",
        &ENGINES[..2],
        EXCEPTIONS,
        answer,
        is_same_json,
    );
}

fn answer(text: &str, engine: Engine) -> Result<String, &'static str> {
    let read = |text| yaml_tree::values(text, FileId(0), engine).map_err(|_| "values");
    let values = merge(&read(CHART)?, &read(text)?);
    let options = Options {
        evaluation: Evaluation::Exact,
        engine,
        ..Options::default()
    };
    let evaluator = Evaluator::new(&values, &options, &TemplateCache::default());
    let node = evaluator.get(&[]).map_err(|failure| class(failure.class))?;
    Ok(to_json(
        &without_kept(node.expect("the root is never left out")),
        Html::Plain,
    ))
}

/// The data leaves out what the run puts back as it was.
fn without_kept(node: Node) -> Tree {
    let mut map = (**node.value.as_map().expect("values are a map")).clone();
    map.remove("unit_templates");
    map.remove("unit_definition_defaults");
    map.into()
}

/// The class as the data names it. A cycle is found at once here, and by Helm when it is 1000 deep.
fn class(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Parse => "parse",
        ErrorClass::MissingFunction | ErrorClass::Refused => "missing_function",
        ErrorClass::MissingTemplate => "missing_template",
        ErrorClass::NilPointer => "nil_pointer",
        ErrorClass::WrongType => "wrong_type",
        ErrorClass::WrongArgCount => "wrong_arg_count",
        ErrorClass::OutOfRange => "out_of_range",
        ErrorClass::Fail => "fail",
        ErrorClass::Depth | ErrorClass::Cycle => "depth",
        ErrorClass::Limit => "limit",
        ErrorClass::Secret | ErrorClass::Cluster | ErrorClass::Other => "other",
    }
}
