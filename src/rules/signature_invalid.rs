//! The signature of an image does not hold under its key.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found by every command that reads the lock.
pub(super) struct SignatureInvalid;

impl Rule for SignatureInvalid {
    fn id(&self) -> RuleId {
        RuleId::SignatureInvalid
    }

    fn summary(&self) -> &'static str {
        "the signature of an image does not hold under its key"
    }

    fn explanation(&self) -> &'static str {
        "\
Another key signed, what was signed was altered, it is the signature of another digest, or the key itself cannot be used; the
message says which. Either the key in the values is not the publisher's, or the image is not. Nothing of it is locked, and what was
locked under another key is refused. Under a key that cannot be evaluated or read nothing can be proven.

Wrong, where the publisher signs with another key:

    os_images_oci_registries:
      sylva: {url: oci://registry.example.org/os, tag: 0.4.12, cosign_publickey: keys/last-year.pub}

Right:

    os_images_oci_registries:
      sylva: {url: oci://registry.example.org/os, tag: 0.4.12, cosign_publickey: keys/cosign.pub}"
    }
}
