//! Kubernetes versions: what is read as one, which one is older, and which says no more than another.

use std::cmp::Ordering;

use metalmark::model::version::{Version, distribution_of, flavor_of};

use super::super::support::project::Project;

fn version(text: &str) -> Version {
    Version::parse(text).unwrap_or_else(|| panic!("`{text}` is a version"))
}

#[test]
fn a_version_in_every_spelling() {
    let cases = [
        // What is written; the version, or nothing.
        ("v1.31.8+rke2r1", "1.31.8+rke2r1"),
        (" 1.31.8 ", "1.31.8"),
        ("1-31", "1.31"),
        ("v1-31-8", "1.31.8"),
        ("1.31.8%2Brke2r1", "1.31.8+rke2r1"),
        ("1.31.8%2brke2r1", "1.31.8+rke2r1"),
        ("1.31.8-rke2r1", "1.31.8+rke2r1"),
        ("1.31.8-rke2r12", "1.31.8+rke2r12"),
        ("1.31.8-k3s1", "1.31.8+k3s1"),
        ("1.31.8-k0s.0", "1.31.8+k0s.0"),
        // A build needs its number, and there is one build at most: else it is a prerelease.
        ("1.31.8-rke2r", "1.31.8-rke.2r"),
        ("1.31.8-k3s", "1.31.8-k.3s"),
        ("1.31.8-rke2rx", "1.31.8-rke.2rx"),
        ("1.31.8-rke2r1+x", "1.31.8-rke.2r.1+x"),
        ("1.31.8-rke2r1x", "1.31.8-rke.2r.1x"),
        ("1.31.8-rc1", "1.31.8-rc.1"),
        ("1.31.8-rc.1", "1.31.8-rc.1"),
        ("1.31.8-rc-1", "1.31.8-rc.1"),
        ("1.31.8-rc1-rke2r1", "1.31.8-rc.1+rke2r1"),
        ("1.31.8-rc1+rke2r1", "1.31.8-rc.1+rke2r1"),
        ("1.31.8+vmware.1-fips.1", "1.31.8+vmware.1-fips.1"),
        ("1.31-rc1", "1.31-rc.1"),
        ("1.31+rke2r1", "1.31+rke2r1"),
        ("4294967295.0", "4294967295.0"),
        ("4294967296.0", ""),
        ("vv1.31", ""),
        ("1.31.8+a+b", ""),
        ("1.31.8+", ""),
        ("1.31.8-", ""),
        ("1.31.8-1", ""),
        ("1.31.8-rc_1", ""),
        ("1.31.8+rke_1", ""),
        ("1.31.8rc1", ""),
        ("1.31-8", ""),
        ("1-31.8", ""),
        ("1_31", ""),
        ("1.31.", ""),
        ("1.31.x", ""),
        ("1-31-x", "1.31-x"),
        ("1.31%20", ""),
    ];
    for (written, expected) in cases {
        let read = Version::parse(written).map_or(String::new(), |version| version.to_string());
        assert_eq!(read, expected, "{written}");
    }
}

#[test]
fn versions_are_ordered_by_age() {
    let ages = [
        "0.99.99",
        "1.9",
        "1.9.0",
        "1.31",
        "1.31.0-alpha.1",
        "1.31.0-beta.0",
        "1.31.0-rc.2",
        "1.31.0-rc.10",
        "1.31.0",
        "1.31.0+rke2r1",
        "1.31.0+rke2r2",
        "1.31.0+rke2r10",
        "1.31.1-rc.1+rke2r9",
        "1.31.1",
        "1.31.2+k3s1",
        "1.31.2+rke2r1",
        "1.31.10",
        "1.32.0-rc.1",
        "1.32.0",
        "2.0.0-rc.1",
        "2.0.0",
    ];
    for (left, older) in ages.iter().enumerate() {
        for (right, newer) in ages.iter().enumerate() {
            let expected = left.cmp(&right);
            assert_eq!(
                version(older).cmp(&version(newer)),
                expected,
                "{older} {newer}"
            );
            assert_eq!(version(older).partial_cmp(&version(newer)), Some(expected));
        }
    }
    assert_ne!(
        version("1.31.8+rke2r01").cmp(&version("1.31.8+rke2r1")),
        Ordering::Equal
    );
    assert_ne!(version("1.31.8+rke2r01"), version("1.31.8+rke2r1"));
}

#[test]
fn a_version_admits_what_says_all_that_it_says() {
    let cases = [
        ("1.31", "1.31.8+rke2r1", true),
        ("1.31", "1.31", true),
        ("1.31", "1.32.0", false),
        ("1.31", "2.31.0", false),
        ("1.31", "1.31.8-rc.1", true),
        ("1.31.8", "1.31", false),
        ("1.31.8", "1.31.8+rke2r1", true),
        ("1.31.8", "1.31.7+rke2r1", false),
        ("1.31.8", "1.31.8-rc.1", false),
        ("1.31.8-rc.1", "1.31.8", false),
        ("1.31.8-rc.1", "1.31.8-rc.1+rke2r1", true),
        ("1.31.8+rke2r1", "1.31.8", false),
        ("1.31.8+rke2r1", "1.31.8+rke2r1", true),
        ("1.31.8+rke2r1", "1.31.8+rke2r2", false),
        ("1.31+rke2r1", "1.31.8+rke2r1", true),
        ("1.31+rke2r1", "1.31.8", false),
    ];
    for (left, right, expected) in cases {
        assert_eq!(
            version(left).admits(&version(right)),
            expected,
            "{left} {right}"
        );
    }
}

#[test]
fn minors_ahead_and_between() {
    let cases: [(&str, &str, Option<i64>, &[&str]); 8] = [
        ("1.31.8", "1.31.1", Some(0), &[]),
        ("1.32.0", "1.31.9", Some(1), &[]),
        ("1.33.0", "1.31.9", Some(2), &["1.32"]),
        ("1.34.0", "1.31.9", Some(3), &["1.32", "1.33"]),
        ("1.31.9", "1.34.0", Some(-3), &[]),
        ("2.34.0", "1.31.0", None, &[]),
        ("1.31.0", "2.34.0", None, &[]),
        ("1.4294967295", "1.0", Some(4_294_967_295), &[]),
    ];
    for (newer, older, ahead, between) in cases {
        let (newer, older) = (version(newer), version(older));
        assert_eq!(newer.minors_ahead_of(&older), ahead, "{newer} {older}");
        let passed = newer.minors_passed_from(&older);
        if ahead.is_some_and(|ahead| ahead > 1000) {
            // As many as Kubernetes has had, whatever is written.
            assert_eq!((passed.len(), &*passed[99]), (100, "1.100"));
        } else {
            assert_eq!(passed, between, "{newer} {older}");
        }
    }
}

#[test]
fn what_a_bootstrap_provider_sets_up() {
    let cases = [
        ("cabpk", Some("kubeadm"), Some("kubeadm")),
        ("cabpr", Some("rke2"), Some("rke2")),
        ("cabpck", Some("ck8s"), Some("ck8s")),
        ("cabpoa", Some("openshift"), Some("openshift")),
        ("cabpk3s", None, Some("k3s")),
        ("cabp3", None, Some("k3s")),
        ("k3s", None, Some("k3s")),
        ("cabpt", None, None),
        ("", None, None),
    ];
    for (provider, flavor, distribution) in cases {
        assert_eq!(flavor_of(provider), flavor, "{provider}");
        assert_eq!(distribution_of(provider), distribution, "{provider}");
    }
}

#[test]
fn a_version_is_missed_where_any_pool_selects_an_image() {
    let missed = |pools: &str| {
        let values = format!("cluster:\n  capi_providers: {{infra_provider: capm3}}\n  {pools}\n");
        let found = Project::of(&values, "").found("value-missing");
        let is_it = |line: &&String| line.contains("cluster.k8s_version");
        found.iter().filter(is_it).count()
    };
    assert_eq!(
        missed("machine_deployments: {md0: {capm3: {image_key: a}}, md1: {}}"),
        1
    );
    assert_eq!(missed("machine_deployments: {md0: {}, md1: {}}"), 0);
}
