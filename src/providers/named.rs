//! Which image an object of a provider names already: a name in the provider's store, a URL or an OCI reference.
//!
//! The kinds of all API versions are here, those too that nothing is stamped into. Paths are those of
//! [`super::cluster_api`]. Sources: the CRDs of each provider in their releases since 2021 (docs/providers.md).

use crate::model::value::Node;

/// How an object names its image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedBy {
    /// A name, or a reference that ends with one.
    Name,
    /// A URL of a file.
    Url,
}

/// Where an object of a kind names its image.
struct ProviderImage {
    /// The beginning of the kind's name, before `MachineTemplate`, `Machine`, `MachinePool` or `Server`.
    provider: &'static str,
    /// Below the machine's spec; the first that is there counts.
    paths: &'static [(&'static str, NamedBy)],
    /// Whether the provider looks up an image with the machine's Kubernetes version where none of them is there.
    has_lookup: bool,
}

const FIELDS: &[ProviderImage] = &[
    of_lookup(
        "AWS",
        &[
            ("ami.id", NamedBy::Name),
            ("imageLookupFormat", NamedBy::Name),
        ],
    ),
    of_lookup(
        "Azure",
        &[
            ("image.id", NamedBy::Name),
            ("image.computeGallery.name", NamedBy::Name),
            ("image.sharedGallery.name", NamedBy::Name),
            ("image.marketplace.sku", NamedBy::Name),
        ],
    ),
    of("CloudStack", &[("template.name", NamedBy::Name)]),
    of_lookup("Dev", &[("backend.docker.customImage", NamedBy::Name)]),
    of_lookup("Docker", &[("customImage", NamedBy::Name)]),
    of_lookup(
        "GCP",
        &[("image", NamedBy::Name), ("imageFamily", NamedBy::Name)],
    ),
    of(
        "HCloud",
        &[("imageName", NamedBy::Name), ("imageURL", NamedBy::Url)],
    ),
    of("Harvester", &[("volumes[].imageName", NamedBy::Name)]),
    of(
        "HetznerBareMetal",
        &[
            ("installImage.image.url", NamedBy::Url),
            ("installImage.image.path", NamedBy::Url),
        ],
    ),
    of(
        "IBMPowerVS",
        &[
            ("image.name", NamedBy::Name),
            ("imageRef.name", NamedBy::Name),
        ],
    ),
    of("IBMVPC", &[("image.name", NamedBy::Name)]),
    of(
        "Kubevirt",
        &[
            (
                "virtualMachineTemplate.spec.template.spec.volumes[].containerDisk.image",
                NamedBy::Name,
            ),
            (
                "virtualMachineTemplate.spec.dataVolumeTemplates[].spec.source.registry.url",
                NamedBy::Name,
            ),
            (
                "virtualMachineTemplate.spec.dataVolumeTemplates[].spec.source.http.url",
                NamedBy::Url,
            ),
        ],
    ),
    of("Linode", &[("image", NamedBy::Name)]),
    of("Maas", &[("image", NamedBy::Name)]),
    of("Metal3", &[("image.url", NamedBy::Url)]),
    of("Nutanix", &[("image.name", NamedBy::Name)]),
    of(
        "OpenStack",
        &[
            ("image.filter.name", NamedBy::Name),
            ("image.imageRef.name", NamedBy::Name),
            ("image.id", NamedBy::Name),
            ("image.name", NamedBy::Name),
            ("image", NamedBy::Name),
        ],
    ),
    of_lookup("Snow", &[("amiID", NamedBy::Name)]),
    of_lookup(
        "Tinkerbell",
        &[
            ("imageLookupFormat", NamedBy::Name),
            ("osImageURL", NamedBy::Url),
        ],
    ),
    of(
        "VSphere",
        &[("template", NamedBy::Name), ("imageName", NamedBy::Name)],
    ),
];

const fn of(provider: &'static str, paths: &'static [(&'static str, NamedBy)]) -> ProviderImage {
    ProviderImage {
        provider,
        paths,
        has_lookup: false,
    }
}

const fn of_lookup(
    provider: &'static str,
    paths: &'static [(&'static str, NamedBy)],
) -> ProviderImage {
    ProviderImage {
        has_lookup: true,
        ..of(provider, paths)
    }
}

/// The endings of kinds whose objects are machines or make them, with the path of a machine's spec.
const KINDS: &[(&str, &[&str])] = &[
    ("MachineTemplate", &["spec", "template", "spec"]),
    ("MachinePool", &["spec", "template"]),
    // Of EKS Anywhere, whose clusters may name one image for all machines beside them.
    ("MachineConfig", &["spec"]),
    ("DatacenterConfig", &["spec"]),
    ("Machine", &["spec"]),
    ("Server", &["spec"]),
];

/// Where the objects of a kind name their image.
#[derive(Clone, Copy, Debug)]
pub struct ImageFields {
    machine: &'static [&'static str],
    paths: &'static [(&'static str, NamedBy)],
    has_lookup: bool,
}

/// The fields of a kind; none for kinds that are not known.
pub fn image_fields(kind: &str) -> Option<ImageFields> {
    KINDS.iter().find_map(|(ending, machine)| {
        let provider = kind.strip_suffix(ending)?;
        let field = FIELDS.iter().find(|field| field.provider == provider)?;
        Some(ImageFields {
            machine,
            paths: field.paths,
            has_lookup: field.has_lookup,
        })
    })
}

impl ImageFields {
    /// The machine's spec of an object.
    pub fn spec(self, object: &Node) -> Option<&Node> {
        object.at(self.machine)
    }

    /// The image that a machine's spec names: the node that says so, and how.
    pub fn image(self, spec: &Node) -> Option<(&Node, NamedBy)> {
        self.paths.iter().find_map(|(path, by)| {
            let node = below(spec, path)?;
            let is_text = node.value.as_str().is_some_and(|text| !text.is_empty());
            is_text.then_some((node, *by))
        })
    }

    /// Whether a machine's spec names an image, or any part of one.
    pub fn has_part(self, spec: &Node) -> bool {
        let is_there = |path: &str| {
            let whole = path.rsplit_once('.').map_or(path, |(whole, _)| whole);
            below(spec, whole.trim_end_matches("[]")).is_some()
        };
        self.paths.iter().any(|(path, _)| is_there(path))
    }

    /// Whether the provider looks up the image by the machine's Kubernetes version: its default, or a pattern with that version.
    pub fn is_looked_up(self, spec: &Node) -> bool {
        let pattern = self.image(spec).and_then(|(node, _)| node.value.as_str());
        pattern.map_or(self.has_lookup, |pattern| {
            let names = ["K8sVersion", "KubernetesVersion"];
            pattern.contains("{{") && names.iter().any(|name| pattern.contains(name))
        })
    }

    /// Whether a change at a JSON pointer of the object may change its image.
    pub fn may_change(self, pointer: &str) -> bool {
        let changed: Vec<&str> = pointer.split('/').skip(1).collect();
        self.paths.iter().any(|(path, _)| {
            // The key of a list has an index behind it, which may be any.
            let keys = path
                .split('.')
                .flat_map(|part| match part.strip_suffix("[]") {
                    Some(list) => vec![Some(list), None],
                    None => vec![Some(part)],
                });
            let field = self.machine.iter().copied().map(Some).chain(keys);
            let mut parts = field.zip(&changed);
            parts.all(|(key, changed)| key.is_none_or(|key| key == *changed))
        })
    }
}

/// The value at a path of keys; the first item of a list that has the rest of the path, behind `[]`.
pub fn below<'n>(node: &'n Node, path: &str) -> Option<&'n Node> {
    let Some((part, rest)) = path.split_once('.') else {
        return node.at(&[path]);
    };
    match part.strip_suffix("[]") {
        Some(key) => {
            let items = node.at(&[key])?.value.as_list()?;
            items.iter().find_map(|item| below(item, rest))
        }
        None => below(node.at(&[part])?, rest),
    }
}

#[cfg(test)]
mod tests {
    use super::{FIELDS, NamedBy, image_fields};
    use crate::model::engine::Engine;
    use crate::model::place::FileId;
    use crate::yaml;

    #[test]
    fn providers_are_sorted() {
        assert!(FIELDS.is_sorted_by_key(|field| field.provider));
    }

    #[test]
    fn a_pointer_to_a_part_of_the_image_or_above_it_may_change_it() {
        let may_change = |kind: &str, pointer: &str| {
            image_fields(kind)
                .expect("a known kind")
                .may_change(pointer)
        };
        for pointer in [
            "",
            "/spec",
            "/spec/template/spec",
            "/spec/template/spec/image/url",
            "/spec/template/spec/image/url/x",
        ] {
            assert!(may_change("Metal3MachineTemplate", pointer), "{pointer}");
        }
        for pointer in [
            "/metadata",
            "/spec/template/spec/imageName",
            "/spec/template/spec/image/format",
        ] {
            assert!(!may_change("Metal3MachineTemplate", pointer), "{pointer}");
        }
        let disk = "/spec/template/spec/virtualMachineTemplate/spec/template/spec/volumes/0/containerDisk/image";
        assert!(may_change("KubevirtMachineTemplate", disk));
    }

    #[test]
    fn the_image_is_found_where_the_kind_has_it() {
        let found = |kind: &str, spec: &str| {
            let node = yaml::values(spec, FileId(0), Engine::Kubectl).expect("YAML");
            let (node, by) = image_fields(kind)?.image(&node)?;
            Some((node.value.as_str()?.to_string(), by))
        };
        let metal3 = found("Metal3MachineTemplate", "image: {url: http://h/a.raw}");
        assert_eq!(metal3, Some(("http://h/a.raw".to_owned(), NamedBy::Url)));
        let disk = "virtualMachineTemplate: {spec: {template: {spec: {volumes: [{name: a}, {containerDisk: {image: 'q/i:v1.30.1'}}]}}}}";
        let kubevirt = found("KubevirtMachineTemplate", disk);
        assert_eq!(kubevirt, Some(("q/i:v1.30.1".to_owned(), NamedBy::Name)));
        assert_eq!(
            found("OpenStackMachineTemplate", "image: {filter: {tags: [a]}}"),
            None
        );
        let old = found("OpenStackMachineTemplate", "image: ubuntu");
        assert_eq!(old, Some(("ubuntu".to_owned(), NamedBy::Name)));
        assert_eq!(found("KubeadmConfigTemplate", "image: x"), None);
    }
}
