//! A change takes a control plane past a Kubernetes minor.

use capi::image::fact;

use crate::model::cluster::PoolName;
use crate::model::finding::{Finding, Subject};
use crate::model::rule::RuleId;
use crate::model::version::Version;
use crate::rules::ChangeInput;

/// Looks at the control plane on both sides, a hosted one too.
pub(super) fn change(input: &ChangeInput<'_>, findings: &mut Vec<Finding>) {
    findings.extend(skip(input));
}

fn skip(input: &ChangeInput<'_>) -> Option<Finding> {
    let cluster = &input.after.view.cluster;
    let was = input.before.view.cluster.control_plane_version()?;
    let is = cluster.control_plane_version()?;
    let (from, to) = (Version::parse(&was.value)?, Version::parse(&is.value)?);
    let skipped = to.minors_passed_from(&from);
    let upgrades = &cluster.upgrades;
    let next = skipped.first().filter(|_| !upgrades.pass(&skipped))?;
    let message = format!(
        "the control plane would go from Kubernetes `{}` to `{}`, past {}",
        was.value,
        is.value,
        join_minors(&skipped)
    );
    let finding = Finding::new(RuleId::VersionSkip, message)
        .with_subject(Subject::pool(&cluster.name, &PoolName::ControlPlane))
        .with_label(input.spot(is.place), "this version is required")
        .with_label(input.spot_before(was.place), "this one runs");
    Some(finding.help(advice(input, next)))
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
