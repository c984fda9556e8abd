//! Sylva's library would select another image, or none.

use std::sync::Arc;

use capi::image::{Image, ImageKey, Origin, fact};

use crate::decide::matching::{PatternCache, candidates};
use crate::model::cluster::{Choice, Pool};
use crate::model::cluster_view::SelectedPool;
use crate::model::finding::Finding;
use crate::model::lock::is_lockable;
use crate::model::rule::{Level, RuleId};
use crate::model::selection::{Outcome, Selection};
use crate::model::selector::Matching;
use crate::rules::{ClusterInput, entry_path};

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    for SelectedPool {
        pool, selection, ..
    } in input.pools()
    {
        let Some(other) = &selection.other_mode else {
            continue;
        };
        let image = selection.image().catalog_key();
        let image = image.and_then(|key| input.view.images.get(key));
        if let Some(image) = image {
            let unsaid = unsaid_facts(selection, image);
            if !unsaid.is_empty() {
                findings.push(unsaid_finding(input, pool, image, &unsaid));
                continue;
            }
            if is_guessed(image) {
                continue;
            }
        }
        let (here, other) = (answer(&selection.outcome), answer(other));
        let message = match input.settings.matching {
            Matching::Normalized => {
                format!("Sylva's own matching resolves to {other}, not to {here}")
            }
            Matching::Exact => {
                format!("matching by version, not by text, would resolve to {other}, not to {here}")
            }
        };
        let finding = Finding::new(RuleId::MatchingDiffers, message)
            .with_subject(input.subject(Some(pool)))
            .with_label(input.spot(pool.choice.place()), "this selector");
        findings.push(match selection.image().catalog_key() {
            Some(key) => {
                let selects = |choice: &Choice| choice.selector.is_some();
                let path = input.path(pool, "image_key", selects);
                finding.help(format!(
                    "`{path}: {key}` in place of the selector means one image to both"
                ))
            }
            None => finding.help("`matching: normalized` in metalmark.yaml"),
        });
    }
}

/// The facts that a selector wants and that only the name of the user's own image says. Of one that no registry has, Sylva learns no
/// more than its entry says.
fn unsaid_facts(selection: &Selection, image: &Image) -> Vec<String> {
    if image.built || is_lockable(image) {
        return Vec::new();
    }
    let (selector, patterns) = (&selection.finalized, PatternCache::default());
    let only = [(Arc::clone(&image.key), image.clone())].into();
    let found = candidates(selector, &only, Matching::Exact, &patterns).into_iter();
    let differs = found.flat_map(|it| it.differs).map(|it| it.fact);
    let is_unsaid = |fact: &String| {
        let known = image.facts.get(fact);
        known.is_none_or(|known| known.origin == Origin::Name)
    };
    differs.filter(is_unsaid).collect()
}

/// That an entry lacks them. What is written for a chart has them as little.
fn unsaid_finding(
    input: &ClusterInput<'_>,
    pool: &Pool,
    image: &Image,
    unsaid: &[String],
) -> Finding {
    let entry = entry_path(image);
    let facts: Vec<String> = unsaid.iter().map(|fact| format!("`{fact}`")).collect();
    let facts = facts.join(", ");
    let message =
        format!("Sylva's own matching resolves to no image: `{entry}` does not say {facts}");
    let finding = Finding::new(RuleId::MatchingDiffers, message)
        .with_subject(input.subject_with(pool, &image.key))
        .with_label(
            input.spot(image.place),
            "only its name says what the selector wants",
        )
        .with_label(input.spot(pool.choice.place()), "this selector")
        .help(format!("add {facts} to `{entry}`, as the image has them"));
    let mut outputs = input.settings.outputs.iter();
    if outputs.any(|output| output.target != MANIFESTS) {
        finding.unless_set(Level::Error)
    } else {
        finding
    }
}

/// The target that needs no chart to find the images.
const MANIFESTS: &str = "manifests";

/// Whether an image's version is known from its name alone: Sylva matches what the artifact says, which is not known here.
fn is_guessed(image: &Image) -> bool {
    let version = image.facts.get(fact::K8S_VERSION);
    version.is_none_or(|version| version.origin == Origin::Name)
}

fn answer(outcome: &Outcome) -> String {
    let named = |keys: &[ImageKey]| {
        let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
        keys.join(", ")
    };
    match outcome {
        Outcome::Image(key) | Outcome::Unknown(key) => format!("`{key}`"),
        Outcome::Several(keys) => format!("{} images ({})", keys.len(), named(keys)),
        Outcome::Disagree { selected, .. } => named(selected),
        Outcome::Invalid(reason) => format!("an error ({reason})"),
        Outcome::NoMatch | Outcome::Nothing | Outcome::Explicit(_) | Outcome::Named(_) => {
            "no image".to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::model::rule::RuleId;
    use crate::model::selection::Outcome;
    use crate::testing::Given;

    #[test]
    fn both_answers_are_reported() {
        let mut given = Given::new();
        given.selects(&[("os", "ubuntu")], &Outcome::Image("noble-a".into()));
        assert_eq!(given.found(RuleId::MatchingDiffers), "");
        given.view.selections[0].other_mode = Some(Outcome::NoMatch);
        assert_eq!(
            given.found(RuleId::MatchingDiffers),
            "Sylva's own matching resolves to no image, not to `noble-a`\n  \
             os_image_selector: : this selector\n  \
             help: `cluster.capm3.image_key: noble-a` in place of the selector means one image to both\n"
        );
    }
}
