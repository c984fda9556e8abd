//! The git command: which repository a folder is in, which commit a name means, and what objects hold.
//!
//! Never checks anything out, never locks anything and never uses the network, even in a partial clone.
//!
//! Git runs programs that a repository's configuration names. A clone's own configuration is its user's; but files of a commit
//! can look like a repository, and git would take them for one ([`Repository::of`] refuses those). Besides, every run
//! overrides the settings that name programs. The rest of the user's configuration counts: which folders are safe to read
//! (`safe.directory`), which files are ignored, how line ends are written.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::{FILE_LIMIT, repository_top, too_large};
use crate::error::Error;

/// Settings of every run: no program that a configuration names is executed (<https://git-scm.com/docs/git-config>).
const FIXED: [&str; 4] = [
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "log.showSignature=false",
];

/// A repository.
#[derive(Clone, Debug)]
pub struct Repository {
    /// Where git is started.
    folder: PathBuf,
    /// The folder that its paths start from: the work tree's top. A bare repository's own folder, below which nothing is.
    pub top: PathBuf,
    /// Where in it the folder is that was asked for: `clusters/` or nothing.
    pub(super) prefix: String,
    found_by: FoundBy,
}

/// How git finds a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FoundBy {
    /// It is the nearest one above the folder.
    Folder,
    /// `GIT_DIR` and its like name it. A hook sets them for the work tree's top, wherever we start.
    Environment,
    /// The folder is a bare repository, and in no other one.
    Bare,
}

/// What git could not do.
pub(super) enum Failure {
    /// There is no such program, or it cannot be started.
    Start(io::Error),
    /// It ended with this on stderr.
    Said(String),
}

impl Repository {
    /// The repository that a folder is in.
    ///
    /// # Errors
    /// It is in none, git refuses to read it, or there is no git.
    pub fn of(folder: &Path) -> Result<Self, Error> {
        const QUERY: [&str; 3] = ["rev-parse", "--is-bare-repository", "--is-inside-work-tree"];
        let by = |found_by| Self {
            folder: folder.to_owned(),
            top: folder.to_owned(),
            prefix: String::new(),
            found_by,
        };
        let outer = repository_top(folder);
        let mut ways = vec![FoundBy::Folder, FoundBy::Environment];
        if outer.is_none() && folder.join("HEAD").is_file() {
            ways.insert(1, FoundBy::Bare);
        }
        let mut first = None;
        let answers = ways.into_iter().find_map(|way| match by(way).run(&QUERY) {
            Ok(answer) => Some((by(way), text(answer))),
            Err(failure) => {
                first.get_or_insert(failure);
                None
            }
        });
        let Some((mut found, answer)) = answers else {
            let failure = first.unwrap_or_else(|| Failure::Said(String::new()));
            return Err(told(failure, folder));
        };
        if answer.ends_with("true") {
            found.top = PathBuf::from(found.text(&["rev-parse", "--show-toplevel"])?);
            let prefix = found.run(&["rev-parse", "--show-prefix"]);
            let prefix = prefix.map_err(|failure| told(failure, folder))?;
            let prefix = String::from_utf8_lossy(&prefix);
            found.prefix = prefix.trim_end_matches('\n').to_owned();
        }
        // Older releases of git than 2.38 do not know `safe.bareRepository`.
        let is_part = match &outer {
            Some(outer) => !same_folder(outer, &found.top),
            None => answer.ends_with("true"),
        };
        if found.found_by == FoundBy::Folder && is_part {
            let said = "files in it look like a repository of their own, which is not read";
            return Err(told(Failure::Said(said.to_owned()), folder));
        }
        Ok(found)
    }

    /// The commit that a name means, in full.
    ///
    /// # Errors
    /// There is none.
    pub fn commit(&self, name: &str) -> Result<String, Error> {
        let known = (!name.starts_with('-') && !name.is_empty())
            .then(|| format!("{name}^{{commit}}"))
            .and_then(|name| self.optional(&["rev-parse", "--verify", "--quiet", &name]));
        known.ok_or_else(|| {
            let shallow = self.optional(&["rev-parse", "--is-shallow-repository"]);
            let help = match shallow.as_deref() {
                Some("true") => "this clone is shallow: `git fetch --unshallow`, or fetch that commit by its name",
                _ => "name a branch, a tag or a commit that this clone has; `git fetch` gets those of the server",
            };
            let message = format!("there is no commit `{name}` in this clone\nhelp: {help}");
            Error::Git { message }
        })
    }

    /// What a change that ends at `head` started from, and how that was found: the merge base with the default branch of
    /// `origin`, the branch's upstream, or the local `main` or `master`; `head` itself where there is none of them.
    ///
    /// # Errors
    /// There is no such commit.
    pub fn base(&self, head: &str) -> Result<(String, String), Error> {
        let head = self.commit(head)?;
        let remote = self.optional(&["rev-parse", "--abbrev-ref", "origin/HEAD"]);
        let upstream = self.optional(&["rev-parse", "--abbrev-ref", "@{upstream}"]);
        let names = ["origin/main", "origin/master", "main", "master"].map(str::to_owned);
        for name in remote.into_iter().chain(upstream).chain(names) {
            if let Some(base) = self.optional(&["merge-base", &head, &name]) {
                return Ok((base, format!("the merge base with {name}")));
            }
        }
        Ok((head, "the last commit".to_owned()))
    }

    /// Every file of a commit: mode, object and path.
    pub(super) fn listing(&self, commit: &str) -> Result<Vec<u8>, Failure> {
        self.run(&["ls-tree", "-r", "-z", "--full-tree", commit])
    }

    /// Whether the folder holds what the last commit does not; submodules are not looked into. Git compares a file whose times
    /// changed by its content, behind the filters that its attributes name: those are switched off, so that a file that
    /// one of them made (Git LFS) may count as changed.
    pub(super) fn is_changed(&self) -> Result<bool, Failure> {
        let names = self.run(&["config", "-z", "--name-only", "--get-regexp", r"^filter\."]);
        let mut off = Vec::new();
        for name in names.unwrap_or_default().split(|byte| *byte == 0) {
            let name = String::from_utf8_lossy(name);
            if let Some((filter, _)) = name.rsplit_once('.') {
                off.extend(
                    ["clean=", "process=", "required=false"].map(|key| format!("{filter}.{key}")),
                );
            }
        }
        let mut arguments: Vec<&str> = off.iter().flat_map(|setting| ["-c", setting]).collect();
        arguments.extend(["status", "--porcelain", "--ignore-submodules", "--", "."]);
        Ok(!self.run(&arguments)?.is_empty())
    }

    /// A process that answers with the content of objects.
    pub(super) fn objects(&self) -> Result<Objects, Failure> {
        let mut child = self
            .command(&["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(Failure::Start)?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => Ok(Objects {
                child,
                input: Some(input),
                output: BufReader::new(output),
            }),
            _ => Err(Failure::Said("its streams are closed".to_owned())),
        }
    }

    fn text(&self, arguments: &[&str]) -> Result<String, Error> {
        let said = self.run(arguments);
        said.map(text)
            .map_err(|failure| told(failure, &self.folder))
    }

    /// The first line of an answer; none where there is none.
    pub(super) fn optional(&self, arguments: &[&str]) -> Option<String> {
        let said = self.run(arguments).ok().map(text)?;
        let line = said.lines().next().unwrap_or_default();
        (!line.is_empty()).then(|| line.to_owned())
    }

    fn run(&self, arguments: &[&str]) -> Result<Vec<u8>, Failure> {
        let output = self.command(arguments).output().map_err(Failure::Start)?;
        match output.status.success() {
            true => Ok(output.stdout),
            false => Err(Failure::Said(text(output.stderr))),
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        for setting in FIXED {
            command.args(["-c", setting]);
        }
        if self.found_by == FoundBy::Bare {
            command.arg("--git-dir=.");
        }
        if self.found_by != FoundBy::Environment {
            for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
                command.env_remove(name);
            }
        }
        command
            .current_dir(&self.folder)
            .args(arguments)
            .env("LC_ALL", "C")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        command
    }
}

/// `git cat-file --batch`, asked for one object after the other.
pub(super) struct Objects {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Objects {
    /// The content of an object; none where this clone does not have it.
    pub(super) fn content(&mut self, object: &str) -> io::Result<Option<Vec<u8>>> {
        let Some(input) = &mut self.input else {
            return Ok(None);
        };
        writeln!(input, "{object}")?;
        input.flush()?;
        let mut head = String::new();
        self.output.read_line(&mut head)?;
        let mut words = head.split_whitespace().skip(1);
        let (Some(_), Some(Ok(size))) = (words.next(), words.next().map(str::parse::<u64>)) else {
            return Ok(None);
        };
        if size > FILE_LIMIT {
            // It would wait for whoever reads all that.
            self.input = None;
            let _ = self.child.kill();
            return Err(too_large());
        }
        let mut content = Vec::new();
        (&mut self.output).take(size).read_to_end(&mut content)?;
        self.output.read_exact(&mut [0])?;
        Ok(Some(content))
    }
}

/// The process ends when its input does.
impl Drop for Objects {
    fn drop(&mut self) {
        self.input = None;
        // Nothing hangs on how it ends.
        let _ = self.child.wait();
    }
}

fn same_folder(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).trim_end().to_owned()
}

/// What git could not do, in words that say what to do.
pub(super) fn told(failure: Failure, folder: &Path) -> Error {
    let shown = folder.display();
    let message = match failure {
        Failure::Start(cause) if cause.kind() == io::ErrorKind::NotFound => {
            "there is no `git` command to read earlier revisions with\nhelp: install git".to_owned()
        }
        Failure::Start(cause) => format!("the `git` command cannot be started: {cause}"),
        Failure::Said(said) if said.contains("dubious ownership") => format!(
            "git does not read the repository of `{shown}`, because it belongs to another user\n\
             help: git config --global --add safe.directory '{}'",
            owner_folder(&said).unwrap_or("*")
        ),
        Failure::Said(said) if said.contains("not a git repository") => format!(
            "`{shown}` is in no git repository, so there is nothing to compare with\n\
             help: run it in a clone, or start it there with -C"
        ),
        Failure::Said(said) => {
            let line = said.lines().next().unwrap_or("it gave no reason");
            let line = line.trim_start_matches("fatal: ");
            format!("git cannot read the repository of `{shown}`: {line}")
        }
    };
    Error::Git { message }
}

/// The folder that git names between quotes.
fn owner_folder(said: &str) -> Option<&str> {
    said.split('\'').nth(1)
}
