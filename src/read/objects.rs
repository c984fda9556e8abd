//! A file of Kubernetes objects, as kubectl reads it.

use crate::secrets;
use std::path::Path;

use crate::error::Error;
use crate::files::read_argument;
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;
use yaml_tree::value::Node;

/// The objects of a file.
///
/// # Errors
/// The file cannot be read, or is no YAML.
pub fn objects(path: &Path) -> Result<Vec<Node>, Error> {
    let bytes = read_argument(path)?;
    let shown = super::files::display(path);
    let text = yaml_tree::decode(&bytes, Engine::Kubectl).map_err(|error| Error::Usage {
        message: format!("`{shown}` is not text: {error}"),
    })?;
    let read = yaml_tree::read(&text, FileId(0), Engine::Kubectl).map_err(|error| {
        let (line, column) = secrets::source(&*shown, &*text, false).line_column(error.place.start);
        Error::Usage {
            message: format!("{shown}:{line}:{column}: {error}"),
        }
    })?;
    Ok(read.documents)
}
