//! Where a run reports to: a stream, and any number of files.

use std::path::PathBuf;

use crate::error::Error;
use crate::model::finding::Judged;
use crate::model::pool_counts::PoolCounts;
use crate::output;
use crate::printer::{Color, Printer};
use crate::read::{self, Workspace};
use crate::report::{Changes, Findings, Report, Run};

use super::fleet;

/// How a run reports.
#[derive(Clone, Debug)]
pub struct Reporting {
    /// The format of what is printed.
    pub output: &'static dyn Report,
    /// What is written to files besides.
    pub files: Vec<ReportFile>,
}

/// One report in a file.
#[derive(Clone, Debug)]
pub struct ReportFile {
    /// The format.
    pub format: &'static dyn Report,
    /// The file, below the folder that the run is started in.
    pub path: PathBuf,
}

impl Reporting {
    /// The files below the folder that `-C` names.
    pub(crate) fn within(&self, directory: Option<&PathBuf>) -> Self {
        let below = |file: &ReportFile| ReportFile {
            path: directory.map_or(file.path.clone(), |folder| folder.join(&file.path)),
            ..file.clone()
        };
        Self {
            output: self.output,
            files: self.files.iter().map(below).collect(),
        }
    }

    /// Writes the files: each whole, whatever was found.
    ///
    /// # Errors
    /// One cannot be written.
    pub(crate) fn save(
        &self,
        (judged, pools): (&[Judged], &PoolCounts),
        workspace: &Workspace,
        changes: Changes<'_>,
    ) -> Result<(), Error> {
        for file in &self.files {
            let findings = findings((judged, pools), workspace, changes, Color::Never);
            let text = Printer::printed(Color::Never, |out| file.format.findings(&findings, out))?;
            output::file(&file.path, text.as_bytes())?;
        }
        Ok(())
    }
}

/// The findings with what the formats need of the run.
pub(crate) fn findings<'a>(
    (judged, pools): (&'a [Judged], &PoolCounts),
    workspace: &'a Workspace,
    changes: Changes<'a>,
    color: Color,
) -> Findings<'a> {
    let mut clusters: Vec<&str> = fleet::entries(workspace)
        .map(|entry| &*entry.name)
        .collect();
    let checked = clusters.len();
    clusters.sort_unstable();
    let run = Run {
        clusters,
        folder: read::folder_in_repository(&workspace.settings.root),
        changes,
    };
    Findings::new(judged, checked, color)
        .with_pools(pools)
        .of(run)
}
