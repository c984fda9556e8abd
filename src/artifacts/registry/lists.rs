//! Reads lists page by page: tags, repositories, and the referrers of a manifest.
//!
//! Source: distribution-spec 1.1, "Content discovery"; `_catalog` is Docker's own extension.

use std::collections::BTreeSet;

use reqwest::Url;
use reqwest::header::LINK;
use serde::Deserialize;

use crate::oci::{
    Content, Descriptor, Digest, FailureKind, INDEX_TYPE, MANIFEST_LIMIT, Manifest, Reference,
};

use super::content;
use super::endpoint::Endpoint;
use super::error::{RegistryError, authority};
use super::request::{Answer, ByteRange, Operation, Request};
use super::session::{Context, Sessions};

/// How many names to request per page.
const PAGE: usize = 1000;

/// The most pages of a list that are read.
const PAGES: usize = 1000;

#[derive(Deserialize)]
struct Tags {
    tags: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Repositories {
    repositories: Option<Vec<String>>,
}

/// The tags of a repository, sorted.
pub(super) async fn tags(
    sessions: &Sessions,
    of: &Reference,
    context: Context,
) -> Result<Vec<String>, RegistryError> {
    let endpoint = Endpoint::for_pull(of);
    let path = format!("{}/tags/list?n={PAGE}", endpoint.repository);
    let pages = pages(sessions, &endpoint, &path, "application/json", context).await?;
    let pages = pages
        .iter()
        .map(|page| read::<Tags>(page).map(|page| page.tags));
    names(pages)
}

/// The repositories of a registry, sorted.
pub(super) async fn repositories(
    sessions: &Sessions,
    of: &Reference,
    context: Context,
) -> Result<Vec<String>, RegistryError> {
    let endpoint = Endpoint {
        repository: String::new(),
        ..Endpoint::for_pull(of)
    };
    let path = format!("_catalog?n={PAGE}");
    let pages = pages(sessions, &endpoint, &path, "application/json", context).await;
    let pages = pages.map_err(|mut error| {
        if error.kind == FailureKind::NotFound {
            error.kind = FailureKind::Unsupported;
            error.message = format!("`{}` offers no list of its repositories", endpoint.registry);
        }
        error
    })?;
    let pages = pages
        .iter()
        .map(|page| read::<Repositories>(page).map(|page| page.repositories));
    names(pages)
}

/// The referrers of a manifest: by the API, or by the tag `sha256-…` if the registry does not have the API.
pub(super) async fn referrers(
    sessions: &Sessions,
    reference: &Reference,
    digest: &Digest,
    context: Context,
) -> Result<Vec<Descriptor>, RegistryError> {
    let endpoint = Endpoint::for_pull(reference);
    let path = format!("{}/referrers/{digest}", endpoint.repository);
    let mut found = Vec::new();
    match pages(sessions, &endpoint, &path, INDEX_TYPE, context).await {
        Ok(pages) => {
            for page in pages {
                let host = authority(&page.url);
                match Manifest::read(page.body).map(|manifest| manifest.content) {
                    Ok(Content::Index { manifests, .. }) => found.extend(manifests),
                    _ => return Err(no_list(&host)),
                }
            }
        }
        Err(error) if error.kind == FailureKind::NotFound => {
            let tag = digest.as_str().replacen(':', "-", 1);
            match content::manifest(sessions, &reference.tagged(&tag), context).await {
                Ok(manifest) => {
                    if let Content::Index { manifests, .. } = manifest.content {
                        found = manifests;
                    }
                }
                Err(error) if error.kind == FailureKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Err(error) => return Err(error),
    }
    Ok(found)
}

/// All pages of a list. A next page on another host is an error.
async fn pages(
    sessions: &Sessions,
    endpoint: &Endpoint,
    path: &str,
    accept: &'static str,
    context: Context,
) -> Result<Vec<Answer>, RegistryError> {
    let mut pages = Vec::new();
    let mut url = sessions.url(endpoint, path)?;
    let mut seen = BTreeSet::new();
    while seen.insert(url.to_string()) && pages.len() < PAGES {
        let request = Request {
            url: url.clone(),
            accept,
            operation: Operation::Get,
            range: ByteRange::Whole,
            limit: MANIFEST_LIMIT as u64,
            deadline: context.deadline,
        };
        let page = content::found(sessions.get(endpoint, request, context).await?)?;
        let next = next(&page);
        pages.push(page);
        match next {
            Some(next) if next.origin() == url.origin() => url = next,
            Some(next) => {
                let (host, other) = (authority(&url), authority(&next));
                let message = format!("`{host}` continues its list at another host, `{other}`");
                return Err(RegistryError::new(FailureKind::Unreachable, message));
            }
            None => break,
        }
    }
    Ok(pages)
}

/// `Link: <…>; rel="next"` (RFC 8288).
fn next(page: &Answer) -> Option<Url> {
    let links = page.headers.get_all(LINK).iter();
    let links = links.filter_map(|link| link.to_str().ok());
    links.flat_map(|link| link.split(",")).find_map(|link| {
        let (target, parameters) = link.trim().strip_prefix('<')?.split_once('>')?;
        let is_next = parameters.split(';').any(|parameter| {
            let parameter = parameter.trim().replace('"', "");
            parameter.eq_ignore_ascii_case("rel=next")
        });
        is_next.then(|| page.url.join(target).ok()).flatten()
    })
}

fn read<'a, T: Deserialize<'a>>(page: &'a Answer) -> Result<T, RegistryError> {
    serde_json::from_slice(&page.body).map_err(|_| no_list(&authority(&page.url)))
}

fn no_list(host: &str) -> RegistryError {
    RegistryError::new(
        FailureKind::Corrupt,
        format!("`{host}` answered with something that is not a list"),
    )
}

fn names(
    pages: impl Iterator<Item = Result<Option<Vec<String>>, RegistryError>>,
) -> Result<Vec<String>, RegistryError> {
    let mut names = BTreeSet::new();
    for page in pages {
        names.extend(page?.unwrap_or_default());
    }
    Ok(names.into_iter().collect())
}
