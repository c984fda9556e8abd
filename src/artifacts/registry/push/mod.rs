//! Artifacts into a registry: the blobs that it lacks, then the manifest, then the list of what refers to its subject where the
//! registry keeps none.
//!
//! Source: distribution-spec 1.1, "Push" and "Pushing manifests with subject".

mod referrers;
mod upload;

use std::sync::Arc;

use reqwest::Url;

use crate::oci::{Artifact, Blob, Content, Digest, FailureKind, Manifest, Reference, Target};

use super::body::Source;
use super::content;
use super::meter::Meter;
use super::question::{Act, Answer, Part};
use super::session::{Ask, Sessions, Turn};
use super::site::Site;
use super::trouble::{Trouble, authority};

/// The longest answer to what is sent, in bytes: it says nothing that is read.
const ANSWER_LIMIT: u64 = 1 << 20;

/// Puts a blob where it is not there yet, and tells whether it had to be sent.
pub(super) async fn blob(
    sessions: &Sessions,
    to: &Reference,
    blob: &Blob,
    meter: &Arc<Meter>,
    turn: Turn,
) -> Result<bool, Trouble> {
    let site = Site::to(to);
    if is_there(sessions, &site, &blob.descriptor.digest, turn).await? {
        meter.add(blob.descriptor.size);
        return Ok(false);
    }
    let source = Source::of(blob, meter);
    let sent = upload::whole(sessions, &site, &source, turn).await;
    // What the registry, or the connection, made of a body that ended early is not the reason.
    let sent = sent.map_err(|trouble| source.fault().unwrap_or(trouble));
    sent.map(|()| true)
}

/// Whether a blob is there; what answers neither yes nor no is sent it.
async fn is_there(
    sessions: &Sessions,
    site: &Site,
    digest: &Digest,
    turn: Turn,
) -> Result<bool, Trouble> {
    let url = sessions.url(site, &format!("{}/blobs/{digest}", site.repository))?;
    let answer = sessions.get(ask(site, &url, Act::Head), turn).await?;
    match answer.status {
        // A registry that sends on to its storage has it.
        200..=399 => Ok(true),
        400..=407 | 410..=428 => Ok(false),
        _ => Err(refusal(sessions, site, &answer, "whether it has a blob").await),
    }
}

/// Puts the manifest, whose blobs are there, and tells whether the reference named it before.
pub(super) async fn manifest(
    sessions: &Sessions,
    to: &Reference,
    artifact: &Artifact,
    turn: Turn,
) -> Result<bool, Trouble> {
    let wanted = &artifact.descriptor.digest;
    let named = match &to.tag {
        Some(tag) => to.tagged(tag),
        None => to.at(wanted),
    };
    let is_unchanged = match content::manifest_to_push(sessions, &named, turn).await {
        Ok(known) => known.digest == *wanted,
        Err(trouble) if trouble.kind == FailureKind::Unreachable => return Err(trouble),
        Err(_) => false,
    };
    let media_type = artifact.descriptor.media_type.as_str();
    let bytes = &artifact.manifest;
    let lists = match is_unchanged {
        true => None,
        false => Some(put(sessions, &named, media_type, bytes, wanted, turn).await?),
    };
    if let Ok(Manifest { content, .. }) = Manifest::read(bytes.clone())
        && let Content::Image {
            subject: Some(subject),
            ..
        } = &content
        && lists != Some(Lists::Referrers)
    {
        let descriptor = &artifact.descriptor;
        referrers::list(sessions, to, &subject.digest, descriptor, &content, turn).await?;
    }
    Ok(is_unchanged)
}

/// Whether a registry says that it lists what refers to a manifest (`OCI-Subject`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lists {
    Referrers,
    Nothing,
}

/// One manifest or index under one name.
async fn put(
    sessions: &Sessions,
    named: &Reference,
    media_type: &str,
    bytes: &[u8],
    digest: &Digest,
    turn: Turn,
) -> Result<Lists, Trouble> {
    let site = Site::to(named);
    let target = match named.target() {
        Target::Tag(tag) => tag,
        Target::Digest(digest) => digest.as_str(),
    };
    let url = sessions.url(&site, &format!("{}/manifests/{target}", site.repository))?;
    let act = Act::Put {
        media_type: media_type.into(),
        bytes: Arc::from(bytes),
    };
    let answer = sessions.get(ask(&site, &url, act), turn).await?;
    if !(200..=299).contains(&answer.status) {
        return Err(refusal(sessions, &site, &answer, "to take the manifest").await);
    }
    agrees(&answer, digest)?;
    Ok(match answer.header("oci-subject") {
        Some(_) => Lists::Referrers,
        None => Lists::Nothing,
    })
}

fn ask<'a>(site: &'a Site, url: &'a Url, act: Act) -> Ask<'a> {
    Ask {
        site,
        url,
        accept: "*/*",
        act,
        part: Part::Whole,
        limit: ANSWER_LIMIT,
    }
}

/// Whether a registry names what it took as it was named.
fn agrees(answer: &Answer, digest: &Digest) -> Result<(), Trouble> {
    let Some(said) = answer.header("docker-content-digest") else {
        return Ok(());
    };
    // A registry may name it by another algorithm than ours.
    let same_algorithm = said.split(':').next() == digest.as_str().split(':').next();
    if said == digest.as_str() || (Digest::parse(said).is_ok() && !same_algorithm) {
        return Ok(());
    }
    let shown: String = said.chars().take(160).collect();
    let host = authority(&answer.url);
    let message = format!("`{host}` was sent `{digest}` and says that it has `{shown}`");
    Err(Trouble::new(FailureKind::Corrupt, message).help(
        "something between here and the registry, or the registry itself, changes what is pushed; do not use it",
    ))
}

/// What an answer comes to that is no success.
async fn refusal(sessions: &Sessions, site: &Site, answer: &Answer, asked: &str) -> Trouble {
    let host = authority(&answer.url);
    let reason = sessions.reason(answer, site).await;
    let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
    let status = answer.status;
    let message = format!("`{host}` answered {status}{reason}, asked {asked}");
    match status {
        404 => Trouble::new(FailureKind::NotFound, message)
            .help("check the repository's name; some registries want it to be made before anything is pushed"),
        413 => Trouble::new(FailureKind::TooLarge, message)
            .help("ask who runs the registry, or a proxy before it, to take larger requests"),
        429 => Trouble::new(FailureKind::Unreachable, message)
            .help("try later, or send fewer at once: `registries: {concurrency: 1}`"),
        _ => Trouble::new(FailureKind::Unreachable, message),
    }
}
