//! An image is signed by the right key, under another image's name.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found wherever signatures are verified.
pub(super) struct SignatureOtherName;

impl Rule for SignatureOtherName {
    fn id(&self) -> RuleId {
        RuleId::SignatureOtherName
    }

    fn summary(&self) -> &'static str {
        "an image is signed by the right key, under another image's name"
    }

    fn explanation(&self) -> &'static str {
        "\
The holder of the key signed exactly these bytes, as another image: a signature names the repository that it was made in. A
person who can push could otherwise replace this image by an older or weaker one of the same publisher, so nothing of it
is locked. Registry and folders are not compared, for copies change them; the image's name is.

Wrong, where the signature was made for `os/ubuntu-noble-plain-rke2-1-30-2`:

    - key: ubuntu-noble-plain-rke2-1-31-8
      reference: oci://registry.example.org/os/ubuntu-noble-plain-rke2-1-31-8:0.4.12

Right, where a mirror renames its images on purpose; `lock` then locks what is waived, and says so:

    policy:
      waivers:
        - {rule: signature-other-name, where: noble-*, reason: our mirror shortens names}"
    }
}
