//! Values files that chance makes of the oracle's and of the fuzz targets'.

use serde_json::{Value as Json, json};
use yaml_tree::engine::Engine;
use yaml_tree::json::{Html, to_json};
use yaml_tree::place::FileId;

use super::engine::Answer;
use crate::hostile;
use crate::oracle::cases;

/// What is changed.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let oracle = cases("scalars.jsonl");
    let oracle = oracle.iter().filter_map(|case| case["yaml"].as_str());
    let oracle = oracle.map(|text| text.as_bytes().to_vec());
    oracle.chain(hostile::seeds("values")).collect()
}

pub(super) fn request(text: &str) -> Json {
    json!({"Kind": "values", "Text": text})
}

/// Our answer. None to a long text with a byte order mark inside, which go-yaml looks for at the beginning of its buffer, or with a
/// control character, which it does not see behind the end of a document unless its buffer has it.
pub(super) fn ours(text: &str, engine: Engine) -> Option<Answer> {
    const BUFFER: usize = 512;
    let is_control = |c: char| c.is_control() && !c.is_ascii_whitespace();
    let depends_on_buffer = text
        .chars()
        .skip(1)
        .any(|c| c == '\u{feff}' || is_control(c));
    if text.len() > BUFFER && depends_on_buffer {
        return None;
    }
    let decoded = yaml_tree::decode(text.as_bytes(), engine).ok();
    let Some(decoded) = decoded else {
        return Some(Answer::Error("not decoded".to_owned()));
    };
    let read = yaml_tree::read(&decoded, FileId(0), engine);
    let values = read.and_then(|documents| documents.values());
    Some(match values {
        Ok(values) => Answer::Text(to_json(&values.value, Html::Plain)),
        Err(error) => Answer::Error(error.message.into()),
    })
}
