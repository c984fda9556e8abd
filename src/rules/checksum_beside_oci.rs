//! An `oci://` image has a checksum that Metal3 refuses, or lacks one that it demands.

use std::cmp::Ordering;

use oci_artifacts::is_oci;

use crate::model::cluster::Pool;
use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};
use crate::model::version::Version;
use crate::rules::ClusterInput;

/// The first release of CAPM3 that takes `oci://` images without a checksum, and no others
/// (metal3-io/cluster-api-provider-metal3#3522).
const FIRST: &str = "1.14.0-rc.0";

/// Looks at every node pool of Metal3 whose image is pulled.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let explicit = input.explicit();
    let pulled = explicit.filter(|(pool, url)| is_oci(&url.value) && input.is_metal3(pool));
    for (pool, url) in pulled.filter(|(pool, _)| !pool.choice.is_open) {
        let found = problem(input, pool).map(|finding| {
            finding
                .with_subject(input.subject(Some(pool)))
                .with_label(input.spot(url.place), "pulled by its digest or its tag")
        });
        findings.extend(found);
    }
}

fn problem(input: &ClusterInput<'_>, pool: &Pool) -> Option<Finding> {
    let installed = input.view.cluster.capm3.as_ref();
    let version = installed.and_then(|version| Version::parse(&version.value));
    let demands = version.map(|version| is_before(&version, FIRST));
    let demands = demands.or(input.settings.capm3_demands_checksum);
    let choice = &pool.choice;
    let mut fields = [&choice.checksum, &choice.checksum_type]
        .into_iter()
        .flatten();
    let given = fields.find(|field| !field.value.is_empty());
    let finding = |message: &str| Finding::new(RuleId::ChecksumBesideOci, message);
    let found = match (given, demands) {
        (None, Some(true)) => finding("CAPM3 before 1.14 demands a checksum of an `oci://` image")
            .help("name the image by `https://`, or install CAPM3 1.14"),
        (Some(given), None) => {
            finding("CAPM3 from 1.14 on refuses the checksum of an `oci://` image")
                .with_label(input.spot(given.place), "this one")
                .unless_set(Level::Warning)
                .help("remove it, or name the image by `https://`: CAPM3 before 1.14 demands one")
        }
        (Some(given), Some(false)) => {
            finding("CAPM3 from 1.14 on refuses the checksum of an `oci://` image")
                .with_label(input.spot(given.place), "this one")
                .help("remove it")
        }
        _ => return None,
    };
    let installed = installed.filter(|installed| Version::parse(&installed.value).is_some());
    let place = installed.and_then(|version| input.spot(version.place));
    Some(found.with_label(place, "this CAPM3 is installed"))
}

/// Whether a release is older than another; one without a patch level is its newest.
fn is_before(version: &Version, first: &str) -> bool {
    Version::parse(first).is_some_and(|first| {
        if version.is_partial() {
            (version.major, version.minor) < (first.major, first.minor)
        } else {
            version.cmp_release(&first) == Ordering::Less
        }
    })
}
