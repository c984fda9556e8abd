//! The files of a commit, read from git's objects without a checkout.
//!
//! Symbolic links are followed within the commit. Submodules are read at the commit that they are pinned to, if they are
//! checked out. A file outside the repository, named on the command line, has no revisions: its current content is read.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::disk::LFS_POINTER;
use super::git::{self, Failure, Objects, Repository};
use super::{Below, Content, Disk, Files, Found, Scope, plain_path};
use crate::error::Error;

/// The most links that are followed for one path, as in Linux.
const LINKS: usize = 40;

/// How many bytes of contents are kept, so that git has to read them once: it answers one query after the other.
const KEPT: usize = 32 << 20;

/// The files of one commit, relative to a folder in it. Cloning is cheap.
#[derive(Clone)]
pub struct Revision {
    /// The full ID of the commit.
    pub commit: String,
    top: PathBuf,
    /// The folder's path in the repository, without a trailing slash.
    prefix: String,
    entries: Arc<BTreeMap<String, Entry>>,
    unnameable: Arc<BTreeMap<String, String>>,
    repositories: Arc<Vec<Mutex<Objects>>>,
    contents: Arc<Mutex<Contents>>,
    /// The files outside the repository.
    outside: Disk,
}

#[derive(Clone, Debug)]
enum Entry {
    File(Object),
    Link(Object),
    /// A submodule whose commit is not available.
    Submodule,
}

#[derive(Clone, Debug)]
struct Object {
    repository: usize,
    id: Box<str>,
}

/// What objects hold, by their ids: most files are read by several stages.
#[derive(Default)]
struct Contents {
    known: BTreeMap<Box<str>, Vec<u8>>,
    bytes: usize,
}

impl Contents {
    /// Keeps what an object holds, as long as there is room.
    fn keep(&mut self, id: &str, content: &[u8]) {
        if self.bytes + content.len() <= KEPT {
            self.bytes += content.len();
            self.known.insert(id.into(), content.to_owned());
        }
    }
}

/// What a path resolves to.
enum Target<'a> {
    File(String, &'a Object),
    Folder(String),
    Submodule(String),
    Nothing,
    /// A path on disk, outside the repository.
    Outside(PathBuf),
}

/// The files of a commit while they are listed.
struct Listing<'a> {
    top: &'a Path,
    entries: BTreeMap<String, Entry>,
    /// The folders that hold a folder or YAML file that no path of a project can name, and what it is called. As on disk, such a
    /// folder is not read: without what is in it, a cluster would be left out in silence.
    unnameable: BTreeMap<String, String>,
    repositories: Vec<Mutex<Objects>>,
}

impl Listing<'_> {
    /// Adds the files of a commit below a folder, with those of its submodules.
    fn add(&mut self, repository: &Repository, commit: &str, folder: &str) -> Result<(), Failure> {
        let listing = repository.listing(commit)?;
        let index = self.repositories.len();
        self.repositories.push(Mutex::new(repository.objects()?));
        for (words, path) in git::records(&listing) {
            let [mode, _, id] = words[..] else { continue };
            let Ok(path) = std::str::from_utf8(path) else {
                self.refuse(folder, path);
                continue;
            };
            let object = Object {
                repository: index,
                id: id.into(),
            };
            let path = format!("{folder}{path}");
            match mode {
                "160000" => self.submodule(path, id),
                "120000" => drop(self.entries.insert(path, Entry::Link(object))),
                _ => drop(self.entries.insert(path, Entry::File(object))),
            }
        }
        Ok(())
    }

    /// Remembers a path that is not UTF-8.
    fn refuse(&mut self, folder: &str, path: &[u8]) {
        let mut above = folder.trim_end_matches('/').to_owned();
        let mut names = path.split(|byte| *byte == b'/').peekable();
        while let Some(name) = names.next() {
            match std::str::from_utf8(name) {
                Ok(name) if above.is_empty() => above.push_str(name),
                Ok(name) => above = format!("{above}/{name}"),
                Err(_) => {
                    let is_yaml = name.ends_with(b".yaml") || name.ends_with(b".yml");
                    if is_yaml || names.peek().is_some() {
                        let shown = String::from_utf8_lossy(name).into_owned();
                        self.unnameable.insert(above, shown);
                    }
                    return;
                }
            }
        }
    }

    /// Adds a submodule's files at its commit, if it is checked out and has the commit.
    fn submodule(&mut self, path: String, commit: &str) {
        let folder = self.top.join(&path);
        let own =
            |repository: &Repository| repository.prefix.is_empty() && repository.top != self.top;
        let repository = folder
            .join(".git")
            .exists()
            .then(|| Repository::find(&folder));
        let repository = repository.and_then(Result::ok).filter(own);
        let added = repository
            .filter(|repository| repository.commit(commit).is_ok())
            .is_some_and(|repository| self.add(&repository, commit, &format!("{path}/")).is_ok());
        if !added {
            self.entries.insert(path, Entry::Submodule);
        }
    }
}

impl Revision {
    /// The files of a commit, relative to the folder that the repository was found from, with what a scope allows outside the
    /// repository.
    ///
    /// # Errors
    /// Git cannot read the commit.
    pub fn open(repository: &Repository, commit: &str, scope: Scope) -> Result<Self, Error> {
        let mut listing = Listing {
            top: &repository.top,
            entries: BTreeMap::new(),
            unnameable: BTreeMap::new(),
            repositories: Vec::new(),
        };
        listing
            .add(repository, commit, "")
            .map_err(|failure| git::git_error(failure, &repository.top))?;
        Ok(Self {
            outside: Disk::with_scope(&repository.top, scope)?,
            commit: commit.to_owned(),
            top: repository.top.clone(),
            prefix: repository.prefix.trim_end_matches('/').to_owned(),
            entries: Arc::new(listing.entries),
            unnameable: Arc::new(listing.unnameable),
            repositories: Arc::new(listing.repositories),
            contents: Arc::default(),
        })
    }

    /// The abbreviated ID of the commit.
    pub fn short(&self) -> &str {
        self.commit.get(..10).unwrap_or(&self.commit)
    }

    /// The folders of the commit that contain a file with this name.
    pub fn folders_with(&self, name: &str) -> Vec<String> {
        let folder = |path: &String| match path.rsplit_once('/') {
            Some((folder, last)) => (last == name).then(|| folder.to_owned()),
            None => (path == name).then(String::new),
        };
        self.entries.keys().filter_map(folder).collect()
    }

    /// The same files, relative to another folder of the commit.
    pub fn with_root(&self, folder: &str) -> Self {
        Self {
            prefix: folder.to_owned(),
            ..self.clone()
        }
    }

    fn prefix_parts(&self) -> impl Iterator<Item = String> {
        let parts = self.prefix.split('/').filter(|name| !name.is_empty());
        parts.map(str::to_owned)
    }

    /// Resolves a path that is relative to the folder.
    fn resolve(&self, path: &Path) -> Result<Target<'_>, Error> {
        let seen = self.relative_path(path);
        if seen.is_absolute() {
            return Ok(Target::Outside(seen));
        }
        let mut done: Vec<String> = self.prefix_parts().collect();
        let Some(mut todo) = parts(&seen) else {
            return Ok(Target::Nothing);
        };
        let mut links = 0;
        while let Some(part) = todo.pop_front() {
            if part == ".." {
                if done.pop().is_none() {
                    let rest: PathBuf = todo.iter().collect();
                    return Ok(Target::Outside(self.top.join("..").join(rest)));
                }
                continue;
            }
            done.push(part);
            let here = done.join("/");
            match self.entries.get(&here) {
                Some(Entry::File(object)) if todo.is_empty() => {
                    return Ok(Target::File(here, object));
                }
                Some(Entry::File(_)) => return Ok(Target::Nothing),
                Some(Entry::Submodule) => return Ok(Target::Submodule(here)),
                Some(Entry::Link(object)) => {
                    links += 1;
                    if links > LINKS {
                        return Ok(Target::Nothing);
                    }
                    let target = self.bytes(&here, object)?;
                    let target = git::path(&target);
                    if target.is_absolute() {
                        let rest: PathBuf = todo.iter().collect();
                        return Ok(Target::Outside(target.join(rest)));
                    }
                    done.pop();
                    let Some(mut first) = parts(&target) else {
                        return Ok(Target::Nothing);
                    };
                    first.append(&mut todo);
                    todo = first;
                }
                None if self.holds(&here) => {}
                None => return Ok(Target::Nothing),
            }
        }
        Ok(Target::Folder(done.join("/")))
    }

    /// Whether the commit contains this folder.
    fn holds(&self, folder: &str) -> bool {
        let start = format!("{folder}/");
        let next = self
            .entries
            .range::<str, _>((Bound::Included(&*start), Bound::Unbounded));
        next.take(1).any(|(path, _)| path.starts_with(&start))
    }

    /// The names directly below a folder of the commit.
    fn names(&self, folder: &str) -> Vec<String> {
        let start = match folder {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        let (mut names, mut from) = (Vec::new(), start.clone());
        loop {
            let mut rest = self
                .entries
                .range::<str, _>((Bound::Included(&*from), Bound::Unbounded));
            let Some(below) = rest.next().and_then(|(path, _)| path.strip_prefix(&start)) else {
                break;
            };
            from = match below.split_once('/') {
                // `0` is the character after the slash: this skips everything below the folder.
                Some((name, _)) => {
                    names.push(name.to_owned());
                    format!("{start}{name}0")
                }
                None => {
                    names.push(below.to_owned());
                    format!("{start}{below}\0")
                }
            };
        }
        names.sort();
        names.dedup();
        names
    }

    /// That each folder that is meant has names that a path of a project can have.
    fn require_names(&self, read: &str, is_meant: impl Fn(&String) -> bool) -> Result<(), Error> {
        let mut bad = self.unnameable.iter();
        match bad.find(|(folder, _)| is_meant(folder)) {
            None => Ok(()),
            Some((_, name)) => {
                let why = format!("the name of `{name}` in it is not UTF-8: rename it");
                Err(self.unreadable(if read.is_empty() { "." } else { read }, &why))
            }
        }
    }

    fn bytes(&self, path: &str, object: &Object) -> Result<Vec<u8>, Error> {
        if let Some(known) = self.contents.lock().known.get(&object.id) {
            return Ok(known.clone());
        }
        let objects = &self.repositories[object.repository];
        let mut objects = objects.lock();
        let content = objects.content(&object.id);
        drop(objects);
        let content = content.map_err(|cause| self.unreadable(path, &cause.to_string()))?;
        let content = content.ok_or_else(|| {
            self.unreadable(
                path,
                "this clone does not hold its content\nhelp: a partial clone gets it by `git fetch --refetch --no-filter`",
            )
        })?;
        if content.starts_with(LFS_POINTER) {
            return Err(Error::Pointer {
                path: path.into(),
                why: format!(
                    " at {}: git holds only the Git LFS pointer to it\n\
                     help: keep what metalmark reads out of LFS",
                    self.short()
                ),
            });
        }
        self.contents.lock().keep(&object.id, &content);
        Ok(content)
    }

    /// The content of the file that a path leads to.
    fn read_object(&self, path: &Path, real: String, object: &Object) -> Result<Content, Error> {
        let bytes = self.bytes(&real, object)?;
        // As on disk: without a link on the way, a path leads nowhere else.
        let seen = Path::new(&self.prefix).join(self.relative_path(path));
        let is_linkless = plain_path(&seen) == Path::new(&real);
        let leads_to = (!is_linkless).then(|| self.path_from_root(real));
        Ok(Content::new(bytes, leads_to))
    }

    /// A path in the repository, relative to the root if it is below it.
    fn path_from_root(&self, real: String) -> PathBuf {
        let real = PathBuf::from(real);
        let below = real.strip_prefix(&self.prefix).map(Path::to_owned);
        below.unwrap_or(real)
    }

    fn unreadable(&self, path: &str, why: &str) -> Error {
        let message = format!("cannot read `{path}` at {}: {why}", self.short());
        Error::Git { message }
    }

    fn submodule_error(&self, path: &Path, submodule: &str) -> Error {
        let why = format!(
            "it is in the submodule `{submodule}`, whose commit is not available\n\
             help: git submodule update --init {submodule}"
        );
        self.unreadable(&path.to_string_lossy(), &why)
    }

    fn is_below_folder(&self, path: &str) -> bool {
        match path.strip_prefix(&self.prefix) {
            Some(rest) => self.prefix.is_empty() || rest.is_empty() || rest.starts_with('/'),
            None => false,
        }
    }
}

impl Files for Revision {
    fn file(&self, path: &Path) -> Result<Found, Error> {
        Ok(match self.resolve(path)? {
            Target::File(real, _) if !self.is_below_folder(&real) => Found::Outside,
            Target::File(real, object) => Found::File(self.read_object(path, real, object)?),
            Target::Outside(_) => Found::Outside,
            Target::Submodule(submodule) => return Err(self.submodule_error(path, &submodule)),
            Target::Nothing | Target::Folder(_) => Found::Nothing,
        })
    }

    fn folder(&self, path: &Path) -> Result<Option<Vec<String>>, Error> {
        Ok(match self.resolve(path)? {
            Target::Folder(real) if self.is_below_folder(&real) => {
                self.require_names(&real, |folder| *folder == real)?;
                Some(self.names(&real))
            }
            Target::Outside(on_disk) if path.is_absolute() => self.outside.folder(&on_disk)?,
            Target::Submodule(submodule) => return Err(self.submodule_error(path, &submodule)),
            _ => None,
        })
    }

    fn content(&self, path: &Path) -> Result<Content, Error> {
        match self.resolve(path)? {
            Target::File(real, object) => self.read_object(path, real, object),
            Target::Outside(on_disk) => self.outside.content(&on_disk),
            Target::Submodule(submodule) => Err(self.submodule_error(path, &submodule)),
            Target::Nothing | Target::Folder(_) => {
                let shown = path.to_string_lossy().replace('\\', "/");
                Err(self.unreadable(&shown, "there is no such file in that commit"))
            }
        }
    }

    fn remotes(&self) -> Vec<String> {
        super::git::remotes(&self.top)
    }

    fn repository_files(&self, _root: &Path) -> Option<Arc<dyn Files>> {
        Some(Arc::new(self.with_root("")))
    }

    fn leads_to(&self, path: &Path) -> Option<PathBuf> {
        match self.resolve(path).ok()? {
            Target::File(real, _) => Some(self.path_from_root(real)),
            Target::Outside(on_disk) => Some(on_disk),
            _ => None,
        }
    }

    fn is_file(&self, path: &Path) -> bool {
        match self.resolve(path) {
            Ok(Target::File(..)) => true,
            Ok(Target::Outside(on_disk)) => self.outside.is_file(&on_disk),
            _ => false,
        }
    }

    fn is_folder(&self, path: &Path) -> bool {
        match self.resolve(path) {
            Ok(Target::Folder(_)) => true,
            Ok(Target::Outside(on_disk)) => self.outside.is_folder(&on_disk),
            _ => false,
        }
    }

    fn paths_named(&self, names: &[&str]) -> Vec<PathBuf> {
        let below = self.entries.keys().map(Path::new);
        let below = below.filter_map(|path| path.strip_prefix(&self.prefix).ok());
        let is_named = |path: &&Path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| names.contains(&name))
        };
        below.filter(is_named).map(Path::to_owned).collect()
    }

    fn list(&self, folder: &Path) -> Result<Below, Error> {
        match self.resolve(folder)? {
            Target::Outside(on_disk) => self.outside.list(&on_disk),
            Target::Submodule(submodule) => Err(self.submodule_error(folder, &submodule)),
            Target::Folder(real) => {
                let start = match &*real {
                    "" => String::new(),
                    real => format!("{real}/"),
                };
                self.require_names(&real, |folder| {
                    *folder == real || folder.starts_with(&start)
                })?;
                let from = (Bound::Included(&*start), Bound::Unbounded);
                let files = self.entries.range::<str, _>(from);
                let below =
                    files.map_while(|(path, entry)| Some((path.strip_prefix(&start)?, entry)));
                let mut found = Below::default();
                for (path, entry) in below {
                    match entry {
                        Entry::File(_) => found.files.push(path.into()),
                        Entry::Link(_) => found.links.push(path.into()),
                        Entry::Submodule => {}
                    }
                }
                Ok(found)
            }
            _ => {
                let shown = folder.to_string_lossy().replace('\\', "/");
                Err(self.unreadable(&shown, "there is no such folder in that commit"))
            }
        }
    }

    fn relative_path(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.top) {
            Ok(below) if path.is_absolute() => {
                let up = self.prefix_parts().map(|_| "..").collect::<PathBuf>();
                match below.strip_prefix(&self.prefix) {
                    Ok(below) => below.to_owned(),
                    Err(_) => up.join(below),
                }
            }
            _ => path.to_owned(),
        }
    }
}

/// The names and `..` of a path; none where one is not UTF-8, for no file of the commit has it.
fn parts(path: &Path) -> Option<VecDeque<String>> {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_str().map(str::to_owned)),
        Component::ParentDir => Some(Some("..".to_owned())),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    parts.collect()
}
