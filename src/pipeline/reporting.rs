//! Where a run reports to: a stream, and any number of files.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::decide::pool_counts::PoolCounts;
use crate::error::Error;
use crate::model::finding::{Finding, Judged};
use crate::model::rule::Level;
use crate::output;
use crate::printer::{Color, Detail, Printer};
use crate::read::{self, Workspace};
use crate::report::{self, Changes, Findings, JudgedPool, REPORTS, Report, Run, WriteChanges};

use super::Terminal;

/// Where findings go.
#[derive(Clone, Debug, Args)]
pub struct Reporting {
    /// The format of what is printed.
    #[arg(long, value_parser = format(), default_value = REPORTS[0].name(), value_name = "FORMAT")]
    pub output: &'static dyn Report,
    /// Print how many findings each rule has, instead of the findings.
    #[arg(long, conflicts_with = "output")]
    pub statistics: bool,
    /// Write a report to a file as well, in any format of --output; may be given several times.
    #[arg(long = "report", value_parser = report_file, value_name = "FORMAT=FILE")]
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

/// Any format of the table.
fn format() -> impl TypedValueParser<Value = &'static dyn Report> {
    let formats = REPORTS
        .iter()
        .map(|report| PossibleValue::new(report.name()).help(report.summary()));
    PossibleValuesParser::new(formats).map(|name| report::find(&name).unwrap_or(REPORTS[0]))
}

/// `FORMAT=FILE`.
fn report_file(text: &str) -> Result<ReportFile, String> {
    let (name, path) = text.split_once('=').unwrap_or((text, ""));
    let Some(format) = report::find(name) else {
        let known: Vec<&str> = REPORTS.iter().map(|report| report.name()).collect();
        return Err(format!("the formats are {}", known.join(", ")));
    };
    if path.is_empty() {
        return Err(format!("write {name}=FILE"));
    }
    Ok(ReportFile {
        format,
        path: path.into(),
    })
}

impl Default for Reporting {
    /// For people, and into no file.
    fn default() -> Self {
        Self {
            output: REPORTS[0],
            statistics: false,
            files: Vec::new(),
        }
    }
}

impl Reporting {
    /// Whether no program reads what is reported.
    pub(crate) fn is_for_people(&self) -> bool {
        self.output.name() == REPORTS[0].name() && self.files.is_empty()
    }

    /// The files below the folder that `-C` names.
    pub(crate) fn resolve_in(&self, directory: Option<&PathBuf>) -> Self {
        let below = |file: &ReportFile| ReportFile {
            path: directory.map_or(file.path.clone(), |folder| folder.join(&file.path)),
            ..file.clone()
        };
        Self {
            output: if self.statistics {
                &report::Statistics
            } else {
                self.output
            },
            files: self.files.iter().map(below).collect(),
            ..self.clone()
        }
    }

    /// How changes are listed apart from the findings; none where the format holds both, or people want errors only.
    pub(crate) fn list_changes(&self, detail: Detail) -> Option<WriteChanges> {
        self.output.changes().filter(|_| detail != Detail::Quiet)
    }

    /// Whether a format lists the node pools one by one.
    pub(crate) fn lists_pools(&self) -> bool {
        let of_files = self.files.iter().map(|file| file.format);
        let mut formats = of_files.chain([self.output]);
        formats.any(Report::lists_pools)
    }

    /// Writes the files and prints the findings. They go to stderr beside a result; a format that holds both in one document is
    /// the result, and so are findings for a program that left no other.
    ///
    /// # Errors
    /// A file cannot be written, or nothing can be printed.
    pub(crate) fn print(
        &self,
        found: CheckReport<'_>,
        workspace: &Workspace,
        changes: Changes<'_>,
        terminal: &mut Terminal,
    ) -> Result<(), Error> {
        let is_only_result = matches!(changes, Changes::None) && self.output.name() != "human";
        if self.output.changes().is_some() && !is_only_result {
            return self.print_beside(found, workspace, changes, terminal);
        }
        self.print_to(&mut terminal.out, found, workspace, changes)
    }

    /// Writes the files, and prints the findings to a stream.
    ///
    /// # Errors
    /// A file cannot be written, or nothing can be printed.
    pub(crate) fn print_to(
        &self,
        stream: &mut Printer,
        found: CheckReport<'_>,
        workspace: &Workspace,
        changes: Changes<'_>,
    ) -> Result<(), Error> {
        self.print_run(stream, found, &run(workspace, changes))
    }

    fn print_run(
        &self,
        stream: &mut Printer,
        found: CheckReport<'_>,
        run: &Run<'_>,
    ) -> Result<(), Error> {
        self.save(found, run)?;
        let findings = findings(found, run, stream.color).with_detail(stream.detail);
        Ok(self.output.findings(&findings, stream)?)
    }

    /// Writes the files and prints the one finding of a project file that is no YAML.
    ///
    /// # Errors
    /// A file cannot be written, or nothing can be printed.
    pub(crate) fn print_fault(
        &self,
        fault: Finding,
        root: &Path,
        stream: &mut Printer,
    ) -> Result<(), Error> {
        let judged = [Judged {
            finding: fault,
            level: Level::Error,
        }];
        let found = CheckReport {
            judged: &judged,
            pools: &PoolCounts::default(),
            pool_list: self.lists_pools().then_some(&[]),
        };
        let run = Run {
            folder: read::folder_in_repository(root),
            ..Run::from_folder(root)
        };
        self.print_run(stream, found, &run)
    }

    /// Writes the files, and prints findings, if there are any, to stderr.
    ///
    /// # Errors
    /// A file cannot be written, or nothing can be printed.
    pub(crate) fn print_beside(
        &self,
        found: CheckReport<'_>,
        workspace: &Workspace,
        changes: Changes<'_>,
        terminal: &mut Terminal,
    ) -> Result<(), Error> {
        if found.judged.is_empty() {
            return self.save(found, &run(workspace, changes));
        }
        self.print_to(&mut terminal.err, found, workspace, changes)
    }

    /// Writes the files: each whole, whatever was found.
    ///
    /// # Errors
    /// One cannot be written.
    fn save(&self, found: CheckReport<'_>, run: &Run<'_>) -> Result<(), Error> {
        for file in &self.files {
            let findings = findings(found, run, Color::Never);
            let text =
                Printer::print_to_string(Color::Never, |out| file.format.findings(&findings, out))?;
            output::file(&file.path, text.as_bytes())?;
        }
        Ok(())
    }
}

/// What a check says: the findings, and what was checked of the node pools.
#[derive(Clone, Copy)]
pub(crate) struct CheckReport<'c> {
    pub(crate) judged: &'c [Judged],
    pub(crate) pools: &'c PoolCounts,
    /// The pools one by one, where the command lists them.
    pub(crate) pool_list: Option<&'c [JudgedPool]>,
}

/// What the formats need of a run.
pub(crate) fn run<'a>(workspace: &'a Workspace, changes: Changes<'a>) -> Run<'a> {
    let mut clusters: Vec<&str> = workspace.entries().map(|entry| &*entry.name).collect();
    clusters.sort_unstable();
    Run {
        clusters,
        folder: read::folder_in_repository(&workspace.settings.root),
        root: workspace.settings.root.clone(),
        changes,
    }
}

/// The findings with what the formats need of the run.
pub(crate) fn findings<'a>(found: CheckReport<'a>, run: &Run<'a>, color: Color) -> Findings<'a> {
    Findings::new(found.judged, run.clusters.len(), color)
        .with_pools(found.pools)
        .with_pool_list(found.pool_list)
        .with_run(run.clone())
}
