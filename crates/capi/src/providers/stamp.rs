//! The data of an image that is stamped into objects, independent of the provider.

use std::sync::Arc;

use oci_artifacts::{Digest, is_oci};

use crate::image::{Facts, digest_reference, fact};
use crate::location::checksum_at;

/// An image for the fields of any provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// The key of the image; none if the values contain the URL themselves.
    pub key: Option<Arc<str>>,
    /// The address that machines fetch the image from.
    pub url: Arc<str>,
    /// `raw`, `qcow2` …; none if it is not known, which the rule `format-missing` reports.
    pub format: Option<Arc<str>>,
    /// The hex digest, or the URL of a file that contains it.
    pub checksum: Option<Arc<str>>,
    /// `sha256`, `md5`, `sha512`.
    pub checksum_type: Option<Arc<str>>,
    /// All facts of the image, including its locations.
    pub facts: Facts,
    /// The digest that machines pull of the image's own reference, as the lock has it.
    pub digest: Option<Digest>,
    /// The region of the machines, for images that exist per region.
    pub region: Option<Arc<str>>,
}

impl Stamp {
    /// Whether the machine pulls the image from a registry, so that the reference verifies the content.
    pub fn is_oci(&self) -> bool {
        is_oci(&self.url)
    }

    /// The same for machines that boot from the first of these locations that the image has: the file there has a format and a digest
    /// of its own.
    pub(super) fn select_location(&self, locations: &[&str]) -> Self {
        let facts = self.facts.select_location(locations.iter().copied());
        if facts == self.facts {
            return self.clone();
        }
        let is_url = self.checksum.as_ref().is_some_and(|it| it.contains("://"));
        let (kind, digest) = checksum_at(&self.url, &facts).unzip();
        let mut stamp = Self {
            format: facts.get(fact::IMAGE_FORMAT).map(|it| it.value.clone()),
            facts,
            ..self.clone()
        };
        if !is_url {
            stamp.checksum_type = kind.map(Arc::from);
            stamp.checksum = digest;
        }
        stamp
    }

    /// The image's reference by digest without its tag, if both are known.
    pub(super) fn digest_reference(&self) -> Option<String> {
        digest_reference(self.facts.text(fact::URI)?, self.digest.as_ref())
    }

    /// A location of the image, by its name in the facts: `glance.name`, `vsphere.template`.
    pub fn location(&self, name: &str) -> Option<&str> {
        let name = format!("{}{name}", fact::LOCATIONS);
        self.facts.text(&name).filter(|text| !text.is_empty())
    }

    /// The locations whose names have a prefix: the rest of the name, and the location.
    pub fn locations<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.facts.iter().filter_map(move |(name, fact)| {
            let name = name.strip_prefix(fact::LOCATIONS)?.strip_prefix(prefix)?;
            Some((name, &*fact.value))
        })
    }

    /// The reference of a container image, without a scheme.
    pub(super) fn container(&self) -> Option<String> {
        let declared = self.facts.text(fact::URI).map(str::to_owned);
        let references = [
            Some(self.url.to_string()),
            self.digest_reference(),
            declared,
        ];
        references.into_iter().flatten().find_map(|url| {
            let rest = url
                .strip_prefix("oci://")
                .or_else(|| url.strip_prefix("docker://"))?;
            (!rest.is_empty()).then(|| rest.to_owned())
        })
    }

    /// The message for an image without a location for a provider; `missing` is the name of the location in the facts.
    pub(super) fn no_location(&self, provider: &str, missing: &str) -> String {
        let image = match &self.key {
            Some(key) => format!("image `{key}`"),
            None => format!("`{}`", self.url),
        };
        format!(
            "nothing says where `{provider}` finds {image}: its record has no `locations.{missing}`"
        )
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::Stamp;
    use crate::image::{Facts, Origin};
    use oci_artifacts::Digest;
    use yaml_tree::place::Place;

    /// A stamp with facts.
    pub(crate) fn stamp_with(url: &str, facts: &[(&str, &str)]) -> Stamp {
        let facts = facts
            .iter()
            .map(|(name, value)| (*name, *value, Place::NONE));
        Stamp {
            key: Some("img".into()),
            url: url.into(),
            format: Some("raw".into()),
            checksum: Some("ab".into()),
            checksum_type: Some("sha256".into()),
            facts: Facts::new(Origin::Values, facts),
            digest: None,
            region: None,
        }
    }

    /// An image with a location for every provider.
    pub(crate) fn everywhere() -> Stamp {
        stamp_with(
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
    fn locations_are_found_by_name_or_prefix() {
        let stamp = everywhere();
        assert_eq!(stamp.location("hcloud.image"), Some("img"));
        assert_eq!(stamp.location("hcloud.command"), None);
        let regions: Vec<(&str, &str)> = stamp.locations("ami.").collect();
        assert_eq!(regions, [("eu-west-1", "ami-0abc")]);
        assert_eq!(
            stamp.container().as_deref(),
            Some("registry.example.org/img:1")
        );
        let digest = Digest::compute(b"");
        let locked = Stamp {
            digest: Some(digest.clone()),
            url: "https://h/f".into(),
            ..stamp
        };
        let pinned = format!("registry.example.org/img@{digest}");
        assert_eq!(locked.container(), Some(pinned));
    }
}
