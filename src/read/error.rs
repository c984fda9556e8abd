//! Why a reader gives no value: a file that cannot be read, or what is wrong in it.

use crate::error::Error;
use crate::model::finding::Finding;

/// Why reading ends early.
#[derive(Debug)]
pub(super) enum ReadError {
    /// An error in a file of the user.
    Finding(Box<Finding>),
    /// An I/O error.
    Error(Error),
}

impl From<Error> for ReadError {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<Finding> for ReadError {
    fn from(finding: Finding) -> Self {
        Self::Finding(Box::new(finding))
    }
}

impl From<Box<Finding>> for ReadError {
    fn from(finding: Box<Finding>) -> Self {
        Self::Finding(finding)
    }
}

/// What was read, or what is wrong in a file of the user.
///
/// # Errors
/// An I/O error.
pub(super) fn catch_finding<T>(read: Result<T, ReadError>) -> Result<Result<T, Finding>, Error> {
    match read {
        Ok(value) => Ok(Ok(value)),
        Err(ReadError::Finding(finding)) => Ok(Err(*finding)),
        Err(ReadError::Error(error)) => Err(error),
    }
}
