//! Determines the images of a version: from a text, the description of a release, or the registries.

use std::path::PathBuf;

use clap::Args;

use crate::catalog::offers::{self, Caller, Offer};
use crate::edit::update::UpdateTarget;
use crate::error::Error;
use crate::model::catalog::ReadCatalog;
use crate::pipeline::{self, Terminal};
use crate::read::{self, Request, Workspace};

/// Where the version's images are listed. Without any, the release that the project file names is read, else the registries
/// of the catalog are queried.
#[derive(Clone, Debug, Default, Args)]
#[group(multiple = false)]
pub struct OfferOptions {
    /// A list of image references or names; `-` reads the standard input.
    #[arg(long, value_name = "FILE")]
    pub images: Option<PathBuf>,
    /// Release notes that hold `oci://…:TAG` lines; `-` reads the standard input.
    #[arg(long, value_name = "FILE")]
    pub release_notes: Option<PathBuf>,
    /// The address of a release at GitLab or GitHub, with the word VERSION in its place; fetched without credentials.
    #[arg(long, value_name = "URL")]
    pub releases: Option<String>,
    /// Who repairs what is wrong with them.
    #[arg(skip)]
    pub caller: Caller,
}

impl OfferOptions {
    /// The text that is typed, and what it is called. It may be the standard input, which is read once for all builders.
    ///
    /// # Errors
    /// It cannot be read.
    pub(in crate::commands) fn text(&self, request: &Request) -> Result<Option<OfferText>, Error> {
        let path = self.images.as_ref().or(self.release_notes.as_ref());
        let text = path.map(|path| {
            Ok(OfferText {
                name: path.display().to_string(),
                text: read::argument_text(&request.locate(path))?,
            })
        });
        text.transpose()
    }

    /// Whether one of them is typed.
    pub(in crate::commands) fn is_given(&self) -> bool {
        self.images.is_some() || self.release_notes.is_some() || self.releases.is_some()
    }
}

/// A text that names images.
pub(in crate::commands) struct OfferText {
    name: String,
    text: String,
}

/// What the version offers. An empty list would empty the catalog, and so is refused.
///
/// # Errors
/// It cannot be read or fetched; it names no image of the version.
pub(in crate::commands) fn offer(
    options: &OfferOptions,
    text: Option<&OfferText>,
    target: &UpdateTarget,
    workspace: &Workspace,
    catalogs: &[ReadCatalog],
    terminal: &Terminal,
) -> Result<Offer, Error> {
    let version = target.to.as_str();
    let sites = target.builder.sites(catalogs);
    let (offer, place, form) = if let Some(OfferText { name, text }) = text {
        let offer = offers::parse_offer(text, version, &sites);
        (offer, format!("`{name}` names"), offers::LINES)
    } else {
        let stores = pipeline::open_stores(workspace, terminal)?;
        let releases = &workspace.settings.releases;
        let release = { releases.iter() }
            .find(|(name, _)| name.is_empty() || target.builder.has_name(name))
            .map(|(_, address)| address);
        match options.releases.as_ref().or(release) {
            Some(address) => offers::release(address, version, &sites, &stores, options.caller)?,
            None => offers::registries(version, &sites, &stores, options.caller)?,
        }
    };
    if let Some(reference) = offer.unreadable.first() {
        return Err(Error::usage(format!(
            "{place} `{reference}`, and not whether that is an image of version `{version}`\n\
             help: {}; in names are lower-case letters, digits, `-` and `.`",
            options.caller.repair()
        )));
    }
    if !offer.images.is_empty() {
        return Ok(offer);
    }
    let others: Vec<&str> = offer.other_versions.iter().map(String::as_str).collect();
    let mut help = if others.is_empty() {
        form.to_owned()
    } else {
        format!("there are images of {}", others.join(", "))
    };
    if let Some(unread) = offers::describe_gaps(&offer) {
        help += &format!("\n      {unread}");
    }
    Err(Error::usage(format!(
        "{place} no image of version `{version}`\nhelp: {help}"
    )))
}
