//! The rules: every opinion that metalmark has, one file each.

mod catalog_drift;
mod checksum_by_url;
mod checksum_malformed;
mod checksum_missing;
mod choice_conflict;
mod composition_failed;
mod composition_unsupported;
mod duplicate_key;
mod endpoint_collides;
mod endpoint_disagrees;
mod endpoint_missing;
mod endpoint_not_in_subnet;
mod endpoint_single_host;
mod expression_error;
mod expression_order;
mod fact_conflict;
mod file_not_owned;
mod format_missing;
mod format_unsupported;
mod hosts_short;
mod image_incomplete;
mod image_name_collision;
mod image_name_invalid;
mod image_not_chosen;
mod image_not_enabled;
mod image_replaced_in_place;
mod image_unstamped;
mod image_unused;
mod k8s_flavor_mismatch;
mod k8s_version_mismatch;
mod k8s_version_unproven;
mod lock_invalid;
mod lock_missing_image;
mod lock_stale;
mod lock_unused;
mod manifest_invalid;
mod matching_differs;
mod no_image_matches;
mod object_too_large;
mod output_path_collision;
mod output_path_illegal;
mod output_symlink;
mod project_file;
mod reference_dangling;
mod registry_unknown;
mod selector_key_unknown;
mod selector_too_broad;
mod selectors_overlap;
mod several_images_match;
mod signature_invalid;
mod signature_missing;
mod storage_too_small;
mod tag_moved;
mod template_edited_in_place;
mod template_error;
mod unknown_image;
mod value_missing;
mod value_surprising;
mod value_type;
mod version_downgrade;
mod version_skew;
mod version_skip;
mod waiver_expired;
mod waiver_unused;
mod yaml_syntax;

use std::sync::Arc;

use crate::model::cluster::{Choice, ChoiceLevel, LevelName, Pool, PoolName};
use crate::model::endpoint::{ControlPlaneEndpoint, Endpoint};
use crate::model::finding::{Finding, Level, Subject};
use crate::model::image::{Image, ImageKey, Images, is_oci};
use crate::model::labels::LabelSelector;
use crate::model::lock::{Gap, Lock, is_lockable};
use crate::model::matching::{Outcome, Selection};
use crate::model::place::{Located, Place, Source, Sources, Spot};
use crate::model::workspace::{ClusterView, Settings};
use crate::objects::standing::Manifests;
use crate::providers::{self, Stamp};

/// Every rule, by id. Those that look at nothing themselves tell of what a reader or a target finds.
pub const RULES: &[&dyn Rule] = &[
    &catalog_drift::CatalogDrift,
    &checksum_by_url::ChecksumByUrl,
    &checksum_malformed::ChecksumMalformed,
    &checksum_missing::ChecksumMissing,
    &choice_conflict::ChoiceConflict,
    &composition_failed::CompositionFailed,
    &composition_unsupported::CompositionUnsupported,
    &duplicate_key::DuplicateKey,
    &endpoint_collides::EndpointCollides,
    &endpoint_disagrees::EndpointDisagrees,
    &endpoint_missing::EndpointMissing,
    &endpoint_not_in_subnet::EndpointNotInSubnet,
    &endpoint_single_host::EndpointSingleHost,
    &expression_error::ExpressionError,
    &expression_order::ExpressionOrder,
    &fact_conflict::FactConflict,
    &file_not_owned::FileNotOwned,
    &format_missing::FormatMissing,
    &format_unsupported::FormatUnsupported,
    &hosts_short::HostsShort,
    &image_incomplete::ImageIncomplete,
    &image_name_collision::ImageNameCollision,
    &image_name_invalid::ImageNameInvalid,
    &image_not_chosen::ImageNotChosen,
    &image_not_enabled::ImageNotEnabled,
    &image_replaced_in_place::ImageReplacedInPlace,
    &image_unstamped::ImageUnstamped,
    &image_unused::ImageUnused,
    &k8s_flavor_mismatch::K8sFlavorMismatch,
    &k8s_version_mismatch::K8sVersionMismatch,
    &k8s_version_unproven::K8sVersionUnproven,
    &lock_invalid::LockInvalid,
    &lock_missing_image::LockMissingImage,
    &lock_stale::LockStale,
    &lock_unused::LockUnused,
    &manifest_invalid::ManifestInvalid,
    &matching_differs::MatchingDiffers,
    &no_image_matches::NoImageMatches,
    &object_too_large::ObjectTooLarge,
    &output_path_collision::OutputPathCollision,
    &output_path_illegal::OutputPathIllegal,
    &output_symlink::OutputSymlink,
    &project_file::ProjectFile,
    &reference_dangling::ReferenceDangling,
    &registry_unknown::RegistryUnknown,
    &selector_key_unknown::SelectorKeyUnknown,
    &selector_too_broad::SelectorTooBroad,
    &selectors_overlap::SelectorsOverlap,
    &several_images_match::SeveralImagesMatch,
    &signature_invalid::SignatureInvalid,
    &signature_missing::SignatureMissing,
    &storage_too_small::StorageTooSmall,
    &tag_moved::TagMoved,
    &template_edited_in_place::TemplateEditedInPlace,
    &template_error::TemplateError,
    &unknown_image::UnknownImage,
    &value_missing::ValueMissing,
    &value_surprising::ValueSurprising,
    &value_type::ValueType,
    &version_downgrade::VersionDowngrade,
    &version_skew::VersionSkew,
    &version_skip::VersionSkip,
    &waiver_expired::WaiverExpired,
    &waiver_unused::WaiverUnused,
    &yaml_syntax::YamlSyntax,
];

/// The rule of that id.
pub fn rule(id: &str) -> Option<&'static dyn Rule> {
    RULES
        .binary_search_by(|rule| rule.id().cmp(id))
        .ok()
        .map(|index| RULES[index])
}

/// One opinion. Its file's name, its id, its fixtures' folder and its row in docs/rules.md are the same word.
pub trait Rule: Sync {
    /// The stable kebab-case id.
    fn id(&self) -> &'static str;
    /// One line for tables: the first sentence of the rule's file.
    fn summary(&self) -> &'static str;
    /// What `explain` prints: what it finds, why it matters, a wrong and a right snippet.
    fn explanation(&self) -> &'static str;
    /// The level unless the policy says otherwise.
    fn level(&self) -> Level {
        Level::Error
    }
    /// Looks at one cluster. Rules that the reader applies itself (syntax, duplicates) leave this out.
    fn cluster(&self, _input: &ClusterInput<'_>, _report: &mut dyn FnMut(Finding)) {}
    /// Looks at what all clusters came to.
    fn workspace(&self, _input: &WorkspaceInput<'_>, _report: &mut dyn FnMut(Finding)) {}
    /// Looks at what a change does to a cluster that is on both sides of it.
    fn change(&self, _input: &ChangeInput<'_>, _report: &mut dyn FnMut(Finding)) {}
    /// Looks at manifests that stand in files.
    fn manifests(&self, _input: &Manifests<'_>, _report: &mut dyn FnMut(Finding)) {}
    /// Whether it looks at changes alone, so that a run over one side says nothing of it.
    fn is_of_change(&self) -> bool {
        false
    }
    /// Whether it looks at manifests alone, so that a run over values says nothing of it.
    fn is_of_manifests(&self) -> bool {
        false
    }
}

/// What a rule sees of a cluster before and after a change.
pub struct ChangeInput<'a> {
    /// As it was.
    pub before: Side<'a>,
    /// As it will be.
    pub after: Side<'a>,
    /// The commit that the change starts from, as people quote it.
    pub revision: &'a str,
}

/// One side of a change to a cluster.
pub struct Side<'a> {
    /// The cluster, read and resolved.
    pub view: &'a ClusterView,
    /// What is stamped of each pool's image, in the order of the pools.
    pub stamps: &'a [Option<Stamp>],
    /// The version of the machine templates that the project asks for.
    pub api_version: Option<&'a str>,
}

impl<'a> ChangeInput<'a> {
    /// The pools that are on both sides, by their index before and after.
    pub fn pools(&self) -> Vec<(usize, usize)> {
        let (before, after) = (&self.before.view.cluster, &self.after.view.cluster);
        let was = |pool: &Pool| before.pools.iter().position(|old| old.name == pool.name);
        let after = after.pools.iter().enumerate();
        after
            .filter_map(|(index, pool)| Some((was(pool)?, index)))
            .collect()
    }

    /// The Kubernetes versions of a pool before and after, where both are known.
    pub fn versions(&self, (was, is): (usize, usize)) -> Option<[&'a Located<Arc<str>>; 2]> {
        let (before, after) = (&self.before.view.cluster, &self.after.view.cluster);
        Some([
            before.k8s_version_of(&before.pools[was])?,
            after.k8s_version_of(&after.pools[is])?,
        ])
    }

    /// A place after the change, with its file.
    pub fn spot(&self, place: Place) -> Option<Spot> {
        self.after.view.sources.resolve(place)
    }

    /// A place before the change, with its file as `REVISION:path`.
    pub fn spot_before(&self, place: Place) -> Option<Spot> {
        let spot = self.before.view.sources.resolve(place)?;
        let path = format!("{}:{}", self.revision, spot.source.path);
        let source = Source {
            secret: spot.source.secret,
            ..Source::new(path, spot.source.text.as_str())
        };
        Some(Spot {
            source: Arc::new(source),
            ..spot
        })
    }

    /// The subject of a finding about a pool after the change.
    pub fn subject(&self, pool: usize) -> Subject {
        let cluster = &self.after.view.cluster;
        Subject {
            cluster: Some(cluster.name.to_string()),
            pool: Some(cluster.pools[pool].name.to_string()),
            image: None,
        }
    }
}

/// What a rule sees of one cluster.
pub struct ClusterInput<'a> {
    /// The cluster, read and resolved.
    pub view: &'a ClusterView,
    /// The project's settings.
    pub settings: &'a Settings,
}

/// What a rule sees of the whole.
pub struct WorkspaceInput<'a> {
    /// Every cluster's image use, in cluster order: small, so that memory does not grow with the values.
    pub uses: &'a [ImageUse],
    /// The catalogue that all clusters share, resolved once with the shared layers alone.
    pub images: &'a Images,
    /// The files that the shared catalogue's places point into.
    pub sources: &'a Sources,
    /// The project's settings.
    pub settings: &'a Settings,
    /// Whether any source of image facts is named.
    pub facts_given: bool,
    /// The lock and the files that its places point into, where the project has one.
    pub lock: Option<(&'a Lock, &'a Sources)>,
}

/// What one cluster uses.
#[derive(Clone, Debug)]
pub struct ImageUse {
    /// The cluster.
    pub cluster: Arc<str>,
    /// The image of each pool that came to one.
    pub pools: Vec<(String, ImageKey)>,
    /// The images served for it.
    pub served: Vec<ImageKey>,
    /// Where the digests of its catalogue's images start in the lock.
    pub locked: Vec<u32>,
    /// The images of its catalogue that the lock does not hold, where there is one.
    pub unlocked: Vec<ImageKey>,
}

impl<'a> ClusterInput<'a> {
    /// The pools with what their choices came to.
    pub fn pools(&self) -> impl Iterator<Item = (&'a Pool, &'a Selection)> + use<'a> {
        self.view.cluster.pools.iter().zip(&self.view.selections)
    }

    /// The pools that came to an image of the catalogue, with that image.
    pub fn chosen(&self) -> impl Iterator<Item = (&'a Pool, &'a Image)> + use<'a> {
        let images = &self.view.images;
        self.pools()
            .filter_map(|(pool, selection)| match &selection.outcome {
                Outcome::Image(key) => images.get(key).map(|image| (pool, image)),
                _ => None,
            })
    }

    /// The pools that give `machine_image_url` and the rest themselves, with that URL.
    pub fn explicit(&self) -> impl Iterator<Item = (&'a Pool, &'a Located<Arc<str>>)> + use<'a> {
        self.pools()
            .filter(|(_, selection)| selection.outcome == Outcome::Explicit)
            .filter_map(|(pool, _)| pool.choice.url.as_ref().map(|url| (pool, url)))
    }

    /// The Kubernetes version that a pool's nodes are to run: its own, else the cluster's.
    pub fn k8s_version(&self, pool: &'a Pool) -> Option<&'a Located<Arc<str>>> {
        self.view.cluster.k8s_version_of(pool)
    }

    /// The infrastructure provider's key in the values; Metal3's where none is set.
    pub fn infra(&self) -> &'a str {
        self.view
            .cluster
            .infra_provider
            .as_ref()
            .map_or("capm3", |provider| &provider.value)
    }

    /// What the levels wrote that a pool's choice is inherited from, the strongest first (S26).
    pub fn levels(&self, pool: &'a Pool) -> impl Iterator<Item = &'a ChoiceLevel> + use<'a> {
        let levels = &self.view.cluster.levels;
        levels.iter().rev().filter(|level| match &level.name {
            LevelName::Cluster => true,
            LevelName::ControlPlane => pool.name == PoolName::ControlPlane,
            LevelName::MachineDeploymentDefault => pool.name != PoolName::ControlPlane,
            LevelName::MachineDeployment(name) => {
                matches!(&pool.name, PoolName::MachineDeployment(own) if own == name)
            }
        })
    }

    /// The values' path of a setting: at the strongest level of the pool that wrote it, else where the pool would write it.
    pub fn path(&self, pool: &'a Pool, setting: &str, wrote: impl Fn(&Choice) -> bool) -> String {
        let writer = self.levels(pool).find(|level| wrote(&level.choice));
        let own = match &pool.name {
            PoolName::ControlPlane => LevelName::ControlPlane,
            PoolName::MachineDeployment(name) => LevelName::MachineDeployment(Arc::clone(name)),
        };
        let name = writer.map_or(&own, |level| &level.name);
        format!("{}.{setting}", name.path(self.infra()).join("."))
    }

    /// Whether nodes pull an image from its registry themselves, so that no checksum is stamped (S33).
    pub fn is_pulled(&self, image: &Image) -> bool {
        let template = self.settings.images.url.trim_start();
        let uri = image.uri.as_ref().map_or("", |uri| &uri.value);
        let served = image.facts.text("locations.https").is_some();
        let by_template = is_oci(template) || (template.starts_with("{{ image.uri") && is_oci(uri));
        by_template && !served
    }

    /// What is said of the control plane endpoint, where it came to one.
    pub fn endpoint(&self) -> Option<(&'a ControlPlaneEndpoint, &'a Endpoint)> {
        let found = self.view.cluster.endpoint.as_deref()?;
        Some((found, found.endpoint.as_ref()?))
    }

    /// The labels by which a pool's machines claim hosts; none where the provider makes its machines.
    pub fn host_selector(&self, pool: &Pool) -> Option<LabelSelector> {
        providers::find(self.infra())?.hosts_of(&pool.settings)
    }

    /// Whether `metalmark lock` would learn an image's facts: it has a reference into a registry, and is not locked for it.
    pub fn could_lock(&self, image: &Image) -> bool {
        let holds = |lock: &Lock, uri: &str| lock.get(&image.key, uri).is_some();
        let locked = self.view.lock.as_ref().zip(image.uri.as_ref());
        is_lockable(image) && !locked.is_some_and(|(lock, uri)| holds(lock, &uri.value))
    }

    /// A place with its file.
    pub fn spot(&self, place: Place) -> Option<Spot> {
        self.view.sources.resolve(place)
    }

    /// The subject of a finding about the cluster, or one of its pools.
    pub fn subject(&self, pool: Option<&Pool>) -> Subject {
        Subject {
            cluster: Some(self.view.cluster.name.to_string()),
            pool: pool.map(|pool| pool.name.to_string()),
            image: None,
        }
    }

    /// The subject of a finding about a pool and the image it boots.
    pub fn subject_with(&self, pool: &Pool, image: &str) -> Subject {
        Subject {
            image: Some(image.to_string()),
            ..self.subject(Some(pool))
        }
    }
}

/// The values' path of the catalogue's entry of an image.
pub fn entry_path(image: &Image) -> String {
    if image.built {
        format!("sylva_diskimagebuilder_images.{}", image.artifact)
    } else {
        format!("os_images.{}", image.key)
    }
}

/// What to do where a fact of an image is not known and its registry would tell it.
const LOCK_IT: &str = "ask its registry: `metalmark lock`, and commit the lock";

/// That images are not locked: one finding that lists all their keys. None where there are none.
fn not_locked(
    input: &ClusterInput<'_>,
    rule: &'static str,
    what: &str,
    label: &str,
    gaps: &[Gap<'_>],
) -> Option<Finding> {
    /// Places that are shown; the message has every key.
    const SHOWN: usize = 5;
    let keys: Vec<String> = gaps
        .iter()
        .map(|gap| format!("`{}`", gap.image.key))
        .collect();
    let message = match keys.as_slice() {
        [] => return None,
        [key] => format!("{what} image {key}"),
        keys => format!("{what} {} images: {}", keys.len(), keys.join(", ")),
    };
    let mut finding = Finding::new(rule, message).about(input.subject(None));
    if let [gap] = gaps {
        finding.subject.image = Some(gap.image.key.to_string());
    }
    for gap in gaps.iter().take(SHOWN) {
        finding = finding.at(input.spot(gap.image.place), label);
        if let Some(locked) = gap.locked.last() {
            finding = finding.at(input.spot(locked.reference.place), "locked for this one");
        }
    }
    Some(finding.help("run `metalmark lock` and commit the lock"))
}

/// A selector's term that matches this value and no other, to be pasted into YAML.
pub fn exact_term(fact: &str, value: &str) -> String {
    let pattern: String = value
        .chars()
        .flat_map(|letter| {
            let literal = letter.is_alphanumeric() || matches!(letter, '-' | '_' | '/' | ':' | ' ');
            (!literal).then_some('\\').into_iter().chain([letter])
        })
        .collect();
    let is_plain = pattern.starts_with(|first: char| first.is_ascii_alphabetic())
        && pattern
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
        && !matches!(
            &*pattern.to_ascii_lowercase(),
            "y" | "n" | "yes" | "no" | "on" | "off" | "null"
        );
    if is_plain {
        format!("{fact}: {pattern}")
    } else {
        format!("{fact}: '{}'", pattern.replace('\'', "''"))
    }
}

#[cfg(test)]
mod tests {
    use super::{RULES, exact_term, rule};

    #[test]
    fn the_table_is_sorted_and_each_id_finds_its_rule() {
        assert!(RULES.is_sorted_by(|a, b| a.id() < b.id()));
        for entry in RULES {
            assert_eq!(rule(entry.id()).map(|found| found.id()), Some(entry.id()));
        }
        assert!(rule("no-such-rule").is_none());
    }

    #[test]
    fn every_rule_explains_itself_with_a_wrong_and_a_right_snippet() {
        for entry in RULES {
            let (id, text) = (entry.id(), entry.explanation());
            assert!(text.len() > 150, "{id} says too little");
            let wrong = text
                .find("\nWrong")
                .map(|at| at + text[at..].find(":\n\n    ").unwrap_or(0));
            let right = text.find("\nRight");
            assert!(
                wrong < right && wrong.is_some(),
                "{id} shows a wrong, then a right snippet"
            );
            assert!(
                text.lines().all(|line| line.chars().count() <= 140),
                "{id} has long lines"
            );
            assert!(
                !entry.summary().ends_with('.') && entry.summary().len() < 110,
                "{id}"
            );
        }
    }

    #[test]
    fn a_term_matches_its_value_alone() {
        assert_eq!(exact_term("os", "ubuntu"), "os: ubuntu");
        assert_eq!(exact_term("os-release", "15.6"), r"os-release: '15\.6'");
        assert_eq!(
            exact_term("k8s-version", "1.31.8+rke2r1"),
            r"k8s-version: '1\.31\.8\+rke2r1'"
        );
        assert_eq!(exact_term("hardened", "true"), "hardened: true");
        assert_eq!(exact_term("os", "on"), "os: 'on'");
        assert_eq!(exact_term("os", "No"), "os: 'No'");
        assert_eq!(exact_term("os", "it's"), r"os: 'it\''s'");
    }
}
