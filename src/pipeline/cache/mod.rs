//! What an earlier run found clean, and what it had looked at: a cluster that looks at the same again is not evaluated again.
//!
//! Content decides, never a time: a cluster is left out where the files of all clusters and its own have the bytes that they
//! had. Only clusters without a finding are kept, so no cache hides one, and only those whose files hold no secret, for what is
//! printed is masked by the values that were read (docs/scale.md#what-changed-is-what-costs).

mod rendered;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::check::Checked;
use super::fleet::{Fleet, Part};
use crate::error::Error;
use crate::files::{Looks, Recorded, digest_of_looks, for_one, ordered};
use crate::model::pool_counts::PoolCounts;
use crate::output::CacheFile;
use crate::read::Request;
use crate::rules::ImageUse;
use data_encoding::HEXLOWER;
use oci_artifacts::layout;

pub(crate) use rendered::RenderedFiles;
use text::{Known, Seen};

/// The build of this program.
const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("METALMARK_BUILD"));

/// How the result of a cluster is kept.
pub(crate) trait Keeper<T>: Sync {
    /// What makes the results: those of another stage are not used.
    const STAGE: &'static str;

    /// What is written of a result.
    type Written: Serialize + DeserializeOwned;

    /// What is written of this one; none where it cannot be left out next time.
    fn written(&self, result: &T) -> Option<Self::Written>;

    /// The result, where it is still the same.
    fn read(&self, written: Self::Written) -> Option<T>;
}

/// Nothing but that a cluster is clean.
pub(crate) struct Clean;

impl Keeper<()> for Clean {
    const STAGE: &'static str = "check";
    type Written = ();

    fn written(&self, (): &()) -> Option<()> {
        Some(())
    }

    fn read(&self, (): ()) -> Option<()> {
        Some(())
    }
}

/// The cache of one run.
pub(crate) struct Cache<K> {
    keeper: K,
    file: CacheFile,
    recorded: Arc<Recorded>,
    /// The digest of all that every cluster depends on.
    key: String,
    known: Known,
    /// What was looked at for several clusters in the runs that wrote it.
    common: Looks,
}

/// A cluster that was clean.
#[derive(Serialize, Deserialize)]
struct Entry<W> {
    seen: Seen,
    waivers: BTreeSet<usize>,
    counts: PoolCounts,
    uses: ImageUse,
    result: W,
}

/// What is kept of a cluster for the next run.
pub(super) enum Line {
    /// What the last one kept.
    Same,
    /// This; empty for nothing.
    New(String),
}

impl<K> Cache<K> {
    /// The cache of a request, when everything is read but the clusters; none where the request wants none, or where files
    /// are read past [`crate::files::Files`].
    ///
    /// # Errors
    /// A source of facts cannot be read.
    pub(crate) fn open<T>(
        request: &Request,
        fleet: &Fleet,
        keeper: K,
    ) -> Result<Option<Self>, Error>
    where
        K: Keeper<T>,
    {
        let workspace = &fleet.workspace;
        let (Some(folder), Some(recorded)) = (&request.flags.cache, &workspace.recorded) else {
            return Ok(None);
        };
        let is_layout = |path: &Path| path.to_string_lossy().starts_with(layout::SCHEME);
        let Ok(root) = workspace.settings.root.canonicalize() else {
            return Ok(None);
        };
        if workspace.facts.iter().any(|path| is_layout(path)) {
            return Ok(None);
        }
        let name = key([K::STAGE, &root.to_string_lossy(), &format!("{request:?}")]);
        let Some(file) = CacheFile::new(folder, &root, name.clone()) else {
            return Ok(None);
        };
        let policy = &workspace.settings.policy;
        let expired = policy
            .waivers
            .iter()
            .map(|waiver| waiver.has_expired(fleet.today));
        let policy = format!("{:?} {:?}", policy.rules, expired.collect::<Vec<bool>>());
        let looks = HEXLOWER.encode(&digest_of_looks(&recorded.common()));
        let key = key([BUILD, &name, &policy, &looks]);
        let read = file.read().and_then(|text| Known::parse(text, &key));
        let read = read.and_then(|(known, seen)| Some((known, seen.again(recorded)?)));
        let (known, common) = read.unwrap_or_default();
        Ok(Some(Self {
            keeper,
            file,
            recorded: Arc::clone(recorded),
            key,
            known,
            common,
        }))
    }

    /// The result of a cluster, by its number: the one that is known, or the one that `make` makes.
    pub(super) fn part<T>(
        &self,
        number: usize,
        make: impl FnOnce() -> Result<Part<T>, Error>,
    ) -> Result<(Part<T>, Line), Error>
    where
        K: Keeper<T>,
    {
        if let Some(part) = self.known(number) {
            return Ok((part, Line::Same));
        }
        let (made, looks) = for_one(make);
        let part = made?;
        let line = looks.and_then(|looks| self.line(&part, looks));
        Ok((part, Line::New(line.unwrap_or_default())))
    }

    fn known<T>(&self, number: usize) -> Option<Part<T>>
    where
        K: Keeper<T>,
    {
        let line = Some(self.known.line(number)).filter(|line| !line.is_empty())?;
        let entry: Entry<K::Written> = serde_json::from_str(line).ok()?;
        entry.seen.again(&self.recorded)?;
        Some(Part {
            checked: Checked {
                findings: Vec::new(),
                waivers_used: entry.waivers,
            },
            counts: entry.counts,
            uses: entry.uses,
            result: self.keeper.read(entry.result)?,
        })
    }

    fn line<T>(&self, part: &Part<T>, looks: Looks) -> Option<String>
    where
        K: Keeper<T>,
    {
        if !part.checked.findings.is_empty() {
            return None;
        }
        let entry = Entry {
            seen: Seen::of(looks),
            waivers: part.checked.waivers_used.clone(),
            counts: part.counts.clone(),
            uses: part.uses.clone(),
            result: self.keeper.written(&part.result)?,
        };
        serde_json::to_string(&entry).ok()
    }

    /// Keeps what was made, for the next run.
    pub(super) fn keep(mut self, lines: &[Line]) {
        let looks_before = self.common.len();
        self.common.extend(self.recorded.common());
        self.common = ordered(self.common);
        let lines: Vec<&str> = { lines.iter().enumerate() }
            .map(|(number, line)| match line {
                Line::Same => self.known.line(number),
                Line::New(line) => line.as_str(),
            })
            .collect();
        let mut numbered = lines.iter().enumerate();
        let is_known = numbered.all(|(number, line)| *line == self.known.line(number));
        if is_known && looks_before == self.common.len() {
            return;
        }
        if let Some(head) = text::head(&self.key, self.common, &lines) {
            let lines = lines.iter().flat_map(|line| ["\n", line]);
            // The next run takes longer, that is all.
            let _ = self.file.write([&*head].into_iter().chain(lines));
        }
    }
}

/// The digest of texts.
fn key<const N: usize>(texts: [&str; N]) -> String {
    let mut digest = Sha256::new();
    for text in texts {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    }
    HEXLOWER.encode(&digest.finalize())
}
