//! Scans anchors, aliases, tags and directives.

use super::{Result, Scanner, TokenKind};

impl<'t> Scanner<'t> {
    /// Scans an anchor or alias.
    pub(super) fn word(&mut self, kind: fn(&'t str) -> TokenKind<'t>) -> Result<()> {
        self.save_key()?;
        self.key_allowed = false;
        let start = self.at;
        self.at += 1;
        while self.bytes.is_word(self.at) {
            self.at += 1;
        }
        let name = &self.text[start + 1..self.at];
        let is_complete = self.bytes.is_gap(self.at)
            || matches!(
                self.byte(),
                b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`'
            );
        if name.is_empty() || !is_complete {
            let message =
                "the name of an anchor consists of letters, digits, `-` and `_`".to_owned();
            return Err(self.error(start..self.at + 1, message));
        }
        self.push(kind(name), start);
        Ok(())
    }

    /// Scans a tag: `!<uri>`, `!suffix`, `!handle!suffix` or `!`.
    pub(super) fn tag(&mut self) -> Result<()> {
        self.save_key()?;
        self.key_allowed = false;
        let start = self.at;
        let (handle, suffix) = if self.bytes.get(start + 1) == b'<' {
            self.at += 2;
            let suffix = self.uri(start)?;
            if self.byte() != b'>' {
                return Err(self.bad_tag(start));
            }
            self.at += 1;
            ("", suffix)
        } else {
            self.short_tag(start)?
        };
        if !self.bytes.is_gap(self.at) {
            return Err(self.bad_tag(start));
        }
        self.push(TokenKind::Tag { handle, suffix }, start);
        Ok(())
    }

    fn short_tag(&mut self, start: usize) -> Result<(&'t str, String)> {
        let handle = self.handle();
        if handle.len() > 1 && handle.ends_with('!') {
            return Ok((handle, self.uri(start)?));
        }
        self.at = start + 1;
        let suffix = if self.is_uri() {
            self.uri(start)?
        } else {
            String::new()
        };
        Ok(if suffix.is_empty() {
            ("", "!".to_owned())
        } else {
            ("!", suffix)
        })
    }

    /// Scans a tag handle: `!`, a word, and an optional second `!`.
    fn handle(&mut self) -> &'t str {
        let start = self.at;
        self.at += 1;
        while self.bytes.is_word(self.at) {
            self.at += 1;
        }
        if self.byte() == b'!' {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn is_uri(&self) -> bool {
        self.bytes.is_word(self.at) || b";/?:@&=+$,.!~*'()[]%".contains(&self.byte())
    }

    /// Scans a URI, with `%XX` decoded.
    fn uri(&mut self, start: usize) -> Result<String> {
        let mut uri = Vec::new();
        while !self.bytes.is_end(self.at) && self.is_uri() {
            if self.byte() == b'%' {
                let code = self.text.get(self.at + 1..self.at + 3);
                let octet = code
                    .filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()))
                    .and_then(|code| u8::from_str_radix(code, 16).ok());
                uri.push(octet.ok_or_else(|| self.bad_tag(start))?);
                self.at += 3;
            } else {
                uri.push(self.byte());
                self.at += 1;
            }
        }
        if uri.is_empty() {
            return Err(self.bad_tag(start));
        }
        String::from_utf8(uri).map_err(|_| self.bad_tag(start))
    }

    fn bad_tag(&self, start: usize) -> super::SyntaxError {
        self.error(start..self.at + 1, "this tag is malformed".to_owned())
    }

    /// Scans `%YAML 1.1` or `%TAG !handle! prefix`.
    pub(super) fn directive(&mut self) -> Result<()> {
        let start = self.at;
        self.at += 1;
        let word = self.at;
        while self.bytes.is_word(self.at) {
            self.at += 1;
        }
        let name = &self.text[word..self.at];
        if !self.bytes.is_gap(self.at) || !matches!(name, "YAML" | "TAG") {
            let message = "a line that starts with `%` must be a YAML directive".to_owned();
            return Err(self.error(start..self.at, message));
        }
        self.skip_blanks();
        let kind = if name == "YAML" {
            let major = self.version_number(start)?;
            if self.byte() != b'.' {
                return Err(self.bad_directive(start));
            }
            self.at += 1;
            let minor = self.version_number(start)?;
            TokenKind::Version { major, minor }
        } else {
            self.tag_prefix(start)?
        };
        self.push(kind, start);
        self.finish_line("a directive")
    }

    fn tag_prefix(&mut self, start: usize) -> Result<TokenKind<'t>> {
        if self.byte() != b'!' {
            return Err(self.bad_directive(start));
        }
        let handle = self.handle();
        if !handle.ends_with('!') || !self.bytes.is_blank(self.at) {
            return Err(self.bad_directive(start));
        }
        self.skip_blanks();
        let prefix = self.uri(start)?;
        if !self.bytes.is_gap(self.at) {
            return Err(self.bad_directive(start));
        }
        Ok(TokenKind::TagPrefix { handle, prefix })
    }

    fn version_number(&mut self, start: usize) -> Result<u32> {
        let from = self.at;
        while self.byte().is_ascii_digit() {
            self.at += 1;
        }
        let digits = &self.text[from..self.at];
        if digits.len() > 2 {
            return Err(self.bad_directive(start));
        }
        digits.parse().map_err(|_| self.bad_directive(start))
    }

    fn skip_blanks(&mut self) {
        while self.bytes.is_blank(self.at) {
            self.at += 1;
        }
    }

    fn bad_directive(&self, start: usize) -> super::SyntaxError {
        self.error(start..self.at + 1, "this directive is malformed".to_owned())
    }
}
