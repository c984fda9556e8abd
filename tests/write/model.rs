//! What a run makes of an output folder, as docs/ownership.md describes it: a second description, written without a look at
//! the code, that knows nothing of phases, plans and threads.

use std::collections::BTreeMap;

use metalmark::model::manifest::{ChangeKind, STAGED};
use metalmark::model::rule::RuleId;

/// What exists at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    File(String),
    Folder,
    Link,
}

/// Everything below a folder but the list of an earlier version, by path.
pub(super) type Disk = BTreeMap<String, Item>;

/// The list of an earlier version: of each path the text that it names, and the owner.
pub(super) type Listed = BTreeMap<String, (String, String)>;

/// A run: the rendered files (path, text), and its options.
pub(super) struct Run<'a> {
    pub(super) tree: &'a [(String, String)],
    pub(super) adopts: bool,
    /// The clusters that it does not look at.
    pub(super) kept: &'a [String],
}

/// What a run comes to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Expected {
    pub(super) disk: Disk,
    /// Whether the list of an earlier version is still needed.
    pub(super) is_list_needed: bool,
    /// By path, and whether the file was adopted.
    pub(super) changes: BTreeMap<String, (ChangeKind, bool)>,
    pub(super) refused: BTreeMap<String, RuleId>,
}

pub(super) fn owner(path: &str) -> &str {
    &path[..1]
}

/// A text as it is rendered for a cluster.
pub(super) fn rendered(owner: &str, text: &str) -> String {
    format!("# Rendered by metalmark for cluster {owner}; edit the values, not this file.\n{text}")
}

fn stated_owner(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("# Rendered by metalmark for cluster ")?;
    Some(rest.split(';').next().unwrap_or_default())
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

/// What an earlier, killed run was writing.
pub(super) fn is_litter(path: &str, disk: &Disk) -> bool {
    is_staged(path) && matches!(disk.get(path), Some(Item::File(_)))
}

/// What a run makes of a folder.
pub(super) fn run(disk: &Disk, listed: &Listed, run: &Run<'_>) -> Expected {
    let mut disk = disk.clone();
    let all = disk.clone();
    disk.retain(|path, _| !is_litter(path, &all));
    let owner_of = |path: &str, text: &str| {
        let list = listed.get(path).filter(|(known, _)| known == text);
        let listed = list.map(|(_, owner)| owner.clone());
        stated_owner(text).map(str::to_owned).or(listed)
    };
    let mut done = Expected::default();
    let is_rendered = |path: &str| run.tree.iter().any(|(rendered, _)| rendered == path);
    for (path, item) in &disk {
        let Item::File(text) = item else { continue };
        match owner_of(path, text).filter(|_| !is_rendered(path)) {
            Some(owner) if run.kept.contains(&owner) => {
                done.is_list_needed |= stated_owner(text).is_none();
            }
            Some(_) if stated_owner(text).is_none() => done.is_list_needed = true,
            Some(_) => drop(
                done.changes
                    .insert(path.clone(), (ChangeKind::Deleted, false)),
            ),
            None => {}
        }
    }
    let deleted: Vec<String> = done.changes.keys().cloned().collect();
    for (path, text) in run.tree {
        match change(&disk, &owner_of, (path, text), run, &deleted) {
            Ok(None) => {}
            Ok(Some(change)) => drop(done.changes.insert(path.clone(), change)),
            Err(rule) => {
                let is_owned = match at(&disk, path) {
                    At::File(old) => owner_of(path, old).is_some(),
                    _ => false,
                };
                done.is_list_needed |= is_owned && listed.contains_key(path);
                done.refused.insert(path.clone(), rule);
            }
        }
    }
    disk.retain(|path, _| !deleted.contains(path));
    let accepted = |(path, _): &&(String, String)| !done.refused.contains_key(path);
    for (path, text) in run.tree.iter().filter(accepted) {
        disk.retain(|other, _| !is_below(other, path));
        for folder in above(path) {
            disk.insert(folder.to_owned(), Item::Folder);
        }
        disk.insert(path.clone(), Item::File(rendered(owner(path), text)));
    }
    // The folder of a deleted file goes once it is empty, and those above it.
    let litter = all.keys().filter(|path| is_litter(path, &all));
    for folder in deleted
        .iter()
        .chain(litter)
        .flat_map(|path| above(path).rev())
    {
        let is_used = disk.keys().any(|path| is_below(path, folder));
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
    owner_of: &dyn Fn(&str, &str) -> Option<String>,
    (path, text): (&str, &str),
    run: &Run<'_>,
    deleted: &[String],
) -> Result<Option<(ChangeKind, bool)>, RuleId> {
    let created = Ok(Some((ChangeKind::Created, false)));
    let is_deleted = |path: &str| deleted.iter().any(|deleted| deleted == path);
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
        At::File(old) if old == rendered(owner(path), text) => Ok(None),
        At::File(old) => match owner_of(path, old) {
            Some(owner) if run.kept.contains(&owner) => Err(RuleId::OutputPathCollision),
            Some(_) => Ok(Some((ChangeKind::Updated, false))),
            None if run.adopts => Ok(Some((ChangeKind::Updated, true))),
            None => Err(RuleId::FileNotOwned),
        },
    }
}
