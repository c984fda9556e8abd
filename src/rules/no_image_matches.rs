//! No image of the catalog matches a selector.

use capi::image::{ImageKey, Origin, fact};

use crate::decide::matching::{
    IMAGE_KEY, PatternCache, SELECTOR_KEYS, USE_EXTRA_KEYS, candidates, is_pattern,
};
use crate::decide::replacement::{KEPT, version_obstacle};
use crate::model::cluster::{Choice, Pool};
use crate::model::cluster_view::SelectedPool;
use crate::model::finding::Finding;
use crate::model::name::same_value;
use crate::model::proposal::Proposal;
use crate::model::rule::{Level, RuleId};
use crate::model::selection::{Candidate, Difference, Outcome, Selection};
use crate::model::selector::{Matching, Selector, Term, Wanted};
use crate::rules::ClusterInput;

/// Looks at every node pool, and at what is served beside their images.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    check_additional_selectors(input, findings);
    for SelectedPool {
        pool, selection, ..
    } in input.pools()
    {
        match &selection.outcome {
            Outcome::Invalid(reason) if !is_at_fault(&selection.finalized) => {
                findings.push(invalid_selector(input, pool, reason));
                continue;
            }
            Outcome::NoMatch => {}
            _ => continue,
        }
        let finding = Finding::new(RuleId::NoImageMatches, "no image matches the selector")
            .with_subject(input.subject(Some(pool)));
        let finding = labels(input, pool, selection, finding);
        let finding = patterns(selection, finding);
        findings.push(near_misses(input, pool, selection, finding));
    }
}

/// Additional selectors of the image server of which each image is known to differ: they serve nothing.
fn check_additional_selectors(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let images = &input.view.images;
    let patterns = PatternCache::default();
    for (name, selector) in &input.view.cluster.additional_selectors {
        let Some(first) = selector.terms.first().filter(|_| !is_at_fault(selector)) else {
            continue;
        };
        let candidates = candidates(selector, images, Matching::Exact, &patterns);
        // What only a name says, or nothing, another fact may be.
        let is_known = |candidate: &Candidate| {
            let facts = images.get(&candidate.key).map(|image| &image.facts);
            candidate.differs.iter().any(|it| {
                let fact = facts.and_then(|facts| facts.get(&it.fact));
                it.fact == IMAGE_KEY || fact.is_some_and(|fact| fact.origin > Origin::Name)
            })
        };
        let nearest = candidates.iter().min_by_key(|it| it.distance());
        let Some(nearest) = nearest.filter(|_| candidates.iter().all(is_known)) else {
            continue;
        };
        let path = format!("os_image_server_additional_selectors.{name}");
        let message = format!("no image matches `{path}`, so it serves none");
        let finding = Finding::new(RuleId::NoImageMatches, message)
            .with_subject(input.subject(None))
            .unless_set(Level::Warning)
            .with_label(input.spot(first.key_place), "this selector");
        let differences = nearest.differs.iter().map(|it| {
            format!(
                "`{}` has {}, and it wants `{}`",
                nearest.key,
                has(it),
                it.wanted
            )
        });
        // What a cluster writes with a `v` no image has with one.
        let is_prefixed =
            |it: &&Difference| it.fact == fact::K8S_VERSION && it.wanted.starts_with('v');
        let bare = nearest.differs.iter().find(is_prefixed).map(|it| {
            let bare = it.wanted.trim_start_matches('v');
            format!("an image's version has no `v`: `{path}.k8s-version: '{bare}'`")
        });
        findings.push(finding.helps(bare.into_iter().chain(differences)));
    }
}

/// Whether other rules report why the selector was refused: an unknown fact, or a value that is no pattern.
fn is_at_fault(selector: &Selector) -> bool {
    let unknown = |term: &Term| !SELECTOR_KEYS.contains(&&*term.fact);
    let mistyped = |term: &Term| matches!(term.wanted, Wanted::Invalid(_));
    let opted_in = selector.term(USE_EXTRA_KEYS).is_some();
    let mut terms = selector.terms.iter();
    terms.any(|term| mistyped(term) || (!opted_in && unknown(term)))
}

/// A selector that cannot be matched, as in a cluster without a version.
fn invalid_selector(input: &ClusterInput<'_>, pool: &Pool, reason: &str) -> Finding {
    Finding::new(
        RuleId::NoImageMatches,
        format!("the selector cannot be matched: {reason}"),
    )
    .with_subject(input.subject(Some(pool)))
    .with_label(input.spot(pool.choice.place()), "this selector")
}

/// The selector, and the one term of the user's that keeps the nearest image away.
fn labels(
    input: &ClusterInput<'_>,
    pool: &Pool,
    selection: &Selection,
    finding: Finding,
) -> Finding {
    let count = selection.near_misses.compared;
    let finding = finding.with_label(
        input.spot(pool.choice.place()),
        match count {
            0 => "the catalog is empty".to_string(),
            1 => "the catalog's only image differs".to_string(),
            _ => format!("each of the catalog's {count} images differs"),
        },
    );
    let nearest = selection.near_misses.nearest.first();
    let Some([only]) = nearest.map(|candidate| &*candidate.differs) else {
        return finding;
    };
    let place = selection.finalized.term(&only.fact).map(|term| term.place);
    let spot = match place.filter(|place| place.is_known()) {
        Some(place) => input.spot(place),
        None if only.fact == fact::K8S_VERSION => input
            .view
            .cluster
            .k8s_version_of(pool)
            .and_then(|version| input.spot(version.place)),
        None => None,
    };
    finding.with_label(spot, format!("the nearest image has {}", has(only)))
}

/// A pattern that is no regular expression matches nothing, and nobody says so (docs/sylva.md#patterns).
fn patterns(selection: &Selection, mut finding: Finding) -> Finding {
    for term in &selection.finalized.terms {
        let Wanted::Pattern(pattern) = &term.wanted else {
            continue;
        };
        if !is_pattern(pattern) {
            finding = finding.help(format!(
                "fix the pattern of `{}`: `{pattern}` is not a regular expression, or too large for a selector, and matches nothing",
                term.fact
            ));
        }
    }
    finding
}

fn near_misses(
    input: &ClusterInput<'_>,
    pool: &Pool,
    selection: &Selection,
    mut finding: Finding,
) -> Finding {
    for candidate in &selection.near_misses.nearest {
        let key = &candidate.key;
        let proposal = match &*candidate.differs {
            [only] => edit(input, pool, key, only),
            _ => None,
        };
        finding = match proposal {
            Some(proposal) => finding.propose(Some(Proposal {
                text: format!("to boot `{key}`: {}", proposal.text),
                ..proposal
            })),
            None => {
                let facts: Vec<String> = candidate.differs.iter().map(sentence).collect();
                finding.help(format!("`{key}` is near: it has {}", facts.join(", ")))
            }
        };
    }
    finding
}

/// The edit that makes the selector match an image; none where the image lacks the fact, or where the law of replacements
/// forbids it.
fn edit(
    input: &ClusterInput<'_>,
    pool: &Pool,
    key: &ImageKey,
    only: &Difference,
) -> Option<Proposal> {
    let image = input.view.images.get(key)?;
    let has = image.facts.get(&only.fact)?;
    let wrote = |choice: &Choice| {
        let selector = choice.selector.as_ref();
        selector.is_some_and(|selector| selector.value.term(&only.fact).is_some())
    };
    if only.fact == fact::K8S_VERSION && !wrote(&pool.choice) && pool.k8s_version.is_none() {
        return input.propose_version(pool, has);
    }
    let os = image.facts.text(fact::OS);
    let runs = input
        .view
        .cluster
        .k8s_version_of(pool)
        .map(|version| &*version.value);
    let wanted = match &*only.fact {
        fact::K8S_VERSION => runs?,
        _ => &only.wanted,
    };
    may_require(&only.fact, os, wanted, &has.value)
        .then(|| input.propose_term(pool, &only.fact, &has.value, wrote))
}

/// Whether a selector's value of a fact may be replaced by another one: another spelling, a version that may follow, or a fact that
/// does not affect what machines boot.
fn may_require(name: &str, os: Option<&str>, was: &str, is: &str) -> bool {
    // A pattern that matches one text only, or is intended to.
    let was = was.replace(['\\', '(', ')', '^', '$'], "");
    match name {
        _ if was == is => true,
        fact::K8S_VERSION => version_obstacle(&was, is).is_none(),
        _ => !KEPT.contains(&name) || same_value(name, os, &was, is),
    }
}

fn sentence(difference: &Difference) -> String {
    format!("{}, not `{}`", has(difference), difference.wanted)
}

fn has(difference: &Difference) -> String {
    let fact = &difference.fact;
    match &difference.has {
        Some(value) => format!("`{fact}: {value}`"),
        None => format!("no `{fact}`"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::may_require;
    use crate::model::rule::RuleId;
    use crate::model::selection::{Candidate, Difference, NearMisses, Outcome};
    use crate::testing::Given;

    const ID: RuleId = RuleId::NoImageMatches;

    fn candidate(key: &str, differs: &[(&str, &str, Option<&str>)]) -> Candidate {
        Candidate {
            key: key.into(),
            differs: differs
                .iter()
                .map(|(fact, wanted, has)| Difference {
                    fact: (*fact).into(),
                    wanted: (*wanted).into(),
                    has: has.map(str::to_string),
                })
                .collect(),
        }
    }

    fn given(terms: &[(&str, &str)], candidates: &[Candidate]) -> Given {
        let mut given = Given::new();
        given.selects(terms, &Outcome::NoMatch);
        for selection in &mut given.view.selections {
            selection.near_misses = Arc::new(NearMisses {
                compared: candidates.len(),
                nearest: candidates[..candidates.len().min(1)].to_vec(),
            });
        }
        given
    }

    #[test]
    fn the_nearest_image_comes_with_the_one_term_to_change() {
        let near = candidate("noble-a", &[("os-release", r"24\.04", Some("noble"))]);
        let far = candidate(
            "suse-b",
            &[
                ("os", "ubuntu", Some("opensuse")),
                ("os-release", "24.04", Some("15.6")),
            ],
        );
        let mut given = given(&[("os", "ubuntu"), ("os-release", "24.04")], &[near, far]);
        given.image("noble-a", &[("os", "ubuntu"), ("os-release", "noble")]);
        assert_eq!(
            given.found(ID),
            "no image matches the selector\n  \
             os_image_selector: : each of the catalog's 2 images differs\n  \
             os-release: 24.04: the nearest image has `os-release: noble`\n  \
             help: to boot `noble-a`: `cluster.capm3.os_image_selector.os-release: noble`\n"
        );
    }

    #[test]
    fn a_version_that_was_added_is_changed_in_the_cluster() {
        let near = candidate(
            "noble-a",
            &[("k8s-version", "1.31.8\\+rke2r1", Some("1.31.9+rke2r1"))],
        );
        let mut given = given(&[("os", "ubuntu")], &[near]);
        given.image("noble-a", &[("k8s-version", "1.31.9+rke2r1")]);
        let found = given.found(ID);
        assert!(
            found.contains("the catalog's only image differs"),
            "{found}"
        );
        assert!(found.contains("help: to boot `noble-a`: `cluster.k8s_version: v1.31.9+rke2r1`"));
        assert!(found.contains("k8s_version: v1.31.8+rke2r1: the nearest image has"));
    }

    #[test]
    fn a_selector_without_a_version_to_match_says_so() {
        let mut given = Given::new();
        let outcome = Outcome::Invalid("the cluster has no version".into());
        given.selects(&[("os", "ubuntu")], &outcome);
        let found = given.found(ID);
        assert!(found.starts_with("the selector cannot be matched: the cluster has no version\n"));
        given.selects(&[("os-version", "noble")], &outcome);
        assert_eq!(given.found(ID), "");
    }

    #[test]
    fn several_facts_that_differ_are_all_reported() {
        let near = candidate(
            "noble-a",
            &[("hardened", "true", None), ("os", "suse", Some("ubuntu"))],
        );
        let found = given(&[("os", "suse"), ("hardened", "true")], &[near]).found(ID);
        assert!(found.contains(
            "`noble-a` is near: it has no `hardened`, not `true`, `os: ubuntu`, not `suse`"
        ));
    }

    #[test]
    fn a_pattern_that_is_none_is_reported() {
        let found = given(&[("os", "ubuntu(")], &[]).found(ID);
        assert!(found.contains("`ubuntu(` is not a regular expression, or too large for a selector, and matches nothing"));
        assert!(found.contains("the catalog is empty"));
    }

    #[test]
    fn a_selector_may_change_its_spelling_only() {
        let may = |name, was, is| may_require(name, Some("ubuntu"), was, is);
        assert!(may("os-release", r"24\.04", "noble"));
        assert!(may("arch", "x86_64", "amd64"));
        assert!(may("commit-tag", "0.4.11", "0.4.12"));
        assert!(may("k8s-version", r"1.31.8\+rke2r1", "1.31.9+rke2r1"));
        for (name, was, is) in [
            ("os-release", "noble", "jammy"),
            ("hardened", "true", "false"),
            ("k8s-flavor", "kubeadm", "rke2"),
            ("k8s-version", r"1.31.8\+rke2r1", "1.31.7+rke2r1"),
            ("k8s-version", "1.31.*", "1.31.9"),
        ] {
            assert!(!may(name, was, is), "{name}: {was} -> {is}");
        }
    }
}
