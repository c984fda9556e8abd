//! Objects as YAML that a person might have written, in one of many styles.

use proptest::prelude::{Strategy, any};
use serde_json::Value;

use super::model::{self, Object};

/// How somebody writes YAML.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// Documents, a `kind: List`, or a list in Helm values.
    pub(super) shape: u8,
    step: usize,
    list_step: usize,
    quote: &'static str,
    has_comments: bool,
    pub(super) eol: &'static str,
    is_ended: bool,
}

pub(super) fn a_style() -> impl Strategy<Value = Style> {
    (0..3_u8, any::<[bool; 5]>(), 0..3_usize).prop_map(
        |(shape, [wide, flat, comments, crlf, is_ended], quote)| Style {
            shape,
            step: if wide { 4 } else { 2 },
            list_step: if flat { 0 } else { 2 },
            quote: ["", "'", "\""][quote],
            has_comments: comments,
            eol: if crlf { "\r\n" } else { "\n" },
            is_ended,
        },
    )
}

/// YAML as a person writes it in that style. What has no counterpart in `old` has no comment.
pub(super) fn written(file: &[Object], old: &[Object], style: Style) -> String {
    let marker = |object: &Object| match object.image {
        Some(image) => Some(format!("# metalmark: image=k{image}")),
        None if model::is_template(&object.value) && !model::is_kept(&object.value) => {
            Some("# metalmark: ignore".to_owned())
        }
        None => None,
    };
    let mut lines: Vec<String> = Vec::new();
    let pad = if style.shape == 0 { 0 } else { style.list_step };
    match style.shape {
        0 => {}
        1 => lines.extend(["apiVersion: v1", "kind: List", "items:"].map(String::from)),
        _ => lines.extend(["# of a chart", "extra:"].map(String::from)),
    }
    for (index, object) in file.iter().enumerate() {
        if style.shape == 0 && index > 0 {
            lines.push("---".to_owned());
        }
        lines.extend(marker(object).map(|marker| " ".repeat(pad) + &marker));
        match style.shape {
            0 => block(&object.value, &old[index].value, 0, style, &mut lines),
            _ => item(&object.value, &old[index].value, pad, style, &mut lines),
        }
    }
    let mut text = lines.join(style.eol);
    if style.is_ended {
        text.push_str(style.eol);
    }
    text
}

fn block(value: &Value, old: &Value, pad: usize, style: Style, lines: &mut Vec<String>) {
    for (key, below) in value.as_object().expect("a map") {
        let before = &old[key];
        let indent = " ".repeat(pad);
        match below {
            Value::Object(map) if !map.is_empty() => {
                lines.push(format!("{indent}{key}:"));
                block(below, before, pad + style.step, style, lines);
            }
            _ => {
                let comment = if style.has_comments && old.get(key).is_some() {
                    "  # {as it is: 'x"
                } else {
                    ""
                };
                lines.push(format!(
                    "{indent}{key}: {}{comment}",
                    scalar(below, before, style)
                ));
            }
        }
    }
}

fn item(value: &Value, old: &Value, pad: usize, style: Style, lines: &mut Vec<String>) {
    let start = lines.len();
    block(value, old, pad + 2, style, lines);
    lines[start].replace_range(pad..pad + 1, "-");
}

/// A scalar, in the quotes that the one before it needed.
fn scalar(value: &Value, before: &Value, style: Style) -> String {
    let is_plain = |text: &str| text.starts_with(|letter: char| letter.is_ascii_alphabetic());
    match value {
        Value::String(text) => {
            let was_plain = before.as_str().is_none_or(is_plain);
            let is_bare = style.quote.is_empty() && was_plain && is_plain(text);
            let quote = if style.quote.is_empty() && !is_bare {
                "'"
            } else {
                style.quote
            };
            format!("{quote}{text}{quote}")
        }
        other => other.to_string(),
    }
}
