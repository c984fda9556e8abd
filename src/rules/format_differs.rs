//! An image's format is not what its file's name says.

use capi::location::file_name;

use crate::model::finding::Finding;
use crate::model::judgment::Judgment;
use crate::model::rule::RuleId;
use crate::rules::ClusterInput;

/// The formats that files are named after. An `.img` may be any, an `.iso` any but these.
const NAMED: [&str; 4] = ["qcow2", "raw", "vdi", "vmdk"];

/// Looks at every node pool whose image is a file.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    for (pool, url) in input.explicit() {
        let Some(format) = &pool.choice.format else {
            continue;
        };
        let end = file_name(&url.value).rsplit('.').next().unwrap_or_default();
        let end = end.to_ascii_lowercase();
        if format.value.is_empty() || *format.value == *end || !NAMED.contains(&&*end) {
            continue;
        }
        // Beside a record or a catalog, `image-disagrees` says which of the two is wrong.
        let is_disputed = input.pools().any(|it| {
            std::ptr::eq(it.pool, pool) && matches!(it.judgment, Judgment::Disputed { .. })
        });
        if is_disputed {
            continue;
        }
        let message = format!("the format is `{}`, and the file a `.{end}`", format.value);
        findings.push(
            Finding::new(RuleId::FormatDiffers, message)
                .with_subject(input.subject(Some(pool)))
                .with_label(input.spot(format.place), "this format")
                .with_label(input.spot(url.place), "this image")
                .help(format!("write `{end}`, if the file is what it is called")),
        );
    }
}
