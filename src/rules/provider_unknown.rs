//! Nothing is known of a cluster's infrastructure provider, or several of them select an image.

use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::suggest::did_you_mean;
use crate::providers::{self, PROVIDERS};
use crate::rules::{ClusterInput, Rule};

/// Looks at the cluster; that several providers select an image is found while reading.
pub(super) struct ProviderUnknown;

impl Rule for ProviderUnknown {
    fn id(&self) -> RuleId {
        RuleId::ProviderUnknown
    }

    fn summary(&self) -> &'static str {
        "nothing is known of a cluster's infrastructure provider, or several of them select an image"
    }

    fn explanation(&self) -> &'static str {
        "\
The settings of a node pool are read below the name of its infrastructure provider. Where that name has a slip, where the provider is
none that metalmark knows, or where none is named and several select an image, the image that machines boot is not the one that
was checked. Where none is named and one of them selects an image, that one is taken.

Wrong:

    cluster:
      capi_providers: {infra_provider: capm33}
      capm3: {image_key: ubuntu-noble-plain-rke2-1-31-8}

Right:

    cluster:
      capi_providers: {infra_provider: capm3}
      capm3: {image_key: ubuntu-noble-plain-rke2-1-31-8}"
    }

    fn cluster(&self, input: &ClusterInput<'_>, report: &mut dyn FnMut(Finding)) {
        let named = input.view.cluster.infra_provider.as_ref();
        let unknown = named.filter(|name| providers::find(&name.value).is_none());
        let Some(name) = unknown.filter(|name| name.place.is_known()) else {
            return;
        };
        let message = format!(
            "nothing is known of the infrastructure provider `{}`",
            name.value
        );
        let finding = Finding::new(self.id(), message)
            .about(input.subject(None))
            .at(input.spot(name.place), "its images are not checked");
        let known = || PROVIDERS.iter().map(|provider| provider.name());
        report(match did_you_mean(&name.value, known()) {
            Some(meant) => finding.help(format!("did you mean `{meant}`?")),
            None => {
                let known: Vec<String> = known().map(|name| format!("`{name}`")).collect();
                finding.help(format!("known are {}", known.join(", ")))
            }
        });
    }
}
