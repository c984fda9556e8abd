use capi::image::{Facts, Origin, fact};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof};
use proptest::sample::{Index, select};
use yaml_tree::place::Place;

use go_template::regexp::find_two_readings;

use super::schemes::{OwnScheme, SCHEMES};
use super::{Difference, NameBuilder, NameFacts, Scheme};
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

/// What nobody reads as a fact may hold what it likes.
#[test]
fn the_parts_of_no_scheme_are_ambiguous() {
    let all = SCHEMES
        .iter()
        .flat_map(|scheme| scheme.patterns().map(|pattern| (scheme.id, pattern)));
    let found = all.filter_map(|(id, pattern)| {
        let found =
            find_two_readings(&pattern, &["raw", "suffixes", "prefix", "suffix"]).expect("small");
        Some((id, found?))
    });
    assert_eq!(found.collect::<Vec<_>>(), []);
}

/// Forms of parts in any order, with and without a text between them.
fn form() -> impl Strategy<Value = String> {
    let parts = [
        "{os}",
        "{release}",
        "{k8s}",
        "{flavor}",
        "[-{k8s_flavor}]",
        "[{channel}]",
        "{arch}",
        "[-{builder}]",
        "{timestamp}",
        "[_{variant}]",
        "{version}",
        "{platform}",
        "{file}",
        "{os",
    ];
    let gaps = ["", "-", "_", "-v", ".", "]"];
    let pieces = vec((select(parts.to_vec()), select(gaps.to_vec())), 1..5);
    pieces.prop_map(|pieces| {
        pieces
            .into_iter()
            .map(|(part, gap)| format!("{part}{gap}"))
            .collect()
    })
}

fn any_facts() -> impl Strategy<Value = Facts> {
    let one = |fact: &'static str, values: &[&'static str]| {
        select(values.to_vec()).prop_map(move |value| (fact, value))
    };
    let facts = vec![
        one(fact::OS, &["ubuntu", "opensuse", "Rocky"]),
        one(fact::OS_RELEASE, &["noble", "22.04", "15.6", "9"]),
        one(
            fact::K8S_VERSION,
            &["1.31.8+rke2r1", "v1.31.8", "1.28.11-rc.3", "1.19.10"],
        ),
        one(fact::FLAVOR, &["plain", "hardened"]),
        one(fact::K8S_FLAVOR, &["rke2", "kubeadm"]),
        one(fact::OS_CHANNEL, &["lts", "stable"]),
        one(fact::ARCH, &["amd64", "arm64"]),
        one(fact::COMMIT_TAG, &["0.4.12", "1.0.0"]),
        one(fact::BUILD_TIMESTAMP, &["1770640807"]),
        one(fact::VARIANT, &["gen2", "core"]),
        one(fact::PLATFORM, &["metal"]),
        one(fact::IMAGE_FORMAT, &["raw", "qcow2"]),
    ];
    facts.prop_map(|facts| {
        Facts::new(
            Origin::Values,
            facts
                .into_iter()
                .map(|(name, value)| (name, value, Place::NONE)),
        )
    })
}

/// What a form builds, it reads as the same facts; a form that could not is none.
#[test]
fn a_form_reads_what_it_builds_or_is_refused() {
    property_of_each(
        256,
        &(form(), any_facts()),
        &["read", "refused"],
        |(form, facts)| {
            let Ok(scheme) = OwnScheme::new(&form) else {
                return "refused";
            };
            let builder = NameBuilder::from_form(&form).expect("a scheme");
            let names = builder.names(&facts).expect("all is known");
            let mut is_same = false;
            for name in names.iter().take(500) {
                if let Some(read) = scheme.read(name) {
                    let found = Difference::find(&read.into(), &facts).map(|it| it.fact);
                    is_same |= found.is_none();
                    // 15.6 without its dot is 156, and no builder takes that.
                    let is_release = found.as_ref().is_none_or(|fact| fact == fact::OS_RELEASE);
                    assert!(is_release, "{form}: {name} differs by {found:?}");
                }
            }
            assert!(is_same, "{form}: {names:?}");
            "read"
        },
    );
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
