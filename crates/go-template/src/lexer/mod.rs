//! Splits a template into tokens: text and the tokens of actions, with blanks trimmed as by Go.

mod word;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Text,
    LeftDelimiter,
    RightDelimiter,
    Space,
    Assign,
    Declare,
    Pipe,
    /// A character without a meaning of its own, such as a comma.
    Character,
    String,
    RawString,
    CharacterConstant,
    Number,
    Complex,
    Field,
    Variable,
    Identifier,
    Bool,
    Dot,
    Nil,
    LeftParenthesis,
    RightParenthesis,
    Block,
    Break,
    Continue,
    Define,
    Else,
    End,
    If,
    Range,
    Template,
    With,
    Eof,
    /// The rest of the text is malformed; [`Tokens::fault`] is the reason.
    Fault,
}

impl TokenKind {
    /// Whether an operand of a command begins with it.
    pub(super) fn begins_operand(self) -> bool {
        matches!(
            self,
            Self::Bool
                | Self::CharacterConstant
                | Self::Complex
                | Self::Dot
                | Self::Field
                | Self::Identifier
                | Self::Number
                | Self::Nil
                | Self::RawString
                | Self::String
                | Self::Variable
                | Self::LeftParenthesis
        )
    }
}

/// A token and its byte range in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// The tokens of a template. The last one is [`TokenKind::Eof`] or [`TokenKind::Fault`].
#[derive(Debug)]
pub(super) struct Tokens {
    pub(super) list: Vec<Token>,
    pub(super) fault: String,
}

/// Splits a text into tokens, in linear time.
pub(super) fn tokens(text: &str) -> Tokens {
    let mut lexer = Lexer {
        text,
        position: 0,
        start: 0,
        parentheses: 0,
        list: Vec::new(),
        first_beyond: None,
    };
    let mut fault = match lexer.run() {
        Ok(()) => String::new(),
        Err(fault) => {
            lexer.push(TokenKind::Fault);
            fault
        }
    };
    if let Some(beyond) = lexer.first_beyond {
        let kind = TokenKind::Fault;
        lexer.list.push(Token { kind, ..beyond });
        fault = format!("the template has more than {WORDS_LIMIT} words");
    }
    Tokens {
        list: lexer.list,
        fault,
    }
}

struct Lexer<'t> {
    text: &'t str,
    position: usize,
    start: usize,
    parentheses: usize,
    list: Vec<Token>,
    /// The first token beyond the limit.
    first_beyond: Option<Token>,
}

/// The maximum number of tokens of a template, including texts and blanks. It bounds the memory of the parser.
const WORDS_LIMIT: usize = 200_000;

const LEFT: &str = "{{";
const RIGHT: &str = "}}";
const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

impl Lexer<'_> {
    fn run(&mut self) -> Result<(), String> {
        while let Some(distance) = self.rest().find(LEFT) {
            self.position += distance;
            let delimiter = self.position;
            let trims = trims_left(&self.text[delimiter + LEFT.len()..]);
            if trims {
                let kept = self.text[self.start..delimiter].trim_end_matches(BLANKS);
                self.position = self.start + kept.len();
            }
            if self.position > self.start {
                self.push(TokenKind::Text);
            }
            self.position = delimiter;
            self.start = delimiter;
            let inside = delimiter + LEFT.len() + if trims { 2 } else { 0 };
            if self.text[inside..].starts_with("/*") {
                self.position = inside;
                self.comment()?;
            } else {
                self.position = delimiter + LEFT.len();
                self.push(TokenKind::LeftDelimiter);
                self.skip_to(inside);
                self.parentheses = 0;
                self.action()?;
            }
        }
        self.position = self.text.len();
        if self.position > self.start {
            self.push(TokenKind::Text);
        }
        self.push(TokenKind::Eof);
        Ok(())
    }

    fn comment(&mut self) -> Result<(), String> {
        self.position += 2;
        let Some(distance) = self.rest().find("*/") else {
            return Err("the comment is not closed".to_owned());
        };
        self.position += distance + 2;
        let Some(trims) = self.peek_right_delimiter() else {
            return Err("a comment must end right before the closing braces".to_owned());
        };
        self.right_delimiter(trims);
        self.list.pop();
        Ok(())
    }

    /// Whether the action ends here, and if so, whether it trims the text after it.
    fn peek_right_delimiter(&self) -> Option<bool> {
        let rest = self.rest();
        if trims_right(rest) && rest[2..].starts_with(RIGHT) {
            return Some(true);
        }
        rest.starts_with(RIGHT).then_some(false)
    }

    fn right_delimiter(&mut self, trims: bool) {
        let end = self.position + RIGHT.len() + if trims { 2 } else { 0 };
        self.skip_to(end - RIGHT.len());
        self.position = end;
        self.push(TokenKind::RightDelimiter);
        if trims {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start_matches(BLANKS).len();
            self.skip_to(end + blanks);
        }
    }

    /// Reads an action up to and including its closing braces.
    fn action(&mut self) -> Result<(), String> {
        loop {
            if let Some(trims) = self.peek_right_delimiter() {
                if self.parentheses > 0 {
                    return Err("a parenthesis is not closed".to_owned());
                }
                self.right_delimiter(trims);
                return Ok(());
            }
            self.word()?;
        }
    }

    fn rest(&self) -> &str {
        &self.text[self.position..]
    }

    fn next(&mut self) -> Option<char> {
        let character = self.rest().chars().next()?;
        self.position += character.len_utf8();
        Some(character)
    }

    fn push(&mut self, kind: TokenKind) {
        let token = Token {
            kind,
            start: self.start as u32,
            end: self.position as u32,
        };
        self.start = self.position;
        if self.list.len() < WORDS_LIMIT {
            self.list.push(token);
        } else {
            self.first_beyond.get_or_insert(token);
        }
    }

    fn skip_to(&mut self, position: usize) {
        self.position = position;
        self.start = position;
    }
}

fn trims_left(text: &str) -> bool {
    text.strip_prefix('-')
        .is_some_and(|rest| rest.starts_with(BLANKS))
}

fn trims_right(text: &str) -> bool {
    text.starts_with(BLANKS) && text[1..].starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::{TokenKind, tokens};

    fn words(text: &str) -> Vec<&str> {
        let tokens = tokens(text).list;
        let shown = tokens.iter().filter(|token| token.kind != TokenKind::Space);
        shown
            .map(|token| &text[token.start as usize..token.end as usize])
            .collect()
    }

    fn fault(text: &str) -> String {
        tokens(text).fault
    }

    #[test]
    fn trim_markers_remove_adjacent_blanks() {
        assert_eq!(words("a \n{{- 1 }} b"), ["a", "{{", "1", "}}", " b", ""]);
        assert_eq!(words("a {{ 1 -}} \n b"), ["a ", "{{", "1", "}}", "b", ""]);
        assert_eq!(words("a {{-1}}"), ["a ", "{{", "-1", "}}", ""]);
        assert_eq!(words("a {{- /* c */ -}} b"), ["a", "b", ""]);
    }

    #[test]
    fn tokens_end_where_they_end_in_go() {
        assert_eq!(
            words("{{$x:=.a.b|f(1i)}}"),
            [
                "{{", "$x", ":=", ".a", ".b", "|", "f", "(", "1i", ")", "}}", ""
            ]
        );
        assert_eq!(
            words("{{ \"}}\" `\n}}` '}' }}"),
            ["{{", "\"}}\"", "`\n}}`", "'}'", "}}", ""]
        );
    }

    #[test]
    fn malformed_tokens_are_reported() {
        for text in [
            "{{ .a-b }}",
            "{{ \"a\n\" }}",
            "{{ 'a",
            "{{ `a",
            "{{ 1a }}",
            "{{ (1 }}",
            "{{ 1) }}",
            "{{ $x : 1 }}",
            "{{ \u{7} }}",
            "{{/* a }}",
            "{{/* a */ }}",
            "{{ 1",
        ] {
            assert!(!fault(text).is_empty(), "{text}");
        }
        assert_eq!(fault("{{ \u{dc}_1 }} {{ .\u{e9} }}"), "");
    }
}
