//! Machine templates: one file a cluster, one `Metal3MachineTemplate` a node pool, named after its content.
//!
//! A change of image gives a template of another name, and the reference to the new name is what rolls the nodes
//! (<https://cluster-api.sigs.k8s.io/tasks/updating-machine-templates>).

use super::{Content, Target, TargetFile, TargetInput, word_option};
use crate::model::finding::Finding;
use crate::model::value::{Entry, Map};
use crate::objects::machine_template;

/// See the module's text.
pub(super) struct Manifests;

impl Target for Manifests {
    fn name(&self) -> &'static str {
        "manifests"
    }

    fn summary(&self) -> &'static str {
        "a machine template for each node pool, one file a cluster"
    }

    fn templates(&self) -> &'static [(&'static str, &'static str)] {
        &[(
            "cluster.yaml.j2",
            include_str!("../../templates/manifests/cluster.yaml.j2"),
        )]
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &[(
            "api-version",
            "the machine template's API version: `v1beta1` (default) or `v1beta2`",
        )]
    }

    fn cluster(&self, input: &TargetInput<'_>, report: &mut dyn FnMut(Finding)) -> Vec<TargetFile> {
        let Some(provider) = input.provider(report) else {
            return Vec::new();
        };
        let versions: Vec<(&str, &str)> = provider.versions().iter().map(|v| (*v, *v)).collect();
        let version = word_option(input.output, "api-version", &versions, report);
        let templates = machine_template::contexts(
            input.view,
            input.stamps,
            (provider, version),
            &Map::default(),
            report,
        );
        if templates.is_empty() {
            return Vec::new();
        }
        vec![TargetFile {
            path: format!("{}.yaml", input.view.cluster.name),
            template: "cluster.yaml.j2",
            context: Map::from_iter([Entry::computed("templates", templates)]),
            content: Content::Objects,
        }]
    }
}
