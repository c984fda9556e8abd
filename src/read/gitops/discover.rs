//! Discovers clusters among the folders that a pattern matches: those that build to a release and are not part of another one.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::reader::Reader;
use super::{deployments, kustomization};
use crate::read::error::ReadError;

/// The clusters among `folders`, in their order.
///
/// A folder that others build on (a base, a component) is not a cluster, nor is one without a HelmRelease or an Application.
/// A folder that fails to build is kept, so that composing it reports the error.
pub(super) fn clusters(
    reader: &mut Reader<'_>,
    folders: Vec<PathBuf>,
) -> Result<Vec<PathBuf>, ReadError> {
    let (mut found, mut parts) = (Vec::new(), BTreeSet::new());
    for folder in folders {
        match kustomization::build(reader, &folder) {
            Ok(Some(built)) => {
                parts.extend(built.folders.iter().skip(1).cloned());
                if built.objects.iter().any(deployments::is_one) {
                    found.push(folder);
                }
            }
            Ok(None) => {
                let is_component = kustomization::find(reader, &folder)?.is_some();
                if !is_component && deployments::is_in(reader, &folder)? {
                    found.push(folder);
                }
            }
            Err(ReadError::Finding(_)) => found.push(folder),
            Err(error) => return Err(error),
        }
    }
    found.retain(|folder| !parts.contains(folder));
    Ok(found)
}
