//! An image comes from a registry that is not defined.

use std::cell::LazyCell;

use yaml_tree::suggest::Words;

use crate::model::finding::{Finding, Subject};
use crate::model::rule::RuleId;
use crate::rules::ClusterInput;

/// Looks at every image of the catalog.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let registries = &input.view.registries;
    let names = LazyCell::new(|| Words::new(registries.keys().map(|name| &**name)));
    for (key, image) in &*input.view.images {
        let Some(name) = &image.registry else {
            continue;
        };
        if registries.contains_key(name) {
            continue;
        }
        let subject = Subject {
            image: Some(key.to_string()),
            ..input.subject(None)
        };
        let message = format!("image `{key}` comes from registry `{name}`, which is not defined");
        let finding = Finding::new(RuleId::RegistryUnknown, message)
            .with_subject(subject)
            .with_label(input.spot(image.place), "this image");
        findings.push(match names.did_you_mean(name) {
            Some(known) => finding.help(format!("did you mean `os_images_oci_registry: {known}`?")),
            None => finding.help(format!(
                "define it: `os_images_oci_registries: {{{name}: {{url: oci://…, tag: …}}}}`"
            )),
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::model::rule::RuleId;
    use crate::testing::Given;

    #[test]
    fn a_slip_gets_the_registry_that_was_meant() {
        let mut given = Given::new();
        given.registry("sylva", true);
        given.image("noble-a", &[]).registry = Some("silva".into());
        assert_eq!(
            given.found(RuleId::RegistryUnknown),
            "image `noble-a` comes from registry `silva`, which is not defined\n  \
             image: noble-a: this image\n  \
             help: did you mean `os_images_oci_registry: sylva`?\n"
        );
    }

    #[test]
    fn defined_registries_and_images_without_one_are_fine() {
        let mut given = Given::new();
        given.registry("sylva", true);
        given.image("noble-a", &[]).registry = Some("sylva".into());
        given.image("noble-b", &[]);
        assert_eq!(given.found(RuleId::RegistryUnknown), "");
    }
}
