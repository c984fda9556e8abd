//! Plans an update: its edits, and the project after them, computed in memory.

use std::collections::BTreeSet;

use crate::catalog::offers::Offer;
use crate::edit::texts::{self, EditedFile};
use crate::edit::update::{self as edit, Update, UpdateTarget, Versions};
use crate::error::Error;
use crate::model::catalog::ReadCatalog;
use crate::pipeline::fleet::Fleet;
use crate::read::Request;

use super::{Terminal, UpdateOptions, dangling_selections, fix};

/// The edits, and the project with them.
pub(in crate::commands) struct Plan {
    /// The edits of version and catalog.
    pub(super) change: Update,
    /// The edits of selections, upon those.
    pub(super) fixed: Vec<EditedFile>,
    /// The project with all of them.
    pub(in crate::commands) fleet: Fleet,
}

impl Plan {
    /// The project with what a version offers.
    pub(in crate::commands) fn for_offer(
        request: &Request,
        fleet: &Fleet,
        catalogs: &[ReadCatalog],
        target: &UpdateTarget,
        offer: &Offer,
        versions: Versions,
    ) -> Result<Self, Error> {
        let change = |untouched: &BTreeSet<String>| {
            edit::change(fleet, catalogs, target, offer, versions, untouched)
        };
        let plan = Self::new(request, fleet, change(&BTreeSet::new())?)?;
        // What expressions evaluate to may change with the version.
        let computed = edit::expression_keys(&plan.fleet.catalogs()?, Some(&target.to));
        if plan.change.adds(&computed) {
            Self::new(request, fleet, change(&computed)?)
        } else {
            Ok(plan)
        }
    }

    /// The project with a change.
    fn new(request: &Request, fleet: &Fleet, change: Update) -> Result<Self, Error> {
        let fleet = texts::read_with(request, fleet, &change.files)?;
        Ok(Self {
            change,
            fixed: Vec::new(),
            fleet,
        })
    }

    /// Moves selections of images that are gone, where that was requested.
    pub(super) fn fix(
        &mut self,
        request: &Request,
        options: &UpdateOptions,
        terminal: &mut Terminal,
    ) -> Result<(), Error> {
        if !options.fix {
            return Ok(());
        }
        let lost = dangling_selections(&self.fleet)?;
        let tense = if options.check {
            fix::Tense::Would
        } else {
            fix::Tense::Done
        };
        self.fixed = fix::preview_fixes(&self.fleet.workspace, &lost, tense, terminal)?;
        self.fleet = texts::read_with(request, &self.fleet, &self.fixed)?;
        Ok(())
    }

    /// All edited files: each as it was read, and its new text.
    pub(in crate::commands) fn files(&self) -> Vec<EditedFile> {
        let mut files = self.change.files.clone();
        for fixed in &self.fixed {
            let is_it = |known: &&mut EditedFile| known.source.path == fixed.source.path;
            match files.iter_mut().find(is_it) {
                Some(known) => known.text.clone_from(&fixed.text),
                None => files.push(fixed.clone()),
            }
        }
        files
    }
}
