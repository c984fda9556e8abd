//! `metalmark bundle inspect`: what a bundle is and holds.

use std::collections::BTreeSet;

use capi::objects::bundled::{self, Order};
use clap::Args;
use yaml_tree::place::Spot;

use crate::bundle::{self, Bundle, BundleKind, MANIFESTS, plain};
use crate::error::Error;
use crate::model::component::{Declared, Need};
use crate::model::finding::Finding;
use crate::model::policy::Policy;
use crate::pipeline::{Reporting, Terminal, Verdict};
use crate::report::{
    self, BundleDescription, FileDescription, Format, InstallerDescription, ObjectDescription,
};

use super::gather::is_yaml;
use super::input::{Input, Loaded};
use super::manifests::{ManifestOrder, Manifests, judge, print_left_out};
use super::{Run, collision};

/// What is inspected.
#[derive(Debug, Args)]
pub struct InspectOptions {
    /// A folder, an archive, `-`, `oci-layout:DIR[:NAME]`, `configmaps:PATH`,
    /// `index:FILE`, or `oci://…@sha256:…`.
    #[arg(value_name = "FROM", value_parser = Input::parse)]
    from: Input,
    /// In which order objects are applied.
    #[arg(long, value_enum, default_value_t = ManifestOrder::Kind, value_name = "ORDER")]
    order: ManifestOrder,
    /// The format of what is printed.
    #[arg(long = "output", value_enum, default_value_t = Format::Human, value_name = "FORMAT")]
    format: Format,
}

/// Prints what a bundle is and holds; what is wrong with it goes to stderr.
pub(super) fn inspect(
    run: &Run<'_>,
    options: &InspectOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let workspace = run.workspace(false)?;
    let mut loaded = options.from.load(run)?;
    let mut found = std::mem::take(&mut loaded.findings);
    if found.is_empty() {
        let order = options.order.to_order(Order::Together);
        if loaded.bundle.kind == BundleKind::Plain {
            leave_out_inputs(&mut loaded, terminal)?;
        }
        let (description, wrong) = describe(&loaded, order, &workspace.settings.policy)?;
        found.extend(wrong);
        report::bundle(&description, options.format, &mut terminal.out)?;
    }
    run.report(&workspace, found, &Reporting::default(), terminal)
}

/// Leaves out of a plain bundle what packing and unpacking it leave out, and says what.
fn leave_out_inputs(loaded: &mut Loaded, terminal: &mut Terminal) -> Result<(), Error> {
    let bundle = &loaded.bundle;
    let manifests = Manifests::read(bundle.files().to_vec(), &|_| {});
    let manifests = manifests.map_err(Error::reading(&loaded.shown))?;
    let mut left_out = std::mem::take(&mut loaded.left_out);
    left_out.extend(manifests.left_out);
    let held = Bundle::new(BundleKind::Plain, manifests.files).map_err(collision)?;
    loaded.bundle = Bundle {
        annotations: bundle.annotations.clone(),
        ..held
    };
    print_left_out(&left_out, terminal)
}

fn describe(
    loaded: &Loaded,
    order: Order,
    policy: &Policy,
) -> Result<(BundleDescription, Vec<Finding>), Error> {
    let (bundle, unreadable) = (&loaded.bundle, Error::reading(&loaded.shown));
    let mut description = describe_basics(loaded)?;
    if bundle.kind == BundleKind::Components {
        let declared = Declared::from_annotations(&bundle.annotations);
        let contract = bundle::contract(bundle.files(), declared);
        let bundle::Contract {
            installer,
            declared,
            findings,
        } = contract.map_err(&unreadable)?;
        description.installer = installer.map(|installer| describe_installer(installer, &declared));
        return Ok((description, findings));
    }
    let manifests = manifests(bundle);
    let index = plain::index(&manifests, &|_| {}).map_err(&unreadable)?;
    description.objects = index
        .objects
        .iter()
        .map(|object| describe_object(object, &manifests))
        .collect();
    let texts = plain::Texts::new(&manifests);
    let seen = bundled::Bundle::new(&index.objects, &texts, order);
    let mut found = Vec::new();
    if bundle.kind == BundleKind::Registry {
        found.push(bundle::registry_bundle_finding(Some(Spot::from_path(
            &loaded.shown,
        ))));
    }
    if bundle.kind == BundleKind::Plain {
        description.needs = seen.foreign_kinds();
        found.extend(plain::check_layout(&loaded.folders));
        found.extend(index.findings);
        judge(&seen, policy, &mut found);
    }
    Ok((description, found))
}

/// What every bundle has.
fn describe_basics(loaded: &Loaded) -> Result<BundleDescription, Error> {
    let bundle = &loaded.bundle;
    let content = bundle
        .content_digest(&|_| {})
        .map_err(Error::reading(&loaded.shown))?;
    Ok(BundleDescription {
        kind: bundle.kind.to_string(),
        digest: loaded.digest.as_ref().map(ToString::to_string),
        content: content.to_string(),
        bytes: bundle.files().iter().map(|file| file.size).sum(),
        files: bundle.files().iter().map(describe_file).collect(),
        objects: Vec::new(),
        needs: BTreeSet::new(),
        installer: None,
        annotations: bundle.annotations.clone(),
    })
}

/// The files that may hold objects: those of `manifests/`, and of a tree those that are YAML by their names.
fn manifests(bundle: &Bundle) -> Vec<bundle::File> {
    let is_manifest = |file: &&bundle::File| match bundle.kind {
        BundleKind::Artifact(_) => is_yaml(&file.path),
        _ => file.path.starts_with(MANIFESTS),
    };
    bundle.files().iter().filter(is_manifest).cloned().collect()
}

fn describe_file(file: &bundle::File) -> FileDescription {
    FileDescription {
        path: file.path.to_string(),
        bytes: file.size,
        executable: file.mode.is_executable(),
    }
}

fn describe_object(object: &bundled::Bundled, files: &[bundle::File]) -> ObjectDescription {
    ObjectDescription {
        api_version: object.api_version.to_string(),
        kind: object.kind.to_string(),
        namespace: object.namespace.to_string(),
        name: object.name.to_string(),
        file: files[object.file].path.to_string(),
    }
}

fn describe_installer(installer: bundle::Installer, declared: &Declared) -> InstallerDescription {
    let variables = declared.variables.iter().flatten();
    let of = |need: Need| -> Vec<String> {
        let named = variables.clone().filter(|(_, has)| **has == need);
        named.map(|(name, _)| name.to_string()).collect()
    };
    InstallerDescription {
        program: installer.program,
        optional: of(Need::Optional),
        required: of(Need::Required),
    }
}
