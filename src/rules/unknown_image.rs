//! A node pool names an image that the catalog does not have.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use capi::image::ImageKey;
use yaml_tree::place::Place;

use crate::decide::identity::find_image;
use crate::decide::successor::successor;
use crate::model::cluster::{Choice, ChoiceLevel, Pool};
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::model::finding::Finding;
use crate::model::fix::Fix;
use crate::model::name::{Release, split_registry};
use crate::model::proposal::Proposal;
use crate::model::rule::RuleId;
use crate::model::selection::Outcome;
use crate::model::settings::Settings;
use crate::rules::ClusterInput;

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let mut meant: HashMap<&str, Meant<'_>> = HashMap::new();
    for SelectedPool {
        pool, selection, ..
    } in input.pools()
    {
        let Outcome::Unknown(key) = &selection.outcome else {
            continue;
        };
        let images = &input.view.images;
        let place = pool
            .choice
            .key
            .as_ref()
            .map_or(Place::NONE, |key| key.place);
        let label = match images.len() {
            0 => "the catalog is empty".to_string(),
            1 => "the catalog has one other image".to_string(),
            count => format!("none of the {count} images of the catalog"),
        };
        let finding = Finding::new(
            RuleId::UnknownImage,
            format!("image `{key}` is not in the catalog"),
        )
        .with_subject(input.subject_with(pool, key))
        .with_label(input.spot(place), label);
        let count = meant.len();
        let meant = match meant.entry(&**key) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) if count < MOST_MEANT => *new.insert(meaning(input, key)),
            Entry::Vacant(_) => {
                findings.push(finding.help(NOT_LOOKED_FOR));
                continue;
            }
        };
        findings.push(repair(input, pool, meant, finding));
    }
}

/// For how many keys of a cluster the image that was meant is looked for: each is compared with the whole catalog.
const MOST_MEANT: usize = 50;

const NOT_LOOKED_FOR: &str = "the image that was meant is not looked for: repair other pools of this cluster first, and check again";

/// The image that a key was to name.
#[derive(Clone, Copy)]
enum Meant<'a> {
    Slip(&'a ImageKey),
    Successor(&'a ImageKey),
    Near(&'a str),
    Nothing,
}

fn meaning<'a>(input: &ClusterInput<'a>, key: &str) -> Meant<'a> {
    let images = &input.view.images;
    let known = || images.values().map(|image| &*image.name);
    let named = |meant: &str| find_image(meant, images);
    let is_slip = |meant: &&str| is_slip(key, meant);
    if let Some(meant) = input
        .view
        .names()
        .only_meant(key)
        .filter(is_slip)
        .and_then(named)
    {
        Meant::Slip(meant)
    } else if let Some(next) = successor(key, known()).and_then(named) {
        Meant::Successor(next)
    } else {
        // The chart's key of the same name, of whichever release of the builder.
        let of_registry = known().find(|known| split_registry(known).1 == key);
        let near = of_registry.or_else(|| input.view.names().did_you_mean(key));
        near.map_or(Meant::Nothing, Meant::Near)
    }
}

/// The keys that no pool takes, for each has a stronger one: nothing boots them now, but a pool that is added would. They are
/// no fault, and so no finding of a check; an update moves those that have a successor.
pub(crate) fn keys_without_pool(view: &ClusterView, settings: &Settings) -> Vec<Finding> {
    let input = ClusterInput::new(view, settings);
    let has_key = |choice: &Choice| choice.key.is_some();
    let mut findings = Vec::new();
    for ChoiceLevel { name, choice } in &view.cluster.levels {
        let Some(key) = choice.key.as_ref() else {
            continue;
        };
        let is_known = find_image(&key.value, &view.images).is_some();
        if is_known || !view.cluster.inheriting(name, has_key).is_empty() {
            continue;
        }
        let names = view.images.values().map(|image| &*image.name);
        let Some(next) = successor(&key.value, names) else {
            continue;
        };
        let path = name.path(input.infra()).join(".");
        let line = format!("{path}.{}: {next}", choice.key_name);
        let message = format!("image `{}` is not in the catalog", key.value);
        findings.push(Finding {
            fix: Fix::replace(input.spot(key.place), &key.value, next, line),
            ..Finding::new(RuleId::UnknownImage, message)
        });
    }
    findings
}

/// Proposes the key that was meant, and a registry whose images are left out.
fn repair(input: &ClusterInput<'_>, pool: &Pool, meant: Meant<'_>, finding: Finding) -> Finding {
    let propose = |meant: &ImageKey, before: &str, after: &str| {
        let proposal = input.propose_key(pool, meant, true);
        Some(Proposal {
            text: format!("{before}{}{after}", proposal.text),
            ..proposal
        })
    };
    let finding = match meant {
        Meant::Slip(meant) => finding.propose(propose(meant, "did you mean ", "?")),
        Meant::Successor(next) => finding.propose(propose(next, "", ", which follows it")),
        Meant::Near(near) => finding.help(format!("`{near}` is near")),
        Meant::Nothing => finding,
    };
    let mut registries = input.view.registries.iter();
    match registries.find(|(_, registry)| !registry.enabled) {
        Some((name, off)) => finding
            .with_label(
                input.spot(off.place),
                "images of this registry are left out",
            )
            .help(format!(
                "or `os_images_oci_registries.{name}.enabled: true`"
            )),
        None => finding,
    }
}

/// Words of image names that a correction of a misspelling must not replace.
const WORDS: [&str; 13] = [
    "amd64",
    "arm64",
    "cis",
    "ck8s",
    "fips",
    "hardened",
    "k0s",
    "k3s",
    "kubeadm",
    "openshift",
    "plain",
    "rke2",
    "stig",
];

/// Whether an unknown name may be a misspelling of a known one: it has no word with a meaning that the known one lacks.
fn is_slip(name: &str, meant: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
        words.map(str::to_ascii_lowercase).collect()
    };
    let known = words(meant);
    let means = |word: &String| {
        WORDS.contains(&&**word)
            || Release::read(None, word)
                .version
                .is_some_and(|it| it != *word)
    };
    !words(name)
        .iter()
        .any(|word| means(word) && !known.contains(word))
}

#[cfg(test)]
mod tests {
    use super::is_slip;
    use crate::model::cluster::Choice;
    use crate::model::rule::RuleId;
    use crate::model::selection::Outcome;
    use crate::testing::Given;

    fn names(given: &mut Given, key: &str) {
        let key = given.line("image_key", key);
        let outcome = Outcome::Unknown(std::sync::Arc::clone(&key.value));
        let choice = Choice {
            key: Some(key),
            ..Choice::default()
        };
        given.choose(&choice, &outcome);
    }

    #[test]
    fn a_slip_gets_the_key_that_was_meant() {
        let mut given = Given::new();
        given.image("ubuntu-noble", &[]);
        names(&mut given, "ubuntu-nobel");
        assert_eq!(
            given.found(RuleId::UnknownImage),
            "image `ubuntu-nobel` is not in the catalog\n  \
             image_key: ubuntu-nobel: the catalog has one other image\n  \
             help: did you mean `cluster.capm3.image_key: ubuntu-noble`?\n"
        );
    }

    #[test]
    fn an_empty_catalog_is_said_to_be_empty() {
        let mut given = Given::new();
        names(&mut given, "ubuntu-noble");
        assert!(
            given
                .found(RuleId::UnknownImage)
                .contains("the catalog is empty")
        );
    }

    #[test]
    fn a_slip_changes_no_word_that_means_something() {
        for (name, meant) in [
            (
                "ubuntu-nobel-plain-rke2-1-31-8",
                "ubuntu-noble-plain-rke2-1-31-8",
            ),
            ("ubunto-noble-plane-rke2", "ubuntu-noble-plain-rke2"),
        ] {
            assert!(is_slip(name, meant), "{name}");
        }
        for (name, meant) in [
            ("rocky-cis-1", "rocky-fips-1"),
            ("own-amd64", "own-arm64"),
            ("ubuntu-jammy-1", "ubuntu-gammy-1"),
        ] {
            assert!(!is_slip(name, meant), "{name}");
        }
    }
}
