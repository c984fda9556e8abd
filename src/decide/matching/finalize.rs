//! Prepares selectors for matching: adds the terms that Sylva adds, and refuses the selectors that Sylva refuses.

use capi::image::fact;
use yaml_tree::place::Place;

use super::{ClusterFacts, Library};
use crate::model::selector::{Selector, Term, Wanted};
use crate::model::version::flavor_of;

/// The key that lets a selector name facts beyond [`SELECTOR_KEYS`], whatever its value (docs/sylva.md#selectors).
pub const USE_EXTRA_KEYS: &str = "_use_extra_keys_";

/// The key that matches the image's own key.
pub const IMAGE_KEY: &str = "_os_images_key_";

/// The registry that an image comes from: [`Library::WithRegistries`] compares it.
pub const REGISTRY_KEY: &str = fact::OCI_REGISTRY;

/// The facts that a selector may name without [`USE_EXTRA_KEYS`] (docs/sylva.md#selectors).
pub const SELECTOR_KEYS: [&str; 10] = [
    USE_EXTRA_KEYS,
    IMAGE_KEY,
    fact::OS,
    fact::OS_RELEASE,
    fact::K8S_FLAVOR,
    fact::K8S_VERSION,
    fact::HARDENED,
    fact::COMMIT_TAG,
    fact::FLAVOR,
    REGISTRY_KEY,
];

/// The selector with what Sylva adds: Kubernetes version, flavor and registry, unless the user gave them
/// (docs/sylva.md#what-is-added-to-a-selector). The version loses one leading `v`, its `+` is escaped, its dots are not.
///
/// Refused without a version or with a bootstrap provider that Sylva does not know, even where the user gave both facts.
pub fn finalize(selector: &Selector, cluster: &ClusterFacts<'_>) -> Result<Selector, String> {
    let version = cluster
        .k8s_version
        .ok_or("the cluster has no `k8s_version` for its selectors to match")?;
    let version = version.strip_prefix('v').unwrap_or(version);
    let provider = cluster
        .bootstrap_provider
        .ok_or("the cluster has no `bootstrap_provider` to determine the flavor of its images")?;
    let flavor = flavor_of(provider).ok_or_else(|| {
        format!("no image flavor is known for the bootstrap provider `{provider}`")
    })?;
    let registries = cluster
        .autoselect_registries
        .filter(|pattern| !pattern.is_empty())
        .unwrap_or(".*");
    let version = version.replace('+', r"\+");
    let mut added = vec![(fact::K8S_VERSION, &*version), (fact::K8S_FLAVOR, flavor)];
    if cluster.library == Library::WithRegistries {
        added.push((REGISTRY_KEY, registries));
    }
    let mut terms = selector.terms.clone();
    for (name, pattern) in added {
        if selector.term(name).is_none() {
            terms.push(Term {
                fact: name.into(),
                wanted: Wanted::Pattern(pattern.into()),
                place: Place::NONE,
                key_place: Place::NONE,
            });
        }
    }
    terms.sort_by(|a, b| a.fact.cmp(&b.fact));
    Ok(Selector { terms })
}

/// Refuses a selector that names an unknown fact or wants a value that is neither text nor boolean; the first in the order
/// of the facts' names, as upstream (docs/sylva.md#selectors, #patterns).
pub fn validate(selector: &Selector, library: Library) -> Result<(), String> {
    let extra_keys = selector.term(USE_EXTRA_KEYS).is_some();
    for term in &selector.terms {
        let name = &*term.fact;
        let is_later = name == REGISTRY_KEY && library == Library::WithoutRegistries;
        if !extra_keys && is_later {
            return Err(format!(
                "`{name}` is not a fact that selectors know in the chart's version of sylva-library"
            ));
        }
        if !extra_keys && !SELECTOR_KEYS.contains(&name) {
            return Err(format!("`{name}` is not a fact that selectors know"));
        }
        if let Wanted::Invalid(kind) = term.wanted {
            return Err(format!(
                "`{name}` is {kind} where a string or a boolean is needed"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Library, finalize};

    fn validate(selector: &Selector) -> Result<(), String> {
        super::validate(selector, Library::default())
    }

    use crate::decide::matching::ClusterFacts;
    use crate::decide::matching::tests::{cluster, selector};
    use crate::model::selector::{Selector, Wanted};

    fn texts(selector: &Selector) -> Vec<(String, String)> {
        let text = |wanted: &Wanted| match wanted {
            Wanted::Pattern(pattern) => pattern.to_string(),
            Wanted::Bool(flag) => flag.to_string(),
            Wanted::Invalid(kind) => format!("<{kind}>"),
        };
        let term = |term: &super::Term| (term.fact.to_string(), text(&term.wanted));
        selector.terms.iter().map(term).collect()
    }

    #[test]
    fn version_flavor_and_registry_are_added_in_sorted_order() {
        let written = selector(&[("os", "ubuntu"), ("hardened", "true!")]);
        let finalized = finalize(&written, &cluster("v1.35.6+rke2r1", "cabpr"));
        let expected = [
            ("hardened", "true"),
            ("k8s-flavor", "rke2"),
            ("k8s-version", r"1.35.6\+rke2r1"),
            ("oci-image-registry-key", ".*"),
            ("os", "ubuntu"),
        ];
        let expected = expected.map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(texts(&finalized.unwrap_or_default()), expected);
    }

    #[test]
    fn what_the_user_wrote_wins() {
        let written = selector(&[
            ("k8s-version", "1.30.*"),
            ("k8s-flavor", ""),
            ("oci-image-registry-key", "lab"),
        ]);
        let facts = ClusterFacts {
            autoselect_registries: Some("sylva"),
            ..cluster("v1.31.8", "cabpk")
        };
        let finalized = finalize(&written, &facts).unwrap_or_default();
        assert_eq!(finalized, {
            let mut sorted = written.clone();
            sorted.terms.sort_by(|a, b| a.fact.cmp(&b.fact));
            sorted
        });
        let finalized = finalize(&selector(&[("os", "x")]), &facts).unwrap_or_default();
        let registry = finalized.term("oci-image-registry-key");
        assert_eq!(
            registry.map(|term| &term.wanted),
            Some(&Wanted::Pattern("sylva".into()))
        );
    }

    #[test]
    fn an_unknown_bootstrap_provider_is_refused() {
        let written = selector(&[("k8s-flavor", "talos"), ("k8s-version", "1.30.1")]);
        let refused = finalize(&written, &cluster("v1.30.1", "cabpt"));
        assert_eq!(
            refused,
            Err("no image flavor is known for the bootstrap provider `cabpt`".to_owned())
        );
        assert!(finalize(&written, &ClusterFacts::default()).is_err());
    }

    #[test]
    fn a_version_without_v_keeps_its_text() {
        let finalized = finalize(&selector(&[("os", "ubuntu")]), &cluster("1.31.6", "cabpck"));
        let finalized = finalized.unwrap_or_default();
        let wanted = |name| finalized.term(name).map(|term| term.wanted.clone());
        assert_eq!(
            wanted("k8s-version"),
            Some(Wanted::Pattern("1.31.6".into()))
        );
        assert_eq!(wanted("k8s-flavor"), Some(Wanted::Pattern("ck8s".into())));
    }

    #[test]
    fn unknown_facts_need_the_opt_in_whatever_its_value() {
        assert_eq!(
            validate(&selector(&[("os-version", "15.6")])),
            Err("`os-version` is not a fact that selectors know".to_owned())
        );
        for opt_in in ["true!", "false!", "yes"] {
            let written = selector(&[("os-version", "15.6"), ("_use_extra_keys_", opt_in)]);
            assert_eq!(validate(&written), Ok(()), "{opt_in}");
        }
        let written = selector(&[("os-version", "15.6"), ("_use_extra_keys_", "null?")]);
        assert!(validate(&written).is_err());
    }

    #[test]
    fn registries_are_compared_since_sylva_library_0_7() {
        let named = selector(&[("oci-image-registry-key", "lab")]);
        let facts = ClusterFacts {
            autoselect_registries: Some("sylva"),
            library: Library::WithoutRegistries,
            ..cluster("v1.31.8", "cabpk")
        };
        let finalized = finalize(&selector(&[("os", "x")]), &facts).unwrap_or_default();
        assert_eq!(finalized.term("oci-image-registry-key"), None);
        assert!(super::validate(&named, Library::WithoutRegistries).is_err());
        assert_eq!(validate(&named), Ok(()));
    }

    #[test]
    fn a_number_is_refused() {
        assert_eq!(
            validate(&selector(&[("os-release", "a number?")])),
            Err("`os-release` is a number where a string or a boolean is needed".to_owned())
        );
    }
}
