//! The errors of edits.

use super::super::SyntaxError;

/// Why an edit was refused. The text is unchanged then.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EditError {
    /// The text is not valid YAML for the engine.
    #[error("the file is not YAML: {}", .0.message)]
    Syntax(#[from] SyntaxError),
    /// The text is valid YAML in a form that edits do not support.
    #[error("edits do not support the form in which the file is written")]
    Unsupported,
    /// The edited node does not exist.
    #[error("`{path}` does not exist")]
    Missing {
        /// The path, with dots.
        path: String,
    },
    /// The key to insert already exists.
    #[error("`{path}` already exists")]
    Exists {
        /// The path, with dots.
        path: String,
    },
    /// A key exists twice, so the edit is ambiguous.
    #[error("`{path}` exists twice")]
    Ambiguous {
        /// The path, with dots.
        path: String,
    },
    /// The value is an alias, so its text is somewhere else.
    #[error(
        "`{path}` is written as the alias `*{name}`: change what `&{name}` marks, or write it out"
    )]
    Aliased {
        /// The path, with dots.
        path: String,
        /// The anchor's name.
        name: String,
    },
    /// Aliases elsewhere use the value.
    #[error("`{path}` is marked `&{name}`, and aliases use it")]
    Shared {
        /// The path, with dots.
        path: String,
        /// The anchor's name.
        name: String,
    },
    /// Two edits of a batch change the same node.
    #[error("two edits touch `{path}`")]
    Conflict {
        /// The path, with dots.
        path: String,
    },
    /// The edit does not apply to the node.
    #[error("`{path}` {what}")]
    Unfit {
        /// The path, with dots.
        path: String,
        /// What the node is, or lacks.
        what: &'static str,
    },
    /// The edited text would not be YAML.
    #[error("the edit would leave a file that is not YAML: {message}")]
    WouldBreak {
        /// The message of the parser.
        message: String,
    },
    /// The edited text would have other changes than those requested.
    #[error("the edit would change more than it should")]
    WouldChangeMore,
}
