//! Joins the parts of a plan: finds collisions, and files to delete.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use oci_artifacts::portable_path;
use rayon::prelude::{
    IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator, ParallelSlice,
};

use super::plan::{Entry, FileOutcome, Part, Plan, join, strip_folder, walk};
use super::refusal::{self, Side};
use crate::budget;
use crate::error::Error;
use crate::files::{PathState, Walk, index_paths};
use crate::model::finding::Finding;
use crate::model::manifest::{ChangeKind, ChangeSet, FileChange, Keeps, STAGED};
use crate::model::old_list::OLD_LIST;
use crate::model::ownership::{self, LONGEST_LINE, Owner};
use crate::model::settings::PROJECT_FILE_NAME;

impl Plan {
    /// Refuses a run of some clusters over what an earlier version rendered: half of each layout would be neither.
    pub fn refuse_old_lists(&self) -> Vec<Finding> {
        let lists = { self.old_lists.iter() }.map(|(folder, _)| join(folder, OLD_LIST));
        let findings = lists.map(|list| refusal::old_list(&self.display_path(&list)));
        findings.collect()
    }

    /// Joins the parts: finds collisions, and files to delete.
    pub fn finish(self, parts: Vec<Part>, keeps: &Keeps) -> Result<ChangeSet, Error> {
        let _work = budget::enter("the comparison of rendered files with the disk")?;
        let count = parts.iter().map(|part| part.entries.len()).sum();
        let (mut entries, mut findings) = (Vec::with_capacity(count), Vec::new());
        // Files with an illegal path have no entry.
        let mut unnamed = 0;
        for part in parts {
            unnamed += part.unnamed;
            entries.extend(part.entries);
            findings.extend(part.findings);
        }
        entries.sort_by(|a, b| (&a.path, &a.maker).cmp(&(&b.path, &b.maker)));
        refuse_collisions(&self, &mut entries, &mut findings);
        refuse_elsewhere(&self, keeps, &mut entries, &mut findings);
        refuse_inputs(&self, keeps, &entries, &mut findings)?;
        let mut found = search(&self, &entries)?;
        let mut changes = found.deletions(&self, &entries, keeps)?;
        findings.append(&mut found.findings);
        findings.extend(find_removed(&self, keeps)?);
        let in_the_way = refuse_blocked(&self, &changes, &mut entries, &mut findings)?;
        let folders = folders_to_remove(&changes, &found.litter, &in_the_way);
        let rendered = entries.len() + unnamed;
        let mut paths = Vec::with_capacity(entries.len());
        for entry in entries {
            match entry.outcome {
                FileOutcome::Refused => continue,
                FileOutcome::Same => {}
                FileOutcome::Change(change) | FileOutcome::Blocked(change, _) => {
                    changes.push(*change);
                }
            }
            paths.push(entry.path);
        }
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        findings.sort_by(|a, b| a.message.cmp(&b.message));
        let outputs = self.options.outputs.roots().into_iter();
        Ok(ChangeSet {
            outputs: outputs.map(str::to_owned).collect(),
            root: self.root,
            base: self.options.base,
            shown: self.options.shown,
            changes,
            rendered,
            refused: rendered - paths.len(),
            paths,
            folders,
            litter: found.litter,
            findings,
        })
    }
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
            maker: &entries[index].maker,
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

/// Refuses a file that a cluster that this run does not render has written and, as far as it knows, still renders.
fn refuse_elsewhere(
    plan: &Plan,
    keeps: &Keeps,
    entries: &mut [Entry],
    findings: &mut Vec<Finding>,
) {
    for entry in entries {
        let elsewhere = |owner: &&Owner| keeps.renders_elsewhere(owner);
        let Some(owner) = entry.before.as_ref().filter(elsewhere) else {
            continue;
        };
        let other = match owner {
            Owner::Cluster(name) => name,
            Owner::All => "all clusters",
        };
        let side = |maker| Side {
            path: plan.display_path(&entry.path),
            maker,
        };
        let subject = entry.subject.clone();
        let (this, other) = (side(&*entry.maker), side(other));
        findings.push(refusal::collision(&other, &this, 1, subject));
        entry.outcome = FileOutcome::Refused;
    }
}

/// Refuses to go on where a file that the project takes for input says that it is rendered, and nothing renders it: it may be
/// somebody's values behind a copied line.
fn refuse_inputs(
    plan: &Plan,
    keeps: &Keeps,
    entries: &[Entry],
    findings: &mut Vec<Finding>,
) -> Result<(), Error> {
    let rendered: HashSet<&Path> = entries.iter().map(|entry| Path::new(&entry.path)).collect();
    for path in plan
        .options
        .inputs
        .iter()
        .filter(|path| !rendered.contains(&***path))
    {
        let path = path.to_string_lossy();
        // What another part of the fleet renders is not known here.
        let owned = find_owner(plan, &path)?;
        let owned = owned.filter(|owned| owned.other.is_none() && !keeps.keeps(&owned.owner));
        findings.extend(owned.map(|_| refusal::input(&plan.display_path(&path))));
    }
    Ok(())
}

/// What lies in the outputs' folders and is not rendered.
#[derive(Default)]
struct Found {
    files: Vec<String>,
    /// What a killed run was writing.
    litter: Vec<String>,
    /// What stays although nothing renders it.
    findings: Vec<Finding>,
}

/// Files that git has in other folders than the outputs', and that say that this project rendered them: what deploys them goes on
/// with what was rendered last. Only a run that answers for the whole fleet looks at every file.
fn find_removed(plan: &Plan, keeps: &Keeps) -> Result<Option<Finding>, Error> {
    let is_of_whole_fleet = keeps.part.has_shared() && !keeps.is_all;
    let Some(base) = plan.options.base.as_ref().filter(|_| is_of_whole_fleet) else {
        return Ok(None);
    };
    let roots = plan.options.outputs.roots();
    let tracked = index_paths(base)?;
    let is_project = |path: &&PathBuf| path.ends_with(PROJECT_FILE_NAME);
    let projects = { tracked.iter().filter(is_project) }.filter_map(|path| path.parent());
    let projects: HashSet<&Path> = projects.filter(|path| *path != Path::new("")).collect();
    let is_elsewhere = |path: &&PathBuf| {
        let is_known = |above: &Path| {
            projects.contains(above) || roots.iter().any(|root| Path::new(root) == above)
        };
        path.extension().is_some_and(|end| end == "yaml") && !path.ancestors().any(is_known)
    };
    let elsewhere: Vec<Cow<'_, str>> = { tracked.iter().filter(is_elsewhere) }
        .map(|path| path.to_string_lossy())
        .collect();
    let removed = elsewhere.par_chunks(256).map(|paths| {
        let mut walk = walk(&plan.folder, &plan.root)?;
        let mut removed = Vec::new();
        for path in paths {
            let found = pass_forbidden(is_ours(plan, &mut walk, path));
            if found.map_err(plan.unreadable(path))? {
                removed.push(plan.display_path(path));
            }
        }
        Ok(removed)
    });
    let mut shown = removed
        .collect::<Result<Vec<Vec<String>>, Error>>()?
        .concat();
    shown.sort();
    // Of a file in conflict, git has several.
    shown.dedup();
    Ok(refusal::lingering_output(&shown))
}

/// Whether there is a file at a path that says that this project rendered it.
fn is_ours(plan: &Plan, walk: &mut Walk<'_>, path: &str) -> io::Result<bool> {
    if !matches!(walk.inspect(path)?, PathState::File(_)) {
        return Ok(false);
    }
    let start = read_start(walk, path)?;
    Ok(Owner::from_start_of(&plan.options.project, &start).is_some())
}

/// The answer of [`is_ours`], where a file that may not be read is no reason to end the run: metalmark renders none.
fn pass_forbidden(found: io::Result<bool>) -> io::Result<bool> {
    match found {
        Err(cause) if cause.kind() == ErrorKind::PermissionDenied => Ok(false),
        found => found,
    }
}

/// What a file begins with: its first line.
fn read_start(walk: &mut Walk<'_>, path: &str) -> io::Result<Vec<u8>> {
    // One more than is read, so that nothing probes for the end in small steps.
    let mut start = Vec::with_capacity(LONGEST_LINE + 1);
    let file = walk.file(path)?;
    file.take(LONGEST_LINE as u64).read_to_end(&mut start)?;
    Ok(start)
}

fn search(plan: &Plan, entries: &[Entry]) -> Result<Found, Error> {
    let rendered: HashSet<&str> = entries.iter().map(|entry| &*entry.path).collect();
    let (mut found, mut walk) = (Found::default(), walk(&plan.folder, &plan.root)?);
    let mut searched: Vec<&str> = Vec::new();
    for folder in plan.options.outputs.roots() {
        if !searched
            .iter()
            .any(|above| strip_folder(folder, above).is_some())
        {
            found.search(plan, &mut walk, folder, &rendered)?;
            searched.push(folder);
        }
    }
    Ok(found)
}

impl Found {
    /// Searches a folder; not git's own, and not that of another project or work tree.
    fn search(
        &mut self,
        plan: &Plan,
        walk: &mut Walk<'_>,
        folder: &str,
        rendered: &HashSet<&str>,
    ) -> Result<(), Error> {
        let state = walk.inspect(folder).map_err(plan.unreadable(folder))?;
        if state != PathState::Folder {
            return Ok(());
        }
        let inside = walk.list(folder).map_err(plan.unreadable(folder))?;
        // An output's folder may be a work tree of its own.
        let is_output = plan.options.outputs.roots().contains(&folder);
        let is_other = |name: &str| match name {
            PROJECT_FILE_NAME => !folder.is_empty(),
            ".git" => !folder.is_empty() && !is_output,
            _ => false,
        };
        if let Some((name, _)) = inside.iter().find(|(name, _)| is_other(name)) {
            let is_ours = |path: &&str| strip_folder(path, folder).is_some();
            if name == PROJECT_FILE_NAME && rendered.iter().any(is_ours) {
                let shown = plan.display_path(&join(folder, name));
                self.findings.push(refusal::nesting(&shown));
            }
            return Ok(());
        }
        for (name, state) in inside {
            let path = join(folder, &name);
            match state {
                PathState::Folder if name != ".git" => self.search(plan, walk, &path, rendered)?,
                PathState::File(_) if name.starts_with(STAGED) => self.litter.push(path),
                PathState::File(_) if plan.options.inputs.contains(Path::new(&path)) => {}
                PathState::File(_) if !rendered.contains(&*path) => self.files.push(path),
                _ => {}
            }
        }
        Ok(())
    }

    /// The deletions of files whose owner is gone, or renders them no more; and of old lists that nothing needs.
    fn deletions(
        &mut self,
        plan: &Plan,
        entries: &[Entry],
        keeps: &Keeps,
    ) -> Result<Vec<FileChange>, Error> {
        let owned: Vec<(&String, Owned)> = self
            .files
            .par_iter()
            .with_min_len(64)
            .filter(|path| plan.options.outputs.holds(path.as_ref()))
            .map(|path| Ok(find_owner(plan, path)?.map(|owned| (path, owned))))
            .filter_map(Result::transpose)
            .collect::<Result<_, Error>>()?;
        let mut stale: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let owned = owned.into_iter().filter(|(path, owned)| {
            if let Some(other) = &owned.other {
                let files = stale.entry(other.clone()).or_default();
                files.push(plan.display_path(path));
            }
            owned.other.is_none()
        });
        let (kept, gone): (Vec<_>, Vec<_>) =
            owned.partition(|(_, owned)| keeps.keeps(&owned.owner));
        let is_refused = |entry: &&Entry| {
            entry.before.is_some() && matches!(entry.outcome, FileOutcome::Refused)
        };
        let refused = entries.iter().filter(is_refused).map(|entry| &*entry.path);
        // Anybody can write a list: by it alone nothing is deleted, and it stays as long as it names what is there.
        let listed = { kept.iter().chain(&gone) }
            .filter(|(_, owned)| owned.is_listed)
            .map(|(path, _)| &***path);
        let kept: HashSet<&str> = listed.chain(refused).collect();
        let old_lists = { plan.old_lists.iter() }
            .filter(|(folder, list)| !list.paths().any(|path| kept.contains(&*join(folder, path))))
            .map(|(folder, _)| join(folder, OLD_LIST));
        let listed = { gone.iter() }.filter(|(_, owned)| owned.is_listed);
        let listed: Vec<String> = listed.map(|(path, _)| plan.display_path(path)).collect();
        let gone = { gone.iter() }
            .filter(|(_, owned)| !owned.is_listed)
            .map(|(path, _)| (*path).clone());
        let mut walk = walk(&plan.folder, &plan.root)?;
        let mut findings = Vec::new();
        for (other, files) in stale {
            let is_there = walk.inspect(&other).map_err(plan.unreadable(&other))?;
            // What another project in this folder rendered is its own.
            if is_there == PathState::Nothing {
                let what = format!(
                    "says that `{other}` rendered it, but that project file does not exist"
                );
                findings.extend(refusal::stale(&files, &what));
            }
        }
        let what = format!(
            "is named by a list `{OLD_LIST}` of an earlier version, and nothing renders it"
        );
        findings.extend(refusal::stale(&listed, &what));
        let changes = gone
            .chain(old_lists)
            .map(|path| {
                let old = plan.present(&mut walk, &path)?;
                Ok(FileChange {
                    path,
                    kind: ChangeKind::Deleted,
                    seen: old.as_deref().map(ownership::sum),
                    old: plan.old_text(old),
                    new: None,
                    is_adopted: false,
                })
            })
            .collect();
        self.findings.append(&mut findings);
        changes
    }
}

/// Whose a file is that is not rendered.
struct Owned {
    owner: Owner,
    /// The project file that rendered it, where it is another one.
    other: Option<String>,
    /// Whether a list of an earlier version says so, and not the file.
    is_listed: bool,
}

fn find_owner(plan: &Plan, path: &str) -> Result<Option<Owned>, Error> {
    let mut walk = walk(&plan.folder, &plan.root)?;
    if !plan.old_lists.is_empty() {
        let bytes = plan.present(&mut walk, path)?.unwrap_or_default();
        return Ok(plan.owner(path, &bytes).map(|owner| Owned {
            owner,
            other: None,
            is_listed: Owner::from_start(&bytes).is_none(),
        }));
    }
    let start = read_start(&mut walk, path).map_err(plan.unreadable(path))?;
    Ok(Owner::from_start(&start).map(|owner| Owned {
        owner,
        other: Owner::other_project(&plan.options.project, &start),
        is_listed: false,
    }))
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
    for (name, state) in walk.list(folder).map_err(plan.unreadable(folder))? {
        if name.starts_with(STAGED) && matches!(state, PathState::File(_)) {
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

/// The folders above deleted files, which are removed if they are empty then, and those that block new files; deepest first.
fn folders_to_remove(
    deleted: &[FileChange],
    litter: &[String],
    in_the_way: &[String],
) -> Vec<String> {
    let paths = deleted.iter().map(|change| &change.path).chain(litter);
    let above = paths.flat_map(|path| portable_path::folders_above(path));
    let folders: BTreeSet<&str> = above
        .chain(in_the_way.iter().map(|folder| &**folder))
        .collect();
    // A folder sorts before its content.
    folders.into_iter().rev().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::pass_forbidden;

    /// The superuser may read every file, so that no test of the program can show it.
    #[test]
    fn a_file_that_may_not_be_read_ends_no_run() {
        let answer = |kind: ErrorKind| pass_forbidden(Err(kind.into())).map_err(|it| it.kind());
        assert_eq!(answer(ErrorKind::PermissionDenied), Ok(false));
        assert_eq!(answer(ErrorKind::InvalidData), Err(ErrorKind::InvalidData));
        assert!(pass_forbidden(Ok(true)).expect("an answer"));
    }
}
