//! An index of bundles: a file that names bundles and other indexes, and which of them requires which. It is read as one bundle
//! of manifests, what is required first.

mod order;
mod written;

use std::path::{Path, PathBuf};

use crate::bundle::{Bundle, BundleKind, File, MANIFESTS, registry_bundle_finding, registry_root};
use crate::error::Error;
use crate::files::plain_path;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;

use super::gather::{Gathered, PackKind, lay_out};
use super::input::{Input, Loaded};
use super::{Run, collision};
use written::{Child, Index};

/// The annotation of a bundle that was made of others: their names, in their order.
const CONTAINS: &str = "dev.metalmark.bundle.contains";

/// How deeply indexes may be nested.
const DEEPEST: usize = 16;

/// How many bundles are read in all: two indexes that each name the next one twice would be any number of them.
const MOST: usize = 10_000;

/// How an index is read: for whom, and below which others.
pub(super) struct Reading<'a> {
    run: &'a Run<'a>,
    /// The indexes that are being read, outermost first.
    above: Vec<PathBuf>,
    /// How many bundles were read.
    count: usize,
}

impl<'a> Reading<'a> {
    pub(super) fn new(run: &'a Run<'a>) -> Self {
        Self {
            run,
            above: Vec::new(),
            count: 0,
        }
    }

    /// The bundle that an index describes.
    ///
    /// # Errors
    /// A bundle that it names cannot be read or fetched.
    pub(super) fn load(&mut self, written: &Path) -> Result<Loaded, Error> {
        let mut index = written::read(written, &self.run.resolve(written))?;
        let order = index.order();
        let mut findings = std::mem::take(&mut index.findings);
        self.above.push(plain_path(written));
        let folder = written.parent().unwrap_or(Path::new(""));
        let (mut gathered, mut names, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for (number, child) in order.into_iter().enumerate() {
            let child = &index.children[child];
            let found = self.child(&index, child, folder)?;
            findings.extend(found.findings);
            left_out.extend(found.left_out);
            let prefix = format!("{MANIFESTS}/{:02}-{}-", number + 1, child.name);
            let files = found.files.into_values();
            gathered.extend(files.map(|file| add_prefix(&prefix, file)));
            names.push(child.name.to_string());
        }
        self.above.pop();
        let mut bundle = Bundle::new(BundleKind::Plain, gathered).map_err(collision)?;
        bundle
            .annotations
            .insert(CONTAINS.to_owned(), names.join(","));
        Ok(Loaded {
            bundle,
            folders: vec![MANIFESTS.to_owned()],
            findings,
            left_out,
            digest: None,
            shown: written.to_string_lossy().into_owned(),
        })
    }

    /// The manifests of one bundle, and what is wrong with it.
    fn child(&mut self, index: &Index, child: &Child, folder: &Path) -> Result<Gathered, Error> {
        let spot = index.spot(child.from_place);
        let mut loaded = match self.load_child(child, folder)? {
            Ok(loaded) => loaded,
            Err(finding) => return Ok(Gathered::from_finding(finding.with_label(spot, ""))),
        };
        let files = loaded.bundle.files().iter().map(|file| &*file.path);
        let paths = loaded.folders.iter().map(|path| &**path).chain(files);
        let has_registry_bundle = registry_root(paths).is_some();
        let (rule, message) = match loaded.bundle.kind {
            _ if !loaded.findings.is_empty() => {
                return Ok(Gathered {
                    findings: std::mem::take(&mut loaded.findings),
                    ..Gathered::default()
                });
            }
            BundleKind::Plain => return Ok(loaded.into()),
            BundleKind::Registry | BundleKind::Artifact(_) if has_registry_bundle => {
                return Ok(Gathered::from_finding(registry_bundle_finding(spot)));
            }
            // A folder or an archive of manifests that are not in `manifests/`.
            BundleKind::Artifact(_) => {
                let files = loaded.bundle.files();
                let flat = lay_out(
                    loaded.folders,
                    files,
                    Path::new(&*child.from),
                    PackKind::Plain,
                );
                if !flat.files.is_empty() {
                    return Ok(flat);
                }
                let message = format!("`{}` holds no manifest", child.from);
                (RuleId::BundleEmpty, message)
            }
            kind => {
                let message = format!(
                    "`{}` is a bundle of kind {kind}, and an index names bundles of manifests",
                    child.from
                );
                (RuleId::BundleUnsupported, message)
            }
        };
        let finding = Finding::new(rule, message).with_label(spot, "");
        Ok(Gathered::from_finding(finding))
    }

    /// The bundle of a child; the inner error is what is wrong with its name.
    fn load_child(
        &mut self,
        child: &Child,
        folder: &Path,
    ) -> Result<Result<Loaded, Finding>, Error> {
        let from = match Input::parse(&child.from) {
            Ok(from) => from.resolve_in(folder),
            Err(message) => return Ok(Err(Finding::new(RuleId::ManifestInvalid, message))),
        };
        self.count += 1;
        let Input::Index(path) = &from else {
            return from.load(self.run).map(Ok);
        };
        let message = if self.above.contains(&plain_path(path)) {
            format!(
                "the index `{}` names itself, by way of others or not",
                path.display()
            )
        } else if self.above.len() >= DEEPEST {
            format!("indexes are nested more than {DEEPEST} deep")
        } else if self.count > MOST {
            format!("the indexes name more than {MOST} bundles")
        } else {
            return self.load(path).map(Ok);
        };
        Ok(Err(Finding::new(RuleId::BundleCycle, message)))
    }
}

/// A file of a bundle, named as one of the whole.
fn add_prefix(prefix: &str, file: File) -> File {
    let name = file.path.strip_prefix(MANIFESTS).unwrap_or(&file.path);
    let name = name.trim_start_matches('/').replace('/', "-");
    File {
        path: format!("{prefix}{name}").into(),
        ..file
    }
}
