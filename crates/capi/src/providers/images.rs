//! Which image an object names already: a name in its provider's store, a URL or an OCI reference.
//!
//! What a provider's kinds name is in the provider's own file ([`super::ProviderData::image_names`]); here is how such fields are read, and
//! the kinds of providers that nothing is stamped for. The kinds of all API versions are known, those too that nothing is
//! stamped into. Paths are those of [`super::cluster_api`]. Sources: the CRDs of each provider in their releases since 2021
//! (docs/providers.md).

use std::collections::BTreeSet;
use std::sync::Arc;

use yaml_tree::suggest::did_you_mean;
use yaml_tree::value::{Entry, Node, Number, Value};

use super::{PROVIDERS, ProviderData};
use crate::image::fact;
use crate::location::{Location, Part};

/// The image that a machine's spec names.
#[derive(Clone, Debug)]
pub struct NamedImage<'n> {
    /// What names it.
    pub node: &'n Node,
    /// Its name or URL.
    pub text: Arc<str>,
    /// Which of them it is.
    pub by: NamedBy,
}

/// How an object names its image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedBy {
    /// A name, or a reference that ends with one.
    Name,
    /// A URL of a file.
    Url,
}

/// Where the objects of a provider's kinds name their image.
#[derive(Clone, Copy, Debug)]
pub struct ImageNames {
    /// The beginning of the kinds' names, before `MachineTemplate`, `Machine`, `MachinePool` or `Server`.
    prefix: &'static str,
    /// The ways to name it; the first that is there counts.
    ways: &'static [Way],
    /// The path of a machine's spec in a machine pool.
    pool: &'static [&'static str],
    /// Whether the provider looks up an image with the machine's Kubernetes version where none of them is there.
    has_lookup: bool,
}

/// One way to name an image.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    by: NamedBy,
    /// The field with the name or the URL.
    field: Field,
    /// The fields beside it that distinguish images of one name.
    beside: &'static [Field],
}

/// A field below the machine's spec, and the facts of an image that say the same (docs/providers.md).
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    path: &'static str,
    facts: &'static [&'static str],
    /// Whether an image whose facts lack it lies somewhere else.
    is_required: bool,
}

/// Of providers that nothing is stamped for.
const OTHERS: &[ImageNames] = &[
    ImageNames::new(
        "CloudStack",
        &[Way::name("template.name", &["locations.cloudstack."])],
    ),
    ImageNames::new(
        "Harvester",
        &[Way::name("volumes[].imageName", &["locations.harvester."])],
    ),
    ImageNames::new(
        "IBMPowerVS",
        &[
            Way::name("image.name", &["locations.powervs."]),
            Way::name("imageRef.name", &["locations.powervs."]),
        ],
    ),
    ImageNames::new("IBMVPC", &[Way::name("image.name", &["locations.ibmvpc."])]),
    ImageNames::new("Linode", &[Way::name("image", &["locations.linode."])]),
    ImageNames::new("Maas", &[Way::name("image", &["locations.maas."])]),
    ImageNames::new(
        "Nutanix",
        &[Way::name("image.name", &["locations.nutanix."])],
    ),
    ImageNames::new("Snow", &[Way::name("amiID", &["locations.ami."])]).or_lookup(),
];

impl ImageNames {
    pub(super) const fn new(prefix: &'static str, ways: &'static [Way]) -> Self {
        Self {
            prefix,
            ways,
            pool: &["spec", "template"],
            has_lookup: false,
        }
    }

    /// The provider looks up an image where none is named.
    pub(super) const fn or_lookup(self) -> Self {
        Self {
            has_lookup: true,
            ..self
        }
    }

    /// Machine pools have the machine's spec at another path than `spec.template`.
    pub(super) const fn with_pool(self, pool: &'static [&'static str]) -> Self {
        Self { pool, ..self }
    }
}

impl Way {
    pub(super) const fn name(path: &'static str, facts: &'static [&'static str]) -> Self {
        Self {
            by: NamedBy::Name,
            field: Field::mandatory(path, facts),
            beside: &[],
        }
    }

    pub(super) const fn url(path: &'static str, facts: &'static [&'static str]) -> Self {
        Self {
            by: NamedBy::Url,
            ..Self::name(path, facts)
        }
    }

    pub(super) const fn with_fields(self, beside: &'static [Field]) -> Self {
        Self { beside, ..self }
    }

    fn fields(&self) -> impl Iterator<Item = &Field> {
        [&self.field].into_iter().chain(self.beside)
    }
}

impl Field {
    pub(super) const fn mandatory(path: &'static str, facts: &'static [&'static str]) -> Self {
        Self {
            path,
            facts,
            is_required: true,
        }
    }

    pub(super) const fn optional(path: &'static str, facts: &'static [&'static str]) -> Self {
        Self {
            is_required: false,
            ..Self::mandatory(path, facts)
        }
    }

    /// What a machine's spec says in the field: a text, a number, or tags with commas between them.
    fn text<'n>(&self, spec: &'n Node) -> Option<(&'n Node, Arc<str>)> {
        let node = node_at(spec, self.path)?;
        let text: Arc<str> = match &node.value {
            // A blank at an end is no part of a name.
            Value::String(text) if text.trim().len() < text.len() => text.trim().into(),
            Value::String(text) => Arc::clone(text),
            // A caller that takes it for an image looks for labels.
            Value::Opaque(opaque) => Arc::clone(&opaque.text),
            Value::Number(Number::Int(number)) => number.to_string().into(),
            Value::List(tags) => {
                let tags = tags.iter().map(|tag| tag.value.as_str().map(|tag| &**tag));
                tags.collect::<Option<Vec<&str>>>()?.join(",").into()
            }
            _ => return None,
        };
        (!text.is_empty()).then_some((node, text))
    }
}

/// The endings of kinds whose objects are machines or make them, with the path of a machine's spec; pools have that of their
/// provider.
const ENDINGS: &[(&str, Option<&[&str]>)] = &[
    ("MachineTemplate", Some(&["spec", "template", "spec"])),
    ("MachinePool", None),
    // Of EKS Anywhere, whose clusters may name one image for all machines beside them.
    ("MachineConfig", Some(&["spec"])),
    ("DatacenterConfig", Some(&["spec"])),
    ("Machine", Some(&["spec"])),
    ("Server", Some(&["spec"])),
];

/// Where the objects of a kind name their image.
#[derive(Clone, Copy, Debug)]
pub struct ImageFields {
    /// Before the machine's path: where a template has the object that is made from it.
    above: &'static [&'static str],
    machine: &'static [&'static str],
    names: &'static ImageNames,
}

/// The fields of a kind; none for kinds that are not known.
pub fn image_fields(kind: &str) -> Option<ImageFields> {
    // A ClusterClass makes pools from templates of them.
    let pool = kind
        .strip_suffix("Template")
        .filter(|pool| pool.ends_with("MachinePool"));
    let (made, above): (_, &[&str]) = match pool {
        Some(pool) => (pool, &["spec", "template"]),
        None => (kind, &[]),
    };
    let (ending, machine) = ENDINGS.iter().find(|(ending, _)| made.ends_with(ending))?;
    let prefix = made.strip_suffix(ending)?;
    let names = all_names().find(|names| names.prefix == prefix)?;
    Some(ImageFields {
        above,
        machine: machine.unwrap_or(names.pool),
        names,
    })
}

/// The locations of an image that machines of a provider boot from, the provider's own first: `https`, `oci`.
pub fn locations_of(provider: &ProviderData) -> Vec<&'static str> {
    let ways = provider.image_names.iter().flat_map(|names| names.ways);
    let facts = ways.flat_map(Way::fields).flat_map(|field| field.facts);
    let locations = facts.filter_map(|name| name.strip_prefix(fact::LOCATIONS));
    let locations = locations.filter_map(|name| name.split('.').next());
    let mut seen = BTreeSet::new();
    locations
        .filter(|location| seen.insert(*location))
        .collect()
}

fn all_names() -> impl Iterator<Item = &'static ImageNames> {
    let known = PROVIDERS
        .iter()
        .flat_map(|provider| provider.data().image_names);
    known.chain(OTHERS)
}

impl ImageFields {
    /// The machine's spec of an object.
    pub fn spec(self, object: &Node) -> Option<&Node> {
        object.get_path(self.above)?.get_path(self.machine)
    }

    /// The image that a machine's spec names.
    pub fn image(self, spec: &Node) -> Option<NamedImage<'_>> {
        let mut ways = self.names.ways.iter();
        ways.find_map(|way| {
            let (node, text) = way.field.text(spec)?;
            let by = way.by;
            Some(NamedImage { node, text, by })
        })
    }

    /// The first key that is almost the one on the way to the image of a machine's spec, and that one.
    pub fn find_misspelled_key(self, spec: &Node) -> Option<(&Entry, &'static str)> {
        let mut ways = self.names.ways.iter();
        ways.find_map(|way| {
            let mut parts = way
                .field
                .path
                .split('.')
                .take_while(|part| !part.ends_with("[]"));
            let mut node = spec;
            let missing = parts.find(|part| match node.get_path(&[part]) {
                Some(below) => {
                    node = below;
                    false
                }
                None => true,
            })?;
            let mut entries = node.entries(&[]);
            let near = entries.find(|entry| did_you_mean(&entry.key, [missing]).is_some())?;
            Some((near, missing))
        })
    }

    /// The location of the image that a machine's spec names.
    pub fn location(self, spec: &Node) -> Option<Location> {
        let mut ways = self.names.ways.iter();
        let way = ways.find(|way| way.field.text(spec).is_some())?;
        let parts = way.fields().filter_map(|field| {
            Some(Part {
                facts: field.facts,
                text: field.text(spec)?.1,
                is_required: field.is_required,
            })
        });
        Some(Location::new(parts.collect()))
    }

    /// Whether a machine's spec names an image, or any part of one.
    pub fn has_part(self, spec: &Node) -> bool {
        let is_there = |path: &str| {
            let whole = path.rsplit_once('.').map_or(path, |(whole, _)| whole);
            node_at(spec, whole.trim_end_matches("[]")).is_some()
        };
        self.names.ways.iter().any(|way| is_there(way.field.path))
    }

    /// Whether the provider looks up the image by the machine's Kubernetes version: its default, or a pattern with that version.
    pub fn is_looked_up(self, spec: &Node) -> bool {
        self.image(spec).map_or(self.names.has_lookup, |pattern| {
            let names = ["K8sVersion", "KubernetesVersion"];
            pattern.text.contains("{{") && names.iter().any(|name| pattern.text.contains(name))
        })
    }

    /// Whether a change at a JSON pointer of the object may change its image.
    pub fn may_change(self, pointer: &str) -> bool {
        let changed: Vec<&str> = pointer.split('/').skip(1).collect();
        let mut fields = self.names.ways.iter().flat_map(Way::fields);
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

/// What a provider fills in itself where it looks up an image, beside the version of Kubernetes.
const LOOKED_UP: [&str; 4] = ["BaseOS", "BaseRegistry", "OSDistro", "OSVersion"];

/// The pattern of an image without what its provider fills in: `capa-ami-{{.BaseOS}}-1.34.1-*`.
pub fn strip_lookup(pattern: &str) -> String {
    let mut parts = pattern.split("{{");
    let mut stripped = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once("}}") {
            Some((name, rest)) if LOOKED_UP.contains(&name.trim().trim_start_matches('.')) => {
                stripped += rest;
            }
            _ => stripped = stripped + "{{" + part,
        }
    }
    stripped
}

/// The value at a path of keys; the first item of a list that has the rest of the path, behind `[]`.
pub fn node_at<'n>(node: &'n Node, path: &str) -> Option<&'n Node> {
    let Some((part, rest)) = path.split_once('.') else {
        return node.get_path(&[path]);
    };
    match part.strip_suffix("[]") {
        Some(key) => {
            let items = node.get_path(&[key])?.value.as_list()?;
            items.iter().find_map(|item| node_at(item, rest))
        }
        None => node_at(node.get_path(&[part])?, rest),
    }
}

#[cfg(test)]
mod tests {
    use super::{all_names, image_fields};
    use std::collections::BTreeSet;

    use crate::image::{Facts, Image};
    use crate::providers::stamp::tests::stamp_with;
    use crate::providers::{PROVIDERS, apply_edits};
    use yaml_tree::engine::Engine;
    use yaml_tree::place::FileId;
    use yaml_tree::value::{Map, Node, Value};

    #[test]
    fn each_prefix_is_of_one_provider() {
        let mut seen = BTreeSet::new();
        assert!(all_names().all(|names| seen.insert(names.prefix)));
    }

    #[test]
    fn an_image_is_read_where_it_is_stamped() {
        for kind in PROVIDERS.iter().flat_map(|provider| provider.data().kinds) {
            if let Some(fields) = image_fields(kind.kind) {
                assert_eq!(fields.machine, kind.machine, "{}", kind.kind);
            }
        }
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
        &[("proxmox.template-id", "100"), ("proxmox.node", "pve")],
        &[("proxmox.tags", "ubuntu,k8s-1.34")],
        &[("tinkerbell.image", "https://h/i.raw.gz")],
        &[("vsphere.template", "t"), ("vsphere.snapshot", "s")],
        &[("vsphere.image-name", "i")],
    ];

    /// An image with facts, and no others.
    fn image(facts: Facts) -> Image {
        Image {
            key: "img".into(),
            name: "img".into(),
            artifact: "img".into(),
            place: yaml_tree::place::Place::NONE,
            uri: None,
            digest: None,
            pulled: None,
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
                let kinds = provider.data().kinds.iter();
                kinds.map(move |kind| (provider, kind, kind.versions[0]))
            }) {
                let Some(fields) = image_fields(kind.kind) else {
                    continue;
                };
                let of = |facts: &[(&str, &str)]| {
                    let edits = provider
                        .stamp(kind, version, &stamp_with(url, facts))
                        .ok()?;
                    let object = match provider.data().name {
                        "kubevirt" => {
                            yaml_tree::values(volumes, FileId(0), Engine::Kubectl).expect("YAML")
                        }
                        _ => Node::from_value(Map::default()),
                    };
                    let Value::Map(object) = object.value else {
                        return None;
                    };
                    let object = apply_edits(Map::clone(&object), &edits).ok()?;
                    fields.location(fields.spec(&Node::from_value(object))?)
                };
                let known = |facts: &[(&str, &str)]| image(stamp_with(url, facts).facts);
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
