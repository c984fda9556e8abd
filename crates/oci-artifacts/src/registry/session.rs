//! Sends authenticated requests. The first answer of each registry shows which authentication it requires.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parking_lot::Mutex;
use reqwest::Url;
use reqwest::header::HeaderValue;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

use crate::{FailureKind, RegistryName};

use super::authorization::{self, Authorization};
use super::challenge::{self, Challenge};
use super::credentials::{Credential, Credentials, Found};
use super::endpoint::{Access, Endpoint};
use super::error::RegistryError;
use super::request::{Answer, Request};
use super::token::{self, Token, TokenRequest};
use super::transport::Transport;

/// What is known about one registry.
#[derive(Default)]
struct Registry {
    authentication: Arc<tokio::sync::Mutex<Authentication>>,
    /// The tokens by scope. A failed token request is not repeated in the same batch: servers lock accounts after failures.
    tokens: Mutex<HashMap<String, Arc<tokio::sync::Mutex<Option<TokenEntry>>>>>,
    /// The origins of passwords that were accepted at least once.
    accepted: Mutex<HashSet<String>>,
    /// The origins of passwords that were refused, with the batch and the error.
    refused: Mutex<HashMap<String, (u64, RegistryError)>>,
}

/// The authentication that a registry requires.
#[derive(Default)]
enum Authentication {
    /// No request was sent yet.
    #[default]
    Unknown,
    /// None.
    Open,
    /// What a challenge requires.
    Challenged(Arc<Challenge>),
    /// The host cannot be reached in this batch.
    Unreachable(u64, RegistryError),
}

struct TokenEntry {
    batch: u64,
    outcome: Result<Token, RegistryError>,
}

/// The sessions with all registries.
pub(super) struct Sessions {
    pub(super) transport: Transport,
    credentials: Credentials,
    /// Reading and writing are separate: a registry may allow anonymous reads but not anonymous writes.
    registries: Mutex<HashMap<(RegistryName, Access), Arc<Registry>>>,
}

/// The batch that a request belongs to, and its deadline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    pub(super) batch: u64,
    pub(super) deadline: Instant,
}

impl Sessions {
    pub(super) fn new(transport: Transport, credentials: Credentials) -> Self {
        Self {
            transport,
            credentials,
            registries: Mutex::default(),
        }
    }

    /// The address of a path at a registry.
    pub(super) fn url(&self, endpoint: &Endpoint, path: &str) -> Result<Url, RegistryError> {
        let host = self.transport.clients.host(&endpoint.registry);
        endpoint.url(host.is_some_and(|host| host.plain_http), path)
    }

    /// Sends a request with the authentication that the registry requires. 401 and 403 are errors; the caller judges every
    /// other status.
    pub(super) async fn get(
        &self,
        endpoint: &Endpoint,
        request: Request,
        context: Context,
    ) -> Result<Answer, RegistryError> {
        let registry = self.registry(endpoint);
        let challenge = match self.discover(&registry, &request, context).await? {
            Discovery::Answered(answer) => return self.check_status(*answer, endpoint).await,
            Discovery::Challenge(challenge) => challenge,
        };
        let answer = match challenge {
            Some(challenge) => {
                self.authenticate(&registry, &challenge, &request, endpoint, context)
                    .await?
            }
            None => {
                let answer = self.transport.execute(&request, None).await?;
                match (answer.status, challenge::find(&answer.headers)) {
                    // Other requests needed no authentication, but this one does.
                    (401, Some(challenge)) => {
                        if endpoint.access == Access::Push {
                            let challenge = Arc::new(challenge.clone());
                            *registry.authentication.lock().await =
                                Authentication::Challenged(challenge);
                        }
                        self.authenticate(&registry, &challenge, &request, endpoint, context)
                            .await?
                    }
                    _ => answer,
                }
            }
        };
        self.check_status(answer, endpoint).await
    }

    fn registry(&self, endpoint: &Endpoint) -> Arc<Registry> {
        let mut registries = self.registries.lock();
        let key = (endpoint.registry.clone(), endpoint.access);
        Arc::clone(registries.entry(key).or_default())
    }

    /// The authentication to use. The first request finds it out; the others wait for its status, not for its body.
    async fn discover(
        &self,
        registry: &Registry,
        request: &Request,
        context: Context,
    ) -> Result<Discovery, RegistryError> {
        let mut known = Arc::clone(&registry.authentication).lock_owned().await;
        match &*known {
            Authentication::Open => return Ok(Discovery::Challenge(None)),
            Authentication::Challenged(challenge) => {
                return Ok(Discovery::Challenge(Some(Arc::clone(challenge))));
            }
            Authentication::Unreachable(batch, error) if *batch == context.batch => {
                return Err(error.clone());
            }
            Authentication::Unreachable(..) | Authentication::Unknown => {
                *known = Authentication::Unknown
            }
        }
        let authentication: Mutex<Option<OwnedMutexGuard<Authentication>>> =
            Mutex::new(Some(known));
        let take = || authentication.lock().take();
        let on_status = |status: u16| {
            if status != 401
                && let Some(mut known) = take()
            {
                *known = Authentication::Open;
            }
        };
        let outcome = self
            .transport
            .execute_reporting(request, None, &on_status)
            .await;
        match (outcome, take()) {
            (Ok(answer), Some(mut known)) if answer.status == 401 => {
                match challenge::find(&answer.headers) {
                    Some(challenge) => {
                        let challenge = Arc::new(challenge);
                        *known = Authentication::Challenged(Arc::clone(&challenge));
                        Ok(Discovery::Challenge(Some(challenge)))
                    }
                    None => Ok(Discovery::Answered(Box::new(answer))),
                }
            }
            (Err(error), Some(mut known)) if error.host_unreachable => {
                *known = Authentication::Unreachable(context.batch, error.clone());
                Err(error)
            }
            (outcome, _) => outcome.map(|answer| Discovery::Answered(Box::new(answer))),
        }
    }

    async fn authenticate(
        &self,
        registry: &Registry,
        challenge: &Challenge,
        request: &Request,
        endpoint: &Endpoint,
        context: Context,
    ) -> Result<Answer, RegistryError> {
        let found = self
            .credentials
            .find(&endpoint.registry, &endpoint.repository)
            .await;
        match challenge {
            Challenge::Basic => {
                self.with_password(registry, request, endpoint, &found, context)
                    .await
            }
            Challenge::Bearer {
                realm,
                service,
                scope,
            } => {
                let own = endpoint.scope();
                let token_request = TokenRequest {
                    registry: &request.url,
                    trusted: self.is_trusted(&request.url, &endpoint.registry),
                    realm,
                    service: service.as_deref(),
                    scope: scope.as_deref().unwrap_or(&own),
                    deadline: context.deadline,
                };
                self.with_token(registry, request, token_request, &found, context)
                    .await
            }
            Challenge::Unknown(scheme) => {
                let message = format!(
                    "`{}` requires `{scheme}` authentication, which is not supported",
                    endpoint.registry
                );
                Err(RegistryError::new(FailureKind::Denied, message))
            }
        }
    }

    /// Whether the identity of a host is verified.
    fn is_trusted(&self, url: &Url, registry: &RegistryName) -> bool {
        let host = self.transport.clients.host(registry);
        url.scheme() == "https" && !host.is_some_and(|host| host.skip_verify)
    }

    /// A password that was refused and never accepted is not sent again in the same batch.
    async fn with_password(
        &self,
        registry: &Registry,
        request: &Request,
        endpoint: &Endpoint,
        found: &Found,
        context: Context,
    ) -> Result<Answer, RegistryError> {
        let known = {
            let refused = registry.refused.lock();
            refused.get(&found.origin).cloned()
        };
        if let Some((batch, error)) = known
            && batch == context.batch
        {
            return Err(error);
        }
        let header = match &found.credential {
            Some(Credential::Password { user, password }) => {
                Some(Authorization::basic(user, password).header()?)
            }
            _ => None,
        };
        let answer = self.transport.execute(request, header.as_ref()).await?;
        let mut accepted = registry.accepted.lock();
        if answer.status != 401 {
            accepted.insert(found.origin.clone());
        } else if !accepted.contains(&found.origin) {
            let error = refusal(endpoint, &answer, found);
            let mut refused = registry.refused.lock();
            refused.insert(found.origin.clone(), (context.batch, error));
        }
        Ok(answer)
    }

    /// A known token may have expired: then one new token is fetched.
    async fn with_token(
        &self,
        registry: &Registry,
        request: &Request,
        token_request: TokenRequest<'_>,
        found: &Found,
        context: Context,
    ) -> Result<Answer, RegistryError> {
        let cell = {
            let mut tokens = registry.tokens.lock();
            Arc::clone(tokens.entry(token_request.scope.to_owned()).or_default())
        };
        let mut renewed = false;
        loop {
            let mut known_token = cell.lock().await;
            let known = known_token
                .as_ref()
                .and_then(|known_token| match &known_token.outcome {
                    Ok(token) => (token.until > Instant::now()).then(|| Ok(token.clone())),
                    Err(error) => (known_token.batch == context.batch).then(|| Err(error.clone())),
                });
            let is_new = known.is_none();
            let token = match known {
                Some(known) => known?,
                None => {
                    let outcome = token::fetch(&self.transport, token_request, found).await;
                    let batch = context.batch;
                    known_token
                        .insert(TokenEntry { batch, outcome })
                        .outcome
                        .clone()?
                }
            };
            drop(known_token);
            let header: HeaderValue = token::header(&token)?;
            let answer = self.transport.execute(request, Some(&header)).await?;
            if answer.status != 401 || is_new || renewed {
                return Ok(answer);
            }
            renewed = true;
            let mut known_token = cell.lock().await;
            let is_same = |known_token: &TokenEntry| matches!(&known_token.outcome, Ok(known) if known.secret == token.secret);
            if known_token.as_ref().is_some_and(is_same) {
                *known_token = None;
            }
        }
    }

    async fn check_status(
        &self,
        mut answer: Answer,
        endpoint: &Endpoint,
    ) -> Result<Answer, RegistryError> {
        if answer.status < 400 {
            return Ok(answer);
        }
        if !matches!(answer.status, 401 | 403) {
            answer.reason = self.reason(&answer, endpoint).await;
            return Ok(answer);
        }
        let found = self
            .credentials
            .find(&endpoint.registry, &endpoint.repository)
            .await;
        Err(refusal(endpoint, &answer, &found))
    }

    /// The message of a refusal, if there is any.
    pub(super) async fn reason(&self, answer: &Answer, endpoint: &Endpoint) -> Option<String> {
        let found = self
            .credentials
            .find(&endpoint.registry, &endpoint.repository)
            .await;
        authorization::reason(answer, &found)
    }
}

fn refusal(endpoint: &Endpoint, answer: &Answer, found: &Found) -> RegistryError {
    let what = if endpoint.repository.is_empty() {
        "its list of repositories"
    } else {
        &endpoint.repository
    };
    let mut error = authorization::refusal(endpoint.registry.as_str(), answer, found, what);
    if endpoint.access == Access::Push {
        error.message.push_str(", to write to it");
        error.help.iter_mut().for_each(|help| {
            *help = help.replace("may read the repository", "may write to the repository")
        });
    }
    error
}

enum Discovery {
    /// The registry answered the request itself.
    Answered(Box<Answer>),
    /// Send the request, with authentication if there is a challenge.
    Challenge(Option<Arc<Challenge>>),
}
