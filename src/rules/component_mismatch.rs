//! A node pool's component bundle does not fit it.

use std::cell::LazyCell;

use capi::image::{Image, Origin, fact};
use oci_artifacts::{Digest, Reference};
use yaml_tree::suggest::{Words, did_you_mean};

use crate::decide::component_choice::{Mismatch, Wants, mismatches};
use crate::model::checksum::{self, ChecksumKind};
use crate::model::cluster::{ClusterOrigin, Pool};
use crate::model::cluster_view::SelectedPool;
use crate::model::component::{Declared, ENTRY_KEYS, Need, component_fact};
use crate::model::finding::Finding;
use crate::model::lock::is_lockable;
use crate::model::rule::{Level, RuleId};
use crate::model::selection::BundleOutcome;
use crate::model::signing::KEY_PROPERTY;
use crate::rules::ClusterInput;

/// Looks at every component bundle, and at every node pool that selects one.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let view = input.view;
    let names = LazyCell::new(|| Words::new(view.bundles.keys().map(|key| &**key)));
    for bundle in view.bundles.values() {
        find_faults(input, bundle, findings);
    }
    for (
        SelectedPool {
            pool, selection, ..
        },
        outcome,
    ) in input.pools().zip(&view.bundle_outcomes)
    {
        let wants = || Wants::for_pool(&view.cluster, pool, view.selected_image(selection));
        let finding_of = |message: String| {
            Finding::new(RuleId::ComponentMismatch, message)
                .with_subject(input.subject(Some(pool)))
                .with_label(input.spot(pool.bundle.place()), "selected here")
        };
        match outcome {
            BundleOutcome::Nothing => {}
            BundleOutcome::Unknown(name) => {
                let near = names.did_you_mean(name);
                findings.push(no_such_bundle(input, name, near, finding_of));
            }
            BundleOutcome::NoMatch => findings.push(none(input, pool, &wants(), finding_of)),
            BundleOutcome::Several(keys) => {
                let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
                let message = format!("{} component bundles fit: {}", keys.len(), keys.join(", "));
                findings.push(finding_of(message).help(
                    "narrow `component_bundle_selector`, or name one by `component_bundle_key`",
                ));
            }
            BundleOutcome::Bundle(key) => {
                if let Some(bundle) = view.bundles.get(key) {
                    check_bundle(input, pool, bundle, &wants(), &finding_of, findings);
                }
            }
        }
    }
}

fn no_such_bundle(
    input: &ClusterInput<'_>,
    name: &str,
    near: Option<&str>,
    finding_of: impl Fn(String) -> Finding,
) -> Finding {
    if input.view.cluster.origin == ClusterOrigin::Manifests {
        return finding_of(format!(
            "`{name}` is not the reference of a component bundle"
        ))
        .help("name it by a tag or a digest: `REGISTRY/REPOSITORY:v1.34.1`");
    }
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("describe it: `component_bundles: {{{name}: {{uri: oci://…}}}}`"),
    };
    finding_of(format!("`component_bundles` has no `{name}`")).help(help)
}

/// With the reasons against each existing bundle.
fn none(
    input: &ClusterInput<'_>,
    pool: &Pool,
    wants: &Wants<'_>,
    finding_of: impl Fn(String) -> Finding,
) -> Finding {
    /// Bundles that are looked at; more near misses help nobody.
    const SHOWN: usize = 5;
    let mut finding = finding_of(format!("no component bundle fits pool `{}`", pool.name));
    for bundle in input.view.bundles.values().take(SHOWN) {
        let declared = Declared::from_facts(&bundle.facts);
        let against = mismatches(&declared, wants);
        let against: Vec<String> = against
            .iter()
            .map(|it| clause(*it, &declared, wants))
            .collect();
        finding = finding.help(match against.as_slice() {
            [] => format!("`{}` does not match the selector", bundle.key),
            against => format!("`{}` {}", bundle.key, against.join(", ")),
        });
    }
    if input.view.bundles.is_empty() {
        finding.help("`component_bundles` has none")
    } else {
        finding
    }
}

/// What is wrong with the bundle that a pool selects.
fn check_bundle(
    input: &ClusterInput<'_>,
    pool: &Pool,
    bundle: &Image,
    wants: &Wants<'_>,
    finding_of: &impl Fn(String) -> Finding,
    findings: &mut Vec<Finding>,
) {
    let declared = Declared::from_facts(&bundle.facts);
    let key = &bundle.key;
    let is_of_manifests = input.view.cluster.origin == ClusterOrigin::Manifests;
    let placed = |finding: Finding| {
        if bundle.place == pool.bundle.place() {
            return finding;
        }
        finding.with_label(input.spot(bundle.place), "described here")
    };
    for mismatch in mismatches(&declared, wants) {
        let message = format!(
            "component bundle `{key}` {}",
            clause(mismatch, &declared, wants)
        );
        let finding = placed(finding_of(message));
        findings.push(match mismatch {
            Mismatch::VersionUnproven if is_of_manifests => finding
                .unless_set(Level::Warning)
                .help("write the tag that says its version before the digest: `REGISTRY/REPOSITORY:VERSION@sha256:…`")
                .help("or run `metalmark lock`, which reads the version that the artifact is annotated with"),
            Mismatch::VersionUnproven => finding
                .unless_set(Level::Warning)
                .help("say its `k8s_version` in `component_bundles`, or annotate the artifact and run `metalmark lock`"),
            _ if is_of_manifests => finding
                .help("name a bundle that fits, by its tag and digest: `REGISTRY/REPOSITORY:VERSION@sha256:…`"),
            _ => finding.help(
                "name a bundle that fits; `component_bundle_selector: {}` in place of the key takes it from `component_bundles`",
            ),
        });
    }
    // Where the project has a lock, `lock-missing-image` reports what it lacks.
    let is_reported = input.view.lock.is_some() && is_lockable(bundle);
    if !is_reported && !is_pinned(bundle) {
        let finding = placed(finding_of(format!(
            "component bundle `{key}` is not pinned to a digest"
        )));
        findings.push(if is_of_manifests {
            finding
                .unless_set(Level::Warning)
                .help(format!("write its digest behind the tag: `{key}@sha256:…`"))
        } else if is_lockable(bundle) {
            finding.help("run `metalmark lock` and commit the lock")
        } else {
            finding.help("give the tarball's `sha256`")
        });
    }
    if is_of_manifests {
        let message = "no release of Elemental has the field: the API server drops it";
        let finding = finding_of(message.to_owned()).unless_set(Level::Warning);
        findings.push(finding.help("docs/components.md says what brings a bundle to machines"));
    }
    for (message, level) in variables(pool, bundle, &declared) {
        let finding = placed(finding_of(message));
        findings.push(match level {
            Level::Error if is_of_manifests => finding.help("set it in the bundle's `install.env`"),
            Level::Error => {
                let path = input.path(pool, "component_bundle_env", |_| false);
                let own = format!("`{path}: {{NAME: …}}`");
                // One that is named by its reference has no entry.
                finding.help(if bundle.place == pool.bundle.place() {
                    own
                } else {
                    format!("{own}, or `env` of `{key}` in `component_bundles`")
                })
            }
            level => finding.unless_set(level),
        });
    }
}

/// The digests of an entry of `component_bundles` that are none, and the keys that are nearly one of its own: others are facts for
/// selectors.
fn find_faults(input: &ClusterInput<'_>, bundle: &Image, findings: &mut Vec<Finding>) {
    let written = bundle.facts.iter();
    for (name, fact) in written.filter(|(_, fact)| fact.origin == Origin::Values) {
        let key = name.split('.').next().unwrap_or(name);
        let fault = match key {
            "digest" => {
                let is_digest = Digest::parse(&fact.value).is_ok();
                (!is_digest).then_some("`sha256:` and 64 hex digits")
            }
            fact::SHA256 => {
                let kind = ChecksumKind::from_name(fact::SHA256);
                checksum::fault(&fact.value, kind).map(|_| "64 hex digits")
            }
            _ => None,
        };
        let is_known = ENTRY_KEYS.contains(&key) || **name == *KEY_PROPERTY;
        let near = did_you_mean(key, ENTRY_KEYS.iter().copied()).filter(|_| !is_known);
        let (clause, help) = match (fault, near) {
            (Some(form), _) if !fact.value.is_empty() => (
                format!("has a `{key}` that is no digest"),
                format!("write {form}, or leave it to `metalmark lock`"),
            ),
            (None, Some(near)) => (
                format!("has no key `{key}`"),
                format!("did you mean `{near}`?"),
            ),
            _ => continue,
        };
        let message = format!("component bundle `{}` {clause}", bundle.key);
        let finding = Finding::new(RuleId::ComponentMismatch, message)
            .with_subject(input.subject(None))
            .with_label(input.spot(fact.place), "");
        findings.push(finding.help(help));
    }
}

/// Whether the bytes are known that machines will unpack: the lock has them, or the values say them.
fn is_pinned(bundle: &Image) -> bool {
    let own = bundle.uri.as_ref().map(|uri| Reference::parse(&uri.value));
    let own = own.is_some_and(|reference| reference.is_ok_and(|it| it.digest.is_some()));
    own || bundle.digest.is_some() || bundle.facts.text(fact::SHA256).is_some()
}

/// What is wrong with the variables: needed ones that nobody sets, and set ones that nobody reads.
fn variables(pool: &Pool, bundle: &Image, declared: &Declared) -> Vec<(String, Level)> {
    let Some(known) = &declared.variables else {
        return Vec::new();
    };
    let shared = bundle.facts.iter();
    let shared = shared.filter_map(|(name, _)| name.strip_prefix(component_fact::ENV_VALUE));
    let own = pool.bundle.env.iter().map(|(name, _)| &**name);
    let given: std::collections::BTreeSet<&str> = shared.chain(own).collect();
    let key = &bundle.key;
    let missing = known
        .iter()
        .filter(|(name, need)| **need == Need::Required && !given.contains(&***name));
    let missing = missing.map(|(name, _)| {
        (
            format!("the installer of component bundle `{key}` needs `{name}`"),
            Level::Error,
        )
    });
    let unread = given.iter().filter(|name| !known.contains_key(**name));
    let unread = unread.map(|name| {
        (
            format!("the installer of component bundle `{key}` declares no `{name}`"),
            Level::Warning,
        )
    });
    missing.chain(unread).collect()
}

/// The reasons against a bundle, behind its name.
fn clause(mismatch: Mismatch, declared: &Declared, wants: &Wants<'_>) -> String {
    let list = |items: Vec<String>| items.join(", ");
    let or = |text: Option<&str>| text.unwrap_or("?").to_owned();
    match mismatch {
        Mismatch::Version => format!(
            "holds Kubernetes `{}`, not `{}`",
            or(declared.k8s_version.as_deref()),
            or(wants.k8s_version)
        ),
        Mismatch::VersionUnproven => "does not say which Kubernetes version it holds".to_owned(),
        Mismatch::Flavor => format!(
            "is made for {}, not for {}",
            or(declared.k8s_flavor.as_deref()),
            or(wants.k8s_flavor)
        ),
        Mismatch::Distro => {
            let distros = declared.distros.iter().map(|distro| format!("`{distro}`"));
            let image = match wants.os_release {
                Some(release) => format!("{} {release}", or(wants.os)),
                None => or(wants.os),
            };
            format!(
                "installs on {}, and the image is `{image}`",
                list(distros.collect())
            )
        }
        Mismatch::Arch => {
            let archs = declared.archs.iter().map(|arch| format!("`{arch}`"));
            format!(
                "runs on {}, and the image is `{}`",
                list(archs.collect()),
                or(wants.arch)
            )
        }
    }
}
