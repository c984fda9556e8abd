//! A node pool's image holds another Kubernetes version than the pool must run.

use capi::image::{Fact, Image, Origin, fact};
use capi::location::file_name;

use crate::decide::proof;
use crate::decide::replacement::{self, Obstacle};
use crate::model::cluster::{Choice, ClusterOrigin, Installed, Pool, PoolName, UpgradeStep};
use crate::model::cluster_view::SelectedPool;
use crate::model::finding::{Finding, Subject};
use crate::model::judgment::Judgment;
use crate::model::proposal::{Proposal, ProposedChange};
use crate::model::rule::RuleId;
use crate::model::selector::Matching;
use crate::model::version::Version;
use crate::rules::input::Comparison;
use crate::rules::{ChangeInput, ClusterInput};

/// How many images that would fit are worth naming.
const SHOWN: usize = 3;

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    for it in input.pools() {
        findings.extend(install_finding(input, it.pool));
    }
    for it in input.pools() {
        if let Judgment::Mismatched(held) = it.judgment
            && held.origin != Origin::Boot
            && !input.is_brought(it)
            && let Some(of) = input.comparison(it)
        {
            let finding = mismatch(input, &of, held);
            findings.push(match input.view.cluster.origin {
                ClusterOrigin::Values => repair(input, &of, held, finding),
                ClusterOrigin::Manifests => manifest_finding(input, &of, held, finding),
            });
        }
    }
}

/// Looks at the image of the control plane at each minor that Cluster API takes it through by itself.
pub(super) fn change(input: &ChangeInput<'_>, findings: &mut Vec<Finding>) {
    let view = input.after.view;
    let versions = [input.before.view, view].map(|view| {
        let version = view.cluster.control_plane_version()?;
        Version::parse(&version.value)
    });
    let [Some(from), Some(to)] = versions else {
        return;
    };
    let passed = to.minors_passed_from(&from);
    let upgrades = &view.cluster.upgrades;
    if upgrades.is_planned || !upgrades.pass(&passed) {
        return;
    }
    let own = view
        .pools()
        .find(|it| it.pool.name == PoolName::ControlPlane);
    for UpgradeStep { version, image } in &upgrades.steps {
        let step = Version::parse(&version.value);
        let minor = step.map(|step| format!("{}.{}", step.major, step.minor));
        if !minor.is_some_and(|minor| passed.contains(&minor)) {
            continue;
        }
        let is_own = |it: &SelectedPool<'_>| {
            let choice = &it.pool.choice;
            let named = choice.url.as_ref().or(choice.name.as_ref());
            named.is_some_and(|named| named.value == image.value)
        };
        let booted = own.filter(is_own);
        let booted = booted.and_then(|it| proof::booted_image(view, it.pool, it.selection));
        let name = file_name(&image.value);
        let facts = booted.map_or_else(
            || view.schemes.facts(name).unwrap_or_default(),
            |booted| booted.facts.into_owned(),
        );
        let held = facts.get(fact::K8S_VERSION);
        let judgment = proof::judge_version(&version.value, held, Matching::Normalized);
        let Judgment::Mismatched(held) = judgment else {
            continue;
        };
        let message = format!(
            "Cluster API takes the control plane through Kubernetes `{}`, and its image `{name}` then holds `{}`",
            version.value, held.value
        );
        findings.push(
            Finding::new(RuleId::K8sVersionMismatch, message)
                .with_subject(Subject::pool(&view.cluster.name, &PoolName::ControlPlane))
                .with_label(input.spot(image.place), "this image is selected here")
                .with_label(input.spot(version.place), "this version is on the way")
                .help("let a patch of the ClusterClass select the image by `builtin.controlPlane.version`"),
        );
    }
}

/// That a pool's machines install another version when they boot, with each statement that does.
fn install_finding(input: &ClusterInput<'_>, pool: &Pool) -> Option<Finding> {
    let wanted = input.view.cluster.k8s_version_of(pool)?;
    let mut others = proof::other_installs(input.view, pool).peekable();
    let first = others.peek()?;
    let message = format!(
        "machines install Kubernetes `{}` when they boot, not `{}`",
        first.version.version, wanted.value
    );
    let finding =
        Finding::new(RuleId::K8sVersionMismatch, message).with_subject(input.subject(Some(pool)));
    let with_label = |finding: Finding, other: &Installed| {
        finding.with_label(
            input.spot(other.text.place),
            format!("`{}`", other.text.value),
        )
    };
    let finding = others.fold(finding, with_label);
    Some(
        finding
            .with_label(input.spot(wanted.place), "this version is required")
            .help(format!("install Kubernetes `{}` there", wanted.value)),
    )
}

/// How the image of a template, or the version of its machines, may be changed.
fn manifest_finding(
    input: &ClusterInput<'_>,
    of: &Comparison<'_>,
    held: &Fact,
    finding: Finding,
) -> Finding {
    let wanted = &of.wanted.value;
    let stamped = of.pool.choice.key.as_ref();
    let image = stamped.and_then(|key| input.view.images.get(&key.value));
    let Some(image) = image else {
        return finding.help(format!(
            "name an image with Kubernetes `{wanted}`, in a machine template of a new name"
        ));
    };
    let holding = proof::holding(&input.view.images, image, wanted, input.settings.matching);
    let (fitting, near): (Vec<_>, Vec<_>) = holding
        .into_iter()
        .partition(|(_, obstacles)| obstacles.is_empty());
    let keys = fitting.iter().map(|(image, _)| &image.key);
    let mut help: Vec<String> = keys
        .map(|key| format!("select `{key}`"))
        .take(SHOWN)
        .collect();
    let or = if help.is_empty() { "" } else { "or " };
    help.push(match replacement_obstacle(wanted, held) {
        None => format!(
            "{or}run `metalmark stamp --rotate --set-version`, which moves the version with the image"
        ),
        Some(why) => format!("`--set-version` does not write `{}`: {why}", held.value),
    });
    let finding = finding.helps(help);
    if fitting.is_empty() {
        near_misses(finding, &near)
    } else {
        finding
    }
}

/// Why the version that an image holds is not written where another one is; none where it may be.
fn replacement_obstacle(wanted: &str, held: &Fact) -> Option<String> {
    match replacement::version_obstacle(wanted, &held.value) {
        _ if held.origin.is_name() => Some(format!("only {} says it", held.origin)),
        obstacle => obstacle.map(|obstacle| format!("it {obstacle}")),
    }
}

/// Names images of the same system that hold the version and must not replace the current one, with the reason.
fn near_misses(finding: Finding, near: &[(&Image, Vec<Obstacle>)]) -> Finding {
    let is_other = |obstacle: &Obstacle| matches!(obstacle, Obstacle::Fact { name, .. } if [fact::OS, fact::K8S_FLAVOR].contains(name));
    let near = near
        .iter()
        .filter(|(_, obstacles)| !obstacles.iter().any(is_other));
    let helps = near.take(SHOWN).map(|(image, obstacles)| {
        let obstacles: Vec<String> = obstacles.iter().map(Obstacle::to_string).collect();
        format!("`{}` is near: it {}", image.key, obstacles.join(", "))
    });
    finding.helps(helps)
}

fn mismatch(input: &ClusterInput<'_>, of: &Comparison<'_>, held: &Fact) -> Finding {
    let (image, wanted) = (of.image, &of.wanted.value);
    let says = format!("its `{}` in {}", fact::K8S_VERSION, held.origin);
    let choice = of.pool.choice.place();
    let elsewhere = Some(held.place).filter(|place| *place != choice);
    let message = format!(
        "image `{image}` holds Kubernetes `{}`, not `{wanted}`",
        held.value
    );
    Finding::new(RuleId::K8sVersionMismatch, message)
        .with_subject(input.subject_with(of.pool, image))
        .with_label(input.spot(choice), "this image is selected here")
        .with_label(input.spot(of.wanted.place), "this version is required")
        .with_label(elsewhere.and_then(|place| input.spot(place)), says)
}

/// Proposes the images that would fit and the version that would, and names the near misses.
fn repair(
    input: &ClusterInput<'_>,
    of: &Comparison<'_>,
    held: &Fact,
    mut finding: Finding,
) -> Finding {
    let pool = of.pool;
    let by_user = |choice: &Choice| {
        let selector = choice.selector.as_ref();
        let term = selector.and_then(|selector| selector.value.term(fact::K8S_VERSION));
        term.is_some_and(|term| term.place.is_known())
    };
    let mut near = Vec::new();
    if by_user(&pool.choice) {
        finding = finding.propose(Some(Proposal {
            text: format!(
                "remove `{}` from the selector: it is filled in from `cluster.k8s_version`",
                fact::K8S_VERSION
            ),
            change: ProposedChange::Term {
                level: input.view.cluster.writer(pool, by_user),
                fact: fact::K8S_VERSION.into(),
                pattern: None,
            },
            fix: None,
        }));
    } else if let Some(chosen) = input.view.images.get(of.image)
        && pool.choice.key.is_some()
    {
        let (images, matching) = (&input.view.images, input.settings.matching);
        let holding = proof::holding(images, chosen, &of.wanted.value, matching);
        let (fitting, others): (Vec<_>, Vec<_>) = holding
            .into_iter()
            .partition(|(_, obstacles)| obstacles.is_empty());
        // Of several candidates a person selects, and for what other clusters share.
        let is_own = input.view.sources.is_own(pool.choice.place().file);
        let is_fix = is_own && fitting.len() == 1;
        for (image, _) in fitting.into_iter().take(SHOWN) {
            finding = finding.propose(Some(input.propose_key(pool, &image.key, is_fix)));
        }
        near = if finding.proposals.is_empty() {
            others
        } else {
            Vec::new()
        };
    }
    near_misses(finding.propose(input.propose_version(pool, held)), &near)
}

#[cfg(test)]
mod tests {
    use crate::model::rule::RuleId;
    use crate::testing::Given;

    const ID: RuleId = RuleId::K8sVersionMismatch;

    fn noble(given: &mut Given, key: &str, version: &str) {
        given.image(
            key,
            &[
                ("k8s-version", version),
                ("k8s-flavor", "rke2"),
                ("os", "ubuntu"),
            ],
        );
    }

    #[test]
    fn another_version_is_shown_with_the_image_that_fits() {
        let mut given = Given::new();
        noble(&mut given, "noble-1-30-12", "1.30.12+rke2r1");
        noble(&mut given, "noble-1-31-8", "1.31.8+rke2r1");
        given.boots("noble-1-30-12");
        assert_eq!(
            given.found(ID),
            "image `noble-1-30-12` holds Kubernetes `1.30.12+rke2r1`, not `v1.31.8+rke2r1`\n  \
             image_key: noble-1-30-12: this image is selected here\n  \
             k8s_version: v1.31.8+rke2r1: this version is required\n  \
             help: `cluster.capm3.image_key: noble-1-31-8`\n"
        );
        given.boots("noble-1-31-8");
        assert_eq!(given.found(ID), "");
    }

    #[test]
    fn a_pool_is_held_to_its_own_version() {
        let mut given = Given::new();
        noble(&mut given, "noble-1-31-8", "1.31.8+rke2r1");
        let own = given.line("k8s_version", "v1.30.12+rke2r1");
        given.machine_deployment("md0").k8s_version = Some(own);
        given.boots("noble-1-31-8");
        let found = given.found(ID);
        assert!(found.starts_with(
            "image `noble-1-31-8` holds Kubernetes `1.31.8+rke2r1`, not `v1.30.12+rke2r1`"
        ));
        assert_eq!(found.matches("holds Kubernetes").count(), 1);
        assert!(!found.contains("or `cluster.k8s_version"));
    }

    #[test]
    fn a_name_that_contradicts_is_enough() {
        let mut given = Given::new();
        given.image("noble-1-30", &[("name!k8s-version", "1.30")]);
        given.boots("noble-1-30");
        assert!(
            given
                .found(ID)
                .starts_with("image `noble-1-30` holds Kubernetes `1.30`")
        );
        given.boots_url("https://a.b/ubuntu-jammy-plain-rke2-1.26.9.qcow2", &[]);
        assert!(given.found(ID).contains("`1.26.9`"));
        given.boots_url("https://a.b/ubuntu-jammy-plain-rke2-1.31.8.qcow2", &[]);
        assert_eq!(given.found(ID), "");
    }

    #[test]
    fn the_help_for_a_selector_of_another_version_is_to_drop_it() {
        let mut given = Given::new();
        noble(&mut given, "noble-1-30-12", "1.30.12+rke2r1");
        let outcome = crate::model::selection::Outcome::Image("noble-1-30-12".into());
        given.selects(&[("k8s-version", "1.30.*")], &outcome);
        assert!(
            given
                .found(ID)
                .contains("help: remove `k8s-version` from the selector")
        );
    }
}
