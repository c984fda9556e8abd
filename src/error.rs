//! The world failed: disk, network, usage. What a person can mend in their files is a finding, never an error.

use std::path::PathBuf;

/// Ends the run with exit status 2. Each variant says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be read.
    #[error("cannot read `{}`: {cause}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// A file or folder could not be written.
    #[error("cannot write `{}`: {cause}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// Another run holds the output folder, or changed it between this run's plan and its writing.
    #[error("another run is writing to `{}`: wait for it to end, then run again", path.display())]
    Busy {
        /// The output folder.
        path: PathBuf,
    },
    /// The command line asks for something that cannot be done.
    #[error("{message}")]
    Usage {
        /// What is wrong and what to type instead.
        message: String,
    },
    /// What was to be printed could not be.
    #[error("cannot print: {cause}")]
    Print {
        /// What the system said.
        #[from]
        cause: std::io::Error,
    },
}
