//! Every scalar and document is read as Helm 3, Helm 4 and kubectl read it.

use data_encoding::BASE64;
use serde_json::Value;
use yaml_tree::engine::Engine;
use yaml_tree::json::{Html, to_json};
use yaml_tree::place::FileId;
use yaml_tree::value::{Node, Value as Tree};

use super::{ENGINES, compare, is_same_json};

const HEAD: &str = "apiVersion: oracle.example/v1\nkind: Probe\nmetadata: {name: probe}\n";

#[test]
fn every_case_agrees() {
    compare("scalars.jsonl", &ENGINES, &[], answer, is_same_json);
}

/// What we make of a case: JSON or a class of error.
fn answer(case: &Value, engine: Engine) -> Result<String, &'static str> {
    let mut bytes = match (case["yaml"].as_str(), case["yaml_b64"].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(encoded)) => BASE64.decode(encoded.as_bytes()).expect("base64"),
        (None, None) => panic!("a case has a text"),
    };
    let has_head = case.get("kubectl_head") != Some(&Value::Bool(false));
    if engine == Engine::Kubectl && has_head {
        bytes = [HEAD.as_bytes(), &bytes].concat();
    }
    let text = yaml_tree::decode(&bytes, engine).map_err(|_| "values")?;
    let documents = yaml_tree::read(&text, FileId(0), engine).map_err(|_| "values")?;
    if engine != Engine::Kubectl {
        let values = documents.values().map_err(|_| "values")?;
        return Ok(to_json(&values.value, Html::Plain));
    }
    object(&documents.documents, has_head)
}

/// kubectl takes each document as an object and leaves out those that are nothing.
fn object(documents: &[Node], has_head: bool) -> Result<String, &'static str> {
    let mut first = None;
    for document in documents {
        let map = match &document.value {
            Tree::Null => continue,
            Tree::Map(map) => map,
            _ => return Err("values"),
        };
        if map.get("kind").is_none() {
            return Err("other");
        }
        let mut map = (**map).clone();
        if has_head {
            for key in ["apiVersion", "kind", "metadata"] {
                map.remove(key);
            }
        }
        first.get_or_insert_with(|| to_json(&Tree::from(map), Html::Plain));
    }
    first.ok_or("other")
}
