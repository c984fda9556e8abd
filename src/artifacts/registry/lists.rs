//! Lists, page by page: tags, repositories, and what refers to a manifest.
//!
//! Source: distribution-spec 1.1, "Content discovery"; `_catalog` is docker's own.

use std::collections::BTreeSet;

use reqwest::Url;
use reqwest::header::LINK;
use serde::Deserialize;

use crate::oci::{Content, Descriptor, Digest, FailureKind, MANIFEST_LIMIT, Manifest, Reference};

use super::content;
use super::question::{Act, Answer, Part};
use super::session::{Ask, Sessions, Turn};
use super::site::Site;
use super::trouble::{Trouble, authority};

/// How many names of a page are asked for.
const PAGE: usize = 1000;

/// The most pages of a list.
const PAGES: usize = 1000;

/// The media type of an index.
pub(super) const INDEX: &str = "application/vnd.oci.image.index.v1+json";

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
    turn: Turn,
) -> Result<Vec<String>, Trouble> {
    let site = Site::of(of);
    let path = format!("{}/tags/list?n={PAGE}", site.repository);
    let pages = pages(sessions, &site, &path, "application/json", turn).await?;
    let pages = pages
        .iter()
        .map(|page| read::<Tags>(page).map(|page| page.tags));
    names(pages)
}

/// The repositories of a registry, sorted.
pub(super) async fn repositories(
    sessions: &Sessions,
    of: &Reference,
    turn: Turn,
) -> Result<Vec<String>, Trouble> {
    let site = Site {
        repository: String::new(),
        ..Site::of(of)
    };
    let path = format!("_catalog?n={PAGE}");
    let pages = pages(sessions, &site, &path, "application/json", turn).await;
    let pages = pages.map_err(|mut trouble| {
        if trouble.kind == FailureKind::NotFound {
            trouble.kind = FailureKind::Unsupported;
            trouble.message = format!("`{}` offers no list of its repositories", site.registry);
        }
        trouble
    })?;
    let pages = pages
        .iter()
        .map(|page| read::<Repositories>(page).map(|page| page.repositories));
    names(pages)
}

/// What refers to a manifest: by the API, or by the tag `sha256-…` where the registry has none.
pub(super) async fn referrers(
    sessions: &Sessions,
    reference: &Reference,
    digest: &Digest,
    turn: Turn,
) -> Result<Vec<Descriptor>, Trouble> {
    let site = Site::of(reference);
    let path = format!("{}/referrers/{digest}", site.repository);
    let mut found = Vec::new();
    match pages(sessions, &site, &path, INDEX, turn).await {
        Ok(pages) => {
            for page in pages {
                let host = authority(&page.url);
                match Manifest::read(page.body).map(|manifest| manifest.content) {
                    Ok(Content::Index { manifests, .. }) => found.extend(manifests),
                    _ => return Err(no_list(&host)),
                }
            }
        }
        Err(trouble) if trouble.kind == FailureKind::NotFound => {
            let tag = digest.as_str().replacen(':', "-", 1);
            match content::manifest(sessions, &reference.tagged(&tag), turn).await {
                Ok(manifest) => {
                    if let Content::Index { manifests, .. } = manifest.content {
                        found = manifests;
                    }
                }
                Err(trouble) if trouble.kind == FailureKind::NotFound => {}
                Err(trouble) => return Err(trouble),
            }
        }
        Err(trouble) => return Err(trouble),
    }
    Ok(found)
}

/// All pages of a list. The next one is on the same host, or it is no list of this registry.
async fn pages(
    sessions: &Sessions,
    site: &Site,
    path: &str,
    accept: &'static str,
    turn: Turn,
) -> Result<Vec<Answer>, Trouble> {
    let mut pages = Vec::new();
    let mut url = sessions.url(site, path)?;
    let mut seen = BTreeSet::new();
    while seen.insert(url.to_string()) && pages.len() < PAGES {
        let ask = Ask {
            site,
            url: &url,
            accept,
            act: Act::Get,
            part: Part::Whole,
            limit: MANIFEST_LIMIT as u64,
        };
        let page = content::found(sessions.get(ask, turn).await?)?;
        let next = next(&page);
        pages.push(page);
        match next {
            Some(next) if next.origin() == url.origin() => url = next,
            Some(next) => {
                let (host, other) = (authority(&url), authority(&next));
                let message = format!("`{host}` continues its list at another host, `{other}`");
                return Err(Trouble::new(FailureKind::Unreachable, message));
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

fn read<'a, T: Deserialize<'a>>(page: &'a Answer) -> Result<T, Trouble> {
    serde_json::from_slice(&page.body).map_err(|_| no_list(&authority(&page.url)))
}

fn no_list(host: &str) -> Trouble {
    Trouble::new(
        FailureKind::Corrupt,
        format!("`{host}` answered with what is no list"),
    )
}

fn names(
    pages: impl Iterator<Item = Result<Option<Vec<String>>, Trouble>>,
) -> Result<Vec<String>, Trouble> {
    let mut names = BTreeSet::new();
    for page in pages {
        names.extend(page?.unwrap_or_default());
    }
    Ok(names.into_iter().collect())
}
