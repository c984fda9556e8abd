//! Every scalar and document is read as Helm 3, Helm 4 and kubectl read it.

use serde_json::Value;
use yaml_tree::engine::Engine;
use yaml_tree::json::{Html, to_json};
use yaml_tree::place::FileId;
use yaml_tree::value::{Node, Value as Tree};

use crate::oracle::{ENGINES, Tally, accepted, canonical, cases};

const HEAD: &str = "apiVersion: oracle.example/v1\nkind: Probe\nmetadata: {name: probe}\n";

#[test]
fn every_case_agrees() {
    let mut wrong = Vec::new();
    let mut tally = Tally::new("scalars.jsonl");
    let mut right = 0;
    for case in cases("scalars.jsonl") {
        let id = case["id"].as_str().expect("cases have ids");
        for (name, engine) in ENGINES {
            let answer = answer(&case, engine);
            let expect = accepted(&case["expect"][name]);
            if expect.iter().any(|expect| agrees(&answer, expect)) {
                right += 1;
                tally.count(&case, name, None);
            } else {
                wrong.push(format!(
                    "{id} {name}: {:.200?}\n  ours {answer:.200?}\n  theirs {expect:.300?}",
                    case["yaml"]
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong, {right} right\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    tally.is_documented();
}

/// What we make of a case: JSON or a class of error.
fn answer(case: &Value, engine: Engine) -> Result<Option<String>, &'static str> {
    let mut bytes = match (case["yaml"].as_str(), case["yaml_b64"].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(encoded)) => base64(encoded),
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
        return Ok(Some(to_json(&values.value, Html::Plain)));
    }
    object(&documents.documents, has_head)
}

/// kubectl takes each document as an object and leaves out those that are nothing.
fn object(documents: &[Node], has_head: bool) -> Result<Option<String>, &'static str> {
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
    first.map(Some).ok_or("other")
}

fn agrees(answer: &Result<Option<String>, &str>, expect: &Value) -> bool {
    match (answer, expect["json"].as_str()) {
        (Ok(Some(ours)), Some(theirs)) => canonical(ours) == canonical(theirs),
        (Ok(None), None) => expect.get("json").is_some(),
        (Err(class), None) => expect["error"]["class"] == *class,
        _ => false,
    }
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|b| *b != b'=').map(digit).collect();
    let bits = digits
        .iter()
        .flat_map(|d| (0..6).rev().map(move |bit| d >> bit & 1));
    let bits: Vec<u8> = bits.collect();
    bits.chunks_exact(8)
        .map(|byte| byte.iter().fold(0, |byte, bit| byte << 1 | bit))
        .collect()
}
