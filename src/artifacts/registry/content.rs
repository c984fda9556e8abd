//! Manifests and blobs: asked for by name or digest, taken only when their bytes are what they promise to be.

use reqwest::header::{CONTENT_LENGTH, CONTENT_RANGE, HeaderMap};

use crate::oci::{
    Descriptor, Digest, FailureKind, MANIFEST_LIMIT, Manifest, ManifestError, Reference, Target,
};

use super::question::{Act, Answer, Part};
use super::session::{Ask, Sessions, Turn};
use super::site::Site;
use super::trouble::{Trouble, authority};

/// The manifests that are understood (image-spec, media-types.md; docker's before it).
const MANIFESTS: &str = "application/vnd.oci.image.manifest.v1+json, \
    application/vnd.oci.image.index.v1+json, \
    application/vnd.docker.distribution.manifest.v2+json, \
    application/vnd.docker.distribution.manifest.list.v2+json";

/// Advice where bytes are not those of their digest.
pub(super) const DO_NOT_USE: &str = "something between here and the registry, or the registry itself, changes what it serves; do not use it";

/// The manifest that a reference names: one request.
pub(super) async fn manifest(
    sessions: &Sessions,
    reference: &Reference,
    turn: Turn,
) -> Result<Manifest, Trouble> {
    manifest_at(sessions, &Site::of(reference), reference, turn).await
}

/// The same, asked by who may write there.
pub(super) async fn manifest_to_push(
    sessions: &Sessions,
    reference: &Reference,
    turn: Turn,
) -> Result<Manifest, Trouble> {
    manifest_at(sessions, &Site::to(reference), reference, turn).await
}

async fn manifest_at(
    sessions: &Sessions,
    site: &Site,
    reference: &Reference,
    turn: Turn,
) -> Result<Manifest, Trouble> {
    let target = match reference.target() {
        Target::Tag(tag) => tag,
        Target::Digest(digest) => digest.as_str(),
    };
    let url = sessions.url(site, &format!("{}/manifests/{target}", site.repository))?;
    let ask = Ask {
        site,
        url: &url,
        accept: MANIFESTS,
        act: Act::Get,
        part: Part::Whole,
        limit: MANIFEST_LIMIT as u64,
    };
    let answer = found(sessions.get(ask, turn).await?)?;
    proven(answer, reference.digest.as_ref())
}

/// A small blob, whole.
pub(super) async fn blob(
    sessions: &Sessions,
    reference: &Reference,
    descriptor: &Descriptor,
    limit: u64,
    turn: Turn,
) -> Result<Vec<u8>, Trouble> {
    let (digest, size) = (&descriptor.digest, descriptor.size);
    if size > limit {
        let message = format!("blob `{digest}` has {size} bytes, and at most {limit} are read");
        return Err(Trouble::new(FailureKind::TooLarge, message));
    }
    let site = Site::of(reference);
    let url = sessions.url(&site, &format!("{}/blobs/{digest}", site.repository))?;
    let ask = Ask {
        site: &site,
        url: &url,
        accept: "*/*",
        act: Act::Get,
        part: Part::Whole,
        limit: size,
    };
    let answer = found(sessions.get(ask, turn).await?)?;
    if answer.body.len() as u64 != size {
        let host = authority(&answer.url);
        let message = format!(
            "`{host}` sent {} bytes of blob `{digest}`, which has {size}",
            answer.body.len()
        );
        return Err(Trouble::new(FailureKind::Corrupt, message));
    }
    if !digest.is_of(&answer.body) {
        return Err(corrupt(
            &answer,
            &format!("the digest `{digest}` that was asked for"),
        ));
    }
    Ok(answer.body)
}

/// How long a blob is, by the first byte of it.
pub(super) async fn size(
    sessions: &Sessions,
    reference: &Reference,
    digest: &Digest,
    turn: Turn,
) -> Result<u64, Trouble> {
    let site = Site::of(reference);
    let url = sessions.url(&site, &format!("{}/blobs/{digest}", site.repository))?;
    let ask = Ask {
        site: &site,
        url: &url,
        accept: "*/*",
        act: Act::Get,
        part: Part::FirstByte,
        limit: 1,
    };
    let answer = sessions.get(ask, turn).await?;
    let header = |name| answer.headers.get(name)?.to_str().ok();
    // `bytes 0-0/42`, and of nothing `bytes */0` (RFC 9110, 14.4).
    let told = match answer.status {
        206 | 416 => header(CONTENT_RANGE).and_then(|range| range.rsplit('/').next()),
        _ => header(CONTENT_LENGTH),
    };
    if let (200 | 206 | 416, Some(Ok(size))) = (answer.status, told.map(str::parse)) {
        return Ok(size);
    }
    let host = authority(&found(answer)?.url);
    let message = format!("`{host}` does not tell how many bytes it has");
    Err(Trouble::new(FailureKind::Unreachable, message))
}

/// An answer of success; 404 is told from all other ones.
pub(super) fn found(answer: Answer) -> Result<Answer, Trouble> {
    let host = authority(&answer.url);
    match answer.status {
        200..=299 => Ok(answer),
        404 => {
            let message = format!("`{host}` answered 404 (not found)");
            Err(Trouble::new(FailureKind::NotFound, message))
        }
        429 => {
            let message =
                format!("`{host}` answered 429 (too many requests), however often it was asked");
            Err(Trouble::new(FailureKind::Unreachable, message)
                .help("try later, or ask fewer at once: `registries: {concurrency: 4}`"))
        }
        400 if String::from_utf8_lossy(&answer.body).contains("HTTPS server") => {
            let message = format!("`{host}` does not speak plain HTTP");
            Err(
                Trouble::new(FailureKind::Unreachable, message).help(format!(
                    "remove `plain-http` of `{host}` below `registries: hosts:`"
                )),
            )
        }
        status => {
            let reason = answer.reason.map(|reason| format!(" ({reason})"));
            let message = format!("`{host}` answered {status}{}", reason.unwrap_or_default());
            Err(Trouble::new(FailureKind::Unreachable, message))
        }
    }
}

/// A manifest whose bytes have the digest that was asked for and the one that the answer's header says.
fn proven(answer: Answer, wanted: Option<&Digest>) -> Result<Manifest, Trouble> {
    if let Some(wanted) = wanted.filter(|wanted| !wanted.is_of(&answer.body)) {
        let what = format!("the digest `{wanted}` that was asked for");
        return Err(corrupt(&answer, &what));
    }
    if let Some(said) = said(&answer.headers)
        && !Digest::parse(&said).is_ok_and(|digest| digest.is_of(&answer.body))
    {
        let shown: String = said.chars().take(160).collect();
        let what = format!("the digest `{shown}` that its own header says");
        return Err(corrupt(&answer, &what));
    }
    let host = authority(&answer.url);
    Manifest::read(answer.body).map_err(|error| match error {
        ManifestError::TooLarge(_) => Trouble::new(FailureKind::TooLarge, error.to_string()),
        ManifestError::Malformed(_) => {
            let message = format!("`{host}` sent what is no manifest: {error}");
            Trouble::new(FailureKind::Corrupt, message)
        }
    })
}

fn said(headers: &HeaderMap) -> Option<String> {
    let header = headers.get("docker-content-digest")?;
    Some(String::from_utf8_lossy(header.as_bytes()).into_owned())
}

fn corrupt(answer: &Answer, what: &str) -> Trouble {
    let host = authority(&answer.url);
    let message = format!(
        "`{host}` sent {} bytes with the digest `{}`, not {what}",
        answer.body.len(),
        Digest::of(&answer.body)
    );
    Trouble::new(FailureKind::Corrupt, message).help(DO_NOT_USE)
}
