//! Which image an object of a provider names already: a name in the provider's store, a URL or an OCI reference.
//!
//! The kinds of all API versions are here, those too that nothing is stamped into. Paths are those of
//! [`super::cluster_api`]. Sources: the CRDs of each provider in their releases since 2021 (docs/providers.md).

use std::sync::Arc;

use super::{PROVIDERS, Provider};
use crate::image::fact;
use crate::location::{Location, Part};
use yaml_tree::value::Node;

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
    /// The ways to name it; the first that is there counts.
    ways: &'static [Way],
    /// Whether the provider looks up an image with the machine's Kubernetes version where none of them is there.
    has_lookup: bool,
}

/// One way to name an image.
#[derive(Clone, Copy, Debug)]
struct Way {
    by: NamedBy,
    /// The field with the name or the URL.
    field: Field,
    /// The fields beside it that distinguish images of one name.
    beside: &'static [Field],
}

/// A field below the machine's spec, and the facts of an image that say the same (docs/providers.md).
#[derive(Clone, Copy, Debug)]
struct Field {
    path: &'static str,
    facts: &'static [&'static str],
    /// Whether an image whose facts lack it lies somewhere else.
    is_required: bool,
}

/// The facts that say where a file or an artifact is fetched from.
const FETCHED: &[&str] = &[fact::URI, "locations.https", "locations.oci"];
const CONTAINER: &[&str] = &["locations.docker.image", fact::URI, "locations.oci"];
const GLANCE_NAME: &[&str] = &["locations.glance.name"];
const TINKERBELL: &[&str] = &[
    "locations.tinkerbell.image",
    fact::URI,
    "locations.https",
    "locations.oci",
];

const FIELDS: &[ProviderImage] = &[
    of_lookup(
        "AWS",
        &[
            name("ami.id", &["locations.ami."]),
            name("imageLookupFormat", &["locations.ami.name"]).with(&[
                // Without it CAPA looks among its own images.
                required("imageLookupOrg", &["locations.ami.org"]),
                optional("imageLookupBaseOS", &["locations.ami.base-os"]),
            ]),
        ],
    ),
    of_lookup(
        "Azure",
        &[
            name("image.id", &["locations.azure.id"]),
            name("image.computeGallery.name", &["locations.azure.definition"]).with(&[
                required("image.computeGallery.gallery", &["locations.azure.gallery"]),
                required("image.computeGallery.version", &["locations.azure.version"]),
                optional(
                    "image.computeGallery.subscriptionID",
                    &["locations.azure.subscription"],
                ),
                optional(
                    "image.computeGallery.resourceGroup",
                    &["locations.azure.resource-group"],
                ),
            ]),
            name("image.sharedGallery.name", &["locations.azure.definition"]).with(&[
                required("image.sharedGallery.gallery", &["locations.azure.gallery"]),
                required("image.sharedGallery.version", &["locations.azure.version"]),
                optional(
                    "image.sharedGallery.subscriptionID",
                    &["locations.azure.subscription"],
                ),
                optional(
                    "image.sharedGallery.resourceGroup",
                    &["locations.azure.resource-group"],
                ),
            ]),
            name("image.marketplace.sku", &["locations.azure.sku"]).with(&[
                required(
                    "image.marketplace.publisher",
                    &["locations.azure.publisher"],
                ),
                required("image.marketplace.offer", &["locations.azure.offer"]),
                required("image.marketplace.version", &["locations.azure.version"]),
            ]),
        ],
    ),
    of(
        "CloudStack",
        &[name("template.name", &["locations.cloudstack."])],
    ),
    of_lookup(
        "Dev",
        &[
            name("backend.docker.customImage", CONTAINER),
            // Of the first DevMachinePool.
            name("template.docker.customImage", CONTAINER),
        ],
    ),
    of_lookup("Docker", &[name("customImage", CONTAINER)]),
    of_lookup(
        "GCP",
        &[
            name("image", &["locations.gce.image"]),
            name("imageFamily", &["locations.gce.family"]),
        ],
    ),
    of(
        "HCloud",
        &[
            name("imageName", &["locations.hcloud.image"]),
            url("imageURL", &["locations.hcloud.url"])
                .with(&[optional("imageURLCommand", &["locations.hcloud.command"])]),
        ],
    ),
    of(
        "Harvester",
        &[name("volumes[].imageName", &["locations.harvester."])],
    ),
    of(
        "HetznerBareMetal",
        &[
            url(
                "installImage.image.url",
                &["locations.hetzner.url", fact::URI, "locations.https"],
            ),
            url("installImage.image.path", &["locations.hetzner.path"]),
        ],
    ),
    of(
        "IBMPowerVS",
        &[
            name("image.name", &["locations.powervs."]),
            name("imageRef.name", &["locations.powervs."]),
        ],
    ),
    of("IBMVPC", &[name("image.name", &["locations.ibmvpc."])]),
    of(
        "Kubevirt",
        &[
            name(
                "virtualMachineTemplate.spec.template.spec.volumes[].containerDisk.image",
                &[
                    "locations.kubevirt.container-disk",
                    fact::URI,
                    "locations.oci",
                ],
            ),
            name(
                "virtualMachineTemplate.spec.dataVolumeTemplates[].spec.source.registry.url",
                &["locations.kubevirt.registry", fact::URI, "locations.oci"],
            ),
            url(
                "virtualMachineTemplate.spec.dataVolumeTemplates[].spec.source.http.url",
                &["locations.kubevirt.http", fact::URI, "locations.https"],
            ),
        ],
    ),
    of("Linode", &[name("image", &["locations.linode."])]),
    of("Maas", &[name("image", &["locations.maas."])]),
    of("Metal3", &[url("image.url", FETCHED)]),
    of("Nutanix", &[name("image.name", &["locations.nutanix."])]),
    of(
        "OpenStack",
        &[
            name("image.filter.name", GLANCE_NAME),
            name("image.imageRef.name", &["locations.glance.image-ref"]),
            name(
                "image.id",
                &["locations.glance.id", "openstack_glance_uuid"],
            ),
            name("image.name", GLANCE_NAME),
            name("image", GLANCE_NAME),
        ],
    ),
    of_lookup("Snow", &[name("amiID", &["locations.ami."])]),
    of_lookup(
        "Tinkerbell",
        &[
            name("imageLookupFormat", TINKERBELL).with(&[
                optional(
                    "imageLookupBaseRegistry",
                    &["locations.tinkerbell.base-registry"],
                ),
                optional("imageLookupOSDistro", &["locations.tinkerbell.os-distro"]),
                optional("imageLookupOSVersion", &["locations.tinkerbell.os-version"]),
            ]),
            url("osImageURL", TINKERBELL),
        ],
    ),
    of(
        "VSphere",
        &[
            name("template", &["locations.vsphere.template"])
                .with(&[optional("snapshot", &["locations.vsphere.snapshot"])]),
            name(
                "imageName",
                &["locations.vsphere.image-name", "locations.vsphere.template"],
            ),
        ],
    ),
];

const fn of(provider: &'static str, ways: &'static [Way]) -> ProviderImage {
    ProviderImage {
        provider,
        ways,
        has_lookup: false,
    }
}

const fn of_lookup(provider: &'static str, ways: &'static [Way]) -> ProviderImage {
    ProviderImage {
        has_lookup: true,
        ..of(provider, ways)
    }
}

const fn name(path: &'static str, facts: &'static [&'static str]) -> Way {
    Way {
        by: NamedBy::Name,
        field: required(path, facts),
        beside: &[],
    }
}

const fn url(path: &'static str, facts: &'static [&'static str]) -> Way {
    Way {
        by: NamedBy::Url,
        ..name(path, facts)
    }
}

const fn required(path: &'static str, facts: &'static [&'static str]) -> Field {
    Field {
        path,
        facts,
        is_required: true,
    }
}

const fn optional(path: &'static str, facts: &'static [&'static str]) -> Field {
    Field {
        is_required: false,
        ..required(path, facts)
    }
}

impl Way {
    const fn with(self, beside: &'static [Field]) -> Self {
        Self { beside, ..self }
    }

    fn fields(&self) -> impl Iterator<Item = &Field> {
        [&self.field].into_iter().chain(self.beside)
    }
}

impl Field {
    /// What a machine's spec says in the field.
    fn text<'n>(&self, spec: &'n Node) -> Option<(&'n Node, &'n Arc<str>)> {
        let node = below(spec, self.path)?;
        let text = node.value.as_str()?;
        (!text.is_empty()).then_some((node, text))
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

/// The path of a machine's spec, where the kind has another one than its ending says: stamping has it too, or nothing is stamped
/// into the kind.
fn own_path(kind: &str) -> Option<&'static [&'static str]> {
    let mut stamped = PROVIDERS.iter().flat_map(|provider| provider.kinds());
    let stamped = stamped.find(|stamped| stamped.kind == kind);
    match stamped {
        Some(stamped) => Some(stamped.machine),
        None => (kind == "DevMachinePool").then_some(&["spec"]),
    }
}

/// Where the objects of a kind name their image.
#[derive(Clone, Copy, Debug)]
pub struct ImageFields {
    /// Before the machine's path: where a template has the object that is made from it.
    above: &'static [&'static str],
    machine: &'static [&'static str],
    ways: &'static [Way],
    has_lookup: bool,
}

/// The fields of a kind; none for kinds that are not known.
pub fn image_fields(kind: &str) -> Option<ImageFields> {
    // A ClusterClass makes pools from templates of them.
    let pool = kind.strip_suffix("Template");
    let pool = pool.filter(|pool| pool.ends_with("MachinePool"));
    let (made, above): (_, &[&str]) = match pool {
        Some(pool) => (pool, &["spec", "template"]),
        None => (kind, &[]),
    };
    let (ending, machine) = KINDS.iter().find(|(ending, _)| made.ends_with(ending))?;
    let provider = made.strip_suffix(ending)?;
    let field = FIELDS.iter().find(|field| field.provider == provider)?;
    Some(ImageFields {
        above,
        machine: own_path(made).unwrap_or(machine),
        ways: field.ways,
        has_lookup: field.has_lookup,
    })
}

impl ImageFields {
    /// The machine's spec of an object.
    pub fn spec(self, object: &Node) -> Option<&Node> {
        object.at(self.above)?.at(self.machine)
    }

    /// The image that a machine's spec names: the node that says so, and how.
    pub fn image(self, spec: &Node) -> Option<(&Node, NamedBy)> {
        let ways = self.ways.iter();
        { ways }.find_map(|way| Some((way.field.text(spec)?.0, way.by)))
    }

    /// The location of the image that a machine's spec names.
    pub fn location(self, spec: &Node) -> Option<Location> {
        let way = { self.ways.iter() }.find(|way| way.field.text(spec).is_some())?;
        let parts = way.fields().filter_map(|field| {
            Some(Part {
                facts: field.facts,
                text: Arc::clone(field.text(spec)?.1),
                is_required: field.is_required,
            })
        });
        Some(Location::of(parts.collect()))
    }

    /// Whether a machine's spec names an image, or any part of one.
    pub fn has_part(self, spec: &Node) -> bool {
        let is_there = |path: &str| {
            let whole = path.rsplit_once('.').map_or(path, |(whole, _)| whole);
            below(spec, whole.trim_end_matches("[]")).is_some()
        };
        { self.ways.iter() }.any(|way| is_there(way.field.path))
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
        let mut fields = self.ways.iter().flat_map(Way::fields);
        fields.any(|field| {
            // The key of a list has an index behind it, which may be any.
            let keys = field
                .path
                .split('.')
                .flat_map(|part| match part.strip_suffix("[]") {
                    Some(list) => vec![Some(list), None],
                    None => vec![Some(part)],
                });
            let machine = self.above.iter().chain(self.machine);
            let field = machine.copied().map(Some).chain(keys);
            let mut parts = field.zip(&changed);
            parts.all(|(key, changed)| key.is_none_or(|key| key == *changed))
        })
    }
}

/// The location of the image that a pool's settings name (`image_name`).
pub fn location_of(provider: &dyn Provider, settings: &Node) -> Option<Location> {
    let kind = provider.kinds().first()?;
    let machine = provider.machine(settings, kind.versions.first()?);
    image_fields(kind.kind)?.location(&Node::computed(machine))
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
    use crate::image::{Facts, Image};
    use crate::providers::stamp::tests::with;
    use crate::providers::{PROVIDERS, apply_edits};
    use yaml_tree::engine::Engine;
    use yaml_tree::place::FileId;
    use yaml_tree::value::{Map, Node, Value};

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
            let node = yaml_tree::values(spec, FileId(0), Engine::Kubectl).expect("YAML");
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

    /// The ways to say where an image lies, whole, of every provider.
    const WAYS: &[&[(&str, &str)]] = &[
        &[("uri", "oci://quay.io/x/y:1")],
        &[("uri", "docker://quay.io/x/y:1")],
        &[("ami.eu-west-1", "ami-1")],
        &[
            ("ami.name", "noble-*"),
            ("ami.org", "1"),
            ("ami.base-os", "ubuntu"),
        ],
        &[("azure.id", "/images/img")],
        &[
            ("azure.gallery", "g"),
            ("azure.definition", "d"),
            ("azure.version", "1.34.1"),
            ("azure.subscription", "s"),
            ("azure.resource-group", "r"),
        ],
        &[
            ("azure.publisher", "p"),
            ("azure.offer", "o"),
            ("azure.sku", "s"),
            ("azure.version", "1.34.1"),
        ],
        &[("docker.image", "kindest/node:v1.34.1")],
        &[("gce.image", "foo")],
        &[("gce.image", "foo"), ("gce.project", "p")],
        &[("gce.image", "projects/p/global/images/foo")],
        &[("gce.family", "foo"), ("gce.project", "p")],
        &[("glance.id", "u")],
        &[("glance.image-ref", "r")],
        &[("glance.name", "n")],
        &[("hcloud.image", "i")],
        &[("hcloud.url", "https://h/i"), ("hcloud.command", "c")],
        &[("hetzner.path", "/images/i.tar.gz")],
        &[("hetzner.url", "https://h/i.tar.gz")],
        &[("kubevirt.container-disk", "quay.io/x/y:1")],
        &[("kubevirt.registry", "docker://quay.io/x/y:1")],
        &[("kubevirt.http", "https://h/i.qcow2")],
        &[("tinkerbell.image", "https://h/i.raw.gz")],
        &[("vsphere.template", "t"), ("vsphere.snapshot", "s")],
        &[("vsphere.image-name", "i")],
    ];

    /// An image with facts, and no others.
    fn image(facts: Facts) -> Image {
        Image {
            key: "img".into(),
            artifact: "img".into(),
            place: yaml_tree::place::Place::NONE,
            uri: None,
            digest: None,
            facts,
            enabled: None,
            built: false,
            list: "images",
            registry: None,
        }
    }

    #[test]
    fn what_is_stamped_of_an_image_is_where_it_lies_and_no_other_does() {
        let volumes = "spec: {template: {spec: {virtualMachineTemplate: {spec: {template: {spec: {volumes: [{containerDisk: {}}]}}, dataVolumeTemplates: [{spec: {}}]}}}}}";
        let mut stamped = 0;
        for way in WAYS {
            let names: Vec<String> = way
                .iter()
                .map(|(name, _)| match *name {
                    "uri" => (*name).to_owned(),
                    _ => format!("locations.{name}"),
                })
                .collect();
            let facts: Vec<(&str, &str)> = { names.iter().zip(*way) }
                .map(|(name, (_, text))| (&**name, *text))
                .collect();
            let url = facts.iter().find(|(name, _)| *name == "uri");
            let url = url.map_or("", |(_, url)| *url);
            for (provider, kind, version) in PROVIDERS.iter().flat_map(|provider| {
                let kinds = provider.kinds().iter();
                kinds.map(move |kind| (provider, kind, kind.versions[0]))
            }) {
                let Some(fields) = image_fields(kind.kind) else {
                    continue;
                };
                let of = |facts: &[(&str, &str)]| {
                    let edits = provider.stamp(kind, version, &with(url, facts)).ok()?;
                    let object = match provider.name() {
                        "kubevirt" => {
                            yaml_tree::values(volumes, FileId(0), Engine::Kubectl).expect("YAML")
                        }
                        _ => Node::computed(Map::default()),
                    };
                    let Value::Map(object) = object.value else {
                        return None;
                    };
                    let object = apply_edits(Map::clone(&object), &edits).ok()?;
                    fields.location(fields.spec(&Node::computed(object))?)
                };
                let known = |facts: &[(&str, &str)]| image(with(url, facts).facts);
                let Some(location) = of(&facts).filter(|location| {
                    // A provider that takes another image, by its key or its URL, says nothing of this one.
                    facts.iter().any(|(name, _)| location.is_in(name))
                }) else {
                    continue;
                };
                stamped += 1;
                assert!(location.holds(&known(&facts)), "{}: {facts:?}", kind.kind);
                for index in 0..facts.len() {
                    let mut others = facts.clone();
                    others[index].1 = "another";
                    assert!(
                        !location.is_in(facts[index].0) || !location.holds(&known(&others)),
                        "{}: {others:?}",
                        kind.kind
                    );
                }
            }
        }
        assert!(stamped > WAYS.len(), "{stamped}");
    }
}
