//! Reads lists page by page: tags, repositories, and the referrers of a manifest.
//!
//! Source: distribution-spec 1.1, "Content discovery"; `_catalog` is Docker's own extension.

use std::collections::BTreeSet;

use reqwest::Url;
use reqwest::header::LINK;
use serde::Deserialize;

use crate::{Content, Descriptor, Digest, FailureKind, INDEX_TYPE, Manifest, Reference};

use super::content;
use super::error::{RegistryError, authority};
use super::repository::Repository;
use super::request::{Answer, Request};

/// The media type of a list of names.
const NAMES: &str = "application/json";

/// How many names to request per page.
const PAGE: usize = 1000;

/// The most pages of a list that are read.
const PAGES: usize = 1000;

/// The most bytes of a list: some 300,000 names.
const LONGEST: usize = 16 << 20;

#[derive(Deserialize)]
struct Tags {
    tags: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Repositories {
    repositories: Option<Vec<String>>,
}

/// The tags of a repository, sorted.
pub(super) async fn tags(repository: &Repository<'_>) -> Result<Vec<String>, RegistryError> {
    let url = repository.url(&format!("tags/list?n={PAGE}"))?;
    let pages = pages(repository, url, NAMES).await?;
    let pages = pages
        .iter()
        .map(|page| read::<Tags>(page).map(|page| page.tags));
    names(pages)
}

/// The repositories of a registry, sorted.
pub(super) async fn repositories(
    mut registry: Repository<'_>,
) -> Result<Vec<String>, RegistryError> {
    registry.endpoint.repository.clear();
    let endpoint = &registry.endpoint;
    let url = registry
        .sessions
        .url(endpoint, &format!("_catalog?n={PAGE}"))?;
    let pages = pages(&registry, url, NAMES).await.map_err(|mut error| {
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

/// The referrers of a manifest: by the API, or by the tag `sha256-…` if the registry does not have the API. Older registries
/// answer that with 404, and some with that they do not support it.
pub(super) async fn referrers(
    repository: &Repository<'_>,
    reference: &Reference,
    digest: &Digest,
) -> Result<Vec<Descriptor>, RegistryError> {
    let url = repository.url(&format!("referrers/{digest}"))?;
    let mut found = Vec::new();
    match pages(repository, url, INDEX_TYPE).await {
        Ok(pages) => {
            for page in pages {
                let host = authority(&page.url);
                match Manifest::read(page.body).map(|manifest| manifest.content) {
                    Ok(Content::Index { manifests, .. }) => found.extend(manifests),
                    _ => return Err(no_list(&host)),
                }
            }
        }
        Err(error) if matches!(error.kind, FailureKind::NotFound | FailureKind::Unsupported) => {
            let tag = digest.as_tag();
            match content::manifest(repository, &reference.with_tag(&tag)).await {
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

/// All pages of a list. One that is longer than the limits, leads back to a page or to another host is an error, for half a list
/// is no list.
async fn pages(
    repository: &Repository<'_>,
    mut url: Url,
    accept: &'static str,
) -> Result<Vec<Answer>, RegistryError> {
    let (mut pages, mut length) = (Vec::new(), 0);
    let mut seen = BTreeSet::new();
    loop {
        let host = authority(&url);
        let refusal = |kind, words| Err(RegistryError::new(kind, format!("`{host}` {words}")));
        if !seen.insert(url.to_string()) {
            let words = "has a list that leads back to a page of it".to_owned();
            return refusal(FailureKind::Corrupt, words);
        }
        if pages.len() == PAGES {
            let words = format!("has a list of more than {PAGES} pages");
            return refusal(FailureKind::TooLarge, words);
        }
        let request = Request {
            accept,
            ..repository.request(url.clone())
        };
        let page = content::require_success(repository.get(request).await?)?;
        let next = next(&page);
        length += page.body.len();
        pages.push(page);
        if length > LONGEST {
            let words = format!("has a list of more than {} MiB", LONGEST >> 20);
            return refusal(FailureKind::TooLarge, words);
        }
        match next {
            Some(next) if next.origin() == url.origin() => url = next,
            Some(next) => {
                let other = authority(&next);
                let words = format!("continues its list at another host, `{other}`");
                return refusal(FailureKind::Unreachable, words);
            }
            None => return Ok(pages),
        }
    }
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
