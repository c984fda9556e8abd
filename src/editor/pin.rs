//! The edit that replaces a selector by the key of the image that it selects now.

use std::sync::Arc;

use capi::image::ImageKey;
use yaml_tree::edit::{Edit, Position, Step, Target, edit};

use crate::decide::plan::states;
use crate::edit::texts::{self, EditedFile};
use crate::error::Error;
use crate::model::cluster::KEY_NAMES;
use crate::report::values::ValuePath;

use super::answers::Answers;
use super::completion::SELECTOR;
use super::marks::Mark;

/// A selector that can be replaced.
pub(super) struct Pin {
    /// The image that it selects.
    pub(super) key: ImageKey,
    /// The document with that key in its place.
    pub(super) file: EditedFile,
}

impl Answers<'_> {
    /// The pin of the selector at a byte of a cluster's own values; none where a pool would boot anything else with it.
    ///
    /// # Errors
    /// A file cannot be read any more.
    pub(super) fn pin(&self, offset: usize) -> Result<Option<Pin>, Error> {
        let index = &self.analysis.index;
        let owner = index.owner(&self.path.to_string_lossy());
        let (Some(cluster), Some(file), Some(level)) = (owner, self.file(), self.level(offset))
        else {
            return Ok(None);
        };
        let selector = level.key(SELECTOR);
        let root = self.root();
        let Some(place) = root
            .as_ref()
            .and_then(|root| Some(selector.get(root)?.place))
        else {
            return Ok(None);
        };
        let bytes = place.start as usize..place.end as usize;
        let chosen = file.all().filter_map(|(at, mark)| match mark {
            Mark::Choice(pool) if bytes.start <= at.start && at.end <= bytes.end => Some(*pool),
            _ => None,
        });
        let mut keys: Vec<_> = chosen.map(|pool| index.pools[pool].key.as_ref()).collect();
        keys.sort_unstable();
        keys.dedup();
        let [Some(key)] = &*keys else {
            return Ok(None);
        };
        let key = Arc::clone(key);
        let edits = [
            Edit::Insert {
                map: Target::Path(0, level.steps),
                key: KEY_NAMES[0].to_owned(),
                value: key.to_string().into(),
                position: Position::After(SELECTOR.into()),
            },
            Edit::Remove {
                at: Target::Path(0, selector.steps),
            },
        ];
        let workspace = self.analysis.workspace();
        let Ok(text) = edit(self.text, workspace.engine, &edits) else {
            return Ok(None);
        };
        let pin = Pin {
            key,
            file: EditedFile {
                source: Arc::clone(&file.source),
                text,
            },
        };
        Ok(self.keeps_images(cluster, &pin)?.then_some(pin))
    }

    /// The map of the values that the selector at a byte is in.
    fn level(&self, offset: usize) -> Option<ValuePath> {
        let ValuePath { mut steps } = self.entry(offset)?.path;
        let is_selector = |step: &Step| *step == Step::Key(SELECTOR.to_owned());
        steps.truncate(steps.iter().rposition(is_selector)?);
        Some(ValuePath { steps })
    }

    /// Whether every pool of the cluster boots what it boots today.
    fn keeps_images(&self, cluster: usize, pin: &Pin) -> Result<bool, Error> {
        let (request, fleet) = (&self.analysis.request, &self.analysis.fleet);
        let edited = std::slice::from_ref(&pin.file);
        let fleet = texts::read_with(request, fleet, edited)?;
        let entry = fleet.workspace.entries().nth(cluster);
        let (Some(before), Some(entry)) = (self.view(cluster)?, entry) else {
            return Ok(false);
        };
        let after = fleet.view(entry)?;
        Ok(states(&before) == states(&after))
    }
}
