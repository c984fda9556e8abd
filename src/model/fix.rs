//! The edit that certainly fixes a finding: one value or one key of one file.
//!
//! A fix is offered only where the file says literally what is to be replaced. What an expression computes has no fix, unless it
//! says it as a whole.

use std::sync::Arc;

use yaml_tree::place::Spot;

/// An edit that a machine may make.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// The result, in words that can be pasted: `image_key: ubuntu-noble-plain-rke2-1-31-8`.
    pub text: String,
    /// What is replaced.
    pub spot: Spot,
    /// By which string.
    pub value: String,
    /// The scalar that quotes what is replaced, such as an expression; none where that is a scalar itself.
    pub within: Option<Spot>,
}

impl Fix {
    /// Replaces the scalar at a place; none unless `old` is what the file says there, in quotes or without.
    pub fn replace(
        spot: Option<Spot>,
        old: &str,
        value: impl Into<String>,
        text: impl Into<String>,
    ) -> Option<Self> {
        let spot = spot.filter(|spot| !spot.is_secret())?;
        let written = spot
            .source
            .text
            .get(spot.start as usize..spot.end as usize)?;
        let quoted = |quote: char| {
            let inner = written.strip_prefix(quote)?.strip_suffix(quote)?;
            Some(inner)
        };
        let says = quoted('"').or_else(|| quoted('\'')).unwrap_or(written);
        (says == old).then(|| Self {
            text: text.into(),
            spot,
            value: value.into(),
            within: None,
        })
    }

    /// Replaces a text that the expression at a place says as a whole, such as a version: in quotes, or as all that a branch of it
    /// prints. Where it is there more than once, its occurrence has to be given.
    pub fn replace_within(
        within: Option<Spot>,
        old: &str,
        occurrence: Option<usize>,
        value: impl Into<String>,
        text: impl Into<String>,
    ) -> Option<Self> {
        let within = within.filter(|spot| !spot.is_secret())?;
        let (start, end) = (within.start as usize, within.end as usize);
        let written = within.source.text.get(start..end)?;
        let at = {
            let places = whole_places(written, old);
            let mut found = places.filter(|(index, _)| occurrence.is_none_or(|it| it == *index));
            found.next().filter(|_| found.next().is_none())?.1
        };
        let start = within.start + at as u32;
        Some(Self {
            text: text.into(),
            spot: Spot {
                start,
                end: start + old.len() as u32,
                source: Arc::clone(&within.source),
            },
            value: value.into(),
            within: Some(within),
        })
    }

    /// What is replaced, as the file has it.
    pub fn old(&self) -> &str {
        let Spot { source, start, end } = &self.spot;
        &source.text[*start as usize..*end as usize]
    }
}

/// Where an expression says a text as a whole: which one of its occurrences that is, and at which byte.
pub fn whole_places<'t>(
    expression: &'t str,
    text: &'t str,
) -> impl Iterator<Item = (usize, usize)> + use<'t> {
    let is_whole = move |(_, at): &(usize, usize)| {
        let (before, after) = (&expression[..*at], &expression[at + text.len()..]);
        let is_quoted = before.ends_with('"') && after.starts_with('"');
        is_quoted || before.trim_end().ends_with("}}") && is_branch_end(after)
    };
    let places = expression.match_indices(text).map(|(at, _)| at);
    places.enumerate().filter(is_whole)
}

/// Whether what follows a text in an expression is the end of its branch.
fn is_branch_end(after: &str) -> bool {
    let action = after.trim_start().strip_prefix("{{");
    let action = action.map(|action| action.trim_start_matches(['-', ' ']));
    action.is_some_and(|action| action.starts_with("else") || action.starts_with("end"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Fix;
    use yaml_tree::place::{Secrets, Source, Spot};

    fn fix(text: &str, at: std::ops::Range<u32>, old: &str) -> Option<Fix> {
        let spot = Spot {
            source: Arc::new(Source::new("values.yaml", text)),
            start: at.start,
            end: at.end,
        };
        Fix::replace(Some(spot), old, "new", "words")
    }

    #[test]
    fn only_what_is_written_is_replaced() {
        assert!(fix("a: old", 3..6, "old").is_some());
        assert!(fix("a: 'old'", 3..8, "old").is_some());
        assert!(fix("a: '{{ x }}'", 3..12, "old").is_none());
        assert!(Fix::replace(None, "old", "new", "words").is_none());
    }

    #[test]
    fn what_an_expression_says_once_is_replaced() {
        let nth = |text: &str, occurrence| {
            let within = Spot {
                source: Arc::new(Source::new("values.yaml", text)),
                start: 3,
                end: text.len() as u32,
            };
            let fix = Fix::replace_within(Some(within), "v1", occurrence, "v2", "words")?;
            Some((fix.old().to_owned(), fix.spot.start))
        };
        let quoted = |text: &str| nth(text, None);
        assert_eq!(quoted("a: '{{ \"v1\" }}'"), Some(("v1".to_owned(), 8)));
        let branch = |text: &str| quoted(&format!("a: '{{{{ if . }}}}{text}{{{{- end }}}}'"));
        assert_eq!(branch("v1+b{{ else }} v1 "), Some(("v1".to_owned(), 29)));
        assert_eq!(branch("{{/* v1 was */}} v1 "), Some(("v1".to_owned(), 31)));
        assert_eq!(branch("v1{{ if . }}+b{{ end }}"), None);
        assert_eq!(branch("go v1"), None);
        assert_eq!(quoted("a: '{{ \"v1+b\" }}'"), None);
        assert_eq!(quoted("a: '{{ \"v1\" \"v1\" }}'"), None);
        let second = nth("a: '{{ \"v1\" \"v1\" }}'", Some(1));
        assert_eq!(second, Some(("v1".to_owned(), 13)));
    }

    #[test]
    fn nothing_is_replaced_in_a_file_of_secrets() {
        let source = Source::new("secrets.yaml", "a: old").with_marks(Secrets::Whole, false);
        let spot = Spot {
            source: Arc::new(source),
            start: 3,
            end: 6,
        };
        assert!(Fix::replace(Some(spot), "old", "new", "words").is_none());
    }
}
