//! plain+v0: manifests in one flat folder, as RukPak takes them.
//!
//! Source: operator-framework/rukpak, docs/bundles/plain.md.

mod namespace;
mod numbered;

use crate::secrets;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::sync::Arc;

use super::{File, MANIFESTS};
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use capi::objects::bundled::{self, BundleFiles, Bundled};
use yaml_tree::engine::Engine;
use yaml_tree::place::{Source, Spot};

pub use namespace::with_namespace;
pub use numbered::number_files;

/// The longest file of manifests that is read, in bytes: what the reader of YAML takes.
const LONGEST: u64 = 64 << 20;

/// How many bytes of files findings may hold to show their lines; of files beyond that, only the name is shown.
const SHOWN: usize = 64 << 20;

/// The objects of a bundle's manifests.
#[derive(Default)]
pub struct Index {
    /// The objects, in the order of the files.
    pub objects: Vec<Bundled>,
    /// What is wrong with single files.
    pub findings: Vec<Finding>,
    /// The files, by number, that hold nothing but what a tool reads, such as a `kustomization.yaml`.
    pub inputs: BTreeSet<usize>,
}

/// The files, which are read again for the places of findings.
pub struct Texts<'a> {
    files: &'a [File],
    read: RefCell<(usize, BTreeMap<usize, Arc<Source>>)>,
}

/// Every object of these files. One file is in memory at a time. `progress` receives the number of files read.
///
/// # Errors
/// A file cannot be read.
pub fn index(files: &[File], progress: &dyn Fn(usize)) -> io::Result<Index> {
    let mut all = Index::default();
    for (number, file) in files.iter().enumerate() {
        match text(file)? {
            Ok(text) => index_file(number, file, text, &mut all),
            Err(finding) => all.findings.push(*finding),
        }
        progress(number + 1);
    }
    Ok(all)
}

fn index_file(number: usize, file: &File, text: String, all: &mut Index) {
    match bundled::index(number, &text) {
        Err(error) => {
            let source = Arc::new(secrets::source(Arc::clone(&file.from), text, false));
            let spot = Spot::new(&source, error.place);
            all.findings.push(Finding::from_syntax(error, Some(spot)));
        }
        Ok(found) => {
            if found.objects.is_empty() && found.faults.is_empty() && found.inputs > 0 {
                all.inputs.insert(number);
            }
            if !found.faults.is_empty() {
                let source = Arc::new(secrets::source(Arc::clone(&file.from), text, false));
                for (range, message) in found.faults {
                    let spot = Spot::from_range(&source, range.start as u32, range.end as u32);
                    let finding = Finding::new(RuleId::ManifestInvalid, message);
                    all.findings.push(finding.with_label(Some(spot), ""));
                }
            }
            all.objects.extend(found.objects);
        }
    }
}

impl<'a> Texts<'a> {
    /// Of these files.
    pub fn new(files: &'a [File]) -> Self {
        Self {
            files,
            read: RefCell::default(),
        }
    }
}

impl BundleFiles for Texts<'_> {
    fn source(&self, number: usize) -> Option<Arc<Source>> {
        let (held, read) = &mut *self.read.borrow_mut();
        if let Some(known) = read.get(&number) {
            return Some(Arc::clone(known));
        }
        let file = self.files.get(number)?;
        let text = text(file).ok()?.ok()?;
        *held += text.len();
        if *held > SHOWN {
            return None;
        }
        let source = Arc::new(secrets::source(Arc::clone(&file.from), text, false));
        read.insert(number, Arc::clone(&source));
        Some(source)
    }
}

/// The text of a file, or a finding if it is not a text.
pub(super) fn text(file: &File) -> io::Result<Result<String, Box<Finding>>> {
    let finding = |rule, message| {
        Ok(Err(Box::new(
            Finding::new(rule, message).with_label(file.spot(), ""),
        )))
    };
    if file.size > LONGEST {
        let message = format!("`{}` is larger than {} MiB", file.path, LONGEST >> 20);
        return finding(RuleId::YamlSyntax, message);
    }
    let mut bytes = Vec::with_capacity(file.size as usize);
    file.content.open()?.take(LONGEST).read_to_end(&mut bytes)?;
    match yaml_tree::decode(&bytes, Engine::Kubectl) {
        Ok(text) => Ok(Ok(text)),
        Err(error) => finding(
            RuleId::YamlSyntax,
            format!("`{}` is not text: {error}", file.path),
        ),
    }
}

/// What is wrong with the places of a plain bundle's files: anything outside `manifests/`, anything deeper.
pub fn check_layout<'a>(
    files: impl Iterator<Item = &'a str>,
    folders: impl Iterator<Item = &'a str>,
) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut refuse = |path: &str, message: String| {
        found.push(
            Finding::new(RuleId::BundleLayout, message).with_label(Some(Spot::from_path(path)), ""),
        );
    };
    for folder in folders {
        if let Some(below) = strip_manifests(folder) {
            refuse(
                folder,
                format!("`{below}` is a folder in `{MANIFESTS}/`, which is flat"),
            );
        }
    }
    for file in files {
        if strip_manifests(file).is_none() {
            refuse(
                file,
                format!("`{file}` is beside `{MANIFESTS}/`, where a plain bundle has nothing"),
            );
        }
    }
    found
}

/// The part of a path below `manifests/`.
fn strip_manifests(path: &str) -> Option<&str> {
    path.strip_prefix(MANIFESTS)?.strip_prefix('/')
}

#[cfg(test)]
mod tests {
    use super::{File, Texts, check_layout, index};
    use crate::model::rule::RuleId;
    use capi::objects::bundled::BundleFiles;

    #[test]
    fn a_file_that_is_no_manifest_is_a_finding_at_its_line() {
        let files = [
            File::text(
                "manifests/a",
                b"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {b: eA==}\n".to_vec(),
            ),
            File::text("manifests/b.txt", b"a: [\n".to_vec()),
            File::text("manifests/c", b"apiVersion: v1\nkind: Secret\n".to_vec()),
            File::text("manifests/d", vec![0xff, 0xfe, 0x00]),
        ];
        let found = index(&files, &|_| {}).expect("memory");
        assert_eq!(found.objects.len(), 1);
        let reported: Vec<(RuleId, String)> = found
            .findings
            .iter()
            .map(|finding| (finding.rule, finding.labels[0].spot.source.path.to_string()))
            .collect();
        assert_eq!(
            reported[0],
            (RuleId::YamlSyntax, "manifests/b.txt".to_owned())
        );
        assert_eq!(
            reported[1],
            (RuleId::ManifestInvalid, "manifests/c".to_owned())
        );
        assert_eq!(reported[2].0, RuleId::YamlSyntax);
        let texts = Texts::new(&files);
        assert!(texts.source(0).is_some_and(|source| source.has_secrets()));
    }

    #[test]
    fn a_plain_bundle_is_one_flat_folder() {
        let files = ["manifests/a.yaml", "readme.md", "manifests-old/a"];
        let found = check_layout(
            files.into_iter(),
            ["manifests", "manifests/crds"].into_iter(),
        );
        assert_eq!(found.len(), 3);
    }
}
