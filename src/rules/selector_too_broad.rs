//! A selector may match unintended images.

use std::collections::BTreeSet;

use capi::image::{Image, ImageKey};

use crate::decide::matching::{PatternCache, REGISTRY_KEY, ServerImages};
use crate::model::cluster::Pool;
use crate::model::cluster_view::SelectedPool;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::selector::{Term, Wanted};
use crate::rules::ClusterInput;
use crate::rules::input::ChosenImage;
use crate::rules::proposals::exact_term;

/// Looks at every node pool, and at what is served beside their images.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    spanning_selectors(input, findings);
    for SelectedPool {
        pool, selection, ..
    } in input.pools()
    {
        let Some(selector) = &pool.choice.selector else {
            continue;
        };
        for term in &selector.value.terms {
            if let Wanted::Pattern(pattern) = &term.wanted
                && breaks_out(pattern)
            {
                findings.push(breakout_finding(input, pool, term, pattern));
            }
        }
        let image = selection.image().catalog_key();
        let Some(image) = image.and_then(|key| input.view.images.get(key)) else {
            continue;
        };
        for term in &selection.finalized.terms {
            if let Wanted::Pattern(pattern) = &term.wanted
                && !breaks_out(pattern)
            {
                findings.extend(too_broad(input, ChosenImage { pool, image }, term, pattern));
            }
        }
    }
}

/// Two images of one name that an additional selector serves, from two registries: of two releases of one builder.
fn spanning_selectors(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let cluster = &input.view.cluster;
    let of_registry = |key: &ImageKey| {
        let image = input.view.images.get(key)?;
        Some((image, image.facts.text(REGISTRY_KEY)?))
    };
    for (name, selector) in &cluster.additional_selectors {
        let Some(first) = selector.terms.first() else {
            continue;
        };
        let (images, mode) = (&input.view.images, input.settings.matching);
        let patterns = PatternCache::default();
        let found = ServerImages::find(selector, cluster.library, images, mode, &patterns);
        let found = found.map(ServerImages::into_all).unwrap_or_default();
        let found: Vec<_> = found.iter().filter_map(of_registry).collect();
        let twin = |(image, registry): &(&Image, &str)| {
            let mut others = found.iter();
            others.any(|(other, of)| other.artifact == image.artifact && of != registry)
        };
        let spanned: Vec<_> = found.iter().filter(|it| twin(it)).collect();
        let registries: BTreeSet<&str> = spanned.iter().map(|(_, registry)| *registry).collect();
        let term = selector.term(REGISTRY_KEY);
        if spanned.is_empty() || term.is_some_and(|term| is_naming(term, &registries)) {
            continue;
        }
        let keys: Vec<String> = spanned
            .iter()
            .map(|(it, _)| format!("`{}`", it.key))
            .collect();
        let message = format!(
            "`{name}` serves images of several releases: {}",
            keys.join(", ")
        );
        let path = "os_image_server_additional_selectors";
        let help = registries.into_iter().map(|registry| {
            let term = exact_term(REGISTRY_KEY, registry);
            format!("to serve those of `{registry}`: `{path}.{name}.{term}`")
        });
        let finding = Finding::new(RuleId::SelectorTooBroad, message)
            .with_subject(input.subject(None))
            .with_label(
                input.spot(term.unwrap_or(first).key_place),
                match term {
                    Some(_) => "this matches several registries",
                    None => "this selector names no registry",
                },
            );
        findings.push(finding.helps(help));
    }
}

/// Whether a term names each of these registries: who writes `sylva|sylva-n-1` means both.
fn is_naming(term: &Term, registries: &BTreeSet<&str>) -> bool {
    let pattern = match &term.wanted {
        Wanted::Pattern(pattern) => pattern,
        _ => "",
    };
    let names = pattern.trim_matches(['(', ')']).split('|');
    let names: Vec<String> = names.map(remove_escapes).collect();
    registries
        .iter()
        .all(|registry| names.iter().any(|name| name == registry))
}

fn breakout_finding(input: &ClusterInput<'_>, pool: &Pool, term: &Term, pattern: &str) -> Finding {
    let fact = &term.fact;
    let whole = format!("it is read as `^({pattern})$`");
    Finding::new(
        RuleId::SelectorTooBroad,
        format!("the pattern of `{fact}` breaks out of its parentheses"),
    )
    .with_subject(input.subject(Some(pool)))
    .with_label(input.spot(term.place), whole)
    .help("put the alternatives in one pair of parentheses: `(ubuntu|opensuse)`")
}

/// A pattern that took the selected image without naming what it is.
fn too_broad(
    input: &ClusterInput<'_>,
    chosen: ChosenImage<'_>,
    term: &Term,
    pattern: &str,
) -> Option<Finding> {
    let ChosenImage { pool, image } = chosen;
    let (fact, key) = (&term.fact, &image.key);
    let about = |message| {
        Finding::new(RuleId::SelectorTooBroad, message).with_subject(input.subject_with(pool, key))
    };
    match image.facts.text(fact) {
        None if term.place.is_known() && !fact.starts_with('_') => Some(
            about(format!(
                "`{fact}: {pattern}` matches an image without that fact"
            ))
            .with_label(input.spot(term.place), format!("`{key}` has no `{fact}`"))
            .help(format!(
                "remove `{fact}` from the selector, or say what it must be"
            )),
        ),
        Some(value) if is_literal(pattern) && differs_at_dots(pattern, value) => {
            let place = if term.place.is_known() {
                term.place
            } else {
                input.view.cluster.k8s_version_of(pool)?.place
            };
            Some(
                about(format!(
                    "`{fact}: {pattern}` matches `{value}`: a dot matches any character"
                ))
                .with_label(input.spot(place), format!("`{key}` is `{value}`"))
                .help(format!("`{}`", exact_term(fact, &remove_escapes(pattern)))),
            )
        }
        _ => None,
    }
}

/// Whether a `)` closes the parenthesis that the library puts before the pattern (docs/sylva.md#patterns).
fn breaks_out(pattern: &str) -> bool {
    let (mut depth, mut class, mut escaped) = (0_i32, false, false);
    for c in pattern.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class = true,
            ']' if class => class = false,
            '(' if !class => depth += 1,
            ')' if !class => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return true;
        }
    }
    false
}

/// Whether nothing in a pattern but its dots matches more than itself.
fn is_literal(pattern: &str) -> bool {
    let mut escaped = false;
    pattern.chars().all(|c| {
        let literal = if escaped {
            !c.is_ascii_alphanumeric()
        } else {
            c == '\\' || !"*+?()[]{}|^$".contains(c)
        };
        escaped = !escaped && c == '\\';
        literal
    })
}

/// Whether a value is the pattern's text but for characters where the pattern has a bare dot.
fn differs_at_dots(pattern: &str, value: &str) -> bool {
    let mut pattern = pattern.chars();
    let mut differs = false;
    for letter in value.chars() {
        match pattern.next() {
            Some('.') => differs |= letter != '.',
            Some('\\') if pattern.next() == Some(letter) => {}
            Some(other) if other == letter => {}
            _ => return false,
        }
    }
    differs && pattern.next().is_none()
}

fn remove_escapes(pattern: &str) -> String {
    pattern.replace('\\', "")
}

#[cfg(test)]
mod tests {
    use super::{breaks_out, is_literal};
    use crate::model::rule::RuleId;
    use crate::model::selection::Outcome;
    use crate::testing::Given;

    const ID: RuleId = RuleId::SelectorTooBroad;

    fn found(facts: &[(&str, &str)], terms: &[(&str, &str)]) -> String {
        let mut given = Given::new();
        given.image("noble-a", facts);
        given.selects(terms, &Outcome::Image("noble-a".into()));
        given.found(ID)
    }

    #[test]
    fn a_pattern_that_breaks_out_matches_everything() {
        assert_eq!(
            found(&[("os", "ubuntu")], &[("os", "ubuntu)|(.*")]),
            "the pattern of `os` breaks out of its parentheses\n  \
             os: ubuntu)|(.*: it is read as `^(ubuntu)|(.*)$`\n  \
             help: put the alternatives in one pair of parentheses: `(ubuntu|opensuse)`\n"
        );
        // What else it matches is not reported.
        let missing = found(&[("os", "ubuntu")], &[("hardened", "true)|(.*")]);
        assert_eq!(missing.matches("help:").count(), 1, "{missing}");
        for pattern in ["(a)|(b)", "[)]", "[[)]", r"\)", "a(b(c))d"] {
            assert!(!breaks_out(pattern), "{pattern}");
        }
    }

    #[test]
    fn a_pattern_for_a_fact_that_the_image_lacks_is_reported() {
        assert_eq!(
            found(&[("os", "ubuntu")], &[("hardened", ".*")]),
            "`hardened: .*` matches an image without that fact\n  \
             hardened: .*: `noble-a` has no `hardened`\n  \
             help: remove `hardened` from the selector, or say what it must be\n"
        );
        assert_eq!(found(&[("hardened", "true")], &[("hardened", ".*")]), "");
    }

    #[test]
    fn a_dot_that_matches_another_character_is_reported() {
        let found = |pattern| found(&[("os-release", "1506")], &[("os-release", pattern)]);
        assert!(found("15.6").contains("matches `1506`: a dot matches any character"));
        assert!(found("15.6").contains(r"help: `os-release: '15\.6'`"));
        assert_eq!(found("1506"), "");
        assert_eq!(found("15.60"), "");
        assert!(!is_literal("15.*") && !is_literal(r"\d") && is_literal(r"1\.5\+rke2"));
    }

    #[test]
    fn a_version_in_another_spelling_is_not_too_broad() {
        let facts = [("k8s-version", "1.29.8-rke2r1")];
        assert_eq!(found(&facts, &[("k8s-version", r"1.29.8\+rke2r1")]), "");
    }

    #[test]
    fn an_exact_version_is_not_too_broad() {
        let facts = [("os-release", "15.6"), ("k8s-version", "1.31.8+rke2r1")];
        let terms = [("os-release", "15.6"), ("k8s-version", r"1.31.8\+rke2r1")];
        assert_eq!(found(&facts, &terms), "");
    }
}
