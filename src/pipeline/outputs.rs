//! Where the rendered files of a run go: below the project's folder, or into what `--out` names.

use std::collections::BTreeSet;

use crate::error::Error;
use crate::model::output_path::OutputFolders;
use crate::output::{Foreign, Options, Plan, Texts};
use crate::read::Workspace;

/// Looks at the outputs' folders.
pub(crate) fn plan(workspace: &Workspace, foreign: Foreign, texts: Texts) -> Result<Plan, Error> {
    let project = &workspace.settings.root;
    let (root, shown, base) = match &workspace.out {
        Some(out) => (project.join(out), out.to_string_lossy().into_owned(), None),
        None => (project.clone(), String::new(), Some(project.clone())),
    };
    let outputs = workspace.settings.outputs.iter();
    let options = Options {
        shown,
        base,
        project: workspace.settings.project.clone(),
        outputs: OutputFolders::new(outputs.map(|output| &*output.path)),
        // Below the project's folder alone.
        inputs: match workspace.out {
            Some(_) => BTreeSet::new(),
            None => workspace.omissions.clone(),
        },
        foreign,
        texts,
    };
    Plan::start(&root, options)
}
