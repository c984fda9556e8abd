//! Findings without the secrets that they are about.

use yaml_tree::place::{HIDDEN, hide_quotes};

use super::finding::{Finding, Label};
use super::fix::Fix;
use crate::secrets::known::{LONG, is_of_word};

impl Finding {
    /// The finding without the secrets that it points at: no report may show them.
    pub fn hide_secrets(mut self) -> Self {
        let secrets: Vec<String> = self.labels.iter().filter_map(secret_text).collect();
        if secrets.is_empty() {
            return self;
        }
        // What an expression made is not what the file says there.
        let is_made = secrets.iter().any(|secret| secret.contains("{{"));
        let hide = |text: &mut String| {
            *text = if is_made {
                hide_quotes(text)
            } else {
                hide(text, &secrets)
            };
        };
        hide(&mut self.message);
        self.help.iter_mut().for_each(hide);
        let labels = self.labels.iter_mut();
        labels.for_each(|label| hide(&mut label.text));
        if is_made {
            self.subject.image = self.subject.image.map(|_| HIDDEN.to_owned())
        } else {
            self.subject.image.iter_mut().for_each(hide)
        }
        let is_exposed = |fix: &Fix| secrets.iter().any(|secret| fix.text.contains(secret));
        self.fix = self.fix.filter(|fix| !is_exposed(fix));
        self
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

/// A text without secrets. A short one is hidden where it is a word of its own, for the name `a-secret` does not hold the
/// secret `secret`.
fn hide(text: &str, secrets: &[String]) -> String {
    let mut text = text.to_owned();
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        let (mut hidden, mut rest) = (String::with_capacity(text.len()), text.as_str());
        while let Some(start) = rest.find(secret.as_str()) {
            let end = start + secret.len();
            let is_within =
                rest[..start].ends_with(is_of_word) || rest[end..].starts_with(is_of_word);
            hidden += &rest[..start];
            hidden += if is_within && secret.len() < LONG {
                secret
            } else {
                HIDDEN
            };
            rest = &rest[end..];
        }
        text = hidden + rest;
    }
    text
}

/// The secret that a label marks, without its quotes.
fn secret_text(label: &Label) -> Option<String> {
    let spot = &label.spot;
    let range = spot.start as usize..spot.end as usize;
    let text = spot.source.text.get(range).filter(|_| spot.is_secret())?;
    let text = text.trim().trim_matches(['"', '\'']);
    (!text.is_empty()).then(|| text.to_owned())
}
