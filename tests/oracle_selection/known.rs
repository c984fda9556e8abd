//! Where metalmark is known to differ from the library by mistake, counted exactly: a change of the count is to be looked at.

use super::verdict::{Mode, Verdict, agree, ours, reason, theirs};
use super::{pools, selecting};

/// fidelity D8: only the library 0.9.0 is known. 0.3.5, which sylva-core's main has, refuses `oci-image-registry-key` and ignores
/// `os_image_selector_autoselect_registries`.
#[test]
fn the_older_library_differs_where_registries_are_selected() {
    let mut differ = Vec::new();
    for cluster in selecting() {
        let answer = cluster.answer(Mode::Exact);
        for (pool, recorded) in pools(&cluster.recorded_by("0.3.5")) {
            let (theirs, ours) = (theirs(recorded), ours(answer, pool));
            let agrees = agree(&theirs, &ours, cluster, pool);
            if !agrees && reason(cluster, Mode::Exact, pool, (&theirs, &ours)).is_none() {
                let values = cluster.case["values"].to_string();
                let registries = ["oci-image-registry-key", "autoselect_registries"];
                let selects = registries.iter().any(|key| values.contains(key));
                assert!(
                    selects,
                    "{} {pool}: the library {theirs}, metalmark {ours}",
                    cluster.id
                );
                differ.push(format!("{} {pool}", cluster.id));
            }
        }
    }
    assert_eq!(differ.len(), 451, "fidelity D8: {differ:?}");
}

/// A selector and a key that mean one image are one selection, at one level too. The library knows `image_key` alone: where
/// `os_image_key` names another image, metalmark refuses what the library boots.
#[test]
fn a_key_beside_the_selector_that_means_it_is_accepted() {
    let mut refused = Vec::new();
    for cluster in selecting() {
        for (pool, recorded) in pools(&cluster.recorded(Mode::Normalised)) {
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
