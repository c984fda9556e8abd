//! What is stamped of an image, ready for any provider's fields.

use std::sync::Arc;

use crate::model::image::{Facts, fact, is_oci};
use crate::oci::{Digest, Reference};

/// An image as providers take it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// The key of the image; none where the values give the URL themselves.
    pub key: Option<Arc<str>>,
    /// Where machines fetch the image from.
    pub url: Arc<str>,
    /// `raw`, `qcow2` …; none where nothing says it, which is a finding of `format-missing`.
    pub format: Option<Arc<str>>,
    /// The hex digest, or the URL of a file that holds it.
    pub checksum: Option<Arc<str>>,
    /// `sha256`, `md5`, `sha512`.
    pub checksum_type: Option<Arc<str>>,
    /// Everything that is known of the image, its locations among it.
    pub facts: Facts,
    /// The digest that the lock holds for the image's own reference.
    pub digest: Option<Digest>,
    /// The region that its machines run in, where images are kept by region.
    pub region: Option<Arc<str>>,
}

impl Stamp {
    /// Whether the machine pulls the image from a registry itself, so that the reference proves the content.
    pub fn is_oci(&self) -> bool {
        is_oci(&self.url)
    }

    /// The image's reference by its digest alone, where both are known: a tag that moves beside an unmoved digest changes nothing.
    pub(super) fn pinned(&self) -> Option<String> {
        let reference = Reference::parse(self.facts.text(fact::URI)?).ok()?;
        let digest = self.digest.as_ref().or(reference.digest.as_ref())?.clone();
        let pinned = Reference {
            tag: None,
            digest: Some(digest),
            ..reference
        };
        Some(pinned.to_string())
    }

    /// Where the image lies, by the record's words: `glance.name`, `vsphere.template`.
    pub fn location(&self, name: &str) -> Option<&str> {
        let name = format!("{}{name}", fact::LOCATIONS);
        self.facts.text(&name).filter(|text| !text.is_empty())
    }

    /// The locations whose names start so: what follows, and where the image lies.
    pub fn locations<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.facts.iter().filter_map(move |(name, fact)| {
            let name = name.strip_prefix(fact::LOCATIONS)?.strip_prefix(prefix)?;
            Some((name, &*fact.value))
        })
    }

    /// The reference of a container image: the artifact's, without a scheme.
    pub(super) fn container(&self) -> Option<&str> {
        let declared = self.facts.text(fact::URI);
        let references = [Some(&*self.url), declared];
        let mut references = references.into_iter().flatten();
        references.find_map(|url| {
            let rest = url
                .strip_prefix("oci://")
                .or_else(|| url.strip_prefix("docker://"))?;
            (!rest.is_empty()).then_some(rest)
        })
    }

    /// That nothing says where the image lies for a provider; `wanted` are the record's words for it.
    pub(super) fn nowhere(&self, provider: &str, wanted: &str) -> String {
        let image = match &self.key {
            Some(key) => format!("image `{key}`"),
            None => format!("`{}`", self.url),
        };
        format!(
            "nothing says where `{provider}` finds {image}: its record has no `locations.{wanted}`"
        )
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::Stamp;
    use crate::model::image::{Fact, Facts, Origin};
    use crate::model::place::Place;

    /// A stamp with facts.
    pub(crate) fn with(url: &str, facts: &[(&str, &str)]) -> Stamp {
        let mut known = Facts::default();
        for (name, value) in facts {
            let fact = Fact {
                value: (*value).into(),
                origin: Origin::Values,
                place: Place::NONE,
            };
            known.learn(name, fact);
        }
        Stamp {
            key: Some("img".into()),
            url: url.into(),
            format: Some("raw".into()),
            checksum: Some("ab".into()),
            checksum_type: Some("sha256".into()),
            facts: known,
            digest: None,
            region: None,
        }
    }

    /// An image that every provider has.
    pub(crate) fn everywhere() -> Stamp {
        with(
            "https://images.example.org/img.tar.gz",
            &[
                ("uri", "oci://registry.example.org/img:1"),
                ("locations.ami.eu-west-1", "ami-0abc"),
                ("locations.azure.id", "/subscriptions/s/images/img"),
                ("locations.gce.image", "projects/p/global/images/img"),
                (
                    "locations.glance.id",
                    "8f1b2c3d-0000-4000-8000-000000000001",
                ),
                ("locations.hcloud.image", "img"),
                (
                    "locations.kubevirt.container-disk",
                    "registry.example.org/img:1",
                ),
                ("locations.proxmox.template-id", "100"),
                ("locations.proxmox.node", "pve1"),
                ("locations.vsphere.template", "img"),
            ],
        )
    }

    #[test]
    fn locations_are_asked_for_by_name_or_by_what_they_start_with() {
        let stamp = everywhere();
        assert_eq!(stamp.location("hcloud.image"), Some("img"));
        assert_eq!(stamp.location("hcloud.command"), None);
        let regions: Vec<(&str, &str)> = stamp.locations("ami.").collect();
        assert_eq!(regions, [("eu-west-1", "ami-0abc")]);
        assert_eq!(stamp.container(), Some("registry.example.org/img:1"));
    }
}
