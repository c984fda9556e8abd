//! A Metal3 node pool chooses no image.

use crate::model::finding::Finding;
use crate::model::matching::Outcome;
use crate::rules::{ClusterInput, Rule};

/// Looks at every node pool.
pub(super) struct ImageNotChosen;

impl Rule for ImageNotChosen {
    fn id(&self) -> &'static str {
        "image-not-chosen"
    }

    fn summary(&self) -> &'static str {
        "a Metal3 node pool chooses no image"
    }

    fn explanation(&self) -> &'static str {
        "\
The charts want exactly one of `image_key`, `os_image_selector` and `machine_image_url`, and Metal3 refuses a machine template with
neither an image nor a `customDeploy`. A slip in the key's name is the usual reason.

Wrong:

    cluster:
      capm3:
        imagekey: ubuntu-noble-plain-rke2-1-31-8

Right:

    cluster:
      capm3:
        image_key: ubuntu-noble-plain-rke2-1-31-8"
    }

    fn cluster(&self, input: &ClusterInput<'_>, report: &mut dyn FnMut(Finding)) {
        let provider = input.view.cluster.infra_provider.as_ref();
        let Some(provider) = provider.filter(|provider| &*provider.value == "capm3") else {
            return;
        };
        for (pool, selection) in input.pools() {
            let deploys = pool.settings.at(&["customDeploy"]);
            if selection.outcome != Outcome::Nothing
                || deploys.is_some_and(|node| !node.value.is_null())
            {
                continue;
            }
            let name = &pool.name;
            let emptied = pool.choice.key.as_ref().map(|key| key.place);
            let place = emptied.unwrap_or(pool.place);
            report(
                Finding::new(self.id(), format!("node pool `{name}` chooses no image"))
                    .about(input.subject(Some(pool)))
                    .at(input.spot(place), "this pool")
                    .at(input.spot(provider.place), "Metal3 needs an image")
                    .help(format!("`cluster.{}.image_key: …`", provider.value)),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::model::matching::Outcome;
    use crate::model::value::{Entry, Map, Node};
    use crate::testing::Given;

    const ID: &str = "image-not-chosen";

    #[test]
    fn only_metal3_needs_an_image() {
        let mut given = Given::new();
        assert_eq!(given.found(ID), "");
        given.view.cluster.infra_provider = Some(given.line("infra_provider", "capm3"));
        assert_eq!(
            given.found(ID),
            "node pool `control-plane` chooses no image\n  pool: control-plane: this pool\n  \
             infra_provider: capm3: Metal3 needs an image\n  help: `cluster.capm3.image_key: …`\n"
        );
        given.view.selections[0].outcome = Outcome::Explicit;
        assert_eq!(given.found(ID), "");
    }

    #[test]
    fn a_custom_deploy_boots_none() {
        let mut given = Given::new();
        given.view.cluster.infra_provider = Some(given.line("infra_provider", "capm3"));
        let deploy = Map::from_iter([Entry::computed("customDeploy", "install_coreos")]);
        given.view.cluster.pools[0].settings = Node::computed(deploy);
        assert_eq!(given.found(ID), "");
    }
}
