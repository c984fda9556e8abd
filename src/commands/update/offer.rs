//! What a version offers, from wherever it is listed: a text, the description of a release, or the registries themselves.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::catalog::offers::{self, Offer};
use crate::catalog::sources::Stores;
use crate::error::Error;
use crate::model::catalog::Catalog;
use crate::model::place::Sources;
use crate::model::rule::RuleId;
use crate::model::workspace::RELEASE;
use crate::oci::{Failure, FailureKind, Reference, SCHEME, Store};
use crate::read::{self, Workspace};

use super::aim::Aim;
use super::{Terminal, catalog, stores, usage};

/// Where the images of a version are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OfferSource {
    /// A file of references or names, or release notes; `-` is the standard input.
    Text(PathBuf),
    /// The address of a release, with [`RELEASE`] in the version's place.
    Release(String),
    /// The release that the project file names, else the registries of the catalog.
    World,
}

/// How many repositories are asked for their tags.
const MOST: usize = 5000;

/// The other ways to say what a version offers.
const OTHERWISE: &str =
    "say what the version offers: `--releases URL`, `--release-notes FILE` or `--images FILE`";

/// What the version offers. An empty list would empty the catalog, and so is refused.
///
/// # Errors
/// It cannot be had; it names no image of the version.
pub(super) fn offer(
    source: &OfferSource,
    aim: &Aim,
    workspace: &Workspace,
    catalogs: &[(Arc<Catalog>, Sources)],
    terminal: &Terminal,
) -> Result<Offer, Error> {
    let (offer, place, form) = match source {
        OfferSource::Text(path) => {
            let offer = offers::offered(&read::text(path)?, &aim.to);
            (offer, format!("`{}` names", path.display()), LINES)
        }
        OfferSource::Release(address) => release(address, aim, &asked(workspace, terminal)?)?,
        OfferSource::World => {
            let stores = asked(workspace, terminal)?;
            match &workspace.settings.releases {
                Some(address) => release(address, aim, &stores)?,
                None => registries(aim, catalogs, &stores)?,
            }
        }
    };
    if !offer.images.is_empty() {
        return Ok(offer);
    }
    let others: Vec<&str> = offer.other_versions.iter().map(String::as_str).collect();
    let mut help = match others.is_empty() {
        true => form.to_owned(),
        false => format!("there are images of {}", others.join(", ")),
    };
    if let Some(unread) = offers::unread(&offer) {
        help += &format!("\n      {unread}");
    }
    let version = &aim.to;
    Err(usage(format!(
        "{place} no image of version `{version}`\nhelp: {help}"
    )))
}

const LINES: &str = "it is to hold lines such as `oci://REGISTRY/…/NAME:VERSION`, or names";

/// The stores, where the project file can be relied on: a mirror left out would let the wrong registry be asked.
fn asked(workspace: &Workspace, terminal: &Terminal) -> Result<Stores, Error> {
    let mut findings = workspace.findings.iter();
    match findings.find(|finding| finding.rule == RuleId::ProjectFile) {
        None => Ok(stores::open(workspace, terminal)),
        Some(finding) => Err(usage(format!(
            "the project file cannot be relied on: {}\nhelp: `metalmark check` shows where",
            finding.message
        ))),
    }
}

/// An offer, who says it, and what it is to hold.
type Said = (Offer, String, &'static str);

/// What the description of a release names.
fn release(address: &str, aim: &Aim, stores: &Stores) -> Result<Said, Error> {
    if !address.contains(RELEASE) {
        return Err(usage(format!(
            "the address of a release is to hold the word {RELEASE} in the version's place\n\
             help: `https://gitlab.com/api/v4/projects/ID/releases/{RELEASE}`"
        )));
    }
    let address = address.replace(RELEASE, &encoded(&aim.to));
    let text = stores.page(&address).map_err(|failure| {
        let failure = match failure.kind {
            FailureKind::NotFound => failure.help(format!(
                "check the version `{}` and the address; a project that is not public answers the same",
                aim.to
            )),
            _ => failure,
        };
        failed(vec![failure.help(OTHERWISE)])
    })?;
    let offer = offers::offered(&offers::notes(text), &aim.to);
    Ok((offer, "the release names".to_owned(), LINES))
}

/// A version as a part of an address.
fn encoded(version: &str) -> String {
    let part = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    version.bytes().map(part).collect()
}

/// What the registries of the catalog have of the version, each repository asked for its tags.
fn registries(
    aim: &Aim,
    catalogs: &[(Arc<Catalog>, Sources)],
    stores: &Stores,
) -> Result<Said, Error> {
    let (listed, prefixes) = catalog::sites(catalogs, aim.current.as_deref());
    let prefixes: Vec<Reference> = prefixes.iter().filter_map(|url| prefix(url)).collect();
    if prefixes.is_empty() {
        let message = "the catalog names no registry that could be asked";
        return Err(usage(format!("{message}\nhelp: {OTHERWISE}")));
    }
    let (mut found, mut failures, mut unread) = (Vec::new(), Vec::new(), BTreeSet::new());
    for prefix in &prefixes {
        match stores.below(prefix) {
            Ok(names) => {
                let is_unread =
                    |name: &&String| !name.contains('/') && !offers::is_image(name, &listed);
                unread.extend(names.iter().filter(is_unread).cloned());
                found.extend(images(prefix, &names, &listed));
            }
            Err(failure) => failures.push(failure.help(OTHERWISE)),
        }
    }
    if found.len() > MOST {
        let message = format!(
            "there are {} repositories of images, more than the {MOST} that are asked",
            found.len()
        );
        let wanted = prefixes[0].registry.to_string();
        failures.push(Failure::new(wanted, FailureKind::TooLarge, message).help(OTHERWISE));
    }
    if !failures.is_empty() {
        return Err(failed(failures));
    }
    let references: Vec<Reference> = found.iter().map(|(_, of)| of.clone()).collect();
    let mut tagged = Vec::new();
    for ((name, _), answer) in found.iter().zip(stores.tag_lists(&references)) {
        match answer {
            Ok(tags) => tagged.push((name.as_str(), tags)),
            // Registries list repositories that are empty by now.
            Err(failure) if failure.kind == FailureKind::NotFound => {}
            Err(failure) => failures.push(failure),
        }
    }
    if !failures.is_empty() {
        return Err(failed(failures));
    }
    let offer = Offer {
        unread,
        ..offers::tagged(tagged.into_iter(), &aim.to)
    };
    let names: Vec<String> = prefixes.iter().map(shown).collect();
    Ok((offer, format!("{} has", names.join(", ")), OTHERWISE))
}

/// The repositories directly below a prefix that hold images, each with its name.
fn images(
    prefix: &Reference,
    names: &[String],
    listed: &BTreeSet<String>,
) -> Vec<(String, Reference)> {
    let names = names.iter().filter(|name| offers::is_image(name, listed));
    names
        .filter_map(|name| {
            let repository = match &*prefix.repository {
                "" => name.as_str().into(),
                path => format!("{path}/{name}").into(),
            };
            let of = Reference {
                repository,
                ..prefix.clone()
            };
            Some((name.clone(), Reference::parse(&of.name()).ok()?))
        })
        .collect()
}

/// A registry's `url`: a host, and perhaps a path; none of another scheme.
fn prefix(url: &str) -> Option<Reference> {
    let bare = url.strip_prefix(SCHEME)?.trim_end_matches('/');
    let below = Reference::parse(&format!("{bare}/x")).ok()?;
    let path = below.repository.strip_suffix('x')?.trim_end_matches('/');
    Some(Reference {
        repository: path.into(),
        ..below
    })
}

fn shown(prefix: &Reference) -> String {
    format!("`{SCHEME}{}`", prefix.name().trim_end_matches('/'))
}

fn failed(failures: Vec<Failure>) -> Error {
    Error::Fetch { failures }
}

#[cfg(test)]
mod tests {
    use super::{encoded, prefix, shown};

    #[test]
    fn a_version_is_one_part_of_an_address() {
        assert_eq!(encoded("0.4.13-rc_1"), "0.4.13-rc_1");
        assert_eq!(encoded("../1+2?x"), "..%2F1%2B2%3Fx");
    }

    #[test]
    fn a_registry_s_url_is_a_host_and_perhaps_a_path() {
        let read = |url| prefix(url).map(|prefix| shown(&prefix));
        assert_eq!(
            read("oci://r.example/a/b/").as_deref(),
            Some("`oci://r.example/a/b`")
        );
        assert_eq!(
            read("oci://r.example:5000").as_deref(),
            Some("`oci://r.example:5000`")
        );
        assert_eq!(read("https://r.example/a"), None);
    }
}
