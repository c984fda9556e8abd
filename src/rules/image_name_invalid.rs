//! An image has a name that `os_images` does not take.

use crate::model::finding::{Finding, Subject};
use crate::model::image::is_valid_key;
use crate::model::name::key_of;
use crate::model::rule::RuleId;
use crate::rules::{ClusterInput, Rule};

/// Looks at every key of the catalog.
pub(super) struct ImageNameInvalid;

impl Rule for ImageNameInvalid {
    fn id(&self) -> RuleId {
        RuleId::ImageNameInvalid
    }

    fn summary(&self) -> &'static str {
        "an image has a name that `os_images` does not take"
    }

    fn explanation(&self) -> &'static str {
        "\
Keys of `os_images` have 3 to 52 characters: lower-case letters, digits and dashes, with none of the dashes at either end. Names with
dots get a key with dashes; anything else the charts' schema refuses, because the key becomes part of object names.

Wrong:

    os_images:
      Ubuntu_Noble: {uri: \"oci://registry.example.org/os/ubuntu-noble:1.0.0\"}

Right:

    os_images:
      ubuntu-noble: {uri: \"oci://registry.example.org/os/ubuntu-noble:1.0.0\"}"
    }

    fn cluster(&self, input: &ClusterInput<'_>, report: &mut dyn FnMut(Finding)) {
        for (key, image) in &*input.view.images {
            if is_valid_key(key) {
                continue;
            }
            let reason = key_of(key).err();
            let subject = Subject {
                image: Some(key.to_string()),
                ..input.subject(None)
            };
            report(
                Finding::new(self.id(), format!("`{key}` cannot name an image"))
                    .about(subject)
                    .at(
                        input.spot(image.place),
                        reason.map_or(String::new(), |reason| reason.to_string()),
                    )
                    .help("use 3 to 52 lower-case letters, digits and dashes"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::model::rule::RuleId;
    use crate::testing::Given;

    #[test]
    fn only_names_that_os_images_takes_pass() {
        let mut given = Given::new();
        given.image("ubuntu-noble", &[]);
        assert_eq!(given.found(RuleId::ImageNameInvalid), "");
        given.image("Ubuntu_Noble", &[]);
        assert_eq!(
            given.found(RuleId::ImageNameInvalid),
            "`Ubuntu_Noble` cannot name an image\n  image: Ubuntu_Noble: it holds 'U'\n  \
             help: use 3 to 52 lower-case letters, digits and dashes\n"
        );
    }
}
