//! Markup that only literals of the program and the escaping functions create: untrusted text never becomes markup, a mention
//! or a command.

use super::text::{break_inner_commands, display, is_unsafe};

/// Text of a markup language or of workflow commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Safe(String);

/// A literal of the program.
impl From<&'static str> for Safe {
    fn from(text: &'static str) -> Self {
        Self(text.to_owned())
    }
}

impl From<usize> for Safe {
    fn from(number: usize) -> Self {
        Self(number.to_string())
    }
}

impl Safe {
    /// Concatenates parts.
    pub fn concat<const N: usize>(parts: [Self; N]) -> Self {
        Self::join(parts, "")
    }

    /// Concatenates parts with a separator.
    pub fn join(parts: impl IntoIterator<Item = Self>, between: &'static str) -> Self {
        let parts: Vec<String> = parts.into_iter().map(|part| part.0).collect();
        Self(parts.join(between))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A line of a message as Markdown: text in backquotes becomes code, everything else is escaped.
    pub fn markdown(text: &str) -> Self {
        let text = display(text);
        let parts: Vec<&str> = text.split('`').collect();
        // With an odd number of backquotes, none of them is a quote.
        if parts.len().is_multiple_of(2) {
            return Self(markdown_text(&text));
        }
        let parts = parts.iter().enumerate();
        let parts = parts.map(|(number, part)| match number % 2 {
            0 => markdown_text(part),
            _ if part.trim().is_empty() => markdown_text(&format!("`{part}`")),
            _ => code(part),
        });
        Self(parts.collect())
    }

    /// A value as Markdown code, also valid in a table.
    pub fn markdown_code(text: &str) -> Self {
        Self(code(&display(text)))
    }

    /// A line as a code block of Markdown, to be copied as it is; in no table.
    pub fn markdown_block(line: &str) -> Self {
        let line = display(line).replace(is_unsafe, "\u{fffd}");
        Self(fence(&break_inner_commands(&line)))
    }

    /// Text for XML attributes and content. Characters that XML 1.0 does not allow are replaced
    /// (<https://www.w3.org/TR/xml/#charsets>).
    pub fn xml(text: &str) -> Self {
        let text = display(text);
        let mut escaped = String::with_capacity(text.len());
        for (at, letter) in text.char_indices() {
            match letter {
                '&' => escaped += "&amp;",
                '<' => escaped += "&lt;",
                '>' => escaped += "&gt;",
                '"' => escaped += "&quot;",
                '\n' => escaped += "&#10;",
                '\t' => escaped += "&#9;",
                '#' if text[at..].starts_with("##[") => escaped += "&#35;",
                '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
                letter if is_unsafe(letter) => escaped.push('\u{fffd}'),
                letter => escaped.push(letter),
            }
        }
        Self(escaped)
    }

    /// The message of a workflow command, escaped as specified in
    /// <https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands> and the toolkit's `command.ts`.
    pub fn command(text: &str) -> Self {
        let text = display(text)
            .replace('%', "%25")
            .replace('\r', "%0D")
            .replace('\n', "%0A");
        let text = text.replace(is_unsafe, "\u{fffd}");
        Self(break_inner_commands(&text).into_owned())
    }

    /// A property of a workflow command.
    pub fn command_property(text: &str) -> Self {
        let text = Self::command(text).0;
        Self(text.replace(':', "%3A").replace(',', "%2C"))
    }
}

/// A text that Markdown shows as it is: no run of backquotes in it is as long as those around it.
pub fn fence(text: &str) -> String {
    let runs = text.split(|letter| letter != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or_default().max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}

/// A text in backquotes. In a table, a bar ends the cell even in code, unless it is escaped by a single backslash.
fn code(text: &str) -> String {
    if text.contains('`') || text.contains("\\|") || text.ends_with('\\') {
        return markdown_text(text);
    }
    let text = text.replace(is_unsafe, "\u{fffd}").replace('|', "\\|");
    format!("`{}`", break_inner_commands(&text))
}

/// A zero-width space: code hosts search the decoded text for mentions, references and addresses, and a zero-width space
/// interrupts them.
const APART: &str = "&#8203;";

/// Writes everything that could be markup as a character reference, and breaks up mentions, references and links.
fn markdown_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        let rest = &text[at..];
        match letter {
            letter if is_unsafe(letter) => escaped.push('\u{fffd}'),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '^' => {
                escaped += &format!("&#{};", u32::from(letter));
            }
            '@' | '#' | '~' | '!' | '&' | '$' => {
                escaped += &format!("&#{};", u32::from(letter));
                let starts = |next: char| next.is_alphanumeric() || "_\"{[".contains(next);
                if rest[1..].starts_with(starts) {
                    escaped += APART;
                }
            }
            ':' if rest.starts_with("://") => {
                escaped.push(letter);
                escaped += APART;
            }
            '.' if text[..at].to_ascii_lowercase().ends_with("www") => {
                escaped += APART;
                escaped.push(letter);
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{Safe, fence};

    #[test]
    fn a_text_stays_within_its_fence() {
        assert_eq!(fence("a\n"), "```text\na\n```");
        assert_eq!(fence("a ```` b"), "`````text\na ```` b\n`````");
    }

    #[test]
    fn text_in_backquotes_becomes_code_and_everything_else_is_escaped() {
        let markdown = |text: &str| Safe::markdown(text).0;
        assert_eq!(
            markdown("image `a|b` of *x*"),
            "image `a\\|b` of &#42;x&#42;"
        );
        assert_eq!(
            markdown("odd ` <b> @all #1 http://x"),
            "odd &#96; &#60;b&#62; &#64;&#8203;all &#35;&#8203;1 http:&#8203;//x"
        );
        assert_eq!(markdown("a! b & c"), "a&#33; b &#38; c");
        let code = |text: &str| Safe::markdown_code(text).0;
        assert_eq!(code("a|b\nc"), "`a\\|b\u{fffd}c`");
        assert_eq!(code("a`b"), "a&#96;b");
    }

    /// `\\|` ends a table's cell: the first backslash escapes the second.
    #[test]
    fn a_bar_after_a_backslash_does_not_end_a_cell() {
        assert_eq!(
            Safe::markdown_code("a\\| @all").0,
            "a&#92;&#124; &#64;&#8203;all"
        );
    }

    #[test]
    fn text_cannot_end_a_workflow_command() {
        assert_eq!(
            Safe::command("50 %\r\n::error::x\u{1b} ##[a]").0,
            "50 %25%0D%0A::error::x\u{fffd} ## [a]"
        );
        assert_eq!(Safe::command_property("a:b,c%").0, "a%3Ab%2Cc%25");
    }

    #[test]
    fn text_cannot_become_a_tag() {
        assert_eq!(
            Safe::xml("<a b=\"c\">&\n##[x]\u{202e}").0,
            "&lt;a b=&quot;c&quot;&gt;&amp;&#10;&#35;#[x]\u{fffd}"
        );
    }
}
