//! Reads facts as files write them, and converts the old names of facts to the current ones.

use std::sync::Arc;

use capi::image::{Fact, Facts, Origin, fact};
use yaml_tree::json::scalar_text;
use yaml_tree::place::{Located, Place, Source};
use yaml_tree::value::{Node, Value};

use super::checksum::{ChecksumKind, KINDS, is_url};
use super::signing::{KEY_NAMES, KEY_PROPERTY};

/// An image as values, a project file, an info file or an index of files writes it.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenImage {
    /// Its key, or its artifact's name.
    pub name: Arc<str>,
    /// Where it is named.
    pub place: Place,
    /// Its properties, by name or by the path in its record.
    pub properties: Vec<(Arc<str>, Located<Arc<str>>)>,
    /// The properties that are neither a string nor a boolean, and what they are.
    pub mistyped: Vec<(Arc<str>, &'static str)>,
}

impl WrittenImage {
    /// An image of which nothing is said yet.
    pub fn new(name: Arc<str>, place: Place) -> Self {
        Self {
            name,
            place,
            properties: Vec::new(),
            mistyped: Vec::new(),
        }
    }

    /// Reads one property of the image's record: a scalar under its name, those of a map by their path (`k8s.version`), and a
    /// list of scalars as one text (`sysexts`). A number has the digits that `file` spells it with, where it is as in a file. The key
    /// that signs the image has one name, whatever it is called.
    pub fn read(&mut self, name: &Arc<str>, node: &Node, file: Option<&Source>) {
        if !is_key(name) && !is_text(&node.value) {
            self.mistyped.push((Arc::clone(name), node.value.kind()));
        }
        self.read_at(name, node, file);
    }

    fn read_at(&mut self, path: &str, node: &Node, file: Option<&Source>) {
        let is_key = is_key(path);
        if is_key && !is_text(&node.value) {
            let kind = node.value.kind();
            self.mistyped.push((KEY_PROPERTY.into(), kind));
        }
        let text = match &node.value {
            Value::Map(map) => {
                for entry in map.iter() {
                    self.read_at(&format!("{path}.{}", entry.key), &entry.node, file);
                }
                return;
            }
            Value::List(items) => {
                let texts = items.iter().map(|item| text(item, file));
                let texts: Option<Vec<Arc<str>>> = texts.collect();
                texts
                    .filter(|texts| !texts.is_empty())
                    .map(|texts| texts.join(",").into())
            }
            _ => text(node, file),
        };
        let name = if is_key { KEY_PROPERTY } else { path };
        let located = text.map(|text| (name.into(), Located::new(text, node.place)));
        self.properties.extend(located);
    }
}

/// Whether it is one of the names of the key that signs an image.
fn is_key(path: &str) -> bool {
    KEY_NAMES.contains(&path)
}

fn is_text(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Bool(_))
}

fn text(node: &Node, file: Option<&Source>) -> Option<Arc<str>> {
    let spelled = match (&node.value, file) {
        (Value::Number(_), Some(file)) => {
            let range = node.place.start as usize..node.place.end as usize;
            file.text.get(range).map(|text| text.trim().into())
        }
        _ => None,
    };
    spelled.or_else(|| scalar_text(&node.value))
}

/// Where the image is served: the proposal's `os_images_info` calls it `url`.
const HTTPS: &str = "locations.https";

/// Every spelling of a fact that is not its name here: the paths of a neutral record, and what was written before. Of two
/// spellings of one fact the first counts.
const SPELLINGS: [(&str, &str); 27] = [
    ("os.name", fact::OS),
    ("os.codename", fact::OS_RELEASE),
    ("os.version", fact::OS_RELEASE),
    ("os.channel", fact::OS_CHANNEL),
    ("k8s.flavor", fact::K8S_FLAVOR),
    ("k8s.flavour", fact::K8S_FLAVOR),
    ("format", fact::IMAGE_FORMAT),
    ("sizes.disk", fact::SIZE),
    ("sizes.download", fact::ARCHIVE_SIZE),
    ("digests.uncompressed.sha256", fact::SHA256),
    ("digests.uncompressed.sha512", fact::SHA512),
    ("digests.uncompressed.md5", fact::MD5),
    ("digests.as-served.sha256", fact::ARCHIVE_SHA256),
    ("digests.as-served.sha512", fact::ARCHIVE_SHA512),
    ("digests.as-served.md5", fact::ARCHIVE_MD5),
    ("provenance.builder", fact::BUILDER),
    ("provenance.builder-version", fact::COMMIT_TAG),
    ("provenance.commit", fact::COMMIT_ID),
    ("provenance.timestamp", fact::BUILD_TIMESTAMP),
    ("locations.oci", fact::URI),
    ("locations.oci.url", fact::URI),
    ("locations.https", fact::URI),
    ("locations.https.url", fact::URI),
    ("locations.https.url", HTTPS),
    ("url", HTTPS),
    ("url", fact::URI),
    ("hardening", fact::FLAVOR),
];

/// The word of a record for a fact: `digests.uncompressed.sha256`.
pub fn record_word(fact: &str) -> &str {
    let mut spellings = SPELLINGS.iter();
    match spellings.find(|(_, known)| *known == fact) {
        _ if fact == fact::K8S_VERSION => "k8s.version",
        Some((word, _)) => word,
        None => fact,
    }
}

/// The facts of one entry of `os_images`, of an info file or of the proposal's `os_images_info`.
///
/// Every property is a fact under its own name (docs/sylva.md#facts), and under today's where it has an old one: `checksum` is a
/// digest of the kind that `checksumType` or its length says (`sha256` until it was called that, 2024-03), `format` is
/// `image-format`, and the paths of a neutral record are the facts that they represent. What only instructs the chart how to
/// build the list, or who is served, is no fact.
pub fn facts(properties: &[(Arc<str>, Located<Arc<str>>)], origin: Origin) -> Facts {
    let mut facts = Facts::default();
    for (name, written) in properties {
        if let Some(name) = fact_of_location(name) {
            learn(&mut facts, &name, &written.value, written.place, origin);
            continue;
        }
        let moves = SPELLINGS.iter().any(|(record, _)| **name == **record);
        let is_kept = KEPT.contains(&&**name) || !moves && !name.starts_with("k8s.");
        if is_kept && !CONTROL.contains(&&**name) {
            learn(&mut facts, name, &written.value, written.place, origin);
        }
    }
    let of = |name: &str| properties.iter().find(|(known, _)| **known == *name);
    let mut today = |name: &str, value: &Arc<str>, place| {
        learn(&mut facts, name, value, place, origin);
    };
    if let Some((_, written)) = of("hardening")
        && let Some(flag) = hardening(&written.value)
    {
        today(fact::HARDENED, &flag.into(), written.place);
    }
    if let Some((_, written)) = of("k8s.version") {
        let version = k8s_version(properties, &written.value);
        today(fact::K8S_VERSION, &version, written.place);
    }
    for (record, name) in SPELLINGS {
        let Some((_, written)) = of(record) else {
            continue;
        };
        // Machines do not fetch from a reference into a registry.
        if name != HTTPS || written.value.starts_with("http") {
            today(name, &written.value, written.place);
        }
    }
    if let Some((_, written)) = of("checksum").filter(|(_, written)| !is_url(&written.value)) {
        let kind = digest_kind(properties, &written.value);
        today(kind, &written.value, written.place);
    }
    // Beside another reference, the artifact's own is a location of its own.
    let artifact = of("locations.oci").or_else(|| of("locations.oci.url"));
    if let (Some(_), Some((_, written))) = (of(fact::URI), artifact) {
        today("locations.oci", &written.value, written.place);
    }
    facts
}

/// What a record says of the file at one location, as a fact: `locations.azure.format` is `at.azure.image-format`.
fn fact_of_location(name: &str) -> Option<String> {
    let (location, word) = name.strip_prefix(fact::LOCATIONS)?.split_once('.')?;
    let spelled = SPELLINGS.iter().find(|(spelling, _)| *spelling == word);
    let fact = spelled.map_or(word, |(_, fact)| fact);
    let is_of_file = fact::OF_FILE.contains(&fact) || fact::DIGESTS.contains(&fact);
    is_of_file.then(|| format!("{}{location}.{fact}", fact::AT))
}

/// What a record calls so is a fact under its own name too.
const KEPT: [&str; 3] = ["format", HTTPS, "url"];

/// Whether a record's word for hardening means that the image is hardened; `fips` does not.
fn hardening(word: &str) -> Option<&'static str> {
    match word {
        "plain" => Some("false"),
        "hardened" | "cis" => Some("true"),
        _ => None,
    }
}

/// A record's version with its build, without a `v`.
fn k8s_version(properties: &[(Arc<str>, Located<Arc<str>>)], version: &str) -> Arc<str> {
    let version = version.strip_prefix('v').unwrap_or(version);
    let build = properties.iter().find(|(name, _)| &**name == "k8s.build");
    match build.map(|(_, build)| build.value.trim_start_matches('+')) {
        Some(build) if !build.is_empty() && !version.contains('+') => {
            format!("{version}+{build}").into()
        }
        _ => version.into(),
    }
}

/// Properties of an entry that say nothing of the image.
const CONTROL: [&str; 4] = [
    "sylva_dib_image",
    "enabled",
    "default_enabled",
    "os_images_oci_registry",
];

fn learn(facts: &mut Facts, name: &str, value: &Arc<str>, place: Place, origin: Origin) {
    // An old name never overrides today's: the first that is learned of equally strong facts stays.
    facts.learn(name, Fact::new(Arc::clone(value), origin, place));
}

fn digest_kind(properties: &[(Arc<str>, Located<Arc<str>>)], digest: &str) -> &'static str {
    let stated = properties
        .iter()
        .find(|(name, _)| matches!(&**name, "checksumType" | "checksum_type"))
        .and_then(|(_, written)| ChecksumKind::from_name(&written.value));
    let by_length = || KINDS.into_iter().find(|kind| kind.digits == digest.len());
    stated
        .or_else(by_length)
        .map_or(fact::SHA256, |kind| kind.name)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::facts;
    use capi::image::{Facts, Origin};
    use yaml_tree::place::{Located, Place};

    fn written(list: &[(&str, &str)]) -> Facts {
        let properties: Vec<(Arc<str>, Located<Arc<str>>)> = list
            .iter()
            .map(|(name, value)| ((*name).into(), Located::new((*value).into(), Place::NONE)))
            .collect();
        facts(&properties, Origin::InfoFile)
    }

    #[test]
    fn old_names_become_todays() {
        let sha256 = "a".repeat(64);
        let facts = written(&[("checksum", &sha256), ("format", "qcow2")]);
        assert_eq!(facts.text("sha256"), Some(&*sha256));
        assert_eq!(facts.text("image-format"), Some("qcow2"));
        assert_eq!(facts.text("checksum"), Some(&*sha256));
    }

    #[test]
    fn the_stated_kind_counts_before_the_length() {
        let facts = written(&[("checksum", "abc"), ("checksumType", "md5")]);
        assert_eq!(facts.text("md5"), Some("abc"));
        let facts = written(&[("checksum", &"b".repeat(128))]);
        assert!(facts.text("sha512").is_some());
        let facts = written(&[("checksum", "abc")]);
        assert_eq!(facts.text("sha256"), Some("abc"));
    }

    #[test]
    fn the_address_of_a_checksum_is_no_digest() {
        let facts = written(&[("checksum", "http://server/image.sha256sum")]);
        assert_eq!(facts.text("sha256"), None);
    }

    #[test]
    fn an_old_name_never_overrides_todays() {
        let facts = written(&[("format", "qcow2"), ("image-format", "raw")]);
        assert_eq!(facts.text("image-format"), Some("raw"));
    }

    #[test]
    fn a_neutral_record_says_the_facts_that_everything_else_uses() {
        let facts = written(&[
            ("os.name", "ubuntu"),
            ("os.version", "24.04"),
            ("k8s.flavor", "rke2"),
            ("k8s.version", "v1.31.8"),
            ("k8s.build", "rke2r1"),
            ("hardening", "cis"),
            ("sizes.disk", "22000000000"),
            ("digests.as-served.sha256", "ab"),
            ("locations.https", "https://h/f"),
            ("locations.glance.id", "u"),
        ]);
        let all: Vec<String> = facts
            .iter()
            .map(|(name, fact)| format!("{name}={}", fact.value))
            .collect();
        assert_eq!(
            all.join(" "),
            "archive-sha256=ab flavor=cis hardened=true k8s-flavor=rke2 k8s-version=1.31.8+rke2r1 \
             locations.glance.id=u locations.https=https://h/f os=ubuntu os-release=24.04 size=22000000000 uri=https://h/f"
        );
    }

    #[test]
    fn a_record_keeps_each_location() {
        let both = [
            ("locations.https", "https://h/f"),
            ("locations.oci", "oci://r/f:1"),
        ];
        let facts = written(&both);
        assert_eq!(facts.text("uri"), Some("oci://r/f:1"));
        assert_eq!(facts.text("locations.https"), Some("https://h/f"));
        let facts = written(&[both[0], both[1], ("uri", "https://mirror/f")]);
        assert_eq!(facts.text("uri"), Some("https://mirror/f"));
        assert_eq!(facts.text("locations.oci"), Some("oci://r/f:1"));
    }

    #[test]
    fn the_url_of_an_image_is_where_it_is_served() {
        let facts = written(&[("url", "https://h/real.qcow2"), ("uri", "oci://r/f:1")]);
        assert_eq!(facts.text("locations.https"), Some("https://h/real.qcow2"));
        assert_eq!(facts.text("uri"), Some("oci://r/f:1"));
        let facts = written(&[("url", "oci://r/f:1")]);
        assert_eq!(facts.text("locations.https"), None);
        assert_eq!(facts.text("uri"), Some("oci://r/f:1"));
    }

    #[test]
    fn what_steers_the_chart_is_no_fact() {
        let facts = written(&[("sylva_dib_image", "true"), ("enabled", "true")]);
        assert_eq!(facts.iter().count(), 0);
    }
}
