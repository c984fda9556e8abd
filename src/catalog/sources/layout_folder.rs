//! Facts from the annotations of images that lie in a folder, as an OCI image layout.

use std::path::Path;
use std::sync::Arc;

use capi::image::{Facts, Origin};
use oci_artifacts::layout::Layout;
use oci_artifacts::{FailureKind, Platform, Reference, is_oci};
use yaml_tree::place::Place;

use super::{ImageSource, Wanted, artifact};
use crate::error::Error;
use crate::model::catalog::Described;

/// A layout as a source of facts.
pub(super) struct LayoutFolder {
    layout: Layout,
    /// Which manifest is read of an index.
    platform: Platform,
}

/// Opens the layout in a folder below the root.
///
/// # Errors
/// The folder is not a layout.
pub(super) fn open(root: &Path, folder: &str, platform: &Platform) -> Result<LayoutFolder, Error> {
    let layout = Layout::open(root, folder).map_err(|failure| Error::Fetch {
        failures: vec![failure],
    })?;
    Ok(LayoutFolder {
        layout,
        platform: platform.clone(),
    })
}

impl ImageSource for LayoutFolder {
    /// What the layout does not hold it does not know; what it holds and cannot give is an error.
    fn describe(&self, wanted: &[Wanted<'_>]) -> Vec<Result<Option<Arc<Described>>, Error>> {
        let reference = |wanted: &Wanted<'_>| {
            let uri = wanted.uri.filter(|uri| is_oci(uri))?;
            Reference::parse(uri).ok()
        };
        let references: Vec<Option<Reference>> = wanted.iter().map(reference).collect();
        let requested: Vec<Reference> = references.iter().flatten().cloned().collect();
        let answers = artifact::artifacts(&requested, &self.platform, &self.layout);
        let mut answers = answers.into_iter();
        let answer = |(wanted, reference): (&Wanted<'_>, &Option<Reference>)| {
            let answer = reference.as_ref().and_then(|_| answers.next());
            match answer {
                None => Ok(None),
                Some(Ok(artifact)) => Ok(Some(Arc::new(description(wanted, &artifact)))),
                Some(Err(failure)) if failure.kind == FailureKind::NotFound => Ok(None),
                Some(Err(failure)) => Err(Error::Fetch {
                    failures: vec![failure],
                }),
            }
        };
        wanted.iter().zip(&references).map(answer).collect()
    }
}

fn description(wanted: &Wanted<'_>, artifact: &artifact::Artifact) -> Described {
    let facts = artifact.facts.iter();
    let facts = facts.map(|(name, value)| (name, Arc::clone(value), Place::NONE));
    Described {
        name: Arc::clone(wanted.key),
        place: Place::NONE,
        facts: Facts::new(Origin::Annotation, facts),
        digest: None,
        pulled: None,
    }
}
