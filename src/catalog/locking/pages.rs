//! Image files that index pages list: their digests are in checksum files, so that no request is needed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::image::ImageKey;
use oci_artifacts::Address;
use yaml_tree::place::{Located, Place, Sources};

use super::verification::entry_finding;
use super::{LockRequest, Run, tag_moved};
use crate::catalog::sources::OfferedImage;
use crate::model::checksum::is_url;
use crate::model::finding::Finding;
use crate::model::lock::{LockOrigin, LockedImage};
use crate::model::rule::RuleId;

/// What index pages of web servers say.
#[derive(Debug, Default)]
pub struct Pages {
    /// The images that they list with a digest.
    pub offered: Vec<OfferedImage>,
    /// What the addresses of their files start with, of the pages that were read.
    pub read: Vec<String>,
    /// The same, of the pages that could not be had: what is locked of them stays.
    pub unread: Vec<String>,
    /// The images that some cluster boots or serves: they are not dropped although their page lists them no more.
    pub used: BTreeSet<ImageKey>,
}

/// Adds what pages list. A file that has changed under its name stays as it was locked, until the user accepts it.
pub(super) fn settle(
    entries: &mut BTreeMap<(Arc<str>, Address), LockedImage>,
    request: &LockRequest<'_>,
    run: &mut Run<'_>,
) {
    for offered in &request.pages.offered {
        let identity = (Arc::clone(&offered.key), offered.reference.clone());
        match run.find_moved(&identity, &offered.digest, request) {
            Some(known) => {
                let finding = tag_moved(known, offered.digest.as_str(), run.sources);
                run.out.findings.push(finding.help(format!(
                    "give another file another name; if it is meant, `metalmark lock --accept-moved {}`",
                    offered.key
                )));
                let kept = run.old.get(&identity.0, &identity.1).cloned();
                entries.extend(kept.map(|kept| (identity, kept)));
            }
            None => {
                entries.insert(identity, lock_entry(offered));
            }
        }
    }
    for known in run.old.images() {
        let identity = (Arc::clone(&known.key.value), known.reference.value.clone());
        if entries.contains_key(&identity) {
            continue;
        }
        let is_gone = is_on_page(known, &request.pages.read);
        let stays = request.pages.used.contains(&*identity.0) && !request.names(&identity.0);
        if is_gone && stays {
            let finding = file_gone(known, run.sources);
            run.out.findings.push(finding);
        }
        if is_gone && stays || is_on_page(known, &request.pages.unread) {
            entries.insert(identity, known.clone());
        }
    }
}

/// Whether an entry is a file below one of these pages.
fn is_on_page(image: &LockedImage, pages: &[String]) -> bool {
    let file = |page: &String| image.reference.value.strip_prefix(page.as_str());
    let mut pages = pages.iter();
    pages.any(|page| file(page).is_some_and(|rest| rest.starts_with('/')))
}

/// That a page does not list a locked file any more.
fn file_gone(image: &LockedImage, sources: &Sources) -> Finding {
    let message = format!(
        "`{}` is gone: its page does not list it",
        image.reference.value
    );
    entry_finding(image, RuleId::CatalogDrift, message)
        .with_label(sources.resolve(image.reference.place), "locked here")
        .help("put the file and its checksum back, or boot another image and run `metalmark lock`")
}

fn lock_entry(offered: &OfferedImage) -> LockedImage {
    let facts = offered.facts.iter();
    LockedImage {
        key: Located::new(Arc::clone(&offered.key), Place::NONE),
        reference: Located::new(offered.reference.clone(), Place::NONE),
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
        verified: Vec::new(),
        provenance: BTreeMap::new(),
        evidence: None,
    }
}

/// Whether a page still lists a locked file with its digest; `None` if the entry is not a file of a page that was read.
pub(super) fn compare(
    image: &LockedImage,
    pages: &Pages,
    sources: &Sources,
    findings: &mut Vec<Finding>,
) -> Option<bool> {
    let reference = &image.reference.value;
    if !is_url(reference) {
        return None;
    }
    let mut offered = pages.offered.iter();
    let Some(now) = offered.find(|offered| offered.reference == *reference) else {
        let is_gone = is_on_page(image, &pages.read);
        findings.extend(is_gone.then(|| file_gone(image, sources)));
        return is_gone.then_some(false);
    };
    if now.digest == image.digest.value {
        return Some(true);
    }
    let finding = tag_moved(image, now.digest.as_str(), sources);
    findings.push(finding.help(
        "find out who changed it; machines would fetch other bytes than those that were locked",
    ));
    Some(false)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Address, Pages, compare, lock_entry, settle};
    use crate::catalog::locking::{LockRequest, Locked, Run};
    use crate::catalog::sources::OfferedImage;
    use crate::model::lock::{Lock, LockedImage};
    use capi::image::ImageKey;
    use oci_artifacts::Digest;
    use yaml_tree::place::Sources;

    fn offered(key: &str, reference: &str) -> OfferedImage {
        OfferedImage {
            key: key.into(),
            reference: Address::new(reference),
            digest: Digest::compute(b"a"),
            facts: Default::default(),
        }
    }

    fn entry(key: &str, reference: &str) -> LockedImage {
        lock_entry(&offered(key, reference))
    }

    /// The entries of what the pages list, and the run that settled them.
    fn settle_all<'r>(
        old: &'r Lock,
        request: &LockRequest<'_>,
        sources: &'r Sources,
    ) -> (BTreeMap<(ImageKey, Address), LockedImage>, Run<'r>) {
        let out = Locked::default();
        let mut run = Run { old, sources, out };
        let mut entries = BTreeMap::new();
        settle(&mut entries, request, &mut run);
        (entries, run)
    }

    const PAGE: &str = "https://a.b/os";
    const FILE: &str = "https://a.b/os/a.raw";

    fn pages() -> Pages {
        Pages {
            read: vec![PAGE.to_owned()],
            used: ["used".into()].into(),
            ..Pages::default()
        }
    }

    #[test]
    fn of_what_a_page_no_longer_lists_only_what_is_used_is_reported_and_stays() {
        let old = Lock::new(vec![
            entry("idle", "https://a.b/os/idle.raw"),
            entry("used", FILE),
            // No page can say that this one is gone.
            entry("used", "oci://a.b/os/a:1"),
        ]);
        let request = LockRequest {
            pages: pages(),
            ..LockRequest::default()
        };
        let sources = Sources::default();
        let (entries, run) = settle_all(&old, &request, &sources);
        let kept: Vec<&str> = entries.keys().map(|(_, reference)| &**reference).collect();
        assert_eq!(kept, [FILE]);
        let reported: Vec<&str> = { run.out.findings.iter() }
            .map(|finding| &*finding.message)
            .collect();
        assert_eq!(
            reported,
            [format!("`{FILE}` is gone: its page does not list it")]
        );
    }

    #[test]
    fn a_file_that_two_branches_locked_differently_is_one_of_the_two() {
        let with = |bytes: &[u8]| {
            lock_entry(&OfferedImage {
                digest: Digest::compute(bytes),
                ..offered("used", FILE)
            })
        };
        let counts = |one: &[u8], other: &[u8]| {
            let (old, sources) = (Lock::new(vec![with(one), with(other)]), Sources::default());
            let request = LockRequest {
                pages: Pages {
                    offered: vec![offered("used", FILE)],
                    ..pages()
                },
                ..LockRequest::default()
            };
            let (entries, run) = settle_all(&old, &request, &sources);
            let out = run.finish(&BTreeMap::new(), &request, entries);
            let lock = &out.lock;
            (
                lock.images().len(),
                lock.disputes().len(),
                out.findings.len(),
            )
        };
        assert_eq!(counts(b"b", b"a"), (1, 0, 0));
        assert_eq!(counts(b"b", b"c"), (0, 2, 1));
    }

    #[test]
    fn a_locked_file_is_as_its_page_lists_it_or_gone_or_unknown() {
        let compared = |reference: &str, pages: &Pages| {
            let mut findings = Vec::new();
            let answer = compare(
                &entry("a", reference),
                pages,
                &Sources::default(),
                &mut findings,
            );
            (answer, findings.len())
        };
        let lists = Pages {
            offered: vec![offered("a", FILE)],
            ..pages()
        };
        assert_eq!(compared(FILE, &lists), (Some(true), 0));
        assert_eq!(compared(FILE, &pages()), (Some(false), 1));
        assert_eq!(compared("https://other/a.raw", &pages()), (None, 0));
        assert_eq!(compared("oci://a.b/os/a:1", &pages()), (None, 0));
    }
}
