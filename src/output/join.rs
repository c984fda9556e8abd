//! Joins the parts of a plan: finds collisions, files to prune, and what is owned afterwards.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use oci_artifacts::portable_path;
use rayon::prelude::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::plan::{Entry, FileOutcome, Foreign, Part, Plan, origin, walk};
use super::refusal::{self, Side};
use crate::error::Error;
use crate::files::{PathState, Walk};
use crate::model::finding::{Finding, Subject};
use crate::model::manifest::{ChangeKind, ChangeSet, FileChange, Keeps, Origin, Ownership, STAGED};
use crate::model::ownership::{self, Owned, Record};

impl Plan {
    /// Joins the parts: finds collisions, files to prune, and what is owned afterwards.
    pub fn finish(self, parts: Vec<Part>, keeps: &Keeps) -> Result<ChangeSet, Error> {
        change_set(self, parts, keeps)
    }
}

fn change_set(plan: Plan, parts: Vec<Part>, keeps: &Keeps) -> Result<ChangeSet, Error> {
    let count = parts.iter().map(|part| part.entries.len()).sum();
    let (mut entries, mut findings) = (Vec::with_capacity(count), Vec::new());
    // Files with an illegal path have no entry.
    let mut unnamed = 0;
    for part in parts {
        unnamed += part.unnamed;
        entries.extend(part.entries);
        findings.extend(part.findings);
    }
    entries.sort_by(|a, b| (&a.path, &a.owner).cmp(&(&b.path, &b.owner)));
    refuse_collisions(&plan, &mut entries, &mut findings);
    let keeps = as_recorded(keeps);
    refuse_elsewhere(&plan, &keeps, &mut entries, &mut findings);
    let pruned = prune(&plan, &entries, &keeps, &mut findings)?;
    let in_the_way = refuse_blocked(&plan, &pruned.changes, &mut entries, &mut findings)?;
    let rendered = entries.len() + unnamed;
    let refused = entries
        .iter()
        .filter(|entry| matches!(entry.outcome, FileOutcome::Refused));
    let refused = refused.count() + unnamed;
    let after = next_record(&plan.record, &entries, &pruned.gone);
    let mut changes = pruned.changes;
    for entry in entries {
        if let FileOutcome::Change(change) | FileOutcome::Blocked(change, _) = entry.outcome {
            changes.push(*change);
        }
    }
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    findings.sort_by(|a, b| a.message.cmp(&b.message));
    // As git merged it, with lines in another order or of both sides: the next change puts it in order.
    let is_merged = changes.is_empty() && !plan.unfinished && plan.record.lists_as(&after);
    let during = if changes.is_empty() {
        String::new()
    } else {
        plan.record.union(&after).print_unfinished()
    };
    let ownership = Ownership {
        after: if plan.before.as_deref().is_some_and(Record::is_whole) && is_merged {
            plan.before.clone()
        } else {
            after.print_finished()
        },
        before: plan.before,
        during,
        unfinished: plan.unfinished,
    };
    Ok(ChangeSet {
        folders: folders_to_remove(&pruned.left, &in_the_way, &after),
        ownership,
        root: plan.root,
        base: plan.options.base,
        shown: plan.options.shown,
        changes,
        rendered,
        refused,
        findings,
    })
}

/// Refuses files with the same path, with paths that differ only in letter case, and a file where another needs a folder.
/// Entries are sorted by path.
fn refuse_collisions(plan: &Plan, entries: &mut [Entry], findings: &mut Vec<Finding>) {
    let mut first_at: HashMap<String, usize> = HashMap::with_capacity(entries.len());
    // By first file: the next one that collides with it, and how many do.
    let mut collisions: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    let mut refused = Vec::new();
    let mut collide = |first: usize, other: usize| {
        collisions.entry(first).or_insert((other, 0)).1 += 1;
        refused.extend([first, other]);
    };
    for (index, entry) in entries.iter().enumerate() {
        let first = *first_at
            .entry(portable_path::fold(&entry.path))
            .or_insert(index);
        if first != index {
            collide(first, index);
        }
    }
    for (index, entry) in entries.iter().enumerate() {
        let lower = portable_path::fold(&entry.path);
        if let Some(file) =
            portable_path::folders_above(&lower).find_map(|folder| first_at.get(folder))
        {
            collide(*file, index);
        }
    }
    for (first, (other, count)) in collisions {
        let side = |index: usize| Side {
            path: plan.display_path(&entries[index].path),
            owner: &entries[index].owner,
        };
        let subject = entries[other].subject.clone();
        findings.push(refusal::collision(
            &side(first),
            &side(other),
            count,
            subject,
        ));
    }
    for index in refused {
        entries[index].outcome = FileOutcome::Refused;
    }
}

/// Refuses a file that a cluster of another shard has written and, as far as this shard knows, still renders.
fn refuse_elsewhere(
    plan: &Plan,
    keeps: &Keeps,
    entries: &mut [Entry],
    findings: &mut Vec<Finding>,
) {
    for entry in entries {
        let owned = plan.record.files.get(&entry.path);
        let Some(owned) = owned.filter(|owned| keeps.renders_elsewhere(&owned.owner)) else {
            continue;
        };
        let side = |owner| Side {
            path: plan.display_path(&entry.path),
            owner,
        };
        let subject = entry.subject.clone();
        let (this, other) = (side(&*entry.owner), side(&*owned.owner));
        findings.push(refusal::collision(&other, &this, 1, subject));
        entry.outcome = FileOutcome::Refused;
    }
}

/// Owned files that are no longer rendered.
struct Pruned {
    /// The deletions of those that exist.
    changes: Vec<FileChange>,
    /// All of them: no longer owned.
    gone: HashSet<String>,
    /// Those whose folders may have become empty.
    left: Vec<String>,
}

fn prune(
    plan: &Plan,
    entries: &[Entry],
    keeps: &Keeps,
    findings: &mut Vec<Finding>,
) -> Result<Pruned, Error> {
    let rendered: HashSet<&str> = entries.iter().map(|entry| &*entry.path).collect();
    let unclaimed: Vec<(&String, &Owned)> = plan
        .record
        .files
        .iter()
        .filter(|(path, owned)| !rendered.contains(&***path) && !keeps.keeps(&owned.owner))
        .collect();
    let inspected: Vec<(bool, Option<FileChange>)> = unclaimed
        .par_iter()
        .with_min_len(64)
        .map_init(
            || walk(&plan.folder, &plan.root),
            |walk, (path, owned)| match walk {
                Ok(walk) => plan_deletion(plan, walk, path, owned),
                // The error is produced again: it cannot be cloned.
                Err(_) => plan_deletion(
                    plan,
                    &mut super::plan::walk(&plan.folder, &plan.root)?,
                    path,
                    owned,
                ),
            },
        )
        .collect::<Result<_, Error>>()?;
    let mut pruned = Pruned {
        changes: Vec::new(),
        gone: HashSet::new(),
        left: Vec::new(),
    };
    for ((path, _), (inside, change)) in unclaimed.into_iter().zip(inspected) {
        let is_edited = |change: &FileChange| change.origin == Origin::Edited;
        if plan.options.foreign == Foreign::Refuse && change.as_ref().is_some_and(is_edited) {
            findings.push(refusal::manual_edit(
                &plan.display_path(path),
                Subject::default(),
            ));
            continue;
        }
        pruned.gone.insert(path.clone());
        pruned.left.extend(inside.then(|| path.clone()));
        pruned.changes.extend(change);
    }
    Ok(pruned)
}

/// The deletion of an owned file, and whether its folder is ours to remove. A link or folder that replaced the file is not
/// ours and is kept.
fn plan_deletion(
    plan: &Plan,
    walk: &mut Walk<'_>,
    path: &str,
    owned: &Owned,
) -> Result<(bool, Option<FileChange>), Error> {
    match walk.inspect(path).map_err(plan.unreadable(path))? {
        PathState::Nothing => Ok((true, None)),
        PathState::File(_) => {
            let old = plan.present(walk, path)?;
            let seen = old.as_deref().map(ownership::sum);
            let change = FileChange {
                path: path.to_owned(),
                kind: ChangeKind::Deleted,
                origin: origin(&owned.sums, seen.as_ref()),
                seen,
                old: plan.old_text(old),
                new: None,
            };
            Ok((true, Some(change)))
        }
        _ => Ok((false, None)),
    }
}

/// Refuses a file whose path is blocked, unless the same run prunes what blocks it. Returns the folders to remove for the
/// others.
fn refuse_blocked(
    plan: &Plan,
    pruned: &[FileChange],
    entries: &mut [Entry],
    findings: &mut Vec<Finding>,
) -> Result<Vec<String>, Error> {
    let mut folders = Vec::new();
    let mut walk = walk(&plan.folder, &plan.root)?;
    let deleted: HashSet<&str> = pruned.iter().map(|change| &*change.path).collect();
    for entry in entries {
        let FileOutcome::Blocked(_, obstacle) = &entry.outcome else {
            continue;
        };
        let mut inside = Vec::new();
        let foreign = if *obstacle == entry.path {
            foreign_inside(plan, &mut walk, obstacle, &deleted, &mut inside)?
        } else {
            Some(obstacle.clone()).filter(|file| !deleted.contains(&**file))
        };
        if let Some(foreign) = foreign {
            let (shown, foreign) = (plan.display_path(&entry.path), plan.display_path(&foreign));
            let subject = entry.subject.clone();
            findings.push(refusal::obstacle(&shown, &foreign, subject));
            entry.outcome = FileOutcome::Refused;
        } else {
            folders.extend(inside);
        }
    }
    Ok(folders)
}

/// Something in a folder that this run does not delete. An empty folder belongs to nobody, and the staged files of a killed run
/// are removed. The folder and its subfolders are added to `folders`.
fn foreign_inside(
    plan: &Plan,
    walk: &mut Walk<'_>,
    folder: &str,
    deleted: &HashSet<&str>,
    folders: &mut Vec<String>,
) -> Result<Option<String>, Error> {
    folders.push(folder.to_owned());
    let is_here =
        |path: &String| matches!(path.rsplit_once('/'), Some((here, _)) if here == folder);
    let is_swept = plan.unfinished && plan.record.files.keys().any(is_here);
    for (name, state) in walk.list(folder).map_err(plan.unreadable(folder))? {
        if is_swept && name.starts_with(STAGED) {
            continue;
        }
        let path = format!("{folder}/{name}");
        let foreign = match state {
            PathState::Folder => foreign_inside(plan, walk, &path, deleted, folders)?,
            _ => Some(path).filter(|path| !deleted.contains(&**path)),
        };
        if foreign.is_some() {
            return Ok(foreign);
        }
    }
    Ok(None)
}

/// What is owned afterwards. For a refused file nothing changes.
fn next_record(before: &Record, entries: &[Entry], gone: &HashSet<String>) -> Record {
    let mut files = before.files.clone();
    files.retain(|path, _| !gone.contains(path));
    for entry in entries {
        if matches!(entry.outcome, FileOutcome::Refused) {
            continue;
        }
        let owned = Owned {
            sums: vec![entry.sum],
            owner: ownership::plain(&entry.owner).into(),
        };
        files.insert(entry.path.clone(), owned);
    }
    Record { files }
}

/// The folders above pruned files that contain nothing owned, and those that block new files; deepest first.
fn folders_to_remove(left: &[String], in_the_way: &[String], after: &Record) -> Vec<String> {
    let mut folders: BTreeSet<&str> = left
        .iter()
        .flat_map(|path| portable_path::folders_above(path))
        .collect();
    if !folders.is_empty() {
        for path in after.files.keys() {
            for folder in portable_path::folders_above(path) {
                folders.remove(folder);
            }
        }
    }
    folders.extend(in_the_way.iter().map(|folder| &**folder));
    // A folder sorts before its content.
    folders.into_iter().rev().map(str::to_owned).collect()
}

/// The owners, normalized as in the ownership file.
fn as_recorded(keeps: &Keeps) -> Keeps {
    let plain = |owners: &BTreeSet<Arc<str>>| {
        let owners = owners.iter().map(|owner| ownership::plain(owner).into());
        owners.collect()
    };
    match keeps {
        Keeps::Nobody => Keeps::Nobody,
        Keeps::These(owners) => Keeps::These(plain(owners)),
        Keeps::AllBut(owners) => Keeps::AllBut(plain(owners)),
        Keeps::OtherShards {
            shard,
            these,
            clusters,
        } => Keeps::OtherShards {
            shard: *shard,
            these: plain(these),
            clusters: plain(clusters),
        },
    }
}
