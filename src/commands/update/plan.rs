//! Plans an update: its edits, and the project after them, computed in memory.

use std::collections::BTreeSet;

use yaml_tree::place::Spot;

use crate::catalog::offers::{Caller, Drift, Offer};
use crate::edit::fix::TriedFixes;
use crate::edit::texts::{self, EditedFile};
use crate::edit::update::{self as edit, UpdateTarget};
use crate::error::Error;
use crate::model::catalog::ReadCatalog;
use crate::pipeline::fleet::Fleet;
use crate::read::Request;

use super::selection_fixes;

/// The edits, and the project with them.
pub(in crate::commands) struct Plan<'f> {
    request: &'f Request,
    before: &'f Fleet,
    /// The project with the edits so far.
    after: Option<Fleet>,
    /// What they do to the catalog.
    pub(super) drift: Drift,
    /// Where each target's version is written.
    pub(super) versions: Vec<Vec<Spot>>,
    /// The entries that an expression names, which are not edited.
    pub(super) computed: Vec<(String, Spot)>,
    /// The edits of selections, where nothing is to be written.
    pub(super) fixes: TriedFixes,
    /// All edited files: each as it was read, and its new text.
    pub(in crate::commands) files: Vec<EditedFile>,
}

impl<'f> Plan<'f> {
    /// A plan without an edit.
    pub(in crate::commands) fn new(request: &'f Request, before: &'f Fleet) -> Self {
        Self {
            request,
            before,
            after: None,
            drift: Drift::default(),
            versions: Vec::new(),
            computed: Vec::new(),
            fixes: TriedFixes::default(),
            files: Vec::new(),
        }
    }

    /// The project with the edits.
    pub(in crate::commands) fn fleet(&self) -> &Fleet {
        self.after.as_ref().unwrap_or(self.before)
    }

    /// Adds what a version offers.
    pub(in crate::commands) fn add_offer(
        &mut self,
        catalogs: &[ReadCatalog],
        target: &UpdateTarget,
        offer: &Offer,
        caller: Caller,
    ) -> Result<(), Error> {
        let none = BTreeSet::new();
        let mut change = edit::change(self.fleet(), catalogs, target, offer, &none, caller)?;
        let after = texts::read_with(self.request, self.fleet(), &change.files)?;
        // What expressions evaluate to may change with the version.
        let computed = edit::expression_keys(&after.catalogs()?, &target.to_builder());
        if change.adds(&computed) {
            change = edit::change(self.fleet(), catalogs, target, offer, &computed, caller)?;
        }
        self.drift.extend(change.drift);
        self.versions.push(change.versions);
        self.computed.extend(change.computed);
        self.edit(&change.files)
    }

    /// Moves selections of images that are gone, as far as the names of images show it.
    pub(super) fn fix(&mut self) -> Result<(), Error> {
        let fixes = selection_fixes(self.fleet())?;
        let tried = TriedFixes::new(&self.fleet().workspace, &fixes);
        self.edit(&tried.files)?;
        self.fixes = tried;
        Ok(())
    }

    fn edit(&mut self, files: &[EditedFile]) -> Result<(), Error> {
        for edited in files {
            let is_it = |known: &&mut EditedFile| known.source.path == edited.source.path;
            match self.files.iter_mut().find(is_it) {
                Some(known) => known.text.clone_from(&edited.text),
                None => self.files.push(edited.clone()),
            }
        }
        self.after = Some(texts::read_with(self.request, self.fleet(), files)?);
        Ok(())
    }
}
