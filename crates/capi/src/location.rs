//! Where an image lies: what names it in its provider's store, in the words of the facts that say the same.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use oci_artifacts::{Reference, is_oci};

use super::image::{Fact, Facts, Image, fact};

/// The parts of the location that a machine template or a setting names, the image's own name or URL first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    parts: Vec<Part>,
}

/// One part of a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The facts of an image that say the same; one that ends with a dot means all below it.
    pub facts: &'static [&'static str],
    /// What is named.
    pub text: Arc<str>,
    /// Whether the location of an image is another one if it lacks this part.
    pub is_required: bool,
}

/// The facts that say alone where an image lies.
const WHOLE: &[&str] = &[
    fact::URI,
    "locations.ami.",
    "locations.azure.id",
    "locations.docker.image",
    "locations.gce.family",
    "locations.gce.image",
    "locations.glance.id",
    "locations.glance.image-ref",
    "locations.glance.name",
    "locations.hcloud.image",
    "locations.hcloud.url",
    "locations.hetzner.path",
    "locations.hetzner.url",
    "locations.https",
    "locations.kubevirt.container-disk",
    "locations.kubevirt.http",
    "locations.kubevirt.registry",
    "locations.nutanix.",
    "locations.oci",
    "locations.powervs.",
    "locations.proxmox.tags",
    "locations.proxmox.template-id",
    "locations.tinkerbell.image",
    "locations.vsphere.image-name",
    "locations.vsphere.template",
];

impl Location {
    /// The location of these parts, of which there is one at least.
    pub fn new(parts: Vec<Part>) -> Self {
        Self { parts }
    }

    /// A name or URL in the store of a provider that is not known.
    pub fn anywhere(text: &Arc<str>) -> Self {
        Self::new(vec![Part {
            facts: WHOLE,
            text: Arc::clone(text),
            is_required: true,
        }])
    }

    /// Whether an image lies there: it says each part that it is required to say, and contradicts none.
    pub fn holds(&self, image: &Image) -> bool {
        let mut parts = self.parts.iter();
        parts.all(|part| part.agrees(image).unwrap_or(!part.is_required))
    }

    /// Whether an image that has the name says that it lies somewhere else.
    pub fn is_contradicted(&self, image: &Image) -> bool {
        let mut beside = self.parts.iter().skip(1);
        beside.any(|part| part.agrees(image) == Some(false))
    }

    /// Which location of an image it is: `azure`, `https`.
    pub fn name<'i>(&self, image: &'i Image) -> Option<&'i str> {
        let first = self.parts.first()?;
        let mut facts = image.facts.iter();
        let (name, said) = facts
            .find(|(name, said)| first.is_said_by(name) && first.is_same(image, name, said))?;
        match name.strip_prefix(fact::LOCATIONS) {
            Some(location) => location.split('.').next(),
            None if is_oci(&said.value) => Some("oci"),
            None => Some("https"),
        }
    }

    /// Whether a fact of an image says a part of it.
    pub fn is_in(&self, fact: &str) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|part| part.is_said_by(fact))
    }
}

/// Its parts, with spaces between them.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<&str> = self.parts.iter().map(|part| &*part.text).collect();
        f.write_str(&texts.join(" "))
    }
}

impl Part {
    fn is_said_by(&self, fact: &str) -> bool {
        let mut facts = self.facts.iter();
        facts.any(|known| *known == fact || known.ends_with('.') && fact.starts_with(known))
    }

    /// Whether an image says the same; none where it says nothing of it.
    fn agrees(&self, image: &Image) -> Option<bool> {
        let is_said =
            |(name, said): &(&Arc<str>, &Fact)| !said.value.is_empty() && self.is_said_by(name);
        let said = image.facts.iter().filter(is_said);
        let mut same = said.map(|(name, said)| self.is_same(image, name, said));
        let first = same.next()?;
        Some(first || same.any(|same| same))
    }

    /// Whether what an image says in a fact is the same.
    fn is_same(&self, image: &Image, name: &str, said: &Fact) -> bool {
        is_same_url(&said.value, &self.text)
            || is_same_artifact(&said.value, &self.text)
            || name.starts_with(GCE)
                && is_same_path(&full_name(image, name, &said.value), &self.text)
    }
}

/// Whether two texts are spellings of one reference. What follows the last slash has one spelling.
pub fn is_same_artifact(one: &str, other: &str) -> bool {
    fn last(text: &str) -> Option<&str> {
        text.rfind('/').map(|slash| &text[slash..])
    }
    let (one, other) = (artifact(one), artifact(other));
    let parsed = |text| Reference::parse(text).ok();
    one == other
        || last(one) == last(other) && parsed(one).is_some_and(|it| Some(it) == parsed(other))
}

/// Whether two texts are spellings of one URL: of the host's letters and the scheme's own port (RFC 3986, section 6.2.3). Texts that
/// are no URLs have one spelling.
pub fn is_same_url(one: &str, other: &str) -> bool {
    one == other || last_part(one) == last_part(other) && normal_url(one) == normal_url(other)
}

/// A URL of a file as all spellings of it are written alike; any other text as it is.
pub fn normal_url(text: &str) -> Cow<'_, str> {
    let parts = text.split_once("://");
    let Some((scheme, (host, path))) =
        parts.and_then(|(scheme, rest)| Some((scheme, rest.split_once('/')?)))
    else {
        return Cow::Borrowed(text);
    };
    let (scheme, host) = (scheme.to_ascii_lowercase(), host.to_ascii_lowercase());
    let port = match &*scheme {
        "https" => ":443",
        "http" => ":80",
        _ => return Cow::Borrowed(text),
    };
    let host = host.strip_suffix(port).unwrap_or(&host);
    Cow::Owned(format!("{scheme}://{host}/{path}"))
}

/// A reference without a scheme: some fields have none.
fn artifact(text: &str) -> &str {
    let scheme = ["oci://", "docker://"].into_iter().find(|scheme| {
        let start = text.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    });
    scheme.map_or(text, |scheme| &text[scheme.len()..])
}

/// What the facts about Google's images start with.
const GCE: &str = "locations.gce.";

/// Google's name of an image or of a family in full: with its project, where only that is known beside a name.
pub fn gce_path(project: Option<&str>, is_family: bool, name: &str) -> String {
    let folder = if is_family { "family/" } else { "" };
    match project {
        Some(project) if !name.contains('/') => {
            format!("projects/{project}/global/images/{folder}{name}")
        }
        _ => name.to_owned(),
    }
}

/// Google's name in full, as far as an image says it.
fn full_name(image: &Image, fact: &str, name: &str) -> String {
    let project = image.facts.text("locations.gce.project");
    gce_path(project, fact.ends_with("family"), name)
}

/// Whether two names of Google's are one, of which the shorter leaves out where the other begins.
fn is_same_path(known: &str, text: &str) -> bool {
    let ends = |long: &str, short: &str| {
        let rest = long.strip_suffix(short);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    ends(known, text) || ends(text, known)
}

/// What every spelling of a location ends in: an index of locations has them by it.
pub fn last_part(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or(text)
}

/// The last part of a URL's path, without its query.
pub fn file_name(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    path.rsplit('/').next().unwrap_or(path)
}

/// The digest that a machine finds at a URL, and its kind: the image's, else that of the compressed file that lies there.
pub fn checksum_at(url: &str, facts: &Facts) -> Option<(&'static str, Arc<str>)> {
    let served = || facts.archive_checksum().filter(|_| is_compressed(url));
    facts.checksum().or_else(served)
}

/// Whether the file at a URL is compressed, by its name.
pub fn is_compressed(url: &str) -> bool {
    let ends = [".gz", ".xz", ".zst", ".bz2"];
    ends.iter().any(|end| file_name(url).ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::{file_name, gce_path, is_same_artifact, is_same_path, is_same_url};

    #[test]
    fn a_url_has_spellings() {
        let url = "https://images.example.org/a/b.raw";
        for other in [
            "https://IMAGES.example.org/a/b.raw",
            "HTTPS://images.example.org:443/a/b.raw",
        ] {
            assert!(is_same_url(url, other), "{other}");
        }
        for other in [
            "http://images.example.org/a/b.raw",
            "https://images.example.org:8443/a/b.raw",
            "https://images.example.org/A/b.raw",
            "images.example.org/a/b.raw",
        ] {
            assert!(!is_same_url(url, other), "{other}");
        }
        assert!(
            is_same_url("http://h:80/b", "http://H/b") && !is_same_url("x://h:80/b", "x://H/b")
        );
    }

    #[test]
    fn a_file_name_is_what_the_path_ends_in() {
        assert_eq!(file_name("https://a.b/c/image.raw?x=1/2#y"), "image.raw");
        assert_eq!(file_name("image.raw"), "image.raw");
        assert_eq!(file_name("https://a.b/"), "");
    }

    #[test]
    fn names_of_google_may_leave_out_where_they_begin() {
        let whole = gce_path(Some("p"), false, "foo");
        assert_eq!(whole, "projects/p/global/images/foo");
        for (known, text, is_same) in [
            (&*whole, "foo", true),
            (&*whole, "global/images/foo", true),
            (
                &*whole,
                "https://www.googleapis.com/compute/v1/projects/p/global/images/foo",
                true,
            ),
            ("foo", &*whole, true),
            (&*whole, "oo", false),
            (&*whole, "projects/q/global/images/foo", false),
            (&*whole, "projects/p/global/images/family/foo", false),
        ] {
            assert_eq!(is_same_path(known, text), is_same, "{known} {text}");
        }
    }

    #[test]
    fn an_artifact_is_the_same_however_its_registry_is_written() {
        let known = "oci://registry.example/os/a:1";
        assert!(is_same_artifact(
            known,
            "docker://REGISTRY.example:443/os/a:1"
        ));
        assert!(!is_same_artifact(known, "oci://other.example/os/a:1"));
    }
}
