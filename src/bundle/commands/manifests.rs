//! Prepares the manifests of a plain bundle for packing or unpacking: sets a namespace, orders the objects and checks them.

use capi::objects::bundled::{self, Order};
use clap::{Args, ValueEnum};

use crate::bundle::{Bundle, BundleKind, File, plain};
use crate::error::Error;
use crate::model::finding::Finding;
use crate::model::policy::Policy;
use crate::pipeline::check;

use super::{Run, collision};

/// In which order manifests are applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ManifestOrder {
    /// By kind, as RukPak, Flux and Argo CD do by themselves; files keep their names.
    #[default]
    Kind,
    /// By the names of the files, as `kubectl apply -f` does; checked, not changed.
    Names,
    /// By the names of the files: each object becomes one, numbered in Helm's order of kinds.
    Numbered,
}

impl ManifestOrder {
    /// The order that the objects of files with their final names are applied in.
    pub(super) fn to_order(self) -> Order {
        match self {
            Self::Kind => Order::Kind,
            Self::Names | Self::Numbered => Order::Names,
        }
    }
}

/// What is done with manifests.
#[derive(Debug, Default, Args)]
pub(super) struct ManifestOptions {
    /// In which order objects are applied.
    #[arg(long, value_enum, default_value_t = ManifestOrder::Kind, value_name = "ORDER")]
    pub(super) order: ManifestOrder,
    /// Put objects that name no namespace into this one.
    #[arg(long, value_name = "NAME", value_parser = namespace)]
    pub(super) namespace: Option<String>,
}

/// A bundle that was checked.
pub(super) struct Prepared {
    pub(super) bundle: Bundle,
    /// How many objects it holds, if it holds manifests.
    pub(super) objects: Option<usize>,
    /// What is wrong with it.
    pub(super) findings: Vec<Finding>,
}

impl Prepared {
    /// A bundle of other files than manifests.
    pub(super) fn new(bundle: Bundle, findings: Vec<Finding>) -> Self {
        Self {
            bundle,
            objects: None,
            findings,
        }
    }
}

/// The bundle with the namespace and the order of the options, and everything that is wrong with it. Files that only a tool
/// reads are left out.
pub(super) fn prepare(
    run: &Run<'_>,
    mut files: Vec<File>,
    options: &ManifestOptions,
    policy: &Policy,
) -> Result<Prepared, Error> {
    let unreadable = Error::reading("the bundle");
    let indexed = |files: &[File]| {
        plain::index(files, &run.counting(files.len())).map_err(Error::reading("the bundle"))
    };
    let mut index = indexed(&files)?;
    if !index.inputs.is_empty() {
        let mut number = 0..;
        let is_input = |number: usize| index.inputs.contains(&number);
        files.retain(|_| !number.next().is_some_and(is_input));
        index = indexed(&files)?;
    }
    let mut findings = std::mem::take(&mut index.findings);
    if let Some(namespace) = &options.namespace {
        let before = files.clone();
        let texts = plain::Texts::new(&before);
        let bundle = bundled::Bundle::new(&index.objects, &texts, Order::Kind);
        let found = plain::with_namespace(&mut files, &bundle, namespace);
        findings.extend(found.map_err(&unreadable)?);
        index = indexed(&files)?;
    }
    if options.order == ManifestOrder::Numbered && findings.is_empty() {
        files = plain::number_files(&files, &index.objects).map_err(&unreadable)?;
        index = indexed(&files)?;
    }
    // Where nothing can be read, objects that seem to be missing are no findings.
    if findings.is_empty() || !index.objects.is_empty() {
        let texts = plain::Texts::new(&files);
        let bundle = bundled::Bundle::new(&index.objects, &texts, options.order.to_order());
        findings.extend(check::bundle(&bundle, policy));
    }
    Ok(Prepared {
        bundle: Bundle::new(BundleKind::Plain, files).map_err(collision)?,
        objects: Some(index.objects.len()),
        findings,
    })
}

/// A label of DNS, as Kubernetes names namespaces (RFC 1123).
pub(super) fn namespace(text: &str) -> Result<String, String> {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_label = (1..=63).contains(&text.len())
        && text.bytes().all(|byte| is_word(byte) || byte == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-');
    if is_label {
        Ok(text.to_owned())
    } else {
        Err("a name is at most 63 lower-case letters, digits and dashes".to_owned())
    }
}
