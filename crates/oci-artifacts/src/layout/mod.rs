//! OCI image layouts: the folders that `skopeo copy … oci:DIR:NAME`, `oras` and `crane` write, which provide artifacts without a
//! network.
//!
//! The length and digest of every blob are verified, and nothing outside the folder is read, even through links.
//!
//! Source: image-spec 1.1, image-layout.md, <https://github.com/opencontainers/image-spec/blob/main/image-layout.md>.

mod disk;
mod names;
mod sink;

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::Path;
use std::sync::OnceLock;

use crate::{
    Content, Descriptor, Digest, Failure, FailureKind, MANIFEST_LIMIT, Manifest, Reference,
    RegistryName, Store, Target,
};

use disk::Folder;
use names::Names;
pub use sink::LayoutSink;

/// The scheme of a layout in a project file.
pub const SCHEME: &str = "oci-layout:";

/// A layout whose index was read.
pub struct Layout {
    folder: Folder,
    entries: Vec<Descriptor>,
    names: Names,
    referrers: OnceLock<Result<Referrers, Failure>>,
}

impl Layout {
    /// Reads the index of the layout in a folder, which is relative to `base`. Reads no artifact.
    ///
    /// # Errors
    /// The folder does not exist or is not a layout, or its index cannot be read.
    pub fn open(base: &Path, folder: &str) -> Result<Self, Failure> {
        let folder = Folder::open(base, folder)?;
        let entries = folder.index()?;
        Ok(Self {
            names: Names::new(&entries),
            folder,
            entries,
            referrers: OnceLock::new(),
        })
    }

    /// All names in the index, sorted: `registry/repository:tag`, `repository:tag` or `tag`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.all()
    }

    /// Selects one artifact: by its name in the index, by its digest, or without either if it is the only one. Returns a reference
    /// for queries to this layout.
    ///
    /// # Errors
    /// There is none, or more than one.
    pub fn pick(&self, name: Option<&str>) -> Result<Reference, Failure> {
        let is_meant = |entry: &&Descriptor| match name {
            Some(name) => {
                names::name_of(entry) == Some(names::normal(name)) || entry.digest.as_str() == name
            }
            None => true,
        };
        let mut digests: Vec<&Digest> = self
            .entries
            .iter()
            .filter(is_meant)
            .map(|entry| &entry.digest)
            .collect();
        digests.sort();
        digests.dedup();
        let failure = |kind, message: String| Failure::new(&self.folder, kind, message);
        match (digests.as_slice(), name) {
            ([digest], _) => Ok(Reference {
                registry: RegistryName::localhost(),
                repository: "layout".into(),
                tag: None,
                digest: Some((*digest).clone()),
            }),
            ([], Some(name)) => {
                let message = format!("it has no artifact `{name}`");
                let all: Vec<&str> = self.names().collect();
                Err(failure(FailureKind::NotFound, message)
                    .help(format!("it has: {}", all.join(", "))))
            }
            ([], None) => Err(failure(FailureKind::NotFound, "it is empty".to_owned())),
            (several, _) => Err(failure(
                FailureKind::Unsupported,
                format!(
                    "it has {} artifacts, and none of them is selected",
                    several.len()
                ),
            )
            .help(format!(
                "name one: `{}:NAME`, or by its digest `{0}:sha256:…`",
                self.folder
            ))),
        }
    }

    /// The manifest of a reference. `alone`: all requested references are in one repository.
    fn manifest_of(&self, requested: &Reference, alone: bool) -> Result<Manifest, Failure> {
        let (digest, size) = match requested.target() {
            Target::Digest(digest) => {
                let entry = self.entries.iter().find(|entry| entry.digest == *digest);
                (digest, entry.map(|entry| entry.size))
            }
            Target::Tag(tag) => {
                let entry = self.find_entry(requested, tag, alone)?;
                (&entry.digest, Some(entry.size))
            }
        };
        self.read_manifest(&requested.to_string(), digest, size)
    }

    fn read_manifest(
        &self,
        requested: &str,
        digest: &Digest,
        size: Option<u64>,
    ) -> Result<Manifest, Failure> {
        let bytes = self
            .folder
            .blob(requested, digest, size, MANIFEST_LIMIT as u64)?;
        let mut manifest = Manifest::read(bytes).map_err(|fault| {
            Failure::new(
                requested,
                FailureKind::Corrupt,
                format!("{fault}, in {}", self.folder),
            )
            .help(self.folder.copy_again())
        })?;
        manifest.digest = digest.clone();
        manifest.mirror = Some(self.folder.to_string());
        Ok(manifest)
    }

    /// The entry of the index with the name of a reference and a tag.
    fn find_entry(
        &self,
        requested: &Reference,
        tag: &str,
        alone: bool,
    ) -> Result<&Descriptor, Failure> {
        let failure = |kind, message| Failure::new(requested, kind, message);
        match self.names.find(requested, tag) {
            Some(found) if found.is_bare && !alone && !names_content(tag) => Err(failure(
                FailureKind::Unsupported,
                format!(
                    "{} names it `{tag}` only, and artifacts of several repositories are requested",
                    self.folder
                ),
            )
            .help(format!(
                "name its entries with their repositories, as `metalmark mirror --to oci-layout:{}` does: `{}:{tag}`",
                self.folder.path(),
                requested.name()
            ))),
            Some(found) => match found.entries[..] {
                [index] => Ok(&self.entries[index]),
                _ => Err(failure(
                    FailureKind::Corrupt,
                    format!(
                        "{} of {} have the name `{}`: {}",
                        found.entries.len(),
                        self.folder,
                        found.name,
                        digests(found.entries.iter().map(|index| &self.entries[*index]))
                    ),
                )
                .help("keep one of them in index.json, or name one by its digest")),
            },
            None => {
                let message = format!("{} has no artifact of that name", self.folder);
                let failure = failure(FailureKind::NotFound, message);
                let failure = failure.help(self.names.advise(requested, tag));
                Err(match requested.spelling_help() {
                    Some(help) => failure.help(help),
                    None => failure,
                })
            }
        }
    }

    /// The referrers among the unnamed artifacts, read once.
    fn subjects(&self) -> Result<&Referrers, Failure> {
        let read = || {
            Referrers::read(self.entries_without_name().map(|entry| {
                let requested = format!("{} of {}", entry.digest, self.folder);
                let manifest = self.read_manifest(&requested, &entry.digest, Some(entry.size))?;
                Ok((entry, manifest))
            }))
        };
        self.referrers
            .get_or_init(read)
            .as_ref()
            .map_err(Failure::clone)
    }

    fn entries_without_name(&self) -> impl Iterator<Item = &Descriptor> {
        self.entries
            .iter()
            .filter(|entry| names::name_of(entry).is_none())
    }

    /// The referrers of a manifest: the artifacts with this subject, and the list under the fallback tag.
    fn referrers_of(
        &self,
        requested: &Reference,
        digest: &Digest,
    ) -> Result<Vec<Descriptor>, Failure> {
        let tag = digest.as_tag();
        let listed = match self.names.find(requested, &tag) {
            Some(_) => self.manifest_of(&requested.with_tag(&tag), true)?.content,
            None => Content::Index {
                manifests: Vec::new(),
                annotations: BTreeMap::new(),
            },
        };
        let mut found = self.subjects()?.get(digest).to_vec();
        let Content::Index { manifests, .. } = listed else {
            return Ok(found);
        };
        for descriptor in manifests {
            if found.iter().all(|other| other.digest != descriptor.digest) {
                found.push(descriptor);
            }
        }
        Ok(found)
    }
}

impl Store for Layout {
    fn manifests(&self, requested: &[Reference]) -> Vec<Result<Manifest, Failure>> {
        let alone = requested
            .windows(2)
            .all(|pair| pair[0].name() == pair[1].name());
        requested
            .iter()
            .map(|reference| self.manifest_of(reference, alone))
            .collect()
    }

    fn blobs(
        &self,
        requested: &[(Reference, Descriptor)],
        limit: u64,
    ) -> Vec<Result<Vec<u8>, Failure>> {
        let read = |(reference, descriptor): &(Reference, Descriptor)| {
            let name = reference.with_digest(&descriptor.digest).to_string();
            self.folder
                .blob(&name, &descriptor.digest, Some(descriptor.size), limit)
        };
        requested.iter().map(read).collect()
    }

    /// Uses bounded memory, whatever the length of the blob.
    fn copy(
        &self,
        of: &Reference,
        blob: &Descriptor,
        into: &mut (dyn Write + Send),
    ) -> Result<(), Failure> {
        let name = of.with_digest(&blob.digest).to_string();
        self.folder.copy(&name, blob, into)
    }

    /// A layout may omit blobs that are stored elsewhere (image-layout.md, "Blobs").
    fn sizes(&self, requested: &[(Reference, Digest)]) -> Vec<Result<Option<u64>, Failure>> {
        let size = |(reference, digest): &(Reference, Digest)| {
            self.folder
                .size(&reference.with_digest(digest).to_string(), digest)
        };
        requested.iter().map(size).collect()
    }

    fn referrers(
        &self,
        requested: &[(Reference, Digest)],
    ) -> Vec<Result<Vec<Descriptor>, Failure>> {
        requested
            .iter()
            .map(|(reference, digest)| self.referrers_of(reference, digest))
            .collect()
    }

    fn tags(&self, of: &Reference) -> Result<Vec<String>, Failure> {
        let tags = self.names.tags(of);
        if tags.is_empty() {
            let message = format!("{} has no such repository", self.folder);
            let failure = Failure::new(of.name(), FailureKind::NotFound, message);
            return Err(failure.help(self.names.advise(of, "")));
        }
        Ok(tags)
    }

    fn repositories(&self, of: &Reference) -> Result<Vec<String>, Failure> {
        Ok(self.names.repositories(&of.registry))
    }
}

/// The referrers of each digest, in the order of the index.
struct Referrers(HashMap<Digest, Vec<Descriptor>>);

impl Referrers {
    /// Collects the referrers among artifacts, each given with its entry in the index.
    ///
    /// # Errors
    /// The first artifact that cannot be read: its subject is unknown.
    fn read<'e>(
        artifacts: impl Iterator<Item = Result<(&'e Descriptor, Manifest), Failure>>,
    ) -> Result<Self, Failure> {
        let mut found: HashMap<Digest, Vec<Descriptor>> = HashMap::new();
        for artifact in artifacts {
            let (entry, manifest) = artifact?;
            let Some(subject) = manifest.content.subject() else {
                continue;
            };
            let of = found.entry(subject.digest.clone()).or_default();
            if of.iter().all(|other| other.digest != entry.digest) {
                of.push(manifest.content.describe(entry.clone()));
            }
        }
        Ok(Self(found))
    }

    /// The referrers of a digest.
    fn get(&self, digest: &Digest) -> &[Descriptor] {
        self.0.get(digest).map_or(&[], Vec::as_slice)
    }
}

/// Whether a tag is derived from a digest, as those of signatures and of lists of referrers: it has the same meaning in every
/// repository.
fn names_content(tag: &str) -> bool {
    tag.strip_prefix("sha256-")
        .and_then(|rest| rest.get(..64))
        .is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn digests<'a>(entries: impl Iterator<Item = &'a Descriptor>) -> String {
    let digests: Vec<String> = entries.map(|entry| format!("`{}`", entry.digest)).collect();
    digests.join(", ")
}
