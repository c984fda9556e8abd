//! Image files that index pages list: their digests stand in checksum files, so that there is nothing more to ask.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Run, Wish, moved};
use crate::model::checksum::is_url;
use crate::model::finding::Finding;
use crate::model::lock::{LockOrigin, LockedImage};
use crate::model::place::{Located, Place, Sources};
use crate::sources::OfferedImage;

/// Adds what pages list. A file that has changed under its name stays as it was locked, until somebody accepts it.
pub(super) fn settle(
    entries: &mut BTreeMap<(Arc<str>, Arc<str>), LockedImage>,
    wish: &Wish,
    run: &mut Run<'_>,
) {
    for offered in &wish.offered {
        let identity = (Arc::clone(&offered.key), Arc::clone(&offered.reference));
        let known = run.old.get(&offered.key, &offered.reference);
        let changed = known.filter(|known| known.digest.value != offered.digest);
        let accepted = wish.accept_moved.contains(&*offered.key);
        let entry = match changed.filter(|_| !accepted) {
            Some(known) => {
                let finding = moved(known, offered.digest.as_str(), run.sources);
                run.out.findings.push(finding.help(format!(
                    "give another file another name; if it is meant, `metalmark lock --accept-moved {}`",
                    offered.key
                )));
                known.clone()
            }
            None => locked(offered),
        };
        entries.insert(identity, entry);
    }
    let below = |image: &&LockedImage| {
        let file = |page: &String| image.reference.value.strip_prefix(page.as_str());
        let mut pages = wish.unread_pages.iter();
        pages.any(|page| file(page).is_some_and(|rest| rest.starts_with('/')))
    };
    for known in run.old.images().iter().filter(below) {
        let identity = (
            Arc::clone(&known.key.value),
            Arc::clone(&known.reference.value),
        );
        entries.entry(identity).or_insert_with(|| known.clone());
    }
}

fn locked(offered: &OfferedImage) -> LockedImage {
    let facts = offered.facts.iter();
    LockedImage {
        key: Located::new(Arc::clone(&offered.key), Place::NONE),
        reference: Located::new(Arc::clone(&offered.reference), Place::NONE),
        digest: Located::new(offered.digest.clone(), Place::NONE),
        mirror: None,
        facts: facts
            .map(|(name, text)| {
                (
                    Arc::clone(name),
                    Located::new(Arc::clone(text), Place::NONE),
                )
            })
            .collect(),
        origin: LockOrigin::default(),
        verified: None,
    }
}

/// Whether a page still lists a locked file with its digest; none for what is no file of a page.
pub(super) fn compare(
    image: &LockedImage,
    offered: &[OfferedImage],
    sources: &Sources,
    findings: &mut Vec<Finding>,
) -> Option<bool> {
    let reference = &image.reference.value;
    if !is_url(reference) {
        return None;
    }
    let now = offered
        .iter()
        .find(|offered| offered.reference == *reference)?;
    if now.digest == image.digest.value {
        return Some(true);
    }
    let finding = moved(image, now.digest.as_str(), sources);
    findings.push(finding.help(
        "find out who changed it; machines would fetch other bytes than those that were locked",
    ));
    Some(false)
}
