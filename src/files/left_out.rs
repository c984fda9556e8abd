//! What git has and the work tree lacks on purpose: files that a sparse checkout leaves out, those that git does not look at
//! (`--assume-unchanged`), and submodules that nobody has initialized. Such a path is not known, which is another thing than gone. It is read from git's index
//! (<https://git-scm.com/docs/index-format>) here, so that no program runs, and none is needed.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use memchr::memmem;
use parking_lot::Mutex;

use super::git::path;
use super::{git_folder, repository_top};
use crate::error::Error;

/// What lies at a path that is left out, and which of them somebody looked for.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// Files and folders, with links resolved. All in such a folder is left out.
    paths: BTreeSet<PathBuf>,
    missed: Mutex<BTreeSet<PathBuf>>,
}

impl LeftOut {
    /// That of the work tree that a folder is in.
    ///
    /// # Errors
    /// Git's index cannot be read.
    pub(super) fn from_work_tree(folder: &Path) -> Result<Self, Error> {
        let (Some(top), Some(git)) = (repository_top(folder), git_folder(folder)) else {
            return Ok(Self::default());
        };
        let index = git.join("index");
        let entries = read_entries(&git).map_err(Error::reading(&index))?;
        if entries.is_none() && has_commit(&git) {
            return Err(Error::reading(&index)(io::Error::other(UNFINISHED)));
        }
        let mut paths = BTreeSet::new();
        for entry in entries.unwrap_or_default() {
            let at = top.join(path(&entry.path));
            let is_lacking = match entry.mode {
                SUBMODULE => {
                    if at.join(".git").exists() {
                        paths.extend(Self::from_work_tree(&at)?.paths);
                    }
                    fs::read_dir(&at).map_or(true, |mut inside| inside.next().is_none())
                }
                _ => entry.is_skipped && at.symlink_metadata().is_err(),
            };
            if is_lacking {
                paths.insert(at);
            }
        }
        Ok(Self {
            paths,
            missed: Mutex::default(),
        })
    }

    /// Whether a path is left out, or in a folder that is; which is noted.
    pub(super) fn has(&self, path: &Path) -> bool {
        let path = self.resolve(path);
        let Some(found) = path.ancestors().find(|above| self.paths.contains(*above)) else {
            return false;
        };
        self.missed.lock().insert(found.to_owned());
        true
    }

    /// A path with its links resolved, also those that lead to what is left out.
    fn resolve(&self, path: &Path) -> PathBuf {
        let (mut done, mut links) = (PathBuf::new(), 0);
        let mut todo: VecDeque<OsString> = path.iter().map(OsString::from).collect();
        while let Some(part) = todo.pop_front() {
            if part == ".." {
                done.pop();
                continue;
            }
            done.push(part);
            if !self.paths.is_empty()
                && links < MOST_LINKS
                && let Ok(target) = fs::read_link(&done)
            {
                links += 1;
                done.pop();
                for part in target.iter().rev() {
                    todo.push_front(part.into());
                }
            }
        }
        done
    }

    /// What is left out below a folder.
    fn paths_below<'a>(&'a self, folder: &'a Path) -> impl Iterator<Item = &'a Path> {
        let from = self.paths.range(folder.to_owned()..);
        let below = from.map(move |path| path.strip_prefix(folder));
        let below = below.map_while(Result::ok);
        below.filter(|path| !path.as_os_str().is_empty())
    }

    /// Whether a folder would be there if nothing were left out.
    pub(super) fn is_folder(&self, folder: &Path) -> bool {
        self.paths_below(&self.resolve(folder)).next().is_some()
    }

    /// The names that a folder lacks.
    pub(super) fn names(&self, folder: &Path) -> BTreeSet<String> {
        let folder = self.resolve(folder);
        let first = self
            .paths_below(&folder)
            .filter_map(|path| path.iter().next());
        first
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    }

    /// Notes that all below a folder that may be YAML was looked for.
    pub(super) fn look_below(&self, folder: &Path) {
        let is_other = |path: &Path| {
            let extension = path.extension();
            extension.is_some_and(|end| end != "yaml" && end != "yml" && end != "json")
        };
        let folder = self.resolve(folder);
        let below = self.paths_below(&folder).filter(|path| !is_other(path));
        let below = below.map(|path| folder.join(path));
        self.missed.lock().extend(below);
    }

    /// What somebody looked for.
    pub(super) fn absent_paths(&self) -> Vec<PathBuf> {
        self.missed.lock().iter().cloned().collect()
    }
}

/// The files below a folder that git has in the index of the work tree that it is in, by their paths below the folder; none without git.
///
/// # Errors
/// Git's index cannot be read.
pub fn index_paths(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let (Some(top), Some(git)) = (repository_top(folder), git_folder(folder)) else {
        return Ok(Vec::new());
    };
    let index = git.join("index");
    let entries = read_entries(&git).map_err(Error::reading(&index))?;
    let folder = folder.canonicalize().map_err(Error::reading(folder))?;
    let entries = entries.into_iter().flatten();
    let below = entries.filter_map(|entry| {
        let at = top.join(path(&entry.path));
        Some(at.strip_prefix(&folder).ok()?.to_owned())
    });
    Ok(below.collect())
}

/// The entries of a work tree's index, if it has one.
///
/// # Errors
/// It cannot be read, or not all of it is known: of an index in two files, which entries of the first count is said in bits.
fn read_entries(git: &Path) -> io::Result<Option<Vec<Entry>>> {
    let index = match fs::read(git.join("index")) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read?,
    };
    let odd = || io::Error::other("it is not an index of git\nhelp: look at `git status`");
    let mut all = entries(&index).ok_or_else(odd)?;
    let mut is_split = false;
    for name in fs::read_dir(git)? {
        let name = name?.file_name();
        let id = name
            .to_str()
            .and_then(|name| name.strip_prefix("sharedindex."));
        let id = id.and_then(|id| HEXLOWER.decode(id.as_bytes()).ok());
        // Others were those of earlier indexes.
        if id.is_some_and(|id| memmem::find(&index, &id).is_some()) {
            all.extend(entries(&fs::read(git.join(name))?).ok_or_else(odd)?);
            is_split = true;
        }
    }
    if is_split && all.iter().any(|entry| entry.is_skipped) {
        return Err(io::Error::other(SPLIT));
    }
    Ok(Some(all))
}

/// Whether something is committed in a repository, given git's folder of it.
fn has_commit(git: &Path) -> bool {
    let read = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
    let head = read(git.join("HEAD"));
    let Some(name) = head.trim().strip_prefix("ref: ") else {
        return !head.trim().is_empty();
    };
    // Of a linked work tree, the branches are in the common folder.
    let common = git.join(read(git.join("commondir")).trim());
    common.join(name).is_file() || read(common.join("packed-refs")).contains(name)
}

const UNFINISHED: &str = "there is a commit and no index, as in a clone that was interrupted\n\
     help: `git reset`, and check out what is missing";

/// The most links on the way to a file, as for the system.
const MOST_LINKS: usize = 40;

const SPLIT: &str = "git keeps its index in two files, so metalmark does not know which files are not checked out\n\
     help: `git update-index --no-split-index`, and remove `.git/sharedindex.*`";

/// The bytes before the first entry: a mark, the version, and the number of entries.
const HEAD: usize = 12;

/// The bytes of an entry before the object's ID: times, places, the mode and others.
const STATUS: usize = 40;

const SUBMODULE: u32 = 0o160_000;

struct Entry {
    mode: u32,
    is_skipped: bool,
    path: Vec<u8>,
}

/// The entries of an index; none if it is no index. Its objects' IDs are of SHA-1 or of SHA-256, which it does not say.
fn entries(index: &[u8]) -> Option<Vec<Entry>> {
    [20, 32].into_iter().find_map(|id| entries_with(index, id))
}

fn entries_with(index: &[u8], id: usize) -> Option<Vec<Entry>> {
    const IS_LONG: u16 = 0x4000;
    const IS_SKIPPED: u16 = 0x4000;
    const IS_ASSUMED: u16 = 0x8000;
    let number = |at: usize| Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?));
    let short = |at: usize| Some(u16::from_be_bytes(index.get(at..at + 2)?.try_into().ok()?));
    let version = number(4).filter(|_| index.starts_with(b"DIRC"))?;
    let (mut at, mut path) = (HEAD, Vec::new());
    let mut entries = Vec::new();
    for _ in 0..number(8)? {
        let start = at;
        let mode = number(at + 24)?;
        matches!(mode >> 12, 0o4 | 0o10 | 0o12 | 0o16).then_some(())?;
        at += STATUS + id;
        let flags = short(at)?;
        let is_long = flags & IS_LONG != 0;
        at += 2;
        let is_skipped = flags & IS_ASSUMED != 0 || is_long && short(at)? & IS_SKIPPED != 0;
        if is_long {
            at += 2;
        }
        if version == 4 {
            let shared = suffix_length(index, &mut at)?;
            path.truncate(path.len().checked_sub(shared)?);
        } else {
            path.clear();
        }
        let name = index.get(at..)?.split(|byte| *byte == 0).next()?;
        path.extend_from_slice(name);
        at += name.len() + 1;
        if version < 4 {
            at = start + (at - start).next_multiple_of(8);
        }
        entries.push(Entry {
            mode,
            is_skipped,
            path: path.strip_suffix(b"/").unwrap_or(&path).to_owned(),
        });
    }
    Some(entries)
}

/// How many bytes at the end of the last path are not in the next one: a number of any length, as in packs.
fn suffix_length(index: &[u8], at: &mut usize) -> Option<usize> {
    let mut value = 0_usize;
    loop {
        let byte = *index.get(*at)?;
        *at += 1;
        value = value
            .checked_mul(128)?
            .checked_add(usize::from(byte & 127))?;
        if byte & 128 == 0 {
            return Some(value);
        }
        value = value.checked_add(1)?;
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{LeftOut, suffix_length};

    #[test]
    fn a_number_of_several_bytes_counts_each_from_one() {
        for (bytes, value) in [
            (&[5][..], Some(5)),
            (&[0x80, 0], Some(128)),
            (&[0x81, 2], Some(258)),
            (&[0x80], None),
            (&[0xff; 12], None),
        ] {
            assert_eq!(suffix_length(bytes, &mut 0), value, "{bytes:?}");
        }
    }

    #[test]
    fn what_may_be_yaml_in_a_folder_is_missed() {
        let names = ["a.yaml", "b.yml", "c.json", "d", "e.txt"];
        let left_out = LeftOut {
            paths: names.map(|name| Path::new("/x").join(name)).into(),
            ..LeftOut::default()
        };
        left_out.look_below(Path::new("/x"));
        let missed = left_out.absent_paths();
        let missed: Vec<_> = missed.iter().filter_map(|path| path.to_str()).collect();
        assert_eq!(missed, ["/x/a.yaml", "/x/b.yml", "/x/c.json", "/x/d"]);
    }
}
