//! `metalmark lsp`: the language server on the process's own streams.

use std::path::Path;

use super::today;
use crate::editor;
use crate::error::Error;
use crate::files::sandbox;
use crate::model::date::Date;
use crate::pipeline::Verdict;

/// What `-C` and `--project` are answered with.
pub(super) const ELSEWHERE: &str = "`metalmark lsp` takes neither -C nor --project: it reads the projects of the folders that the editor opens
help: open the folder of the project in the editor";

/// Serves until the editor ends it.
pub(super) fn run(today: Date) -> Result<Verdict, Error> {
    // Git runs on a thread that is started before the sandbox, and nothing else does.
    let bases = editor::Bases::start();
    // Reading is limited to the project's repository as for every command; which one that is, the client says later.
    sandbox(Path::new("/"));
    let (connection, threads) = lsp_server::Connection::stdio();
    let ended = editor::serve(&connection, bases, &|| today::today().unwrap_or(today))?;
    drop(connection);
    threads.join().map_err(Error::reading("stdin"))?;
    Ok(Verdict::from_errors(!ended))
}
