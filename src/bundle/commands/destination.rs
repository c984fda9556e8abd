//! Writes a bundle to where an argument says.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use oci_artifacts::Digest;
use oci_artifacts::layout;

use crate::bundle::{Bundle, config_maps};
use crate::error::Error;
use crate::files::layout_sink;
use crate::model::finding::Finding;
use crate::output::{self, Foreign, Incoming};

use super::Run;

/// Where a bundle is written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// A folder, to be committed: `dir:DIR`.
    Folder(PathBuf),
    /// A compressed archive: `FILE.tgz`.
    Archive(PathBuf),
    /// An image layout, and the name in it: `oci-layout:DIR[:NAME]`.
    Layout(String, Option<String>),
    /// A folder of ConfigMaps: `configmaps:DIR`.
    ConfigMaps(PathBuf),
}

/// What was written.
pub(super) struct Written {
    /// Where, and what changed there.
    pub(super) summary: String,
    pub(super) digest: Digest,
    /// The ConfigMaps that hold the bundle, by name.
    pub(super) config_maps: Vec<String>,
}

/// What a destination needs besides the bundle.
pub(super) struct Placing<'a> {
    pub(super) foreign: Foreign,
    /// Seconds since 1970 that the artifact says it was made at.
    pub(super) created: u64,
    /// What ConfigMaps are named after, and their namespace.
    pub(super) name: &'a str,
    pub(super) namespace: &'a str,
}

impl Destination {
    /// Parses an argument.
    ///
    /// # Errors
    /// It has none of the forms; the error lists them.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
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
        if text.ends_with(".tgz") || text.ends_with(".tar.gz") {
            Ok(Self::Archive(text.into()))
        } else {
            Err("write dir:DIR, FILE.tgz, oci-layout:DIR[:NAME] or configmaps:DIR".to_owned())
        }
    }

    /// Writes a bundle there. The inner error is what is wrong with the destination or with the bundle for it.
    pub(super) fn put(
        &self,
        run: &Run<'_>,
        bundle: &Bundle,
        placing: &Placing<'_>,
    ) -> Result<Result<Written, Vec<Finding>>, Error> {
        let packing = run.counting(bundle.files().len());
        let unreadable = Error::reading("the bundle");
        let (summary, digest) = match self {
            Self::Folder(folder) => {
                let digest = bundle.content_digest(&packing).map_err(unreadable)?;
                match into_folder(run, folder, incoming(bundle), placing.foreign)? {
                    Ok(summary) => (summary, digest),
                    Err(findings) => return Ok(Err(findings)),
                }
            }
            Self::Archive(file) => {
                let packed = bundle.pack(&packing).map_err(unreadable)?;
                output::body(&run.resolve(file), &*packed.content)?;
                (format!("wrote `{}`", file.display()), packed.digest)
            }
            Self::Layout(folder, name) => {
                let artifact = bundle.artifact(placing.created, &packing);
                let artifact = artifact.map_err(unreadable)?;
                layout_sink(run.folder(), folder)?.put_as(name.as_deref(), &artifact)?;
                let summary = format!("put into `{}{folder}`", layout::SCHEME);
                (summary, artifact.descriptor.digest)
            }
            Self::ConfigMaps(folder) => return write_config_maps(run, bundle, folder, placing),
        };
        Ok(Ok(Written {
            summary,
            digest,
            config_maps: Vec::new(),
        }))
    }
}

/// The files of a bundle as a folder takes them.
pub(super) fn incoming(bundle: &Bundle) -> Vec<Incoming> {
    let files = bundle.files().iter().map(|file| Incoming {
        path: file.path.to_string(),
        is_executable: file.mode.is_executable(),
        content: Arc::clone(&file.content),
    });
    files.collect()
}

fn write_config_maps(
    run: &Run<'_>,
    bundle: &Bundle,
    folder: &Path,
    placing: &Placing<'_>,
) -> Result<Result<Written, Vec<Finding>>, Error> {
    let made = config_maps(bundle, placing.name, placing.namespace);
    let made = made.map_err(Error::reading("the bundle"))?;
    if !made.findings.is_empty() {
        return Ok(Err(made.findings));
    }
    let digest = bundle
        .content_digest(&|_| {})
        .map_err(Error::reading("the bundle"))?;
    let files = made.shards.iter().map(|shard| Incoming {
        path: format!("{}.yaml", shard.name),
        is_executable: false,
        content: Arc::new(shard.manifest.clone()),
    });
    let written = into_folder(run, folder, files.collect(), placing.foreign)?;
    Ok(written.map(|summary| Written {
        summary,
        digest,
        config_maps: made.shards.into_iter().map(|shard| shard.name).collect(),
    }))
}

/// Files into a folder that is new, empty or holds them already. The inner error is what is wrong with the files that exist there.
pub(super) fn into_folder(
    run: &Run<'_>,
    folder: &Path,
    files: Vec<Incoming>,
    foreign: Foreign,
) -> Result<Result<String, Vec<Finding>>, Error> {
    let shown = folder.to_string_lossy();
    let counting = run.counting(files.len());
    let plan = output::copy_plan(&run.resolve(folder), &shown, foreign, files, &counting)?;
    if !plan.findings.is_empty() {
        return Ok(Err(plan.findings));
    }
    let output::Copied {
        created,
        updated,
        unchanged,
    } = plan.apply(&counting)?;
    Ok(Ok(format!(
        "{}: {created} created, {updated} updated, {unchanged} unchanged",
        folder.display()
    )))
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
    use super::Destination;

    #[test]
    fn each_form_is_read() {
        let layout = |folder: &str, name: Option<&str>| {
            Destination::Layout(folder.to_owned(), name.map(str::to_owned))
        };
        for (text, expected) in [
            ("dir:a/b", Destination::Folder("a/b".into())),
            ("a.tgz", Destination::Archive("a.tgz".into())),
            ("a.tar.gz", Destination::Archive("a.tar.gz".into())),
            ("oci-layout:a", layout("a", None)),
            ("oci-layout:a:1.2", layout("a", Some("1.2"))),
            ("oci-layout:ab:1.2", layout("ab", Some("1.2"))),
            (
                "oci-layout:a:r.example:5000/b:1",
                layout("a", Some("r.example:5000/b:1")),
            ),
            ("oci-layout:l:1", layout("l", Some("1"))),
            ("oci-layout:C:\\a:1", layout("C:\\a", Some("1"))),
            ("configmaps:a", Destination::ConfigMaps("a".into())),
        ] {
            assert_eq!(Destination::parse(text), Ok(expected), "{text}");
        }
        for text in ["", "a", "dir:", "oci://r/a"] {
            assert!(Destination::parse(text).is_err(), "{text}");
        }
    }
}
