//! A file of Kubernetes objects, as kubectl reads it.

use std::path::Path;

use crate::error::Error;
use crate::files::read_argument;
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;
use yaml_tree::value::Node;

use super::files::source;

/// The objects of a file.
///
/// # Errors
/// The file cannot be read, or is no YAML.
pub fn objects(path: &Path) -> Result<Vec<Node>, Error> {
    let bytes = read_argument(path)?;
    let usage = |message| Error::Usage { message };
    let source = source(path, None, &bytes, Engine::Kubectl);
    let source = source.map_err(|finding| usage(finding.message))?;
    let read = yaml_tree::read(&source.text, FileId(0), Engine::Kubectl).map_err(|error| {
        let (line, column) = source.line_column(error.place.start);
        usage(format!("{}:{line}:{column}: {error}", source.path))
    })?;
    Ok(read.documents)
}
