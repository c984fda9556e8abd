//! From a question to its answer: redirects, size limits, retries. Knows nothing of credentials but the header that proves
//! them, which never leaves the host that it is for.

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::{Mutex, PoisonError};

use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_RANGE, CONTENT_TYPE, HeaderValue, LOCATION, RANGE,
};
use reqwest::{RequestBuilder, Response, Url};
use tokio::time::{Instant, sleep_until, timeout};

use crate::oci::FailureKind;

use super::body::Source;
use super::clients::Clients;
use super::options::Limits;
use super::question::{Act, Answer, Part, Question};
use super::retry;
use super::trouble::{self, Trouble, authority};

/// How often a question is sent on.
const REDIRECTS: usize = 5;

/// How much is read of an answer that is no success, in bytes: enough for its reason.
const REASON_LIMIT: u64 = 64 << 10;

/// The media type of a blob on its way (distribution-spec, "Pushing blobs").
const BYTES: &str = "application/octet-stream";

/// Told the status of an answer that will not be asked for again, before its body is read.
pub(super) type OnStatus<'a> = &'a (dyn Fn(u16) + Send + Sync);

/// Sends questions.
pub(super) struct Wire {
    pub(super) clients: Clients,
    pub(super) limits: Limits,
    /// Hosts that asked for a pause, and until when.
    paused: Mutex<HashMap<String, Instant>>,
}

impl Wire {
    pub(super) fn new(clients: Clients, limits: Limits) -> Self {
        Self {
            clients,
            limits,
            paused: Mutex::default(),
        }
    }

    /// Asks until there is an answer that will not change, or until it is too late.
    pub(super) async fn ask(
        &self,
        question: &Question,
        proof: Option<&HeaderValue>,
        on_status: OnStatus<'_>,
    ) -> Result<Answer, Trouble> {
        let host = authority(&question.url);
        let mut attempt = 0;
        loop {
            self.wait(&host, question.deadline).await;
            let outcome = self.once(question, proof, on_status).await;
            let asked = match &outcome {
                Ok(answer) if retry::may_change(answer.status) => retry::after(&answer.headers),
                Err(trouble) if trouble.again => None,
                _ => return outcome,
            };
            if !question.act.repeats() {
                return outcome;
            }
            let until = Instant::now() + retry::pause(&self.limits, attempt, asked);
            if attempt == self.limits.retries || until >= question.deadline {
                return outcome.map_err(|trouble| after_all(trouble, attempt));
            }
            attempt += 1;
            if matches!(&outcome, Ok(answer) if answer.status == 429) {
                self.pause(&host, until);
            }
            sleep_until(until).await;
        }
    }

    /// Waits while the host wants no questions.
    async fn wait(&self, host: &str, deadline: Instant) {
        let until = {
            let paused = self.paused.lock().unwrap_or_else(PoisonError::into_inner);
            paused.get(host).copied()
        };
        if let Some(until) = until.filter(|until| *until > Instant::now()) {
            sleep_until(until.min(deadline)).await;
        }
    }

    fn pause(&self, host: &str, until: Instant) {
        let mut paused = self.paused.lock().unwrap_or_else(PoisonError::into_inner);
        let known = paused.entry(host.to_owned()).or_insert(until);
        *known = until.max(*known);
    }

    /// One attempt, with its redirects.
    async fn once(
        &self,
        question: &Question,
        proof: Option<&HeaderValue>,
        on_status: OnStatus<'_>,
    ) -> Result<Answer, Trouble> {
        let (mut url, mut proof) = (question.url.clone(), proof);
        for _ in 0..=REDIRECTS {
            let response = self.send(question, &url, proof).await?;
            let status = response.status().as_u16();
            let Some(next) = redirected(&response, question).transpose()? else {
                if !retry::may_change(status) {
                    on_status(status);
                }
                return self.read(response, url, question).await;
            };
            if url.scheme() == "https" && next.scheme() != "https" {
                let message = format!(
                    "`{}` redirects to plain HTTP at `{}`",
                    authority(&url),
                    authority(&next)
                );
                return Err(Trouble::new(FailureKind::Unreachable, message));
            }
            proof = proof.filter(|_| next.origin() == url.origin());
            url = next;
        }
        let message = format!(
            "`{}` redirects more than {REDIRECTS} times",
            authority(&question.url)
        );
        Err(Trouble::new(FailureKind::Unreachable, message))
    }

    async fn send(
        &self,
        question: &Question,
        url: &Url,
        proof: Option<&HeaderValue>,
    ) -> Result<Response, Trouble> {
        let piece = question.act.piece();
        let client = self.clients.of(url, piece.is_some())?;
        let mut request = client.request(question.act.method(), url.clone());
        request = content(request, &question.act).header(ACCEPT, question.accept);
        match question.part {
            Part::FirstByte => request = request.header(RANGE, "bytes=0-0"),
            Part::From(first) if first > 0 => {
                request = request.header(RANGE, format!("bytes={first}-"));
            }
            Part::From(_) | Part::Whole => {}
        }
        if let Some(proof) = proof {
            request = request.header(AUTHORIZATION, proof.clone());
        }
        let sent = request.send();
        let response = match piece {
            None => sent.await,
            Some(piece) => self.watched(sent, &piece.source, url).await?,
        };
        response.map_err(|error| trouble::of_exchange(&error, url, &self.limits))
    }

    /// Sends a piece for as long as the connection takes bytes of it, however long all of it takes; the registry then has time
    /// to store it.
    async fn watched<R>(
        &self,
        sent: impl Future<Output = R>,
        source: &Source,
        url: &Url,
    ) -> Result<R, Trouble> {
        let mut sent = pin!(sent);
        let (mut taken, mut since) = (source.taken(), Instant::now());
        let tick = self.limits.read / 8;
        loop {
            if let Ok(response) = timeout(tick, sent.as_mut()).await {
                return Ok(response);
            }
            if source.taken() != taken {
                (taken, since) = (source.taken(), Instant::now());
            }
            let patience = match source.is_all_taken() {
                true => self.limits.request,
                false => self.limits.read,
            };
            if since.elapsed() >= patience {
                let host = authority(url);
                let message = format!(
                    "`{host}` took nothing of what was sent to it, or answered nothing, for {patience:?}"
                );
                return Err(Trouble::new(FailureKind::Unreachable, message).again());
            }
        }
    }

    /// Reads an answer's body up to the limit; how long it says that it is does not count.
    async fn read(
        &self,
        mut response: Response,
        url: Url,
        question: &Question,
    ) -> Result<Answer, Trouble> {
        let status = response.status();
        let limit = if status.is_success() {
            question.limit
        } else {
            REASON_LIMIT
        };
        let headers = std::mem::take(response.headers_mut());
        let (body, rest) = match question.part {
            // Who knows no ranges sends all: that is not waited for.
            Part::FirstByte if status.as_u16() == 200 => (Vec::new(), None),
            Part::From(_) if status.is_success() => (Vec::new(), Some(response)),
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
    ) -> Result<Vec<u8>, Trouble> {
        let mut body = Vec::new();
        loop {
            let chunk = response.chunk().await;
            let chunk = chunk.map_err(|error| trouble::of_exchange(&error, url, &self.limits))?;
            let Some(chunk) = chunk else { return Ok(body) };
            if (body.len() + chunk.len()) as u64 > limit {
                if !response.status().is_success() {
                    return Ok(body);
                }
                let message = format!("`{}` sends more than {limit} bytes", authority(url));
                return Err(Trouble::new(FailureKind::TooLarge, message));
            }
            body.extend_from_slice(&chunk);
        }
    }
}

/// What goes with a question.
fn content(request: RequestBuilder, act: &Act) -> RequestBuilder {
    match act {
        Act::Get | Act::Head => request,
        Act::Form(form) => request
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form.clone()),
        // Some registries want a length of nothing, too.
        Act::Begin | Act::Finish(None) => request.body(""),
        Act::Put { media_type, bytes } => request
            .header(CONTENT_TYPE, &**media_type)
            .body(bytes.to_vec()),
        Act::Finish(Some(piece)) => request.header(CONTENT_TYPE, BYTES).body(piece.body()),
        Act::Append(piece) => {
            let last = piece.to.saturating_sub(1);
            request
                .header(CONTENT_TYPE, BYTES)
                .header(CONTENT_RANGE, format!("{}-{last}", piece.from))
                .body(piece.body())
        }
    }
}

/// Where a question is sent on to.
fn redirected(response: &Response, question: &Question) -> Option<Result<Url, Trouble>> {
    if !question.act.follows(response.status().as_u16()) {
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
        Trouble::new(
            FailureKind::Unreachable,
            format!("`{host}` redirects to what is no address"),
        )
    }))
}

/// Tells how often it was tried.
fn after_all(mut trouble: Trouble, retries: u32) -> Trouble {
    if retries > 0 {
        trouble.message = format!("{}, {} times", trouble.message, retries + 1);
    }
    trouble
}
