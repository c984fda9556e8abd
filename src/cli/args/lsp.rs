//! `metalmark lsp` on the command line.

use std::path::Path;

use clap::Args;

use crate::editor;
use crate::error::Error;
use crate::files::sandbox;
use crate::model::policy::Date;
use crate::pipeline::Verdict;

#[derive(Debug, Args)]
pub(super) struct LspArguments {
    /// Ignored: editors type it, and there is no other way to talk.
    #[arg(long)]
    stdio: bool,
}

impl LspArguments {
    /// Runs the command.
    pub(in crate::cli) fn run(&self, today: Date) -> Result<Verdict, Error> {
        // Reading is limited to the project's repository as for every command; which one that is, the client says later.
        sandbox(Path::new("/"));
        let (connection, threads) = lsp_server::Connection::stdio();
        let ended = editor::serve(&connection, today)?;
        drop(connection);
        threads.join().map_err(|cause| Error::Read {
            path: "stdin".into(),
            cause,
        })?;
        Ok(match ended {
            true => Verdict::Clean,
            false => Verdict::Findings,
        })
    }
}
