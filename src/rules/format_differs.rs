//! An image's format is not what its file's name says.

use std::sync::Arc;

use capi::image::fact;
use capi::location::file_name;
use capi::providers;
use yaml_tree::place::{Located, Place};

use crate::model::cluster::Pool;
use crate::model::finding::Finding;
use crate::model::judgment::Judgment;
use crate::model::rule::RuleId;
use crate::rules::ClusterInput;
use crate::rules::input::ChosenImage;

/// The formats that files are named after. An `.img` may be any, an `.iso` any but these.
const NAMED: [&str; 4] = ["qcow2", "raw", "vdi", "vmdk"];

/// Looks at every node pool whose image is a file.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    for (pool, url) in input.explicit() {
        // Beside a record or a catalog, `image-disagrees` says which of the two is wrong.
        let is_disputed = input.pools().any(|it| {
            std::ptr::eq(it.pool, pool) && matches!(it.judgment, Judgment::Disputed { .. })
        });
        let format = pool.choice.format.as_ref().filter(|_| !is_disputed);
        findings.extend(format.and_then(|it| difference(input, pool, (&it.value, it.place), url)));
    }
    let is_fetched = providers::find(input.infra())
        .is_some_and(|it| providers::locations_of(it.data()).contains(&"https"));
    let chosen = input.pool_images().filter(|_| is_fetched);
    for ChosenImage { pool, image } in chosen.filter(|it| it.pool.choice.url.is_none()) {
        let format = image.facts.get(fact::IMAGE_FORMAT);
        // What a scheme reads from the file's name is a fact, which `fact-conflict` compares.
        let format = format.filter(|it| !it.origin.is_name());
        let is_of_file = image
            .facts
            .location()
            .is_none_or(|location| location == "https");
        let url = image.facts.get("locations.https").filter(|_| is_of_file);
        if let (Some(format), Some(url)) = (format, url) {
            let url = Located::new(Arc::clone(&url.value), url.place);
            findings.extend(difference(input, pool, (&format.value, format.place), &url));
        }
    }
}

/// That a file is called otherwise than its format.
fn difference(
    input: &ClusterInput<'_>,
    pool: &Pool,
    (format, place): (&str, Place),
    url: &Located<Arc<str>>,
) -> Option<Finding> {
    let end = file_name(&url.value).rsplit('.').next().unwrap_or_default();
    let end = end.to_ascii_lowercase();
    if format.is_empty() || *format == *end || !NAMED.contains(&&*end) {
        return None;
    }
    let message = format!("the format is `{format}`, and the file a `.{end}`");
    let finding = Finding::new(RuleId::FormatDiffers, message)
        .with_subject(input.subject(Some(pool)))
        .with_label(input.spot(place), "this format")
        .with_label(input.spot(url.place), "this image")
        .help(format!("write `{end}`, if the file is what it is called"));
    Some(finding)
}
