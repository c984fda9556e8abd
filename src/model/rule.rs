//! The table of rules, and the enum of their ids: a misspelled id does not compile.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How much a finding matters.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Deserialize,
    serde::Serialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Not reported.
    Off,
    /// Reported; changes nothing.
    Warning,
    /// Reported; nothing is written and the exit status is 1.
    Error,
}

/// The table of rules, as input of a macro. The columns: name, id, default level, scope, and for a rule with a check its file in
/// `rules`, with the functions for each stage, and its options in brackets. The findings of the other rules are reported by the
/// stages that read and write.
macro_rules! rules {
    ($make:ident) => {
        $make! {
            ArchiveRefused "archive-refused" Error Manifests;
            BundleCycle "bundle-cycle" Error Manifests;
            BundleEmpty "bundle-empty" Error Manifests (bundle_empty: bundle);
            BundleLayout "bundle-layout" Error Manifests;
            BundleUnpinned "bundle-unpinned" Error Manifests;
            BundleUnsupported "bundle-unsupported" Error Manifests;
            CatalogDrift "catalog-drift" Error Values;
            ChecksumByUrl "checksum-by-url" Warning Values (checksum_by_url: cluster);
            ChecksumMalformed "checksum-malformed" Error AnyCluster (checksum_malformed: cluster);
            ChecksumMissing "checksum-missing" Error Values (checksum_missing: cluster);
            ChoiceConflict "choice-conflict" Error Values (choice_conflict: cluster);
            ComponentContract "component-contract" Error Manifests;
            ComponentMismatch "component-mismatch" Error Values (component_mismatch: cluster);
            CompositionFailed "composition-failed" Error Values;
            CompositionUnsupported "composition-unsupported" Error Values;
            CrdOrder "crd-order" Error Manifests (crd_order: bundle);
            DependencyMissing "dependency-missing" Error Manifests;
            DuplicateKey "duplicate-key" Error Values;
            EndpointCollides "endpoint-collides" Error Values (endpoint_collides: cluster);
            EndpointDisagrees "endpoint-disagrees" Error Values (endpoint_disagrees: cluster);
            EndpointMissing "endpoint-missing" Error Values (endpoint_missing: cluster);
            EndpointNotInSubnet "endpoint-not-in-subnet" Error Values (endpoint_not_in_subnet: cluster);
            EndpointSingleHost "endpoint-single-host" Warning Values (endpoint_single_host: cluster);
            ExpressionError "expression-error" Error Values;
            ExpressionOrder "expression-order" Warning Values;
            FactConflict "fact-conflict" Warning Values;
            FileNotOwned "file-not-owned" Error Values;
            FormatMissing "format-missing" Error Values (format_missing: cluster);
            FormatUnsupported "format-unsupported" Error AnyCluster (format_unsupported: cluster);
            HostsShort "hosts-short" Error Values (hosts_short: cluster);
            ImageIncomplete "image-incomplete" Error Values;
            ImageNameCollision "image-name-collision" Error Values;
            ImageNameInvalid "image-name-invalid" Error Values (image_name_invalid: cluster);
            ImageNotChosen "image-not-chosen" Error Values (image_not_chosen: cluster);
            ImageNotEnabled "image-not-enabled" Error Values (image_not_enabled: cluster);
            ImageOutdated "image-outdated" Off AnyCluster (image_outdated: cluster [MINORS]);
            ImageReplacedInPlace "image-replaced-in-place" Error Change (image_replaced_in_place: change);
            ImageUnstamped "image-unstamped" Error Manifests;
            ImageUnused "image-unused" Warning Values (image_unused: workspace);
            JudgementRefused "judgement-refused" Error AnyCluster (judgement_refused: cluster);
            K8sFlavorMismatch "k8s-flavor-mismatch" Error AnyCluster (k8s_flavor_mismatch: cluster);
            K8sVersionMismatch "k8s-version-mismatch" Error AnyCluster (k8s_version_mismatch: cluster);
            K8sVersionUnproven "k8s-version-unproven" Error AnyCluster (k8s_version_unproven: cluster);
            KeyMisspelled "key-misspelled" Error Values;
            LockInvalid "lock-invalid" Error Values;
            LockMissingImage "lock-missing-image" Error Values (lock_missing_image: cluster);
            LockStale "lock-stale" Error Values (lock_stale: cluster, workspace);
            LockTampered "lock-tampered" Error Values;
            LockUnused "lock-unused" Warning Values (lock_unused: workspace);
            ManifestInvalid "manifest-invalid" Error Values;
            MatchingDiffers "matching-differs" Warning Values (matching_differs: cluster);
            NamespaceMissing "namespace-missing" Warning Manifests (namespace_missing: bundle);
            NoImageMatches "no-image-matches" Error Values (no_image_matches: cluster);
            NothingChecked "nothing-checked" Error Values;
            ObjectDuplicate "object-duplicate" Error Manifests (object_duplicate: bundle);
            ObjectTooLarge "object-too-large" Error Values;
            OutputPathCollision "output-path-collision" Error Values;
            OutputPathIllegal "output-path-illegal" Error Values;
            OutputSymlink "output-symlink" Error Values;
            ProjectFile "project-file" Error Values;
            ProviderUnknown "provider-unknown" Error Values (provider_unknown: cluster);
            ReferenceDangling "reference-dangling" Error AnyCluster;
            RegistryUnknown "registry-unknown" Error Values (registry_unknown: cluster);
            SelectorKeyUnknown "selector-key-unknown" Error Values (selector_key_unknown: cluster);
            SelectorTooBroad "selector-too-broad" Warning Values (selector_too_broad: cluster);
            SelectorsOverlap "selectors-overlap" Error Values (selectors_overlap: cluster);
            SeveralImagesMatch "several-images-match" Error Values (several_images_match: cluster);
            SignatureInvalid "signature-invalid" Error Values;
            SignatureMissing "signature-missing" Error Values;
            SignatureOtherName "signature-other-name" Error Values;
            SignatureUnchecked "signature-unchecked" Error Values (signature_unchecked: workspace);
            StorageTooSmall "storage-too-small" Error Values (storage_too_small: cluster);
            TagMoved "tag-moved" Error Values;
            TemplateEditedInPlace "template-edited-in-place" Error Change (template_edited_in_place: change);
            TemplateError "template-error" Error Values;
            TemplateUnreferenced "template-unreferenced" Warning Values;
            UnknownImage "unknown-image" Error Values (unknown_image: cluster);
            ValueMissing "value-missing" Error Values (value_missing: workspace);
            ValueSurprising "value-surprising" Warning Values;
            ValueType "value-type" Error Values (value_type: cluster);
            ValuesSchema "values-schema" Error Values;
            VersionDowngrade "version-downgrade" Error Change (version_downgrade: change);
            VersionSkew "version-skew" Error AnyCluster (version_skew: cluster);
            VersionSkip "version-skip" Error Change (version_skip: change);
            WaiverExpired "waiver-expired" Warning Values;
            WaiverUnused "waiver-unused" Warning Values;
            YamlSyntax "yaml-syntax" Error Values;
        }
    };
}
pub(crate) use rules;

/// Makes the names.
macro_rules! ids {
    ($($rule:ident $id:literal $level:ident $scope:ident $(($($check:tt)*))?;)*) => {
        /// A rule, by its stable id. The order is that of the ids.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "a page of each rule says what it finds")]
        pub enum RuleId {
            $($rule,)*
        }

        impl RuleId {
            /// Every rule, in the order of the ids.
            pub const ALL: &[Self] = &[$(Self::$rule,)*];

            /// The id in kebab case, as people write it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$rule => $id,)*
                }
            }

            /// The level unless the policy says otherwise.
            pub const fn level(self) -> Level {
                match self {
                    $(Self::$rule => Level::$level,)*
                }
            }
        }
    };
}
rules!(ids);

impl RuleId {
    /// Whether it is about the lock or the signatures of what is locked.
    pub fn is_of_lock(self) -> bool {
        let id = self.as_str();
        id.starts_with("lock-") || id.starts_with("signature-")
    }
}

/// A whole number that a rule takes, set beside its level in the project file.
#[derive(Debug)]
pub struct RuleOption {
    /// The key.
    pub name: &'static str,
    /// Its value where the project file does not set it.
    pub default: u32,
    /// What it means, in one line.
    pub meaning: &'static str,
}

/// A text that is the id of no rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRule;

/// `there is no such rule`
impl fmt::Display for NoRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no such rule")
    }
}

impl FromStr for RuleId {
    type Err = NoRule;

    fn from_str(text: &str) -> Result<Self, NoRule> {
        let found = Self::ALL.binary_search_by(|rule| rule.as_str().cmp(text));
        found.map(|index| Self::ALL[index]).map_err(|_| NoRule)
    }
}

/// The id.
impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for RuleId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for RuleId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::{NoRule, RuleId};

    #[test]
    fn the_ids_are_sorted_and_each_one_is_read_again() {
        assert!(RuleId::ALL.is_sorted_by(|a, b| a.as_str() < b.as_str()));
        for rule in RuleId::ALL {
            assert_eq!(rule.as_str().parse(), Ok(*rule));
        }
        assert_eq!("no-such-rule".parse::<RuleId>(), Err(NoRule));
    }
}
