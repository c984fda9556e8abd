//! A change takes a control plane past a Kubernetes minor.

use capi::image::fact;

use crate::model::cluster::PoolName;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::version::Version;
use crate::rules::ChangeInput;
use crate::rules::change_input::PoolPair;

/// Looks at the control plane on both sides.
pub(super) fn change(input: &ChangeInput<'_>, findings: &mut Vec<Finding>) {
    let is_control_plane = |pair: &PoolPair<'_>| pair.after.pool.name == PoolName::ControlPlane;
    for pair in input.pools().filter(is_control_plane) {
        let Some([was, is]) = pair.versions() else {
            continue;
        };
        let (Some(from), Some(to)) = (Version::parse(&was.value), Version::parse(&is.value)) else {
            continue;
        };
        let skipped = to.minors_passed_from(&from);
        let upgrades = &input.after.view.cluster.upgrades;
        let Some(next) = skipped.first().filter(|_| !upgrades.pass(&skipped)) else {
            continue;
        };
        let message = format!(
            "the control plane would go from Kubernetes `{}` to `{}`, past {}",
            was.value,
            is.value,
            join_minors(&skipped)
        );
        let finding = Finding::new(RuleId::VersionSkip, message)
            .with_subject(input.subject(pair.after.pool))
            .with_label(input.spot(is.place), "this version is required")
            .with_label(input.spot_before(was.place), "this one runs");
        findings.push(finding.help(advice(input, next)));
    }
}

/// What to do first, with the newest image of the catalog that serves for it.
fn advice(input: &ChangeInput<'_>, next: &str) -> String {
    let step = Version::parse(next);
    let fits = |version: &Version| {
        let step = step.as_ref();
        step.is_some_and(|step| (step.major, step.minor) == (version.major, version.minor))
    };
    let images = input.after.view.images.values();
    let newest = images
        .filter_map(|image| {
            let version = Version::parse(image.facts.text(fact::K8S_VERSION)?)?;
            fits(&version).then_some((version, &image.key))
        })
        .max();
    match newest {
        Some((version, key)) => {
            format!("go to {next} first, in a change of its own: image `{key}` holds `{version}`")
        }
        None => format!("go to {next} first, in a change of its own"),
    }
}

fn join_minors(minors: &[String]) -> String {
    match minors {
        [one] => one.clone(),
        [first, .., last] => format!("{first} to {last}"),
        [] => String::new(),
    }
}
