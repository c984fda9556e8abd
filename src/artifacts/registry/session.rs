//! Asks one registry with the proof that it wants: learned once a registry from its first answer, never asked for beforehand.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::Url;
use reqwest::header::HeaderValue;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

use crate::oci::FailureKind;

use super::challenge::{self, Challenge};
use super::credentials::{Credential, Credentials, Found};
use super::proof::{self, Proof};
use super::question::{Act, Answer, Part, Question};
use super::site::{Access, Site};
use super::token::{self, Purchase, Token};
use super::trouble::Trouble;
use super::wire::Wire;

/// What is known of one registry.
#[derive(Default)]
struct Door {
    entry: Arc<tokio::sync::Mutex<Entry>>,
    /// The tokens by scope. A purchase that failed is not tried again in the same batch: servers lock accounts.
    tokens: Mutex<HashMap<String, Arc<tokio::sync::Mutex<Option<Bought>>>>>,
    /// The passwords that were ever taken, by their story.
    taken: Mutex<HashSet<String>>,
    /// Those that were refused, and in which batch.
    refused: Mutex<HashMap<String, (u64, Trouble)>>,
}

/// How one gets in.
#[derive(Default)]
enum Entry {
    /// Nobody has asked yet.
    #[default]
    Unknown,
    /// Without proof.
    Open,
    /// With proof.
    Challenged(Arc<Challenge>),
    /// Not at all, in this batch.
    Gone(u64, Trouble),
}

struct Bought {
    batch: u64,
    outcome: Result<Token, Trouble>,
}

/// The sessions with all registries.
pub(super) struct Sessions {
    pub(super) wire: Wire,
    credentials: Credentials,
    /// Apart for those who push: a registry that lets everyone read lets not everyone write.
    doors: Mutex<HashMap<(String, Access), Arc<Door>>>,
}

/// In which batch is asked, and until when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) batch: u64,
    pub(super) deadline: Instant,
}

/// What is asked of a site.
#[derive(Clone, Debug)]
pub(super) struct Ask<'a> {
    pub(super) site: &'a Site,
    pub(super) url: &'a Url,
    pub(super) accept: &'static str,
    pub(super) act: Act,
    pub(super) part: Part,
    /// The most bytes of the answer.
    pub(super) limit: u64,
}

impl Ask<'_> {
    fn question(&self, turn: Turn) -> Question {
        Question {
            url: self.url.clone(),
            accept: self.accept,
            act: self.act.clone(),
            part: self.part,
            limit: self.limit,
            deadline: turn.deadline,
        }
    }
}

impl Sessions {
    pub(super) fn new(wire: Wire, credentials: Credentials) -> Self {
        Self {
            wire,
            credentials,
            doors: Mutex::default(),
        }
    }

    /// The address of something of a site.
    pub(super) fn url(&self, site: &Site, path: &str) -> Result<Url, Trouble> {
        let host = self.wire.clients.host(&site.authority);
        site.url(host.is_some_and(|(_, host)| host.plain_http), path)
    }

    /// Asks with what the registry wants. An answer of 401 or 403 is trouble; every other status is the caller's to judge.
    pub(super) async fn get(&self, ask: Ask<'_>, turn: Turn) -> Result<Answer, Trouble> {
        let door = self.door(ask.site);
        let question = ask.question(turn);
        let challenge = match self.enter(&door, &question, turn).await? {
            Entered::Answered(answer) => return self.judged(*answer, ask.site).await,
            Entered::With(challenge) => challenge,
        };
        let answer = match challenge {
            Some(challenge) => {
                self.prove(&door, &challenge, &question, ask.site, turn)
                    .await?
            }
            None => {
                let answer = self.wire.ask(&question, None, &|_| ()).await?;
                match (answer.status, challenge::of(&answer.headers)) {
                    // It let others in freely, and wants proof for this one.
                    (401, Some(challenge)) => {
                        if ask.site.access == Access::Push {
                            let challenge = Arc::new(challenge.clone());
                            *door.entry.lock().await = Entry::Challenged(challenge);
                        }
                        self.prove(&door, &challenge, &question, ask.site, turn)
                            .await?
                    }
                    _ => answer,
                }
            }
        };
        self.judged(answer, ask.site).await
    }

    /// Asks without proof: an address that a registry named, and that may be another host's.
    pub(super) async fn elsewhere(&self, ask: Ask<'_>, turn: Turn) -> Result<Answer, Trouble> {
        self.wire.ask(&ask.question(turn), None, &|_| ()).await
    }

    fn door(&self, site: &Site) -> Arc<Door> {
        let mut doors = self.doors.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (site.authority.clone(), site.access);
        Arc::clone(doors.entry(key).or_default())
    }

    /// How to get in: the first one asks its own question and learns it for all, who wait for that and no longer.
    async fn enter(
        &self,
        door: &Door,
        question: &Question,
        turn: Turn,
    ) -> Result<Entered, Trouble> {
        let mut entry = Arc::clone(&door.entry).lock_owned().await;
        match &*entry {
            Entry::Open => return Ok(Entered::With(None)),
            Entry::Challenged(challenge) => {
                return Ok(Entered::With(Some(Arc::clone(challenge))));
            }
            Entry::Gone(batch, trouble) if *batch == turn.batch => return Err(trouble.clone()),
            Entry::Gone(..) | Entry::Unknown => *entry = Entry::Unknown,
        }
        let held: Mutex<Option<OwnedMutexGuard<Entry>>> = Mutex::new(Some(entry));
        let take = || held.lock().unwrap_or_else(PoisonError::into_inner).take();
        let on_status = |status: u16| {
            if status != 401
                && let Some(mut entry) = take()
            {
                *entry = Entry::Open;
            }
        };
        let outcome = self.wire.ask(question, None, &on_status).await;
        match (outcome, take()) {
            (Ok(answer), Some(mut entry)) if answer.status == 401 => {
                match challenge::of(&answer.headers) {
                    Some(challenge) => {
                        let challenge = Arc::new(challenge);
                        *entry = Entry::Challenged(Arc::clone(&challenge));
                        Ok(Entered::With(Some(challenge)))
                    }
                    None => Ok(Entered::Answered(Box::new(answer))),
                }
            }
            (Err(trouble), Some(mut entry)) if trouble.host_is_gone => {
                *entry = Entry::Gone(turn.batch, trouble.clone());
                Err(trouble)
            }
            (outcome, _) => outcome.map(|answer| Entered::Answered(Box::new(answer))),
        }
    }

    async fn prove(
        &self,
        door: &Door,
        challenge: &Challenge,
        question: &Question,
        site: &Site,
        turn: Turn,
    ) -> Result<Answer, Trouble> {
        let found = self
            .credentials
            .find(&site.registry, &site.repository)
            .await;
        match challenge {
            Challenge::Basic => self.with_password(door, question, site, &found, turn).await,
            Challenge::Bearer {
                realm,
                service,
                scope,
            } => {
                let own = site.scope();
                let purchase = Purchase {
                    registry: &question.url,
                    trusted: self.is_trusted(&question.url, &site.authority),
                    realm,
                    service: service.as_deref(),
                    scope: scope.as_deref().unwrap_or(&own),
                    deadline: turn.deadline,
                };
                self.with_token(door, question, purchase, &found, turn)
                    .await
            }
            Challenge::Unknown(scheme) => {
                let message = format!(
                    "`{}` asks for `{scheme}` authentication, which is not known here",
                    site.authority
                );
                Err(Trouble::new(FailureKind::Denied, message))
            }
        }
    }

    /// Whether a host has to prove who it is.
    fn is_trusted(&self, url: &Url, authority: &str) -> bool {
        let host = self.wire.clients.host(authority);
        url.scheme() == "https" && !host.is_some_and(|(_, host)| host.skip_verify)
    }

    /// A password that was refused and never taken is not sent again in the same batch.
    async fn with_password(
        &self,
        door: &Door,
        question: &Question,
        site: &Site,
        found: &Found,
        turn: Turn,
    ) -> Result<Answer, Trouble> {
        let lock = |refused: &Mutex<HashMap<String, (u64, Trouble)>>| {
            let refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
            refused.get(&found.story).cloned()
        };
        if let Some((batch, trouble)) = lock(&door.refused)
            && batch == turn.batch
        {
            return Err(trouble);
        }
        let header = match &found.credential {
            Some(Credential::Password { user, password }) => {
                Some(Proof::basic(user, password).header()?)
            }
            _ => None,
        };
        let answer = self.wire.ask(question, header.as_ref(), &|_| ()).await?;
        let mut taken = door.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if answer.status != 401 {
            taken.insert(found.story.clone());
        } else if !taken.contains(&found.story) {
            let trouble = refused(site, &answer, found);
            let mut refused = door.refused.lock().unwrap_or_else(PoisonError::into_inner);
            refused.insert(found.story.clone(), (turn.batch, trouble));
        }
        Ok(answer)
    }

    /// A token may have ended since it was bought: then another one is, once.
    async fn with_token(
        &self,
        door: &Door,
        question: &Question,
        purchase: Purchase<'_>,
        found: &Found,
        turn: Turn,
    ) -> Result<Answer, Trouble> {
        let cell = {
            let mut tokens = door.tokens.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(tokens.entry(purchase.scope.to_owned()).or_default())
        };
        let mut renewed = false;
        loop {
            let mut bought = cell.lock().await;
            let known = bought.as_ref().and_then(|bought| match &bought.outcome {
                Ok(token) => (token.until > Instant::now()).then(|| Ok(token.clone())),
                Err(trouble) => (bought.batch == turn.batch).then(|| Err(trouble.clone())),
            });
            let is_new = known.is_none();
            let token = match known {
                Some(known) => known?,
                None => {
                    let outcome = token::buy(&self.wire, purchase, found).await;
                    let batch = turn.batch;
                    bought.insert(Bought { batch, outcome }).outcome.clone()?
                }
            };
            drop(bought);
            let header: HeaderValue = token::header(&token)?;
            let answer = self.wire.ask(question, Some(&header), &|_| ()).await?;
            if answer.status != 401 || is_new || renewed {
                return Ok(answer);
            }
            renewed = true;
            let mut bought = cell.lock().await;
            let is_it = |bought: &Bought| matches!(&bought.outcome, Ok(known) if known.secret == token.secret);
            if bought.as_ref().is_some_and(is_it) {
                *bought = None;
            }
        }
    }

    async fn judged(&self, mut answer: Answer, site: &Site) -> Result<Answer, Trouble> {
        if answer.status < 400 {
            return Ok(answer);
        }
        if !matches!(answer.status, 401 | 403) {
            answer.reason = self.reason(&answer, site).await;
            return Ok(answer);
        }
        let found = self
            .credentials
            .find(&site.registry, &site.repository)
            .await;
        Err(refused(site, &answer, &found))
    }

    /// The reason that an answer gives, if any.
    pub(super) async fn reason(&self, answer: &Answer, site: &Site) -> Option<String> {
        let found = self
            .credentials
            .find(&site.registry, &site.repository)
            .await;
        proof::reason(answer, &found)
    }
}

fn refused(site: &Site, answer: &Answer, found: &Found) -> Trouble {
    let what = match site.repository.is_empty() {
        true => "its list of repositories",
        false => &site.repository,
    };
    let mut trouble = proof::refused(&site.authority, answer, found, what);
    if site.access == Access::Push {
        trouble.message.push_str(", to write to it");
        trouble.help.iter_mut().for_each(|help| {
            *help = help.replace("may read the repository", "may write to the repository")
        });
    }
    trouble
}

enum Entered {
    /// The answer to the question itself.
    Answered(Box<Answer>),
    /// Ask, with proof where one is wanted.
    With(Option<Arc<Challenge>>),
}
