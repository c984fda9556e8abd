//! Determines the version to update to, and the current one in the values.

use std::path::Path;

use crate::edit::update::{self, UpdateTarget};
use crate::error::Error;
use crate::model::catalog::ReadCatalog;
use crate::model::renovate::{self, Upgrade};
use crate::read;

use super::UpdateOptions;

/// Reads the version from its source.
///
/// # Errors
/// Nobody names one; Renovate's file is not what the preset makes.
pub(super) fn target(
    options: &UpdateOptions,
    renovate: Option<&Path>,
    catalogs: &[ReadCatalog],
) -> Result<UpdateTarget, Error> {
    let written = update::version(catalogs);
    let none = || Error::usage(NO_VERSION);
    match (&options.to, options.from_renovate) {
        (Some(to), _) => Ok(UpdateTarget {
            current: written.clone(),
            to: to.clone(),
            from: written,
        }),
        (None, false) => new_target(written.ok_or_else(none)?, None),
        (None, true) => {
            let upgrades = renovate.map_or_else(|| Ok(Vec::new()), upgrades)?;
            // The values hold the new version already: what they do not name is another dependency's.
            let own: Vec<Upgrade> = upgrades
                .into_iter()
                .filter(|upgrade| update::names(catalogs, &upgrade.new_value))
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
            new_target(to, from)
        }
    }
}

fn new_target(to: String, from: Option<String>) -> Result<UpdateTarget, Error> {
    Ok(UpdateTarget {
        current: Some(to.clone()),
        from,
        to,
    })
}

fn upgrades(file: &Path) -> Result<Vec<Upgrade>, Error> {
    renovate::upgrades(&read::argument_text(file)?).map_err(|why| {
        Error::usage(format!(
            "`{}`, which {} names, {why}\nhelp: take `dataFileTemplate` as the preset has it",
            file.display(),
            renovate::DATA_FILE
        ))
    })
}

const NO_VERSION: &str = "the values name no version of the image builder\n\
     help: type the version: `metalmark update VERSION`";
