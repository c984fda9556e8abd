//! Random sequences of runs, kills, and what other people do to an output folder: after each run the folder is exactly what
//! [`super::model`] says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use metalmark::error::Error;
use metalmark::model::manifest::{
    ChangeKind, Keeps, ManifestFile, ManifestTree, OWNERSHIP_FILE, Origin, STAGED,
};
use metalmark::model::rule::RuleId;
use metalmark::output::{self, Foreign, Options};
use tempfile::TempDir;

use crate::support::rounds;
use crate::support::seen::Seen;

use super::model::{self, Disk, Expected, Item, Listed, Run};
use super::steps::{Damage, Step, a_step};

/// What must have taken place, or the sequences prove little.
const SEEN: [&str; 13] = [
    "a kill",
    "litter",
    "an unreadable record",
    "created",
    "updated",
    "edited",
    "adopted",
    "deleted",
    "deleted, edited",
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
        fs::write(outside.join("list"), line("d", "theirs")).expect("written");
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
                let run = Run {
                    tree,
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
            Step::Record(damage) => self.damage(damage),
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

    fn damage(&self, damage: &Damage) {
        let record = self.root.join(OWNERSHIP_FILE);
        fs::create_dir_all(&self.root).expect("made");
        let text = fs::read_to_string(&record).unwrap_or_default();
        let put = |text: &str| {
            remove(&record);
            fs::write(&record, text).expect("written");
        };
        match damage {
            Damage::Cut(length) => put(&text[..text.len().min(*length)]),
            Damage::Torn => {
                fs::write(self.root.join(format!("{STAGED}owned")), "half").expect("written")
            }
            Damage::Conflict => put(&format!(
                "<<<<<<< HEAD\n{text}=======\n{}{text}>>>>>>> main\n",
                line("g", "x")
            )),
            Damage::Forged(path) => put(&format!("{text}{}", line(path, "theirs"))),
            Damage::Gone => remove(&record),
            Damage::Link => {
                remove(&record);
                symlink("../outside/list", &record).expect("linked");
            }
            Damage::Folder => {
                remove(&record);
                fs::create_dir(&record).expect("made");
            }
            Damage::NoText => {
                remove(&record);
                fs::write(&record, b"\xff").expect("written");
            }
        }
    }

    fn run(&self, run: &Run<'_>, kill: Option<usize>) {
        let (old, record) = (disk(&self.root), record(&self.root));
        let planned = output::plan(&self.root, tree(run), options(run));
        let Ok(record) = record else {
            let answer = planned.and_then(|changes| output::apply(&changes));
            assert!(matches!(answer, Err(Error::Read { .. })), "{answer:?}");
            assert_eq!(disk(&self.root), old, "refused, and changed");
            self.seen.note("an unreadable record");
            return remove(&self.root.join(OWNERSHIP_FILE));
        };
        let changes = planned.expect("the folder can be read");
        let listed = model::listed(&record);
        let torn = format!("{STAGED}owned");
        let is_unfinished = record.contains("\n# unfinished") || old.contains_key(&torn);
        let expected = model::run(&old, &listed, is_unfinished, run);
        self.look(&old, &listed, &expected);
        let found = changes
            .changes
            .iter()
            .map(|change| (change.path.clone(), (change.kind, change.origin)));
        assert_eq!(found.collect::<BTreeMap<_, _>>(), expected.changes);
        let is_rendered = |path: &&String| run.tree.iter().any(|(rendered, _)| rendered == *path);
        let refused = expected.refused.keys().filter(is_rendered).count();
        assert_eq!(changes.refused, refused);
        assert_eq!(changes.rendered, run.tree.len());
        let rules: BTreeSet<RuleId> = changes
            .findings
            .iter()
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
                self.assert_whole(&old, &listed, &expected, &left);
            }
            _ => {
                drop(phases);
                output::apply(&changes).expect("the folder can be written");
                let after = disk(&self.root);
                let without = |disk: &Disk| {
                    disk.clone()
                        .into_iter()
                        .filter(|(path, _)| !is_numbered(path))
                        .collect::<Disk>()
                };
                assert_eq!(without(&after), without(&expected.disk));
                let litter =
                    |path: &&String| is_numbered(path) && !expected.disk.contains_key(*path);
                assert_eq!(after.keys().find(litter), None);
                self.assert_listed(&expected.listed);
                let again = output::plan(&self.root, tree(run), options(run))
                    .expect("the folder can be read");
                assert!(!again.drift(), "{:?}", again.changes);
            }
        }
    }

    /// The ownership file lists these files and nothing else, sorted.
    fn assert_listed(&self, expected: &Listed) {
        match fs::read_to_string(self.root.join(OWNERSHIP_FILE)) {
            Ok(text) => {
                let (comment, lines) = text.split_once('\n').expect("lines");
                assert!(comment.starts_with("# Files that metalmark owns"));
                let mut lines: Vec<&str> = lines.lines().collect();
                assert!(lines.is_sorted_by_key(|line| line.split('\t').next()));
                // A file of a killed run that is kept has two.
                lines.sort_unstable();
                assert_eq!(lines, model::lines(expected));
                assert!(text.ends_with('\n') && !expected.is_empty());
            }
            Err(_) => assert_eq!(expected, &Listed::new()),
        }
    }

    /// A killed run: each file is whole, old or new; nothing is deleted that could stay until everything new is written; what
    /// is owned is listed.
    fn assert_whole(&self, old: &Disk, listed: &Listed, expected: &Expected, left: &Disk) {
        let new = &expected.disk;
        let paths: BTreeSet<&String> = old.keys().chain(new.keys()).chain(left.keys()).collect();
        let mut is_touched = false;
        for path in paths.into_iter().filter(|path| !model::is_staged(path)) {
            let (was, will, is) = (old.get(path), new.get(path), left.get(path));
            let is_file = |item: Option<&Item>| matches!(item, Some(Item::File(_)));
            let is_whole =
                is == was || is == will || (is.is_none() && !(is_file(was) && is_file(will)));
            assert!(
                is_whole && (was != will || is == was),
                "`{path}`: {was:?}, {will:?}, found {is:?}"
            );
            // An empty folder may go before the line of the last file in it.
            is_touched |= is != was && (is_file(was) || is_file(is));
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
        let record = record(&self.root).expect("readable");
        let found = model::listed(&record);
        let mut both = listed.clone();
        for (path, (sums, owner)) in &expected.listed {
            let line = both.entry(path.clone());
            let line = line.or_insert_with(|| (BTreeSet::new(), owner.clone()));
            line.0.extend(sums.iter().cloned());
        }
        let sums = |listed: &Listed| -> BTreeMap<String, BTreeSet<String>> {
            let lines = listed.iter();
            lines
                .map(|(path, (sums, _))| (path.clone(), sums.clone()))
                .collect()
        };
        if is_touched {
            let is_unfinished = record.contains("\n# unfinished");
            let wanted = if is_unfinished {
                &both
            } else {
                &expected.listed
            };
            assert_eq!(sums(&found), sums(wanted));
        }
        let is_new =
            |path: &&String| listed.contains_key(*path) || expected.listed.contains_key(*path);
        assert_eq!(found.keys().find(|path| !is_new(path)), None);
    }

    fn look(&self, old: &Disk, listed: &Listed, expected: &Expected) {
        for rule in expected.refused.values() {
            self.seen.note(rule.as_str());
        }
        for (kind, origin) in expected.changes.values() {
            self.seen.note(match (kind, origin) {
                (ChangeKind::Created, _) => "created",
                (ChangeKind::Updated, Origin::Run) => "updated",
                (ChangeKind::Updated, Origin::Edited) => "edited",
                (ChangeKind::Updated, Origin::Adopted) => "adopted",
                (ChangeKind::Deleted, Origin::Run) => "deleted",
                (ChangeKind::Deleted, _) => "deleted, edited",
            });
        }
        let is_litter = |path: &String| model::is_litter(path, old, listed);
        self.seen.note_if(old.keys().any(is_litter), "litter");
    }
}

/// A file that a run was writing, in whatever folder.
fn is_numbered(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.strip_prefix(STAGED)
        .is_some_and(|number| number.parse::<usize>().is_ok())
}

fn line(path: &str, text: &str) -> String {
    format!("{path}\tsha256:{}\tz\n", model::sum(text))
}

fn tree(run: &Run<'_>) -> ManifestTree {
    let file =
        |(path, text): &(String, String)| ManifestFile::new(&**path, &**text, model::owner(path));
    let kept = run.kept.iter().map(|owner| owner.as_str().into()).collect();
    ManifestTree {
        files: run.tree.iter().map(file).collect(),
        keeps: if run.kept.is_empty() {
            Keeps::Nobody
        } else {
            Keeps::These(kept)
        },
    }
}

fn options(run: &Run<'_>) -> Options {
    Options {
        foreign: Foreign::from_flag(run.adopts),
        ..Options::default()
    }
}

/// Everything below a folder but the ownership file.
fn disk(folder: &Path) -> Disk {
    if !folder.exists() {
        return Disk::new();
    }
    let entries = walkdir::WalkDir::new(folder).min_depth(1);
    let entries = entries.into_iter().map(|entry| entry.expect("readable"));
    entries
        .filter(|entry| entry.file_name() != OWNERSHIP_FILE)
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

/// The text of the ownership file; an error where there is something else.
fn record(root: &Path) -> Result<String, ()> {
    let path = root.join(OWNERSHIP_FILE);
    match fs::symlink_metadata(&path) {
        Ok(found) if found.is_file() => fs::read_to_string(&path).map_err(drop),
        Ok(_) => Err(()),
        Err(_) => Ok(String::new()),
    }
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
