//! The waves that clusters are spread over.

use std::collections::BTreeMap;

use metalmark::decide::plan::{ClusterPlan, PlanStep};
use metalmark::decide::waves::waves;
use metalmark::model::wave_settings::{ClusterPattern, Most, WaveSettings};
use snapbox::str;

use crate::support::stage::{assert_text, table};

/// Clusters that go to these minors, written `NAME MINOR…`.
fn plans(texts: &[&str]) -> Vec<ClusterPlan> {
    let plan = |text: &&str| {
        let mut words = text.split(' ');
        let cluster = words.next().expect("a name").into();
        let step = |minor: &str| PlanStep {
            version: format!("v1.{minor}.4"),
            minor: (1, minor.parse().expect("a minor")),
            images: BTreeMap::new(),
            let_in: BTreeMap::new(),
            removed: Vec::new(),
        };
        ClusterPlan {
            cluster,
            steps: words.map(step).collect(),
            ..ClusterPlan::default()
        }
    };
    texts.iter().map(plan).collect()
}

fn patterns(texts: &[&str]) -> Vec<ClusterPattern> {
    let pattern = |text: &&str| ClusterPattern::parse(text).expect("a pattern");
    texts.iter().map(pattern).collect()
}

/// Each wave in words: its minor and its clusters.
fn spread(clusters: &[&str], settings: &WaveSettings) -> Vec<String> {
    let waves = waves(&plans(clusters), settings);
    let of = |wave: &metalmark::decide::waves::Wave| {
        let names: Vec<&str> = wave.clusters.iter().map(|it| &*it.cluster).collect();
        format!("{} {}", wave.to, names.join(" "))
    };
    waves.iter().map(of).collect()
}

#[test]
fn a_share_of_a_small_fleet_is_one_cluster() {
    let waves = table(["1%", "34%", "67%", "100%", "2"], |most| {
        let settings = WaveSettings {
            most: Most::parse(most),
            ..WaveSettings::default()
        };
        spread(&["a 31", "b 31", "c 31"], &settings)
    });
    assert_text(
        &waves,
        str![[r#"
1%
    1.31 a
    1.31 b
    1.31 c
34%
    1.31 a
    1.31 b
    1.31 c
67%
    1.31 a b
    1.31 c
100%
    1.31 a b c
2
    1.31 a b
    1.31 c

"#]],
    );
    for text in ["0", "0%", "101%", "-1", "", "%"] {
        assert_eq!(Most::parse(text), None, "{text}");
    }
}

#[test]
fn the_whole_fleet_reaches_a_minor_before_any_of_it_goes_on() {
    let settings = WaveSettings {
        first: patterns(&["ahead"]),
        last: patterns(&["behind"]),
        ..WaveSettings::default()
    };
    let waves = spread(&["ahead 32", "behind 31 32", "late 31 32"], &settings);
    let expected = [
        "1.31 late",
        "1.31 behind",
        "1.32 ahead",
        "1.32 late",
        "1.32 behind",
    ];
    assert_eq!(waves, expected);
}

#[test]
fn a_cluster_that_is_first_and_last_is_first_and_patterns_count_in_their_order() {
    let fleet = ["a 31", "b 31", "c 31", "d 31"];
    let last = WaveSettings {
        last: patterns(&["c", "a"]),
        ..WaveSettings::default()
    };
    assert_eq!(spread(&fleet, &last), ["1.31 b d", "1.31 c", "1.31 a"]);
    let both = WaveSettings {
        first: patterns(&["c", "?"]),
        ..last
    };
    assert_eq!(spread(&fleet, &both), ["1.31 c", "1.31 a b d"]);
}

#[test]
fn a_later_wave_is_filled_where_a_group_keeps_a_cluster_out_of_the_one_before() {
    let settings = WaveSettings {
        most: Most::parse("3"),
        groups: patterns(&["x*", "y*", "?1"]),
        ..WaveSettings::default()
    };
    // `x1` and `y1` are in one group too.
    let waves = spread(&["x1 31", "x2 31", "y1 31", "y2 31", "z 31"], &settings);
    assert_eq!(waves, ["1.31 x1 y2 z", "1.31 x2 y1"]);
}

#[test]
fn a_large_group_makes_no_more_waves_than_it_has_clusters() {
    let settings = WaveSettings {
        most: Most::parse("3"),
        groups: patterns(&["y*", "z*"]),
        ..WaveSettings::default()
    };
    let fleet = [
        "a 31", "b 31", "c 31", "d 31", "y1 31", "y2 31", "z1 31", "z2 31", "z3 31", "z4 31",
    ];
    let waves = spread(&fleet, &settings);
    assert_eq!(
        waves,
        ["1.31 a y1 z1", "1.31 b c z2", "1.31 d y2 z3", "1.31 z4"]
    );
}
