//! `metalmark render`: checks everything, then writes, compares or prints the manifests.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use crate::error::Error;
use crate::model::finding::Finding;
use crate::model::manifest::{ChangeSet, Keeps, ManifestFile};
use crate::model::policy::Date;
use crate::read::{self, Request, Workspace};
use crate::render::Renderer;
use crate::report;
use crate::schema::Schemas;
use crate::write::{self, Foreign, Plan, Previous};

use super::fleet::{self, Survey};
use super::outputs::{self, Outputs};
use super::{Format, Terminal, Verdict};

/// What `render` was asked for.
#[derive(Clone, Debug)]
pub struct RenderOptions {
    /// What happens to what is rendered.
    pub mode: RenderMode,
    /// Overwrite files that metalmark does not own.
    pub adopt: bool,
    /// Write the clusters that are clean, even where others have errors.
    pub keep_going: bool,
    /// Allow a render that yields nothing.
    pub allow_empty: bool,
    /// The format of findings and changes.
    pub format: Format,
    /// The day that waivers are held against.
    pub today: Date,
}

/// What happens to what is rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenderMode {
    /// It is written.
    Write,
    /// It is compared with what stands there.
    Check,
    /// It is printed as one YAML stream.
    Stdout,
}
