//! `metalmark bundle unpack`: a bundle to files that are committed.

use std::io::Write;
use std::path::PathBuf;

use crate::bundle::{self, Bundle, Kind, plain, registry};
use crate::error::Error;
use crate::model::component::Declared;
use crate::model::finding::Finding;
use crate::model::policy::Date;
use crate::output::Foreign;
use crate::read::Request;

use super::from::{From, Loaded};
use super::manifests::{Wish, prepared};
use super::to::{Manner, incoming, into_folder};
use super::{ManifestOrder, counted, lost, told, workspace};
use crate::pipeline::{Reporting, Terminal, Verdict};

/// What `bundle unpack` was asked for.
#[derive(Clone, Debug)]
pub struct UnpackOptions {
    /// Where the bundle is.
    pub from: From,
    /// The folder that its files go into.
    pub into: PathBuf,
    /// How manifests are brought into order.
    pub order: ManifestOrder,
    /// Where objects go that name no namespace.
    pub namespace: Option<String>,
    /// Take over files that stand in the way.
    pub adopt: bool,
    /// How findings are told.
    pub reporting: Reporting,
    /// The day that waivers are held against.
    pub today: Date,
}

/// Writes the files of a bundle into a folder, unless something is wrong with it.
///
/// # Errors
/// It cannot be read, or its files not be written.
pub fn bundle_unpack(
    request: &Request,
    options: &UnpackOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let workspace = workspace(request, false)?;
    let mut loaded = options.from.load(request, terminal.progress.as_ref())?;
    let kind = loaded.bundle.kind;
    let mut found = std::mem::take(&mut loaded.findings);
    let mut sound = None;
    if found.is_empty() {
        let wish = Wish {
            order: options.order,
            namespace: options.namespace.as_deref(),
            policy: &workspace.settings.policy,
            progress: terminal.progress.as_ref(),
        };
        let (bundle, wrong) = checked(loaded, &wish)?;
        found.extend(wrong);
        sound = Some(bundle);
    }
    let reporting = options.reporting.within(request.directory.as_ref());
    let telling = (options.today, &reporting);
    let verdict = told(&workspace, found, telling, terminal)?;
    let (Some(bundle), Verdict::Clean) = (sound, verdict) else {
        return Ok(Verdict::Findings);
    };
    let manner = Manner {
        foreign: Foreign::by(options.adopt),
        ..Manner::plain(request, terminal.progress.as_ref())
    };
    match into_folder(&options.into, incoming(&bundle), &manner)? {
        Err(findings) => {
            told(&workspace, findings, telling, terminal)?;
            Ok(Verdict::Findings)
        }
        Ok(written) => {
            let files = counted(bundle.files().len(), "file");
            writeln!(terminal.out, "{kind} bundle of {files}; {written}")?;
            Ok(Verdict::Clean)
        }
    }
}

/// What is written of a bundle, and what is wrong with it.
pub(super) fn checked(loaded: Loaded, wish: &Wish<'_>) -> Result<(Bundle, Vec<Finding>), Error> {
    let bundle = loaded.bundle;
    match bundle.kind {
        Kind::Artifact(_) => Ok((bundle, Vec::new())),
        Kind::Components => {
            let declared = Declared::of_annotations(&bundle.annotations);
            let contract = bundle::contract(bundle.files(), &declared);
            let (_, found) = contract.map_err(lost(&loaded.shown))?;
            Ok((bundle, found))
        }
        Kind::Plain => {
            let paths = bundle.files().iter().map(|file| &*file.path);
            let folders = loaded.folders.iter().map(String::as_str);
            let mut found = plain::misplaced(paths, folders);
            let prepared = prepared(bundle.files().to_vec(), wish)?;
            found.extend(prepared.findings);
            Ok((prepared.bundle, found))
        }
        Kind::Registry => {
            let converted = registry::plain(bundle.files(), wish.namespace);
            match converted.map_err(lost(&loaded.shown))? {
                Err(found) => Ok((bundle, found)),
                Ok(files) => {
                    let prepared = prepared(files, wish)?;
                    Ok((prepared.bundle, prepared.findings))
                }
            }
        }
    }
}
