use proptest::collection::vec;
use proptest::prelude::{
    ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use proptest::sample::{Index, select};

use super::schemes::SCHEMES;
use super::{NameFacts, Scheme};
use crate::model::version::Version;

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
fn what_an_example_says_makes_a_name_that_says_it() {
    for (scheme, name) in examples() {
        let facts = NameFacts::parse(name).unwrap_or_default();
        let written = scheme.name(&facts);
        let written = written.unwrap_or_else(|| panic!("`{name}` is written"));
        assert_eq!(NameFacts::parse(&written), Some(facts), "{name}: {written}");
    }
}

#[test]
fn facts_become_the_names_that_their_owners_give() {
    for (scheme, name) in [
        ("sylva-dib", "ubuntu-noble-hardened-rke2-1-31-8-0.4.12.raw"),
        ("sylva-dib", "opensuse-15-6-plain-kubeadm-1-31-8"),
        ("metal3", "UBUNTU_24.04_NODE_IMAGE_K8S_v1.35.0.qcow2"),
        ("capa-ami", "capa-ami-ubuntu-22.04-v1.35.2-1773582653"),
        (
            "ib-cluster-api",
            "cluster-api-ubuntu-2404-v1-34-3-1770640807",
        ),
        ("gce-family", "capi-ubuntu-2404-k8s-v1-17"),
        ("capibm", "capibm-powervs-centos-streams9-1-32-3"),
        ("ib-kube", "ubuntu-2204-efi-kube-v1.30.5"),
        ("do-vultr", "Cluster API Kubernetes v1.28.9 on Ubuntu 24.04"),
        ("flatcar-sysext", "kubernetes-v1.33.2-x86-64.raw"),
    ] {
        let facts = NameFacts::parse(name).unwrap_or_default();
        let written = Scheme::named(scheme).and_then(|scheme| scheme.name(&facts));
        assert_eq!(written.as_deref(), Some(name));
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

/// Facts of a scheme, each taken from one of its examples.
fn mixed(scheme: &Scheme, choices: &[Index], minor: u32, patch: u32) -> NameFacts {
    let read = scheme
        .examples
        .iter()
        .map(|(name, _)| NameFacts::parse(name));
    let known: Vec<NameFacts> = read.flatten().collect();
    let mut facts = choices[0].get(&known).clone();
    for (word, choice) in [
        "flavor",
        "builder",
        "format",
        "compression",
        "arch",
        "firmware",
    ]
    .iter()
    .chain(&["platform", "variant", "timestamp", "schematic"])
    .zip(&choices[1..])
    {
        let other = choice.get(&known).word(word).map(str::to_owned);
        if let Some(slot) = facts.word_mut(word) {
            *slot = other;
        }
    }
    // A system and its release are one.
    let system = choices[11].get(&known);
    facts.os.clone_from(&system.os);
    facts.release.clone_from(&system.release);
    facts.channel.clone_from(&system.channel);
    if let Some(version) = &mut facts.k8s_version {
        *version = Version {
            minor,
            patch: version.patch.map(|_| patch),
            ..version.clone()
        };
    }
    facts
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(384))]

    #[test]
    fn facts_make_a_name_that_says_them(
        scheme in 0..SCHEMES.len(), choices in vec(any::<Index>(), 12), minor in 0..100u32, patch in 0..100u32
    ) {
        let scheme = &SCHEMES[scheme];
        let facts = mixed(scheme, &choices, minor, patch);
        if let Some(name) = scheme.written(&facts) {
            prop_assert_eq!(NameFacts::parse(&name), Some(facts), "{}", name);
        }
    }

    #[test]
    fn a_changed_name_fits_one_scheme_at_most(
        example in any::<Index>(), at in any::<Index>(), cut in 0..4usize, put in "[-_./ a-z0-9+]{0,4}"
    ) {
        let all = examples();
        let name: Vec<char> = example.get(&all).1.chars().collect();
        let start = at.index(name.len() + 1);
        let end = (start + cut).min(name.len());
        let changed: String = name[..start].iter().copied().chain(put.chars()).chain(name[end..].iter().copied()).collect();
        prop_assert!(fitting(&changed).len() <= 1, "{} fits {:?}", changed, fitting(&changed));
    }

    #[test]
    fn words_in_any_order_fit_one_scheme_at_most(words in vec((word(), "[-_ /]"), 1..8), extension in "|\\.raw|\\.qcow2|\\.ova\\.gz") {
        let mut name: String = words.iter().map(|(word, gap)| format!("{word}{gap}")).collect();
        name.pop();
        name.push_str(&extension);
        prop_assert!(fitting(&name).len() <= 1, "{} fits {:?}", name, fitting(&name));
    }

    #[test]
    fn no_name_breaks_the_grammar(name in ".{0,60}") {
        let _ = NameFacts::parse(&name).map(|facts| facts.facts());
    }
}
