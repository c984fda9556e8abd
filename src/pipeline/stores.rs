//! Opens the stores of artifacts: registries, and the mirrors that the project names for them.

use std::sync::Arc;

use crate::catalog::sources::{self, Stores};
use crate::read::Workspace;

use super::Terminal;

/// The stores of a project. No registry is contacted before the first query; a terminal is shown how far a batch is.
pub(crate) fn open(workspace: &Workspace, terminal: &Terminal) -> Stores {
    let settings = &workspace.settings;
    sources::stores(
        &settings.root,
        &settings.registries,
        terminal.progress.clone(),
    )
}

/// The architecture whose manifest is taken of an index.
pub(crate) fn architecture(workspace: &Workspace) -> Arc<str> {
    Arc::clone(&workspace.settings.registries.architecture)
}
