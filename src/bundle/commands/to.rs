//! Where a bundle is put.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::artifacts::layout::{self, LayoutSink};
use crate::artifacts::registry::Progress;
use crate::bundle::{Bundle, config_maps};
use crate::error::Error;
use crate::model::finding::Finding;
use crate::oci::Digest;
use crate::output::{self, Foreign, Incoming};
use crate::read::Request;

use super::{below, counting, lost};

/// Where a bundle is put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum To {
    /// A folder, to be committed: `dir:DIR`.
    Folder(PathBuf),
    /// A compressed archive: `FILE.tgz`.
    Archive(PathBuf),
    /// An image layout, and the name in it: `oci-layout:DIR[:NAME]`.
    Layout(String, Option<String>),
    /// A folder of ConfigMaps: `configmaps:DIR`.
    ConfigMaps(PathBuf),
}

/// What was put.
pub(super) enum PutDown {
    /// It stands there.
    Done(Done),
    /// Something is wrong with where it was to go.
    Refused(Vec<Finding>),
}

/// Something that was put.
pub(super) struct Done {
    /// Where, as people are told.
    pub(super) told: String,
    /// Its digest.
    pub(super) digest: Digest,
    /// The ConfigMaps that hold it, by name.
    pub(super) config_maps: Vec<String>,
}

/// How a bundle is put down.
pub(super) struct Manner<'a> {
    pub(super) request: &'a Request,
    pub(super) foreign: Foreign,
    /// Seconds since 1970 that the artifact says it was made at.
    pub(super) created: u64,
    /// What ConfigMaps are named after, and their namespace.
    pub(super) name: &'a str,
    pub(super) system_namespace: &'a str,
    pub(super) progress: Option<&'a Progress>,
}

impl<'a> Manner<'a> {
    /// Without what only artifacts and ConfigMaps say.
    pub(super) fn plain(request: &'a Request, progress: Option<&'a Progress>) -> Self {
        Self {
            request,
            foreign: Foreign::Refuse,
            created: 0,
            name: "",
            system_namespace: "",
            progress,
        }
    }
}

impl To {
    /// Reads what was typed.
    ///
    /// # Errors
    /// It is none of the forms; which they are.
    pub fn parse(text: &str) -> Result<Self, String> {
        let rest = |scheme: &str| text.strip_prefix(scheme).filter(|rest| !rest.is_empty());
        if let Some(folder) = rest("dir:") {
            return Ok(Self::Folder(folder.into()));
        }
        if let Some(folder) = rest("configmaps:") {
            return Ok(Self::ConfigMaps(folder.into()));
        }
        if let Some(layout) = rest(layout::SCHEME) {
            let (folder, name) = layout_name(layout);
            return Ok(Self::Layout(folder.to_owned(), name.map(str::to_owned)));
        }
        match text.ends_with(".tgz") || text.ends_with(".tar.gz") {
            true => Ok(Self::Archive(text.into())),
            false => {
                Err("write dir:DIR, FILE.tgz, oci-layout:DIR[:NAME] or configmaps:DIR".to_owned())
            }
        }
    }

    /// Puts a bundle there.
    pub(super) fn put(&self, bundle: &Bundle, manner: &Manner<'_>) -> Result<PutDown, Error> {
        let packing = counting(manner.progress, bundle.files().len());
        let unreadable = lost("the bundle");
        match self {
            Self::Folder(folder) => {
                let digest = bundle.content_digest(&packing).map_err(unreadable)?;
                match into_folder(folder, incoming(bundle), manner)? {
                    Ok(told) => Ok(done(told, digest)),
                    Err(findings) => Ok(PutDown::Refused(findings)),
                }
            }
            Self::Archive(file) => {
                let packed = bundle.pack(&packing).map_err(unreadable)?;
                output::body(&below(manner.request, file), &*packed.content)?;
                Ok(done(format!("wrote `{}`", file.display()), packed.digest))
            }
            Self::Layout(folder, name) => {
                let artifact = bundle
                    .artifact(manner.created, &packing)
                    .map_err(unreadable)?;
                let base = manner
                    .request
                    .directory
                    .as_deref()
                    .unwrap_or(Path::new("."));
                let put = LayoutSink::new(base, folder).put_as(name.as_deref(), &artifact);
                put.map_err(|failure| Error::Fetch {
                    failures: vec![failure],
                })?;
                let told = format!("put into `{}{folder}`", layout::SCHEME);
                Ok(done(told, artifact.descriptor.digest))
            }
            Self::ConfigMaps(folder) => sharded(bundle, folder, manner),
        }
    }
}

/// The files of a bundle as a folder takes them.
pub(super) fn incoming(bundle: &Bundle) -> Vec<Incoming> {
    let files = bundle.files().iter().map(|file| Incoming {
        path: file.path.to_string(),
        is_executable: file.is_executable,
        content: Arc::clone(&file.content),
    });
    files.collect()
}

fn sharded(bundle: &Bundle, folder: &Path, manner: &Manner<'_>) -> Result<PutDown, Error> {
    let made = config_maps(bundle, manner.name, manner.system_namespace);
    let made = made.map_err(lost("the bundle"))?;
    if !made.findings.is_empty() {
        return Ok(PutDown::Refused(made.findings));
    }
    let digest = bundle.content_digest(&|_| {}).map_err(lost("the bundle"))?;
    let files = made.shards.iter().map(|shard| Incoming {
        path: format!("{}.yaml", shard.name),
        is_executable: false,
        content: Arc::new(shard.manifest.clone()),
    });
    Ok(match into_folder(folder, files.collect(), manner)? {
        Ok(told) => PutDown::Done(Done {
            told,
            digest,
            config_maps: made.shards.into_iter().map(|shard| shard.name).collect(),
        }),
        Err(findings) => PutDown::Refused(findings),
    })
}

fn done(told: String, digest: Digest) -> PutDown {
    PutDown::Done(Done {
        told,
        digest,
        config_maps: Vec::new(),
    })
}

/// Files into a folder, under the laws of rendered files. The inner error is what is wrong with what stands there.
pub(super) fn into_folder(
    folder: &Path,
    files: Vec<Incoming>,
    manner: &Manner<'_>,
) -> Result<Result<String, Vec<Finding>>, Error> {
    let options = output::Options {
        shown: folder.to_string_lossy().into_owned(),
        foreign: manner.foreign,
        ..output::Options::default()
    };
    let root = below(manner.request, folder);
    let counting = counting(manner.progress, files.len());
    let plan = output::copy_plan(&root, options, "bundle", files, &counting)?;
    if !plan.findings.is_empty() {
        return Ok(Err(plan.findings));
    }
    let copied = plan.apply(&counting)?;
    let output::Copied {
        created,
        updated,
        deleted,
        unchanged,
    } = copied;
    let told = format!(
        "{}: {created} created, {updated} updated, {deleted} deleted, {unchanged} unchanged",
        folder.display()
    );
    Ok(Ok(told))
}

/// A layout's folder and the name behind it: `DIR:NAME`, as skopeo writes it.
pub(super) fn layout_name(text: &str) -> (&str, Option<&str>) {
    // A drive's letter on Windows is no folder's name.
    let is_drive = matches!(text.as_bytes(), [_, b':', b'\\' | b'/', ..]);
    let start = if is_drive { 2 } else { 0 };
    match text[start..].split_once(':') {
        Some((_, name)) => (&text[..text.len() - name.len() - 1], Some(name)),
        None => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::To;

    #[test]
    fn each_form_is_read() {
        let layout = |folder: &str, name: Option<&str>| {
            To::Layout(folder.to_owned(), name.map(str::to_owned))
        };
        for (text, expected) in [
            ("dir:a/b", To::Folder("a/b".into())),
            ("a.tgz", To::Archive("a.tgz".into())),
            ("a.tar.gz", To::Archive("a.tar.gz".into())),
            ("oci-layout:a", layout("a", None)),
            ("oci-layout:a:1.2", layout("a", Some("1.2"))),
            ("oci-layout:ab:1.2", layout("ab", Some("1.2"))),
            (
                "oci-layout:a:r.example:5000/b:1",
                layout("a", Some("r.example:5000/b:1")),
            ),
            ("oci-layout:l:1", layout("l", Some("1"))),
            ("oci-layout:C:\\a:1", layout("C:\\a", Some("1"))),
            ("configmaps:a", To::ConfigMaps("a".into())),
        ] {
            assert_eq!(To::parse(text), Ok(expected), "{text}");
        }
        for text in ["", "a", "dir:", "oci://r/a"] {
            assert!(To::parse(text).is_err(), "{text}");
        }
    }
}
