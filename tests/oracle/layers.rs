//! Layers merge as Helm 3 and Helm 4 merge them.

use serde_json::Value;
use yaml_tree::engine::Engine;
use yaml_tree::json::{Html, to_json};
use yaml_tree::merge::{Layer, LayerKind, layers};
use yaml_tree::place::FileId;

use super::{ENGINES, compare, is_same_json};

#[test]
fn every_case_agrees() {
    compare("layers.jsonl", &ENGINES[..2], &[], answer, is_same_json);
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
