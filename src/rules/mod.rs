//! The rules: every opinion that metalmark has, one file each.

mod archive_refused;
mod bundle_cycle;
mod bundle_empty;
mod bundle_layout;
mod bundle_unpinned;
mod bundle_unsupported;
mod catalog_drift;
mod checksum_by_url;
mod checksum_malformed;
mod checksum_missing;
mod choice_conflict;
mod component_contract;
mod component_mismatch;
mod composition_failed;
mod composition_unsupported;
mod crd_order;
mod dependency_missing;
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
mod input;
mod k8s_flavor_mismatch;
mod k8s_version_mismatch;
mod k8s_version_unproven;
mod key_misspelled;
mod lock_invalid;
mod lock_missing_image;
mod lock_stale;
mod lock_tampered;
mod lock_unused;
mod manifest_invalid;
mod matching_differs;
mod namespace_missing;
mod no_image_matches;
mod nothing_checked;
mod object_duplicate;
mod object_too_large;
mod output_orphaned;
mod output_path_collision;
mod output_path_illegal;
mod output_symlink;
mod project_file;
mod provider_unknown;
mod reference_dangling;
mod registry_unknown;
mod selector_key_unknown;
mod selector_too_broad;
mod selectors_overlap;
mod several_images_match;
mod signature_invalid;
mod signature_missing;
mod signature_other_name;
mod signature_unchecked;
mod storage_too_small;
mod tag_moved;
mod template_edited_in_place;
mod template_error;
mod template_unreferenced;
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

use crate::model::finding::{Finding, Level};
use crate::model::image::Image;
use crate::model::lock::Gap;
use crate::model::rule::RuleId;
use crate::objects::Manifests;
use crate::objects::bundled::Bundle;

pub use input::{ChangeInput, ClusterInput, ImageUse, Reach, Side, WorkspaceInput};
pub use lock_stale::{unproven, without_evidence};
pub use signature_unchecked::{finding as signature_unchecked, unchecked};

/// Every rule, by id. Those that look at nothing themselves tell of what a reader or a target finds.
pub const RULES: &[&dyn Rule] = &[
    &archive_refused::ArchiveRefused,
    &bundle_cycle::BundleCycle,
    &bundle_empty::BundleEmpty,
    &bundle_layout::BundleLayout,
    &bundle_unpinned::BundleUnpinned,
    &bundle_unsupported::BundleUnsupported,
    &catalog_drift::CatalogDrift,
    &checksum_by_url::ChecksumByUrl,
    &checksum_malformed::ChecksumMalformed,
    &checksum_missing::ChecksumMissing,
    &choice_conflict::ChoiceConflict,
    &component_contract::ComponentContract,
    &component_mismatch::ComponentMismatch,
    &composition_failed::CompositionFailed,
    &composition_unsupported::CompositionUnsupported,
    &crd_order::CrdOrder,
    &dependency_missing::DependencyMissing,
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
    &key_misspelled::KeyMisspelled,
    &lock_invalid::LockInvalid,
    &lock_missing_image::LockMissingImage,
    &lock_stale::LockStale,
    &lock_tampered::LockTampered,
    &lock_unused::LockUnused,
    &manifest_invalid::ManifestInvalid,
    &matching_differs::MatchingDiffers,
    &namespace_missing::NamespaceMissing,
    &no_image_matches::NoImageMatches,
    &nothing_checked::NothingChecked,
    &object_duplicate::ObjectDuplicate,
    &object_too_large::ObjectTooLarge,
    &output_orphaned::OutputOrphaned,
    &output_path_collision::OutputPathCollision,
    &output_path_illegal::OutputPathIllegal,
    &output_symlink::OutputSymlink,
    &project_file::ProjectFile,
    &provider_unknown::ProviderUnknown,
    &reference_dangling::ReferenceDangling,
    &registry_unknown::RegistryUnknown,
    &selector_key_unknown::SelectorKeyUnknown,
    &selector_too_broad::SelectorTooBroad,
    &selectors_overlap::SelectorsOverlap,
    &several_images_match::SeveralImagesMatch,
    &signature_invalid::SignatureInvalid,
    &signature_missing::SignatureMissing,
    &signature_other_name::SignatureOtherName,
    &signature_unchecked::SignatureUnchecked,
    &storage_too_small::StorageTooSmall,
    &tag_moved::TagMoved,
    &template_edited_in_place::TemplateEditedInPlace,
    &template_error::TemplateError,
    &template_unreferenced::TemplateUnreferenced,
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
pub fn rule(id: RuleId) -> &'static dyn Rule {
    RULES[id as usize]
}

/// One opinion. Its file's name, its id, its fixtures' folder and its row in docs/rules.md are the same word.
pub trait Rule: Sync {
    /// The stable kebab-case id.
    fn id(&self) -> RuleId;
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
    /// Whether it looks at clusters of manifests too: such rules say nothing of keys of values.
    fn is_of_any_cluster(&self) -> bool {
        false
    }
    /// Looks at what all clusters came to.
    fn workspace(&self, _input: &WorkspaceInput<'_>, _report: &mut dyn FnMut(Finding)) {}
    /// Looks at what a change does to a cluster that is on both sides of it.
    fn change(&self, _input: &ChangeInput<'_>, _report: &mut dyn FnMut(Finding)) {}
    /// Looks at manifests that stand in files.
    fn manifests(&self, _input: &Manifests<'_>, _report: &mut dyn FnMut(Finding)) {}
    /// Looks at a bundle of manifests.
    fn bundle(&self, _input: &Bundle<'_>, _report: &mut dyn FnMut(Finding)) {}
    /// Whether it looks at changes alone, so that a run over one side says nothing of it.
    fn is_of_change(&self) -> bool {
        false
    }
    /// Whether it looks at manifests alone, so that a run over values says nothing of it.
    fn is_of_manifests(&self) -> bool {
        false
    }
}

/// The values' path of the catalog's entry of an image, as the user wrote it.
pub fn entry_path(image: &Image) -> String {
    let name = if image.built {
        &image.artifact
    } else {
        &image.key
    };
    format!("{}.{name}", image.list)
}

/// What to do where a fact of an image is not known and its registry would tell it.
const LOCK_IT: &str = "ask its registry: `metalmark lock`, and commit the lock";

/// That images are not locked: one finding that lists all their keys. None where there are none.
fn not_locked(
    input: &ClusterInput<'_>,
    rule: RuleId,
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
        [key] => format!("{what} {} {key}", gaps[0].what),
        keys if gaps.iter().all(|gap| gap.what == gaps[0].what) => {
            format!(
                "{what} {} {}s: {}",
                keys.len(),
                gaps[0].what,
                keys.join(", ")
            )
        }
        keys => format!("{what} {} artifacts: {}", keys.len(), keys.join(", ")),
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

/// The pattern that matches this value and no other.
pub fn exact_pattern(value: &str) -> String {
    let escaped = value.chars().flat_map(|letter| {
        let literal = letter.is_alphanumeric() || matches!(letter, '-' | '_' | '/' | ':' | ' ');
        (!literal).then_some('\\').into_iter().chain([letter])
    });
    escaped.collect()
}

/// A selector's term that matches this value and no other, to be pasted into YAML.
pub fn exact_term(fact: &str, value: &str) -> String {
    let pattern = exact_pattern(value);
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
    use crate::model::rule::RuleId;

    #[test]
    fn each_id_finds_its_rule() {
        assert_eq!(RULES.len(), RuleId::ALL.len());
        for id in RuleId::ALL {
            assert_eq!(rule(*id).id(), *id);
        }
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
