//! A blob on its way: in one request, or in several where it is long or the registry takes no more at once. An upload that
//! breaks goes on where the registry says that it stopped, else begins again.
//!
//! Source: distribution-spec 1.1, "Pushing blobs".

use std::time::Duration;

use reqwest::Url;
use tokio::time::{Instant, sleep};

use crate::oci::FailureKind;

use super::super::body::Source;
use super::super::question::{Act, Answer};
use super::super::retry;
use super::super::session::{Sessions, Turn};
use super::super::site::Site;
use super::super::trouble::{Trouble, authority};
use super::{agrees, ask, refusal};

/// How long a piece is for a registry that refused a longer one, in bytes.
const SMALL: u64 = 8 << 20;

/// How a blob is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By one request.
    Whole,
    /// By requests of at most that many bytes.
    Pieces(u64),
}

/// Why a blob was not sent.
struct Stop {
    trouble: Trouble,
    then: Then,
}

/// What may help.
#[derive(Clone, Copy)]
enum Then {
    /// Nothing.
    GiveUp,
    /// To begin again, not before that time has passed.
    Again(Option<Duration>),
    /// To send less at once.
    Smaller,
    /// To send all at once: the registry takes no pieces.
    Whole,
}

impl From<Trouble> for Stop {
    fn from(trouble: Trouble) -> Self {
        let then = match trouble.again {
            true => Then::Again(None),
            false => Then::GiveUp,
        };
        Self { trouble, then }
    }
}

/// Where an upload goes on.
struct Upload<'a> {
    sessions: &'a Sessions,
    site: &'a Site,
    source: &'a Source,
    turn: Turn,
    url: Url,
}

/// Sends a blob, by however many attempts.
pub(super) async fn whole(
    sessions: &Sessions,
    site: &Site,
    source: &Source,
    turn: Turn,
) -> Result<(), Trouble> {
    let limits = &sessions.wire.limits;
    let mut way = match source.descriptor().size > limits.piece {
        true => Way::Pieces(limits.piece),
        false => Way::Whole,
    };
    let (mut attempt, mut refused_pieces) = (0, false);
    loop {
        let Err(Stop { trouble, then }) = once(sessions, site, source, way, turn).await else {
            return Ok(());
        };
        if source.fault().is_some() {
            return Err(trouble);
        }
        match (then, way) {
            (Then::Again(asked), _) if attempt < limits.retries => {
                let pause = retry::pause(limits, attempt, asked);
                if Instant::now() + pause >= turn.deadline {
                    return Err(trouble);
                }
                attempt += 1;
                sleep(pause).await;
            }
            (Then::Smaller, Way::Whole) if !refused_pieces => way = Way::Pieces(SMALL),
            (Then::Smaller, Way::Pieces(size)) if size > SMALL => way = Way::Pieces(SMALL),
            (Then::Whole, Way::Pieces(_)) if !refused_pieces => {
                (way, refused_pieces) = (Way::Whole, true);
            }
            _ => return Err(trouble),
        }
    }
}

/// One upload from its beginning.
async fn once(
    sessions: &Sessions,
    site: &Site,
    source: &Source,
    way: Way,
    turn: Turn,
) -> Result<(), Stop> {
    let path = format!("{}/blobs/uploads/", site.repository);
    let begin = sessions.url(site, &path)?;
    let answer = sessions.get(ask(site, &begin, Act::Begin), turn).await?;
    if !matches!(answer.status, 200..=202) {
        return Err(refusal(sessions, site, &answer, "to begin an upload")
            .await
            .into());
    }
    let smallest = answer.header("oci-chunk-min-length");
    let smallest = smallest.and_then(|length| length.parse().ok());
    let mut upload = Upload {
        sessions,
        site,
        source,
        turn,
        url: location(&answer, site)?,
    };
    let size = source.descriptor().size;
    match way {
        Way::Whole => {
            upload
                .finish(Act::Finish(Some(source.piece(0, size))))
                .await
        }
        Way::Pieces(piece) => {
            let piece = piece.max(smallest.unwrap_or_default()).max(1);
            upload.pieces(piece).await?;
            upload.finish(Act::Finish(None)).await
        }
    }
}

impl Upload<'_> {
    /// Sends all pieces but does not end the upload.
    async fn pieces(&mut self, piece: u64) -> Result<(), Stop> {
        let limits = &self.sessions.wire.limits;
        let size = self.source.descriptor().size;
        let (mut at, mut attempt) = (0, 0);
        while at < size {
            let to = size.min(at.saturating_add(piece));
            let stop = match self.piece(at, to).await {
                Ok(next) if next > at && next <= to => {
                    (at, attempt) = (next, 0);
                    continue;
                }
                Ok(_) => return Err(self.no_sense().into()),
                Err(stop) => stop,
            };
            let Then::Again(asked) = stop.then else {
                return Err(stop);
            };
            if attempt == limits.retries || self.source.fault().is_some() {
                return Err(stop);
            }
            sleep(retry::pause(limits, attempt, asked)).await;
            attempt += 1;
            // Who does not say how much it has is sent all of it again.
            let Some(known) = self.standing().await.filter(|known| *known <= size) else {
                return Err(stop);
            };
            at = known;
        }
        Ok(())
    }

    /// Sends one piece; how many bytes the registry has then.
    async fn piece(&mut self, from: u64, to: u64) -> Result<u64, Stop> {
        let act = Act::Append(self.source.piece(from, to));
        let answer = self.ask(act).await?;
        match answer.status {
            200..=202 | 204 => {
                self.url = location(&answer, self.site)?;
                Ok(had(&answer).unwrap_or(to))
            }
            400 | 404 | 405 | 411 | 415 | 501 if from == 0 => Err(Stop {
                trouble: self.refusal(&answer).await,
                then: Then::Whole,
            }),
            _ => Err(self.stop(&answer).await),
        }
    }

    /// How many bytes the registry says that it has; none where it does not tell.
    async fn standing(&mut self) -> Option<u64> {
        let answer = self.ask(Act::Get).await.ok()?;
        if !matches!(answer.status, 200..=204) {
            return None;
        }
        let had = had(&answer)?;
        self.url = location(&answer, self.site).unwrap_or_else(|_| self.url.clone());
        Some(had)
    }

    /// Ends the upload, perhaps with all bytes.
    async fn finish(&mut self, act: Act) -> Result<(), Stop> {
        let digest = &self.source.descriptor().digest;
        self.url
            .query_pairs_mut()
            .append_pair("digest", digest.as_str());
        let answer = self.ask(act).await?;
        match answer.status {
            200..=204 => Ok(agrees(&answer, digest)?),
            _ => Err(self.stop(&answer).await),
        }
    }

    /// Asks where the upload goes on. Another host gets no credentials.
    async fn ask(&self, act: Act) -> Result<Answer, Trouble> {
        let ask = ask(self.site, &self.url, act);
        let own = self.sessions.url(self.site, "")?;
        match self.url.origin() == own.origin() {
            true => self.sessions.get(ask, self.turn).await,
            false => self.sessions.elsewhere(ask, self.turn).await,
        }
    }

    async fn stop(&self, answer: &Answer) -> Stop {
        let then = match answer.status {
            // The upload is not known any more, or stands elsewhere.
            404 | 409 | 410 | 416 => Then::Again(None),
            413 => Then::Smaller,
            status if retry::may_change(status) => Then::Again(retry::after(&answer.headers)),
            _ => Then::GiveUp,
        };
        let trouble = self.refusal(answer).await;
        Stop { trouble, then }
    }

    async fn refusal(&self, answer: &Answer) -> Trouble {
        let digest = &self.source.descriptor().digest;
        let asked = format!("to take blob `{digest}`");
        refusal(self.sessions, self.site, answer, &asked).await
    }

    fn no_sense(&self) -> Trouble {
        let host = authority(&self.url);
        let message = format!("`{host}` says that it has other bytes of the upload than were sent");
        Trouble::new(FailureKind::Corrupt, message)
    }
}

/// Where an upload goes on: an address, or a path of the registry's. A registry behind a proxy may not know that it is asked
/// over TLS.
fn location(answer: &Answer, site: &Site) -> Result<Url, Trouble> {
    let said = answer.header("location").unwrap_or_default();
    let found = match said.is_empty() {
        true => None,
        false => answer.url.join(said).ok(),
    };
    let found = found.filter(|url| matches!(url.scheme(), "http" | "https"));
    let Some(mut url) = found else {
        let message = format!(
            "`{}` began an upload and says not where it goes on",
            site.authority
        );
        return Err(Trouble::new(FailureKind::Unreachable, message));
    };
    let same_host = authority(&url) == authority(&answer.url);
    if same_host && answer.url.scheme() == "https" && url.scheme() == "http" {
        let _ = url.set_scheme("https");
    }
    // What stands before an `@` is not ours to send.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
    Ok(url)
}

/// How many bytes a registry has, by `Range: 0-LAST`. Of none it says `0-0`.
fn had(answer: &Answer) -> Option<u64> {
    let range = answer.header("range")?;
    let range = range.strip_prefix("bytes=").unwrap_or(range);
    let (first, last) = range.split_once('-')?;
    let last: u64 = last.trim().parse().ok()?;
    (first.trim() == "0").then(|| if last == 0 { 0 } else { last.saturating_add(1) })
}
