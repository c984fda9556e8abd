//! The text of a cache: what it is of, a digest of all that follows, what all clusters looked at, and a line a cluster.
//!
//! A text that was torn, damaged or written by another build or for another state of the project is no cache.

use std::ops::Range;

use sha2::{Digest as _, Sha256};

use crate::files::{Look, Looks, Recorded, digest_of_looks};
use data_encoding::HEXLOWER;

/// The first line. Other builds have other keys, whatever their format.
const HEADER: &str = "metalmark cache\n";

/// What was looked at, and the digest of all that was found.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Seen {
    looks: Vec<Look>,
    sum: String,
}

impl Seen {
    pub(super) fn of(looks: Looks) -> Self {
        Self {
            sum: HEXLOWER.encode(&digest_of_looks(&looks)),
            looks: looks.into_iter().map(|(look, _)| look).collect(),
        }
    }

    /// The same looks, where all of them find the same now.
    pub(super) fn again(self, recorded: &Recorded) -> Option<Looks> {
        let looks = { self.looks.into_iter() }.map(|look| {
            let found = recorded.again(&look);
            (look, found)
        });
        let looks = looks.collect();
        (HEXLOWER.encode(&digest_of_looks(&looks)) == self.sum).then_some(looks)
    }
}

/// A cache that was read.
#[derive(Debug, Default)]
pub(super) struct Known {
    text: String,
    lines: Vec<Range<usize>>,
}

impl Known {
    /// The cache of that key, and what all clusters looked at when it was written.
    pub(super) fn parse(text: String, key: &str) -> Option<(Self, Seen)> {
        let rest = text.strip_prefix(HEADER)?.strip_prefix(key)?;
        let (sum, body) = rest.strip_prefix('\n')?.split_once('\n')?;
        if HEXLOWER.encode(&Sha256::digest(body)) != sum {
            return None;
        }
        let mut lines = Vec::new();
        let mut start = text.len() - body.len();
        for line in body.split('\n') {
            lines.push(start..start + line.len());
            start += line.len() + 1;
        }
        let seen = serde_json::from_str(&text[lines.remove(0)]).ok()?;
        Some((Self { text, lines }, seen))
    }

    /// The line of a cluster, by its number; empty where nothing is known.
    pub(super) fn line(&self, number: usize) -> &str {
        self.lines
            .get(number)
            .map_or("", |line| &self.text[line.clone()])
    }
}

/// What precedes these lines in the cache of that key.
pub(super) fn head(key: &str, common: Looks, lines: &[&str]) -> Option<String> {
    let common = serde_json::to_string(&Seen::of(common)).ok()?;
    let mut digest = Sha256::new_with_prefix(&common);
    for line in lines {
        digest.update("\n");
        digest.update(line);
    }
    let sum = HEXLOWER.encode(&digest.finalize());
    Some(format!("{HEADER}{key}\n{sum}\n{common}"))
}
