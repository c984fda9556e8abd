//! Where a bundle is read from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::artifacts::archive::{Limits, Reason, Refusal};
use crate::artifacts::layout::{self, Layout};
use crate::artifacts::registry::Progress;
use crate::bundle::{self, Bundle, File, Kind, LayerType, MANIFESTS, Received, Trouble, spot_of};
use crate::catalog::sources;
use crate::error::Error;
use crate::files::{self, Inside, InsideKind};
use crate::model::component::INSTALLER;
use crate::model::finding::Finding;
use crate::model::output_path;
use crate::model::rule::RuleId;
use crate::oci::{self, Digest, Failure, FailureKind, Reference, SCHEME, Store, Target};
use crate::read::{self, Request};

use super::index::Reading;
use super::to::layout_name;
use super::{below, lost};

/// Where a bundle is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// An archive on stdin: `-`.
    Stdin,
    /// A folder, or an archive, compressed or not.
    Path(PathBuf),
    /// An index of bundles: `index:FILE`.
    Index(PathBuf),
    /// ConfigMaps in a file of YAML or a folder of them: `configmaps:PATH`.
    ConfigMaps(PathBuf),
    /// An image layout, and the name in it: `oci-layout:DIR[:NAME]`.
    Layout(String, Option<String>),
    /// A registry: `oci://…@sha256:…`.
    Registry(Reference),
}

/// A bundle that was read.
pub(super) struct Loaded {
    pub(super) bundle: Bundle,
    /// All folders, those that hold files included.
    pub(super) folders: Vec<String>,
    /// What is wrong with it.
    pub(super) findings: Vec<Finding>,
    /// The digest of its manifest, where it has one.
    pub(super) digest: Option<Digest>,
    /// Where it was read from, as people wrote it.
    pub(super) shown: String,
}

impl From {
    /// Reads what was typed; a path is looked at when the bundle is read.
    ///
    /// # Errors
    /// It is no reference although it starts like one.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "-" {
            return Ok(Self::Stdin);
        }
        if text.starts_with(SCHEME) {
            let reference = Reference::parse(text).map_err(|error| error.to_string())?;
            return Ok(Self::Registry(reference));
        }
        if let Some(layout) = text.strip_prefix(layout::SCHEME) {
            let (folder, name) = layout_name(layout);
            return Ok(Self::Layout(folder.to_owned(), name.map(str::to_owned)));
        }
        if let Some(path) = text.strip_prefix("configmaps:") {
            return Ok(Self::ConfigMaps(path.into()));
        }
        Ok(match text.strip_prefix("index:") {
            Some(path) => Self::Index(path.into()),
            None => Self::Path(text.into()),
        })
    }

    /// The same, a relative path in it as one below a folder.
    pub(super) fn within(self, folder: &Path) -> Self {
        match self {
            Self::Path(path) => Self::Path(folder.join(path)),
            Self::Index(path) => Self::Index(folder.join(path)),
            Self::ConfigMaps(path) => Self::ConfigMaps(folder.join(path)),
            Self::Layout(path, name) => {
                Self::Layout(folder.join(path).to_string_lossy().into_owned(), name)
            }
            same @ (Self::Stdin | Self::Registry(_)) => same,
        }
    }

    /// The bundle.
    ///
    /// # Errors
    /// It cannot be had.
    pub(super) fn load(
        &self,
        request: &Request,
        progress: Option<&Progress>,
    ) -> Result<Loaded, Error> {
        match self {
            Self::Stdin => archive("-", std::io::stdin().lock()),
            Self::Path(path) => {
                let at = below(request, path);
                match files::named(&at)? {
                    InsideKind::Folder => folder(path, &at),
                    _ => archive(&path.to_string_lossy(), files::open(&at)?),
                }
            }
            Self::Index(path) => Reading::new(request, progress).load(path),
            Self::ConfigMaps(path) => config_maps(path, &below(request, path)),
            Self::Layout(folder, name) => in_layout(request, folder, name.as_deref()),
            Self::Registry(reference) => in_registry(request, reference, progress),
        }
    }
}

fn in_layout(request: &Request, folder: &str, name: Option<&str>) -> Result<Loaded, Error> {
    let base = request.directory.as_deref().unwrap_or(Path::new("."));
    let opened = Layout::open(base, folder).map_err(failed)?;
    let picked = opened.pick(name).map_err(failed)?;
    let architecture = read::registries(request)?.1.architecture;
    let shown = format!("{}{folder}", layout::SCHEME);
    stored(&opened, &picked, &architecture, shown)
}

fn in_registry(
    request: &Request,
    reference: &Reference,
    progress: Option<&Progress>,
) -> Result<Loaded, Error> {
    if !matches!(reference.target(), Target::Digest(_)) {
        let message = "its tag may move: a bundle is named by its digest";
        let failure = Failure::new(reference, FailureKind::Unsupported, message);
        let name = reference.name();
        return Err(failed(
            failure.help(format!("write `{SCHEME}{name}@sha256:…`")),
        ));
    }
    let (root, settings) = read::registries(request)?;
    let stores = sources::stores(&root, &settings, progress.cloned());
    stored(
        &stores,
        reference,
        &settings.architecture,
        reference.to_string(),
    )
}

/// The bundle that a store holds under a reference; of an index, that for the architecture.
fn stored(
    store: &dyn Store,
    reference: &Reference,
    architecture: &str,
    shown: String,
) -> Result<Loaded, Error> {
    let mut chosen = oci::images(store, std::slice::from_ref(reference), architecture);
    let missing = || {
        Err(Failure::new(
            reference,
            FailureKind::NotFound,
            "it was not found",
        ))
    };
    let chosen = chosen.pop().unwrap_or_else(missing).map_err(failed)?;
    let digest = chosen.manifest.digest.clone();
    let of = reference.at(&digest);
    let received = bundle::receive(store, &of, &chosen.manifest, Limits::default(), &|_| {});
    let digest = chosen.chain.first().cloned().unwrap_or(digest);
    loaded(received, shown, Some(digest))
}

fn archive(shown: &str, reader: impl std::io::Read) -> Result<Loaded, Error> {
    let received = bundle::receive_archive(reader, Limits::default(), &|_| {});
    loaded(received, shown.to_owned(), None)
}

fn loaded(
    received: Result<Received, Trouble>,
    shown: String,
    digest: Option<Digest>,
) -> Result<Loaded, Error> {
    match received {
        Ok(Received { bundle, tree }) => Ok(Loaded {
            bundle: bundle.shown_below(&shown),
            folders: tree.folders.into_iter().collect(),
            findings: Vec::new(),
            digest,
            shown,
        }),
        Err(Trouble::Refused(refusal)) => Ok(Loaded {
            bundle: Bundle::empty(Kind::Plain),
            folders: Vec::new(),
            findings: vec![refused(&shown, &refusal)],
            digest,
            shown,
        }),
        Err(Trouble::Store(failure)) => Err(failed(failure)),
        Err(Trouble::World(cause)) => Err(lost(&shown)(cause)),
    }
}

fn refused(shown: &str, refusal: &Refusal) -> Finding {
    let finding = Finding::new(
        RuleId::ArchiveRefused,
        format!("`{shown}` is not unpacked: {refusal}"),
    );
    let finding = finding.at(spot_of(shown), "");
    match refusal.reason {
        Reason::SymbolicLink | Reason::HardLink(_) => {
            finding.help("pack the file that the link leads to")
        }
        Reason::Compression(_) => finding.help("pack it as tar, or with gzip"),
        _ => finding,
    }
}

fn folder(written: &Path, path: &Path) -> Result<Loaded, Error> {
    let shown = written.to_string_lossy().into_owned();
    let (mut found, mut folders, mut findings) = (Vec::new(), Vec::new(), Vec::new());
    for entry in files::tree(path)? {
        let from = written.join(&entry.path).to_string_lossy().into_owned();
        if entry.kind == InsideKind::Folder {
            folders.push(entry.path);
            continue;
        }
        let refusal = refusal(&entry);
        match (refusal, entry.kind) {
            (
                None,
                InsideKind::File {
                    size,
                    is_executable,
                },
            ) => found.push(File {
                path: entry.path.into(),
                from: from.into(),
                is_executable,
                size,
                content: files::body(&entry.at),
            }),
            (what, _) => {
                let message = format!("`{from}` {}", what.unwrap_or_default());
                let finding = Finding::new(RuleId::BundleLayout, message);
                findings.push(finding.at(spot_of(&from), ""));
            }
        }
    }
    Ok(Loaded {
        bundle: Bundle::new(kind(&found, &folders), found).map_err(twice)?,
        folders,
        findings,
        digest: None,
        shown,
    })
}

/// Why something in a folder cannot be in a bundle, as the end of a sentence.
fn refusal(entry: &Inside) -> Option<String> {
    match entry.kind {
        InsideKind::Link => Some("is a symbolic link, which no bundle holds".to_owned()),
        InsideKind::Other => Some("is no file, or has a name that is not UTF-8".to_owned()),
        InsideKind::Folder | InsideKind::File { .. } => output_path::fault(&entry.path)
            .map(|fault| format!("cannot be in a bundle: its path {fault}")),
    }
}

/// What the files of a folder make it.
fn kind(files: &[File], folders: &[String]) -> Kind {
    let has = |path: &str| files.iter().any(|file| &*file.path == path);
    let has_manifests = folders.iter().any(|path| path == MANIFESTS);
    if has(INSTALLER) {
        Kind::Components
    } else if has("metadata/annotations.yaml") && has_manifests {
        Kind::Registry
    } else if has_manifests {
        Kind::Plain
    } else {
        Kind::Artifact(LayerType::Oci)
    }
}

fn config_maps(written: &Path, path: &Path) -> Result<Loaded, Error> {
    let mut found = Vec::new();
    let file = |from: &Path, at: &Path, size: u64| File {
        path: "".into(),
        from: from.to_string_lossy().into(),
        is_executable: false,
        size,
        content: files::body(at),
    };
    match files::named(path)? {
        InsideKind::File { size, .. } => found.push(file(written, path, size)),
        _ => {
            for entry in files::tree(path)? {
                let is_yaml = [".yaml", ".yml", ".json"]
                    .iter()
                    .any(|end| entry.path.ends_with(end));
                if let (InsideKind::File { size, .. }, true) = (entry.kind, is_yaml) {
                    found.push(file(&written.join(&entry.path), &entry.at, size));
                }
            }
        }
    }
    let shown = written.to_string_lossy().into_owned();
    let (bundle, findings) = bundle::of_config_maps(&found).map_err(lost(&shown))?;
    Ok(Loaded {
        bundle,
        folders: vec![MANIFESTS.to_owned()],
        findings,
        digest: None,
        shown,
    })
}

fn twice(path: Arc<str>) -> Error {
    let message = format!("`{path}` stands twice");
    Error::Usage { message }
}

fn failed(failure: Failure) -> Error {
    let failures = vec![failure];
    Error::Fetch { failures }
}
