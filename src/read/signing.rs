//! The keys that a cluster's images are signed with, and the files that they stand in.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use crate::error::Error;
use crate::evaluate::{Evaluator, TemplateCache};
use crate::model::finding::Finding;
use crate::model::place::Sources;
use crate::model::signing::SigningKeys;

use super::{ClusterEntry, Workspace, extract, values};

/// The longest file that is read for a key, in bytes; a PEM public key has a few hundred.
const KEY_LIMIT: u64 = 64 << 10;

/// The keys of one cluster's values.
pub struct ClusterKeys {
    /// The keys.
    pub keys: SigningKeys,
    /// The files that their places point into.
    pub sources: Sources,
    /// What is wrong with them.
    pub findings: Vec<Finding>,
}

/// Reads the keys of the registries that a cluster's images come from.
///
/// # Errors
/// A layer cannot be read.
pub fn signing_keys(
    workspace: &Workspace,
    entry: &ClusterEntry,
    templates: &TemplateCache,
    registries: &BTreeSet<Arc<str>>,
) -> Result<ClusterKeys, Error> {
    let values = values::values(workspace, entry)?;
    let evaluator = Evaluator::new(&values.tree, &values.options, templates);
    let subject = values.subject();
    let (keys, findings) = extract::signing_keys(&evaluator, &values.sources, subject, registries);
    Ok(ClusterKeys {
        keys,
        sources: values.sources,
        findings,
    })
}

/// The PEM text of a key: the value itself, or what stands in the file below the project that it names.
///
/// # Errors
/// Why the file cannot be read, in words.
pub fn key_text(root: &Path, value: &str) -> Result<String, String> {
    if value.contains("-----BEGIN") {
        return Ok(value.to_owned());
    }
    let path = root.join(value.trim());
    let read = || -> std::io::Result<String> {
        // A pipe or a device would be waited for, or never end.
        if !fs::metadata(&path)?.is_file() {
            return Err(std::io::ErrorKind::InvalidInput.into());
        }
        let mut text = String::new();
        File::open(&path)?
            .take(KEY_LIMIT)
            .read_to_string(&mut text)?;
        Ok(text)
    };
    read().map_err(|cause| match cause.kind() {
        std::io::ErrorKind::NotFound => {
            "it is no PEM public key, and there is no such file".to_owned()
        }
        _ => "the file that it names cannot be read".to_owned(),
    })
}
