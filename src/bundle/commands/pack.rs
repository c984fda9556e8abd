//! `metalmark bundle pack`: files to one bundle.

use std::io::Write;

use crate::bundle::{Deployment, DeploymentSource};
use crate::error::Error;
use crate::model::policy::Date;
use crate::oci::{Digest, Reference};
use crate::output::Foreign;
use crate::read::Request;

use super::packing::{PackKind, Packing, packed};
use super::to::{Done, Manner, PutDown, To};
use super::{counted, told, workspace};
use crate::pipeline::{Reporting, Terminal, Verdict};

/// What `bundle pack` was asked for.
#[derive(Clone, Debug)]
pub struct PackOptions {
    /// What is packed, and as what.
    pub packing: Packing,
    /// Where it goes.
    pub to: To,
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
    possible(options)?;
    let mut workspace = workspace(request, options.packing.inputs.is_empty())?;
    let reporting = options.reporting.within(request.directory.as_ref());
    let telling = (options.today, &reporting);
    let packed = packed(request, &mut workspace, &options.packing, telling, terminal)?;
    let Some((bundle, objects)) = packed else {
        return Ok(Verdict::Findings);
    };
    let manner = Manner {
        request,
        foreign: Foreign::by(options.adopt),
        created: options.created,
        name: &options.name,
        system_namespace: &options.system_namespace,
        progress: terminal.progress.as_ref(),
    };
    match options.to.put(&bundle, &manner)? {
        PutDown::Done(done) => {
            let objects = objects.map(|count| format!(", {}", counted(count, "object")));
            let (files, kind) = (counted(bundle.files().len(), "file"), bundle.kind);
            let what = format!("{kind} bundle of {files}{}", objects.unwrap_or_default());
            print(options, &what, done, terminal)?;
            Ok(Verdict::Clean)
        }
        PutDown::Refused(found) => {
            told(&workspace, found, telling, terminal)?;
            Ok(Verdict::Findings)
        }
    }
}

/// Prints the digest; where manifests are printed for it, beside them.
fn print(
    options: &PackOptions,
    what: &str,
    done: Done,
    terminal: &mut Terminal,
) -> Result<(), Error> {
    let prints_manifests = options.deployment.is_some() || !done.config_maps.is_empty();
    let stream = match prints_manifests {
        true => &mut terminal.err,
        false => &mut terminal.out,
    };
    writeln!(stream, "{}", done.digest)?;
    writeln!(terminal.err, "{what}; {}", done.told)?;
    deployment(options, &done.digest, done.config_maps, terminal)
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
        Some(image) => DeploymentSource::Image(format!("{}@{digest}", image.name())),
        None => DeploymentSource::ConfigMaps(config_maps, options.system_namespace.clone()),
    };
    let manifest = deployment.manifest(&source);
    let manifest = manifest.map_err(|message| Error::Usage { message })?;
    terminal.out.product(manifest.as_bytes())?;
    Ok(())
}

/// ConfigMaps hold manifests, and a BundleDeployment needs something that it can name.
fn possible(options: &PackOptions) -> Result<(), Error> {
    if matches!(options.to, To::ConfigMaps(_)) && options.packing.kind != PackKind::Plain {
        let message = "ConfigMaps hold plain bundles alone: leave out `--kind`".to_owned();
        return Err(Error::Usage { message });
    }
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
