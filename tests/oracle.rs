//! The oracle data: what the real engines answered.

use metalmark::model::engine::Engine;
use serde_json::Value;

/// The engines under the names they have in the data.
pub(crate) const ENGINES: [(&str, Engine); 3] = [
    ("helm3", Engine::Helm3),
    ("helm4", Engine::Helm4),
    ("kubectl", Engine::Kubectl),
];

/// The cases of one file.
pub(crate) fn cases(file: &str) -> Vec<Value> {
    let path = format!("{}/fixtures/oracle/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the oracle data is in the repository");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("each line is one JSON object"))
        .collect()
}

/// The answers that count as right: one, or several where the engine itself varies.
pub(crate) fn accepted(expect: &Value) -> Vec<&Value> {
    match expect.get("varies").and_then(Value::as_array) {
        Some(results) => results.iter().collect(),
        None => vec![expect],
    }
}

/// JSON text in one form: no space, strings with the fewest escapes; number literals and the order of keys as they are.
pub(crate) fn canonical(json: &str) -> String {
    let mut out = String::new();
    let mut rest = json;
    while let Some(start) = rest.find('"') {
        out.extend(rest[..start].chars().filter(|c| !c.is_whitespace()));
        let body = &rest[start + 1..];
        let mut end = 0;
        while body.as_bytes()[end] != b'"' {
            end += if body.as_bytes()[end] == b'\\' { 2 } else { 1 };
        }
        let literal = &rest[start..start + end + 2];
        let text: String = serde_json::from_str(literal).expect("a JSON string");
        out.push_str(&serde_json::to_string(&text).expect("strings can be written"));
        rest = &body[end + 1..];
    }
    out.extend(rest.chars().filter(|c| !c.is_whitespace()));
    out
}
