//! The infrastructure providers: which fields of their objects contain the image, one file each.
//!
//! A provider is data and pure functions: its kinds, the paths of their image fields, the values of these fields for an image,
//! the formats that its machines boot, and the effect of a change in place. Rendering and stamping share it.

mod capa;
mod capg;
mod capm3;
mod capo;
mod capv;
mod capz;
pub mod cluster_api;
mod docker;
mod elemental;
mod field;
mod hetzner;
mod images;
mod infra_cluster;
mod kind;
mod kubevirt;
mod proxmox;
mod stamp;
mod tinkerbell;

use std::borrow::Cow;
use std::sync::Arc;

use yaml_tree::value::{Entry, Map, Node};

use crate::labels::LabelSelector;
use crate::location::Location;
pub use capo::is_searched_by_md5;
pub use field::{Edit, FieldStep, apply_edits, is_meant};
pub use images::{
    ImageFields, ImageNames, NamedBy, NamedImage, image_fields, locations_of, node_at, strip_lookup,
};
pub use infra_cluster::{BlankEndpoint, InfraCluster};
pub use kind::{InPlaceChange, Kind, is_refused_later};
pub use stamp::Stamp;

/// An infrastructure provider of Cluster API.
pub trait Provider: Sync {
    /// What it is called, what it makes, and which settings it reads.
    fn data(&self) -> &'static ProviderData;

    /// The kind of infrastructure cluster beside machine templates of a kind.
    fn infra_cluster(&self, _template: &Kind) -> &'static InfraCluster {
        &self.data().infra_cluster
    }

    /// The hosts that a pool's machines may claim: all of them if there is no selector. None if the provider creates machines, or
    /// if the selector is not supported.
    fn hosts_of(&self, settings: &Node) -> Option<LabelSelector> {
        match settings.get_path(&[self.data().host_selector?]) {
            Some(node) => LabelSelector::read(node),
            None => Some(LabelSelector::default()),
        }
    }

    /// The image, as changes of fields below the machine's spec, for a kind and version.
    ///
    /// # Errors
    /// The location of the image is not known, or the webhook would refuse it; the message is one clause.
    fn image(&self, kind: &Kind, version: &str, stamp: &Stamp) -> Result<Vec<Edit>, String>;

    /// The image, as changes of fields of the whole object, for stamping.
    ///
    /// # Errors
    /// As [`Provider::image`].
    fn stamp(&self, kind: &Kind, version: &str, stamp: &Stamp) -> Result<Vec<Edit>, String> {
        let stamp = stamp.select_location(&locations_of(self.data()));
        let edits = self.image(kind, version, &stamp)?;
        let below = |edit: Edit| edit.with_prefix(kind.machine);
        Ok(edits.into_iter().map(below).collect())
    }

    /// The machine's spec from a pool's settings, without the image.
    fn machine(&self, settings: &Node, _version: &str) -> Map {
        self.data().machine(settings)
    }

    /// The fields outside the machine's spec.
    fn template_fields(&self, _settings: &Node, _version: &str) -> TemplateFields {
        TemplateFields::default()
    }

    /// The location of the image that a pool's settings name (`image_name`).
    fn settings_location(&self, settings: &Node) -> Option<Location> {
        let kind = self.data().kinds.first()?;
        let machine = self.machine(settings, kind.versions.first()?);
        image_fields(kind.kind)?.location(&Node::from_value(machine))
    }

    /// What the provider's webhook would refuse in the settings, one clause each.
    fn problems(&self, _settings: &Node, _version: &str) -> Vec<String> {
        Vec::new()
    }

    /// Whether the settings deploy something themselves, so that a template without an image is valid.
    fn needs_no_image(&self, _settings: &Node) -> bool {
        false
    }
}

/// What a provider is, without looking at a pool.
#[derive(Clone, Copy, Debug)]
pub struct ProviderData {
    /// The name in `cluster.capi_providers.infra_provider`.
    pub name: &'static str,
    /// Another name for it: Sylva's charts write `capd`.
    pub alias: Option<&'static str>,
    /// The kinds of objects that contain an image: machine templates first, the default one at the start.
    pub kinds: &'static [Kind],
    /// The kind of infrastructure cluster beside its machine templates, or beside most of them.
    pub infra_cluster: InfraCluster,
    /// Where its kinds name an image, those too that nothing is stamped into.
    pub image_names: &'static [ImageNames],
    /// The settings of a pool that its machine template contains, without the image. Only these are evaluated.
    pub settings: &'static [&'static str],
    /// Those of them that are no fields of the machine's spec.
    pub other_settings: &'static [&'static str],
    /// The setting that selects hosts by labels for a pool's machines; none if the provider creates machines.
    pub host_selector: Option<&'static str>,
    /// The kinds of hosts that its machines claim.
    pub host_kinds: &'static [&'static str],
}

impl ProviderData {
    const fn new(
        name: &'static str,
        kinds: &'static [Kind],
        infra_cluster: InfraCluster,
        image_names: &'static [ImageNames],
        settings: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            alias: None,
            kinds,
            infra_cluster,
            image_names,
            settings,
            other_settings: &[],
            host_selector: None,
            host_kinds: &[],
        }
    }

    /// Whether its machines may claim a host of that kind; a provider that claims none does not care.
    pub fn claims(&self, host_kind: &str) -> bool {
        self.host_kinds.is_empty() || self.host_kinds.contains(&host_kind)
    }

    /// The settings that are fields of the machine's spec.
    fn machine(&self, settings: &Node) -> Map {
        let mut machine = set(settings, self.settings);
        for name in self.other_settings {
            machine.remove(name);
        }
        machine
    }
}

/// The fields of a machine template outside the machine's spec.
#[derive(Clone, Debug, Default)]
pub struct TemplateFields {
    /// Of `spec.template`.
    pub template: Map,
    /// Of `spec`.
    pub spec: Map,
}

/// Every provider, by name.
pub const PROVIDERS: &[&dyn Provider] = &[
    &capa::Capa,
    &capg::Capg,
    &capm3::Capm3,
    &capo::Capo,
    &capv::Capv,
    &capz::Capz,
    &docker::Docker,
    &elemental::Elemental,
    &hetzner::Hetzner,
    &kubevirt::Kubevirt,
    &proxmox::Proxmox,
    &tinkerbell::Tinkerbell,
];

/// The provider with this name or alias.
pub fn find(name: &str) -> Option<&'static dyn Provider> {
    PROVIDERS
        .iter()
        .copied()
        .find(|provider| provider.data().name == name || provider.data().alias == Some(name))
}

/// The provider of a kind, in any API version.
pub fn find_by_kind(kind: &str) -> Option<&'static dyn Provider> {
    let has = |provider: &&'static dyn Provider| {
        provider.data().kinds.iter().any(|known| known.kind == kind)
    };
    PROVIDERS.iter().copied().find(has)
}

/// The setting of Sylva's charts for an image that is in no catalog.
const IMAGE_NAME: &str = "image_name";

fn image_name(settings: &Node) -> Option<&Node> {
    let name = settings.get_path(&[IMAGE_NAME])?;
    let text = name.value.as_str()?;
    (!text.is_empty()).then_some(name)
}

/// The provider that an object belongs to, and its kind.
pub fn find_for_object(
    api_version: &str,
    kind: &str,
) -> Option<(&'static dyn Provider, &'static Kind)> {
    PROVIDERS.iter().copied().find_map(|provider| {
        let mut kinds = provider.data().kinds.iter();
        Some((
            provider,
            kinds.find(|known| known.holds(api_version, kind))?,
        ))
    })
}

/// The kind and version of the machine templates to write.
#[derive(Clone, Copy)]
pub struct Template<'a> {
    /// The infrastructure provider.
    pub provider: &'a dyn Provider,
    /// One of the provider's kinds.
    pub kind: &'a Kind,
    /// One of the kind's API versions.
    pub version: &'a str,
}

/// The whole `spec` of a machine template: the pool's settings and the image.
///
/// # Errors
/// As [`Provider::image`]; the settings contain no list item for the image.
pub fn template_spec(
    template: Template<'_>,
    stamp: Option<&Stamp>,
    settings: &Node,
) -> Result<Map, String> {
    let Template {
        provider,
        kind,
        version,
    } = template;
    let machine = provider.machine(settings, version);
    let machine = match stamp.map(|stamp| with_region(stamp, settings)) {
        Some(stamp) => apply_edits(machine, &provider.image(kind, version, &stamp)?)?,
        None => machine,
    };
    let TemplateFields {
        mut template,
        mut spec,
    } = provider.template_fields(settings, version);
    template.insert(Entry::from_value("spec", machine));
    spec.insert(Entry::from_value("template", template));
    Ok(spec)
}

/// The stamp with the region in a pool's settings, if there is one.
fn with_region<'a>(stamp: &'a Stamp, settings: &Node) -> Cow<'a, Stamp> {
    let region = settings.get_path(&["region"]);
    match region.and_then(|region| region.value.as_str()) {
        Some(region) => Cow::Owned(Stamp {
            region: Some(Arc::clone(region)),
            ..stamp.clone()
        }),
        None => Cow::Borrowed(stamp),
    }
}

/// The settings with these names that are not null.
fn set(settings: &Node, names: &[&'static str]) -> Map {
    let set = |name: &&'static str| {
        let node = settings.get_path(&[name])?;
        (!node.value.is_null()).then(|| Entry::holding(*name, node.clone()))
    };
    names.iter().filter_map(set).collect()
}

#[cfg(test)]
mod tests {
    use super::{FieldStep, PROVIDERS, find_for_object};
    use crate::providers::stamp::tests::everywhere;

    #[test]
    fn providers_are_sorted_and_each_has_a_template_first() {
        assert!(PROVIDERS.is_sorted_by(|a, b| a.data().name < b.data().name));
        for provider in PROVIDERS {
            let kinds = provider.data().kinds;
            assert!(kinds[0].is_template(), "{}", provider.data().name);
            assert!(kinds.iter().all(|kind| !kind.versions.is_empty()));
        }
    }

    #[test]
    fn an_object_belongs_to_one_provider() {
        for provider in PROVIDERS {
            for kind in provider.data().kinds {
                for version in kind.versions {
                    let api_version = format!("{}/{version}", kind.group);
                    let found = find_for_object(&api_version, kind.kind);
                    let found = found.map(|(provider, kind)| (provider.data().name, *kind));
                    assert_eq!(found, Some((provider.data().name, *kind)));
                }
            }
        }
        assert!(find_for_object("infrastructure.cluster.x-k8s.io/v9", "Metal3Machine").is_none());
        assert!(find_for_object("v1", "Metal3Machine").is_none());
    }

    #[test]
    fn an_image_with_all_locations_can_be_stamped_into_every_kind() {
        for provider in PROVIDERS {
            for kind in provider.data().kinds {
                for version in kind.versions {
                    let edits = provider
                        .stamp(kind, version, &everywhere())
                        .unwrap_or_else(|problem| panic!("{}: {problem}", kind.kind));
                    assert!(edits.iter().any(|edit| edit.value.is_some()));
                    for edit in edits {
                        assert_eq!(edit.path[0], FieldStep::Key("spec"), "{edit}");
                    }
                }
            }
        }
    }
}
