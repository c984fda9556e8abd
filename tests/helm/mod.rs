//! Helm: its charts, its versions, its reading of what is rendered. Here, expressions of a random grammar, and those of the oracle
//! data, give what a real `helm` gives, where one is found; `oracle::expressions` compares with its recorded answers.

mod charts;
mod deployed;
mod inflated;
mod overlays;
mod templates;
mod versions;

use std::path::{Path, PathBuf};
use std::process::Command;

use data_encoding::BASE64;
use go_template::{Budget, Error, ErrorClass, Limits, Value, convert, execute, parse};
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;

use crate::differential::expressions::VALUES;
use crate::differential::random::Random;
use crate::oracle::cases;
use crate::oracle::expressions::{Chart, EXCEPTIONS, type_name};
use crate::programs;
use crate::support::stage::{Stage, project};

/// How many expressions of the grammar are compared.
const GENERATED: usize = 600;

/// How many refusals are compared: each takes a run of its own.
const REFUSALS: usize = 40;

/// How many expressions of the grammar are compared, and how many refusals: `METALMARK_FUZZ` asks for more.
fn counts() -> (usize, usize) {
    let asked = std::env::var("METALMARK_FUZZ").unwrap_or_default();
    match asked.parse::<usize>() {
        Ok(asked) => (asked, REFUSALS.max(asked / 25)),
        Err(_) => (GENERATED, REFUSALS),
    }
}

#[test]
fn a_real_helm_agrees() {
    let Some((helm, engine)) = helm() else {
        return;
    };
    let stage = project().files(&[
        (
            "Chart.yaml",
            "apiVersion: v2\nname: oracle\nversion: 1.2.3\nappVersion: '4.5'\n",
        ),
        ("values.yaml", VALUES),
        (
            "templates/_helpers.tpl",
            include_str!("../../fixtures/oracle/helpers.tpl"),
        ),
    ]);
    let chart = Chart::new(engine);
    let (mut texts, mut refusals) = (Vec::new(), Vec::new());
    for expression in expressions() {
        match evaluate(&chart, &expression, engine) {
            Ok(text) => texts.push((expression, text)),
            Err(error) if error.class == ErrorClass::Limit => {}
            Err(error) => refusals.push((expression, error)),
        }
    }
    let mut wrong = compare_texts(&helm, &stage, texts);
    let step = refusals.len().div_ceil(counts().1).max(1);
    for (expression, error) in refusals.iter().step_by(step) {
        if let Ok(texts) = render(&helm, &stage, &[expression]) {
            wrong.push(format!(
                "{expression:?}\n  ours {error:?}\n  helm {texts:?}"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Asks once for all; what helm refuses is taken out, and it is asked again.
fn compare_texts(helm: &Path, stage: &Stage, mut texts: Vec<(String, String)>) -> Vec<String> {
    let mut wrong = Vec::new();
    while wrong.len() < 20 {
        let expressions: Vec<&String> = texts.iter().map(|(expression, _)| expression).collect();
        match render(helm, stage, &expressions) {
            Ok(theirs) => {
                assert_eq!(theirs.len(), texts.len(), "an answer for each expression");
                for ((expression, ours), theirs) in texts.iter().zip(theirs) {
                    if *ours != theirs {
                        wrong.push(format!(
                            "{expression:?}\n  ours {ours:?}\n  helm {theirs:?}"
                        ));
                    }
                }
                return wrong;
            }
            Err((Some(index), message)) => {
                let (expression, ours) = texts.remove(index);
                wrong.push(format!("{expression:?}\n  ours {ours:?}\n  helm {message}"));
            }
            Err((None, message)) => panic!("helm fails: {message}"),
        }
    }
    wrong
}

pub(crate) fn helm() -> Option<(PathBuf, Engine)> {
    let helm = programs::find("helm")?;
    let version = Command::new(&helm)
        .args(["version", "--short"])
        .output()
        .expect("helm starts");
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let numbers: Vec<u32> = { version.trim_start_matches('v').split(['.', '+']) }
        .filter_map(|number| number.parse().ok())
        .collect();
    let engine = match numbers[..] {
        [3, ..19, ..] => Engine::Helm3_18,
        [3, ..] => Engine::Helm3,
        _ => Engine::Helm4,
    };
    Some((helm, engine))
}

/// What helm makes of each expression; or which one it refuses, where that is known.
fn render<E: AsRef<str>>(
    helm: &Path,
    stage: &Stage,
    expressions: &[E],
) -> Result<Vec<String>, (Option<usize>, String)> {
    let mut template = String::new();
    for (index, _) in expressions.iter().enumerate() {
        let line = "r{I}: {{ tpl (index .Values.expressions {I}) . | b64enc | quote }}\n";
        template.push_str(&line.replace("{I}", &index.to_string()));
    }
    stage.write("templates/out.yaml", template);
    let list: Vec<&str> = expressions.iter().map(AsRef::as_ref).collect();
    let values = serde_json::json!({ "expressions": list });
    stage.write("expressions.json", values.to_string());
    let folder = stage.path();
    let output = Command::new(helm)
        .args(["template", "rel", "-n", "ns", "-f"])
        .arg(folder.join("expressions.json"))
        .arg(folder)
        .env("HELM_CACHE_HOME", folder.join("cache"))
        .output()
        .expect("helm runs");
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = message
            .split("out.yaml:")
            .nth(1)
            .and_then(|rest| rest.split(':').next()?.parse::<usize>().ok());
        return Err((line.map(|line| line - 1), message));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let encoded = text
        .lines()
        .filter_map(|line| line.strip_prefix('r')?.split_once(": \""));
    Ok(encoded
        .map(|(_, text)| BASE64.decode(text.trim_end_matches('"').as_bytes()))
        .map(|bytes| String::from_utf8_lossy(&bytes.expect("base64")).into_owned())
        .collect())
}

/// What our own engine answers.
pub(crate) fn evaluate(chart: &Chart, expression: &str, engine: Engine) -> Result<String, Error> {
    let tree = yaml_tree::values(VALUES, FileId(0), engine).expect("the values are YAML");
    let map = tree.value.as_map().expect("the values are a map");
    let Value::Map(values) = convert::from_map(type_name(engine), map) else {
        panic!("a map stays a map");
    };
    let template = parse("gotpl", expression)?;
    let budget = Budget::new(Limits::default());
    execute(&template, &chart.root(values), chart, &budget)
}

fn expressions() -> Vec<String> {
    let mut expressions: Vec<String> = cases("expressions.jsonl")
        .iter()
        .filter(|case| case["values_at"].is_null())
        .filter(|case| EXCEPTIONS.iter().all(|(id, _)| case["id"] != *id))
        .filter_map(|case| Some(case["expression"].as_str()?.to_owned()))
        .filter(|text| !CHANGING.iter().any(|word| text.contains(word)))
        .collect();
    let mut random = Random::new(0x5eed);
    expressions.extend((0..counts().0).map(|_| random.expression()));
    expressions
}

/// Words of expressions that change the values for those after them, differ from run to run, or end helm's process.
const CHANGING: &[&str] = &[
    "set", "erge", "rand", "uuid", "now", "\"me\"", "loop", "gen", "exprs", ".expr",
];
