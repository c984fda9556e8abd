//! A value has a type that the charts do not accept.

use yaml_tree::place::Spot;

use crate::model::finding::{Finding, Subject};
use crate::model::fix::Fix;
use crate::model::rule::RuleId;
use crate::model::selector::{Selector, Wanted};
use crate::rules::ClusterInput;

/// Looks at selectors; other types are checked while reading.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let cluster = &input.view.cluster;
    for pool in &cluster.pools {
        if let Some(selector) = &pool.choice.selector {
            let subject = || input.subject(Some(pool));
            terms(input, &selector.value, Takes::Booleans, subject, findings);
        }
    }
    for (_, selector) in &cluster.additional_selectors {
        let subject = || input.subject(None);
        terms(input, selector, Takes::Texts, subject, findings);
    }
}

/// What the charts take as a term of a selector.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Texts,
    Booleans,
}

fn terms(
    input: &ClusterInput<'_>,
    selector: &Selector,
    takes: Takes,
    subject: impl Fn() -> Subject,
    findings: &mut Vec<Finding>,
) {
    for term in &selector.terms {
        let (kind, expected) = match (&term.wanted, takes) {
            (Wanted::Invalid(kind), Takes::Booleans) => (*kind, "a text, `true` or `false`"),
            (Wanted::Invalid(kind), Takes::Texts) => (*kind, "a text"),
            (Wanted::Bool(_), Takes::Texts) => ("a boolean", "a text"),
            _ => continue,
        };
        let spot = input.spot(term.place);
        let word = spot.as_ref().and_then(Spot::word).map(str::to_owned);
        let text = word.clone().unwrap_or_else(|| "…".to_owned());
        let quoted = format!("{}: \"{text}\"", term.fact);
        let fix = word.and_then(|word| Fix::replace(spot.clone(), &word, &*word, &quoted));
        let message = format!("the selector's `{}` is {kind}, not a pattern", term.fact);
        findings.push(
            Finding::new(RuleId::ValueType, message)
                .with_subject(subject())
                .with_label(spot, format!("{expected} is expected"))
                .help(format!("quote it: `{quoted}`"))
                .fix(fix),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::model::rule::RuleId;
    use crate::model::selection::Outcome;
    use crate::model::selector::Wanted;
    use crate::testing::Given;

    #[test]
    fn a_number_is_to_be_quoted() {
        let mut given = Given::new();
        given.selects(
            &[("os-release", "15.6")],
            &Outcome::Invalid("a number".into()),
        );
        assert_eq!(given.found(RuleId::ValueType), "");
        let pool = &mut given.view.cluster.pools[0];
        let selector = pool.choice.selector.as_mut().expect("it selects");
        selector.value.terms[0].wanted = Wanted::Invalid("a number");
        assert_eq!(
            given.found(RuleId::ValueType),
            "the selector's `os-release` is a number, not a pattern\n  \
             os-release: 15.6: a text, `true` or `false` is expected\n  \
             help: quote it: `os-release: \"15.6\"`\n"
        );
    }
}
