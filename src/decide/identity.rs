//! Which images of a catalog are one image, and which one a URL, a name or a digest means: the one join of what pools, values,
//! records, files and the lock say. What two sides of one image both say has to agree.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use capi::image::{Fact, Facts, Image, ImageKey, Images, Origin, fact};
use capi::location::{Location, file_name, is_same_url, last_part, normal_url};
use oci_artifacts::{Digest, Reference, is_oci};
use yaml_tree::place::Located;

use crate::model::checksum::{ChecksumKind, KINDS};
use crate::model::cluster::{Choice, Pool};
use crate::model::cluster_view::ClusterView;
use crate::model::judgment::Disagreement;
use crate::model::name::{NameSchemes, key_of, same_value, split_registry};
use crate::model::selection::{PoolImage, Selection};
use crate::model::version::Version;

/// The images of a catalog by their digests and URLs, by what their locations end in, and by the names of their files.
#[derive(Debug, Default)]
pub struct Identities {
    by_word: HashMap<String, Vec<ImageKey>>,
    /// What an image has that others have too and only one image can have.
    shared: HashMap<ImageKey, Vec<String>>,
    /// The first image of each file's name.
    by_file: HashMap<Arc<str>, ImageKey>,
    /// The image of each name that Sylva's chart has with a registry; none where it has several.
    by_chart_name: HashMap<String, Option<ImageKey>>,
}

impl Identities {
    /// Those of a catalog.
    pub fn new(images: &Images) -> Self {
        let mut by_word: HashMap<String, Vec<ImageKey>> = HashMap::new();
        let mut by_file = HashMap::new();
        let mut by_chart_name: HashMap<String, Option<ImageKey>> = HashMap::new();
        for image in images.values() {
            if let Some(file) = image.facts.get(fact::FILENAME) {
                let first = by_file.entry(Arc::clone(&file.value));
                first.or_insert_with(|| Arc::clone(&image.key));
            }
            if let Some(name) = bare_name(image) {
                let key = Some(Arc::clone(&image.key));
                let known = by_chart_name.entry(name.to_owned());
                known.and_modify(|known| *known = None).or_insert(key);
            }
            let locations = locations(image).map(|text| last_part(text).to_owned());
            let words = locations.chain(glance_name(image));
            let words = words.chain(identifying_words(image));
            for word in words.collect::<BTreeSet<String>>() {
                let key = Arc::clone(&image.key);
                by_word.entry(word).or_default().push(key);
            }
        }
        let shared = images.values().filter_map(|image| {
            let words = identifying_words(image).filter(|word| by_word[word].len() > 1);
            let words: Vec<String> = words.collect();
            (!words.is_empty()).then(|| (Arc::clone(&image.key), words))
        });
        let shared = shared.collect();
        Self {
            by_word,
            shared,
            by_file,
            by_chart_name,
        }
    }

    /// The key of the only image that Sylva's chart calls by a registry and this name.
    pub fn find_by_chart_name(&self, name: &str) -> Option<&ImageKey> {
        self.by_chart_name.get(name)?.as_ref()
    }

    /// The key of the image whose file has the name that a URL ends in: what is served there, perhaps.
    pub fn find_by_file(&self, url: &str) -> Option<&ImageKey> {
        self.by_file.get(file_name(url))
    }

    /// The key of the image that lies at the URL of a choice, that the project serves there, or whose digest the choice gives.
    /// What images of one digest or one URL say differently is a disagreement.
    pub fn find_by_url(&self, choice: &Choice, images: &Images) -> Option<ImageKey> {
        let url = &choice.url.as_ref()?.value;
        let location = location(choice, url);
        let mut there = self.with_word(last_part(url), images);
        let there = there.find(|image| location.holds(image));
        let there = there.map(|image| &image.key).or(choice.served.as_ref());
        let digests = digest_of(url).into_iter();
        let digests = digests.chain(checksum(choice).map(|it| it.hex));
        let mut same = digests.filter_map(|digest| self.by_word.get(&digest)?.first());
        there.or_else(|| same.next()).cloned()
    }

    /// The key of the one image that a provider's store has under the name of a choice: as a location of the image says, under its
    /// key, or as Sylva pushes it to Glance. Of several with its id the first is as good as any: they are one.
    pub fn find_by_name(&self, choice: &Choice, images: &Images) -> Option<ImageKey> {
        let name = &choice.name.as_ref()?.value;
        let location = location(choice, name);
        let is_pushed = |image: &Image| {
            glance_name(image).is_some_and(|pushed| *pushed == **name)
                && location.is_in("locations.glance.name")
        };
        let known = self.with_word(last_part(name), images);
        let mut known = known.filter(|image| location.holds(image) || is_pushed(image));
        let key = match (known.next(), known.next()) {
            (Some(only), None) => Some(&only.key),
            (Some(first), Some(_)) => Some(&first.key).filter(|_| is_id(name)),
            (None, _) => {
                let is_elsewhere = |key: &&ImageKey| location.is_contradicted(&images[*key]);
                find_image(name, images).filter(|key| !is_elsewhere(key))
            }
        };
        key.cloned()
    }

    /// The other images that have a digest, an id or a URL of an image, or the digest that is given where it is chosen.
    pub fn twins(&self, image: &ImageKey, choice: &Choice) -> Vec<ImageKey> {
        let given = checksum(choice).and_then(|given| self.by_word.get(&given.hex));
        let shared = self.shared.get(image).into_iter().flatten();
        let shared = shared.map(|word| &self.by_word[word]);
        let twins: BTreeSet<&ImageKey> = shared.chain(given).flatten().collect();
        let others = twins.into_iter().filter(|twin| *twin != image);
        others.cloned().collect()
    }

    fn with_word<'i>(&self, word: &str, images: &'i Images) -> impl Iterator<Item = &'i Image> {
        let keys = self.by_word.get(word).into_iter().flatten();
        keys.filter_map(|key| images.get(key))
            .collect::<Vec<_>>()
            .into_iter()
    }
}

/// The name of an image that is known as Sylva's chart calls it, `REGISTRY--NAME`.
pub fn bare_name(image: &Image) -> Option<&str> {
    let (registry, name) = split_registry(&image.name);
    registry.map(|_| name)
}

/// The key of the image that a name means: a key, or what a catalog, a registry or Sylva's chart calls it, whose dots became dashes
/// in its key.
pub fn find_image<'a>(name: &str, images: &'a Images) -> Option<&'a ImageKey> {
    if let Some((key, _)) = images.get_key_value(name) {
        return Some(key);
    }
    let (registry, bare) = split_registry(name);
    let (key, image) = images.get_key_value(&key_of(bare).ok()?)?;
    let is_called = match registry {
        Some(_) => image.chart_key().is_some_and(|key| key == name),
        None => [&image.name, &image.artifact]
            .iter()
            .any(|own| ***own == *name),
    };
    is_called.then_some(key)
}

fn location(choice: &Choice, text: &Arc<str>) -> Location {
    let known = choice.location.clone();
    known.unwrap_or_else(|| Location::anywhere(text))
}

fn locations(image: &Image) -> impl Iterator<Item = &str> {
    let facts = image.facts.iter();
    let is_location = |name: &str| name == fact::URI || name.starts_with(fact::LOCATIONS);
    facts
        .filter(move |(name, _)| is_location(name))
        .map(|(_, fact)| &*fact.value)
}

/// What only one image can have: the digests, ids and URLs of an image.
fn identifying_words(image: &Image) -> impl Iterator<Item = String> {
    let urls = urls(image).map(|url| normal_url(url).into_owned());
    digests(image)
        .chain(ids(image).map(str::to_owned))
        .chain(urls)
}

/// The URLs of an image, each of one file.
fn urls(image: &Image) -> impl Iterator<Item = &str> {
    let names = [fact::URI, "locations.https"];
    names.into_iter().filter_map(|name| image.facts.text(name))
}

/// The ids of an image, which no other has: one a region.
fn ids(image: &Image) -> impl Iterator<Item = &str> {
    locations(image).filter(|text| is_id(text))
}

/// Whether a name is the id of an AMI.
fn is_id(name: &str) -> bool {
    name.starts_with("ami-")
}

/// The digests of an image's files, and of its artifact.
fn digests(image: &Image) -> impl Iterator<Item = String> {
    let is_digest = |name: &str| fact::DIGESTS.contains(&name.rsplit('.').next().unwrap_or(name));
    let facts = image.facts.iter().filter(move |(name, _)| is_digest(name));
    let hex = facts.map(|(_, fact)| fact.value.to_ascii_lowercase());
    let is_digest = |hex: &String| {
        let is_long = KINDS.iter().any(|kind| kind.digits == hex.len());
        // A digit that is repeated is no digest yet: nobody has filled one in.
        let is_filled_in = hex.bytes().any(|byte| !hex.starts_with(byte as char));
        is_long && is_filled_in && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let hex = hex.filter(is_digest);
    let locked = image.digest.iter().map(|digest| digest.value.to_string());
    let pulled = image.pulled.iter().map(Digest::to_string);
    hex.chain(locked)
        .chain(pulled)
        .chain(urls(image).filter_map(digest_of))
}

/// The digest that a reference names.
fn digest_of(reference: &str) -> Option<String> {
    let reference = is_oci(reference).then(|| Reference::parse(reference).ok())??;
    Some(reference.digest?.to_string())
}

/// The name under which Sylva pushes an image to Glance.
fn glance_name(image: &Image) -> Option<String> {
    let tag = image.facts.text(fact::COMMIT_TAG)?;
    Some(format!("{}-sylva-diskimage-builder-{tag}", image.key))
}

/// The digest that a choice gives.
struct Checksum<'a> {
    kind: ChecksumKind,
    written: &'a Located<Arc<str>>,
    hex: String,
}

fn checksum(choice: &Choice) -> Option<Checksum<'_>> {
    let written = choice.checksum.as_ref()?;
    let kind = choice.checksum_type.as_ref();
    let by_name = kind.and_then(|kind| ChecksumKind::from_name(&kind.value));
    let by_length = || {
        KINDS
            .into_iter()
            .find(|kind| kind.digits == written.value.len())
    };
    Some(Checksum {
        kind: by_name.or_else(by_length)?,
        written,
        hex: written.value.to_ascii_lowercase(),
    })
    .filter(|it| it.hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The facts that decide whether two sides mean one image.
const COMPARED: [&str; 10] = [
    fact::OS,
    fact::OS_RELEASE,
    fact::ARCH,
    fact::HARDENED,
    fact::K8S_FLAVOR,
    fact::K8S_VERSION,
    fact::IMAGE_FORMAT,
    fact::COMPRESSION,
    fact::SIZE,
    fact::ARCHIVE_SIZE,
];

/// All that is said differently of the image that a pool boots: by the pool and the catalog, by two sources of the catalog, and of two
/// images that are one. Nothing where the catalog does not know the image.
pub fn disagreements(view: &ClusterView, pool: &Pool, selection: &Selection) -> Vec<Disagreement> {
    let Some(image) = view.described_image(selection) else {
        return Vec::new();
    };
    let choice = &pool.choice;
    let (own, facts) = match (
        selection.image(),
        choice.url.as_ref().or(choice.name.as_ref()),
    ) {
        (PoolImage::Recognized(_), Some(named)) => {
            let location = location(choice, &named.value);
            (
                statements(choice, named, &view.schemes),
                image.facts.select_location(location.name(image)),
            )
        }
        _ => (Facts::default(), image.facts.clone()),
    };
    let twins = selection
        .twins
        .iter()
        .filter_map(|key| view.images.get(key));
    let twins: Vec<&Image> = twins.collect();
    let os = facts.text(fact::OS);
    let mut found = Vec::new();
    for name in COMPARED.into_iter().chain(fact::DIGESTS) {
        let mut compare = |said: &Fact, is_of_pool| {
            let Some(known) = facts.get(name) else {
                return;
            };
            let (one, other) = if is_of_pool {
                (said, known)
            } else {
                (known, said)
            };
            let (strong, weak) = if one.origin < other.origin {
                (other, one)
            } else {
                (one, other)
            };
            if !agree(name, strong, weak, os) {
                found.push(Disagreement {
                    image: Arc::clone(&image.key),
                    name,
                    one: one.clone(),
                    other: other.clone(),
                    is_of_pool,
                });
            }
        };
        if let Some(said) = own.get(name) {
            compare(said, true);
        }
        if let Some(weaker) = facts.dispute(name) {
            compare(weaker, false);
        }
        // One digest may be that of two forms of a file; at one URL there is one.
        let is_of_file = fact::OF_FILE.contains(&name) || fact::DIGESTS.contains(&name);
        let is_there =
            |twin: &Image| urls(image).any(|url| urls(twin).any(|other| is_same_url(url, other)));
        for twin in twins.iter().filter(|twin| !is_of_file || is_there(twin)) {
            let said = twin.facts.get(name);
            if let Some(said) = said.filter(|said| said.origin > Origin::Name) {
                compare(said, false);
            }
        }
    }
    found.extend(other_bytes(choice, selection, &facts, &image.key));
    found
}

/// What a pool says of its image beside a digest: in its name, and as the format.
fn statements(choice: &Choice, named: &Located<Arc<str>>, schemes: &NameSchemes) -> Facts {
    let names = schemes.facts(&named.value).unwrap_or_default();
    let names = names
        .iter()
        .map(|(name, fact)| (name, &fact.value, named.place));
    let mut facts = Facts::new(
        Origin::Name,
        names.map(|(name, value, place)| (name, Arc::clone(value), place)),
    );
    if let Some(format) = choice.format.as_ref().filter(|it| !it.value.is_empty()) {
        let said = Fact::new(Arc::clone(&format.value), Origin::Values, format.place);
        facts.learn(fact::IMAGE_FORMAT, said);
    }
    facts
}

/// That a pool gives another digest than the image has, in either form.
fn other_bytes(
    choice: &Choice,
    selection: &Selection,
    facts: &Facts,
    key: &ImageKey,
) -> Option<Disagreement> {
    let PoolImage::Recognized(_) = selection.image() else {
        return None;
    };
    let Checksum { kind, written, hex } = checksum(choice)?;
    let forms = fact::DIGESTS
        .into_iter()
        .filter(|name| name.ends_with(kind.name));
    let known = forms.filter_map(|name| Some((name, facts.get(name)?)));
    let mut known = known.filter(|(_, known)| !known.value.is_empty());
    let (name, first) = known.next()?;
    let is_same = |known: &Fact| same_value(name, None, &known.value, &hex);
    if is_same(first) || known.any(|(_, known)| is_same(known)) {
        return None;
    }
    Some(Disagreement {
        image: Arc::clone(key),
        name,
        one: Fact::new(Arc::clone(&written.value), Origin::Values, written.place),
        other: first.clone(),
        is_of_pool: true,
    })
}

/// Whether two texts of one fact mean the same, versions in any spelling too. A name leaves things out without disagreeing.
pub fn agree(name: &str, stronger: &Fact, weaker: &Fact, os: Option<&str>) -> bool {
    let (left, right) = (&*stronger.value, &*weaker.value);
    // An empty text says nothing.
    if left.is_empty() || right.is_empty() {
        return true;
    }
    match name {
        fact::K8S_VERSION => match (Version::parse(left), Version::parse(right)) {
            (Some(left), Some(right)) if weaker.origin == Origin::Name => right.admits(&left),
            (left, right) => left.is_some() && left == right,
        },
        // `9` leaves out the minor of `9.4`, and `opensuse` the kind of `opensuse-leap`.
        fact::OS_RELEASE | fact::OS if is_beginning(left, right) => true,
        _ => same_value(name, os, left, right),
    }
}

/// Whether one of two texts is the other without its last parts.
fn is_beginning(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    let begin = long.get(..short.len());
    begin.is_some_and(|begin| begin.eq_ignore_ascii_case(short))
        && long[short.len()..].starts_with(['.', '-', ' '])
}
