//! `metalmark registry ls|facts`: what registries and image layouts have, and the facts of one image.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use clap::{Args, Subcommand};
use oci_artifacts::layout::{self, Layout};
use oci_artifacts::{Content, Failure, FailureKind, Reference, Store};

use crate::catalog::sources;
use crate::error::Error;
use crate::model::annotations;
use crate::read::{self, Request};
use crate::report::{self, Format, RegistryImage};

use crate::pipeline::{Terminal, Verdict};

/// What is read from registries and image layouts.
#[derive(Debug, Subcommand)]
pub enum RegistryCommand {
    /// Lists the tags of a repository, the repositories of a registry, or the names in an image layout.
    ///
    /// The tags of signatures, `sha256-…`, are left out. Credentials are those of `docker login` and `podman login`. Where the
    /// project file names a mirror for it, the mirror is queried, and never the registry itself.
    Ls(RegistryListOptions),
    /// Prints the facts of one image, from its manifest's annotations.
    ///
    /// If the artifact is an index, the manifest for the project file's architecture counts, by default for amd64. Where the project file names a
    /// mirror for the image, the mirror is queried, and never the registry itself.
    Facts(RegistryFactsOptions),
}

impl RegistryCommand {
    /// Runs the command.
    ///
    /// # Errors
    /// Something cannot be fetched; the project file has errors.
    pub fn run(&self, request: &Request, terminal: &mut Terminal) -> Result<Verdict, Error> {
        match self {
            Self::Ls(options) => list(request, options, terminal),
            Self::Facts(options) => facts(request, options, terminal),
        }
    }
}

/// What is listed.
#[derive(Clone, Debug, Args)]
pub struct RegistryListOptions {
    /// `oci://registry/repository`, a registry's host, or `oci-layout:DIR`.
    #[arg(value_name = "REF")]
    pub of: String,
    /// The format of what is printed.
    #[arg(long = "output", value_enum, default_value_t = Format::Human, value_name = "FORMAT")]
    pub format: Format,
}

/// Which image's facts are printed.
#[derive(Clone, Debug, Args)]
pub struct RegistryFactsOptions {
    /// `oci://registry/repository:tag`, or with `@sha256:…`.
    #[arg(value_name = "REF")]
    pub of: String,
    /// Look into this image layout instead of the registry.
    #[arg(long, value_name = "oci-layout:DIR")]
    pub from: Option<String>,
    /// The format of what is printed.
    #[arg(long = "output", value_enum, default_value_t = Format::Human, value_name = "FORMAT")]
    pub format: Format,
}

/// The start of the tags of signatures and of lists of referrers, which are not listed.
const ATTACHED: &str = "sha256-";

/// Lists the tags of a repository, the repositories of a host, or the names in a layout.
fn list(
    request: &Request,
    options: &RegistryListOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let (root, settings) = read::registries(request)?;
    let names = match options.of.strip_prefix(layout::SCHEME) {
        Some(folder) => {
            let here = request.directory.as_deref().unwrap_or(Path::new("."));
            let layout = Layout::open(here, folder)?;
            layout.names().map(str::to_owned).collect()
        }
        None => {
            let stores = sources::stores(&root, &settings, None);
            let of = parse_reference(&options.of)?;
            if of.repository.is_empty() {
                stores.repositories(&of)?
            } else {
                stores.tags(&of)?
            }
        }
    };
    let is_own = |name: &String| {
        !name
            .rsplit(':')
            .next()
            .is_some_and(|tag| tag.starts_with(ATTACHED))
    };
    let names: Vec<String> = names.into_iter().filter(is_own).collect();
    report::names(&names, options.format, &mut terminal.out)?;
    Ok(Verdict::Clean)
}

/// Prints the facts of one image, from the annotations of its manifest; what is odd about them goes to stderr.
fn facts(
    request: &Request,
    options: &RegistryFactsOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let (root, settings) = read::registries(request)?;
    let reference =
        Reference::parse(&options.of).map_err(|error| Error::usage(error.to_string()))?;
    let here = request.directory.as_deref().unwrap_or(Path::new("."));
    let store: Box<dyn Store> = match &options.from {
        Some(from) => {
            let folder = from.strip_prefix(layout::SCHEME).unwrap_or(from);
            Box::new(Layout::open(here, folder)?)
        }
        None => Box::new(sources::stores(&root, &settings, None)),
    };
    let oci_artifacts::Chosen { manifest, index } =
        oci_artifacts::image(&*store, &reference, &settings.platform)?;
    let empty = BTreeMap::new();
    let annotated = annotations::facts(match &manifest.content {
        Content::Image { annotations, .. } => annotations,
        Content::Index { .. } => &empty,
    })
    .map_err(|error| Failure::new(&reference, FailureKind::TooLarge, error.to_string()))?;
    for oddity in &annotated.oddities {
        writeln!(terminal.err, "note: {oddity}")?;
    }
    let image = RegistryImage {
        reference: reference.to_string(),
        digest: manifest.digest.to_string(),
        index: index.map(|index| index.digest.to_string()),
        mirror: manifest.mirror,
        facts: annotated.facts,
    };
    report::registry_image(&image, options.format, &mut terminal.out)?;
    Ok(Verdict::Clean)
}

/// A reference, or a host alone, which then has an empty repository.
fn parse_reference(text: &str) -> Result<Reference, Error> {
    match Reference::parse_prefix(text).filter(|prefix| prefix.repository.is_empty()) {
        Some(registry) => Ok(registry),
        None => Reference::parse(text).map_err(|error| Error::usage(error.to_string())),
    }
}
