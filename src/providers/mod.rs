//! The infrastructure providers: how each one's objects say which image to boot, one file each.
//!
//! A provider is data and pure functions: the kinds that it owns, where their image fields stand, what a neutral image
//! becomes in them, what its machines boot, and what a change in place does. Rendering and stamping in place share it.

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
pub mod infra_cluster;
mod kind;
mod kubevirt;
pub mod named;
mod proxmox;
mod stamp;
mod tinkerbell;

use std::borrow::Cow;
use std::sync::Arc;

use crate::model::labels::LabelSelector;
use crate::model::value::{Entry, Map, Node};
pub use field::{Edit, Step, edited, is_meant};
pub use kind::{Change, Kind};
pub use stamp::Stamp;

/// An infrastructure provider of Cluster API.
pub trait Provider: Sync {
    /// The name in `cluster.capi_providers.infra_provider`.
    fn name(&self) -> &'static str;

    /// What others call it: Sylva's charts write `capd`.
    fn alias(&self) -> Option<&'static str> {
        None
    }

    /// The kinds of objects with an image in them: machine templates first, the default before the others.
    fn kinds(&self) -> &'static [Kind];

    /// The settings of a pool that end up in its machine template, the image apart: only those are evaluated.
    fn settings(&self) -> &'static [&'static str];

    /// The setting by which a pool's machines claim hosts by their labels; none where the provider makes its machines.
    fn host_selector(&self) -> Option<&'static str> {
        None
    }

    /// The hosts that a pool's machines claim: every one where nothing is said. None where the provider makes its machines, or
    /// where the selector is not understood.
    fn hosts_of(&self, settings: &Node) -> Option<LabelSelector> {
        match settings.at(&[self.host_selector()?]) {
            Some(node) => LabelSelector::read(node),
            None => Some(LabelSelector::default()),
        }
    }

    /// The image as fields below the machine's spec of that kind and version.
    ///
    /// # Errors
    /// Nothing says where this provider finds the image, or its webhook would refuse it; in one clause.
    fn image(&self, kind: &Kind, version: &str, stamp: &Stamp) -> Result<Vec<Edit>, String>;

    /// The image as fields of the whole object: what stamping in place writes.
    ///
    /// # Errors
    /// As [`Provider::image`].
    fn stamp(&self, kind: &Kind, version: &str, stamp: &Stamp) -> Result<Vec<Edit>, String> {
        let edits = self.image(kind, version, stamp)?;
        let below = |edit: Edit| edit.below(kind.machine);
        Ok(edits.into_iter().map(below).collect())
    }

    /// The machine's spec that a pool's settings come to, the image apart.
    fn machine(&self, settings: &Node, _version: &str) -> Map {
        set(settings, self.settings())
    }

    /// What stands beside the machine's spec: fields of `spec.template`, and of `spec`.
    fn beside(&self, _settings: &Node, _version: &str) -> (Map, Map) {
        (Map::default(), Map::default())
    }

    /// What the provider's webhook would refuse of the settings, each in one clause.
    fn problems(&self, _settings: &Node, _version: &str) -> Vec<String> {
        Vec::new()
    }

    /// Whether a template without an image is one all the same: the settings deploy something else.
    fn deploys_itself(&self, _settings: &Node) -> bool {
        false
    }
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

/// The provider of that name.
pub fn find(name: &str) -> Option<&'static dyn Provider> {
    PROVIDERS
        .iter()
        .copied()
        .find(|provider| provider.name() == name || provider.alias() == Some(name))
}

/// The provider of a kind, in any API version.
pub fn of_kind(kind: &str) -> Option<&'static dyn Provider> {
    let has =
        |provider: &&'static dyn Provider| provider.kinds().iter().any(|known| known.kind == kind);
    PROVIDERS.iter().copied().find(has)
}

/// The setting in which Sylva's charts name an image that no catalog describes.
const IMAGE_NAME: &str = "image_name";

fn image_name(settings: &Node) -> Option<&Node> {
    let name = settings.at(&[IMAGE_NAME])?;
    let text = name.value.as_str()?;
    (!text.is_empty()).then_some(name)
}

/// The provider whose object this is, with its kind.
pub fn of_object(api_version: &str, kind: &str) -> Option<(&'static dyn Provider, &'static Kind)> {
    PROVIDERS.iter().copied().find_map(|provider| {
        let mut kinds = provider.kinds().iter();
        Some((
            provider,
            kinds.find(|known| known.holds(api_version, kind))?,
        ))
    })
}

/// The whole `spec` of a machine template: the pool's settings with the image in them.
///
/// # Errors
/// As [`Provider::image`]; the settings have no place for the image.
pub fn template_spec(
    provider: &dyn Provider,
    (kind, version): (&Kind, &str),
    stamp: Option<&Stamp>,
    settings: &Node,
) -> Result<Map, String> {
    let machine = provider.machine(settings, version);
    let machine = match stamp.map(|stamp| within_region(stamp, settings)) {
        Some(stamp) => edited(machine, &provider.image(kind, version, &stamp)?)?,
        None => machine,
    };
    let (mut template, mut spec) = provider.beside(settings, version);
    template.insert(Entry::computed("spec", machine));
    spec.insert(Entry::computed("template", template));
    Ok(spec)
}

/// The stamp with the region that a pool's settings name, if they do.
fn within_region<'a>(stamp: &'a Stamp, settings: &Node) -> Cow<'a, Stamp> {
    let region = settings.at(&["region"]);
    match region.and_then(|region| region.value.as_str()) {
        Some(region) => Cow::Owned(Stamp {
            region: Some(Arc::clone(region)),
            ..stamp.clone()
        }),
        None => Cow::Borrowed(stamp),
    }
}

/// The settings of these names that say something.
fn set(settings: &Node, names: &[&'static str]) -> Map {
    let set = |name: &&'static str| {
        let node = settings.at(&[name])?;
        (!node.value.is_null()).then(|| Entry::holding(*name, node.clone()))
    };
    names.iter().filter_map(set).collect()
}

#[cfg(test)]
mod tests {
    use super::{PROVIDERS, Step, of_object};
    use crate::providers::stamp::tests::everywhere;

    #[test]
    fn providers_are_sorted_and_each_has_a_template_first() {
        assert!(PROVIDERS.is_sorted_by(|a, b| a.name() < b.name()));
        for provider in PROVIDERS {
            let kinds = provider.kinds();
            assert!(kinds[0].is_template(), "{}", provider.name());
            assert!(kinds.iter().all(|kind| !kind.versions.is_empty()));
        }
    }

    #[test]
    fn an_object_belongs_to_one_provider() {
        for provider in PROVIDERS {
            for kind in provider.kinds() {
                for version in kind.versions {
                    let api_version = format!("{}/{version}", kind.group);
                    let found = of_object(&api_version, kind.kind);
                    let found = found.map(|(provider, kind)| (provider.name(), *kind));
                    assert_eq!(found, Some((provider.name(), *kind)));
                }
            }
        }
        assert!(of_object("infrastructure.cluster.x-k8s.io/v9", "Metal3Machine").is_none());
        assert!(of_object("v1", "Metal3Machine").is_none());
    }

    #[test]
    fn an_image_that_lies_everywhere_can_be_stamped_into_every_kind() {
        for provider in PROVIDERS {
            for kind in provider.kinds() {
                for version in kind.versions {
                    let edits = provider
                        .stamp(kind, version, &everywhere())
                        .unwrap_or_else(|problem| panic!("{}: {problem}", kind.kind));
                    assert!(edits.iter().any(|edit| edit.value.is_some()));
                    for edit in edits {
                        assert_eq!(edit.path[0], Step::Key("spec"), "{edit}");
                    }
                }
            }
        }
    }
}
