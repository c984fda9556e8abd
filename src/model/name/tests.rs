use capi::image::fact;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof};
use proptest::sample::{Index, select};

use super::schemes::SCHEMES;
use super::{NameFacts, Scheme};
use crate::testing::seen::{property, property_of_each};

/// What a name says, as the examples are written.
fn said(facts: &NameFacts) -> String {
    let facts = facts.facts();
    let facts = facts.iter().map(|(fact, value)| format!("{fact}={value}"));
    facts.collect::<Vec<_>>().join(" ")
}

fn fitting(name: &str) -> Vec<&'static str> {
    let fits = SCHEMES.iter().filter(|scheme| scheme.read(name).is_some());
    fits.map(|scheme| scheme.id).collect()
}

fn examples() -> Vec<(&'static Scheme, &'static str)> {
    let all = SCHEMES.iter().flat_map(|scheme| {
        let names = scheme.examples.iter();
        names.map(move |(name, _)| (scheme, *name))
    });
    all.collect()
}

#[test]
fn every_example_says_exactly_its_facts_and_fits_no_other_scheme() {
    for scheme in SCHEMES {
        for (name, facts) in scheme.examples {
            assert_eq!(fitting(name), [scheme.id], "{name}");
            let read = NameFacts::parse(name).unwrap_or_else(|| panic!("`{name}` is read"));
            assert_eq!(said(&read), *facts, "{name}");
        }
    }
}

#[test]
fn every_scheme_has_examples_and_an_id_of_its_own() {
    let mut ids: Vec<&str> = SCHEMES.iter().map(|scheme| scheme.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 17);
    assert_eq!(ids.len(), SCHEMES.len());
    assert!(SCHEMES.iter().all(|scheme| !scheme.examples.is_empty()));
}

#[test]
fn a_name_of_no_scheme_says_nothing() {
    for name in [
        "",
        "my-image",
        "ubuntu-noble-plain",
        "ubuntu-jammy-plain-rke2-1-26-9-x",
        // Two separators in one version.
        "ubuntu-jammy-plain-rke2-1.26-9",
        "capi-ubuntu-2204-v1.27.4",
        "kubernetes-v1.33.2-x86-64",
    ] {
        assert_eq!(NameFacts::parse(name), None, "{name}");
    }
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        select(vec![
            "ubuntu",
            "rockylinux",
            "rocky",
            "debian",
            "flatcar",
            "photon",
            "opensuse",
            "UBUNTU",
            "noble",
            "jammy",
            "22.04",
            "2404",
            "9",
            "15-6",
            "plain",
            "hardened",
            "rke2",
            "kubeadm",
            "kube",
            "v1.31.8",
            "1-31-8",
            "1.31",
            "v1-34",
            "amd64",
            "arm64",
            "x86-64",
            "efi",
            "stable",
            "capi",
            "capa-ami",
            "cluster-api",
            "kairos",
            "nkp",
            "k8s",
            "NODE_IMAGE",
            "K8S",
            "core",
            "generic",
            "k3sv1.33.1+k3s1",
            "capi-image",
            "kubernetes",
            "1770640807",
            "release",
            "cis",
        ])
        .prop_map(str::to_owned),
        "[a-zA-Z0-9.+]{1,6}",
    ]
}

/// A name fits one scheme at most, and is read where it fits one.
fn reading(name: &str) -> &'static str {
    let fitting = fitting(name);
    assert!(fitting.len() <= 1, "{name} fits {fitting:?}");
    let facts = NameFacts::parse(name).map(|facts| said(&facts));
    assert_eq!(facts.is_some(), fitting.len() == 1, "{name}: {facts:?}");
    if facts.is_some() {
        "read"
    } else {
        "of no scheme"
    }
}

#[test]
fn no_change_of_a_name_breaks_the_grammar() {
    let changes = (
        any::<Index>(),
        any::<Index>(),
        0..4_usize,
        "[-_./ a-z0-9+é]{0,4}",
    );
    let outcomes = ["read", "of no scheme"];
    property_of_each(384, &changes, &outcomes, |(example, at, cut, put)| {
        let all = examples();
        let mut name: Vec<char> = example.get(&all).1.chars().collect();
        let start = at.index(name.len() + 1);
        let end = (start + cut).min(name.len());
        drop(name.splice(start..end, put.chars()));
        reading(&String::from_iter(name))
    });
}

#[test]
fn words_in_any_order_fit_one_scheme_at_most() {
    let words = vec((word(), "[-_ /]"), 1..8);
    let names = (words, "|\\.raw|\\.qcow2|\\.ova\\.gz");
    property(384, &names, |(words, extension)| {
        let mut name: String = words
            .iter()
            .map(|(word, gap)| format!("{word}{gap}"))
            .collect();
        name.pop();
        reading(&(name + &extension));
    });
}

#[test]
fn values_have_spellings() {
    for (name, one, other) in [
        (fact::COMPRESSION, "gzip", "gz"),
        (fact::COMPRESSION, "zstd", "zst"),
        (fact::IMAGE_FORMAT, "live-iso", "ISO"),
        (fact::SHA256, "sha256:AB", "ab"),
        (fact::SIZE, "10", "10"),
        (fact::SIZE, "20Gi", "21474836480"),
    ] {
        assert!(super::same_value(name, None, one, other), "{one} {other}");
    }
    for (name, one, other) in [(fact::SIZE, "10", "11"), (fact::IMAGE_FORMAT, "raw", "iso")] {
        assert!(!super::same_value(name, None, one, other), "{one} {other}");
    }
}
