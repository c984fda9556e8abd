//! One HTTP request to a registry, and its answer.

use std::sync::Arc;

use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Method, Response, Url};
use tokio::time::Instant;

use crate::MANIFEST_LIMIT;

use super::body::Piece;

/// How much of an answer to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteRange {
    /// All bytes.
    Whole,
    /// The first byte, for the headers that come with it. A HEAD would suffice where the registry stores blobs itself; where it
    /// redirects to a storage, the address may be signed for GET only.
    FirstByte,
    /// From this byte on; the caller reads the body of a success as a stream.
    From(u64),
}

/// The method of a request, with its body.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    Get,
    Head,
    /// A POST of a form. It contains secrets, so redirects are not followed.
    Form(String),
    /// A POST without a body.
    Begin,
    /// A PUT of a short text.
    Put {
        media_type: Arc<str>,
        bytes: Arc<[u8]>,
    },
    /// The PUT that completes an upload: with the whole blob, or without a body if all chunks were sent before.
    Finish(Option<Piece>),
    /// A PATCH with a range of a blob.
    Append(Piece),
}

impl Operation {
    pub(super) fn method(&self) -> Method {
        match self {
            Self::Get => Method::GET,
            Self::Head => Method::HEAD,
            Self::Form(_) | Self::Begin => Method::POST,
            Self::Put { .. } | Self::Finish(_) => Method::PUT,
            Self::Append(_) => Method::PATCH,
        }
    }

    /// The range of a blob that is the body.
    pub(super) fn piece(&self) -> Option<&Piece> {
        match self {
            Self::Finish(piece) => piece.as_ref(),
            Self::Append(piece) => Some(piece),
            _ => None,
        }
    }

    /// Whether the request can be repeated. An interrupted upload is in an unknown state: its sender has to query it first.
    pub(super) fn repeats(&self) -> bool {
        !matches!(self, Self::Finish(_) | Self::Append(_))
    }

    /// Whether to follow a redirect with this status: a request with a body only if the method is kept.
    pub(super) fn follows(&self, status: u16) -> bool {
        match self {
            Self::Get => matches!(status, 301 | 302 | 303 | 307 | 308),
            // The storage behind a registry may accept GET only.
            Self::Form(_) | Self::Head => false,
            _ => matches!(status, 307 | 308),
        }
    }
}

/// One request.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) url: Url,
    /// The accepted media types.
    pub(super) accept: &'static str,
    pub(super) operation: Operation,
    pub(super) range: ByteRange,
    /// The most bytes of the answer.
    pub(super) limit: u64,
    /// No attempt starts after this time.
    pub(super) deadline: Instant,
}

impl Request {
    /// A GET of a whole answer of any type, which is at most as long as a manifest.
    pub(super) fn get(url: Url, deadline: Instant) -> Self {
        Self {
            url,
            accept: "*/*",
            operation: Operation::Get,
            range: ByteRange::Whole,
            limit: MANIFEST_LIMIT as u64,
            deadline,
        }
    }
}

/// One answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
    /// The rest of the body, for [`ByteRange::From`].
    pub(super) rest: Option<Response>,
    /// The address that answered, after redirects.
    pub(super) url: Url,
    /// The server's message for a refusal, unless it repeats a secret.
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
