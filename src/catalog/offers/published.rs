//! What a builder version offers, from where it was published: the description of a release, or the registries of the catalog.

use std::collections::BTreeSet;

use oci_artifacts::{Failure, FailureKind, Reference, SCHEME, Store};

use super::builder::Sites;
use super::notes::parse_offer;
use super::offer::{Offer, is_image, offer_from_tags};
use crate::catalog::sources::Stores;
use crate::error::Error;
use crate::model::settings::RELEASE;

/// The most repositories whose tags are listed.
const MOST: usize = 5000;

/// Who repairs a release that cannot be read: a person types options, and Renovate's command takes none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Caller {
    /// A person.
    #[default]
    Person,
    /// The command of a bot.
    Bot,
}

impl Caller {
    /// The other ways to say what a version offers.
    pub fn otherwise(self) -> &'static str {
        match self {
            Self::Person => {
                "say what the version offers: `--releases URL`, `--release-notes FILE` or `--images FILE`"
            }
            Self::Bot => {
                "say what the version offers: a page that lists its images, `update: {releases: URL}` in metalmark.yaml"
            }
        }
    }

    /// What to do about a release that is not understood.
    pub fn repair(self) -> &'static str {
        match self {
            Self::Person => {
                "say what the version offers with `--images FILE`, a reference or name a line"
            }
            Self::Bot => {
                "correct the release's page, or name another one: `update: {releases: URL}` in metalmark.yaml"
            }
        }
    }
}

/// The form that a text with an offer has.
pub const LINES: &str = "it is to hold lines such as `oci://REGISTRY/…/NAME:VERSION`, or names";

/// An offer, where it comes from as the start of a sentence, and what to do if it is empty.
pub type Published = (Offer, String, &'static str);

/// What the description of a release names.
///
/// # Errors
/// It cannot be fetched, or the address has no place for the version.
pub fn release(
    address: &str,
    version: &str,
    sites: &Sites,
    stores: &Stores,
    caller: Caller,
) -> Result<Published, Error> {
    if !address.contains(RELEASE) {
        return Err(Error::usage(format!(
            "the address of a release is to hold the word {RELEASE} in the version's place\n\
             help: `https://gitlab.com/api/v4/projects/ID/releases/{RELEASE}`"
        )));
    }
    let address = address.replace(RELEASE, &percent_encode(version));
    let text = stores.page(&address).map_err(|failure| {
        let failure = match failure.kind {
            FailureKind::NotFound => failure.help(format!(
                "check the version `{version}` and the address; a project that is not public answers the same; with several builders, \
                 the project file has an address for each: `update: {{releases: {{REGISTRY: URL}}}}`"
            )),
            _ => failure,
        };
        Error::from(failure.help(caller.otherwise()))
    })?;
    let offer = parse_offer(&text, version, sites);
    Ok((offer, "the release names".to_owned(), LINES))
}

/// A version as a part of an address.
fn percent_encode(version: &str) -> String {
    let part = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    version.bytes().map(part).collect()
}

/// What the registries of the catalog have of the version, by the tags of each repository.
///
/// # Errors
/// One of them cannot be read, or they have too many repositories.
pub fn registries(
    version: &str,
    sites: &Sites,
    stores: &Stores,
    caller: Caller,
) -> Result<Published, Error> {
    let (listed, otherwise) = (&sites.listed, caller.otherwise());
    let Some(first) = sites.own.first() else {
        let message = "the catalog names no registry that can be queried";
        return Err(Error::usage(format!("{message}\nhelp: {otherwise}")));
    };
    let (mut found, mut failures, mut unread) = (Vec::new(), Vec::new(), BTreeSet::new());
    for prefix in &sites.own {
        match stores.list_repositories(prefix) {
            Ok(names) => {
                let is_unread = |name: &&String| !name.contains('/') && !is_image(name, listed);
                unread.extend(names.iter().filter(is_unread).cloned());
                found.extend(images(prefix, &names, listed));
            }
            Err(failure) => failures.push(failure.help(otherwise)),
        }
    }
    let count = Some(found.len()).filter(|count| *count > MOST);
    failures.extend(count.map(|count| {
        let message = format!(
            "there are {count} repositories of images, more than the {MOST} that are queried"
        );
        let wanted = first.registry.to_string();
        Failure::new(wanted, FailureKind::TooLarge, message).help(otherwise)
    }));
    if !failures.is_empty() {
        return Err(Error::Fetch { failures });
    }
    let references: Vec<Reference> = found.iter().map(|(_, of)| of.clone()).collect();
    let mut found_tags = Vec::new();
    for ((name, _), answer) in found.iter().zip(stores.tag_lists(&references)) {
        match answer {
            Ok(tags) => found_tags.push((name.as_str(), tags)),
            // Registries list repositories that are empty by now. Of an image of the catalog this answer proves nothing: they give it to
            // those who may not see the tags too.
            Err(failure)
                if failure.kind == FailureKind::NotFound
                    && !listed.contains(&name.replace('.', "-")) => {}
            Err(failure) => failures.push(failure.help(otherwise)),
        }
    }
    if !failures.is_empty() {
        return Err(Error::Fetch { failures });
    }
    let offer = Offer {
        unread,
        is_listed: true,
        ..offer_from_tags(found_tags.into_iter(), version)
    };
    let names: Vec<String> = sites.own.iter().map(display).collect();
    Ok((offer, format!("{} has", names.join(", ")), otherwise))
}

/// The repositories directly below a prefix that hold images, each with its name.
fn images(
    prefix: &Reference,
    names: &[String],
    listed: &BTreeSet<String>,
) -> Vec<(String, Reference)> {
    let names = names.iter().filter(|name| is_image(name, listed));
    names
        .filter_map(|name| {
            let of = prefix.with_prefix(prefix, name);
            Some((name.clone(), Reference::parse(&of.name()).ok()?))
        })
        .collect()
}

fn display(prefix: &Reference) -> String {
    format!("`{SCHEME}{}`", prefix.name())
}

#[cfg(test)]
mod tests {
    use super::percent_encode;

    #[test]
    fn a_version_is_one_part_of_an_address() {
        assert_eq!(percent_encode("0.4.13-rc_1"), "0.4.13-rc_1");
        assert_eq!(percent_encode("../1+2?x"), "..%2F1%2B2%3Fx");
    }
}
