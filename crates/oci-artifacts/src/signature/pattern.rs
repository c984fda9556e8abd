//! Texts in which `*` means any characters, as policies name identities and sources.

/// A text, or the texts that it means: `*` is any characters, also none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern(String);

impl Pattern {
    /// The pattern of a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether it means this text. Linear in both.
    pub fn matches(&self, text: &str) -> bool {
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = text.strip_prefix(first) else {
            return false;
        };
        let Some(last) = parts.next_back() else {
            return rest.is_empty();
        };
        for part in parts {
            let Some((_, after)) = rest.split_once(part) else {
                return false;
            };
            rest = after;
        }
        rest.ends_with(last)
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn a_star_is_any_characters_and_everything_else_is_itself() {
        let cases = [
            ("a", "a", true),
            ("a", "ab", false),
            ("a", "ba", false),
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "a/b", true),
            ("a*", "a", true),
            ("a*", "ba", false),
            ("*a", "ba", true),
            ("*a", "ab", false),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a*b*b", "ab", false),
            ("a?c", "abc", false),
        ];
        for (pattern, text, is_match) in cases {
            let found = Pattern::new(pattern).matches(text);
            assert_eq!(found, is_match, "{pattern} {text}");
        }
    }
}
