//! The manifests of a plain bundle when it is packed or unpacked: indexed, given a namespace, ordered and checked.

use crate::bundle::{Bundle, File, Kind, plain};
use crate::error::Error;
use crate::model::finding::Finding;
use crate::model::policy::Policy;
use crate::objects::bundled::{self, Bundled, Order};
use crate::pipeline::check;

use super::packing::{ManifestOptions, ManifestOrder};
use super::{Run, collision, lost};

/// Manifests that were checked.
pub(super) struct Manifests {
    pub(super) bundle: Bundle,
    /// The objects that they hold.
    pub(super) objects: Vec<Bundled>,
    pub(super) findings: Vec<Finding>,
}

/// The bundle with the namespace and the order of the options, and everything that is wrong with it. Files that only a tool
/// reads are left out.
pub(super) fn prepared(
    run: &Run<'_>,
    mut files: Vec<File>,
    options: &ManifestOptions,
    policy: &Policy,
) -> Result<Manifests, Error> {
    let unreadable = lost("the bundle");
    let indexed = |files: &[File]| {
        plain::index(files, &run.counting(files.len())).map_err(lost("the bundle"))
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
        files = plain::numbered(&files, &index.objects).map_err(&unreadable)?;
        index = indexed(&files)?;
    }
    // Where nothing can be read, objects that seem to be missing are no findings.
    if findings.is_empty() || !index.objects.is_empty() {
        let texts = plain::Texts::new(&files);
        let bundle = bundled::Bundle::new(&index.objects, &texts, options.order.applied());
        findings.extend(check::bundle(&bundle, policy));
    }
    Ok(Manifests {
        bundle: Bundle::new(Kind::Plain, files).map_err(collision)?,
        objects: index.objects,
        findings,
    })
}
