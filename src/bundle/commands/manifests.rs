//! The manifests of a plain bundle on their way in or out: looked through, given a namespace, brought into order.

use std::sync::Arc;

use crate::artifacts::registry::Progress;
use crate::bundle::{Bundle, File, Kind, plain};
use crate::error::Error;
use crate::model::finding::Finding;
use crate::model::policy::Policy;
use crate::objects::bundled::{self, Bundled, Order};
use crate::pipeline::check;

use super::{ManifestOrder, counting, lost};

/// What is done with manifests.
pub(super) struct Wish<'a> {
    pub(super) order: ManifestOrder,
    pub(super) namespace: Option<&'a str>,
    pub(super) policy: &'a Policy,
    pub(super) progress: Option<&'a Progress>,
}

/// Manifests that were looked through.
pub(super) struct Manifests {
    pub(super) bundle: Bundle,
    /// The objects that they hold.
    pub(super) objects: Vec<Bundled>,
    pub(super) findings: Vec<Finding>,
}

/// The bundle as it is wished for, with everything that is wrong with it. Files that only a tool reads are left out.
pub(super) fn prepared(mut files: Vec<File>, wish: &Wish<'_>) -> Result<Manifests, Error> {
    let unreadable = lost("the bundle");
    let mut index = without_inputs(&mut files, wish)?;
    let mut findings = std::mem::take(&mut index.findings);
    if let Some(namespace) = wish.namespace {
        let before = files.clone();
        let texts = plain::Texts::new(&before);
        let bundle = bundled::Bundle::new(&index.objects, &texts, Order::Kind);
        let found = plain::with_namespace(&mut files, &bundle, namespace);
        findings.extend(found.map_err(&unreadable)?);
        index = indexed(&files, wish)?;
    }
    if wish.order == ManifestOrder::Numbered && findings.is_empty() {
        files = plain::numbered(&files, &index.objects).map_err(&unreadable)?;
        index = indexed(&files, wish)?;
    }
    let order = match wish.order {
        ManifestOrder::Kind => Order::Kind,
        ManifestOrder::Names | ManifestOrder::Numbered => Order::Names,
    };
    // Where nothing can be read, nothing is said of objects that are missing.
    if findings.is_empty() || !index.objects.is_empty() {
        let texts = plain::Texts::new(&files);
        let bundle = bundled::Bundle::new(&index.objects, &texts, order);
        findings.extend(check::bundle(&bundle, wish.policy));
    }
    let twice = |path: Arc<str>| Error::Usage {
        message: format!("two files come to `{path}`"),
    };
    Ok(Manifests {
        bundle: Bundle::new(Kind::Plain, files).map_err(twice)?,
        objects: index.objects,
        findings,
    })
}

/// The objects of the files, without the files that only a tool reads.
fn without_inputs(files: &mut Vec<File>, wish: &Wish<'_>) -> Result<plain::Index, Error> {
    let index = indexed(files, wish)?;
    if index.inputs.is_empty() {
        return Ok(index);
    }
    let mut number = 0..;
    files.retain(|_| {
        number
            .next()
            .is_none_or(|number| !index.inputs.contains(&number))
    });
    indexed(files, wish)
}

fn indexed(files: &[File], wish: &Wish<'_>) -> Result<plain::Index, Error> {
    plain::index(files, &counting(wish.progress, files.len())).map_err(lost("the bundle"))
}
