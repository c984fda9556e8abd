//! Reads a bundle from where an argument says: an archive, a folder, an index, ConfigMaps, a layout or a registry.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use oci_artifacts::archive::{Limits, Mode, Reason, Refusal};
use oci_artifacts::layout::{self, Layout};
use oci_artifacts::{Digest, Failure, FailureKind, Platform, Reference, SCHEME, Store, Target};
use yaml_tree::place::Spot;

use crate::bundle::{self, Bundle, BundleKind, LayerType, MANIFESTS, ReceiveError, Received};
use crate::catalog::sources;
use crate::error::Error;
use crate::files::{self, InsideKind};
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::read;

use super::destination::layout_name;
use super::gather::{self, Gathered, PackKind, disk_file};
use super::index::Reading;
use super::{Run, collision};

/// Where a bundle is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Input {
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
    /// The files that are no part of it, as they are shown.
    pub(super) left_out: Vec<Arc<str>>,
    /// The digest of its manifest, where it has one.
    pub(super) digest: Option<Digest>,
    /// Where it was read from, as people wrote it.
    pub(super) shown: String,
}

/// A bundle that was read, to be packed again.
impl From<Loaded> for Gathered {
    fn from(loaded: Loaded) -> Self {
        let files = loaded.bundle.files().iter();
        Self {
            files: files
                .map(|file| (file.path.to_string(), file.clone()))
                .collect(),
            folders: loaded.folders,
            findings: loaded.findings,
            left_out: loaded.left_out,
            annotations: loaded.bundle.annotations,
        }
    }
}

impl Input {
    /// Parses an argument. A path is opened when the bundle is read.
    ///
    /// # Errors
    /// The text starts like a reference and is not one.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
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
    pub(super) fn resolve_in(self, folder: &Path) -> Self {
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
    /// It cannot be read or fetched.
    pub(super) fn load(&self, run: &Run<'_>) -> Result<Loaded, Error> {
        match self {
            Self::Stdin => archive("-", std::io::stdin().lock()),
            Self::Path(path) => {
                let at = run.resolve(path);
                match files::path_kind(&at)? {
                    InsideKind::Folder => folder(path, &at),
                    _ => archive(&path.to_string_lossy(), files::open(&at)?),
                }
            }
            Self::Index(path) => Reading::new(run).load(path),
            Self::ConfigMaps(path) => config_maps(path, &run.resolve(path)),
            Self::Layout(folder, name) => load_layout(run, folder, name.as_deref()),
            Self::Registry(reference) => load_registry(run, reference),
        }
    }
}

fn load_layout(run: &Run<'_>, folder: &str, name: Option<&str>) -> Result<Loaded, Error> {
    let opened = Layout::open(run.folder(), folder)?;
    let picked = opened.pick(name)?;
    let platform = read::registries(run.request)?.1.platform;
    let shown = format!("{}{folder}", layout::SCHEME);
    load_from_store(&opened, &picked, &platform, shown)
}

fn load_registry(run: &Run<'_>, reference: &Reference) -> Result<Loaded, Error> {
    if !matches!(reference.target(), Target::Digest(_)) {
        let message = "its tag may move: a bundle is named by its digest";
        let failure = Failure::new(reference, FailureKind::Unsupported, message);
        let name = reference.name();
        return Err(failure
            .help(format!("write `{SCHEME}{name}@sha256:…`"))
            .into());
    }
    let (root, settings) = read::registries(run.request)?;
    let stores = sources::stores(&root, &settings, run.progress.clone());
    let shown = reference.to_string();
    load_from_store(&stores, reference, &settings.platform, shown)
}

/// The bundle that a store holds under a reference; of an index, that for the platform.
fn load_from_store(
    store: &dyn Store,
    reference: &Reference,
    platform: &Platform,
    shown: String,
) -> Result<Loaded, Error> {
    let chosen = oci_artifacts::image(store, reference, platform)?;
    let digest = chosen.manifest.digest.clone();
    let of = reference.with_digest(&digest);
    let received = bundle::receive(store, &of, &chosen.manifest, Limits::default(), &|_| {});
    let digest = chosen.index.map_or(digest, |index| index.digest);
    into_loaded(received, shown, Some(digest))
}

fn archive(shown: &str, reader: impl std::io::Read) -> Result<Loaded, Error> {
    let received = bundle::receive_archive(reader, Limits::default(), &|_| {});
    into_loaded(received, shown.to_owned(), None)
}

/// The files of an archive on disk: those that its folder would give.
pub(super) fn collect_archive(
    run: &Run<'_>,
    path: &Path,
    kind: PackKind,
) -> Result<Gathered, Error> {
    let reader = files::open(&run.resolve(path))?;
    let received = bundle::receive_archive(reader, Limits::default(), &|_| {});
    // What lies beside `manifests/` too: the kind says what is taken.
    let whole = received.map(|Received { tree, .. }| Received {
        bundle: Bundle::from_tree(BundleKind::Artifact(LayerType::Oci), &tree),
        tree,
    });
    let loaded = into_loaded(whole, path.to_string_lossy().into_owned(), None)?;
    let mut gathered = gather::lay_out(loaded.folders, loaded.bundle.files(), path, kind);
    gathered.findings.extend(loaded.findings);
    Ok(gathered)
}

fn into_loaded(
    received: Result<Received, ReceiveError>,
    shown: String,
    digest: Option<Digest>,
) -> Result<Loaded, Error> {
    match received {
        Ok(Received { bundle, tree }) => {
            let bundle = bundle.with_origin(&shown);
            Ok(Loaded {
                left_out: bundle.omissions().collect(),
                bundle,
                folders: tree.folders.into_iter().collect(),
                findings: Vec::new(),
                digest,
                shown,
            })
        }
        Err(ReceiveError::Refused(refusal)) => Ok(Loaded {
            bundle: Bundle::empty(BundleKind::Plain),
            folders: Vec::new(),
            findings: vec![archive_refused(&shown, &refusal)],
            left_out: Vec::new(),
            digest,
            shown,
        }),
        Err(ReceiveError::Store(failure)) => Err(failure.into()),
        Err(ReceiveError::Io(cause)) => Err(Error::reading(&shown)(cause)),
    }
}

fn archive_refused(shown: &str, refusal: &Refusal) -> Finding {
    let finding = Finding::new(
        RuleId::ArchiveRefused,
        format!("`{shown}` is not unpacked: {refusal}"),
    );
    let finding = finding.with_label(Some(Spot::from_path(shown)), "");
    match refusal.reason {
        Reason::SymbolicLink(_) | Reason::HardLink(_) => {
            finding.help("pack the file that the link leads to")
        }
        Reason::Compression(_) => finding.help("pack it as tar, or with gzip"),
        _ => finding,
    }
}

/// A folder, whose files make its kind.
fn folder(written: &Path, at: &Path) -> Result<Loaded, Error> {
    let (gathered, kind) = gather::collect_folder(written, at)?;
    let files = gathered.files.into_values().collect();
    Ok(Loaded {
        bundle: Bundle::new(kind.unwrap_or(BundleKind::Artifact(LayerType::Oci)), files)
            .map_err(collision)?,
        folders: gathered.folders,
        findings: gathered.findings,
        left_out: gathered.left_out,
        digest: None,
        shown: written.to_string_lossy().into_owned(),
    })
}

fn config_maps(written: &Path, path: &Path) -> Result<Loaded, Error> {
    let mut found = Vec::new();
    match files::path_kind(path)? {
        InsideKind::File { size, .. } => found.push(disk_file(
            &written.to_string_lossy(),
            path,
            size,
            Mode::PLAIN,
        )),
        _ => {
            for entry in files::tree(path)? {
                let is_yaml = gather::is_yaml(&entry.path);
                if let (InsideKind::File { size, .. }, true) = (entry.kind, is_yaml) {
                    let from = written.join(&entry.path);
                    found.push(disk_file(
                        &from.to_string_lossy(),
                        &entry.at,
                        size,
                        Mode::PLAIN,
                    ));
                }
            }
        }
    }
    let shown = written.to_string_lossy().into_owned();
    let (bundle, findings) = bundle::read_config_maps(&found).map_err(Error::reading(&shown))?;
    Ok(Loaded {
        bundle,
        folders: vec![MANIFESTS.to_owned()],
        findings,
        left_out: Vec::new(),
        digest: None,
        shown,
    })
}
