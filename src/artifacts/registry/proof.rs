//! What is sent to prove who asks, and what is told when that was not enough.

use reqwest::header::HeaderValue;
use serde::Deserialize;

use crate::model::bytes::BASE64;
use crate::oci::FailureKind;

use super::credentials::{Credential, Found, Secret};
use super::question::Answer;
use super::trouble::Trouble;

/// The longest reason of a server that is quoted, in characters.
const QUOTED: usize = 160;

/// The text of an `Authorization` header.
pub(super) struct Proof(Secret);

impl Proof {
    pub(super) fn basic(user: &str, password: &Secret) -> Self {
        let pair = format!("{user}:{}", password.reveal());
        Self(Secret::new(format!(
            "Basic {}",
            BASE64.encode(pair.as_bytes())
        )))
    }

    pub(super) fn bearer(token: &Secret) -> Self {
        Self(Secret::new(format!("Bearer {}", token.reveal())))
    }

    /// The header, which `Debug` does not show.
    pub(super) fn header(&self) -> Result<HeaderValue, Trouble> {
        let mut header = HeaderValue::from_str(self.0.reveal()).map_err(|_| {
            let message = "a credential holds what no HTTP header can";
            Trouble::new(FailureKind::Denied, message)
        })?;
        header.set_sensitive(true);
        Ok(header)
    }
}

/// What an answer of 401, or 403, or of a token server comes to.
pub(super) fn refused(host: &str, answer: &Answer, found: &Found, what: &str) -> Trouble {
    let reason = reason(answer, found);
    let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
    let status = answer.status;
    match &found.credential {
        Some(_) => {
            let message = format!(
                "`{host}` answered {status}{reason} to {}, asked for {what}",
                found.story
            );
            Trouble::new(FailureKind::Denied, message)
                .help("check that this user may read the repository, or log in again: `docker login` or `podman login`")
        }
        None => {
            let message = format!(
                "`{host}` answered {status}{reason} to a question without credentials, asked for {what}"
            );
            Trouble::new(FailureKind::Denied, message).help(format!(
                "log in with `docker login` or `podman login`: {}",
                found.story
            ))
        }
    }
}

/// What a server gives as its reason, cut short, and without any secret that it repeats.
pub(super) fn reason(answer: &Answer, found: &Found) -> Option<String> {
    #[derive(Deserialize)]
    struct Envelope {
        errors: Vec<Fault>,
    }
    #[derive(Deserialize)]
    struct Fault {
        code: Option<String>,
        message: Option<String>,
    }
    let envelope: Envelope = serde_json::from_slice(&answer.body).ok()?;
    let fault = envelope.errors.into_iter().next()?;
    let text = fault
        .message
        .filter(|text| !text.is_empty())
        .or(fault.code)?;
    let secrets: Vec<String> = match &found.credential {
        Some(Credential::Password { user, password }) => {
            let pair = format!("{user}:{}", password.reveal());
            vec![password.reveal().to_owned(), BASE64.encode(pair.as_bytes())]
        }
        Some(Credential::Identity(token)) => vec![token.reveal().to_owned()],
        None => Vec::new(),
    };
    let repeats = secrets
        .iter()
        .any(|secret| !secret.is_empty() && text.contains(secret));
    let clean: String = text
        .chars()
        .filter(|letter| !letter.is_control())
        .take(QUOTED)
        .collect();
    (!repeats).then_some(clean)
}
