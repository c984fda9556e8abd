//! Why an archive is not taken.

use std::fmt;
use std::io;

/// Something in an archive that is not taken; nothing of the archive is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The entry, by the name that it gives itself; none for the archive as a whole.
    pub entry: Option<String>,
    /// What is wrong.
    pub reason: Reason,
}

/// What is wrong with an archive or an entry, as the end of a sentence that starts with its name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// A path that is absolute or climbs.
    #[error("leaves its folder: the path is absolute, or has a `..`")]
    Outside,
    /// A name that some system cannot hold, or takes for something else.
    #[error("{0}")]
    IllegalPath(String),
    /// The name is no UTF-8, or has a NUL.
    #[error("has a name that is not UTF-8, or has a NUL in it")]
    UnreadableName,
    /// The path has too many bytes.
    #[error("has a path of more than {0} bytes")]
    PathTooLong(usize),
    /// The path has too many names.
    #[error("lies more than {0} folders deep")]
    TooDeep(usize),
    /// A symbolic link.
    #[error("is a symbolic link")]
    SymbolicLink,
    /// A hard link to something that is no file of the archive before it.
    #[error("is a hard link to `{0}`, which is no file that stands before it in the archive")]
    HardLink(String),
    /// A device, a named pipe, a socket.
    #[error("is a {0}")]
    Special(&'static str),
    /// A file with holes: its length is what it says, not what comes.
    #[error("is a sparse file")]
    Sparse,
    /// A sort of entry that no standard names.
    #[error("is an entry of type `{0}`, which is not known")]
    UnknownType(String),
    /// The path stands twice.
    #[error("stands twice in the archive")]
    Duplicate,
    /// The path is a file, and a folder for another.
    #[error("is a file, and a folder too")]
    FileAndFolder,
    /// The file has too many bytes.
    #[error("has more than {0} bytes")]
    FileTooLarge(u64),
    /// Too many entries.
    #[error("has more than {0} entries")]
    TooManyEntries(usize),
    /// The paths have too many bytes together.
    #[error("has paths of more than {0} bytes together")]
    NamesTooLong(usize),
    /// The archive has too many bytes as it comes.
    #[error("is longer than {0} bytes")]
    PackedTooLarge(u64),
    /// The archive becomes too long.
    #[error("unpacks to more than {0} bytes")]
    UnpackedTooLarge(u64),
    /// The archive becomes too many times as long.
    #[error("unpacks to more than {0} times its length")]
    Ratio(u64),
    /// An extension header has too many bytes.
    #[error("has an extension header of more than {0} bytes")]
    ExtensionTooLarge(u64),
    /// It ends in the middle.
    #[error("is cut short")]
    Truncated,
    /// Its compression is broken.
    #[error("is no sound gzip stream: {0}")]
    Gzip(String),
    /// It is compressed by something else.
    #[error("is compressed by {0}, and gzip is read")]
    Compression(&'static str),
    /// Something stands behind its end.
    #[error("has something behind its end")]
    Trailing,
    /// It is no tar archive.
    #[error("is no tar archive")]
    NotTar,
    /// A header says what it cannot.
    #[error("{0}")]
    Malformed(&'static str),
    /// A whiteout that hides nothing, or two that hide the same.
    #[error("is a whiteout that names nothing")]
    Whiteout,
}

/// Why an archive was not read.
#[derive(Debug)]
pub enum ReadError {
    /// It is not taken.
    Refused(Refusal),
    /// It could not be read, or its contents not be kept.
    World(io::Error),
}

impl Reason {
    /// Of an entry.
    pub(super) fn of(self, entry: impl Into<String>) -> Refusal {
        Refusal {
            entry: Some(entry.into()),
            reason: self,
        }
    }
}

/// Of the archive as a whole.
impl From<Reason> for Refusal {
    fn from(reason: Reason) -> Self {
        Self {
            entry: None,
            reason,
        }
    }
}

impl From<Reason> for ReadError {
    fn from(reason: Reason) -> Self {
        Self::Refused(reason.into())
    }
}

impl From<Refusal> for ReadError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::World(error)
    }
}

/// What it is, as a clause; control characters of a name are escaped.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.entry {
            Some(entry) => write!(f, "its entry `{}` {}", entry.escape_debug(), self.reason),
            None => write!(f, "it {}", self.reason),
        }
    }
}
