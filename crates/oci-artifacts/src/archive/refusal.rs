//! The reasons for refusing an archive.

use std::fmt;
use std::io;

/// Something in an archive that is refused, and with it the whole archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The entry's path as written in the archive; none for the archive as a whole.
    pub entry: Option<String>,
    /// What is wrong.
    pub reason: Reason,
}

/// What is wrong with an archive or an entry, as the predicate of a sentence about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// A path that is absolute or contains `..`.
    #[error("leaves its folder: the path is absolute, or has a `..`")]
    Outside,
    /// A name that some system does not support or interprets.
    #[error("{0}")]
    IllegalPath(String),
    /// The name is not UTF-8, or contains a NUL.
    #[error("has a name that is not UTF-8, or has a NUL in it")]
    UnreadableName,
    /// The path has too many bytes.
    #[error("has a path of more than {0} bytes")]
    PathTooLong(usize),
    /// The path has too many names.
    #[error("lies more than {0} folders deep")]
    TooDeep(usize),
    /// A symbolic link to something that is not a file of the archive.
    #[error("is a symbolic link to `{0}`, which is not a file of the archive")]
    SymbolicLink(String),
    /// A hard link to something that is not an earlier file of the archive.
    #[error("is a hard link to `{0}`, which is not an earlier file of the archive")]
    HardLink(String),
    /// A device, a named pipe, a socket.
    #[error("is a {0}")]
    Special(&'static str),
    /// A sparse file, whose contents are shorter than its length.
    #[error("is a sparse file")]
    Sparse,
    /// An unknown type of entry.
    #[error("is an entry of type `{0}`, which is not known")]
    UnknownType(String),
    /// The path occurs twice.
    #[error("occurs twice in the archive")]
    Duplicate,
    /// The path is a file, and also the folder of another entry.
    #[error("is a file, and a folder too")]
    FileAndFolder,
    /// The file has too many bytes.
    #[error("has more than {0} bytes")]
    FileTooLarge(u64),
    /// Too many entries.
    #[error("has more than {0} entries")]
    TooManyEntries(usize),
    /// The paths have too many bytes in total.
    #[error("has paths of more than {0} bytes together")]
    NamesTooLong(usize),
    /// The archive has too many bytes.
    #[error("is longer than {0} bytes")]
    PackedTooLarge(u64),
    /// The archive unpacks to too many bytes.
    #[error("unpacks to more than {0} bytes")]
    UnpackedTooLarge(u64),
    /// The compression ratio is too high.
    #[error("unpacks to more than {0} times its length")]
    Ratio(u64),
    /// An extension header has too many bytes.
    #[error("has an extension header of more than {0} bytes")]
    ExtensionTooLarge(u64),
    /// It ends unexpectedly.
    #[error("is cut short")]
    Truncated,
    /// Its compression is corrupt.
    #[error("is not a valid gzip stream: {0}")]
    Gzip(String),
    /// It has another compression.
    #[error("is compressed by {0}, and gzip is read")]
    Compression(&'static str),
    /// Data follows its end.
    #[error("has data after its end")]
    Trailing,
    /// It is not a tar archive.
    #[error("is not a tar archive")]
    NotTar,
    /// A header is invalid.
    #[error("{0}")]
    Malformed(&'static str),
    /// A whiteout that hides nothing, or two that hide the same path.
    #[error("is a whiteout that names nothing")]
    Whiteout,
}

/// Why an archive was not read.
#[derive(Debug)]
pub enum ReadError {
    /// It is refused.
    Refused(Refusal),
    /// It could not be read, or its contents could not be stored.
    World(io::Error),
}

impl Reason {
    /// The refusal for an entry.
    pub(super) fn for_entry(self, entry: impl Into<String>) -> Refusal {
        Refusal {
            entry: Some(entry.into()),
            reason: self,
        }
    }
}

/// The refusal for the archive as a whole.
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

/// The refusal as a clause; control characters in names are escaped.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.entry {
            Some(entry) => write!(f, "its entry `{}` {}", entry.escape_debug(), self.reason),
            None => write!(f, "it {}", self.reason),
        }
    }
}
