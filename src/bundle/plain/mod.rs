//! plain+v0: manifests in one flat folder, as RukPak takes them.
//!
//! Source: operator-framework/rukpak, docs/bundles/plain.md.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use capi::objects::bundled::{self, Bundle, BundleFiles, Bundled, rank};
use oci_artifacts::archive::{Mode, Spooling};
use yaml_tree::edit::{Edit, Position, Step, Target, edit, node_at};
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Source, Spot};
use yaml_tree::value::Value;

use crate::files::is_kustomization;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use capi::secrets;

use super::{File, MANIFESTS};

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
            let source = Arc::new(secrets::source(Arc::clone(&file.from), text));
            let spot = Spot::new(&source, error.place);
            all.findings.push(Finding::from_syntax(error, Some(spot)));
        }
        Ok(found) => {
            // A kustomization may say no `kind`. A file of an archive is shown behind the archive's name.
            let name = file.from.rsplit(':').next().unwrap_or_default();
            let is_input = match found.faults.as_slice() {
                [] => found.inputs > 0,
                _ => is_kustomization(Path::new(name)),
            };
            if found.objects.is_empty() && is_input {
                all.inputs.insert(number);
            } else if !found.faults.is_empty() {
                let source = Arc::new(secrets::source(Arc::clone(&file.from), text));
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
        let source = Arc::new(secrets::source(Arc::clone(&file.from), text));
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

/// What is wrong with the folders of a plain bundle: any below `manifests/`.
pub fn check_layout(folders: &[String]) -> Vec<Finding> {
    let below = |folder: &String| {
        let name = strip_manifests(folder)?;
        let message = format!("`{name}` is a folder in `{MANIFESTS}/`, which is flat");
        let finding = Finding::new(RuleId::BundleLayout, message);
        let finding = finding.with_label(Some(Spot::from_path(folder)), "");
        Some(finding.help(format!(
            "move its files up, or pack `{MANIFESTS}` itself, which is laid flat"
        )))
    };
    folders.iter().filter_map(below).collect()
}

/// Whether a path is that of a plain bundle's file: it is in `manifests/`, and not hidden.
pub(super) fn is_part(path: &str) -> bool {
    strip_manifests(path).is_some_and(|name| !is_hidden(name))
}

/// Whether a file or a folder on the way to it is hidden.
pub(super) fn is_hidden(path: &str) -> bool {
    path.split('/').any(|name| name.starts_with('.'))
}

/// The part of a path below `manifests/`.
fn strip_manifests(path: &str) -> Option<&str> {
    path.strip_prefix(MANIFESTS)?.strip_prefix('/')
}

/// The longest part of a name that is kept in a file's.
const LONGEST_NAME: usize = 120;

/// A file for each object, in Helm's order of kinds; objects of one kind stay in the order that they had. An object alone in its
/// document keeps its very text.
///
/// # Errors
/// A file cannot be read; there is no room.
pub fn number_files(files: &[File], objects: &[Bundled]) -> io::Result<Vec<File>> {
    let mut spooling = Spooling::new();
    // The range of each object's text in the spool.
    let mut places = Vec::with_capacity(objects.len());
    let mut start = 0;
    while start < objects.len() {
        let file = objects[start].file;
        let end = start + objects[start..].partition_point(|object| object.file == file);
        let Ok(text) = text(&files[file])? else {
            return Err(io::Error::other("a file changed while it was read"));
        };
        for together in objects[start..end].chunk_by(|a, b| a.document == b.document) {
            for text in texts(&text, together) {
                let at = spooling.length();
                spooling.write_all(text.as_bytes())?;
                places.push((at, spooling.length() - at));
            }
        }
        start = end;
    }
    let spool = spooling.finish();
    let mut order: Vec<usize> = (0..objects.len()).collect();
    order.sort_by_key(|index| rank(&objects[*index].kind));
    let width = objects.len().to_string().len().max(3);
    let file = |(number, index): (usize, usize)| {
        let (start, size) = places[index];
        File {
            path: file_name(number + 1, width, &objects[index]).into(),
            from: Arc::clone(&files[objects[index].file].from),
            mode: Mode::PLAIN,
            size,
            content: Arc::new(spool.stretch(start, size)),
        }
    };
    Ok(order.into_iter().enumerate().map(file).collect())
}

/// `manifests/012-deployment-web.yaml`.
fn file_name(number: usize, width: usize, object: &Bundled) -> String {
    let plain = |text: &str| -> String {
        let legal = |letter: char| match letter.to_ascii_lowercase() {
            letter if letter.is_ascii_alphanumeric() || letter == '.' => letter,
            _ => '-',
        };
        text.chars().take(LONGEST_NAME).map(legal).collect()
    };
    let (kind, name) = (plain(&object.kind), plain(&object.name));
    format!("{MANIFESTS}/{number:0width$}-{kind}-{name}.yaml")
}

/// The texts of the objects of one document: the document's own where there is one object, else each object's tree.
fn texts(text: &str, together: &[Bundled]) -> Vec<String> {
    let own = &text[together[0].document.clone()];
    if let [object] = together
        && object.steps.is_empty()
    {
        let end = if own.ends_with('\n') { "" } else { "\n" };
        return vec![format!("{own}{end}")];
    }
    let read = yaml_tree::read(own, FileId(0), Engine::Kubectl);
    let documents = read.map(|read| read.documents).unwrap_or_default();
    let emitted = |object: &Bundled| {
        let node = documents.get(object.number);
        let node = node.and_then(|node| node_at(node, &object.steps));
        node.map_or_else(String::new, |node| yaml_tree::emit(&node.value))
    };
    together.iter().map(emitted).collect()
}

/// The files with a namespace in every object that names none and is not the cluster's. What cannot be edited is a finding.
///
/// # Errors
/// A file cannot be read.
pub fn with_namespace(
    files: &mut [File],
    bundle: &Bundle<'_>,
    namespace: &str,
) -> io::Result<Vec<Finding>> {
    let mut wanting: BTreeMap<usize, Vec<&Bundled>> = BTreeMap::new();
    for object in bundle.objects {
        if object.namespace.is_empty() && !bundle.is_cluster_scoped(object) {
            wanting.entry(object.file).or_default().push(object);
        }
    }
    let mut found = Vec::new();
    for (number, objects) in wanting {
        let Ok(before) = text(&files[number])? else {
            continue;
        };
        match edit_text(&before, &objects, namespace) {
            Ok(after) => {
                files[number].size = after.len() as u64;
                files[number].content = Arc::new(after.into_bytes());
            }
            Err((object, reason)) => {
                let message = format!("`{object}` is not given a namespace: {reason}");
                found.push(
                    Finding::new(RuleId::ManifestInvalid, message)
                        .with_label(bundle.spot(object), "")
                        .help(format!(
                            "write `namespace: {namespace}` below its `metadata`"
                        )),
                );
            }
        }
    }
    Ok(found)
}

/// Each document is edited on its own, the last one first, so that the places of the others hold.
fn edit_text<'o>(
    before: &str,
    objects: &[&'o Bundled],
    namespace: &str,
) -> Result<String, (&'o Bundled, String)> {
    let mut after = before.to_owned();
    let mut rest = objects;
    while let Some(last) = rest.last() {
        let first = rest.partition_point(|object| object.document.start < last.document.start);
        let (others, together) = rest.split_at(first);
        rest = others;
        let edits: Vec<Edit> = together
            .iter()
            .map(|object| insert(object, namespace))
            .collect();
        let range = last.document.clone();
        let document = edit(&before[range.clone()], Engine::Kubectl, &edits);
        let document = document.map_err(|error| (*last, error.to_string()))?;
        after.replace_range(range, &document);
    }
    Ok(after)
}

fn insert(object: &Bundled, namespace: &str) -> Edit {
    let metadata = object.steps.iter().cloned().chain([Step::from("metadata")]);
    Edit::Insert {
        map: Target::Path(object.number, metadata.collect()),
        key: "namespace".to_owned(),
        value: Value::from(namespace),
        position: Position::After(Step::from("name")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use capi::objects::bundled::{Bundle, BundleFiles, Order};

    use crate::model::rule::RuleId;

    use super::{File, Texts, index, number_files, with_namespace};

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
    fn each_object_is_a_file_in_helms_order() {
        let text = "# of the app\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n---\napiVersion: v1\n\
                    kind: List\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n\
                    - {apiVersion: x.y/v1, kind: Ape, metadata: {name: 'sys:a'}}\n";
        let files = [File::text("all.yaml", text.as_bytes().to_vec())];
        let found = index(&files, &|_| {}).expect("memory");
        let files = number_files(&files, &found.objects).expect("memory");
        let texts: Vec<(&str, String)> = files
            .iter()
            .map(|file| {
                let mut text = String::new();
                let mut reader = file.content.open().expect("kept");
                reader.read_to_string(&mut text).expect("text");
                (&*file.path, text)
            })
            .collect();
        let namespace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n";
        assert_eq!(
            texts[0],
            ("manifests/001-namespace-shop.yaml", namespace.to_owned())
        );
        assert_eq!(texts[1].0, "manifests/002-deployment-web.yaml");
        assert!(texts[1].1.starts_with("# of the app\n"));
        assert_eq!(texts[2].0, "manifests/003-ape-sys-a.yaml");
    }

    #[test]
    fn only_what_is_in_no_namespace_gets_one_and_comments_stay() {
        let text = "# head\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a # mine\n---\napiVersion: v1\n\
                    kind: Namespace\nmetadata: {name: n}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n---\n\
                    apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: o}\n";
        let mut files = vec![File::text("a.yaml", text.as_bytes().to_vec())];
        let found = index(&files, &|_| {}).expect("memory");
        let copy = files.clone();
        let texts = Texts::new(&copy);
        let bundle = Bundle::new(&found.objects, &texts, Order::Kind);
        let findings = with_namespace(&mut files, &bundle, "app").expect("memory");
        assert!(findings.is_empty());
        let mut after = String::new();
        let mut reader = files[0].content.open().expect("memory");
        reader.read_to_string(&mut after).expect("text");
        let expected = text
            .replace("name: a # mine\n", "name: a # mine\n  namespace: app\n")
            .replace("{name: b}", "{name: b, namespace: app}");
        assert_eq!(after, expected);
        assert_eq!(files[0].size, after.len() as u64);
    }
}
