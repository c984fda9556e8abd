//! What a run makes of an output folder, as docs/ownership.md describes it: a second description, written without a look at
//! the code, that knows nothing of phases, plans and threads.

use std::collections::{BTreeMap, BTreeSet};

use metalmark::model::manifest::{ChangeKind, Origin, STAGED};
use metalmark::model::rule::RuleId;
use sha2::{Digest, Sha256};

/// What exists at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    File(String),
    Folder,
    Link,
}

/// Everything below a folder but the ownership file, by path.
pub(super) type Disk = BTreeMap<String, Item>;

/// The lines of an ownership file: of each path the digests and the owner.
pub(super) type Listed = BTreeMap<String, (BTreeSet<String>, String)>;

/// A run: the rendered files (path, text, owner), and its options.
pub(super) struct Run<'a> {
    pub(super) tree: &'a [(String, String)],
    pub(super) adopts: bool,
    pub(super) kept: &'a [String],
}

/// What a run comes to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Expected {
    pub(super) disk: Disk,
    pub(super) listed: Listed,
    pub(super) changes: BTreeMap<String, (ChangeKind, Origin)>,
    pub(super) refused: BTreeMap<String, RuleId>,
}

pub(super) fn owner(path: &str) -> &str {
    &path[..1]
}

pub(super) fn sum(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The lines that make sense; a path that leaves the folder, or that no Windows can hold, is none.
pub(super) fn listed(record: &str) -> Listed {
    let mut listed = Listed::new();
    for line in record.lines() {
        let parts: Vec<&str> = line.splitn(3, '\t').collect();
        let [path, sum, owner] = parts[..] else {
            continue;
        };
        let Some(hex) = sum.strip_prefix("sha256:").filter(|hex| hex.len() == 64) else {
            continue;
        };
        let is_illegal = |name: &str| name.ends_with('.') || name.contains(':');
        if path.split('/').any(is_illegal) {
            continue;
        }
        let known = listed
            .entry(path.to_owned())
            .or_insert_with(|| (BTreeSet::new(), owner.to_owned()));
        known.0.insert(hex.to_owned());
    }
    listed
}

/// The lines of an ownership file, without those that are comments.
pub(super) fn lines(listed: &Listed) -> Vec<String> {
    let lines = |(path, (sums, owner)): (&String, &(BTreeSet<String>, String))| {
        let line = |sum: &String| format!("{path}\tsha256:{sum}\t{owner}");
        sums.iter().map(line).collect::<Vec<_>>()
    };
    listed.iter().flat_map(lines).collect()
}

pub(super) fn above(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.match_indices('/').map(|(slash, _)| &path[..slash])
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.starts_with('/'))
}

pub(super) fn is_staged(path: &str) -> bool {
    path.rsplit('/')
        .next()
        .is_some_and(|name| name.starts_with(STAGED))
}

/// What is at a path, or what keeps a file from being there.
enum At<'d> {
    Nothing,
    File(&'d str),
    Folder,
    /// A file where a folder would be.
    Behind(&'d str),
    /// A link at the path or above it.
    Link,
}

fn at<'d>(disk: &'d Disk, path: &str) -> At<'d> {
    for folder in above(path) {
        match disk.get_key_value(folder) {
            None => return At::Nothing,
            Some((_, Item::Link)) => return At::Link,
            Some((file, Item::File(_))) => return At::Behind(file),
            Some((_, Item::Folder)) => {}
        }
    }
    match disk.get(path) {
        None => At::Nothing,
        Some(Item::Link) => At::Link,
        Some(Item::File(text)) => At::File(text),
        Some(Item::Folder) => At::Folder,
    }
}

/// What an earlier, killed run left where it was writing: beside the files that it listed.
pub(super) fn is_litter(path: &str, disk: &Disk, listed: &Listed) -> bool {
    let folder = |path: &str| above(path).next_back().unwrap_or_default().to_owned();
    is_staged(path)
        && above(path).all(|folder| disk.get(folder) == Some(&Item::Folder))
        && (folder(path).is_empty() || listed.keys().any(|listed| folder(listed) == folder(path)))
}

/// What a run makes of a folder.
pub(super) fn run(disk: &Disk, before: &Listed, is_unfinished: bool, run: &Run<'_>) -> Expected {
    let mut disk = disk.clone();
    if is_unfinished {
        let all = disk.clone();
        disk.retain(|path, _| !is_litter(path, &all, before));
    }
    let mut done = Expected::default();
    // A listed file that is no longer rendered is deleted, unless it was edited.
    let is_gone = |path: &str, owner: &str| {
        !run.tree.iter().any(|(rendered, _)| rendered == path)
            && !run.kept.iter().any(|kept| kept == owner)
    };
    let gone: Vec<&String> = before
        .iter()
        .filter(|(path, (_, owner))| is_gone(path, owner))
        .map(|(path, _)| path)
        .collect();
    let mut emptied = Vec::new();
    let mut kept = Vec::new();
    for path in &gone {
        if let At::File(text) = at(&disk, path) {
            let is_ours = before[*path].0.contains(&sum(text));
            if !is_ours && !run.adopts {
                done.refused.insert((*path).clone(), RuleId::FileNotOwned);
                kept.push((*path).clone());
                continue;
            }
            let origin = if is_ours { Origin::Run } else { Origin::Edited };
            done.changes
                .insert((*path).clone(), (ChangeKind::Deleted, origin));
        }
        if matches!(at(&disk, path), At::File(_) | At::Nothing) {
            emptied.push((*path).clone());
        }
    }
    let is_deleted = |done: &Expected, path: &str| {
        matches!(done.changes.get(path), Some((ChangeKind::Deleted, _)))
    };
    for (path, text) in run.tree {
        match change(&disk, before.get(path), (path, text), run, &|path| {
            is_deleted(&done, path)
        }) {
            Ok(None) => {}
            Ok(Some(change)) => drop(done.changes.insert(path.clone(), change)),
            Err(rule) => drop(done.refused.insert(path.clone(), rule)),
        }
    }
    let accepted = |path: &str| !done.refused.contains_key(path);
    done.listed = before.clone();
    done.listed
        .retain(|path, _| kept.contains(path) || !gone.contains(&path));
    for (path, text) in run.tree.iter().filter(|(path, _)| accepted(path)) {
        let line = (BTreeSet::from([sum(text)]), owner(path).to_owned());
        done.listed.insert(path.clone(), line);
    }
    disk.retain(|path, _| !is_deleted(&done, path));
    for (path, text) in run.tree.iter().filter(|(path, _)| accepted(path)) {
        disk.retain(|other, _| !is_below(other, path));
        for folder in above(path) {
            disk.insert(folder.to_owned(), Item::Folder);
        }
        disk.insert(path.clone(), Item::File(text.clone()));
    }
    // The folder of a deleted file goes once it is empty, and those above it.
    for folder in emptied.iter().flat_map(|path| above(path).rev()) {
        let is_used = disk
            .keys()
            .chain(done.listed.keys())
            .any(|path| is_below(path, folder));
        if disk.get(folder) == Some(&Item::Folder) && !is_used {
            disk.remove(folder);
        }
    }
    done.disk = disk;
    done
}

/// What happens to a rendered file: nothing, a change, or a refusal.
fn change(
    disk: &Disk,
    known: Option<&(BTreeSet<String>, String)>,
    (path, text): (&str, &str),
    run: &Run<'_>,
    is_deleted: &dyn Fn(&str) -> bool,
) -> Result<Option<(ChangeKind, Origin)>, RuleId> {
    let created = Ok(Some((ChangeKind::Created, Origin::Run)));
    let mut others = run.tree.iter().filter(|(other, _)| other != path);
    let collides = |other: &str| is_below(other, path) || is_below(path, other);
    let collision = others.any(|(other, _)| collides(other));
    match at(disk, path) {
        _ if path.starts_with("../") => Err(RuleId::OutputPathIllegal),
        _ if collision => Err(RuleId::OutputPathCollision),
        At::Link => Err(RuleId::OutputSymlink),
        At::Nothing => created,
        At::Behind(file) if is_deleted(file) => created,
        At::Behind(_) => Err(RuleId::FileNotOwned),
        At::Folder => {
            let mut inside = disk
                .iter()
                .filter(|(other, item)| is_below(other, path) && **item != Item::Folder);
            if inside.all(|(other, _)| is_deleted(other)) {
                created
            } else {
                Err(RuleId::FileNotOwned)
            }
        }
        At::File(old) if old == text => Ok(None),
        At::File(old) => match known {
            Some((sums, _)) if sums.contains(&sum(old)) => {
                Ok(Some((ChangeKind::Updated, Origin::Run)))
            }
            Some(_) => Ok(Some((ChangeKind::Updated, Origin::Edited))),
            None if run.adopts => Ok(Some((ChangeKind::Updated, Origin::Adopted))),
            None => Err(RuleId::FileNotOwned),
        },
    }
}
