//! The evidence of a lock: one line of JSON for each digest, in a file beside the lock.
//!
//! A file of its own, because it is not reviewed and git may join it blindly: every line proves itself, so that the lines of two
//! branches are right together. One manifest and one signature take some 3 kB a line, which would bury the lock's own lines.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oci_artifacts::evidence::{Evidence, Witness};
use oci_artifacts::{Content, Descriptor, Digest, Manifest, Platform};
use serde::{Deserialize, Serialize};
use yaml_tree::place::{FileId, Place};

use super::super::artifact::Artifact;
use super::{Fault, conflict};
use crate::model::lock::{EVIDENCE, Lock, LockedImage};
use crate::model::rule::RuleId;

const HEAD: &str = "# Written by `metalmark lock`; commit it beside the lock. The manifests and signatures that prove its entries.";

/// Where the evidence of a lock is.
pub fn path(lock: &Path) -> PathBuf {
    lock.with_extension(EVIDENCE)
}

/// One line, as it is written.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Line {
    digest: Arc<str>,
    manifest: Arc<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    part: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    signatures: Vec<Witness>,
}

/// The whole file; none where no entry has evidence. The same lock is the same bytes.
pub fn text(lock: &Lock) -> Option<String> {
    // Two images may be one artifact, signed under the name of each.
    let mut all: BTreeMap<&str, Evidence> = BTreeMap::new();
    for image in lock.entries() {
        if let Some(evidence) = &image.evidence {
            let of_digest = all.entry(image.digest.value.as_str());
            let joined = of_digest.or_insert_with(|| Evidence::clone(evidence));
            joined.join(evidence);
        }
    }
    if all.is_empty() {
        return None;
    }
    let mut text = format!("{HEAD}\n");
    for (digest, evidence) in all {
        let line = Line {
            digest: digest.into(),
            manifest: evidence.manifest,
            part: evidence.part,
            signatures: evidence.signatures,
        };
        text.push_str(&serde_json::to_string(&line).expect("texts are JSON"));
        text.push('\n');
    }
    Some(text)
}

/// Attaches the evidence with the same digest and platform to the entries of a lock, and compares their facts.
pub(super) fn attach(
    lock: &Lock,
    text: &str,
    file: FileId,
    platform: &Platform,
) -> (Lock, Vec<Fault>) {
    let mut faults = Vec::new();
    let known = lines(text, file, &mut faults);
    let mut images: Vec<LockedImage> = lock.entries().into_iter().cloned().collect();
    for image in &mut images {
        let Some(lines) = known.get(&image.digest.value) else {
            continue;
        };
        // A manifest of another architecture is evidence for another project: the entry lacks its own.
        let read = |part: &Option<Arc<str>>| {
            let evidence = Evidence {
                part: part.clone(),
                ..lines.joined.clone()
            };
            Artifact::from_evidence(&evidence, &image.digest.value, platform).ok()
        };
        if let Some(artifact) = lines.parts.iter().find_map(read) {
            faults.extend(find_tampering(image, &artifact));
            image.evidence = Some(Arc::new(artifact.evidence));
        }
    }
    (Lock::new(images), faults)
}

/// All lines of one digest: those of two branches may have another part each.
#[derive(Default)]
struct Lines {
    joined: Evidence,
    parts: BTreeSet<Option<Arc<str>>>,
}

/// The evidence by digest. A line that does not prove its digest proves nothing.
fn lines(text: &str, file: FileId, faults: &mut Vec<Fault>) -> BTreeMap<Digest, Lines> {
    let mut known: BTreeMap<Digest, Lines> = BTreeMap::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let place = Place {
            file,
            start: start as u32,
            end: (start + line.trim_end().len().min(SHOWN)) as u32,
        };
        start += line.len();
        let line = line.trim();
        if conflict::is_start(line) {
            faults.push(super::conflict(place));
        }
        if line.is_empty() || line.starts_with('#') || conflict::is_mark(line) {
            continue;
        }
        let mut fault = |rule, message| {
            faults.push(Fault {
                rule,
                message,
                place,
                help: Some(REDO.to_owned()),
            });
        };
        match read(line) {
            Ok((digest, evidence)) => {
                let Lines { joined, parts } = known.entry(digest).or_default();
                parts.insert(evidence.part.clone());
                joined.join(&evidence);
                joined.manifest = evidence.manifest;
                if joined.signatures.len() > SIGNATURES {
                    let count = joined.signatures.len();
                    joined.signatures.truncate(SIGNATURES);
                    let message =
                        format!("{count} signatures of one digest, and {SIGNATURES} are read");
                    fault(RuleId::LockInvalid, message);
                }
            }
            Err((rule, message)) => fault(rule, message),
        }
    }
    known
}

/// The most signatures of one digest that are verified; there is one for each key that clusters name.
const SIGNATURES: usize = 16;

/// How much of a line is pointed at, in bytes: its digest.
const SHOWN: usize = 12;

const REDO: &str = "remove the line and run `metalmark lock`";

fn read(line: &str) -> Result<(Digest, Evidence), (RuleId, String)> {
    let invalid =
        |error: &dyn std::fmt::Display| (RuleId::LockInvalid, format!("no evidence: {error}"));
    let line: Line = serde_json::from_str(line).map_err(|error| invalid(&error))?;
    let digest = Digest::parse(&line.digest).map_err(|error| invalid(&error))?;
    if !digest.is_of(line.manifest.as_bytes()) {
        let message = format!("the manifest of `{digest}` has another digest: it was changed");
        return Err((RuleId::LockTampered, message));
    }
    if { line.part.as_ref() }.is_some_and(|part| !is_part(part, &line.manifest)) {
        let message = format!("`{digest}` names no manifest as the one beside it: it was changed");
        return Err((RuleId::LockTampered, message));
    }
    let evidence = Evidence {
        manifest: line.manifest,
        part: line.part,
        signatures: line.signatures,
    };
    Ok((digest, evidence))
}

/// Whether an index names this manifest.
fn is_part(part: &str, index: &str) -> bool {
    let named = |of: &Descriptor| of.digest.is_of(part.as_bytes());
    match Manifest::read(index.into()).map(|index| index.content) {
        Ok(Content::Index { manifests, .. }) => manifests.iter().any(named),
        Ok(Content::Image { .. }) | Err(_) => false,
    }
}

/// The facts of an entry that its own artifact does not say.
fn find_tampering(image: &LockedImage, artifact: &Artifact) -> Vec<Fault> {
    let fault = |(message, place)| Fault {
        rule: RuleId::LockTampered,
        message,
        place,
        help: Some(RESTORE.to_owned()),
    };
    let differences = artifact.differences(image).into_iter();
    differences
        .map(|difference| fault(difference.message(image)))
        .collect()
}

/// What to do about a lock that says other things than its artifacts.
pub const RESTORE: &str =
    "find out who edited the lock; `metalmark lock` takes the facts from the artifact again";

#[cfg(test)]
mod tests {
    use super::{SIGNATURES, attach, text};
    use crate::model::lock::{Lock, LockOrigin, LockedImage};
    use oci_artifacts::evidence::{Evidence, Witness};
    use oci_artifacts::{Address, Digest, Platform};
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use yaml_tree::place::{FileId, Located, Place};

    const MANIFEST: &str = r#"{"config":{"mediaType":"x","digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","size":0},"annotations":{"sylva/os":"ubuntu"}}"#;

    fn image(os: &str, signatures: &[&str]) -> LockedImage {
        let signatures = signatures.iter().map(|signature| Witness::Tag {
            payload: "{}".into(),
            signature: (*signature).into(),
        });
        LockedImage {
            key: Located::new("noble".into(), Place::NONE),
            reference: Located::new(Address::new("oci://r.example/noble:1"), Place::NONE),
            digest: Located::new(Digest::compute(MANIFEST.as_bytes()), Place::NONE),
            mirror: None,
            facts: [("os".into(), Located::new(os.into(), Place::NONE))].into(),
            origin: LockOrigin::default(),
            verified: Vec::new(),
            provenance: BTreeMap::new(),
            evidence: Some(Arc::new(Evidence {
                manifest: MANIFEST.into(),
                part: None,
                signatures: signatures.collect(),
            })),
        }
    }

    fn attached(os: &str, text: &str) -> (Lock, Vec<String>) {
        let bare = LockedImage {
            evidence: None,
            ..image(os, &[])
        };
        let (lock, faults) = attach(
            &Lock::new(vec![bare]),
            text,
            FileId(0),
            &Platform::default(),
        );
        let reported = faults.into_iter();
        let reported = reported.map(|fault| format!("{}: {}", fault.rule, fault.message));
        (lock, reported.collect())
    }

    #[test]
    fn evidence_is_read_back_and_that_of_two_branches_is_joined() {
        let written = |signatures: &[&str]| {
            text(&Lock::new(vec![image("ubuntu", signatures)])).expect("evidence")
        };
        let (lock, reported) = attached("ubuntu", &written(&["a"]));
        assert_eq!((text(&lock), reported), (Some(written(&["a"])), Vec::new()));
        let both = format!("{}\n \n{}", written(&["b"]), written(&["a"]));
        let (lock, reported) = attached("ubuntu", &both);
        assert_eq!(
            (text(&lock), reported),
            (Some(written(&["a", "b"])), Vec::new())
        );
    }

    #[test]
    fn as_many_signatures_of_a_digest_are_read_as_is_stated() {
        let names: Vec<String> = (0..=SIGNATURES).map(|at| format!("{at:02}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let read = |names: &[&str]| {
            let written = text(&Lock::new(vec![image("ubuntu", names)])).expect("evidence");
            let (lock, reported) = attached("ubuntu", &written);
            let evidence = lock.images()[0].evidence.clone().expect("evidence");
            (evidence.signatures.len(), reported.len())
        };
        assert_eq!(read(&names[1..]), (SIGNATURES, 0));
        assert_eq!(read(&names), (SIGNATURES, 1));
    }

    #[test]
    fn what_was_changed_proves_nothing() {
        let written = text(&Lock::new(vec![image("ubuntu", &[])])).expect("evidence");
        let (lock, reported) = attached("debian", &written);
        assert!(lock.images()[0].evidence.is_some());
        let expected = "lock-tampered: `os` of `noble` is `debian` by the lock, `ubuntu` by the artifact's annotations";
        assert_eq!(reported, [expected]);
        let (lock, reported) = attached("debian", &written.replace("ubuntu", "debian"));
        assert!(lock.images()[0].evidence.is_none());
        assert!(reported[0].starts_with("lock-tampered: the manifest of `sha256:"));
        let (_, reported) = attached("ubuntu", "no evidence\n");
        assert!(
            reported[0].starts_with("lock-invalid: no evidence: "),
            "{reported:?}"
        );
    }

    #[test]
    fn the_lines_of_both_sides_of_a_conflict_are_read() {
        let written = |signatures: &[&str]| {
            text(&Lock::new(vec![image("ubuntu", signatures)])).expect("evidence")
        };
        let (ours, theirs) = (written(&["b"]), written(&["a"]));
        let both = format!("<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> topic\n");
        let (lock, reported) = attached("ubuntu", &both);
        assert_eq!(text(&lock), Some(written(&["a", "b"])));
        assert_eq!(reported, ["lock-conflict: git left a conflict here"]);
    }

    #[test]
    fn a_lock_without_evidence_has_no_file_of_it() {
        let (lock, _) = attached("ubuntu", "");
        assert_eq!((lock.images().len(), text(&lock)), (1, None));
    }
}
