//! Why an edit is not made.

use super::super::SyntaxError;

/// Why a text was left as it is.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EditError {
    /// The text is no YAML to the engine that counts.
    #[error("the file is not YAML: {}", .0.message)]
    Syntax(#[from] SyntaxError),
    /// Valid YAML, written in a way that edits do not follow.
    #[error("the file is written in a way that edits do not follow")]
    NotFollowed,
    /// Nothing stands where the edit is to be made.
    #[error("`{path}` is not there")]
    Missing {
        /// The path, with dots.
        path: String,
    },
    /// A key that is to be added is there.
    #[error("`{path}` is already there")]
    Exists {
        /// The path, with dots.
        path: String,
    },
    /// A key stands twice, and the edit cannot know which one is meant.
    #[error("`{path}` stands twice")]
    Twice {
        /// The path, with dots.
        path: String,
    },
    /// What is written there stands somewhere else.
    #[error(
        "`{path}` is written as the alias `*{name}`: change what `&{name}` marks, or write it out"
    )]
    Aliased {
        /// The path, with dots.
        path: String,
        /// The anchor's name.
        name: String,
    },
    /// Other places use what stands there.
    #[error("`{path}` is marked `&{name}`, and other places use it")]
    Shared {
        /// The path, with dots.
        path: String,
        /// The anchor's name.
        name: String,
    },
    /// Two edits of one batch want different things of one place.
    #[error("two edits touch `{path}`")]
    Conflict {
        /// The path, with dots.
        path: String,
    },
    /// The edit does not fit what stands there.
    #[error("`{path}` {what}")]
    Unfit {
        /// The path, with dots.
        path: String,
        /// What it is, or lacks.
        what: &'static str,
    },
    /// The edited text would not be YAML.
    #[error("the edit would leave a file that is not YAML: {message}")]
    WouldBreak {
        /// What the reader says of it.
        message: String,
    },
    /// The edited text would say something else than what was asked for.
    #[error("the edit would change more than it should")]
    WouldChangeMore,
}
