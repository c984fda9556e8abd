//! A chart's schema and values, with a line of `---` between them: whatever they are, the check ends, and says the same again.

use capi::schema::ValuesSchema;
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;

use super::values::is_within;

pub(super) fn run(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let (schema, text) = text.split_once("\n---\n").unwrap_or((text, "a: 1\n"));
    let Ok(schema) = ValuesSchema::parse(schema) else {
        return false;
    };
    let Ok(values) = yaml_tree::values(text, FileId(0), Engine::Helm3) else {
        return false;
    };
    let first = schema.check(&values);
    // What is known to be valid is not checked again.
    assert_eq!(first, schema.check(&values));
    let is_checked = first.is_ok();
    for mismatch in first.unwrap_or_default() {
        is_within(text, mismatch.place);
    }
    is_checked
}
