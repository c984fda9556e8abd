//! The tokens of actions: names, numbers, quoted texts, operators, and the blanks between them.

use super::{BLANKS, Lexer, RIGHT, TokenKind, trims_right};
use crate::regexp::CharClass;

impl Lexer<'_> {
    /// Reads the next token of an action.
    pub(super) fn word(&mut self) -> Result<(), String> {
        let Some(character) = self.next() else {
            return Err("the action is not closed by `}}`".to_owned());
        };
        match character {
            blank if BLANKS.contains(&blank) => self.space(),
            '=' => self.push(TokenKind::Assign),
            ':' if self.next() == Some('=') => self.push(TokenKind::Declare),
            ':' => return Err("`:` must be followed by `=`".to_owned()),
            '|' => self.push(TokenKind::Pipe),
            '"' => self.scan_quoted('"', TokenKind::String)?,
            '\'' => self.scan_quoted('\'', TokenKind::CharacterConstant)?,
            '`' => self.raw_string()?,
            '$' => self.field_or_variable(TokenKind::Variable)?,
            '.' if !self.rest().starts_with(|c: char| c.is_ascii_digit())
                && !self.rest().is_empty() =>
            {
                self.field_or_variable(TokenKind::Field)?;
            }
            '.' | '+' | '-' | '0'..='9' => self.number()?,
            '(' => {
                self.parentheses += 1;
                self.push(TokenKind::LeftParenthesis);
            }
            ')' if self.parentheses == 0 => {
                return Err("there is no parenthesis to close here".to_owned());
            }
            ')' => {
                self.parentheses -= 1;
                self.push(TokenKind::RightParenthesis);
            }
            letter if is_alphanumeric(letter) => self.identifier()?,
            ' '..='~' => self.push(TokenKind::Character),
            other => return Err(format!("unexpected character `{}`", other.escape_default())),
        }
        Ok(())
    }

    /// Reads blanks, except a last one that belongs to a trimming right delimiter.
    fn space(&mut self) {
        while self.rest().starts_with(BLANKS) {
            self.position += 1;
        }
        let last = &self.text[self.position - 1..];
        if trims_right(last) && last[2..].starts_with(RIGHT) {
            self.position -= 1;
        }
        if self.position > self.start {
            self.push(TokenKind::Space);
        }
    }

    fn identifier(&mut self) -> Result<(), String> {
        self.alphanumerics();
        self.expect_terminator()?;
        let kind = match &self.text[self.start..self.position] {
            "block" => TokenKind::Block,
            "break" => TokenKind::Break,
            "continue" => TokenKind::Continue,
            "define" => TokenKind::Define,
            "else" => TokenKind::Else,
            "end" => TokenKind::End,
            "if" => TokenKind::If,
            "range" => TokenKind::Range,
            "nil" => TokenKind::Nil,
            "template" => TokenKind::Template,
            "with" => TokenKind::With,
            "true" | "false" => TokenKind::Bool,
            _ => TokenKind::Identifier,
        };
        self.push(kind);
        Ok(())
    }

    /// Reads `.name`, `$name`, or a dot or dollar sign alone.
    fn field_or_variable(&mut self, kind: TokenKind) -> Result<(), String> {
        if self.is_at_terminator() {
            self.push(if kind == TokenKind::Field {
                TokenKind::Dot
            } else {
                kind
            });
            return Ok(());
        }
        self.alphanumerics();
        self.expect_terminator()?;
        self.push(kind);
        Ok(())
    }

    fn scan_quoted(&mut self, quote: char, kind: TokenKind) -> Result<(), String> {
        loop {
            match self.next() {
                Some('\\') if !matches!(self.next(), None | Some('\n')) => {}
                Some('\\' | '\n') | None => {
                    return Err("the quoted text is not closed on its line".to_owned());
                }
                Some(character) if character == quote => break,
                Some(_) => {}
            }
        }
        self.push(kind);
        Ok(())
    }

    fn raw_string(&mut self) -> Result<(), String> {
        let Some(distance) = self.rest().find('`') else {
            return Err("the text in backquotes is not closed".to_owned());
        };
        self.position += distance + 1;
        self.push(TokenKind::RawString);
        Ok(())
    }

    /// Reads a number. Only its characters are checked here; its value is checked when it is converted.
    fn number(&mut self) -> Result<(), String> {
        self.position = self.start;
        self.digits()?;
        let kind = if self.rest().starts_with(['+', '-']) {
            self.digits()?;
            if !self.text[..self.position].ends_with('i') {
                return Err(self.bad_number());
            }
            TokenKind::Complex
        } else {
            TokenKind::Number
        };
        self.push(kind);
        Ok(())
    }

    fn digits(&mut self) -> Result<(), String> {
        self.accept("+-");
        let mut digits = "0123456789_";
        let mut exponent = "eE";
        if self.accept("0") {
            if self.accept("xX") {
                (digits, exponent) = ("0123456789abcdefABCDEF_", "pP");
            } else if self.accept("oO") {
                (digits, exponent) = ("01234567_", "");
            } else if self.accept("bB") {
                (digits, exponent) = ("01_", "");
            }
        }
        while self.accept(digits) {}
        if self.accept(".") {
            while self.accept(digits) {}
        }
        if self.accept(exponent) {
            self.accept("+-");
            while self.accept("0123456789_") {}
        }
        self.accept("i");
        if self.rest().starts_with(is_alphanumeric) {
            self.next();
            return Err(self.bad_number());
        }
        Ok(())
    }

    fn bad_number(&self) -> String {
        let number = &self.text[self.start..self.position];
        format!("`{number}` is not a number")
    }

    fn accept(&mut self, characters: &str) -> bool {
        let accepted = self.rest().starts_with(|c: char| characters.contains(c));
        self.position += usize::from(accepted);
        accepted
    }

    fn alphanumerics(&mut self) {
        let rest = self.rest();
        let length = rest
            .find(|character| !is_alphanumeric(character))
            .unwrap_or(rest.len());
        self.position += length;
    }

    fn is_at_terminator(&self) -> bool {
        let rest = self.rest();
        rest.is_empty()
            || rest.starts_with(BLANKS)
            || rest.starts_with(['.', ',', '|', ':', ')', '('])
            || rest.starts_with(RIGHT)
    }

    fn expect_terminator(&self) -> Result<(), String> {
        if self.is_at_terminator() {
            return Ok(());
        }
        let character = self.rest().chars().next().unwrap_or(' ');
        let word = &self.text[self.start..self.position];
        Err(format!("`{character}` cannot follow `{word}`"))
    }
}

/// Go's letters and digits: the Unicode categories L and Nd, and the underscore.
fn is_alphanumeric(character: char) -> bool {
    static LETTER_OR_DIGIT: CharClass = CharClass::new(r"\p{L}\p{Nd}");
    if character.is_ascii() {
        return character.is_ascii_alphanumeric() || character == '_';
    }
    LETTER_OR_DIGIT.contains(character)
}
