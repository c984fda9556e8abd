//! The project file's `policy.provenance` → what has to be signed, and by whom.

use oci_artifacts::Address;

use crate::model::finding::Finding;
use crate::model::provenance::ProvenanceDemand;
use crate::model::rule::RuleId;

use super::places::Places;
use super::provenance_options::ProvenanceOptions;
use super::registries;

/// The entries that can be carried out.
pub(super) fn demands(
    written: &[ProvenanceOptions],
    places: &Places<'_>,
    findings: &mut Vec<Finding>,
) -> Vec<ProvenanceDemand> {
    let mut all = Vec::new();
    for (index, options) in written.iter().enumerate() {
        let spot = places.item(&["policy", "provenance"], index);
        let Some(below) = Address::parse_prefix(&options.images) else {
            let finding = registries::no_prefix(&options.images, spot);
            findings.push(finding.help(registries::PREFIX));
            continue;
        };
        match options.signer() {
            Ok(signer) => all.push(ProvenanceDemand {
                below,
                signer,
                demands: options.demands(),
                spot,
            }),
            Err(message) => findings.push(
                Finding::new(RuleId::ProjectFile, message)
                    .with_label(spot, "")
                    .help("write `key: FILE`, or `identity:`, `issuer:` and `trusted-root: FILE`"),
            ),
        }
    }
    all
}
