//! `metalmark lsp` on the command line.

use std::path::Path;

use clap::Args;

use super::workspace::ProjectArguments;
use crate::cli::today;
use crate::editor;
use crate::error::Error;
use crate::files::sandbox;
use crate::model::date::Date;
use crate::pipeline::Verdict;

/// What `-C` and `--project` are answered with.
const ELSEWHERE: &str = "`metalmark lsp` takes neither -C nor --project: it reads the projects of the folders that the editor opens
help: open the folder of the project in the editor";

#[derive(Debug, Args)]
pub(super) struct LspArguments {
    /// Ignored: editors pass it, and there is no other way to talk.
    #[arg(long)]
    stdio: bool,
}

impl LspArguments {
    /// Runs the command.
    pub(in crate::cli) fn run(
        &self,
        place: &ProjectArguments,
        today: Date,
    ) -> Result<Verdict, Error> {
        if place.is_given() {
            return Err(Error::usage(ELSEWHERE));
        }
        // Git runs on a thread that is started before the sandbox, and nothing else does.
        let bases = editor::Bases::start();
        // Reading is limited to the project's repository as for every command; which one that is, the client says later.
        sandbox(Path::new("/"));
        let (connection, threads) = lsp_server::Connection::stdio();
        let ended = editor::serve(&connection, bases, &|| today::today().unwrap_or(today))?;
        drop(connection);
        threads.join().map_err(Error::reading("stdin"))?;
        Ok(match ended {
            true => Verdict::Clean,
            false => Verdict::Findings,
        })
    }
}
