//! The escaping functions of text/template: `html`, `js` and `urlquery`.

use super::format::quote;

/// Escapes for HTML.
pub(super) fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\0' => escaped.push('\u{fffd}'),
            '"' => escaped.push_str("&#34;"),
            '\'' => escaped.push_str("&#39;"),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Escapes for a JavaScript string.
pub(super) fn js(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\\\"),
            '\'' => escaped.push_str("\\'"),
            '"' => escaped.push_str("\\\""),
            '<' | '>' | '&' | '=' | '\0'..='\x1f' => {
                escaped.push_str(&format!("\\u{:04X}", u32::from(character)));
            }
            other if other.is_ascii() || is_printable(other) => escaped.push(other),
            other => escaped.push_str(&format!("\\u{:04X}", u32::from(other))),
        }
    }
    escaped
}

/// Whether Go prints the character as it is: its quoting escapes exactly the others.
fn is_printable(character: char) -> bool {
    let text = character.to_string();
    quote(&text).trim_matches('"') == text
}

/// Escapes for the query of a URL.
pub(super) fn url_query(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                escaped.push(char::from(byte));
            }
            b' ' => escaped.push('+'),
            other => escaped.push_str(&format!("%{other:02X}")),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{html, js, url_query};

    #[test]
    fn each_function_escapes_its_own_characters() {
        assert_eq!(
            html("<a href=\"x\">'&'\0"),
            "&lt;a href=&#34;x&#34;&gt;&#39;&amp;&#39;\u{fffd}"
        );
        assert_eq!(
            js("it's <b>=\n\u{e9}\u{200b}"),
            "it\\'s \\u003Cb\\u003E\\u003D\\u000A\u{e9}\\u200B"
        );
        assert_eq!(url_query("a b/\u{e9}~"), "a+b%2F%C3%A9~");
    }
}
