//! `metalmark lsp`: what `check` and `explain` know, in an editor while one types. A language server over stdio.
//!
//! The protocol: <https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/>. Every answer is made
//! of the model and the rules that the commands use: a change runs the whole check again, with the texts of open documents in
//! place of the files on disk.

mod actions;
mod answers;
mod client;
mod completion;
mod cursor;
mod hover;
mod marks;
mod navigation;
mod pin;
mod position;
mod project;
mod projects;
mod requests;
mod rolls;
mod session;
mod symbols;
mod transport;

pub use rolls::Bases;
pub use session::serve;
pub use transport::connect;
