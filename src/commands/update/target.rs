//! Determines the versions to update to, and the current ones in the values.

use std::path::Path;

use crate::catalog::offers::Builder;
use crate::edit::update::UpdateTarget;
use crate::error::Error;
use crate::model::catalog::ReadCatalog;
use crate::model::renovate::{self, Upgrade};
use crate::read;

use super::UpdateOptions;

/// Reads the versions from their source.
///
/// # Errors
/// Nobody names one, or a builder that there is not; Renovate's file is not what the preset makes.
pub(super) fn targets(
    options: &UpdateOptions,
    renovate: Option<&Path>,
    catalogs: &[ReadCatalog],
) -> Result<Vec<UpdateTarget>, Error> {
    let builders = Builder::find(catalogs);
    if !options.to.is_empty() {
        let words = options.to.iter();
        return words.map(|word| typed_target(word, &builders)).collect();
    }
    let upgrades = match renovate.filter(|_| options.from_renovate) {
        Some(file) => upgrades(file)?,
        None => Vec::new(),
    };
    // The values hold the new version already: what they do not name is another dependency's.
    let raised = |builder: &Builder| upgrades.iter().any(|upgrade| has_version(builder, upgrade));
    let has_raised = builders.iter().any(raised);
    let targets: Vec<UpdateTarget> = builders
        .into_iter()
        .filter(|builder| {
            if has_raised {
                raised(builder)
            } else {
                !builder.is_own_tag
            }
        })
        .filter_map(|builder| {
            let own = upgrades
                .iter()
                .filter(|upgrade| has_version(&builder, upgrade));
            let mut before: Vec<&String> = own.map(|upgrade| &upgrade.current_value).collect();
            before.dedup();
            let from = match before.as_slice() {
                [one] if !one.is_empty() => Some((*one).clone()),
                _ => None,
            };
            let to = builder.version.as_deref()?.to_owned();
            Some(UpdateTarget { builder, to, from })
        })
        .collect();
    if targets.is_empty() {
        return Err(Error::usage(NO_VERSION));
    }
    Ok(targets)
}

fn has_version(builder: &Builder, upgrade: &Upgrade) -> bool {
    builder.version.as_deref() == Some(&*upgrade.new_value)
}

/// `VERSION`, or `BUILDER=VERSION`.
fn typed_target(word: &str, builders: &[Builder]) -> Result<UpdateTarget, Error> {
    let (found, to) = match word.split_once('=') {
        Some((name, to)) => {
            let named = builders.iter().find(|builder| builder.has_name(name));
            let names = || builders.iter().map(Builder::name).collect::<Vec<_>>();
            let named = named.ok_or_else(|| {
                Error::usage(format!(
                    "the catalog has no images of a builder `{name}`\nhelp: there are images of {}",
                    names().join("; ")
                ))
            });
            (Some(named?), to)
        }
        None => {
            let followed = builders.iter().filter(|builder| !builder.is_own_tag);
            let names: Vec<String> = followed.map(Builder::name).collect();
            if names.len() > 1 {
                return Err(Error::usage(format!(
                    "`{word}` may be a version of several builders\nhelp: name one by its registry: `metalmark update REGISTRY={word}`; there are images of {}",
                    names.join("; ")
                )));
            }
            (builders.first(), word)
        }
    };
    let builder = found.cloned().unwrap_or_default();
    Ok(UpdateTarget {
        from: builder.version.as_deref().map(str::to_owned),
        to: to.to_owned(),
        builder,
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
