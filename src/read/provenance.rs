//! The project file's `policy.provenance` → what has to be signed, and by whom.

use oci_artifacts::Address;

use crate::model::provenance::ProvenanceDemand;

use super::places::{PREFIX, Problems};
use super::provenance_options::ProvenanceOptions;

/// The entries that can be carried out.
pub(super) fn demands(
    written: &[ProvenanceOptions],
    problems: &mut Problems<'_>,
) -> Vec<ProvenanceDemand> {
    let mut all = Vec::new();
    for (index, options) in written.iter().enumerate() {
        let spot = problems.places.item(&["policy", "provenance"], index);
        let Some(below) = Address::parse_prefix(&options.images) else {
            problems.refuse_prefix(&options.images, spot, PREFIX);
            continue;
        };
        match options.signer() {
            Ok(signer) => all.push(ProvenanceDemand {
                below,
                signer,
                demands: options.demands(),
                spot,
            }),
            Err(message) => {
                let help = "write `key: FILE`, or `identity:`, `issuer:` and `trusted-root: FILE`";
                problems.refuse_at(message, spot, help);
            }
        }
    }
    all
}
