//! Findings of readers without what they quote of a secret.

use std::sync::Arc;

use yaml_tree::place::{Source, Sources, hide_quotes};

use super::finding::{Finding, Label};

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

    /// A finding of a reader without what it quotes of a secret, or of a file outside the project: a value, what it reads as, a
    /// key, an anchor.
    pub fn hide_quoted_secrets(mut self) -> Self {
        let is_hidden = |label: &Label| label.spot.is_secret() || label.spot.source.is_hidden;
        if self.labels.iter().any(is_hidden) {
            let texts = std::iter::once(&mut self.message).chain(&mut self.help);
            texts.for_each(|text| *text = hide_quotes(text));
        }
        self
    }
}
