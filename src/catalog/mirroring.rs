//! Copies locked images to a mirror, each by its digest and with everything that belongs to it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{self, Path, PathBuf};
use std::sync::Arc;

use capi::image::ImageKey;
use oci_artifacts::evidence::{Evidence, Witness};
use oci_artifacts::layout::{self, Layout};
use oci_artifacts::registries::Mirror;
use oci_artifacts::whole::{self, Piece, Role};
use oci_artifacts::{Failure, FailureKind, Reference, Sink, Store};

use super::sources::Stores;
use crate::budget;
use crate::files::layout_sink;

/// An image to copy.
#[derive(Clone, Debug)]
pub struct MirrorTask {
    /// The first key that the lock has it under.
    pub key: ImageKey,
    /// Where the lock has it.
    pub place: Option<String>,
    /// Its reference, with its digest.
    pub name: Reference,
    /// Where it is stored.
    pub to: MirrorPlace,
    /// Whether it is read from its own registry, although the project reads it from a mirror.
    pub reads_origin: bool,
    /// What proves it.
    pub evidence: Option<Arc<Evidence>>,
}

/// A place for an image.
#[derive(Clone, Debug)]
pub struct MirrorPlace {
    /// The folder of an image layout, as the process finds it; none for a registry.
    folder: Option<PathBuf>,
    /// Its name there, with its digest.
    name: Reference,
}

impl MirrorPlace {
    /// The place of an image at a mirror, whose folder is relative to `base`. `rest`: what of its name follows the prefix that is
    /// mirrored.
    pub fn new(mirror: &Mirror, base: &Path, name: &Reference, rest: &str) -> Self {
        match mirror {
            Mirror::Layout(folder) => Self {
                folder: Some(base.strip_prefix(".").unwrap_or(base).join(&**folder)),
                name: name.clone(),
            },
            Mirror::Prefix(prefix) => Self {
                folder: None,
                name: name.with_prefix(prefix, rest),
            },
        }
    }

    /// Whether two are the same place.
    pub fn is_same(&self, other: &Self) -> bool {
        let folder = |place: &Self| place.folder.as_ref().map(path::absolute).transpose().ok();
        self.name == other.name && folder(self) == folder(other)
    }
}

/// As `oci-layout:DIR:NAME` or `oci://REGISTRY/…`, without the digest.
impl fmt::Display for MirrorPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Reference {
            digest: None,
            ..self.name.clone()
        };
        let Some(folder) = &self.folder else {
            return name.fmt(f);
        };
        let name = name.to_string();
        let name = name.strip_prefix(oci_artifacts::SCHEME).unwrap_or(&name);
        write!(f, "{}{}:{name}", layout::SCHEME, folder.display())
    }
}

/// What became of an image.
#[derive(Clone, Debug)]
pub struct Mirrored<'a> {
    /// The image.
    pub task: &'a MirrorTask,
    /// How many artifacts belong to it: signatures, attestations and others.
    pub attached: usize,
    /// The bytes of blobs that its place lacked.
    pub bytes: u64,
    /// What was done.
    pub state: MirrorState,
}

/// What was done with an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirrorState {
    /// Nothing: all of it was there.
    There,
    /// Nothing yet: its place lacks something of it.
    Lacking,
    /// It was copied.
    Copied,
}

/// Copies images.
pub struct Mirroring {
    /// Where the project reads images from.
    pub project: Arc<Stores>,
    /// Registries themselves, without mirrors: what is stored in a registry goes there, too.
    pub registries: Arc<Stores>,
}

/// An image with everything that belongs to it.
pub struct Load {
    pieces: Vec<Piece>,
    /// The bytes that its place lacks of each piece; none where it has all of it.
    lacks: Vec<Option<u64>>,
}

impl Mirroring {
    fn source(&self, task: &MirrorTask) -> &Arc<Stores> {
        if task.reads_origin {
            &self.registries
        } else {
            &self.project
        }
    }

    /// What there is of each image, and what of it its place lacks. Many requests at once.
    pub fn loads(&self, tasks: &[MirrorTask]) -> Vec<Result<Load, Failure>> {
        let mut loads: Vec<Option<Result<Load, Failure>>> = tasks.iter().map(|_| None).collect();
        for reads_origin in [false, true] {
            let places = (0..tasks.len()).filter(|at| tasks[*at].reads_origin == reads_origin);
            let places: Vec<usize> = places.collect();
            let Some(first) = places.first() else {
                continue;
            };
            let store = self.source(&tasks[*first]);
            let names: Vec<Reference> = places.iter().map(|at| tasks[*at].name.clone()).collect();
            for (at, pieces) in places.into_iter().zip(whole::pieces(&**store, &names)) {
                let pieces = pieces.and_then(|pieces| with_signatures(pieces, &tasks[at]));
                loads[at] = Some(pieces.map(|pieces| Load {
                    pieces,
                    lacks: Vec::new(),
                }));
            }
        }
        let mut loads: Vec<Result<Load, Failure>> = loads.into_iter().flatten().collect();
        let mut folders: BTreeMap<Option<&Path>, Vec<usize>> = BTreeMap::new();
        for (at, task) in tasks.iter().enumerate() {
            folders
                .entry(task.to.folder.as_deref())
                .or_default()
                .push(at);
        }
        for (folder, places) in folders {
            self.weigh(folder, places, tasks, &mut loads);
        }
        loads
    }

    /// Finds out what a layout or registries lack.
    fn weigh(
        &self,
        folder: Option<&Path>,
        places: Vec<usize>,
        tasks: &[MirrorTask],
        loads: &mut [Result<Load, Failure>],
    ) {
        let opened = folder.map(|folder| Layout::open(Path::new(""), &folder.to_string_lossy()));
        let store: Option<&dyn Store> = match &opened {
            None => Some(&*self.registries),
            Some(Ok(layout)) => Some(layout),
            Some(Err(failure)) if failure.kind == FailureKind::NoStore => None,
            Some(Err(failure)) => {
                for at in places {
                    loads[at] = Err(failure.clone());
                }
                return;
            }
        };
        let named: Vec<(Reference, &Piece)> = places
            .iter()
            .filter_map(|at| Some((*at, loads[*at].as_ref().ok()?)))
            .flat_map(|(at, load)| {
                let name = &tasks[at].to.name;
                load.pieces
                    .iter()
                    .map(move |piece| (piece_name(name, piece), piece))
            })
            .collect();
        let mut answers = whole::lacking(store, &named).into_iter();
        for at in places {
            let Ok(load) = &mut loads[at] else { continue };
            // Every image takes the answers about its pieces, whatever they are.
            let answers: Vec<_> = answers.by_ref().take(load.pieces.len()).collect();
            match answers.into_iter().collect() {
                Ok(lacks) => load.lacks = lacks,
                Err(failure) => loads[at] = Err(failure),
            }
        }
    }

    /// Copies what is lacking of an image.
    ///
    /// # Errors
    /// It cannot be read or stored.
    pub fn copy(&self, task: &MirrorTask, load: &Load) -> Result<(), Failure> {
        let source: Arc<dyn Store> = Arc::<Stores>::clone(self.source(task));
        let layout;
        let sink: &dyn Sink = match &task.to.folder {
            Some(folder) => {
                layout = layout_sink(Path::new(""), &folder.to_string_lossy())?;
                &layout
            }
            None => &*self.registries,
        };
        budget::add_bytes(load.bytes());
        for (piece, lack) in load.pieces.iter().zip(&load.lacks) {
            if lack.is_some() {
                let name = piece_name(&task.to.name, piece);
                sink.put(&name, &piece.artifact(&source))?;
            }
        }
        Ok(())
    }
}

impl Load {
    /// How many artifacts belong to the image: signatures, attestations and others.
    pub fn count_attached(&self) -> usize {
        let is_attached = |piece: &&Piece| piece.role == Role::Attached;
        self.pieces.iter().filter(is_attached).count()
    }

    /// The bytes of blobs that its place lacks.
    pub fn bytes(&self) -> u64 {
        self.lacks
            .iter()
            .flatten()
            .fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }

    /// Whether its place has all of it.
    pub fn is_there(&self) -> bool {
        self.lacks.iter().all(Option::is_none)
    }
}

/// The name of a piece where its image is copied to.
fn piece_name(place: &Reference, piece: &Piece) -> Reference {
    Reference {
        tag: piece.name.tag.clone(),
        digest: piece.name.digest.clone(),
        ..place.clone()
    }
}

/// The pieces, if every signature that the lock rests on is among them.
fn with_signatures(pieces: Vec<Piece>, task: &MirrorTask) -> Result<Vec<Piece>, Failure> {
    let mut signatures = task.evidence.iter().flat_map(|it| &it.signatures);
    let is_there = |witness: &Witness| pieces.iter().any(|piece| piece.holds(witness));
    if signatures.all(is_there) {
        return Ok(pieces);
    }
    let message = "the lock rests on a signature of it that is not there any more, so a copy would not be trusted";
    let failure = Failure::new(&task.name, FailureKind::NotFound, message);
    Err(failure.help(format!(
        "look for another signature: `metalmark lock --upgrade {}`",
        task.key
    )))
}
