//! `metalmark mirror`: copies what is locked to where it is read from, with everything that signs or describes it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use oci_artifacts::registries::{Mirror, RegistrySettings};
use oci_artifacts::{Failure, Reference};

use crate::catalog::mirroring::{Load, MirrorPlace, MirrorState, MirrorTask, Mirrored, Mirroring};
use crate::catalog::sources;
use crate::error::Error;
use crate::model::date::Date;
use crate::pipeline::fleet::Fleet;
use crate::pipeline::{self, Terminal, Verdict, check};
use crate::read::{self, Request};
use crate::report::{self, Format, print_findings};

/// What is copied where.
#[derive(Clone, Debug, Args)]
pub struct MirrorOptions {
    /// `oci://REGISTRY`, with or without a path, or `oci-layout:DIR`; else the mirrors that the project file names.
    #[arg(long, value_name = "TO", value_parser = read::mirror)]
    pub to: Option<Mirror>,
    /// Say what would be copied, and copy nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// The format of what is printed.
    #[arg(long = "output", value_enum, default_value_t = Format::Human, value_name = "FORMAT")]
    pub format: Format,
}

/// Copies every locked image by its digest: indexes with all parts, and all signatures, attestations and other artifacts that
/// belong to them. What is there already is skipped, so that a run that was ended goes on where it was.
///
/// With `--to`, images come from where the project reads them; without, and where that is the same place, from their own registry.
///
/// # Errors
/// I/O or the network failed; there is no project, or nothing to copy; images could not be copied, which is reported when the
/// others are.
pub fn mirror(
    request: &Request,
    options: &MirrorOptions,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let fleet = Fleet::open(read::workspace(request)?, today)?;
    let workspace = &fleet.workspace;
    let judged = check::findings(workspace.findings.clone(), &workspace.settings, today);
    if judged.has_errors() {
        let clusters = workspace.clusters.len();
        print_findings(
            &mut terminal.err,
            &judged.findings,
            clusters,
            options.format,
        )?;
        return Ok(Verdict::Findings);
    }
    let here = request.directory.as_deref().unwrap_or(Path::new("."));
    let tasks = tasks(&fleet, options.to.as_ref(), here);
    if tasks.is_empty() {
        let message = format!(
            "there is nothing to copy: `{}` holds no image{}",
            workspace.lock.display(),
            match options.to {
                Some(_) => " of a registry\nhelp: run `metalmark lock`",
                None => {
                    " that has a mirror under `registries.mirrors`\nhelp: name one there, or `--to oci-layout:DIR`"
                }
            }
        );
        return Err(Error::usage(message));
    }
    let own = RegistrySettings {
        mirrors: BTreeMap::new(),
        ..workspace.settings.registries.clone()
    };
    let root = &workspace.settings.root;
    let mirroring = Mirroring {
        project: Arc::new(pipeline::open_stores(workspace, terminal)?),
        registries: Arc::new(sources::stores(root, &own, terminal.progress.clone())),
    };
    let loads = mirroring.loads(&tasks);
    let mut images = Vec::new();
    let mut failures = Vec::new();
    for (task, load) in tasks.iter().zip(loads) {
        match load.and_then(|load| copy(&mirroring, task, load, options.dry_run)) {
            Ok(image) => {
                if image.state == MirrorState::Copied {
                    let done = images.len() + failures.len() + 1;
                    report::copy_progress(&image, done, tasks.len(), &mut terminal.err)?;
                }
                images.push(image);
            }
            Err(failure) => failures.push(failure.with_place(task.place.clone(), &task.key)),
        }
    }
    report::copies(&images, options.format, &mut terminal.out)?;
    if failures.is_empty() {
        Ok(Verdict::Clean)
    } else {
        Err(Error::Fetch { failures })
    }
}

fn copy<'a>(
    mirroring: &Mirroring,
    task: &'a MirrorTask,
    load: Load,
    is_dry: bool,
) -> Result<Mirrored<'a>, Failure> {
    let state = if load.is_there() {
        MirrorState::There
    } else if is_dry {
        MirrorState::Lacking
    } else {
        mirroring.copy(task, &load)?;
        MirrorState::Copied
    };
    Ok(Mirrored {
        task,
        attached: load.count_attached(),
        bytes: load.bytes(),
        state,
    })
}

/// The locked images of registries that have a place to be copied to, each digest of a reference once.
fn tasks(fleet: &Fleet, to: Option<&Mirror>, here: &Path) -> Vec<MirrorTask> {
    let settings = &fleet.workspace.settings;
    let sources = fleet.lock_sources();
    let mut tasks: Vec<MirrorTask> = Vec::new();
    for image in fleet.lock().images() {
        let Ok(name) = Reference::parse(&image.reference.value) else {
            continue;
        };
        let name = name.with_digest(&image.digest.value);
        let mirror = settings.registries.mirror(&name);
        let home =
            mirror.map(|(mirror, rest)| MirrorPlace::new(mirror, &settings.root, &name, rest));
        let to = match to {
            Some(mirror) => Some(MirrorPlace::new(mirror, here, &name, &name.repository)),
            None => home.clone(),
        };
        let Some(to) = to.filter(|_| tasks.iter().all(|task| task.name != name)) else {
            continue;
        };
        let place = sources.resolve(image.reference.place);
        tasks.push(MirrorTask {
            key: Arc::clone(&image.key.value),
            place: place.map(|spot| spot.to_string()),
            reads_origin: home.is_some_and(|home| home.is_same(&to)),
            evidence: image.evidence.clone(),
            name,
            to,
        });
    }
    tasks
}
