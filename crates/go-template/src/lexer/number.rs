//! Numbers in actions.

use super::word::is_alphanumeric;
use super::{Kind, Lexer};

impl Lexer<'_> {
    /// Reads a number. Only its characters are checked here; its value is checked when it is converted.
    pub(super) fn number(&mut self) -> Result<(), String> {
        self.position = self.start;
        self.digits()?;
        let kind = if self.rest().starts_with(['+', '-']) {
            self.digits()?;
            if !self.text[..self.position].ends_with('i') {
                return Err(self.bad_number());
            }
            Kind::Complex
        } else {
            Kind::Number
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
}
