//! Merges the facts of an image from all sources, and reports where two sources disagree.

use std::sync::Arc;

use capi::image::{Fact, Facts, Image, Origin, fact};
use capi::location::file_name;
use oci_artifacts::Address;
use yaml_tree::place::{Located, Place};

use super::Problem;
use super::reference::is_same_build;
use crate::decide::bound_content::is_compared;
use crate::decide::identity::agree;
use crate::decide::matching::REGISTRY_KEY;
use crate::model::catalog::{CatalogEntry, Described};
use crate::model::name::{NameFacts, NameSchemes, split_registry};
use crate::model::signing::KEY_PROPERTY;
use crate::model::written;

/// What the values say of an entry: its properties, its reference and the registry that it comes from.
pub(super) fn from_entry(entry: &CatalogEntry, uri: Option<&Located<Arc<str>>>) -> Facts {
    let mut facts = written::facts(&entry.properties, Origin::Values);
    let mut learn = |name: &str, located: &Located<Arc<str>>| {
        let value = Arc::clone(&located.value);
        facts.learn(name, Fact::new(value, Origin::Values, located.place));
    };
    if let Some(uri) = uri {
        learn(fact::URI, uri);
    }
    if let Some(registry) = entry.registry.as_ref().filter(|_| entry.built) {
        learn(REGISTRY_KEY, registry);
    }
    for (name, kind) in &entry.mistyped {
        facts.mark_mistyped(name, kind);
    }
    facts
}

/// Learns what a source knows. Facts about another build of the image prove nothing and are left out.
pub(super) fn learn_described(
    image: &mut Image,
    described: &Described,
    problems: &mut Vec<Problem>,
) {
    let theirs = described.facts.get(fact::URI);
    if let (Some(ours), Some(theirs)) = (&image.uri, theirs)
        && !is_same_build(&ours.value, &theirs.value)
    {
        problems.push(Problem::OtherBuild {
            key: Arc::clone(&image.key),
            wanted: ours.clone(),
            described: theirs.clone(),
        });
        return;
    }
    for (name, fact) in described.facts.iter() {
        // The registry may be a mirror: the values say where images come from. And no artifact says who is to have signed it.
        let is_ours = match &**name {
            fact::URI => image.uri.is_some(),
            KEY_PROPERTY => fact.origin > Origin::Values,
            _ => false,
        };
        if is_ours {
            continue;
        }
        learn(image, name, fact.clone(), problems);
    }
    for (name, kind) in described.facts.all_mistyped() {
        let overruled = |known: &Fact| known.origin > Origin::InfoFile;
        if !image.facts.get(name).is_some_and(overruled) {
            image.facts.mark_mistyped(name, kind);
        }
    }
    if let Some(digest) = &described.digest {
        image.digest.get_or_insert_with(|| digest.clone());
        image.pulled.clone_from(&described.pulled);
    }
    if image.uri.is_none() {
        let uri = theirs.map(|uri| Located::new(Arc::clone(&uri.value), uri.place));
        image.uri = uri.map(|uri| uri.map(Address::new));
    }
}

/// Learns what the names say: the artifact's and the file's, else the one that a provider knows the image by.
pub(super) fn learn_name(image: &mut Image, schemes: &NameSchemes, problems: &mut Vec<Problem>) {
    let of_artifact = schemes.read(split_registry(&image.artifact).1);
    let of_file = image.facts.text(fact::FILENAME);
    let of_file = of_file.and_then(|name| schemes.read(name));
    // Of the file's name only the extension, where the rest repeats the artifact's.
    let of_file = of_file.map(|name| match of_artifact {
        None => name,
        Some(_) => NameFacts {
            image_format: name.image_format,
            compression: name.compression,
            ..NameFacts::default()
        },
    });
    let of_location = if of_artifact.is_some() || of_file.is_some() {
        None
    } else {
        location_facts(image, schemes)
    };
    // What ends the URL of one location says nothing of the files at the others.
    let is_of_one = image
        .facts
        .iter()
        .any(|(name, _)| name.starts_with(fact::AT));
    let of_location = of_location.map(|(mut name, place)| {
        if is_of_one {
            (name.image_format, name.compression) = (None, None);
        }
        (name, place)
    });
    let place = image.place;
    let at_image = [of_artifact, of_file].into_iter().flatten();
    let at_image = at_image.map(|name| (name, place));
    for (name, place) in at_image.chain(of_location) {
        for (fact, value) in name.facts() {
            let learned = Fact {
                value: value.into(),
                origin: Origin::Name,
                place,
            };
            learn(image, fact, learned, problems);
        }
    }
}

/// What the image's name in a store, or of the file at its URL, says, and where that is written.
fn location_facts(image: &Image, schemes: &NameSchemes) -> Option<(NameFacts, Place)> {
    let uri = image.uri.iter().map(|uri| (uri.value.text(), uri.place));
    let locations = { image.facts.iter() }
        .filter(|(name, _)| name.starts_with(fact::LOCATIONS))
        .map(|(_, fact)| (&fact.value, fact.place));
    let mut names = uri.chain(locations);
    names.find_map(|(name, place)| {
        let whole = schemes.read_location(name);
        let read = whole.or_else(|| schemes.read(file_name(name)))?;
        Some((read, place))
    })
}

fn learn(image: &mut Image, name: &str, fact: Fact, problems: &mut Vec<Problem>) {
    let Some(weaker) = image.facts.learn(name, fact) else {
        return;
    };
    let Some(stronger) = image.facts.get(name) else {
        return;
    };
    if !agree(name, stronger, &weaker, image.facts.text(fact::OS))
        && !is_compared(image, name, stronger, &weaker)
    {
        problems.push(Problem::Conflict {
            key: Arc::clone(&image.key),
            fact: name.into(),
            stronger: stronger.clone(),
            weaker: weaker.clone(),
        });
        if weaker.origin > Origin::Name {
            image.facts.add_dispute(name, weaker);
        }
    }
}
