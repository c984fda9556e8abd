//! The project file's `stamps:`, ready to be compared with objects.

use std::sync::Arc;

use yaml_tree::place::{Place, Spot};

use crate::model::pattern::Pattern;
use crate::model::selector::{Selector, Term, Wanted};
use crate::model::stamping::{ImageRequest, RequestedImage, StampEntry};

use super::places::Problems;
use super::project::{ProjectFile, StampOptions};

/// The valid entries; what is wrong with others is reported.
pub(super) fn entries(file: &ProjectFile, problems: &mut Problems<'_>) -> Vec<StampEntry> {
    let mut entries = Vec::new();
    for (index, written) in file.stamps.iter().enumerate() {
        let spot = problems.places.item(&["stamps"], index);
        match entry(written, spot.clone()) {
            Ok(entry) => entries.push(entry),
            Err(message) => {
                let help = "write `image: KEY`, or `selector: {os: ubuntu}`";
                problems.refuse_at(message, spot, help);
            }
        }
    }
    entries
}

fn entry(written: &StampOptions, spot: Option<Spot>) -> Result<StampEntry, String> {
    let image = match (&written.image, written.selector.is_empty()) {
        (Some(key), true) => RequestedImage::Image(key.as_str().into()),
        (None, false) => RequestedImage::Selector(selector(written)),
        (Some(_), false) => {
            return Err("an entry of `stamps` has `image` and `selector`".to_owned());
        }
        (None, true) => return Err("an entry of `stamps` names no image".to_owned()),
    };
    Ok(StampEntry {
        kind: pattern(written.kind.as_ref())?,
        name: pattern(written.name.as_ref())?,
        namespace: pattern(written.namespace.as_ref())?,
        labels: written.labels.clone(),
        variables: written
            .variables
            .iter()
            .map(|(name, word)| (name.clone(), word.as_str().into()))
            .collect(),
        request: ImageRequest {
            image,
            field: None,
            region: written.region.as_deref().map(Arc::from),
            spot,
        },
    })
}

fn pattern(text: Option<&String>) -> Result<Option<Pattern>, String> {
    let pattern = text.map(|text| {
        let pattern = Pattern::parse(text);
        pattern.map_err(|why| format!("`{text}` is not a pattern: {why}"))
    });
    pattern.transpose()
}

fn selector(written: &StampOptions) -> Selector {
    let terms = written.selector.iter().map(|(fact, value)| Term {
        fact: fact.as_str().into(),
        wanted: Wanted::Pattern(value.as_str().into()),
        place: Place::NONE,
        key_place: Place::NONE,
    });
    Selector {
        terms: terms.collect(),
    }
}
