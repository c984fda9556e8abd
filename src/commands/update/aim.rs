//! Which version is meant, and which one the values hold.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Error;
use crate::model::catalog::Catalog;
use crate::model::place::Sources;
use crate::model::renovate::{self, Upgrade};
use crate::read;

use super::{catalog, usage};

/// Who says which version is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionSource {
    /// The user.
    Typed(String),
    /// The values: a bot has raised it already.
    Values,
    /// Renovate, in the file that it names; without one, the values.
    Renovate(Option<PathBuf>),
}

/// Which version is meant.
pub(super) struct Aim {
    /// The version of the entries that are brought up to date: what the values hold of it.
    pub(super) current: Option<String>,
    /// The version that they come to.
    pub(super) to: String,
    /// The version that they come from, as far as anyone said.
    pub(super) from: Option<String>,
}

impl Aim {
    /// Whether the values name the version already, so that they do not tell what came before.
    pub(super) fn is_raised(&self) -> bool {
        self.current.as_ref() == Some(&self.to)
    }
}

/// Reads the version from where it is said.
///
/// # Errors
/// Nobody names one; Renovate's file is not what the preset makes.
pub(super) fn aim(
    source: &VersionSource,
    catalogs: &[(Arc<Catalog>, Sources)],
) -> Result<Aim, Error> {
    let written = catalog::version(catalogs);
    let none = || usage(NO_VERSION);
    match source {
        VersionSource::Typed(to) => Ok(Aim {
            current: written.clone(),
            to: to.clone(),
            from: written,
        }),
        VersionSource::Values => raised(written.ok_or_else(none)?, None),
        VersionSource::Renovate(file) => {
            let upgrades = file.as_deref().map_or_else(|| Ok(Vec::new()), upgrades)?;
            // The values hold the new version already: what they do not name is another dependency's.
            let own: Vec<Upgrade> = upgrades
                .into_iter()
                .filter(|upgrade| catalog::names(catalogs, &upgrade.new_value))
                .collect();
            let to = renovate::version(&own).map(str::to_owned).or(written);
            let to = to.ok_or_else(none)?;
            let before = own.iter().filter(|upgrade| upgrade.new_value == to);
            let mut before: Vec<&String> = before.map(|upgrade| &upgrade.current_value).collect();
            before.dedup();
            let from = match before.as_slice() {
                [one] if !one.is_empty() => Some((*one).clone()),
                _ => None,
            };
            raised(to, from)
        }
    }
}

fn raised(to: String, from: Option<String>) -> Result<Aim, Error> {
    Ok(Aim {
        current: Some(to.clone()),
        from,
        to,
    })
}

fn upgrades(file: &Path) -> Result<Vec<Upgrade>, Error> {
    renovate::upgrades(&read::text(file)?).map_err(|why| {
        usage(format!(
            "`{}`, which {} names, {why}\nhelp: take `dataFileTemplate` as the preset has it",
            file.display(),
            renovate::DATA_FILE
        ))
    })
}

const NO_VERSION: &str = "the values name no version of the image builder\n\
     help: type the version: `metalmark update VERSION`";
