//! Plans an update: its edits, and the project after them, computed in memory.

use std::sync::Arc;

use crate::edit::texts;
use crate::error::Error;
use crate::model::catalog::Catalog;
use crate::model::place::{Source, Sources};
use crate::model::policy::Date;
use crate::read::{Request, Workspace};

use super::fleet::{self, Tools};
use super::{Terminal, UpdateOptions, fix, lost};
use crate::edit::update::Change;

/// The edits, and the project with them.
pub(super) struct Plan {
    /// The edits of version and catalog.
    pub(super) change: Change,
    /// The edits of selections, upon those.
    pub(super) fixed: Vec<(Arc<Source>, String)>,
    /// The project with all of them.
    pub(super) workspace: Workspace,
    /// What it is read with.
    pub(super) tools: Tools,
}

impl Plan {
    /// The project with a change.
    pub(super) fn of(
        request: &Request,
        workspace: &Workspace,
        change: Change,
        today: Date,
    ) -> Result<Self, Error> {
        let (workspace, tools) = texts::read_with(request, workspace, &change.files, today)?;
        Ok(Self {
            change,
            fixed: Vec::new(),
            workspace,
            tools,
        })
    }

    /// Moves selections of images that are gone, where that was requested.
    pub(super) fn fix(
        &mut self,
        request: &Request,
        options: &UpdateOptions,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<(), Error> {
        if !options.fix {
            return Ok(());
        }
        let lost = lost(&self.workspace, &self.tools)?;
        let tense = match options.check {
            true => fix::Tense::Would,
            false => fix::Tense::Done,
        };
        self.fixed = fix::planned(&self.workspace, &lost, tense, terminal)?;
        (self.workspace, self.tools) =
            texts::read_with(request, &self.workspace, &self.fixed, today)?;
        Ok(())
    }

    /// The catalogs of the changed project.
    pub(super) fn catalogs(&self) -> Result<Vec<(Arc<Catalog>, Sources)>, Error> {
        fleet::catalogs(&self.workspace, &self.tools)
    }

    /// All edited files: each as it was read, and its new text.
    pub(super) fn files(&self) -> Vec<(Arc<Source>, String)> {
        let mut files = self.change.files.clone();
        for (source, text) in &self.fixed {
            match files
                .iter_mut()
                .find(|(known, _)| known.path == source.path)
            {
                Some(known) => known.1.clone_from(text),
                None => files.push((Arc::clone(source), text.clone())),
            }
        }
        files
    }
}
