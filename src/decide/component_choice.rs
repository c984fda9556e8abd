//! Which component bundle a node pool gets: by its key, or the one that fits the pool.
//!
//! A key is taken as it is, and the rule `component-mismatch` holds it against the pool. A selector narrows what fits already: the
//! pool's Kubernetes version and distribution, and its image's system and architecture, need not be said again.

use std::sync::Arc;

use capi::image::{Image, ImageKey, Images, fact};
use oci_artifacts::Reference;

use super::identity::find_image;
use super::matching::{PatternCache, candidates};
use crate::model::cluster::{BundleChoice, Cluster, Pool};
use crate::model::component::Declared;
use crate::model::selection::BundleOutcome;
use crate::model::selector::Matching;
use crate::model::version::distribution_of;

/// What a bundle has to be made for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wants<'a> {
    /// The version that the pool's nodes run.
    pub k8s_version: Option<&'a str>,
    /// The distribution that the cluster's bootstrap provider sets up.
    pub k8s_flavor: Option<&'a str>,
    /// The system of the pool's image.
    pub os: Option<&'a str>,
    /// Its release.
    pub os_release: Option<&'a str>,
    /// Its architecture.
    pub arch: Option<&'a str>,
}

impl<'a> Wants<'a> {
    /// Those of a pool that boots that image.
    pub fn for_pool(cluster: &'a Cluster, pool: &'a Pool, image: Option<&'a Image>) -> Self {
        let version = cluster.k8s_version_of(pool);
        let bootstrap = cluster.bootstrap_provider.as_ref();
        let fact = |name: &str| image.and_then(|image| image.facts.text(name));
        Self {
            k8s_version: version.map(|version| &*version.value),
            k8s_flavor: bootstrap.and_then(|provider| distribution_of(&provider.value)),
            os: fact(fact::OS),
            os_release: fact(fact::OS_RELEASE),
            arch: fact(fact::ARCH),
        }
    }
}

/// A reason against a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// It holds another Kubernetes version.
    Version,
    /// It does not say which version it holds.
    VersionUnproven,
    /// It is made for another Kubernetes distribution.
    Flavor,
    /// It does not install on the image's system.
    Distro,
    /// Its programs do not run on the image's architecture.
    Arch,
}

/// All reasons against a bundle.
pub fn mismatches(declared: &Declared, wants: &Wants<'_>) -> Vec<Mismatch> {
    let mut found = Vec::new();
    if let Some(wanted) = wants.k8s_version {
        match declared.holds(wanted) {
            Some(true) => {}
            Some(false) => found.push(Mismatch::Version),
            None => found.push(Mismatch::VersionUnproven),
        }
    }
    let flavors = declared.k8s_flavor.as_deref().zip(wants.k8s_flavor);
    if flavors.is_some_and(|(own, wanted)| own != wanted) {
        found.push(Mismatch::Flavor);
    }
    if !declared.installs_on(wants.os, wants.os_release) {
        found.push(Mismatch::Distro);
    }
    if !declared.runs_on(wants.arch) {
        found.push(Mismatch::Arch);
    }
    found
}

/// The bundle that a pool's choice means. A selector is compared with what the pool wants.
pub fn choose<'w>(
    choice: &BundleChoice,
    wants: impl FnOnce() -> Wants<'w>,
    bundles: &Images,
    patterns: &PatternCache,
) -> BundleOutcome {
    if let Some(key) = choice.explicit_key() {
        return match find_image(&key.value, bundles)
            .or_else(|| find_by_reference(&key.value, bundles))
        {
            Some(key) => BundleOutcome::Bundle(Arc::clone(key)),
            None => BundleOutcome::Unknown(Arc::clone(&key.value)),
        };
    }
    let Some(selector) = &choice.selector else {
        return BundleOutcome::Nothing;
    };
    let matching = candidates(&selector.value, bundles, Matching::Normalized, patterns);
    let matching = matching
        .into_iter()
        .filter(|found| found.differs.is_empty());
    let wants = wants();
    let fits = |key: &ImageKey| {
        let declared = bundles
            .get(key)
            .map(|bundle| Declared::from_facts(&bundle.facts));
        declared.is_some_and(|declared| mismatches(&declared, &wants).is_empty())
    };
    let mut keys: Vec<ImageKey> = matching.map(|found| found.key).filter(fits).collect();
    match keys.len() {
        0 => BundleOutcome::NoMatch,
        1 => BundleOutcome::Bundle(keys.remove(0)),
        _ => BundleOutcome::Several(keys),
    }
}

/// The bundle of that address or reference, as the proposal writes it, without a scheme. A digest that only one side has
/// distinguishes nothing.
pub fn find_by_reference<'a>(written: &str, bundles: &'a Images) -> Option<&'a ImageKey> {
    let meant = Reference::parse(written).ok();
    let complete = |one: &Reference, other: &Reference| {
        let digest = one.digest.as_ref().or(other.digest.as_ref());
        digest.map_or_else(|| one.clone(), |digest| one.with_digest(digest))
    };
    let is_it = |bundle: &&Image| {
        let uri = bundle.uri.as_ref().map(|uri| &uri.value);
        let own = uri.and_then(|uri| Reference::parse(uri).ok());
        let both = own.zip(meant.as_ref());
        let is_same =
            both.is_some_and(|(own, meant)| complete(&own, meant) == complete(meant, &own));
        is_same || uri.is_some_and(|uri| **uri == *written)
    };
    bundles.values().find(is_it).map(|bundle| &bundle.key)
}

#[cfg(test)]
mod tests {
    use super::{BundleChoice, BundleOutcome, Mismatch, Wants, choose, mismatches};
    use crate::decide::matching::PatternCache;
    use crate::model::component::Declared;
    use crate::model::selector::{Selector, Term, Wanted};
    use capi::image::{Facts, Image, Images, Origin};
    use oci_artifacts::Address;
    use yaml_tree::place::{Located, Place};

    fn bundles(all: &[(&str, &[(&str, &str)])]) -> Images {
        let image = |(key, facts): &(&str, &[(&str, &str)])| {
            let facts = facts
                .iter()
                .map(|(name, value)| (*name, *value, Place::NONE));
            let uri = format!("oci://r.example/{key}:1");
            let image = Image {
                key: (*key).into(),
                name: (*key).into(),
                artifact: (*key).into(),
                place: Place::NONE,
                uri: Some(Located::new(Address::new(uri), Place::NONE)),
                digest: None,
                pulled: None,
                facts: Facts::new(Origin::Lock, facts),
                enabled: None,
                built: false,
                list: "component_bundles",
                registry: None,
            };
            (image.key.clone(), image)
        };
        all.iter().map(image).collect()
    }

    fn named(key: &str) -> BundleChoice {
        BundleChoice {
            key: Some(Located::new(key.into(), Place::NONE)),
            ..BundleChoice::default()
        }
    }

    fn selected(terms: &[(&str, &str)]) -> BundleChoice {
        let term = |(fact, pattern): &(&str, &str)| Term {
            fact: (*fact).into(),
            wanted: Wanted::Pattern((*pattern).into()),
            place: Place::NONE,
            key_place: Place::NONE,
        };
        let terms = terms.iter().map(term).collect();
        BundleChoice {
            selector: Some(Located::new(Selector { terms }, Place::NONE)),
            ..BundleChoice::default()
        }
    }

    const RKE2: &[(&str, &str)] = &[
        ("k8s-version", "1.31.8+rke2r1"),
        ("k8s-flavor", "rke2"),
        ("distros", "ubuntu"),
        ("archs", "amd64"),
    ];

    fn wants() -> Wants<'static> {
        Wants {
            k8s_version: Some("v1.31.8+rke2r1"),
            k8s_flavor: Some("rke2"),
            os: Some("ubuntu"),
            os_release: Some("noble"),
            arch: Some("amd64"),
        }
    }

    #[test]
    fn a_key_or_the_proposals_reference_names_a_bundle() {
        let (all, cache) = (bundles(&[("rke2", RKE2)]), PatternCache::default());
        let chosen = |key: &str| choose(&named(key), wants, &all, &cache);
        assert_eq!(chosen("rke2"), BundleOutcome::Bundle("rke2".into()));
        assert_eq!(
            chosen("r.example/rke2:1"),
            BundleOutcome::Bundle("rke2".into())
        );
        assert_eq!(chosen("other"), BundleOutcome::Unknown("other".into()));
        assert_eq!(chosen(""), BundleOutcome::Nothing);
    }

    #[test]
    fn a_selector_takes_the_one_that_fits() {
        let old: &[(&str, &str)] = &[("k8s-version", "1.30.1+rke2r1")];
        let cis: &[(&str, &str)] = &[("k8s-version", "1.31.8+rke2r1"), ("variant", "cis")];
        let all = bundles(&[("cis", cis), ("old", old), ("rke2", RKE2)]);
        let cache = PatternCache::default();
        let chosen = |terms: &[(&str, &str)]| choose(&selected(terms), wants, &all, &cache);
        let both = vec!["cis".into(), "rke2".into()];
        assert_eq!(chosen(&[]), BundleOutcome::Several(both));
        assert_eq!(
            chosen(&[("variant", "cis")]),
            BundleOutcome::Bundle("cis".into())
        );
        assert_eq!(
            chosen(&[("k8s-flavor", "rke2")]),
            BundleOutcome::Bundle("rke2".into())
        );
        assert_eq!(chosen(&[("variant", "fips")]), BundleOutcome::NoMatch);
    }

    #[test]
    fn everything_that_does_not_fit_is_reported() {
        let all = bundles(&[("rke2", RKE2)]);
        let declared = Declared::from_facts(&all["rke2"].facts);
        assert_eq!(mismatches(&declared, &wants()), []);
        let wrong = Wants {
            k8s_version: Some("v1.32.1+rke2r1"),
            k8s_flavor: Some("kubeadm"),
            os: Some("debian"),
            os_release: None,
            arch: Some("arm64"),
        };
        use Mismatch::{Arch, Distro, Flavor, Version, VersionUnproven};
        assert_eq!(
            mismatches(&declared, &wrong),
            [Version, Flavor, Distro, Arch]
        );
        assert_eq!(
            mismatches(&Declared::default(), &wants()),
            [VersionUnproven]
        );
        assert_eq!(mismatches(&Declared::default(), &Wants::default()), []);
    }
}
