//! An image would be stamped without its format.

use crate::model::cluster::Pool;
use crate::model::finding::Finding;
use crate::model::image::{Image, fact};
use crate::model::rule::RuleId;
use crate::rules::{ClusterInput, LOCK_IT, Rule, entry_path};

/// Looks at every node pool.
pub(super) struct FormatMissing;

impl Rule for FormatMissing {
    fn id(&self) -> RuleId {
        RuleId::FormatMissing
    }

    fn summary(&self) -> &'static str {
        "an image would be stamped without its format"
    }

    fn explanation(&self) -> &'static str {
        "\
Metal3's v1beta2 machine templates hand a missing format on as an empty text, which the host's schema refuses; before that a missing one
made Ironic download and inspect the image. The format is a fact of the artifact and is never derived from a name.

Wrong:

    os_images:
      ubuntu-noble:
        uri: oci://registry.example.org/os/ubuntu-noble:1.0.0
        sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08

Right:

    os_images:
      ubuntu-noble:
        uri: oci://registry.example.org/os/ubuntu-noble:1.0.0
        sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
        image-format: raw"
    }

    fn cluster(&self, input: &ClusterInput<'_>, report: &mut dyn FnMut(Finding)) {
        if input.infra() != "capm3" {
            return;
        }
        for (pool, image) in input.chosen() {
            let format = image.facts.text(fact::IMAGE_FORMAT);
            if format.is_some_and(|format| !format.is_empty()) {
                continue;
            }
            report(unknown(self.id(), input, pool, image));
        }
        for (pool, url) in input.explicit() {
            let format = pool.choice.format.as_ref();
            if format.is_some_and(|format| !format.value.is_empty()) {
                continue;
            }
            let path = input.path(pool, "machine_image_format", |choice| choice.url.is_some());
            let message = "`machine_image_url` has no `machine_image_format`";
            report(
                Finding::new(self.id(), message)
                    .about(input.subject(Some(pool)))
                    .at(input.spot(url.place), "this image")
                    .help(format!("`{path}: raw`")),
            );
        }
    }
}

fn unknown(id: RuleId, input: &ClusterInput<'_>, pool: &Pool, image: &Image) -> Finding {
    let (key, name) = (&image.key, fact::IMAGE_FORMAT);
    let finding = Finding::new(id, format!("the format of image `{key}` is not known"))
        .about(input.subject_with(pool, key))
        .at(input.spot(pool.choice.place()), "this image is chosen here")
        .at(
            input.spot(image.place),
            format!("the catalog's entry has no `{name}`"),
        );
    let finding = if input.could_lock(image) {
        finding.help(LOCK_IT)
    } else {
        finding
    };
    if image.built {
        finding.help("give its facts: `images: {facts: [os-images-info.yaml]}` in metalmark.yaml")
    } else {
        finding.help(format!("`{}.{name}: raw`", entry_path(image)))
    }
}

#[cfg(test)]
mod tests {
    use crate::model::rule::RuleId;
    use crate::testing::Given;

    const ID: RuleId = RuleId::FormatMissing;

    #[test]
    fn every_image_needs_a_format() {
        let mut given = Given::new();
        given.declared("noble-a", &[]);
        given.image("noble-b", &[("image-format", "raw")]);
        given.boots("noble-a");
        let found = given.found(ID);
        assert!(
            found.contains("help: ask its registry: `metalmark lock`"),
            "{found}"
        );
        assert!(
            found.contains("help: `os_images.noble-a.image-format: raw`"),
            "{found}"
        );
        given.boots("noble-b");
        assert_eq!(given.found(ID), "");
    }

    #[test]
    fn so_does_a_url() {
        let mut given = Given::new();
        for further in [&[][..], &[("format", "")]] {
            given.boots_url("https://a.b/c.raw", further);
            assert!(
                given
                    .found(ID)
                    .contains("help: `cluster.capm3.machine_image_format: raw`")
            );
        }
        given.boots_url("https://a.b/c.raw", &[("format", "raw")]);
        assert_eq!(given.found(ID), "");
    }
}
