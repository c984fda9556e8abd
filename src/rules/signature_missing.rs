//! An image is not signed, and a key says that it should be.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found by every command that reads the lock.
pub(super) struct SignatureMissing;

impl Rule for SignatureMissing {
    fn id(&self) -> RuleId {
        RuleId::SignatureMissing
    }

    fn summary(&self) -> &'static str {
        "an image is not signed, and a key says that it should be"
    }

    fn explanation(&self) -> &'static str {
        "\
Where the values name a key for a registry (`cosign_publickey`) or for all images (`security.os_images.cosign_public_key`),
`metalmark lock` locks only what the holder of that key signed, `metalmark verify` looks again, and every command that reads the lock
verifies the signature in its evidence. Signatures are looked for at the tag `sha256-….sig` and among the referrers; attestations are
none.

Wrong, where nothing is signed at the registry:

    os_images_oci_registries:
      own: {url: oci://registry.example.org/own, tag: 1.0.0, cosign_publickey: keys/cosign.pub}

Right, after `cosign sign --key cosign.key --use-signing-config=false --tlog-upload=false IMAGE@DIGEST` (cosign 3; cosign 2 has
only the last of these options); or, in a laboratory:

    security:
      os_images: {skip_signing_check: true}"
    }
}
