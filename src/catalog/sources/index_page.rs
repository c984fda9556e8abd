//! Facts from the index page of a web server (Apache's and nginx's, or a bare `SHA256SUMS`): image files and the checksum files beside
//! them, fetched once for the lock, and read out of the lock ever after.
//!
//! Only names below the page count: a page that leads elsewhere leads nowhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::image::{Fact, Facts, ImageKey, Origin, fact};
use oci_artifacts::{Address, Digest, Failure, FailureKind};

use super::image_files::{Digests, LISTS, LONGEST_LIST, checksum_file, images, lines};
use super::{ImageSource, Wanted};
use crate::error::Error;
use crate::model::catalog::Described;
use crate::model::checksum::is_url;
use crate::model::finding::Finding;
use crate::model::lock::{Lock, LockedImage};
use crate::model::name::key_of;
use crate::model::rule::{Level, RuleId};

/// The most files of a page that are images or checksums.
const MOST: usize = 2000;

/// Whether a source of facts is the address of a page.
pub fn is_page(path: &str) -> bool {
    is_url(path)
}

/// What the addresses of a page's files start with, without the slash.
pub fn base(address: &str) -> &str {
    let folder = match list_name(address) {
        Some(name) => &address[..address.len() - name.len()],
        None => address,
    };
    folder.trim_end_matches('/')
}

/// The list of digests that an address names itself.
fn list_name(address: &str) -> Option<&str> {
    let (_, name) = address.rsplit_once('/')?;
    let is_list = LISTS.iter().any(|(list, _)| *list == name);
    is_list.then_some(name)
}

/// What a page offers.
#[derive(Debug, Default)]
pub struct Page {
    /// The images that it lists with a digest.
    pub images: Vec<OfferedImage>,
    /// The files that are images and that no digest is known of.
    pub without_digest: Vec<String>,
}

/// An image that a page lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedImage {
    /// Its key, made of the file's name.
    pub key: ImageKey,
    /// The file's address.
    pub reference: Address,
    /// The digest of the file as it is served.
    pub digest: Digest,
    /// What its name and the checksum files say.
    pub facts: BTreeMap<Arc<str>, Arc<str>>,
}

/// Fetches a page and the checksum files that it names. `fetch` takes a batch of addresses.
///
/// # Errors
/// The page, or a checksum file that it names, cannot be had.
pub fn page(
    address: &str,
    fetch: &dyn Fn(Vec<String>) -> Vec<Result<String, Failure>>,
) -> Result<Page, Failure> {
    let base = base(address);
    let one = |address: String| {
        fetch(vec![address])
            .pop()
            .unwrap_or_else(|| Ok(String::new()))
    };
    let list = list_name(address);
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    let links = match list {
        Some(name) => {
            let text = one(address.to_owned())?;
            let links = links_of_list(name, &text);
            texts.insert(name.to_owned(), text);
            links
        }
        None => match one(format!("{base}/")) {
            Ok(html) => links(&html, base),
            // A server may list nothing and serve its digests all the same.
            Err(failure) if matches!(failure.kind, FailureKind::NotFound | FailureKind::Denied) => {
                let text = one(format!("{base}/{}", LISTS[0].0)).map_err(|_| failure)?;
                let links = links_of_list(LISTS[0].0, &text);
                texts.insert(LISTS[0].0.to_owned(), text);
                links
            }
            Err(failure) => return Err(failure),
        },
    };
    fetch_checksums(base, &links, &mut texts, fetch)?;
    Ok(build_page(base, &links, &texts))
}

/// The names of files of a page, as its links spell them, by what they mean.
type Links = BTreeMap<String, String>;

/// The files that a checksum file lists, if there is no page.
fn links_of_list(name: &str, text: &str) -> Links {
    let kind = checksum_file(name).map(|(kind, _)| kind);
    let found = kind.map(|kind| lines(text, kind, None)).unwrap_or_default();
    let names = found.into_iter().map(|(name, _)| name);
    names
        .filter(|name| is_file_name(name))
        .take(MOST)
        .map(|name| (name.clone(), percent_encode(&name)))
        .collect()
}

/// The lists first: most images are in them, and need no request each.
fn fetch_checksums(
    base: &str,
    links: &Links,
    texts: &mut BTreeMap<String, String>,
    fetch: &dyn Fn(Vec<String>) -> Vec<Result<String, Failure>>,
) -> Result<(), Failure> {
    for is_list in [true, false] {
        let known: BTreeSet<String> = digests(texts).into_keys().collect();
        let wanted = links.iter().filter(|(name, _)| match checksum_file(name) {
            Some((_, None)) => is_list && !texts.contains_key(*name),
            Some((_, Some(of))) => !is_list && !known.contains(of),
            None => false,
        });
        let (names, addresses): (Vec<String>, Vec<String>) = wanted
            .map(|(name, link)| (name.clone(), format!("{base}/{link}")))
            .unzip();
        if names.is_empty() {
            continue;
        }
        for (name, answer) in names.into_iter().zip(fetch(addresses)) {
            texts.insert(name, answer?);
        }
    }
    Ok(())
}

fn digests(texts: &BTreeMap<String, String>) -> Digests {
    let mut digests = Digests::default();
    for (name, text) in texts.iter().filter(|(_, text)| text.len() <= LONGEST_LIST) {
        let Some((kind, of)) = checksum_file(name) else {
            continue;
        };
        for (name, digest) in lines(text, kind, of) {
            digests.entry(name).or_default().insert(kind.name, digest);
        }
    }
    digests
}

fn build_page(base: &str, links: &Links, texts: &BTreeMap<String, String>) -> Page {
    let digests = digests(texts);
    let names: Vec<String> = links.keys().cloned().collect();
    let mut page = Page::default();
    for image in images(&names, &digests) {
        let said = image.properties.iter();
        let mut facts: BTreeMap<Arc<str>, Arc<str>> = said
            .map(|(name, text)| (Arc::clone(name), Arc::clone(&text.value)))
            .collect();
        let Some(file) = facts.get(fact::FILENAME).cloned() else {
            continue;
        };
        let served = |kind: &str| {
            let hex = digests.get(&*file)?.get(kind)?;
            Digest::parse(&format!("{kind}:{hex}")).ok()
        };
        let digest = ["sha256", "sha512"].into_iter().find_map(served);
        let (Some(digest), Some(link)) = (digest, links.get(&*file)) else {
            page.without_digest.push(file.to_string());
            continue;
        };
        let reference = Address::new(format!("{base}/{link}"));
        facts.insert(
            format!("{}https", fact::LOCATIONS).into(),
            Arc::clone(reference.text()),
        );
        page.images.push(OfferedImage {
            key: key_of(&image.name).unwrap_or_else(|_| Arc::clone(&image.name)),
            reference,
            digest,
            facts,
        });
    }
    page
}

/// The files that a page links to, directly below it.
fn links(html: &str, base: &str) -> Links {
    let mut links = Links::new();
    let path = base.split_once("://").map_or("", |(_, rest)| rest);
    let path = path.find('/').map_or("", |slash| &path[slash..]);
    for quoted in html
        .split("href=")
        .skip(1)
        .chain(html.split("HREF=").skip(1))
    {
        let Some(quote) = quoted.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            continue;
        };
        let Some(target) = quoted[1..].split(quote).next() else {
            continue;
        };
        let target = target.replace("&amp;", "&");
        let target = target
            .strip_prefix(base)
            .or(target.strip_prefix(path).filter(|_| !path.is_empty()))
            .unwrap_or(&target);
        let link = target.trim_start_matches("./").trim_start_matches('/');
        let Some(name) = percent_decode(link).filter(|name| is_file_name(name)) else {
            continue;
        };
        let is_wanted = checksum_file(&name).is_some()
            || !images(std::slice::from_ref(&name), &Digests::default()).is_empty();
        if is_wanted && links.len() < MOST {
            links.insert(name, link.to_owned());
        }
    }
    links
}

/// Whether it is a plain name: no path, no query, nothing that a line or an address could end at.
fn is_file_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.len() <= 255
        && !name.contains(|c: char| {
            c.is_control() || matches!(c, '/' | '\\' | '?' | '#' | '"' | '<' | '>')
        })
}

/// `%2B` and its like decoded; none for what is no UTF-8.
fn percent_decode(link: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(link.len());
    let mut rest = link.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                let (high, low) = (digit()?, digit()?);
                u8::try_from(high * 16 + low).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// A name as an address spells it.
fn percent_encode(name: &str) -> String {
    let mut link = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'+' => {
                link.push(char::from(byte));
            }
            byte => link.push_str(&format!("%{byte:02X}")),
        }
    }
    link
}

/// The images of a page as the lock has them.
pub(super) struct Locked {
    images: BTreeMap<ImageKey, Arc<Described>>,
}

impl Locked {
    /// Those of the lock whose files lie below the page.
    pub(super) fn for_page(address: &str, lock: Option<&Lock>) -> Self {
        let base = base(address);
        let is_below = |image: &&LockedImage| {
            let rest = image.reference.value.strip_prefix(base);
            rest.and_then(|rest| rest.strip_prefix('/'))
                .is_some_and(|file| !file.contains('/'))
        };
        let images = lock.map_or(&[][..], Lock::images).iter().filter(is_below);
        Self {
            images: images
                .map(|image| (Arc::clone(&image.key.value), Arc::new(description(image))))
                .collect(),
        }
    }

    /// Whether the lock has none of them.
    pub(super) fn is_empty(&self) -> bool {
        self.images.is_empty()
    }
}

fn description(image: &LockedImage) -> Described {
    let mut facts = Facts::default();
    let mut learn = |name: &str, value: &Arc<str>, place| {
        facts.learn(name, Fact::new(Arc::clone(value), Origin::Lock, place));
    };
    for (name, fact) in &image.facts {
        learn(name, &fact.value, fact.place);
    }
    learn(
        fact::URI,
        image.reference.value.text(),
        image.reference.place,
    );
    Described {
        name: Arc::clone(&image.key.value),
        place: image.key.place,
        facts,
        digest: Some(image.digest.clone()),
        pulled: None,
    }
}

impl ImageSource for Locked {
    fn describe(&self, wanted: &[Wanted<'_>]) -> Vec<Result<Option<Arc<Described>>, Error>> {
        let known = |wanted: &Wanted<'_>| {
            let found = self.images.get(wanted.key)?;
            let own = wanted
                .uri
                .is_none_or(|uri| found.facts.text(fact::URI) == Some(&**uri));
            own.then(|| Arc::clone(found))
        };
        wanted.iter().map(|wanted| Ok(known(wanted))).collect()
    }

    fn list(&self) -> Vec<(ImageKey, Arc<Described>)> {
        let shared = |(key, described): (&ImageKey, &Arc<Described>)| {
            (Arc::clone(key), Arc::clone(described))
        };
        self.images.iter().map(shared).collect()
    }
}

/// That nothing of a page is known yet.
pub(super) fn missing_from_lock(address: &str) -> Finding {
    let message = format!("nothing that `{address}` lists is in the lock");
    Finding::new(RuleId::LockMissingImage, message)
        .unless_set(Level::Warning)
        .help("run `metalmark lock`: nothing is fetched while values are checked")
}

#[cfg(test)]
mod tests {
    use super::{is_file_name, links, percent_decode, percent_encode};

    #[test]
    fn links_of_both_servers_are_read_and_those_that_lead_away_are_not() {
        let apache = r#"<a href="?C=N;O=D">Name</a> <a href="/">Parent</a>
            <a href="a.raw">a.raw</a> <A HREF='b%2B1.qcow2'>b</A> <a href="sub/">sub/</a>
            <a href="/os/c.raw">c</a> <a href="https://h.example/os/d.raw">d</a>
            <a href="https://evil.example/e.raw">e</a> <a href="../f.raw">f</a> <a href="..%2Fg.raw">g</a>
            <a href="SHA256SUMS">s</a> <a href="a.raw.sha256sum">s</a> <a href="notes.txt">n</a>"#;
        let found = links(apache, "https://h.example/os");
        let names: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "SHA256SUMS",
                "a.raw",
                "a.raw.sha256sum",
                "b+1.qcow2",
                "c.raw",
                "d.raw"
            ]
        );
        assert_eq!(found["b+1.qcow2"], "b%2B1.qcow2");
    }

    #[test]
    fn names_are_plain() {
        assert_eq!(percent_decode("a%2Bb").as_deref(), Some("a+b"));
        assert_eq!(percent_decode("%ff"), None);
        assert_eq!(percent_decode("%2"), None);
        assert_eq!(percent_encode("a b+c"), "a%20b+c");
        for bad in ["", "..", "a/b", "a?b", "a\nb"] {
            assert!(!is_file_name(bad), "{bad:?}");
        }
    }
}
