//! Layers merge as Helm 3 and Helm 4 merge them.

use serde_json::Value;
use yaml_tree::engine::Engine;
use yaml_tree::json::{Html, to_json};
use yaml_tree::merge::{Layer, LayerKind, layers};
use yaml_tree::place::FileId;

use crate::oracle::{ENGINES, Tally, accepted, canonical, cases};

#[test]
fn every_case_agrees() {
    let mut wrong = Vec::new();
    let mut tally = Tally::new("layers.jsonl");
    for case in cases("layers.jsonl") {
        for (name, engine) in &ENGINES[..2] {
            let answer = answer(&case, *engine);
            let expect = accepted(&case["expect"][name]);
            let agrees = expect
                .iter()
                .any(|expect| match (&answer, expect["json"].as_str()) {
                    (Ok(ours), Some(theirs)) => canonical(ours) == canonical(theirs),
                    (Err(class), None) => expect["error"]["class"] == *class,
                    _ => false,
                });
            if agrees {
                tally.count(&case, name, None);
            } else {
                wrong.push(format!("{case} {name}\n  ours {answer:?}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    tally.is_documented();
}

fn answer(case: &Value, engine: Engine) -> Result<String, &'static str> {
    let overrides = case["layers"].as_array().expect("layers are a list");
    let chart = case["chart_values"].as_str();
    let texts = chart
        .map(|text| (text, LayerKind::Chart))
        .into_iter()
        .chain(overrides.iter().map(|text| {
            (
                text.as_str().expect("a layer is a text"),
                LayerKind::Override,
            )
        }));
    let stack = texts
        .map(|(text, kind)| {
            let tree = yaml_tree::values(text, FileId(0), engine).map_err(|_| "values")?;
            Ok(Layer { tree, kind })
        })
        .collect::<Result<Vec<Layer>, &'static str>>()?;
    Ok(to_json(&layers(&stack, engine).tree.value, Html::Plain))
}
