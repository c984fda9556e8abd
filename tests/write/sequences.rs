//! Random sequences of runs, kills, and what other people do to an output folder: after each run the folder is exactly what
//! [`super::model`] says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use metalmark::model::manifest::{ChangeKind, Keeps, ManifestFile};
use metalmark::model::old_list::OLD_LIST;
use metalmark::model::part::Part;
use metalmark::model::rule::RuleId;
use metalmark::output::{self, Foreign, Options};
use tempfile::TempDir;

use crate::support::rounds;
use crate::support::seen::Seen;

use super::model::{self, Disk, Expected, Item, Listed, Run};
use super::steps::{Step, a_step};
use super::{ManifestTree, plan_tree};

/// What must have taken place, or the sequences prove little.
const SEEN: [&str; 12] = [
    "a kill",
    "litter",
    "a list that goes",
    "a list that stays",
    "created",
    "updated",
    "adopted",
    "deleted",
    RuleId::FileNotOwned.as_str(),
    RuleId::OutputSymlink.as_str(),
    RuleId::OutputPathCollision.as_str(),
    RuleId::OutputPathIllegal.as_str(),
];

/// A folder `out`, and beside it one that is nobody's business.
struct World<'s> {
    scratch: TempDir,
    root: PathBuf,
    seen: &'s Seen,
}

impl<'s> World<'s> {
    fn new(seen: &'s Seen) -> Self {
        let scratch = TempDir::new().expect("a folder");
        let outside = scratch.path().join("outside");
        fs::create_dir_all(outside.join("b")).expect("made");
        for name in ["d", ".metalmark-tmp-x"] {
            fs::write(outside.join(name), "theirs").expect("written");
        }
        Self {
            root: scratch.path().join("out"),
            scratch,
            seen,
        }
    }

    fn step(&self, step: &Step) {
        let at = |path: &str| self.root.join(path);
        match step {
            Step::Run {
                tree,
                adopts,
                kept,
                kill,
            } => {
                let is_looked_at = |file: &&(String, String)| {
                    !kept.iter().any(|owner| owner == model::owner(&file.0))
                };
                let tree: Vec<_> = tree.iter().filter(is_looked_at).cloned().collect();
                let run = Run {
                    tree: &tree,
                    adopts: *adopts,
                    kept,
                };
                self.run(&run, *kill);
            }
            Step::Put(path, text) if self.cleared(path) => {
                fs::write(at(path), text).expect("written")
            }
            Step::Folder(path) if self.cleared(path) => fs::create_dir(at(path)).expect("made"),
            Step::Link(path, to) if self.cleared(path) => symlink(to, at(path)).expect("linked"),
            Step::Remove(path) => drop(self.cleared(path)),
            Step::Claim(path, owner, text) if self.cleared(path) => {
                fs::write(at(path), model::rendered(owner, text)).expect("written")
            }
            Step::List(paths, is_true) => self.list(paths, *is_true),
            _ => {}
        }
    }

    /// Takes away what is at a path, and makes the folders above it; not where something else is in the way.
    fn cleared(&self, path: &str) -> bool {
        let path = self.root.join(path);
        let folder = path.parent().expect("a folder");
        let is_free =
            |folder: &Path| fs::symlink_metadata(folder).map_or(true, |found| found.is_dir());
        let is_below = folder
            .ancestors()
            .take_while(|folder| folder.starts_with(&self.root))
            .all(is_free);
        if !is_below {
            return false;
        }
        fs::create_dir_all(folder).expect("made");
        remove(&path);
        true
    }

    /// Writes a list of an earlier version: with the digests that files have, or with others.
    fn list(&self, paths: &[&str], is_true: bool) {
        fs::create_dir_all(&self.root).expect("made");
        let line = |path: &&str| {
            let text = fs::read(self.root.join(path)).unwrap_or_default();
            let text = if is_true { &*text } else { b"other" };
            let digest = oci_artifacts::Digest::compute(text);
            format!("{path}\t{digest}\tt/{}\n", model::owner(path))
        };
        let text: String = paths.iter().map(line).collect();
        let forged = "../outside/d\tsha256:0\tt/z\n";
        fs::write(self.root.join(OLD_LIST), text + forged).expect("written");
    }

    /// What the list says of files that are as it says.
    fn listed(&self, disk: &Disk) -> Listed {
        let text = fs::read_to_string(self.root.join(OLD_LIST)).unwrap_or_default();
        let is_known = |path: &str, text: &str, digest: &str| {
            oci_artifacts::Digest::compute(text.as_bytes()).to_string() == digest
                && matches!(disk.get(path), Some(Item::File(_)))
        };
        let mut listed = Listed::new();
        for line in text.lines() {
            let parts: Vec<&str> = line.split('\t').collect();
            let text = match disk.get(parts[0]) {
                Some(Item::File(text)) if is_known(parts[0], text, parts[1]) => text.clone(),
                _ => "no file has this".to_owned(),
            };
            let owner = parts[2].trim_start_matches("t/").to_owned();
            if !parts[0].starts_with("..") {
                listed.insert(parts[0].to_owned(), (text, owner));
            }
        }
        listed
    }

    fn run(&self, run: &Run<'_>, kill: Option<usize>) {
        let old = disk(&self.root);
        let listed = self.listed(&old);
        let has_list = self.root.join(OLD_LIST).exists();
        let planned = plan_tree(&self.root, tree(run), options(run));
        let changes = planned.expect("the folder can be read");
        let expected = model::run(&old, &listed, run);
        self.look(&old, &expected);
        let mut found: BTreeMap<_, _> = { changes.changes.iter() }
            .map(|change| (change.path.clone(), (change.kind, change.is_adopted)))
            .collect();
        let is_list_gone = found.remove(OLD_LIST).is_some();
        assert_eq!(is_list_gone, has_list && !expected.is_list_needed);
        self.seen.note_if(is_list_gone, "a list that goes");
        self.seen
            .note_if(has_list && !is_list_gone, "a list that stays");
        assert_eq!(found, expected.changes);
        let is_rendered = |path: &&String| run.tree.iter().any(|(rendered, _)| rendered == *path);
        let refused = expected.refused.keys().filter(is_rendered).count();
        assert_eq!(changes.refused, refused);
        assert_eq!(changes.rendered, run.tree.len());
        let rules: BTreeSet<RuleId> = changes
            .findings
            .iter()
            // Warnings refuse nothing.
            .filter(|finding| finding.unless_set.is_none())
            .map(|finding| finding.rule)
            .collect();
        let refused: BTreeSet<RuleId> = expected.refused.values().copied().collect();
        assert!(rules.is_superset(&refused), "{rules:?} {refused:?}");
        assert_eq!(rules.is_empty(), refused.is_empty());

        let phases = output::phases(&changes);
        let steps: Vec<_> = phases.iter().flatten().collect();
        match kill {
            Some(kill) if !steps.is_empty() => {
                let kill = kill % steps.len();
                // What comes before the first step.
                fs::create_dir_all(&self.root).expect("made");
                steps[..kill]
                    .iter()
                    .for_each(|step| step.run().expect("the folder can be written"));
                self.seen.note("a kill");
                let left = disk(&self.root);
                self.assert_whole(&old, &expected, &left);
            }
            _ => {
                drop(phases);
                output::apply(&changes).expect("the folder can be written");
                assert_eq!(disk(&self.root), expected.disk);
                let again =
                    plan_tree(&self.root, tree(run), options(run)).expect("the folder can be read");
                assert!(!again.drift(), "{:?}", again.changes);
            }
        }
    }

    /// A killed run: each file is whole, old or new; nothing is deleted that could stay until everything new is written.
    fn assert_whole(&self, old: &Disk, expected: &Expected, left: &Disk) {
        let new = &expected.disk;
        let paths: BTreeSet<&String> = old.keys().chain(new.keys()).chain(left.keys()).collect();
        for path in paths.into_iter().filter(|path| !model::is_staged(path)) {
            let (was, will, is) = (old.get(path), new.get(path), left.get(path));
            let is_file = |item: Option<&Item>| matches!(item, Some(Item::File(_)));
            let is_whole =
                is == was || is == will || (is.is_none() && !(is_file(was) && is_file(will)));
            assert!(
                is_whole && (was != will || is == was || was == Some(&Item::Folder)),
                "`{path}`: {was:?}, {will:?}, found {is:?}"
            );
        }
        let is_written = |path: &String| left.get(path) == new.get(path);
        let written = expected
            .changes
            .keys()
            .filter(|path| new.contains_key(*path));
        let is_in_the_way = |path: &str| {
            let mut written = written.clone();
            written.any(|new| {
                new.starts_with(&format!("{path}/")) || path.starts_with(&format!("{new}/"))
            })
        };
        let mut deleted = expected
            .changes
            .keys()
            .filter(|path| !new.contains_key(*path));
        if deleted.any(|path| !left.contains_key(path) && !is_in_the_way(path)) {
            assert!(
                written.clone().all(is_written),
                "deleted before all is written: {left:?}"
            );
        }
    }

    fn look(&self, old: &Disk, expected: &Expected) {
        for rule in expected.refused.values() {
            self.seen.note(rule.as_str());
        }
        for (kind, is_adopted) in expected.changes.values() {
            self.seen.note(match (kind, is_adopted) {
                (ChangeKind::Created, _) => "created",
                (ChangeKind::Updated, false) => "updated",
                (ChangeKind::Updated, true) => "adopted",
                (ChangeKind::Deleted, _) => "deleted",
            });
        }
        let is_litter = |path: &String| model::is_litter(path, old);
        self.seen.note_if(old.keys().any(is_litter), "litter");
    }
}

fn tree(run: &Run<'_>) -> ManifestTree {
    let file = |(path, text): &(String, String)| {
        ManifestFile::new(&**path, text, format!("t/{}", model::owner(path)))
    };
    let kept = || run.kept.iter().map(|owner| owner.as_str().into());
    let letters = ('a'..='z')
        .map(String::from)
        .chain(["gone".to_owned(), ".".to_owned()]);
    let looked_at = letters.filter(|letter| !run.kept.contains(letter));
    ManifestTree {
        files: run.tree.iter().map(file).collect(),
        keeps: Keeps {
            part: match run.kept {
                [] => Part::Whole,
                _ => Part::Named(looked_at.map(Into::into).collect()),
            },
            clusters: kept().collect(),
            ..Keeps::default()
        },
    }
}

fn options(run: &Run<'_>) -> Options {
    Options {
        foreign: Foreign::from_flag(run.adopts),
        ..Options::default()
    }
}

/// Everything below a folder but the list of an earlier version.
fn disk(folder: &Path) -> Disk {
    if !folder.exists() {
        return Disk::new();
    }
    let entries = walkdir::WalkDir::new(folder).min_depth(1);
    let entries = entries.into_iter().map(|entry| entry.expect("readable"));
    entries
        .filter(|entry| entry.file_name() != OLD_LIST)
        .map(|entry| {
            let path = entry.path().strip_prefix(folder).expect("below the folder");
            let item = match entry.file_type() {
                kind if kind.is_dir() => Item::Folder,
                kind if kind.is_symlink() => Item::Link,
                _ => Item::File(fs::read_to_string(entry.path()).expect("text")),
            };
            (path.to_string_lossy().into_owned(), item)
        })
        .collect()
}

fn remove(path: &Path) {
    let _ = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        _ => fs::remove_file(path),
    };
}

#[test]
fn after_any_sequence_a_folder_is_what_the_page_on_ownership_says() {
    let seen = Seen::new(&SEEN);
    let steps = proptest::collection::vec(a_step(), 2..10);
    seen.property(rounds(300, 2000), 3, &steps, |steps| {
        let world = World::new(&seen);
        let outside = disk(&world.scratch.path().join("outside"));
        steps.iter().for_each(|step| world.step(step));
        assert_eq!(disk(&world.scratch.path().join("outside")), outside);
    });
}
