//! Runs the git command: finds repositories, resolves names of commits, reads objects.
//!
//! It never checks anything out, takes no lock and does not use the network, not even in a partial clone.
//!
//! Git runs programs that a repository's configuration names. The configuration of a clone belongs to its user, but the files
//! of a commit can look like a bare repository, and git would use their configuration: [`Repository::find`] refuses those. Git is
//! used for objects, their names and the index only ([`Query`]), and never compares a work tree, for that starts filters. In
//! addition, every run overrides the settings that name programs. The user's other configuration applies: which folders are
//! safe to read (`safe.directory`), which files are ignored, how line endings are written.
//!
//! Names of files are bytes.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use oci_artifacts::registry::find_program;
use url::Url;

use crate::error::Error;

use super::tree::metadata_kind;
use super::{FILE_LIMIT, InsideKind, git_folder, repository_top, too_large, tree};
use crate::model::output_path::RESERVED_PREFIX;

/// Settings of every run, so that git executes no program from a configuration (<https://git-scm.com/docs/git-config>).
const FIXED: [&str; 3] = [
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
];

/// The variables that say which repository is meant, and where its parts are: those that git itself removes before it enters
/// another one (`git rev-parse --local-env-vars`), but for settings.
const LOCAL: [&str; 11] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Variables of every run: no lock is taken, nothing is fetched by any protocol, nobody is prompted, and an object is what its ID
/// says, whatever `refs/replace` and `info/grafts` have in its place.
const VARIABLES: [(&str, &str); 7] = [
    ("LC_ALL", "C"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_GRAFT_FILE", "/dev/null"),
];

/// What git is run for, and nothing else: each reads objects, their names, the index or a setting, and starts no program.
#[derive(Clone, Copy, Debug)]
enum Query {
    /// The content of the objects whose IDs it reads.
    Contents,
    /// The files in the index, below the folder.
    Index,
    /// The files below the folder that are neither tracked nor ignored.
    New,
    /// The files below the folder that are not tracked, ignored or not.
    Untracked,
    /// The files of a commit.
    Tree,
    /// Where two histories part.
    MergeBase,
    /// The commits that led to one, each with its time, without those that merges brought.
    History,
    /// What a name means, and where the repository is.
    Name,
    /// The address of `origin`.
    Origin,
}

impl Query {
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Contents => &["cat-file", "--batch"],
            Self::Index => &["ls-files", "-z", "-s", "-t", "--", "."],
            Self::New => &[
                "ls-files",
                "-z",
                "--others",
                "--directory",
                "--exclude-standard",
                ".",
            ],
            Self::Untracked => &["ls-files", "-z", "--others", "--", "."],
            Self::Tree => &["ls-tree", "-r", "-z"],
            Self::MergeBase => &["merge-base"],
            Self::History => &["rev-list", "--first-parent", "--timestamp"],
            Self::Name => &["rev-parse"],
            Self::Origin => &["config", "--get", "remote.origin.url"],
        }
    }
}

/// A repository.
#[derive(Clone, Debug)]
pub struct Repository {
    /// The folder in which git runs.
    folder: PathBuf,
    /// The folder that its paths start from: the top of the work tree, or the folder of a bare repository.
    pub top: PathBuf,
    /// The path of the requested folder below `top`: `clusters/` or nothing.
    pub(super) prefix: String,
    found_by: FoundBy,
}

/// A commit of a branch.
#[derive(Clone, Debug)]
pub struct HistoryCommit {
    /// Its full ID.
    pub commit: String,
    /// When it was committed, in seconds since 1970: of a merge, when it was merged.
    pub seconds: u64,
}

/// How git finds a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FoundBy {
    /// It is the nearest one above the folder.
    Folder,
    /// From `GIT_DIR` and similar variables, which git sets for hooks.
    Environment,
    /// The folder is a bare repository, and not inside another one.
    Bare,
}

/// Why a git command failed.
pub(super) enum Failure {
    /// The program does not exist, or cannot be started.
    Start(io::Error),
    /// Git printed this message.
    Reported(String),
}

impl Repository {
    /// The repository that a folder is in.
    ///
    /// # Errors
    /// It is in none, git refuses to read it, or there is no git.
    pub fn find(folder: &Path) -> Result<Self, Error> {
        const QUERY: [&str; 2] = ["--is-bare-repository", "--is-inside-work-tree"];
        let by = |found_by| Self {
            folder: folder.to_owned(),
            top: folder.to_owned(),
            prefix: String::new(),
            found_by,
        };
        let outer = repository_top(folder);
        let mut methods = vec![FoundBy::Folder, FoundBy::Environment];
        if outer.is_none() && folder.join("HEAD").is_file() {
            methods.insert(1, FoundBy::Bare);
        }
        let mut first = None;
        let answers =
            methods
                .into_iter()
                .find_map(|found_by| match by(found_by).run(Query::Name, &QUERY) {
                    Ok(answer) => Some((by(found_by), text(&answer))),
                    Err(failure) => {
                        first.get_or_insert(failure);
                        None
                    }
                });
        let Some((mut found, answer)) = answers else {
            let failure = first.unwrap_or_else(|| Failure::Reported(String::new()));
            return Err(git_error(failure, folder));
        };
        if answer.ends_with("true") {
            let line = |option| {
                let answer = found.run(Query::Name, &[option]);
                let mut line = answer.map_err(|failure| git_error(failure, folder))?;
                line.pop_if(|last| *last == b'\n');
                Ok::<_, Error>(line)
            };
            let (top, prefix) = (line("--show-toplevel")?, line("--show-prefix")?);
            found.top = path(&top);
            found.prefix = String::from_utf8(prefix).map_err(|_| {
                let reason = "a folder's name is not UTF-8: rename it".to_owned();
                git_error(Failure::Reported(reason), folder)
            })?;
        }
        // Git before 2.38 does not support `safe.bareRepository`.
        let is_part = match &outer {
            Some(outer) => !same_folder(outer, &found.top),
            None => answer.ends_with("true"),
        };
        if found.found_by == FoundBy::Folder && is_part {
            let reason = "files in it look like a repository of their own, which is not read";
            return Err(git_error(Failure::Reported(reason.to_owned()), folder));
        }
        Ok(found)
    }

    /// The full ID of the commit that a name resolves to.
    ///
    /// # Errors
    /// There is no such commit.
    pub fn commit(&self, name: &str) -> Result<String, Error> {
        let known = (!name.starts_with('-') && !name.is_empty())
            .then(|| format!("{name}^{{commit}}"))
            .and_then(|name| self.optional(Query::Name, &["--verify", "--quiet", &name]));
        known.ok_or_else(|| {
            if name == "HEAD" {
                let message = "this repository has no commit yet\nhelp: commit your files: changes are compared with a commit";
                return Error::Git {
                    message: message.to_owned(),
                };
            }
            let help = if self.is_shallow() {
                "this clone is shallow: `git fetch --unshallow`, or fetch that commit by its name"
            } else {
                "name a branch, a tag or a commit that this clone has; `git fetch` gets those of the server"
            };
            let message = format!("there is no commit `{name}` in this clone\nhelp: {help}");
            Error::Git { message }
        })
    }

    /// The commit that a change ending at `head` started from, and how it was found: the merge base with the default branch of
    /// `origin`, the branch's upstream, or the local `main` or `master`; `head` itself if none of them exists.
    ///
    /// # Errors
    /// There is no such commit.
    pub fn base(&self, head: &str) -> Result<(String, String), Error> {
        let head = self.commit(head)?;
        let remote = self.optional(Query::Name, &["--abbrev-ref", "origin/HEAD"]);
        let upstream = self.optional(Query::Name, &["--abbrev-ref", "@{upstream}"]);
        let names = ["origin/main", "origin/master", "main", "master"].map(str::to_owned);
        for name in remote.into_iter().chain(upstream).chain(names) {
            if let Some(base) = self.optional(Query::MergeBase, &[&head, &name]) {
                return Ok((base, format!("the merge base with {name}")));
            }
        }
        Ok((head, "the last commit".to_owned()))
    }

    /// The commits of a branch as merges made it, newest first; not those that were merged. A shallow clone has its last ones.
    ///
    /// # Errors
    /// Git cannot read them.
    pub fn history(&self, head: &str) -> Result<Vec<HistoryCommit>, Error> {
        let listed = self.run(Query::History, &[head]);
        let listed = listed.map_err(|failure| git_error(failure, &self.folder))?;
        let listed = text(&listed);
        let commits = listed.lines().filter_map(|line| {
            let (seconds, commit) = line.split_once(' ')?;
            Some(HistoryCommit {
                commit: commit.to_owned(),
                seconds: seconds.parse().ok()?,
            })
        });
        Ok(commits.collect())
    }

    /// Whether the clone ends before its branch began.
    pub fn is_shallow(&self) -> bool {
        let answer = self.optional(Query::Name, &["--is-shallow-repository"]);
        answer.as_deref() == Some("true")
    }

    /// Every file of a commit: mode, object and path.
    pub(super) fn listing(&self, commit: &str) -> Result<Vec<u8>, Failure> {
        self.run(Query::Tree, &["--full-tree", commit])
    }

    /// Whether the folder is anything else than what is committed: an ignored file is in no commit, and a checkout may lack
    /// files. Git lists its objects, and the bytes and the mode of each file are compared here: git's own comparison runs the filters
    /// that attributes name, which are programs. So a file that a filter produced (Git LFS), or one whose line endings were
    /// converted, counts as changed, and so does a submodule whose files are there.
    fn is_changed(&self, objects: &mut Objects) -> Result<bool, Failure> {
        let committed = self.run(Query::Tree, &["HEAD", "--", "."])?;
        let committed: BTreeSet<Tracked<'_>> = records(&committed)
            .filter_map(|(words, path)| Tracked::new(&words, [0, 2], path))
            .collect();
        let staged = self.run(Query::Index, &[])?;
        let mut in_index = BTreeSet::new();
        let mut is_any_edited = false;
        for (words, path) in records(&staged) {
            let Some(tracked) = Tracked::new(&words, [1, 2], path) else {
                continue;
            };
            is_any_edited |= !tracked.is_in(&self.folder, objects);
            in_index.insert(tracked);
        }
        let untracked = self.run(Query::Untracked, &[])?;
        let mut untracked = names(&untracked).map(path);
        let is_any_new = untracked.any(|path| !is_reserved(&path));
        Ok(is_any_edited || committed != in_index || is_any_new)
    }

    /// The files and folders below the folder that are new to git: neither tracked nor ignored.
    ///
    /// # Errors
    /// Git cannot read its index.
    pub fn new_files(&self) -> Result<BTreeSet<PathBuf>, Error> {
        let listed = self.run(Query::New, &[]);
        let listed = listed.map_err(|failure| git_error(failure, &self.folder))?;
        Ok(names(&listed)
            .map(|name| path(name.strip_suffix(b"/").unwrap_or(name)))
            .collect())
    }

    /// The files below the folder that git tracks.
    ///
    /// # Errors
    /// Git cannot read its index.
    pub fn index_files(&self) -> Result<BTreeSet<PathBuf>, Error> {
        let listed = self.run(Query::Index, &[]);
        let listed = listed.map_err(|failure| git_error(failure, &self.folder))?;
        Ok(records(&listed).map(|(_, name)| path(name)).collect())
    }

    /// Starts a process that returns the content of objects.
    pub(super) fn objects(&self) -> Result<Objects, Failure> {
        let mut child = self
            .command(Query::Contents, &[])?
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(Failure::Start)?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => Ok(Objects {
                child,
                streams: Some((input, BufReader::new(output))),
            }),
            _ => Err(Failure::Reported("its streams are closed".to_owned())),
        }
    }

    /// The first line of the output; none if the command fails or prints nothing.
    fn optional(&self, query: Query, arguments: &[&str]) -> Option<String> {
        let output = text(&self.run(query, arguments).ok()?);
        let line = output.lines().next().unwrap_or_default();
        (!line.is_empty()).then(|| line.to_owned())
    }

    fn run(&self, query: Query, arguments: &[&str]) -> Result<Vec<u8>, Failure> {
        let output = self.command(query, arguments)?.output();
        let output = output.map_err(Failure::Start)?;
        if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(Failure::Reported(text(&output.stderr)))
        }
    }

    fn command(&self, query: Query, arguments: &[&str]) -> Result<Command, Failure> {
        let mut command = Command::new(find_program("git").map_err(Failure::Start)?);
        for setting in FIXED {
            command.args(["-c", setting]);
        }
        if self.found_by == FoundBy::Bare {
            command.arg("--git-dir=.");
        }
        if self.found_by != FoundBy::Environment {
            for name in LOCAL {
                command.env_remove(name);
            }
        }
        command
            .current_dir(&self.folder)
            .args(query.words())
            .args(arguments)
            .envs(VARIABLES)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        Ok(command)
    }
}

/// A running `git cat-file --batch`.
pub(super) struct Objects {
    child: Child,
    /// None once the process has ended.
    streams: Option<(ChildStdin, BufReader<ChildStdout>)>,
}

impl Objects {
    /// The content of an object; none if this clone does not have it.
    pub(super) fn content(&mut self, object: &str) -> io::Result<Option<Vec<u8>>> {
        let Some((input, output)) = &mut self.streams else {
            return Ok(None);
        };
        writeln!(input, "{object}")?;
        input.flush()?;
        let mut head = String::new();
        output.read_line(&mut head)?;
        let mut words = head.split_whitespace().skip(1);
        let (Some(_), Some(Ok(size))) = (words.next(), words.next().map(str::parse::<u64>)) else {
            return Ok(None);
        };
        if size > FILE_LIMIT {
            // Git would block until all of it is read.
            self.streams = None;
            return Err(too_large());
        }
        let mut content = Vec::new();
        output.take(size).read_to_end(&mut content)?;
        output.read_exact(&mut [0])?;
        Ok(Some(content))
    }
}

/// The process exits when its input and its output are closed, also where a sandbox keeps it from being killed.
impl Drop for Objects {
    fn drop(&mut self) {
        self.streams = None;
        // The exit status does not matter.
        let _ = self.child.wait();
    }
}

/// A file that git tracks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Tracked<'a> {
    mode: &'a str,
    object: &'a str,
    path: &'a [u8],
}

impl<'a> Tracked<'a> {
    /// From the words of a record, of which those two are the mode and the object.
    fn new(words: &[&'a str], [mode, object]: [usize; 2], path: &'a [u8]) -> Option<Self> {
        let (mode, object) = (words.get(mode)?, words.get(object)?);
        Some(Self { mode, object, path })
    }

    /// Whether the folder has its content and mode. A link or a pipe in place of a file is another content, and is not read.
    fn is_in(&self, folder: &Path, objects: &mut Objects) -> bool {
        let file = folder.join(path(self.path));
        let is_file = || {
            let kind = file.symlink_metadata().map(|entry| metadata_kind(&entry));
            matches!(kind, Ok(InsideKind::File { mode, .. }) if mode.is_executable() == (self.mode == "100755"))
        };
        let found = match self.mode {
            // Nobody compares what a submodule has.
            "160000" => return !tree(&file).is_ok_and(|inside| !inside.is_empty()),
            "120000" => {
                std::fs::read_link(file).map(|target| target.into_os_string().into_encoded_bytes())
            }
            _ if is_file() => std::fs::read(file),
            _ => return false,
        };
        let content = objects.content(self.object).ok().flatten();
        content.is_some_and(|content| found.is_ok_and(|found| found == content))
    }
}

/// The names in a listing of git.
fn names(listing: &[u8]) -> impl Iterator<Item = &[u8]> {
    let names = listing.split(|byte| *byte == 0);
    names.filter(|name| !name.is_empty())
}

/// Whether a bundle leaves a file out, for its name or its folder's is metalmark's own.
fn is_reserved(path: &Path) -> bool {
    let mut parts = path.iter();
    parts.any(|name| name.to_string_lossy().starts_with(RESERVED_PREFIX))
}

/// The records of a listing of git: the words before the tab, and the path behind it.
pub(super) fn records(listing: &[u8]) -> impl Iterator<Item = (Vec<&str>, &[u8])> {
    listing.split(|byte| *byte == 0).filter_map(|record| {
        let tab = record.iter().position(|byte| *byte == b'\t')?;
        let words = std::str::from_utf8(&record[..tab]).ok()?;
        Some((words.split(' ').collect(), &record[tab + 1..]))
    })
}

/// A path as git lists it: any bytes.
#[cfg(unix)]
pub(super) fn path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    std::ffi::OsStr::from_bytes(bytes).into()
}

#[cfg(not(unix))]
pub(super) fn path(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

fn same_folder(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// What git says in words: IDs, names of branches, messages.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

/// The error for a failed git command, with help.
pub(super) fn git_error(failure: Failure, folder: &Path) -> Error {
    let shown = folder.display();
    let message = match failure {
        Failure::Start(cause) if cause.kind() == io::ErrorKind::NotFound => {
            "there is no `git` command to read earlier revisions with\nhelp: install git".to_owned()
        }
        Failure::Start(cause) => format!("the `git` command cannot be started: {cause}"),
        Failure::Reported(message) if message.contains("dubious ownership") => format!(
            "git does not read the repository of `{shown}`, because it belongs to another user\n\
             help: git config --global --add safe.directory '{}'",
            owner_folder(&message).unwrap_or("*")
        ),
        Failure::Reported(message) if message.contains("not a git repository") => format!(
            "`{shown}` is not in a git repository, so there is nothing to compare with\n\
             help: run it in a clone, or start it there with -C"
        ),
        Failure::Reported(message) => {
            let line = message.lines().next().unwrap_or("it gave no reason");
            let line = line.trim_start_matches("fatal: ");
            format!("git cannot read the repository of `{shown}`: {line}")
        }
    };
    Error::Git { message }
}

/// The folder that git quotes in its message.
fn owner_folder(message: &str) -> Option<&str> {
    message.split('\'').nth(1)
}

/// The provenance of a folder. It is the same on every machine that has the same commit checked out: it depends neither on
/// the branch nor on the protocol of the remote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The web address of `origin`, without user and password.
    pub source: Option<String>,
    /// The commit; none if the folder has uncommitted changes.
    pub commit: Option<String>,
    /// When it was committed, in seconds since 1970.
    pub committed: Option<u64>,
    /// Whether the folder has uncommitted changes.
    pub is_changed: bool,
}

impl Provenance {
    /// Queries git; empty if the folder is not in a repository, or there is no git.
    pub fn from_folder(folder: &Path) -> Self {
        let Ok(repository) = Repository::find(folder) else {
            return Self::default();
        };
        let origin = repository.optional(Query::Origin, &[]);
        let source = origin.as_deref().and_then(address);
        let unknown = Self {
            source,
            is_changed: true,
            ..Self::default()
        };
        let Ok(mut objects) = repository.objects() else {
            return unknown;
        };
        // If git cannot compare, the folder counts as changed.
        if repository.is_changed(&mut objects).unwrap_or(true) {
            return unknown;
        }
        let commit = repository.commit("HEAD").ok();
        let text = commit.as_deref().and_then(|id| objects.content(id).ok()?);
        Self {
            committed: text.as_deref().and_then(commit_time),
            commit,
            is_changed: false,
            ..unknown
        }
    }
}

/// The addresses of the remotes of the work tree that a folder is in, as git's configuration there has them.
pub(super) fn remotes(folder: &Path) -> Vec<String> {
    let git = git_folder(folder);
    let config = git.and_then(|git| std::fs::read_to_string(git.join("config")).ok());
    let (mut is_remote, mut found) = (false, Vec::new());
    for line in config.unwrap_or_default().lines().map(str::trim) {
        if line.starts_with('[') {
            is_remote = line.starts_with("[remote ");
        } else if is_remote
            && let Some((key, url)) = line.split_once('=')
            && key.trim() == "url"
        {
            found.push(url.trim().to_owned());
        }
    }
    found
}

/// The time in a commit: the line `committer NAME <ADDRESS> SECONDS ZONE` of its header.
fn commit_time(commit: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(commit);
    let mut header = text.lines().take_while(|line| !line.is_empty());
    let committer = header.find_map(|line| line.strip_prefix("committer "))?;
    committer.rsplit(' ').nth(1)?.parse().ok()
}

/// `https://host/path` for any protocol of a remote; none for a local path.
fn address(origin: &str) -> Option<String> {
    let whole = match origin.split_once("://") {
        Some(_) => origin.to_owned(),
        // `git@host:path`, the syntax of scp.
        None => {
            let (host, path) = origin.split_once(':')?;
            let host = host.rsplit('@').next().unwrap_or(host);
            format!("ssh://{host}/{}", path.trim_start_matches('/'))
        }
    };
    let url = Url::parse(&whole).ok()?;
    let host = url.host_str().filter(|host| !host.is_empty())?;
    let port = match url.scheme() {
        "https" | "http" => url.port().map(|port| format!(":{port}")),
        // The port of ssh is not that of a web server.
        "ssh" | "git" | "git+ssh" => None,
        _ => return None,
    };
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    Some(format!("https://{host}{}{path}", port.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn the_address_does_not_depend_on_the_protocol() {
        for origin in [
            "https://git.example/group/repo.git",
            "https://me:secret@git.example/group/repo",
            "git@git.example:group/repo.git",
            "ssh://git@git.example:2222/group/repo.git/",
        ] {
            let found = address(origin);
            assert_eq!(
                found.as_deref(),
                Some("https://git.example/group/repo"),
                "{origin}"
            );
        }
        assert_eq!(
            address("https://git.example:8443/a?token=x#y").as_deref(),
            Some("https://git.example:8443/a")
        );
        for origin in ["/srv/git/repo", "../repo", "file:///srv/repo", ""] {
            assert_eq!(address(origin), None, "{origin}");
        }
    }
}
