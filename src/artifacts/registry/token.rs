//! Tokens: bought from the realm that a registry names, for one repository, with a password, an identity token or nothing.
//!
//! Source: <https://distribution.github.io/distribution/spec/auth/token/> and `…/auth/oauth/` beside it.

use std::time::Duration;

use reqwest::Url;
use reqwest::header::HeaderValue;
use serde::Deserialize;
use tokio::time::Instant;
use url::form_urlencoded;

use crate::oci::FailureKind;

use super::credentials::{Credential, Found, Secret};
use super::proof;
use super::question::{Act, Part, Question};
use super::trouble::{Trouble, authority};
use super::wire::Wire;

/// The longest answer with a token, in bytes.
const LIMIT: u64 = 1 << 20;

/// How long a token holds that does not say it; the specification's own figure.
const LIFE: Duration = Duration::from_secs(60);

/// A token, and until when it may be used.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) secret: Secret,
    pub(super) until: Instant,
}

/// Where a token is bought, and what for.
#[derive(Clone, Copy)]
pub(super) struct Purchase<'a> {
    /// The registry that named the realm.
    pub(super) registry: &'a Url,
    /// Whether it had to prove who it is.
    pub(super) trusted: bool,
    pub(super) realm: &'a Url,
    pub(super) service: Option<&'a str>,
    pub(super) scope: &'a str,
    pub(super) deadline: Instant,
}

#[derive(Deserialize)]
struct Sold {
    token: Option<String>,
    access_token: Option<String>,
    expires_in: Option<u64>,
}

/// Buys a token.
pub(super) async fn buy(
    wire: &Wire,
    purchase: Purchase<'_>,
    found: &Found,
) -> Result<Token, Trouble> {
    if found.credential.is_some() {
        may_know(&purchase)?;
    }
    let (question, proof) = question(&purchase, found.credential.as_ref());
    let proof = proof.map(|proof| proof.header()).transpose()?;
    let host = authority(purchase.realm);
    let answer = wire.ask(&question, proof.as_ref(), &|_| ()).await?;
    match answer.status {
        200..=299 => {}
        400 | 401 | 403 => {
            return Err(proof::refused(&host, &answer, found, "a token"));
        }
        status => {
            let reason = proof::reason(&answer, found).map(|reason| format!(" ({reason})"));
            let reason = reason.unwrap_or_default();
            let message = format!("`{host}` answered {status}{reason} when asked for a token");
            return Err(Trouble::new(FailureKind::Unreachable, message));
        }
    }
    let sold: Option<Sold> = serde_json::from_slice(&answer.body).ok();
    let life = sold.as_ref().and_then(|sold| sold.expires_in);
    let text = sold.and_then(|sold| sold.token.or(sold.access_token));
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        let message = format!("`{host}` was asked for a token and answered without one");
        return Err(Trouble::new(FailureKind::Unreachable, message));
    };
    let life = life.map_or(LIFE, |seconds| Duration::from_secs(seconds.min(86_400)));
    Ok(Token {
        secret: Secret::new(text),
        // Not used in its last tenth, for it must outlive the way there.
        until: Instant::now() + life.mul_f32(0.9),
    })
}

/// A realm may know the credentials when it is the registry's own host, or is named, over TLS, by a registry that proved who
/// it is, and is asked over TLS.
fn may_know(purchase: &Purchase<'_>) -> Result<(), Trouble> {
    let (registry, realm) = (purchase.registry, purchase.realm);
    let same_host = registry.host_str() == realm.host_str() && registry.scheme() == realm.scheme();
    if same_host || (purchase.trusted && realm.scheme() == "https") {
        return Ok(());
    }
    let (host, other) = (authority(registry), authority(realm));
    let message = format!(
        "`{host}` wants its credentials sent to `{other}`, without TLS or without having proved who it is; they were not sent"
    );
    Err(Trouble::new(FailureKind::Denied, message)
        .help("use TLS with a trusted certificate for both (`ca` below `registries: hosts:`)"))
}

/// The question, and the password that goes into its header.
fn question(
    purchase: &Purchase<'_>,
    credential: Option<&Credential>,
) -> (Question, Option<proof::Proof>) {
    let mut question = Question {
        url: purchase.realm.clone(),
        accept: "application/json",
        act: Act::Get,
        part: Part::Whole,
        limit: LIMIT,
        deadline: purchase.deadline,
    };
    let scope = ("scope", purchase.scope);
    let service = purchase.service.map(|service| ("service", service));
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
        question.act = Act::Form(form);
        return (question, None);
    }
    question
        .url
        .query_pairs_mut()
        .extend_pairs(service)
        .extend_pairs([scope]);
    let Some(Credential::Password { user, password }) = credential else {
        return (question, None);
    };
    question.url.query_pairs_mut().append_pair("account", user);
    (question, Some(proof::Proof::basic(user, password)))
}

/// The header that shows a token.
pub(super) fn header(token: &Token) -> Result<HeaderValue, Trouble> {
    proof::Proof::bearer(&token.secret).header()
}
