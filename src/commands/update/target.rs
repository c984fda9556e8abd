//! Determines the versions to update to, and the current ones in the values.

use std::collections::BTreeMap;
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
        let targets = words.map(|word| parse_target(word, &builders, catalogs));
        let targets: Vec<UpdateTarget> = targets.collect::<Result<_, _>>()?;
        let mut seen = BTreeMap::new();
        for target in &targets {
            if let Some(first) = seen.insert(&target.builder.value, &target.to) {
                let (name, to) = (target.builder.name(), &target.to);
                let message = format!("two versions are typed for {name}: `{first}` and `{to}`");
                return Err(Error::usage(message));
            }
        }
        return Ok(targets);
    }
    let upgrades = renovate.map_or(Ok(Vec::new()), upgrades)?;
    // The values hold the new version already: what they do not name is another dependency's.
    let own = |builder: &Builder| -> Vec<&Upgrade> {
        let is_own = |upgrade: &&Upgrade| builder.version.as_deref() == Some(&*upgrade.new_value);
        upgrades.iter().filter(is_own).collect()
    };
    let mut raised: Vec<&Builder> = builders.iter().collect();
    raised.retain(|builder| !own(builder).is_empty());
    if raised.is_empty() {
        raised.extend(default_builders(&builders));
    }
    let target = |builder: &Builder| {
        let own = own(builder);
        let mut before: Vec<&String> = own.iter().map(|upgrade| &upgrade.current_value).collect();
        before.dedup();
        let from = match before.as_slice() {
            [one] if !one.is_empty() => Some((*one).clone()),
            _ => None,
        };
        let to = builder.version.as_deref()?.to_owned();
        Some(UpdateTarget {
            builder: builder.clone(),
            to,
            from,
        })
    };
    let targets: Vec<UpdateTarget> = raised.into_iter().filter_map(target).collect();
    if targets.is_empty() {
        return Err(Error::usage(NO_VERSION));
    }
    Ok(targets)
}

/// The builders that targets leave at other versions, in other environments.
pub(super) fn other_versions(targets: &[UpdateTarget], catalogs: &[ReadCatalog]) -> Vec<Builder> {
    let is_left = |builder: &Builder| {
        let alike = targets.iter().map(|target| &target.builder);
        let mut alike = alike
            .filter(|known| known.value == builder.value)
            .peekable();
        alike.peek().is_some() && alike.all(|known| known.version != builder.version)
    };
    let mut found = Builder::find(catalogs);
    found.retain(is_left);
    found
}

/// The builders that a version without a name may be of: not what older generations pin, unless there is nothing else; of one that has
/// several versions, the first.
fn default_builders(builders: &[Builder]) -> impl Iterator<Item = &Builder> {
    let has_other = builders.iter().any(|builder| !builder.is_own_tag);
    let all =
        { builders.chunk_by(|one, other| one.value == other.value) }.filter_map(<[Builder]>::first);
    all.filter(move |builder| !(has_other && builder.is_own_tag))
}

/// `VERSION`, or `BUILDER=VERSION`.
///
/// # Errors
/// There is no such builder; several may be meant.
pub(in crate::commands) fn parse_target(
    word: &str,
    builders: &[Builder],
    catalogs: &[ReadCatalog],
) -> Result<UpdateTarget, Error> {
    let (found, to) = match word.split_once('=') {
        Some((name, to)) => {
            let mut named = builders.iter().filter(|builder| builder.has_name(name));
            // Raised manually where it is to be raised, it has the version already.
            let is_raised = |builder: &&Builder| builder.version.as_deref() == Some(to);
            let named = named.clone().find(is_raised).or_else(|| named.next());
            let named = named.ok_or_else(|| builder_error(name, builders, catalogs));
            (Some(named?), to)
        }
        None => {
            let names: Vec<String> = default_builders(builders).map(Builder::name).collect();
            if names.len() > 1 {
                return Err(Error::usage(format!(
                    "`{word}` may be a version of several builders\nhelp: name one by its registry or its value: `NAME={word}`; there are images of {}",
                    names.join("; ")
                )));
            }
            (default_builders(builders).next(), word)
        }
    };
    if to.is_empty() {
        let message = format!("`{word}` names no version\nhelp: type it behind the `=`");
        return Err(Error::usage(message));
    }
    let builder = found.cloned().unwrap_or_default();
    Ok(UpdateTarget {
        from: builder.version.as_deref().map(str::to_owned),
        to: to.to_owned(),
        builder,
    })
}

/// That no builder's list has an image of this name's.
fn builder_error(name: &str, builders: &[Builder], catalogs: &[ReadCatalog]) -> Error {
    let tag = catalogs
        .iter()
        .find_map(|ReadCatalog { catalog, sources }| {
            let registry = catalog.registries.get(name)?;
            sources.resolve(registry.tag.as_ref()?.place)
        });
    let names: Vec<String> = builders.iter().map(Builder::name).collect();
    let help = match tag {
        // An older generation, of which the chart knows the images elsewhere.
        Some(tag) => format!(
            "no builder's list has an image from this registry, so there is no list to update: write the version at {tag}, and in each \
             `uri` that has the old one, then run `metalmark lock`"
        ),
        None if names.is_empty() => {
            "no value is the version of a builder: list images that name a registry in `sylva_diskimagebuilder_images`".to_owned()
        }
        None => format!("there are images of {}", names.join("; ")),
    };
    let message = format!("the catalog has no images of a builder `{name}`");
    Error::usage(format!("{message}\nhelp: {help}"))
}

/// The upgrades that a file of Renovate describes.
///
/// # Errors
/// It cannot be read, is not what the preset makes, or has none: of which builder an update was meant is not known.
fn upgrades(file: &Path) -> Result<Vec<Upgrade>, Error> {
    let error = |why: &str| {
        Error::usage(format!(
            "`{}`, which {} names, {why}\nhelp: take `dataFileTemplate` as the preset has it",
            file.display(),
            renovate::DATA_FILE
        ))
    };
    let upgrades = renovate::upgrades(&read::argument_text(file)?).map_err(|why| error(&why))?;
    if upgrades.is_empty() {
        return Err(error("has no upgrade, so nothing is updated"));
    }
    Ok(upgrades)
}

const NO_VERSION: &str = "the values name no version of the image builder\n\
     help: type the version: `metalmark update VERSION`";
