//! `metalmark bundle pack`: files to one bundle.

use std::io::Write;
use std::path::PathBuf;

use capi::objects::bundled::Order;
use clap::Args;
use oci_artifacts::{Digest, Reference};

use crate::bundle::{self, Bundle, BundleKind, Deployment, DeploymentSource, DeploymentVersion};
use crate::error::Error;
use crate::model::component::Declared;
use crate::output::Foreign;
use crate::pipeline::{Reporting, Terminal, Verdict};
use crate::report::quantity;

use super::destination::{Destination, Placing, Written};
use super::gather::PackKind;
use super::manifests::{Prepared, namespace};
use super::packing::{PackingOptions, Source};
use super::{Run, reference};

/// What is packed, and where it goes.
#[derive(Debug, Args)]
pub struct PackOptions {
    /// Folders and files, one archive whose files are packed, `-` for a stream of manifests, or `index:FILE`; without any, what the project renders.
    #[arg(value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// What is packed.
    #[arg(long, value_enum, default_value_t = PackKind::Plain, value_name = "KIND", conflicts_with = "components")]
    kind: PackKind,
    /// A folder or an archive whose files are installed on hosts, with `install.sh` at its root.
    #[arg(long, value_name = "PATH", conflicts_with = "inputs")]
    components: Option<PathBuf>,
    /// `dir:DIR`, `FILE.tgz`, `oci-layout:DIR[:NAME]`, or `configmaps:DIR`.
    #[arg(long, value_name = "DEST", value_parser = Destination::parse)]
    to: Destination,
    #[command(flatten)]
    packing: PackingOptions,
    #[command(flatten)]
    rukpak: RukPakOptions,
    /// Write into a folder that holds other files too: overwrite those of the same path, and leave the rest.
    #[arg(long)]
    adopt: bool,
    #[command(flatten)]
    reporting: Reporting,
}

/// How RukPak finds the bundle.
#[derive(Debug, Args)]
#[command(next_help_heading = "RukPak")]
struct RukPakOptions {
    /// What ConfigMaps and the BundleDeployment are named after.
    #[arg(long, value_name = "NAME", default_value = "bundle", value_parser = namespace)]
    name: String,
    /// The namespace of ConfigMaps: the one that RukPak runs in.
    #[arg(long, value_name = "NAME", default_value = "rukpak-system", value_parser = namespace)]
    system_namespace: String,
    /// Print a BundleDeployment of this version.
    #[arg(long, value_enum, value_name = "VERSION")]
    deployment: Option<DeploymentVersion>,
    /// The namespace that the BundleDeployment installs into; it must exist.
    #[arg(long, value_name = "NAME", default_value = "default", value_parser = namespace)]
    install_namespace: String,
    /// Where the image is that the BundleDeployment names: `oci://registry/repository`.
    #[arg(long, value_name = "REF", requires = "deployment", value_parser = reference)]
    image: Option<Reference>,
}

/// Packs files into a bundle and prints its digest.
pub(super) fn pack(
    run: &Run<'_>,
    options: &PackOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let (source, kind) = match (&options.components, options.inputs.as_slice()) {
        (Some(path), _) => (
            run.source(path, PackKind::Components)?,
            PackKind::Components,
        ),
        (None, []) => (Source::Project, options.kind),
        (None, [only]) => (run.source(only, options.kind)?, options.kind),
        (None, inputs) => (Source::Files(inputs.to_vec()), options.kind),
    };
    check_destination(options, kind)?;
    let reporting = &options.reporting;
    let is_for_rukpak =
        options.rukpak.deployment.is_some() || matches!(options.to, Destination::ConfigMaps(_));
    // RukPak pays no attention to the names of files.
    let own = is_for_rukpak.then_some(Order::Together);
    let packed = options
        .packing
        .pack(run, &source, kind, own, reporting, terminal)?;
    let Some((
        Prepared {
            bundle, objects, ..
        },
        workspace,
    )) = packed
    else {
        return Ok(Verdict::Findings);
    };
    let placing = Placing {
        foreign: Foreign::from_flag(options.adopt),
        created: run.epoch.unwrap_or(0),
        name: &options.rukpak.name,
        namespace: &options.rukpak.system_namespace,
    };
    match options.to.put(run, &bundle, &placing)? {
        Ok(written) => {
            let objects = objects.map(|count| format!(", {}", quantity(count, "object")));
            let (files, kind) = (quantity(bundle.files().len(), "file"), bundle.kind);
            let what = format!("{kind} bundle of {files}{}", objects.unwrap_or_default());
            print(&options.rukpak, &what, written, terminal)?;
            let is_image = matches!(options.to, Destination::Layout(..));
            if !is_image && has_annotations_alone(&bundle)? {
                writeln!(
                    terminal.err,
                    "note: only an image says what the bundle is made for: repeat its options at `bundle push`"
                )?;
            }
            Ok(Verdict::Clean)
        }
        Err(found) => {
            run.report(&workspace, found, reporting, terminal)?;
            Ok(Verdict::Findings)
        }
    }
}

/// Whether the annotations of a component bundle say more than its files do.
fn has_annotations_alone(packed: &Bundle) -> Result<bool, Error> {
    if packed.kind != BundleKind::Components {
        return Ok(false);
    }
    let contract = bundle::contract(packed.files(), Declared::default());
    let contract = contract.map_err(Error::reading("install.sh"))?;
    Ok(packed.annotations != contract.declared.annotations())
}

/// Prints the digest; where manifests are printed for it, on stderr.
fn print(
    rukpak: &RukPakOptions,
    what: &str,
    written: Written,
    terminal: &mut Terminal,
) -> Result<(), Error> {
    let prints_manifests = rukpak.deployment.is_some() || !written.config_maps.is_empty();
    let stream = if prints_manifests {
        &mut terminal.err
    } else {
        &mut terminal.out
    };
    writeln!(stream, "{}", written.digest)?;
    writeln!(terminal.err, "{what}; {}", written.summary)?;
    deployment(rukpak, &written.digest, written.config_maps, terminal)
}

/// Prints the BundleDeployment that installs what was packed, or the list of ConfigMaps that it would name.
fn deployment(
    rukpak: &RukPakOptions,
    digest: &Digest,
    config_maps: Vec<String>,
    terminal: &mut Terminal,
) -> Result<(), Error> {
    let Some(version) = rukpak.deployment else {
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
    let source = match &rukpak.image {
        Some(image) => DeploymentSource::Image(format!("{}@{digest}", image.name())),
        None => DeploymentSource::ConfigMaps(config_maps, rukpak.system_namespace.clone()),
    };
    let deployment = Deployment {
        version,
        name: rukpak.name.clone(),
        install_namespace: rukpak.install_namespace.clone(),
    };
    let manifest = deployment.manifest(&source).map_err(Error::usage)?;
    terminal.out.product(manifest.as_bytes())?;
    Ok(())
}

/// ConfigMaps hold manifests, and a BundleDeployment needs something that it can name.
fn check_destination(options: &PackOptions, kind: PackKind) -> Result<(), Error> {
    if matches!(options.to, Destination::ConfigMaps(_)) && kind != PackKind::Plain {
        let message = "ConfigMaps hold plain bundles alone: leave out `--kind`";
        return Err(Error::usage(message));
    }
    match (
        options.rukpak.deployment,
        &options.rukpak.image,
        &options.to,
    ) {
        (None, ..)
        | (Some(_), None, Destination::ConfigMaps(_))
        | (Some(_), Some(_), Destination::Layout(..)) => Ok(()),
        _ => Err(Error::usage(
            "a BundleDeployment names ConfigMaps or an image: pack to `configmaps:DIR`, or to \
             `oci-layout:DIR` with `--image REGISTRY/REPOSITORY`",
        )),
    }
}
