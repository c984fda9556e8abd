//! Each pool boots the image that Sylva's own library selects for it, each image has the reference that Sylva's chart gives it, and
//! what the library serves is served: `fixtures/oracle/selection.jsonl`, recorded by `tests/interop/selection`.

mod counts;
mod known;
mod project;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde_json::Value;

use counts::Counts;
use project::{Cluster, clusters};
use verdict::{Mode, Verdict, agree, ours, reason, theirs};

/// All clusters; the tests share them.
static CLUSTERS: LazyLock<Vec<Cluster>> = LazyLock::new(clusters);

/// The clusters that the library selects for. Where the chart makes no list of images, nothing is selected: see
/// `every_image_has_the_reference_that_the_chart_gives_it`.
fn selecting() -> impl Iterator<Item = &'static Cluster> {
    let selects =
        |cluster: &&Cluster| cluster.catalog != "switched" && cluster.images["error"].is_null();
    CLUSTERS.iter().filter(selects)
}

/// A cluster's pools with the library's answers.
fn pools(recorded: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let pools = recorded["pools"].as_object();
    pools
        .into_iter()
        .flatten()
        .map(|(pool, answer)| (&**pool, answer))
}

#[test]
fn every_pool_boots_what_the_library_selects() {
    let (mut counts, mut wrong) = (Counts::default(), Vec::new());
    for cluster in selecting() {
        for mode in [Mode::Exact, Mode::Normalized] {
            let answer = cluster.answer(mode);
            for (pool, recorded) in pools(&cluster.recorded(mode)) {
                let (theirs, ours) = (theirs(recorded), ours(answer, pool));
                let differs = if agree(&theirs, &ours, cluster, pool) {
                    None
                } else {
                    reason(cluster, mode, pool, (&theirs, &ours))
                };
                counts.count(cluster, mode, differs);
                if differs.is_none() && !agree(&theirs, &ours, cluster, pool) {
                    let id = &cluster.id;
                    wrong.push(format!(
                        "{id} {pool}, {mode:?}: the library {theirs}, metalmark {ours}"
                    ));
                }
            }
        }
    }
    none(&wrong);
    counts.is_documented();
}

/// 0.3.5 refuses `oci-image-registry-key` and ignores `os_image_selector_autoselect_registries`.
#[test]
fn every_pool_boots_what_the_older_library_selects() {
    let (mut wrong, mut differing) = (Vec::new(), 0);
    for cluster in selecting() {
        for (pool, recorded) in pools(&cluster.recorded_by("0.3.5")) {
            let (theirs, ours) = (theirs(recorded), ours(cluster.older_answer(), pool));
            differing += usize::from(ours != self::ours(cluster.answer(Mode::Exact), pool));
            let reason = || reason(cluster, Mode::Exact, pool, (&theirs, &ours));
            if !agree(&theirs, &ours, cluster, pool) && reason().is_none() {
                let id = &cluster.id;
                wrong.push(format!(
                    "{id} {pool}: the library {theirs}, metalmark {ours}"
                ));
            }
        }
    }
    none(&wrong);
    assert!(differing > 400, "{differing}");
}

#[test]
fn what_the_library_serves_is_served() {
    let mut wrong = Vec::new();
    for cluster in selecting() {
        for mode in [Mode::Exact, Mode::Normalized] {
            let (answer, recorded) = (cluster.answer(mode), cluster.recorded(mode));
            // What pools boot is compared by the test of pools; with them goes what each additional selector matches.
            let booted = answer
                .pools
                .keys()
                .filter_map(|pool| match ours(answer, pool) {
                    Verdict::Image(key) => Some(key),
                    _ => None,
                });
            // The library in the cluster matches them, whatever `matching` is; only a version that a name says may be another one.
            let recorded = match cluster.catalog.as_str() {
                "names alone" => recorded,
                _ => cluster.recorded(Mode::Exact),
            };
            let additional = additional(cluster, &recorded);
            let expected: BTreeSet<String> = booted.chain(additional).collect();
            let served: BTreeSet<String> = answer.served.iter().cloned().collect();
            // The version in a name has no build, and `exact` compares it as it is.
            let less = mode == Mode::Exact
                && cluster.catalog == "names alone"
                && served.is_subset(&expected);
            if served != expected && !less {
                wrong.push(format!(
                    "{}, {mode:?}: {served:?} instead of {expected:?}",
                    cluster.id
                ));
            }
        }
    }
    none(&wrong);
}

/// The library serves what each pool's selector matches and what the additional ones match, without the pools' keys being picked
/// first: the same, where no pool is refused.
#[test]
fn the_library_serves_what_pools_boot_and_additional_selectors_match() {
    let mut compared = 0;
    for cluster in selecting() {
        let recorded = cluster.recorded(Mode::Exact);
        let refused = pools(&recorded).any(|(_, answer)| !answer["error"].is_null());
        let (false, Some(_)) = (refused, recorded["served"].as_array()) else {
            continue;
        };
        let known = |key: &String| !cluster.images[key.as_str()].is_null();
        let booted = pools(&recorded).filter_map(|(_, answer)| answer["image"].as_str());
        let booted = booted
            .map(str::to_owned)
            .filter(known)
            .map(|key| key.replace('.', "-"));
        let additional = recorded["additional"].as_object().into_iter().flatten();
        let additional = additional.flat_map(|(_, keys)| keys_of(keys));
        let expected: BTreeSet<String> = booted.chain(additional).collect();
        assert_eq!(
            keys_of(&recorded["served"]).collect::<BTreeSet<_>>(),
            expected,
            "{}",
            cluster.id
        );
        compared += 1;
    }
    assert!(compared > 500, "{compared}");
}

#[test]
fn every_image_has_the_reference_that_the_chart_gives_it() {
    let mut wrong = Vec::new();
    for cluster in CLUSTERS
        .iter()
        .filter(|cluster| cluster.catalog != "switched")
    {
        let answer = cluster.answer(Mode::Exact);
        if cluster.images["error"] == "unknown-registry" {
            // The chart stops; here each image of that registry is an error, and has no reference.
            assert!(
                cluster.refuses(&["registry-unknown"], "control-plane"),
                "{}",
                cluster.id
            );
            assert!(
                answer.images.values().all(Option::is_none),
                "{}",
                cluster.id
            );
        } else if references(&cluster.images) != answer.images {
            wrong.push(format!("{}: {:?}", cluster.id, answer.images));
        }
    }
    none(&wrong);
}

/// Until 2025-03 the chart listed the images that are switched on, and the image server served them all.
#[test]
fn older_charts_serve_the_images_that_are_switched_on() {
    let mut wrong = Vec::new();
    for cluster in CLUSTERS
        .iter()
        .filter(|cluster| cluster.catalog == "switched")
    {
        // With nothing to list, the chart's text was no YAML: nothing was served.
        let listed = match cluster.images["error"].as_str() {
            Some(_) => BTreeMap::new(),
            None => references(&cluster.images),
        };
        let answer = cluster.answer(Mode::Exact);
        let (images, served) = (&answer.images, answer.served.iter());
        let served: BTreeMap<_, _> = served
            .map(|key| (key.clone(), images[key].clone()))
            .collect();
        if served != listed {
            wrong.push(format!("{}: {served:?} instead of {listed:?}", cluster.id));
        }
    }
    none(&wrong);
}

/// What the additional selectors match that metalmark takes for selectors: to the library, null and an empty list match every image.
fn additional(cluster: &Cluster, recorded: &Value) -> Vec<String> {
    let written = &cluster.case["values"]["os_image_server_additional_selectors"];
    let matched = recorded["additional"].as_object().into_iter().flatten();
    let mut keys = Vec::new();
    for (name, matched) in matched {
        if written[name.as_str()].is_object() {
            keys.extend(keys_of(matched));
        } else {
            assert!(
                cluster.refuses(&["value-type"], "control-plane"),
                "{}",
                cluster.id
            );
        }
    }
    if cluster.catalog == "names alone" {
        keys.retain(|key| key != verdict::UNKNOWN_NAMES);
    }
    keys
}

fn references(images: &Value) -> BTreeMap<String, Option<String>> {
    let images = images.as_object().expect("images by key").iter();
    images
        .map(|(key, uri)| (key.clone(), uri.as_str().map(str::to_owned)))
        .collect()
}

/// A list of keys, in metalmark's spelling of dotted names; none where the library refuses the selector.
fn keys_of(keys: &Value) -> impl Iterator<Item = String> {
    let keys = keys.as_array().into_iter().flatten();
    keys.map(|key| key.as_str().expect("a key").replace('.', "-"))
}

fn none(wrong: &[String]) {
    let shown: Vec<&str> = wrong.iter().take(20).map(String::as_str).collect();
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        shown.join("\n")
    );
}
