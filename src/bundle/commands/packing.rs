//! What is packed, whether it is written somewhere or pushed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::bundle::{self, Bundle, File, Kind, LayerType, plain};
use crate::error::Error;
use crate::model::component::Declared;
use crate::model::finding::Finding;
use crate::model::policy::Date;
use crate::model::rule::RuleId;
use crate::read::{Request, Workspace};

use super::from::Loaded;
use super::gather::{self, Gathered};
use super::manifests::{Wish, prepared};
use super::{ManifestOrder, lost, told};
use crate::pipeline::{Reporting, Terminal, Verdict};

/// What is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackKind {
    /// Manifests as RukPak takes them.
    Plain,
    /// A tree as Flux and Argo CD take it.
    Artifact,
    /// What is installed on a host.
    Components,
}

/// What is packed, and as what.
#[derive(Clone, Debug)]
pub struct Packing {
    /// Folders and files, or `-`; without any, what the project renders.
    pub inputs: Vec<PathBuf>,
    /// What is packed.
    pub kind: PackKind,
    /// How manifests are brought into order.
    pub order: ManifestOrder,
    /// Where objects go that name no namespace.
    pub namespace: Option<String>,
    /// How the layer of an artifact is named.
    pub layer_type: LayerType,
    /// What is said of the bundle.
    pub annotations: BTreeMap<String, String>,
    /// What a component bundle is made for.
    pub declared: Declared,
}

/// A bundle, and how many objects it holds where it holds manifests.
pub(super) type Packed = (Bundle, Option<usize>);

/// The bundle of what is named, or of what the project renders; none where something is wrong with it, which is told.
pub(super) fn packed(
    request: &Request,
    workspace: &mut Workspace,
    packing: &Packing,
    telling: (Date, &Reporting),
    terminal: &mut Terminal,
) -> Result<Option<Packed>, Error> {
    let gathered = match packing.inputs.as_slice() {
        [] => gather::of_project(workspace, packing.kind, telling.0, terminal)?,
        [only] if gather::is_index(only) => Some(gather::of_index(request, only, terminal)?),
        inputs => Some(gather::named(request, inputs, packing.kind)?),
    };
    match gathered {
        Some(gathered) => whole(workspace, gathered, packing, telling, terminal),
        None => Ok(None),
    }
}

/// The bundle of what was read from an archive; none where something is wrong with it, which is told.
pub(super) fn packed_anew(
    workspace: &Workspace,
    loaded: Loaded,
    packing: &Packing,
    telling: (Date, &Reporting),
    terminal: &mut Terminal,
) -> Result<Option<Packed>, Error> {
    let files = loaded.bundle.files().iter();
    let gathered = Gathered {
        files: files
            .map(|file| (file.path.to_string(), file.clone()))
            .collect(),
        folders: loaded.folders,
        findings: loaded.findings,
        annotations: BTreeMap::new(),
    };
    whole(workspace, gathered, packing, telling, terminal)
}

fn whole(
    workspace: &Workspace,
    gathered: Gathered,
    packing: &Packing,
    telling: (Date, &Reporting),
    terminal: &mut Terminal,
) -> Result<Option<Packed>, Error> {
    let (mut bundle, objects, found) = made(workspace, gathered, packing, terminal)?;
    bundle.annotations.extend(packing.annotations.clone());
    Ok(match told(workspace, found, telling, terminal)? {
        Verdict::Findings => None,
        _ => Some((bundle, objects)),
    })
}

/// The bundle, how many objects it holds where it holds manifests, and what is wrong with it.
fn made(
    workspace: &Workspace,
    gathered: Gathered,
    packing: &Packing,
    terminal: &Terminal,
) -> Result<(Bundle, Option<usize>, Vec<Finding>), Error> {
    if packing.kind == PackKind::Plain {
        return manifests(workspace, gathered, packing, terminal);
    }
    let mut findings = gathered.findings;
    let files: Vec<File> = gathered.files.into_values().collect();
    let kind = match packing.kind {
        PackKind::Plain => Kind::Plain,
        PackKind::Artifact => Kind::Artifact(packing.layer_type),
        PackKind::Components => Kind::Components,
    };
    if kind == Kind::Components {
        let (_, found) = bundle::contract(&files, &packing.declared).map_err(lost("install.sh"))?;
        findings.extend(found);
    } else if files.is_empty() {
        let finding = Finding::new(RuleId::BundleEmpty, "the bundle holds no file");
        findings.push(finding.help("name a folder with files in it"));
    }
    let mut bundle = Bundle::new(kind, files).map_err(|twice| Error::Usage {
        message: format!("two files come to `{twice}`"),
    })?;
    bundle.annotations = packing.declared.annotations();
    Ok((bundle, None, findings))
}

/// The bundle of manifests.
fn manifests(
    workspace: &Workspace,
    gathered: Gathered,
    packing: &Packing,
    terminal: &Terminal,
) -> Result<(Bundle, Option<usize>, Vec<Finding>), Error> {
    let mut findings = gathered.findings;
    let paths = gathered.files.keys().map(String::as_str);
    let folders = gathered.folders.iter().map(String::as_str);
    findings.extend(plain::misplaced(paths, folders));
    let wish = Wish {
        order: packing.order,
        namespace: packing.namespace.as_deref(),
        policy: &workspace.settings.policy,
        progress: terminal.progress.as_ref(),
    };
    let mut prepared = prepared(gathered.files.into_values().collect(), &wish)?;
    findings.extend(prepared.findings);
    prepared.bundle.annotations = gathered.annotations;
    Ok((prepared.bundle, Some(prepared.objects.len()), findings))
}
