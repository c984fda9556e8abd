//! A change puts another image behind a URL that machines boot from.

use capi::image::{ImageKey, fact};
use capi::providers::Stamp;

use crate::model::checksum;
use crate::model::finding::{Finding, Subject};
use crate::model::rule::RuleId;
use crate::rules::change_input::PoolPair;
use crate::rules::{ChangeInput, Side};

/// The number of digits that distinguish two digests.
const SHOWN: usize = 12;

/// Looks at what is stamped of every pool on both sides, and at the images that are served.
pub(super) fn change(input: &ChangeInput<'_>, findings: &mut Vec<Finding>) {
    let mut reported = Vec::new();
    for PoolPair { before, after } in input.pools() {
        let Some((from, to)) = before.stamp.zip(after.stamp) else {
            continue;
        };
        // What a URL leads to is not known.
        let digest = |stamp: &Stamp| stamp.checksum.clone().filter(|sum| !checksum::is_url(sum));
        let Some((old, new)) = digest(from).zip(digest(to)) else {
            continue;
        };
        if from.url != to.url || old == new {
            continue;
        }
        let message = format!(
            "another image would be at `{}`: its checksum goes from `{}` to `{}`",
            to.url,
            short(&old),
            short(&new)
        );
        let fact = to.key.as_ref().and_then(|key| place(&input.after, key));
        reported.extend(to.key.clone());
        let mut subject = input.subject(after.pool);
        subject.image = to.key.as_deref().map(str::to_owned);
        let finding = Finding::new(RuleId::ImageReplacedInPlace, message)
            .with_subject(subject)
            .with_label(input.spot(fact.unwrap_or(after.pool.choice.place())), "");
        findings
            .push(finding.help("give it a URL of its own: a file name or a tag with the version"));
    }
    for key in &input.after.view.served {
        if !reported.contains(key) {
            findings.extend(tag_moved(input, key));
        }
    }
}

/// A served image whose reference is the same and whose digest is not.
fn tag_moved(input: &ChangeInput<'_>, key: &ImageKey) -> Option<Finding> {
    let (before, after) = (
        input.before.view.images.get(key)?,
        input.after.view.images.get(key)?,
    );
    let (from, to) = (before.uri.as_ref()?, after.uri.as_ref()?);
    let old = before.facts.text(fact::SHA256)?;
    let new = after.facts.get(fact::SHA256)?;
    if from.value != to.value || old == &*new.value {
        return None;
    }
    let message = format!(
        "another image would be at `{}`: its checksum goes from `{}` to `{}`",
        to.value,
        short(old),
        short(&new.value)
    );
    let subject = Subject {
        image: Some(key.to_string()),
        ..Subject::cluster(&input.after.view.cluster.name)
    };
    let finding = Finding::new(RuleId::ImageReplacedInPlace, message).with_subject(subject);
    let finding = finding.with_label(input.spot(new.place), "");
    Some(finding.help("publish it under a tag of its own, and name that"))
}

/// The place of an image's digest.
fn place(side: &Side<'_>, key: &ImageKey) -> Option<yaml_tree::place::Place> {
    let digest = side.view.images.get(key)?.facts.get(fact::SHA256)?;
    Some(digest.place).filter(|place| place.is_known())
}

fn short(digest: &str) -> &str {
    digest.get(..SHOWN).unwrap_or(digest)
}
