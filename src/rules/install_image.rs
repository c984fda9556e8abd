//! The image that a cluster is installed from does not fit it.

use capi::image::{Image, fact};
use capi::providers;

use crate::decide::identity::find_image;
use crate::model::finding::{Finding, Subject};
use crate::model::rule::RuleId;
use crate::model::version::Version;
use crate::rules::{ClusterInput, unbootable};

/// Looks at clusters that name one by `install_image_key`.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let (cluster, images) = (&input.view.cluster, &input.view.images);
    let Some(named) = &cluster.install_image else {
        return;
    };
    let finding = |message: String| {
        let subject = Subject {
            image: Some(named.value.to_string()),
            ..Subject::cluster(&cluster.name)
        };
        Finding::new(RuleId::InstallImage, message)
            .with_subject(subject)
            .with_label(input.spot(named.place), "installed from this image")
    };
    let image = find_image(&named.value, images).and_then(|key| images.get(key));
    let Some(image) = image else {
        let missing = finding(format!("image `{}` is not in the catalog", named.value));
        findings.push(match input.view.names().did_you_mean(&named.value) {
            Some(near) => missing.help(format!("did you mean `{near}`?")),
            None => missing.help(format!("describe it: `os_images.{}`", named.value)),
        });
        return;
    };
    let placed = |finding: Finding, name: &str| {
        let place = image.facts.get(name).map_or(image.place, |fact| fact.place);
        finding.with_label(input.spot(place), "said of it here")
    };
    findings.extend(version_fault(input, image).map(|it| {
        placed(finding(it), fact::K8S_VERSION)
            .help("`install_image_key: …`, an image that installs the cluster's version")
    }));
    findings.extend(format_fault(input, image).map(|it| placed(finding(it), fact::IMAGE_FORMAT)));
}

/// Why an image does not install the version that the cluster is to have.
fn version_fault(input: &ClusterInput<'_>, image: &Image) -> Option<String> {
    let wanted = &input.view.cluster.k8s_version.as_ref()?.value;
    let Some(held) = image.facts.text(fact::K8S_VERSION) else {
        return Some(format!(
            "nothing says which Kubernetes version `{}` installs",
            image.key
        ));
    };
    let versions = Version::parse(held).zip(Version::parse(wanted));
    let is_same = versions.is_some_and(|(held, wanted)| held.admits(&wanted) && !held.is_partial());
    (!is_same).then(|| {
        format!(
            "`{}` installs Kubernetes `{held}`, and the cluster is to have `{wanted}`",
            image.key
        )
    })
}

/// Why the provider's platform does not take an image of that format.
fn format_fault(input: &ClusterInput<'_>, image: &Image) -> Option<String> {
    let provider = providers::find(input.infra())?;
    let kinds = provider
        .data()
        .kinds
        .iter()
        .filter(|kind| kind.is_template());
    let formats: Vec<&str> = kinds
        .flat_map(|kind| kind.formats.iter().copied())
        .collect();
    let found = unbootable(provider, image.facts.text(fact::IMAGE_FORMAT)?, &formats)?;
    Some(found.message)
}
