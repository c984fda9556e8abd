//! Fetches tokens from the token server that a registry names, for one repository, with a password, an identity token or
//! no credential.
//!
//! Source: <https://distribution.github.io/distribution/spec/auth/token/> and `…/auth/oauth/` beside it.

use std::time::Duration;

use reqwest::Url;
use reqwest::header::HeaderValue;
use serde::Deserialize;
use tokio::time::Instant;
use url::form_urlencoded;

use crate::FailureKind;

use super::authorization;
use super::credentials::{Credential, Found, Secret};
use super::error::{RegistryError, authority};
use super::request::{Operation, Request};
use super::transport::Transport;

/// The most bytes of a token server's answer.
const LIMIT: u64 = 1 << 20;

/// The lifetime of a token without `expires_in`, as the specification defines it.
const LIFE: Duration = Duration::from_secs(60);

/// A token and its expiry.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) secret: Secret,
    pub(super) until: Instant,
}

/// A token request: the token server, and the scope.
#[derive(Clone, Copy)]
pub(super) struct TokenRequest<'a> {
    /// The registry that named the token server.
    pub(super) registry: &'a Url,
    /// Whether the identity of the registry is verified.
    pub(super) trusted: bool,
    pub(super) realm: &'a Url,
    pub(super) service: Option<&'a str>,
    pub(super) scope: &'a str,
    pub(super) deadline: Instant,
}

#[derive(Deserialize)]
struct TokenResponse {
    token: Option<String>,
    access_token: Option<String>,
    expires_in: Option<u64>,
}

/// Fetches a token.
pub(super) async fn fetch(
    transport: &Transport,
    token_request: TokenRequest<'_>,
    found: &Found,
) -> Result<Token, RegistryError> {
    if found.credential.is_some() {
        check_realm(&token_request)?;
    }
    let (request, authorization) = request(&token_request, found.credential.as_ref());
    let authorization = authorization
        .map(|authorization| authorization.header())
        .transpose()?;
    let host = authority(token_request.realm);
    let answer = transport.execute(&request, authorization.as_ref()).await?;
    match answer.status {
        200..=299 => {}
        400 | 401 | 403 => {
            return Err(authorization::refusal(&host, &answer, found, "a token"));
        }
        status => {
            let reason = authorization::reason(&answer, found)
                .map(|reason| format!(" ({reason})"))
                .unwrap_or_default();
            let message = format!("`{host}` answered {status}{reason} to the request for a token");
            return Err(RegistryError::new(FailureKind::Unreachable, message));
        }
    }
    let response: Option<TokenResponse> = serde_json::from_slice(&answer.body).ok();
    let life = response.as_ref().and_then(|response| response.expires_in);
    let text = response.and_then(|response| response.token.or(response.access_token));
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        let message = format!("`{host}` answered the request for a token without one");
        return Err(RegistryError::new(FailureKind::Unreachable, message));
    };
    let life = life.map_or(LIFE, |seconds| Duration::from_secs(seconds.min(86_400)));
    Ok(Token {
        secret: Secret::new(text),
        // The last tenth is not used: the token must be valid when it arrives.
        until: Instant::now() + life.mul_f32(0.9),
    })
}

/// Fails unless the token server may receive the credentials: it is the registry's own host, or a registry with a verified
/// identity names it and it uses TLS.
fn check_realm(token_request: &TokenRequest<'_>) -> Result<(), RegistryError> {
    let (registry, realm) = (token_request.registry, token_request.realm);
    let same_host = registry.host_str() == realm.host_str() && registry.scheme() == realm.scheme();
    if same_host || (token_request.trusted && realm.scheme() == "https") {
        return Ok(());
    }
    let (host, other) = (authority(registry), authority(realm));
    let message = format!(
        "`{host}` requires its credentials to be sent to `{other}`, without TLS or without a verified identity; they were not sent"
    );
    Err(RegistryError::new(FailureKind::Denied, message)
        .help("use TLS with a trusted certificate for both (`ca` below `registries: hosts:`)"))
}

/// The request, and the password for its header.
fn request(
    token_request: &TokenRequest<'_>,
    credential: Option<&Credential>,
) -> (Request, Option<authorization::Authorization>) {
    let mut request = Request {
        accept: "application/json",
        limit: LIMIT,
        ..Request::get(token_request.realm.clone(), token_request.deadline)
    };
    let scope = ("scope", token_request.scope);
    let service = token_request.service.map(|service| ("service", service));
    if let Some(Credential::Identity(token)) = credential {
        let fixed = [
            ("grant_type", "refresh_token"),
            ("client_id", "metalmark"),
            scope,
        ];
        let secret = ("refresh_token", token.reveal());
        let pairs = fixed.into_iter().chain(service).chain([secret]);
        let form = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(pairs)
            .finish();
        request.operation = Operation::Form(form);
        return (request, None);
    }
    request
        .url
        .query_pairs_mut()
        .extend_pairs(service)
        .extend_pairs([scope]);
    let Some(Credential::Password { user, password }) = credential else {
        return (request, None);
    };
    request.url.query_pairs_mut().append_pair("account", user);
    (
        request,
        Some(authorization::Authorization::basic(user, password)),
    )
}

/// The header with a token.
pub(super) fn header(token: &Token) -> Result<HeaderValue, RegistryError> {
    authorization::Authorization::bearer(&token.secret).header()
}
