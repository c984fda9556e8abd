//! Sends requests: follows redirects, limits sizes, retries. It knows credentials only as a finished header, which it never
//! sends to another host.

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;

use parking_lot::Mutex;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_RANGE, CONTENT_TYPE, HeaderValue, LOCATION, RANGE,
};
use reqwest::{RequestBuilder, Response, Url};
use tokio::time::{Instant, sleep_until};

use crate::FailureKind;

use super::body::Source;
use super::clients::Clients;
use super::error::{self, RegistryError, authority};
use super::options::Limits;
use super::request::{Answer, ByteRange, Operation, Request};
use super::retry;

/// The most redirects of one request.
const REDIRECTS: usize = 5;

/// The most bytes of an answer that is not a success: enough for its message.
const REASON_LIMIT: u64 = 64 << 10;

/// The media type of a blob's bytes (distribution-spec, "Pushing blobs").
const BYTES: &str = "application/octet-stream";

/// Receives the status of a final answer, before its body is read.
pub(super) type OnStatus<'a> = &'a (dyn Fn(u16) + Send + Sync);

/// Sends requests.
pub(super) struct Transport {
    pub(super) clients: Clients,
    pub(super) limits: Limits,
    /// Hosts that requested a pause, and its end.
    paused: Mutex<HashMap<String, Instant>>,
}

impl Transport {
    pub(super) fn new(clients: Clients, limits: Limits) -> Self {
        Self {
            clients,
            limits,
            paused: Mutex::default(),
        }
    }

    /// Sends a request, with retries until the answer is final or the deadline passes.
    pub(super) async fn execute(
        &self,
        request: &Request,
        authorization: Option<&HeaderValue>,
    ) -> Result<Answer, RegistryError> {
        self.execute_reporting(request, authorization, &|_| ())
            .await
    }

    /// The same, and reports the status of the final answer before its body is read.
    pub(super) async fn execute_reporting(
        &self,
        request: &Request,
        authorization: Option<&HeaderValue>,
        on_status: OnStatus<'_>,
    ) -> Result<Answer, RegistryError> {
        let host = authority(&request.url);
        let mut attempt = 0;
        loop {
            self.wait(&host, request.deadline).await;
            let outcome = self.once(request, authorization, on_status).await;
            let requested = match &outcome {
                Ok(answer) if retry::may_change(answer.status) => retry::delay(&answer.headers),
                Err(error) if error.retryable => None,
                _ => return outcome,
            };
            if !request.operation.repeats() {
                return outcome;
            }
            let until = Instant::now() + retry::pause(&self.limits, attempt, requested);
            if attempt == self.limits.retries || until >= request.deadline {
                return outcome.map_err(|error| with_attempts(error, attempt));
            }
            attempt += 1;
            if matches!(&outcome, Ok(answer) if answer.status == 429) {
                self.pause(&host, until);
            }
            sleep_until(until).await;
        }
    }

    /// Waits while the host has requested a pause.
    async fn wait(&self, host: &str, deadline: Instant) {
        let until = {
            let paused = self.paused.lock();
            paused.get(host).copied()
        };
        if let Some(until) = until.filter(|until| *until > Instant::now()) {
            sleep_until(until.min(deadline)).await;
        }
    }

    fn pause(&self, host: &str, until: Instant) {
        let mut paused = self.paused.lock();
        let known = paused.entry(host.to_owned()).or_insert(until);
        *known = until.max(*known);
    }

    /// One attempt, with its redirects.
    async fn once(
        &self,
        request: &Request,
        authorization: Option<&HeaderValue>,
        on_status: OnStatus<'_>,
    ) -> Result<Answer, RegistryError> {
        let (mut url, mut authorization) = (request.url.clone(), authorization);
        for _ in 0..=REDIRECTS {
            let response = self.send(request, &url, authorization).await?;
            let status = response.status().as_u16();
            let Some(next) = redirect_target(&response, request).transpose()? else {
                if !retry::may_change(status) {
                    on_status(status);
                }
                return self.read(response, url, request).await;
            };
            if url.scheme() == "https" && next.scheme() != "https" {
                let message = format!(
                    "`{}` redirects to plain HTTP at `{}`",
                    authority(&url),
                    authority(&next)
                );
                return Err(RegistryError::new(FailureKind::Unreachable, message));
            }
            authorization = authorization.filter(|_| next.origin() == url.origin());
            url = next;
        }
        let message = format!(
            "`{}` redirects more than {REDIRECTS} times",
            authority(&request.url)
        );
        Err(RegistryError::new(FailureKind::Unreachable, message))
    }

    async fn send(
        &self,
        request: &Request,
        url: &Url,
        authorization: Option<&HeaderValue>,
    ) -> Result<Response, RegistryError> {
        let piece = request.operation.piece();
        let client = self.clients.get(url, piece.is_some())?;
        let mut builder = client.request(request.operation.method(), url.clone());
        builder = with_content(builder, &request.operation).header(ACCEPT, request.accept);
        match request.range {
            ByteRange::FirstByte => builder = builder.header(RANGE, "bytes=0-0"),
            ByteRange::From(first) if first > 0 => {
                builder = builder.header(RANGE, format!("bytes={first}-"));
            }
            ByteRange::From(_) | ByteRange::Whole => {}
        }
        if let Some(authorization) = authorization {
            builder = builder.header(AUTHORIZATION, authorization.clone());
        }
        let sent = builder.send();
        let response = match piece {
            None => sent.await,
            Some(piece) => self.watch(sent, &piece.source, url).await?,
        };
        response.map_err(|error| error::from_exchange(&error, url, &self.limits))
    }

    /// Sends a blob's bytes, without a limit on the total time as long as the connection takes bytes. Afterwards, the registry
    /// has time to store them.
    async fn watch<R>(
        &self,
        sent: impl Future<Output = R>,
        source: &Source,
        url: &Url,
    ) -> Result<R, RegistryError> {
        let mut sent = pin!(sent);
        let (mut count, mut since) = (source.progress(), Instant::now());
        let tick = self.limits.read / 8;
        loop {
            if let Ok(response) = tokio::time::timeout(tick, sent.as_mut()).await {
                return Ok(response);
            }
            if source.progress() != count {
                (count, since) = (source.progress(), Instant::now());
            }
            let timeout = if source.is_all_sent() {
                self.limits.request
            } else {
                self.limits.read
            };
            if since.elapsed() >= timeout {
                let host = authority(url);
                let message =
                    format!("`{host}` accepted no bytes, or sent no answer, for {timeout:?}");
                return Err(RegistryError::new(FailureKind::Unreachable, message).retryable());
            }
        }
    }

    /// Reads the body of an answer up to the limit; `Content-Length` is not trusted.
    async fn read(
        &self,
        mut response: Response,
        url: Url,
        request: &Request,
    ) -> Result<Answer, RegistryError> {
        let status = response.status();
        let limit = if status.is_success() {
            request.limit
        } else {
            REASON_LIMIT
        };
        let headers = std::mem::take(response.headers_mut());
        let (body, rest) = match request.range {
            // A server without support for ranges sends the whole body, which is not read.
            ByteRange::FirstByte if status.as_u16() == 200 => (Vec::new(), None),
            ByteRange::From(_) if status.is_success() => (Vec::new(), Some(response)),
            _ => (self.body(response, &url, limit).await?, None),
        };
        Ok(Answer {
            status: status.as_u16(),
            headers,
            body,
            rest,
            url,
            reason: None,
        })
    }

    async fn body(
        &self,
        mut response: Response,
        url: &Url,
        limit: u64,
    ) -> Result<Vec<u8>, RegistryError> {
        let mut body = Vec::new();
        loop {
            let chunk = response.chunk().await;
            let chunk = chunk.map_err(|error| error::from_exchange(&error, url, &self.limits))?;
            let Some(chunk) = chunk else { return Ok(body) };
            if (body.len() + chunk.len()) as u64 > limit {
                if !response.status().is_success() {
                    return Ok(body);
                }
                let message = format!("`{}` sends more than {limit} bytes", authority(url));
                return Err(RegistryError::new(FailureKind::TooLarge, message));
            }
            body.extend_from_slice(&chunk);
        }
    }
}

/// Adds the body of a request.
fn with_content(builder: RequestBuilder, operation: &Operation) -> RequestBuilder {
    match operation {
        Operation::Get | Operation::Head => builder,
        Operation::Form(form) => builder
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form.clone()),
        // Some registries require `Content-Length: 0`.
        Operation::Begin | Operation::Finish(None) => builder.body(""),
        Operation::Put { media_type, bytes } => builder
            .header(CONTENT_TYPE, &**media_type)
            .body(bytes.to_vec()),
        Operation::Finish(Some(piece)) => builder.header(CONTENT_TYPE, BYTES).body(piece.body()),
        Operation::Append(piece) => {
            let last = piece.to.saturating_sub(1);
            builder
                .header(CONTENT_TYPE, BYTES)
                .header(CONTENT_RANGE, format!("{}-{last}", piece.from))
                .body(piece.body())
        }
    }
}

/// The target of a redirect, if the answer is one that the request follows.
fn redirect_target(response: &Response, request: &Request) -> Option<Result<Url, RegistryError>> {
    if !request.operation.follows(response.status().as_u16()) {
        return None;
    }
    let location = response.headers().get(LOCATION)?;
    let next = location
        .to_str()
        .ok()
        .and_then(|text| response.url().join(text).ok());
    let next = next.filter(|next| matches!(next.scheme(), "http" | "https"));
    Some(next.ok_or_else(|| {
        let host = authority(response.url());
        RegistryError::new(
            FailureKind::Unreachable,
            format!("`{host}` redirects to something that is not an address"),
        )
    }))
}

/// Adds the number of attempts to the message.
fn with_attempts(mut error: RegistryError, retries: u32) -> RegistryError {
    if retries > 0 {
        error.message = format!("{}, {} times", error.message, retries + 1);
    }
    error
}
