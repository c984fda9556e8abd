//! I/O, network and usage errors. What a person can fix in their files is a finding, never an error; but for the one that leaves
//! nothing to look at.

use std::path::{Path, PathBuf};

use oci_artifacts::{Failure, write_failures};

use crate::model::finding::Finding;

/// Ends the run, with exit status 2 but for [`Error::Project`]. Each variant says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A turn of the editor's server has passed its budget.
    #[error(transparent)]
    GivenUp(#[from] crate::budget::GivenUp),
    /// The project file is no YAML. Whatever a command said of an empty project instead would be false, so this ends every one: as
    /// the finding that it is, with exit status 1.
    #[error("{}", finding.message)]
    Project {
        /// Where it breaks.
        finding: Box<Finding>,
        /// The project's folder.
        root: PathBuf,
    },
    /// A file or folder could not be read.
    #[error("cannot read `{}`: {}", display_path(path), reason(cause))]
    Read {
        /// Which.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// Git has a pointer of Git LFS instead of a file.
    #[error("cannot read `{}`{why}", display_path(path))]
    Pointer {
        /// Which file.
        path: PathBuf,
        /// Where that is, and what to do, behind the path.
        why: String,
    },
    /// A file or folder could not be written.
    #[error("cannot write `{}`: {}", display_path(path), reason(cause))]
    Write {
        /// Which.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// An edit that is to be undone could not be.
    #[error(
        "cannot write `{}` back: {}\nhelp: some files are edited and some are not; {}",
        display_path(path),
        reason(cause),
        if *is_kept {
            "the next run of metalmark undoes the edits"
        } else {
            "restore them with git, for metalmark does not try again"
        }
    )]
    Undo {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
        /// Whether the next run tries again.
        is_kept: bool,
    },
    /// Git could not answer a query.
    #[error("{message}")]
    Git {
        /// What is wrong and what to do.
        message: String,
    },
    /// Another run holds the output folder, or changed it between this run's plan and its writing.
    #[error(
        "another run{by} is writing to `{}`: wait for it to end, then run again",
        display_path(path)
    )]
    Busy {
        /// The output folder, or the project's.
        path: PathBuf,
        /// Which process, in parentheses behind a space; empty where that is not known.
        by: String,
    },
    /// A file is not what this run has read: another program changed it meanwhile.
    #[error(
        "`{}` is not what was read, so it is not written over: run again",
        display_path(path)
    )]
    Changed {
        /// Which.
        path: PathBuf,
    },
    /// The command line requests something that cannot be done.
    #[error("{message}")]
    Usage {
        /// What is wrong and what to type instead.
        message: String,
    },
    /// Artifacts could not be had. All that failed of a batch, in the order of the requests.
    #[error("{}", list_causes(failures))]
    Fetch {
        /// What failed, each with its advice.
        failures: Vec<Failure>,
    },
    /// The system has no thread to spare.
    #[error(
        "no thread can be started: {}\nhelp: allow more processes and memory (`ulimit -u`, `ulimit -v`, the limits of the container)",
        reason(cause)
    )]
    Thread {
        /// What the system said.
        cause: std::io::Error,
    },
    /// What was to be printed could not be.
    #[error("cannot print: {}", reason(cause))]
    Print {
        /// What the system said.
        #[from]
        cause: std::io::Error,
    },
}

/// One failure of a store.
impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Fetch {
            failures: vec![failure],
        }
    }
}

impl Error {
    /// A file or folder that could not be read.
    pub fn reading(path: impl Into<PathBuf>) -> impl Fn(std::io::Error) -> Self {
        let path = path.into();
        move |cause| Self::Read {
            path: path.clone(),
            cause,
        }
    }

    /// A file or folder that could not be written.
    pub fn writing(path: impl Into<PathBuf>) -> impl Fn(std::io::Error) -> Self {
        let path = path.into();
        move |cause| Self::Write {
            path: path.clone(),
            cause,
        }
    }

    /// The same, of a project as it is in a commit: what is on disk may be right.
    #[must_use]
    pub fn with_commit(self, commit: &str) -> Self {
        let Self::Project { finding, root } = self else {
            return self;
        };
        let help = format!("this is the file as it is in {commit}, where no cluster is known then");
        Self::Project {
            finding: Box::new(finding.help(help)),
            root,
        }
    }

    /// Something on the command line that cannot be done.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage {
            message: message.into(),
        }
    }
}

/// Each cause once, its advice below it.
fn list_causes(failures: &[Failure]) -> String {
    let mut text = String::new();
    // A text takes whatever is written.
    let _ = write_failures(failures, &mut text);
    text
}

/// A path as people type it.
fn display_path(path: &Path) -> std::path::Display<'_> {
    path.strip_prefix(".").unwrap_or(path).display()
}

/// What the system said, without its number for it.
fn reason(cause: &std::io::Error) -> String {
    let text = cause.to_string();
    let (words, _) = text.split_once(" (os error ").unwrap_or((&text, ""));
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use super::Error;

    #[test]
    fn a_missing_file_is_reported_in_words() {
        let error = Error::Read {
            path: "./a/b.yaml".into(),
            cause: std::io::Error::from_raw_os_error(2),
        };
        assert_eq!(
            error.to_string(),
            "cannot read `a/b.yaml`: No such file or directory"
        );
    }
}
