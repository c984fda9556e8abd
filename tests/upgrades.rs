//! How a fleet is upgraded, at the edges: the steps of one cluster, and the waves that clusters are spread over.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use metalmark::decide::plan::{ClusterPlan, PlanStep};
use metalmark::decide::waves::waves;
use metalmark::model::wave_settings::{ClusterPattern, Most, WaveSettings};

use super::support::Metalmark;
use super::support::manifests::repository;

/// What `plan --to 1.31` says first of a cluster that boots an image of 1.30.2, with images of these further versions.
fn planned(versions: &[&str]) -> String {
    let (mut listed, mut facts) = ("os_images:\n".to_owned(), "os_images:\n".to_owned());
    for (index, version) in ["1.30.2"].iter().chain(versions).enumerate() {
        let _ = writeln!(
            listed,
            "  image-{index}: {{uri: 'oci://registry.example.org/image-{index}:1'}}"
        );
        let _ = writeln!(
            facts,
            "  image-{index}: {{filename: a.raw, image-format: raw, sha256: {}, os: ubuntu, os-release: noble, flavor: plain, \
             hardened: 'false', k8s-flavor: kubeadm, k8s-version: {version}}}",
            "a".repeat(64)
        );
    }
    let project = "version: 1\nvalues: [catalog.yaml]\nclusters: [{name: edge, values: [edge.yaml]}]\nimages: {facts: [info.yaml]}\n";
    let values = "cluster:\n  k8s_version: v1.30.2\n  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}\n  \
                  control_plane_replicas: 3\n  capm3: {image_key: image-0}\n";
    let folder = repository(&[
        ("metalmark.yaml", project),
        ("catalog.yaml", &listed),
        ("info.yaml", &facts),
        ("edge.yaml", values),
    ]);
    let arguments = ["plan", "--to", "1.31"];
    let outcome = Metalmark::within(folder.path()).args(arguments).run();
    outcome.stdout.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_step_leads_to_a_whole_version_that_is_released() {
    for (versions, expected) in [
        (&["1.31.4", "1.31.5-rc1"][..], "edge: 1.30.2 → 1.31.4"),
        (&["1.31.4", "1.31.3"], "edge: 1.30.2 → 1.31.4"),
        // The newest patch of its own minor is no step of its own.
        (&["1.30.9", "1.31.4"], "edge: 1.30.2 → 1.31.4"),
        (
            &["1.31.5-rc1"],
            "edge: 1.30.2, blocked before 1.31: an image is missing",
        ),
        (
            &["1.31"],
            "edge: 1.30.2, blocked before 1.31: an image is missing",
        ),
    ] {
        assert_eq!(planned(versions), expected, "{versions:?}");
    }
}

/// A cluster that goes to each of these minors.
fn plan(cluster: &str, minors: &[u32]) -> ClusterPlan {
    let step = |minor: &u32| PlanStep {
        version: format!("v1.{minor}.4"),
        minor: (1, *minor),
        images: BTreeMap::new(),
    };
    ClusterPlan {
        cluster: cluster.into(),
        labels: Default::default(),
        machines: Default::default(),
        from: None,
        steps: minors.iter().map(step).collect(),
        blocked: None,
    }
}

fn patterns(texts: &[&str]) -> Vec<ClusterPattern> {
    let pattern = |text: &&str| ClusterPattern::parse(text).expect("a pattern");
    texts.iter().map(pattern).collect()
}

/// Each wave in words: its minor and its clusters.
fn spread(plans: &[ClusterPlan], settings: &WaveSettings) -> Vec<String> {
    let of = |wave: &metalmark::decide::waves::Wave| {
        let names: Vec<&str> = wave.clusters.iter().map(|it| &*it.cluster).collect();
        format!("{} {}", wave.to, names.join(" "))
    };
    waves(plans, settings).iter().map(of).collect()
}

#[test]
fn a_share_of_a_small_fleet_is_one_cluster() {
    let plans = ["a", "b", "c"].map(|name| plan(name, &[31]));
    for (most, expected) in [
        ("1%", &["1.31 a", "1.31 b", "1.31 c"][..]),
        ("34%", &["1.31 a", "1.31 b", "1.31 c"]),
        ("67%", &["1.31 a b", "1.31 c"]),
        ("100%", &["1.31 a b c"]),
        ("2", &["1.31 a b", "1.31 c"]),
    ] {
        let settings = WaveSettings {
            most: Most::parse(most),
            ..WaveSettings::default()
        };
        assert_eq!(spread(&plans, &settings), expected, "{most}");
    }
    for text in ["0", "0%", "101%", "-1", "", "%"] {
        assert_eq!(Most::parse(text), None, "{text}");
    }
}

#[test]
fn the_whole_fleet_reaches_a_minor_before_any_of_it_goes_on() {
    let plans = [
        plan("ahead", &[32]),
        plan("behind", &[31, 32]),
        plan("late", &[31, 32]),
    ];
    let settings = WaveSettings {
        first: patterns(&["ahead"]),
        last: patterns(&["behind"]),
        ..WaveSettings::default()
    };
    let expected = [
        "1.31 late",
        "1.31 behind",
        "1.32 ahead",
        "1.32 late",
        "1.32 behind",
    ];
    assert_eq!(spread(&plans, &settings), expected);
}

#[test]
fn a_cluster_that_is_first_and_last_is_first_and_patterns_count_in_their_order() {
    let plans = ["a", "b", "c", "d"].map(|name| plan(name, &[31]));
    let settings = WaveSettings {
        first: patterns(&["c", "?"]),
        last: patterns(&["c", "a"]),
        ..WaveSettings::default()
    };
    assert_eq!(spread(&plans, &settings), ["1.31 c", "1.31 a b d"]);
    let settings = WaveSettings {
        last: patterns(&["c", "a"]),
        ..WaveSettings::default()
    };
    assert_eq!(spread(&plans, &settings), ["1.31 b d", "1.31 c", "1.31 a"]);
}

#[test]
fn a_later_wave_is_filled_where_a_group_keeps_a_cluster_out_of_the_one_before() {
    let plans = ["x1", "x2", "y1", "y2", "z"].map(|name| plan(name, &[31]));
    let settings = WaveSettings {
        most: Most::parse("3"),
        groups: patterns(&["x*", "y*", "?1"]),
        ..WaveSettings::default()
    };
    // `x1` and `y1` are in one group too.
    let expected = ["1.31 x1 y2 z", "1.31 x2 y1"];
    assert_eq!(spread(&plans, &settings), expected);
}

#[test]
fn of_several_windows_the_last_that_matches_counts() {
    let window = |pattern: &str, words: &str| (patterns(&[pattern]).remove(0), words.into());
    let settings = WaveSettings {
        windows: vec![window("*", "any day"), window("a", "never")],
        ..WaveSettings::default()
    };
    let plans = ["a", "b"].map(|name| plan(name, &[31]));
    let found = waves(&plans, &settings);
    let windows: Vec<_> = { found[0].clusters.iter() }
        .map(|step| step.window.as_deref())
        .collect();
    assert_eq!(windows, [Some("never"), Some("any day")]);
}
