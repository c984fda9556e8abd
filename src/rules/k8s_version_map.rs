//! The map of Kubernetes versions and the builder's images disagree.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::image::{Fact, Image, Origin, fact};
use yaml_tree::place::Located;

use crate::model::cluster::{LevelName, MappedVersion};
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::model::finding::Finding;
use crate::model::fix::Fix;
use crate::model::judgment::Judgment;
use crate::model::rule::RuleId;
use crate::model::settings::Settings;
use crate::model::version::{Version, flavor_of};
use crate::rules::ClusterInput;
use crate::rules::proposals::like;

/// An image and the version that its artifact says it holds.
struct Held<'a> {
    image: &'a Image,
    fact: &'a Fact,
}

impl<'a> Held<'a> {
    /// An image of a builder and a flavor of which more than the name says the version.
    fn new(image: &'a Image, flavor: &str) -> Option<Self> {
        let fact = image.facts.get(fact::K8S_VERSION)?;
        let is_of_flavor = image.facts.text(fact::K8S_FLAVOR) == Some(flavor);
        (image.built && fact.origin > Origin::Name && is_of_flavor).then_some(Self { image, fact })
    }
}

/// Compares each entry, as it evaluates for the cluster's bootstrap provider, with the images of that provider's flavor.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    compare_all(input, &input.view.cluster.k8s_versions, findings);
}

/// Compares what a map gives to a bootstrap provider alone with the images of its flavor: a map that has the same for a cluster's
/// own is not written for it.
pub(crate) fn compare_version_map(
    view: &ClusterView,
    own: &[MappedVersion],
    settings: &Settings,
) -> Vec<Finding> {
    let input = ClusterInput::new(view, settings);
    let is_own = |entry: &MappedVersion| {
        let mut own = own.iter();
        own.any(|own| own.path == entry.path && own.version.value == entry.version.value)
    };
    let entries = view.cluster.k8s_versions.iter();
    let entries: Vec<_> = entries.filter(|entry| !is_own(entry)).cloned().collect();
    let mut findings = Vec::new();
    compare_all(&input, &entries, &mut findings);
    findings
}

/// The versions that images do not hold: of the map, and of those that the cluster and its pools write themselves, which are no
/// finding of a check, but move with the images in an update. Edits are proposed and not tried.
pub(crate) fn versions_behind(view: &ClusterView, settings: &Settings) -> Vec<Finding> {
    let input = ClusterInput::new(view, settings);
    let mut findings = Vec::new();
    cluster(&input, &mut findings);
    let own = own_versions(&input);
    compare_all(&input, &own, &mut findings);
    let entries = input.view.cluster.k8s_versions.iter().chain(&own);
    findings.extend(entries.filter_map(|entry| find_unproven(&input, entry)));
    findings.into_iter().map(Finding::with_proposals).collect()
}

/// The version that a cluster runs, as an entry of a map.
pub(crate) fn cluster_version(view: &ClusterView) -> Option<MappedVersion> {
    let version = view.cluster.k8s_version.as_ref()?;
    level_version(&LevelName::Cluster, version)
}

/// Whether an image of a flavor that no later release replaces holds the version of an entry.
pub(crate) fn is_held(input: &ClusterInput<'_>, flavor: &str, entry: &MappedVersion) -> bool {
    let version = Version::parse(&entry.version.value);
    images_of(input, flavor, entry)
        .any(|it| Version::parse(&it.fact.value) == version && !input.is_superseded(it.image, None))
}

/// A version that a level writes, as an entry of a map.
fn level_version(level: &LevelName, version: &Located<Arc<str>>) -> Option<MappedVersion> {
    let minor = Version::parse(&version.value)?;
    Some(MappedVersion {
        path: level.path("k8s_version").join("."),
        occurrence: None,
        minor: format!("{}.{}", minor.major, minor.minor).into(),
        version: version.clone(),
    })
}

/// What the cluster and its pools write literally, as entries of a map; not where each pool that runs it boots an image that holds it, as
/// one of an older release does.
fn own_versions(input: &ClusterInput<'_>) -> Vec<MappedVersion> {
    let cluster = &input.view.cluster;
    let of_cluster = cluster.k8s_version.iter();
    let of_pools = { cluster.pools.iter() }
        .filter_map(|pool| Some((pool.name.level(), pool.k8s_version.as_ref()?)));
    let written = of_cluster
        .map(|version| (LevelName::Cluster, version))
        .chain(of_pools);
    let is_held = |version: &Located<Arc<str>>| {
        let runs = |it: &SelectedPool<'_>| {
            cluster
                .k8s_version_of(it.pool)
                .is_some_and(|runs| runs.place == version.place)
        };
        let mut judgments = input.pools().filter(runs).map(|it| it.judgment).peekable();
        judgments.peek().is_some() && judgments.all(|it| matches!(it, Judgment::Proven(_)))
    };
    let entry = |(level, version): (LevelName, &Located<Arc<str>>)| {
        if is_held(version) {
            return None;
        }
        let spot = input.spot(version.place);
        Fix::replace(spot, &version.value, "", "")?;
        level_version(&level, version)
    };
    written.filter_map(entry).collect()
}

fn compare_all(input: &ClusterInput<'_>, entries: &[MappedVersion], findings: &mut Vec<Finding>) {
    let provider = input.view.cluster.bootstrap_provider.as_ref();
    let Some(flavor) = provider.and_then(|provider| flavor_of(&provider.value)) else {
        return;
    };
    for entry in entries {
        let mut held: BTreeMap<&str, Vec<Held<'_>>> = BTreeMap::new();
        for it in images_of(input, flavor, entry) {
            held.entry(&it.fact.value).or_default().push(it);
        }
        let current = Version::parse(&entry.version.value);
        // Where all agree, no release has to be looked up.
        if held.keys().any(|held| Version::parse(held) != current) {
            let let_in = input.let_in(entry);
            let is_compared = |image: &Image| {
                let_in.as_ref().is_none_or(|keys| keys.contains(&image.key))
                    && !input.is_superseded(image, let_in.as_ref())
            };
            held.values_mut()
                .for_each(|images| images.retain(|it| is_compared(it.image)));
            held.retain(|_, images| !images.is_empty());
        }
        let mut versions = held.iter();
        match (versions.next(), versions.next()) {
            (Some((version, images)), None) => {
                findings.extend(compare(input, flavor, entry, version, images));
            }
            (Some(_), Some(_)) => findings.push(disagreement(input, flavor, entry, &held)),
            (None, _) => {}
        }
    }
}

/// The builder's images of an entry's minor and of a flavor of which more than the name says the version.
fn images_of<'a>(
    input: &ClusterInput<'a>,
    flavor: &str,
    entry: &MappedVersion,
) -> impl Iterator<Item = Held<'a>> {
    let minor = Version::parse(&entry.minor);
    let current = Version::parse(&entry.version.value);
    let held = move |image: &'a Image| {
        let held = Held::new(image, flavor)?;
        let version = Version::parse(&held.fact.value)?;
        let (minor, current) = (minor.as_ref()?, current.as_ref()?);
        // What is less than a version agrees with the entry, or with nothing.
        let is_less = version != *current && version.admits(current);
        (minor.admits(&version) && !is_less).then_some(held)
    };
    input.view.images.values().filter_map(held)
}

/// That only names say which version the images of an entry hold, and not that it is the entry's.
fn find_unproven(input: &ClusterInput<'_>, entry: &MappedVersion) -> Option<Finding> {
    let provider = input.view.cluster.bootstrap_provider.as_ref()?;
    let flavor = flavor_of(&provider.value)?;
    let minor = Version::parse(&entry.minor)?;
    let current = Version::parse(&entry.version.value)?;
    let images = input.view.images.values().filter_map(|image| {
        let fact = image.facts.get(fact::K8S_VERSION)?;
        let version = Version::parse(&fact.value)?;
        let is_of_entry = image.built
            && image.facts.text(fact::K8S_FLAVOR) == Some(flavor)
            && minor.admits(&version);
        is_of_entry.then_some((fact.origin.is_name(), version))
    });
    let images: Vec<(bool, Version)> = images.collect();
    let is_known = |(is_name, version): &(bool, Version)| {
        !is_name || !version.is_partial() && version.admits(&current)
    };
    if images.is_empty() || images.iter().any(is_known) {
        return None;
    }
    let message = format!(
        "`{}` is `{}`, and only names say which version the images of it for `{flavor}` hold",
        entry.path, entry.version.value
    );
    let finding = Finding::new(RuleId::K8sVersionMap, message);
    Some(finding.help("lock them before the update: `metalmark lock`"))
}

/// That images are of a minor version newer than those of the map: nothing that is looked up there boots them.
pub(crate) fn find_unmapped(view: &ClusterView) -> Option<Finding> {
    let cluster = &view.cluster;
    let provider = cluster.bootstrap_provider.as_ref()?;
    let flavor = flavor_of(&provider.value)?;
    let entries = cluster.k8s_versions.iter();
    let minors = entries.filter_map(|entry| Some((minor(&entry.minor)?, entry)));
    let (newest, last) = minors.max_by_key(|(minor, _)| *minor)?;
    let images = view.images.values();
    let newer = images.filter_map(|image| {
        let held = Held::new(image, flavor)?;
        let minor = minor(&held.fact.value)?;
        (minor > newest).then_some((minor, held))
    });
    let (next, held) = newer.min_by_key(|(minor, held)| (*minor, &*held.image.key))?;
    let map = last.path.strip_suffix(&*last.minor).unwrap_or(&last.path);
    let entry = format!("{map}{}.{}", next.0, next.1);
    let version = Version::parse(&held.fact.value)?;
    let message = format!(
        "`{entry}` is missing, and there are images of Kubernetes {}.{} for `{flavor}`",
        next.0, next.1
    );
    let finding = Finding::new(RuleId::K8sVersionMap, message).help(format!(
        "add `{entry}`, which is `{}` for `{flavor}`",
        like(&last.version.value, &version)
    ));
    Some(finding)
}

/// The minor version that a version is of.
fn minor(version: &str) -> Option<(u32, u32)> {
    Version::parse(version).map(|version| (version.major, version.minor))
}

/// That all images hold another version than the entry.
fn compare(
    input: &ClusterInput<'_>,
    flavor: &str,
    entry: &MappedVersion,
    version: &str,
    images: &[Held<'_>],
) -> Option<Finding> {
    let (current, path) = (&entry.version.value, &entry.path);
    if Version::parse(current) == Version::parse(version) {
        return None;
    }
    let message =
        format!("`{path}` is `{current}`, and the images of it for `{flavor}` hold `{version}`");
    let finding = Finding::new(RuleId::K8sVersionMap, message)
        .with_subject(input.subject(None))
        .with_label(input.spot(entry.version.place), "this entry");
    let finding = images.first().into_iter().fold(finding, |finding, it| {
        finding.with_label(input.spot(it.image.place), format!("holds `{version}`"))
    });
    let Some(proposal) = input.propose_mapped_version(entry, version) else {
        // What is no expression is the version of each flavor.
        let is_literal = Fix::replace(input.spot(entry.version.place), current, "", "").is_some();
        let is_of_other = |image: &&Image| {
            let of = image.facts.text(fact::K8S_FLAVOR);
            let held = image.facts.text(fact::K8S_VERSION).and_then(Version::parse);
            image.built && of != Some(flavor) && held == Version::parse(current)
        };
        let other = input.view.images.values().find(is_of_other);
        let other = other.filter(|_| is_literal);
        let finding = finding.help(match other {
            Some(_) => format!(
                "give `{flavor}` a version of its own in the entry, by an expression over `cluster.capi_providers.bootstrap_provider`"
            ),
            None => "move the builder or the entry, so that both are of one version".to_owned(),
        });
        return Some(
            match input.find_preventing_image(entry, version).or(other) {
                Some(image) => {
                    let held = image.facts.text(fact::K8S_VERSION).unwrap_or_default();
                    let words = format!("holds `{held}`, which the entry has to stay at");
                    finding.with_label(input.spot(image.place), words)
                }
                None => finding,
            },
        );
    };
    // What the cluster does not run changes nothing for it that could be tried.
    if input.runs(entry) {
        Some(finding.propose(Some(proposal)))
    } else {
        Some(finding.fix(proposal.fix).help(proposal.text))
    }
}

/// That the images do not hold one version, each version with its first image.
fn disagreement(
    input: &ClusterInput<'_>,
    flavor: &str,
    entry: &MappedVersion,
    held: &BTreeMap<&str, Vec<Held<'_>>>,
) -> Finding {
    let versions = held.iter().map(|(version, images)| {
        let builders = images.iter().filter_map(|it| it.image.registry.as_deref());
        let builders: Vec<&str> = builders.collect::<BTreeSet<_>>().into_iter().collect();
        match builders.join(", ") {
            none if none.is_empty() => format!("`{version}`"),
            builders => format!("`{version}` ({builders})"),
        }
    });
    let versions: Vec<String> = versions.collect();
    let message = format!(
        "images of Kubernetes {} for `{flavor}` hold {}, and `{}` is `{}`",
        entry.minor,
        versions.join(" and "),
        entry.path,
        entry.version.value
    );
    let finding = Finding::new(RuleId::K8sVersionMap, message)
        .with_subject(input.subject(None))
        .with_label(
            input.spot(entry.version.place),
            "one version for all of them",
        );
    let firsts = held
        .iter()
        .filter_map(|(version, images)| Some((version, images.first()?)));
    let finding = firsts.fold(finding, |finding, (version, it)| {
        let registry = it.image.registry.as_deref().unwrap_or("its builder");
        let label = format!("`{version}`, of `{registry}`");
        finding.with_label(input.spot(it.image.place), label)
    });
    let mut builders = BTreeSet::new();
    let of_version = |images: &Vec<Held<'_>>| -> BTreeSet<Option<Arc<str>>> {
        images.iter().map(|it| it.image.registry.clone()).collect()
    };
    let mut all = held.values().flat_map(of_version);
    finding.help(match all.find(|builder| !builders.insert(builder.clone())) {
        Some(Some(builder)) => format!("take a release of `{builder}` whose images hold one version"),
        _ => "raise the versions of the builders together, to releases with one version of Kubernetes".to_owned(),
    })
}
