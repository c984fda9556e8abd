//! One question to a registry and its answer: redirects, size limits, retries. Knows nothing of credentials but the header
//! that proves them, which never leaves the host that it is for.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, RANGE,
};
use reqwest::{Method, Response, Url};
use tokio::time::{Instant, sleep_until};

use crate::oci::FailureKind;

use super::clients::Clients;
use super::options::Limits;
use super::retry;
use super::trouble::{self, Trouble, authority};

/// How often a question is sent on.
const REDIRECTS: usize = 5;

/// How much is read of an answer that is no success, in bytes: enough for its reason.
const REASON_LIMIT: u64 = 64 << 10;

/// How much of an answer is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// Its first byte, for the headers that come with it. A HEAD would do where the registry keeps blobs itself; where it
    /// sends on to a storage, that address may be signed for a GET only.
    FirstByte,
}

/// One question.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) url: Url,
    /// The media types that are understood.
    pub(super) accept: &'static str,
    pub(super) part: Part,
    /// A form to post; without one it is a GET.
    pub(super) form: Option<String>,
    /// The most bytes of an answer.
    pub(super) limit: u64,
    /// When it is too late.
    pub(super) deadline: Instant,
}

/// One answer, whole.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
    /// Who answered, after redirects.
    pub(super) url: Url,
}

/// Told the status of an answer that will not be asked for again, before its body is read.
pub(super) type OnStatus<'a> = &'a (dyn Fn(u16) + Send + Sync);

/// Sends questions.
pub(super) struct Wire {
    pub(super) clients: Clients,
    limits: Limits,
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
        let client = self.clients.of(url)?;
        let mut request = match &question.form {
            Some(form) => client
                .request(Method::POST, url.clone())
                .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body(form.clone()),
            None => client.get(url.clone()),
        };
        request = request.header(ACCEPT, question.accept);
        if question.part == Part::FirstByte {
            request = request.header(RANGE, "bytes=0-0");
        }
        if let Some(proof) = proof {
            request = request.header(AUTHORIZATION, proof.clone());
        }
        let response = request.send().await;
        response.map_err(|error| trouble::of_exchange(&error, url, &self.limits))
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
        let body = match question.part {
            // Who knows no ranges sends all: that is not waited for.
            Part::FirstByte if status.as_u16() == 200 => Vec::new(),
            _ => self.body(response, &url, limit).await?,
        };
        Ok(Answer {
            status: status.as_u16(),
            headers,
            body,
            url,
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

/// Where a GET is sent on to. A redirected form is not followed: it holds secrets.
fn redirected(response: &Response, question: &Question) -> Option<Result<Url, Trouble>> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) || question.form.is_some()
    {
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
