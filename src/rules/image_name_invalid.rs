//! An image has a name that `os_images` does not accept.

use capi::image::is_valid_key;

use crate::model::finding::{Finding, Subject};
use crate::model::name::key_of;
use crate::model::rule::RuleId;
use crate::rules::ClusterInput;

/// Looks at every key of the catalog.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    for (key, image) in &*input.view.images {
        if is_valid_key(key) {
            continue;
        }
        let reason = key_of(key).err();
        let subject = Subject {
            image: Some(key.to_string()),
            ..input.subject(None)
        };
        findings.push(
            Finding::new(
                RuleId::ImageNameInvalid,
                format!("`{key}` cannot name an image"),
            )
            .with_subject(subject)
            .with_label(
                input.spot(image.place),
                reason.map_or(String::new(), |reason| reason.to_string()),
            )
            .help("use 3 to 52 lower-case letters, digits and dashes"),
        );
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
