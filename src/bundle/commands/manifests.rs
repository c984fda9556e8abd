//! Prepares the manifests of a plain bundle for packing or unpacking: sets a namespace, orders the objects and checks them.

use std::io::{self, Write as _};
use std::sync::Arc;

use capi::objects::bundled::{self, Order};
use clap::{Args, ValueEnum};

use crate::bundle::{Bundle, BundleKind, File, plain};
use crate::error::Error;
use crate::model::finding::Finding;
use crate::model::policy::Policy;
use crate::model::rule::RuleId;
use crate::pipeline::{Terminal, check};

use super::gather::Gathered;
use super::{Run, collision};

/// In which order manifests are applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ManifestOrder {
    /// As the bundle's consumers do by themselves: RukPak all at once, Flux and Argo CD by kind; files keep their names.
    #[default]
    Kind,
    /// By the names of the files, as `kubectl apply -f` does; checked, not changed.
    Names,
    /// By the names of the files: each object becomes one, numbered in Helm's order of kinds.
    Numbered,
}

impl ManifestOrder {
    /// The order that the objects of files with their final names are applied in; `own` is that of a consumer who pays no
    /// attention to names.
    pub(super) fn to_order(self, own: Order) -> Order {
        match self {
            Self::Kind => own,
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
    /// The files that it does not hold, as they are shown.
    pub(super) left_out: Vec<Arc<str>>,
}

impl Prepared {
    /// A bundle of other files than manifests.
    pub(super) fn new(bundle: Bundle, mut findings: Vec<Finding>) -> Self {
        if findings.is_empty() && bundle.files().is_empty() {
            let finding = Finding::new(RuleId::BundleEmpty, "the bundle holds no file");
            findings.push(finding.help("name a folder with files in it"));
        }
        Self {
            bundle,
            objects: None,
            findings,
            left_out: Vec::new(),
        }
    }
}

/// Manifests, and what they hold.
pub(super) struct Manifests {
    pub(super) files: Vec<File>,
    pub(super) index: plain::Index,
    /// The files that only a tool reads, such as a kustomization.
    pub(super) left_out: Vec<Arc<str>>,
}

impl Manifests {
    /// Those of a plain bundle's files.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn read(mut files: Vec<File>, progress: &dyn Fn(usize)) -> io::Result<Self> {
        let mut index = plain::index(&files, progress)?;
        let inputs = std::mem::take(&mut index.inputs);
        let mut left_out = Vec::new();
        if !inputs.is_empty() {
            left_out.extend(inputs.iter().map(|at| Arc::clone(&files[*at].from)));
            let mut number = 0..;
            files.retain(|_| !number.next().is_some_and(|at| inputs.contains(&at)));
            index = plain::index(&files, progress)?;
        }
        Ok(Self {
            files,
            index,
            left_out,
        })
    }
}

/// Says which files a bundle of manifests does not hold.
pub(super) fn print_left_out(left_out: &[Arc<str>], terminal: &mut Terminal) -> Result<(), Error> {
    if let [first, others @ ..] = left_out {
        let (files, more) = match others {
            [] => ("1 file is".to_owned(), ""),
            _ => (format!("{} files are", left_out.len()), " …"),
        };
        let message = format!("{files} left out, being hidden or no manifest: `{first}`{more}");
        writeln!(terminal.err, "note: {message}")?;
    }
    Ok(())
}

/// The bundle with the namespace and the order of the options, and everything that is wrong with it. Files that only a tool
/// reads are left out. `order` is that in which its consumer applies the objects.
pub(super) fn prepare(
    run: &Run<'_>,
    gathered: Gathered,
    options: &ManifestOptions,
    order: Order,
    policy: &Policy,
) -> Result<Prepared, Error> {
    let unreadable = Error::reading("the bundle");
    let indexed = |files: &[File]| {
        plain::index(files, &run.counting(files.len())).map_err(Error::reading("the bundle"))
    };
    let mut findings = gathered.findings;
    findings.extend(plain::check_layout(&gathered.folders));
    // What is read is what is packed.
    let gathered_files = gathered.files.into_values().collect();
    let bundle = Bundle::new(BundleKind::Plain, gathered_files).map_err(collision)?;
    let mut left_out = gathered.left_out;
    let files = bundle.files().to_vec();
    let progress = run.counting(files.len());
    let manifests = Manifests::read(files, &progress).map_err(&unreadable)?;
    let Manifests {
        mut files,
        mut index,
        ..
    } = manifests;
    left_out.extend(manifests.left_out);
    findings.append(&mut index.findings);
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
    let texts = plain::Texts::new(&files);
    let seen = bundled::Bundle::new(&index.objects, &texts, order);
    judge(&seen, policy, &mut findings);
    let mut bundle = Bundle::new(BundleKind::Plain, files).map_err(collision)?;
    bundle.annotations = gathered.annotations;
    Ok(Prepared {
        bundle,
        objects: Some(index.objects.len()),
        findings,
        left_out,
    })
}

/// Adds what is wrong with the objects of a bundle. Where there is none because its files cannot be read, that is not wrong too.
pub(super) fn judge(bundle: &bundled::Bundle<'_>, policy: &Policy, findings: &mut Vec<Finding>) {
    if findings.is_empty() || !bundle.objects.is_empty() {
        findings.extend(check::bundle(bundle, policy));
    }
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
