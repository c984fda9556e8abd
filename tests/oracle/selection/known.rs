//! Where metalmark is known to differ from the library by mistake, counted exactly: a change of the count is to be looked at.

use super::verdict::{Mode, Verdict, theirs};
use super::{pools, selecting};

/// A selector and a key that mean one image are one selection, at one level too. The library knows `image_key` alone: where
/// `os_image_key` names another image, metalmark refuses what the library boots.
#[test]
fn a_key_beside_the_selector_that_means_it_is_accepted() {
    let mut refused = Vec::new();
    for cluster in selecting() {
        for (pool, recorded) in pools(&cluster.recorded(Mode::Normalized)) {
            let boots = matches!(theirs(recorded), Verdict::Image(_)) && recorded["url"].is_null();
            if boots && cluster.refuses(&["choice-conflict"], pool) {
                let values = cluster.case["values"].to_string();
                assert!(values.contains("os_image_key"), "{} {pool}", cluster.id);
                refused.push(format!("{} {pool}", cluster.id));
            }
        }
    }
    assert_eq!(refused.len(), 33, "{refused:?}");
}
