//! `metalmark registry ls|facts`: what registries and image layouts offer, and what one image says of itself.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use crate::artifacts::layout::{self, Layout};
use crate::catalog::sources;
use crate::error::Error;
use crate::model::annotations;
use crate::oci::{self, Content, Failure, FailureKind, Reference, Store};
use crate::read::{self, Request};

use super::ListFormat;
use super::table::Table;
use crate::pipeline::{Terminal, Verdict};

/// What `registry` was asked for.
#[derive(Clone, Debug)]
pub struct RegistryOptions {
    /// A host, a repository, an image, or `oci-layout:DIR`.
    pub of: String,
    /// An image layout to look into instead of the registry: `oci-layout:DIR`.
    pub from: Option<String>,
    /// The format of what is printed.
    pub format: ListFormat,
}

/// The tags of signatures and of lists of referrers stand beside those of images.
const ATTACHED: &str = "sha256-";

/// Lists the tags of a repository, the repositories of a host, or the names in a layout.
///
/// # Errors
/// They cannot be had; the project file is not to be relied on.
pub fn registry_list(
    request: &Request,
    options: &RegistryOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let (root, settings) = read::registries(request)?;
    let names = match options.of.strip_prefix(layout::SCHEME) {
        Some(folder) => {
            let here = request.directory.as_deref().unwrap_or(Path::new("."));
            let layout = Layout::open(here, folder).map_err(failed)?;
            layout.names().map(str::to_owned).collect()
        }
        None => {
            let stores = sources::stores(&root, &settings, None);
            let of = named(&options.of)?;
            match of.repository.is_empty() {
                true => stores.repositories(&of),
                false => stores.tags(&of),
            }
            .map_err(failed)?
        }
    };
    let is_own = |name: &String| {
        !name
            .rsplit(':')
            .next()
            .is_some_and(|tag| tag.starts_with(ATTACHED))
    };
    let names: Vec<String> = names.into_iter().filter(is_own).collect();
    match options.format {
        ListFormat::Human => names
            .iter()
            .try_for_each(|name| writeln!(terminal.out, "{name}"))?,
        format => print(&names, format, terminal)?,
    }
    Ok(Verdict::Clean)
}

/// One image.
#[derive(Debug, Serialize)]
struct Image {
    /// The reference, as asked for.
    reference: String,
    /// The digest of its manifest.
    digest: String,
    /// The digest of the index that names it, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<String>,
    /// Where it was had, where that is not its registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    mirror: Option<String>,
    /// Its facts, by name.
    facts: BTreeMap<Arc<str>, Arc<str>>,
}

/// Prints the facts of one image, from the annotations of its manifest; what is odd about them goes to stderr.
///
/// # Errors
/// The manifest cannot be had; the project file is not to be relied on.
pub fn registry_facts(
    request: &Request,
    options: &RegistryOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let (root, settings) = read::registries(request)?;
    let reference = Reference::parse(&options.of).map_err(|error| Error::Usage {
        message: error.to_string(),
    })?;
    let here = request.directory.as_deref().unwrap_or(Path::new("."));
    let store: Box<dyn Store> = match &options.from {
        Some(from) => {
            let folder = from.strip_prefix(layout::SCHEME).unwrap_or(from);
            Box::new(Layout::open(here, folder).map_err(failed)?)
        }
        None => Box::new(sources::stores(&root, &settings, None)),
    };
    let mut chosen = oci::images(
        &*store,
        std::slice::from_ref(&reference),
        &settings.architecture,
    );
    let Some(chosen) = chosen.pop() else {
        return Ok(Verdict::Clean);
    };
    let oci::Chosen { manifest, chain } = chosen.map_err(failed)?;
    let empty = BTreeMap::new();
    let annotated = annotations::facts(match &manifest.content {
        Content::Image { annotations, .. } => annotations,
        Content::Index { .. } => &empty,
    })
    .map_err(|error| {
        failed(Failure::new(
            &reference,
            FailureKind::TooLarge,
            error.to_string(),
        ))
    })?;
    for oddity in &annotated.oddities {
        writeln!(terminal.err, "note: {oddity}")?;
    }
    let image = Image {
        reference: reference.to_string(),
        digest: manifest.digest.to_string(),
        index: (chain.len() > 1).then(|| chain[0].to_string()),
        mirror: manifest.mirror,
        facts: annotated.facts,
    };
    match options.format {
        ListFormat::Human => table(&image).write(&mut terminal.out)?,
        format => print(&image, format, terminal)?,
    }
    Ok(Verdict::Clean)
}

/// A reference, or a host alone, which then has an empty repository.
fn named(text: &str) -> Result<Reference, Error> {
    let bare = text
        .strip_prefix(oci::SCHEME)
        .unwrap_or(text)
        .trim_end_matches('/');
    let parsed = match bare.contains('/') {
        true => Reference::parse(bare),
        false => Reference::parse(&format!("{bare}/x")).map(|reference| Reference {
            repository: "".into(),
            ..reference
        }),
    };
    parsed.map_err(|error| Error::Usage {
        message: error.to_string(),
    })
}

fn failed(failure: Failure) -> Error {
    Error::Fetch {
        failures: vec![failure],
    }
}

fn table(image: &Image) -> Table {
    let mut table = Table::new(&["fact", "value"]);
    let mut row = |name: &str, value: &str| table.row([name.to_owned(), value.to_owned()]);
    row("reference", &image.reference);
    row("digest", &image.digest);
    image.index.iter().for_each(|index| row("index", index));
    image.mirror.iter().for_each(|mirror| row("mirror", mirror));
    image
        .facts
        .iter()
        .for_each(|(name, value)| row(name, value));
    table
}

fn print(data: &impl Serialize, format: ListFormat, terminal: &mut Terminal) -> Result<(), Error> {
    if format == ListFormat::Json {
        terminal.out.json(data)?;
    } else {
        terminal.out.yaml(data)?;
    }
    Ok(())
}
