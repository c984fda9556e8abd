//! Replaces characters and commands that terminals and CI logs interpret.

use std::borrow::Cow;

use yaml_tree::opaque::show_labels;

use super::url::hide_secrets;

/// The replacement for an unsafe character.
const REPLACED: &str = "\u{fffd}";

/// Whether a terminal, a log or an editor interprets a character instead of showing it: control characters, the marks that
/// change the direction of text (<https://trojansource.codes>), and the line separators other than LF.
pub fn is_unsafe(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}'
        )
}

/// A text as it is shown: with the place of each secret that it is made of, and without what nobody may see of a URL.
pub fn display(text: &str) -> Cow<'_, str> {
    match show_labels(text) {
        Cow::Borrowed(text) => hide_secrets(text),
        Cow::Owned(text) => Cow::Owned(hide_secrets(&text).into_owned()),
    }
}

/// Text without unsafe characters; line breaks are kept.
pub fn plain(text: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|text| sanitize_line(text, false))
        .collect();
    lines.join("\n")
}

/// A line for printing, with its line break. `has_colors`: ANSI colors in it are the program's own and are kept.
pub(super) fn line(line: &str, has_colors: bool) -> String {
    let (body, end) = match line.strip_suffix('\n') {
        Some(body) => (body.strip_suffix('\r').unwrap_or(body), "\n"),
        None => (line, ""),
    };
    break_command(sanitize_line(body, has_colors)) + end
}

fn sanitize_line(line: &str, has_colors: bool) -> String {
    let shown = display(line);
    let is_replaced = |letter: char| letter != '\t' && is_unsafe(letter);
    if !shown.contains(is_replaced) {
        return shown.into_owned();
    }
    let mut text = String::with_capacity(shown.len());
    let mut rest = &*shown;
    while let Some(at) = rest.find(is_replaced) {
        text += &rest[..at];
        rest = &rest[at..];
        let length = match color(rest) {
            Some(length) if has_colors => {
                text += &rest[..length];
                length
            }
            _ => {
                text += REPLACED;
                rest.chars().next().map_or(1, char::len_utf8)
            }
        };
        rest = &rest[length..];
    }
    text + rest
}

/// The length of the ANSI color at the start of a text: `ESC [ … m`.
fn color(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\x1b[")?;
    let end = parameters.find(|letter: char| !letter.is_ascii_digit() && letter != ';')?;
    parameters[end..].starts_with('m').then_some(end + 3)
}

/// Breaks up a command of a CI runner: GitHub's runner detects `::` after spaces at the start of a line, and `##[` anywhere
/// (<https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs>).
fn break_command(line: String) -> String {
    let line = match break_inner_commands(&line) {
        Cow::Owned(broken) => broken,
        Cow::Borrowed(_) => line,
    };
    let mut rest = line.trim_start();
    while let Some(length) = color(rest) {
        rest = rest[length..].trim_start();
    }
    let start = line.len() - rest.len();
    // `::: path` marks a second file in a finding; a command's name cannot be a colon.
    let is_mark = rest
        .strip_prefix(":::")
        .is_some_and(|after| after.starts_with([' ', '\x1b']));
    if rest.starts_with("::") && !is_mark {
        format!("{}: {}", &line[..start], &line[start + 1..])
    } else {
        line
    }
}

/// Breaks up the commands that are detected anywhere in a line.
pub(super) fn break_inner_commands(text: &str) -> Cow<'_, str> {
    if text.contains("##[") {
        Cow::Owned(text.replace("##[", "## ["))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::{line, plain};

    #[test]
    fn commands_of_a_runner_are_broken_up() {
        assert_eq!(
            line("\u{a0} ::stop-commands::t\n", false),
            "\u{a0} : :stop-commands::t\n"
        );
        assert_eq!(line("a ###[error]x", false), "a ### [error]x");
        assert_eq!(
            line(" ::: images.yaml:2:24\n", false),
            " ::: images.yaml:2:24\n"
        );
        assert_eq!(line("a::b\r\n", false), "a::b\n");
        assert_eq!(line("\x1b[0m \x1b[1m::x::", true), "\x1b[0m \x1b[1m: :x::");
    }

    #[test]
    fn only_colors_of_the_program_are_kept() {
        let text = "\x1b[1;31mred\x1b[0m \x1b[2J \x1b]0;x\u{7} \u{9b}7m";
        let replaced = "\u{fffd}[2J \u{fffd}]0;x\u{fffd} \u{fffd}7m";
        assert_eq!(line(text, true), format!("\x1b[1;31mred\x1b[0m {replaced}"));
        assert_eq!(
            line(text, false),
            format!("\u{fffd}[1;31mred\u{fffd}[0m {replaced}")
        );
    }

    #[test]
    fn direction_marks_and_line_separators_are_replaced() {
        assert_eq!(
            plain("a\u{202e}b\u{2028}c\n\td"),
            "a\u{fffd}b\u{fffd}c\n\td"
        );
    }
}
