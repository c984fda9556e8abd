//! A selector requires a fact that images do not have.

use capi::image::fact;
use yaml_tree::suggest::did_you_mean;

use crate::decide::matching::{SELECTOR_KEYS, USE_EXTRA_KEYS};
use crate::model::cluster::Pool;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::selector::Selector;
use crate::rules::ClusterInput;

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let cluster = &input.view.cluster;
    for pool in &cluster.pools {
        if let Some(selector) = &pool.choice.selector {
            findings.extend(check_terms(input, &selector.value, Some(pool)));
        }
    }
    for (_, selector) in &cluster.additional_selectors {
        findings.extend(check_terms(input, selector, None));
    }
}

/// The terms of a pool's selector, or of the cluster's own, whose facts nobody knows.
fn check_terms(input: &ClusterInput<'_>, selector: &Selector, pool: Option<&Pool>) -> Vec<Finding> {
    if selector.term(USE_EXTRA_KEYS).is_some() {
        return Vec::new();
    }
    let terms = selector.terms.iter();
    let unknown = terms.filter(|term| !SELECTOR_KEYS.contains(&&*term.fact));
    let findings = unknown.map(|term| {
        let fact = &term.fact;
        let finding = Finding::new(
            RuleId::SelectorKeyUnknown,
            format!("selectors do not know a fact `{fact}`"),
        )
        .with_subject(input.subject(pool))
        .with_label(input.spot(term.key_place), "matches no image");
        match suggest_fact(fact) {
            Some(known) => finding.help(format!("did you mean `{known}`?")),
            None => finding
                .help(format!(
                    "one of `{}`",
                    facts().collect::<Vec<_>>().join("`, `")
                ))
                .help(format!(
                    "for a fact of your own, add `{USE_EXTRA_KEYS}: true` to the selector"
                )),
        }
    });
    findings.collect()
}

/// The keys that are facts of images.
fn facts() -> impl Iterator<Item = &'static str> {
    SELECTOR_KEYS
        .into_iter()
        .filter(|key| !key.starts_with('_'))
}

/// The fact meant by a name that people do write, or by a slip.
fn suggest_fact(written: &str) -> Option<&'static str> {
    match written {
        "os-version" | "release" | "version" => Some(fact::OS_RELEASE),
        _ => did_you_mean(written, facts()),
    }
}

#[cfg(test)]
mod tests {
    use crate::model::rule::RuleId;
    use crate::model::selection::Outcome;
    use crate::testing::Given;

    const ID: RuleId = RuleId::SelectorKeyUnknown;

    fn found(terms: &[(&str, &str)]) -> String {
        let mut given = Given::new();
        given.selects(terms, &Outcome::Invalid("unknown".into()));
        given.found(ID)
    }

    #[test]
    fn sylvas_own_slip_is_known() {
        assert_eq!(
            found(&[("os-version", "15.6")]),
            "selectors do not know a fact `os-version`\n  \
             os-version: 15.6: matches no image\n  help: did you mean `os-release`?\n"
        );
        assert!(found(&[("os_release", "15.6")]).contains("did you mean `os-release`?"));
        assert!(found(&[("hardend", "true")]).contains("did you mean `hardened`?"));
    }

    #[test]
    fn a_fact_of_ones_own_needs_the_opt_in() {
        assert!(found(&[("gpu", "a100")]).contains("add `_use_extra_keys_: true`"));
        assert_eq!(found(&[("gpu", "a100"), ("_use_extra_keys_", "false")]), "");
        assert_eq!(
            found(&[("os", "ubuntu"), ("oci-image-registry-key", "lab")]),
            ""
        );
    }

    #[test]
    fn additional_selectors_are_looked_at_too() {
        let mut given = Given::new();
        let selector = given.selector(&[("os-version", "15.6")]).value;
        given.view.cluster.additional_selectors = vec![("extra".into(), selector)];
        assert!(given.found(ID).contains("did you mean `os-release`?"));
    }
}
