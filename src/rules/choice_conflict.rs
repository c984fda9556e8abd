//! A node pool says in more than one way which image it boots.

use yaml_tree::place::Place;

use crate::decide::identity::Identities;
use crate::decide::replacement;
use crate::model::cluster::{Choice, KEY_NAMES, Pool};
use crate::model::cluster_view::SelectedPool;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::selection::{Outcome, Selection};
use crate::rules::ClusterInput;

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    for SelectedPool {
        pool, selection, ..
    } in input.pools()
    {
        if let Outcome::Disagree { key, selected } = &selection.outcome {
            findings.push(disagreement(input, pool, key, selected));
        } else if ways(&pool.choice).count() > 1 && !agree(input, pool, selection) {
            findings.push(several(input, pool));
        }
    }
}

/// The settings that choose, with their places.
fn ways(choice: &Choice) -> impl Iterator<Item = (&'static str, Place)> {
    let key = choice.key.as_ref().filter(|key| !key.value.is_empty());
    [
        key.map(|key| (choice.key_name, key.place)),
        choice
            .other_key
            .as_ref()
            .map(|key| (KEY_NAMES[1], key.place)),
        choice
            .selector
            .as_ref()
            .map(|selector| ("os_image_selector", selector.place)),
        choice
            .url
            .as_ref()
            .map(|url| ("machine_image_url", url.place)),
        choice.name.as_ref().map(|name| ("image_name", name.place)),
    ]
    .into_iter()
    .flatten()
}

/// Whether the ways are a key, a selector and a name that mean one image.
fn agree(input: &ClusterInput<'_>, pool: &Pool, selection: &Selection) -> bool {
    let Some(key) = selection.image().catalog_key() else {
        return false;
    };
    let (choice, images) = (&pool.choice, &input.view.images);
    let is_same = choice.name.is_none()
        || Identities::new(images)
            .find_by_name(choice, images)
            .as_ref()
            == Some(key);
    choice.url.is_none() && choice.other_key.is_none() && is_same
}

fn several(input: &ClusterInput<'_>, pool: &Pool) -> Finding {
    let names: Vec<String> = ways(&pool.choice)
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    let message = format!("{} each select an image", names.join(" and "));
    let finding =
        Finding::new(RuleId::ChoiceConflict, message).with_subject(input.subject(Some(pool)));
    ways(&pool.choice)
        .fold(finding, |finding, (name, place)| {
            finding.with_label(input.spot(place), format!("`{name}` selects"))
        })
        .help("keep one of them")
}

fn disagreement(
    input: &ClusterInput<'_>,
    pool: &Pool,
    key: &str,
    selected: &[capi::image::ImageKey],
) -> Finding {
    let choice = &pool.choice;
    let selects = match selected {
        [] => "no image".to_string(),
        keys => {
            let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
            keys.join(", ")
        }
    };
    let name = choice.key_name;
    let message = format!("`{name}` names `{key}`, and the selector matches {selects}");
    let place = |place: Option<Place>| input.spot(place.unwrap_or(Place::NONE));
    let finding = Finding::new(RuleId::ChoiceConflict, message)
        .with_subject(input.subject_with(pool, key))
        .with_label(
            place(choice.key.as_ref().map(|key| key.place)),
            "names one image",
        )
        .with_label(
            place(choice.selector.as_ref().map(|selector| selector.place)),
            format!("matches {selects}"),
        );
    let written = |choice: &Choice| choice.selector.is_some();
    let path = input.path(pool, "os_image_selector", written);
    let may_replace = |old: &str, new: &str| {
        let images = &input.view.images;
        let images = images.get(old).zip(images.get(new));
        images.is_none_or(|(old, new)| replacement::obstacles(old, new).is_empty())
    };
    match selected {
        [only] => {
            let moved = may_replace(key, only).then(|| input.propose_key(pool, only, false));
            let finding = finding.propose(moved);
            if may_replace(only, key) {
                finding.help(format!("remove `{path}` to boot `{key}`"))
            } else {
                finding.help(format!(
                    "`{key}` and `{only}` are of different kinds: keep one of the two"
                ))
            }
        }
        _ => finding.help(format!("remove `{path}`: `{name}` says it all")),
    }
}

#[cfg(test)]
mod tests {
    use crate::model::cluster::{Choice, ChoiceLevel, LevelName};
    use crate::model::rule::RuleId;
    use crate::model::selection::Outcome;
    use crate::testing::Given;

    const ID: RuleId = RuleId::ChoiceConflict;

    #[test]
    fn a_key_and_a_name_conflict_unless_they_mean_one_image() {
        for (name, is_found) in [("noble-a", false), ("noble-b", true), ("other", true)] {
            let mut given = Given::new();
            for key in ["noble-a", "noble-b"] {
                given.image(key, &[]);
            }
            let choice = Choice {
                key: Some(given.line("image_key", "noble-a")),
                name: Some(given.line("image_name", name)),
                ..Choice::default()
            };
            given.choose(&choice, &Outcome::Image("noble-a".into()));
            assert_eq!(!given.found(ID).is_empty(), is_found, "{name}");
        }
    }

    #[test]
    fn a_key_and_a_url_conflict() {
        let mut given = Given::new();
        let choice = Choice {
            key: Some(given.line("image_key", "noble-a")),
            url: Some(given.line("machine_image_url", "https://a.b/c")),
            ..Choice::default()
        };
        given.choose(&choice, &Outcome::Image("noble-a".into()));
        assert_eq!(
            given.found(ID),
            "`image_key` and `machine_image_url` each select an image\n  \
             image_key: noble-a: `image_key` selects\n  \
             machine_image_url: https://a.b/c: `machine_image_url` selects\n  \
             help: keep one of them\n"
        );
    }

    #[test]
    fn a_selector_and_a_key_may_mean_one_image() {
        let mut given = Given::new();
        let selector = Choice {
            selector: Some(given.selector(&[("os", "ubuntu")])),
            ..Choice::default()
        };
        let key = Choice {
            key: Some(given.line("image_key", "noble-a")),
            ..Choice::default()
        };
        let both = Choice {
            selector: selector.selector.clone(),
            ..key.clone()
        };
        given.choose(&both, &Outcome::Image("noble-a".into()));
        assert_eq!(given.found(ID), "");
        let level = |name, choice| ChoiceLevel { name, choice };
        given.view.cluster.levels = vec![
            level(LevelName::Cluster, selector),
            level(LevelName::ControlPlane, key),
        ];
        assert_eq!(given.found(ID), "");
    }

    #[test]
    fn a_disagreement_names_both_images() {
        let mut given = Given::new();
        let choice = Choice {
            key: Some(given.line("image_key", "noble-a")),
            selector: Some(given.selector(&[("os", "opensuse")])),
            ..Choice::default()
        };
        let outcome = Outcome::Disagree {
            key: "noble-a".into(),
            selected: vec!["suse-b".into()],
        };
        given.choose(&choice, &outcome);
        let found = given.found(ID);
        assert!(
            found.starts_with("`image_key` names `noble-a`, and the selector matches `suse-b`\n")
        );
        assert!(found.contains("help: `cluster.capm3.image_key: suse-b`"));
    }

    #[test]
    fn an_empty_key_chooses_nothing() {
        let mut given = Given::new();
        let choice = Choice {
            key: Some(given.line("image_key", "")),
            url: Some(given.line("machine_image_url", "https://a.b/c")),
            ..Choice::default()
        };
        given.choose(&choice, &Outcome::Explicit(None));
        assert_eq!(given.found(ID), "");
    }
}
