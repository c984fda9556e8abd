//! Files of which kustomizations make or patch Secrets: each is secret for each reader, by each path to it. Every read of a
//! workspace comes through here, so that the budget knows which file was read last.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use capi::secrets::is_patch_of_secret;
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;
use yaml_tree::value::Node;

use super::{Content, Files, Found, plain_path};
use crate::budget;
use crate::error::Error;

/// The file names of a kustomization.
pub const KUSTOMIZATIONS: &[&str] = &["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Whether a file is called as a kustomization is.
pub fn is_kustomization(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default();
    KUSTOMIZATIONS.iter().any(|known| name == *known)
}

/// Whether a file is called as YAML is, or as JSON, which is YAML as well.
pub fn is_yaml(file: &Path) -> bool {
    let end = file.extension().unwrap_or_default();
    ["yaml", "yml", "json"].iter().any(|known| end == *known)
}

/// The paths of secret files from the top of a repository, found when a file is first read.
pub type SecretPaths = Arc<OnceLock<HashSet<PathBuf>>>;

/// Other files, with the marks of secret ones.
pub struct Guarded {
    files: Arc<dyn Files>,
    /// The folder of the files, in full.
    root: PathBuf,
    /// The same from the top of the repository.
    below: PathBuf,
    secret: SecretPaths,
}

impl Guarded {
    /// The files of the folder `root`, which is `below` the top of its repository.
    pub fn new(files: Arc<dyn Files>, root: &Path, below: &Path) -> Self {
        Self {
            secret: files.secret_paths().unwrap_or_default(),
            root: root.canonicalize().unwrap_or_default(),
            below: below.to_owned(),
            files,
        }
    }

    fn mark(&self, path: &Path, content: Content) -> Content {
        budget::set_file(path);
        let known = self.secret.get_or_init(|| {
            let top = self.files.repository_files(&self.below);
            let top = top.filter(|_| !self.below.as_os_str().is_empty());
            secret_paths(&**top.as_ref().unwrap_or(&self.files))
        });
        if known.is_empty() {
            return content;
        }
        let top = self.root.ancestors().nth(self.below.iter().count());
        let full = plain_path(&self.root.join(path));
        let leads_to = content.leads_to();
        let is_secret = { top.and_then(|top| full.strip_prefix(top).ok()).into_iter() }
            .chain(leads_to)
            .any(|path| known.contains(path))
            || leads_to.is_some_and(|path| known.contains(&self.below.join(path)));
        content.mark_secret(is_secret)
    }
}

impl Files for Guarded {
    fn inner(&self) -> Option<&dyn Files> {
        Some(&*self.files)
    }

    fn file(&self, path: &Path) -> Result<Found, Error> {
        Ok(match self.files.file(path)? {
            Found::File(content) => Found::File(self.mark(path, content)),
            none => none,
        })
    }

    fn content(&self, path: &Path) -> Result<Content, Error> {
        Ok(self.mark(path, self.files.content(path)?))
    }

    fn folder(&self, path: &Path) -> Result<Option<Vec<String>>, Error> {
        self.files.folder(path)
    }

    fn repository_files(&self, root: &Path) -> Option<Arc<dyn Files>> {
        let up = self.root.ancestors().nth(root.iter().count())?;
        Some(Arc::new(Self {
            files: self.files.repository_files(root)?,
            root: up.to_owned(),
            below: PathBuf::new(),
            secret: Arc::clone(&self.secret),
        }))
    }

    fn secret_paths(&self) -> Option<SecretPaths> {
        Some(Arc::clone(&self.secret))
    }
}

/// The files of which the kustomizations of a repository make or patch Secrets, and what they lead to.
fn secret_paths(files: &dyn Files) -> HashSet<PathBuf> {
    let mut found = BTreeSet::new();
    for path in files.paths_named(KUSTOMIZATIONS) {
        let folder = path.parent().unwrap_or(Path::new(""));
        let text = text(files, &path);
        if !WORDS.iter().any(|word| text.contains(word)) {
            continue;
        }
        for kustomization in read(&text) {
            add_files(&kustomization, &[folder], &mut found);
            add_of_plugins(files, folder, &kustomization, &mut found);
        }
    }
    let lead = found.iter().filter_map(|path| files.leads_to(path));
    let lead: Vec<PathBuf> = lead.collect();
    found.into_iter().chain(lead).collect()
}

/// Adds those of the generators and transformers that a kustomization names: of texts, of files, and of folders with one. Their
/// paths begin at the kustomization.
fn add_of_plugins(
    files: &dyn Files,
    folder: &Path,
    kustomization: &Node,
    found: &mut BTreeSet<PathBuf>,
) {
    let named = |from: &Path, of: &Node, fields: &[&str]| -> Vec<PathBuf> {
        let items = fields.iter().flat_map(|field| of.items(&[field]));
        let texts = items.filter_map(|item| item.value.as_str());
        texts.map(|text| plain_path(&from.join(&**text))).collect()
    };
    let mut open = named(folder, kustomization, &["generators", "transformers"]);
    let mut seen = HashSet::new();
    while let Some(path) = open.pop() {
        let text = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy();
        for document in read(&text) {
            add_files(&document, &[folder], found);
        }
        let own = path.parent().unwrap_or(Path::new(""));
        for document in read(&self::text(files, &path)) {
            add_files(&document, &[folder, own], found);
        }
        for name in KUSTOMIZATIONS {
            for inner in read(&self::text(files, &path.join(name))) {
                let more = named(&path, &inner, &["resources", "components", "generators"]);
                open.extend(more.into_iter().filter(|path| seen.insert(path.clone())));
            }
        }
    }
}

/// Adds the files that the generators and patches in a tree make Secrets of, as they are named from these folders.
fn add_files(node: &Node, folders: &[&Path], found: &mut BTreeSet<PathBuf>) {
    let mut generators: Vec<&Node> = node.items(&["secretGenerator"]).iter().collect();
    generators.extend((node.text(&["kind"]) == Some("SecretGenerator")).then_some(node));
    let mut items: Vec<&Node> = Vec::new();
    for generator in generators {
        items.extend(
            ["files", "envs"]
                .iter()
                .flat_map(|list| generator.items(&[list])),
        );
        items.extend(generator.get_path(&["env"]));
    }
    items.extend(
        node.get_path(&["path"])
            .filter(|_| is_patch_of_secret(node)),
    );
    for named in items.into_iter().filter_map(|item| item.value.as_str()) {
        let path = named.split_once('=').map_or(&**named, |(_, path)| path);
        found.extend(folders.iter().map(|folder| plain_path(&folder.join(path))));
    }
    for below in node.children() {
        add_files(below, folders, found);
    }
}

/// What only kustomizations say that make or patch objects; an escape may spell any of it.
const WORDS: [&str; 6] = [
    "Generator",
    "generator",
    "Transformer",
    "transformer",
    "target",
    "\\",
];

/// The text of a file; an empty one where it cannot be read, which is reported by what needs it.
fn text(files: &dyn Files, path: &Path) -> String {
    match files.file(path) {
        Ok(Found::File(content)) => String::from_utf8_lossy(content.raw_bytes()).into_owned(),
        _ => String::new(),
    }
}

fn read(text: &str) -> Vec<Node> {
    let read = yaml_tree::read(text, FileId(0), Engine::Kubectl);
    read.map_or_else(|_| Vec::new(), |read| read.documents)
}
