//! Findings of readers without what they quote of a secret.

use std::sync::Arc;

use yaml_tree::place::{Source, Sources};

use super::finding::{Finding, Label};

/// What is said of a secret in place of words that may quote it.
const UNKNOWN: &str = "this is not shown, for it may quote a secret";

impl Finding {
    /// The same without what these sources, of the files that it is about, hide by now.
    pub fn hide_secrets_of(mut self, sources: &Sources) -> Self {
        for Label { spot, .. } in &mut self.labels {
            let same =
                |source: &&Arc<Source>| source.path == spot.source.path && source.has_secrets();
            if let Some(source) = sources.all().find(same) {
                spot.source = Arc::clone(source);
            }
        }
        self.hide_quoted_secrets()
    }

    /// A finding of a reader, with what it says without what it quotes of a file: a value, what it reads as, a key, an anchor. That
    /// counts where a secret is there, or a file outside the project.
    pub fn with_sealed(self, sealed: Self) -> Self {
        let sealed = Some(Box::new(sealed));
        Self { sealed, ..self }.hide_quoted_secrets()
    }

    fn hide_quoted_secrets(mut self) -> Self {
        let is_hidden = |label: &Label| label.spot.is_secret() || label.spot.source.is_hidden;
        if self.labels.iter().any(is_hidden) {
            (self.message, self.help) = match &self.sealed {
                Some(sealed) => (sealed.message.clone(), sealed.help.clone()),
                // Nobody knows what of its words is a quote.
                None => (UNKNOWN.to_owned(), Vec::new()),
            };
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use yaml_tree::place::{Place, Source, Sources};

    use super::{Finding, UNKNOWN};
    use crate::model::rule::RuleId;

    #[test]
    fn words_that_may_quote_what_is_a_secret_by_now_are_not_said() {
        let mut sources = Sources::default();
        let file = sources.add(Source::new("a.yaml", "pw: x"));
        let place = Place::new(file, 4..5);
        let finding = Finding::new(RuleId::ValueType, "`x` is no number").help("write `x`");
        let finding = finding.with_label(sources.resolve(place), "");
        let known = finding.clone().hide_secrets_of(&sources);
        assert_eq!(known.message, finding.message);
        sources.hide(vec![place]);
        let sealed = finding.hide_secrets_of(&sources);
        assert_eq!((&*sealed.message, sealed.help.len()), (UNKNOWN, 0));
    }
}
