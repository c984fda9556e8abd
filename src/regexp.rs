//! Go's regular expressions (RE2 syntax, `regexp` package) on the `regex` crate.

/// A compiled pattern with Go's meaning.
#[derive(Clone, Debug)]
pub struct Regexp {
    regex: regex::Regex,
}

impl Regexp {
    /// Compiles a pattern as `regexp.Compile` would.
    pub fn new(pattern: &str) -> Result<Self, String> {
        regex::Regex::new(pattern)
            .map(|regex| Self { regex })
            .map_err(|error| error.to_string())
    }

    /// Whether the pattern matches anywhere in the text.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}
