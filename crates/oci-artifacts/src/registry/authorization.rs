//! The `Authorization` header, and the errors for refused credentials.

use reqwest::header::HeaderValue;
use serde::Deserialize;
use yaml_tree::bytes::BASE64;

use crate::FailureKind;

use super::credentials::{Credential, Found, Secret};
use super::error::RegistryError;
use super::request::Answer;

/// The most characters of a server's message that are quoted.
const QUOTED: usize = 160;

/// The value of an `Authorization` header.
pub(super) struct Authorization(Secret);

impl Authorization {
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
    pub(super) fn header(&self) -> Result<HeaderValue, RegistryError> {
        let mut header = HeaderValue::from_str(self.0.reveal()).map_err(|_| {
            let message = "a credential contains characters that an HTTP header cannot";
            RegistryError::new(FailureKind::Denied, message)
        })?;
        header.set_sensitive(true);
        Ok(header)
    }
}

/// The error for an answer of 401 or 403, or a refusal of a token server.
pub(super) fn refusal(host: &str, answer: &Answer, found: &Found, what: &str) -> RegistryError {
    let reason = reason(answer, found).map_or(String::new(), |reason| format!(" ({reason})"));
    let status = answer.status;
    match &found.credential {
        Some(_) => {
            let message = format!(
                "`{host}` answered {status}{reason} to {}, on a request for {what}",
                found.origin
            );
            RegistryError::new(FailureKind::Denied, message)
                .help("check that this user may read the repository, or log in again: `docker login` or `podman login`")
        }
        None => {
            let message = format!(
                "`{host}` answered {status}{reason} to a request for {what} without credentials"
            );
            RegistryError::new(FailureKind::Denied, message).help(format!(
                "log in with `docker login` or `podman login`: {}",
                found.origin
            ))
        }
    }
}

/// The message of a server's refusal, shortened; none if it repeats a secret.
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
