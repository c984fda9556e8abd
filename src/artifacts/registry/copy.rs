//! Blobs of any length: passed on as they come, asked for again from where the connection broke, proven at the end.

use std::io::Write;

use reqwest::Response;
use tokio::time::{Instant, sleep};

use crate::oci::{Descriptor, Digesting, FailureKind, Reference};

use super::content;
use super::meter::Meter;
use super::question::{Act, Answer, Part};
use super::retry;
use super::session::{Ask, Sessions, Turn};
use super::site::Site;
use super::trouble::{self, Trouble, authority};

/// Copies a blob into a writer.
pub(super) async fn blob(
    sessions: &Sessions,
    of: &Reference,
    blob: &Descriptor,
    (into, meter): (&mut (dyn Write + Send), &Meter),
    turn: Turn,
) -> Result<(), Trouble> {
    let site = Site::of(of);
    let url = sessions.url(&site, &format!("{}/blobs/{}", site.repository, blob.digest))?;
    let limits = &sessions.wire.limits;
    let mut into = Digesting::like(&blob.digest, into);
    let mut attempt = 0;
    // Of nothing there is no first byte to ask for.
    while into.written() < blob.size {
        let from = into.written();
        let ask = Ask {
            site: &site,
            url: &url,
            accept: "*/*",
            act: Act::Get,
            part: Part::From(from),
            limit: 0,
        };
        let Err(trouble) = part(sessions, ask, blob, (&mut into, meter), turn).await else {
            continue;
        };
        if into.written() > from {
            attempt = 0;
        }
        let pause = retry::pause(limits, attempt, None);
        let is_late = Instant::now() + pause >= turn.deadline;
        if !trouble.again || attempt == limits.retries || is_late {
            return Err(trouble);
        }
        attempt += 1;
        sleep(pause).await;
    }
    let (_, digest, _) = into.finish();
    match digest == blob.digest {
        true => Ok(()),
        false => {
            let message = format!(
                "`{}` sent {} bytes with the digest `{digest}`, not the digest `{}` that was asked for",
                site.authority, blob.size, blob.digest
            );
            Err(Trouble::new(FailureKind::Corrupt, message).help(content::DO_NOT_USE))
        }
    }
}

/// One answer, as far as it goes.
async fn part<W: Write>(
    sessions: &Sessions,
    ask: Ask<'_>,
    blob: &Descriptor,
    (into, meter): (&mut Digesting<W>, &Meter),
    turn: Turn,
) -> Result<(), Trouble> {
    let mut answer = content::found(sessions.get(ask, turn).await?)?;
    let from = into.written();
    let mut skip = skipped(&answer, from)?;
    let Some(rest) = answer.rest.as_mut() else {
        return Ok(());
    };
    let limits = &sessions.wire.limits;
    while let Some(chunk) = next(rest, &answer.url, limits).await? {
        let skipped = (chunk.len() as u64).min(skip);
        skip -= skipped;
        let chunk = &chunk[usize::try_from(skipped).unwrap_or(chunk.len())..];
        if into.written() + chunk.len() as u64 > blob.size {
            let host = authority(&answer.url);
            let message = format!(
                "`{host}` sends more bytes of blob `{}` than the {} that it has",
                blob.digest, blob.size
            );
            return Err(Trouble::new(FailureKind::Corrupt, message));
        }
        meter.add(chunk.len() as u64);
        into.write_all(chunk).map_err(|error| {
            let message = format!("blob `{}` cannot be kept: {error}", blob.digest);
            Trouble::new(FailureKind::Unreachable, message)
        })?;
    }
    match into.written() < blob.size {
        true => {
            let host = authority(&answer.url);
            let message = format!(
                "`{host}` sent {} bytes of blob `{}`, which has {}",
                into.written(),
                blob.digest,
                blob.size
            );
            Err(Trouble::new(FailureKind::Corrupt, message).again())
        }
        false => Ok(()),
    }
}

/// How many of the first bytes of an answer are had already: who knows no ranges begins at the first byte again.
fn skipped(answer: &Answer, from: u64) -> Result<u64, Trouble> {
    if answer.status != 206 {
        return Ok(from);
    }
    let range = answer.header("content-range");
    let first = range.and_then(|range| range.strip_prefix("bytes ")?.split('-').next());
    match first.and_then(|first| first.parse::<u64>().ok()) {
        Some(first) if first <= from => Ok(from - first),
        _ => {
            let host = authority(&answer.url);
            let message = format!("`{host}` sent another part of the blob than was asked for");
            Err(Trouble::new(FailureKind::Corrupt, message))
        }
    }
}

async fn next(
    rest: &mut Response,
    url: &reqwest::Url,
    limits: &super::options::Limits,
) -> Result<Option<bytes::Bytes>, Trouble> {
    let chunk = rest.chunk().await;
    chunk.map_err(|error| trouble::of_exchange(&error, url, limits))
}
