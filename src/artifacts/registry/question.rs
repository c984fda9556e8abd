//! One question to a registry, and its answer.

use std::sync::Arc;

use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Method, Response, Url};
use tokio::time::Instant;

use super::body::Piece;

/// How much of an answer is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// Its first byte, for the headers that come with it. A HEAD would do where the registry keeps blobs itself; where it
    /// sends on to a storage, that address may be signed for a GET only.
    FirstByte,
    /// From that byte on, as it comes: the body of a success is left to be read.
    From(u64),
}

/// What is done at an address, and what goes there.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Get,
    Head,
    /// A form to post. It holds secrets: no redirect takes it along.
    Form(String),
    /// A POST of nothing.
    Begin,
    /// A PUT of a text that is short.
    Put {
        media_type: Arc<str>,
        bytes: Arc<[u8]>,
    },
    /// A PUT of a piece of a blob, which is all of it, or nothing where all was sent before.
    Finish(Option<Piece>),
    /// A PATCH by a piece of a blob.
    Append(Piece),
}

impl Act {
    pub(super) fn method(&self) -> Method {
        match self {
            Self::Get => Method::GET,
            Self::Head => Method::HEAD,
            Self::Form(_) | Self::Begin => Method::POST,
            Self::Put { .. } | Self::Finish(_) => Method::PUT,
            Self::Append(_) => Method::PATCH,
        }
    }

    /// The piece of a blob that it sends.
    pub(super) fn piece(&self) -> Option<&Piece> {
        match self {
            Self::Finish(piece) => piece.as_ref(),
            Self::Append(piece) => Some(piece),
            _ => None,
        }
    }

    /// Whether the same may simply be asked again. An upload that broke is in no known state: who sends it has to ask.
    pub(super) fn repeats(&self) -> bool {
        !matches!(self, Self::Finish(_) | Self::Append(_))
    }

    /// Whether a redirect of that status is followed: with content, only where it says to do the very same elsewhere.
    pub(super) fn follows(&self, status: u16) -> bool {
        match self {
            Self::Get => matches!(status, 301 | 302 | 303 | 307 | 308),
            // Where a registry keeps its blobs may be asked by GET alone.
            Self::Form(_) | Self::Head => false,
            _ => matches!(status, 307 | 308),
        }
    }
}

/// One question.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) url: Url,
    /// The media types that are understood.
    pub(super) accept: &'static str,
    pub(super) act: Act,
    pub(super) part: Part,
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
    /// What is left to be read, where that was asked for.
    pub(super) rest: Option<Response>,
    /// Who answered, after redirects.
    pub(super) url: Url,
    /// The reason that it gives for a refusal, where it gives one that repeats no secret.
    pub(super) reason: Option<String>,
}

impl Answer {
    /// A header's text.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .get(name)
            .and_then(|value: &HeaderValue| value.to_str().ok())
    }
}
