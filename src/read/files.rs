//! Reading one file of the workspace.

use std::fs;
use std::path::Path;

use crate::error::Error;
use crate::model::place::Source;
use crate::yaml;

/// A file below the root, decoded. A file named after secrets keeps its text out of every report.
pub(super) fn source(root: &Path, file: &Path) -> Result<Source, Error> {
    let path = root.join(file);
    let bytes = fs::read(&path).map_err(|cause| Error::Read { path: file.to_owned(), cause })?;
    let text = yaml::decode(bytes);
    Ok(Source { path: display(file).into(), text, secret: is_secret(file) })
}

/// A path as it is shown: with slashes on every system, without a leading `./`.
pub(super) fn display(file: &Path) -> String {
    let text = file.to_string_lossy().replace('\\', "/");
    text.strip_prefix("./").map_or(text.clone(), str::to_owned)
}

/// Whether a file holds secrets, going by its name: Sylva's `secrets.yaml` and its kin.
fn is_secret(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name.to_string_lossy().to_lowercase().contains("secret"))
}
