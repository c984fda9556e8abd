//! `metalmark bundle pack`: files to one bundle.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use crate::bundle::{self, Bundle, Deployment, File, Kind, LayerType, Source, plain};
use crate::error::Error;
use crate::model::component::Declared;
use crate::model::finding::Finding;
use crate::model::policy::Date;
use crate::oci::{Digest, Reference};
use crate::read::{Request, Workspace};
use crate::write::Foreign;

use super::super::{Reporting, Terminal, Verdict};
use super::gather::{self, Gathered};
use super::manifests::{Wish, prepared};
use super::to::{Manner, PutDown, To};
use super::{ManifestOrder, counted, lost, told, workspace};

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

/// What `bundle pack` was asked for.
#[derive(Clone, Debug)]
pub struct PackOptions {
    /// Folders and files, or `-`; without any, what the project renders.
    pub inputs: Vec<PathBuf>,
    /// What is packed.
    pub kind: PackKind,
    /// Where it goes.
    pub to: To,
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
    /// What ConfigMaps are named after.
    pub name: String,
    /// The namespace of ConfigMaps: the one that RukPak runs in.
    pub system_namespace: String,
    /// The BundleDeployment to print, and the image's repository.
    pub deployment: Option<(Deployment, Option<Reference>)>,
    /// Seconds since 1970 that the artifact says it was made at.
    pub created: u64,
    /// Take over files that stand in the way.
    pub adopt: bool,
    /// How findings are told.
    pub reporting: Reporting,
    /// The day that waivers are held against.
    pub today: Date,
}

/// Packs files into a bundle and prints its digest.
///
/// # Errors
/// Something cannot be read or written; what was asked for makes no sense.
pub fn bundle_pack(
    request: &Request,
    options: &PackOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    if matches!(options.to, To::ConfigMaps(_)) && options.kind != PackKind::Plain {
        let message = "ConfigMaps hold plain bundles alone: leave out `--kind`".to_owned();
        return Err(Error::Usage { message });
    }
    deployable(options)?;
    let mut workspace = workspace(request)?;
    let gathered = match options.inputs.is_empty() {
        false => Some(gather::named(request, &options.inputs, options.kind)?),
        true => gather::of_project(&mut workspace, options.kind, options.today, terminal)?,
    };
    let Some(gathered) = gathered else {
        return Ok(Verdict::Findings);
    };
    let (mut bundle, objects, found) = made(&workspace, gathered, options, terminal)?;
    bundle.annotations.extend(options.annotations.clone());
    let reporting = options.reporting.within(request.directory.as_ref());
    let telling = (options.today, &reporting);
    if told(&workspace, found, telling, terminal)? == Verdict::Findings {
        return Ok(Verdict::Findings);
    }
    let manner = Manner {
        request,
        foreign: if options.adopt {
            Foreign::Adopt
        } else {
            Foreign::Refuse
        },
        created: options.created,
        name: &options.name,
        system_namespace: &options.system_namespace,
        progress: terminal.progress.as_ref(),
    };
    match options.to.put(&bundle, &manner)? {
        PutDown::Refused(found) => told(&workspace, found, telling, terminal),
        PutDown::Done {
            told,
            digest,
            config_maps,
        } => {
            let has_list = options.deployment.is_some() || !config_maps.is_empty();
            let stream = match has_list {
                true => &mut terminal.err,
                false => &mut terminal.out,
            };
            writeln!(stream, "{digest}")?;
            let kind = bundle.kind;
            let files = counted(bundle.files().len(), "file");
            let objects = objects.map(|count| format!(", {}", counted(count, "object")));
            let objects = objects.unwrap_or_default();
            writeln!(terminal.err, "{kind} bundle of {files}{objects}; {told}")?;
            deployment(options, &digest, config_maps, terminal)?;
            Ok(Verdict::Clean)
        }
    }
}

/// The bundle, how many objects it holds where it holds manifests, and what is wrong with it.
fn made(
    workspace: &Workspace,
    gathered: Gathered,
    options: &PackOptions,
    terminal: &Terminal,
) -> Result<(Bundle, Option<usize>, Vec<Finding>), Error> {
    let mut findings = gathered.findings;
    let files: Vec<File> = gathered.files.into_values().collect();
    let kind = match options.kind {
        PackKind::Plain => {
            let paths = files.iter().map(|file| &*file.path);
            let folders = gathered.folders.iter().map(String::as_str);
            findings.extend(plain::misplaced(paths, folders));
            let wish = Wish {
                order: options.order,
                namespace: options.namespace.as_deref(),
                policy: &workspace.settings.policy,
                progress: terminal.progress.as_ref(),
            };
            let prepared = prepared(files, &wish)?;
            findings.extend(prepared.findings);
            return Ok((prepared.bundle, Some(prepared.objects.len()), findings));
        }
        PackKind::Artifact => Kind::Artifact(options.layer_type),
        PackKind::Components => Kind::Components,
    };
    if kind == Kind::Components {
        let (_, found) = bundle::contract(&files, &options.declared).map_err(lost("install.sh"))?;
        findings.extend(found);
    } else if files.is_empty() {
        let finding = Finding::new("bundle-empty", "the bundle holds no file");
        findings.push(finding.help("name a folder with files in it"));
    }
    let mut bundle = Bundle::new(kind, files).map_err(|twice| Error::Usage {
        message: format!("two files come to `{twice}`"),
    })?;
    bundle.annotations = options.declared.annotations();
    Ok((bundle, None, findings))
}

/// Prints the BundleDeployment that installs what was packed, or the list of ConfigMaps that it would name.
fn deployment(
    options: &PackOptions,
    digest: &Digest,
    config_maps: Vec<String>,
    terminal: &mut Terminal,
) -> Result<(), Error> {
    let Some((deployment, image)) = &options.deployment else {
        if !config_maps.is_empty() {
            writeln!(terminal.out, "configMaps:")?;
        }
        for name in &config_maps {
            writeln!(
                terminal.out,
                "- configMap:\n    name: {name}\n  path: manifests"
            )?;
        }
        return Ok(());
    };
    let source = match image {
        Some(image) => Source::Image(format!("{}@{digest}", image.name())),
        None => Source::ConfigMaps(config_maps, options.system_namespace.clone()),
    };
    let manifest = deployment.manifest(&source);
    let manifest = manifest.map_err(|message| Error::Usage { message })?;
    write!(terminal.out, "{manifest}")?;
    Ok(())
}

/// A BundleDeployment needs something that it can name.
fn deployable(options: &PackOptions) -> Result<(), Error> {
    match (&options.deployment, &options.to) {
        (None, _) | (Some((_, None)), To::ConfigMaps(_)) | (Some((_, Some(_))), To::Layout(..)) => {
            Ok(())
        }
        _ => Err(Error::Usage {
            message:
                "a BundleDeployment names ConfigMaps or an image: pack to `configmaps:DIR`, or to \
                      `oci-layout:DIR` with `--image REGISTRY/REPOSITORY`"
                    .to_owned(),
        }),
    }
}
