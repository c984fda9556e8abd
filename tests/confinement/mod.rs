//! Nothing outside the repository is executed, read, written or deleted, whatever a repository holds.

mod git;
mod reading;
mod writing;
