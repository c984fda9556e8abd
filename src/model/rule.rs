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

impl Level {
    /// The word for it in reports and settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// The table of rules, as input of a macro. The columns: name, id, default level, scope, and for a rule with a check its file in
/// `rules`, with the functions for each stage, and its options in brackets. A rule without a scope looks at clusters of values and
/// of manifests; one for values only says why. The findings of the rules without a check are reported by the stages that read and
/// write.
macro_rules! rules {
    ($make:ident) => {
        $make! {
            ArchiveRefused "archive-refused" Error Manifests;
            ArtifactOtherImage "artifact-other-image" Error;
            BundleCycle "bundle-cycle" Error Manifests;
            BundleEmpty "bundle-empty" Error Manifests (bundle_empty: bundle);
            BundleLayout "bundle-layout" Error Manifests;
            BundleUnpinned "bundle-unpinned" Error Manifests;
            BundleUnsupported "bundle-unsupported" Error Manifests;
            CatalogDrift "catalog-drift" Error;
            ChecksumBesideOci "checksum-beside-oci" Error (checksum_beside_oci: cluster);
            ChecksumByUrl "checksum-by-url" Warning Values["manifests of Metal3 take checksums from the server, as its own examples do"] (checksum_by_url: cluster);
            ChecksumMalformed "checksum-malformed" Error (checksum_malformed: cluster);
            ChecksumMissing "checksum-missing" Error (checksum_missing: cluster);
            ChecksumOtherFile "checksum-other-file" Error (checksum_other_file: cluster);
            ChoiceConflict "choice-conflict" Error Values["a machine template names its image in one way"] (choice_conflict: cluster);
            ClusterUnlisted "cluster-unlisted" Warning Values["manifests need no list of clusters"];
            ComponentContract "component-contract" Error Manifests;
            ComponentMismatch "component-mismatch" Error (component_mismatch: cluster);
            CompositionFailed "composition-failed" Error;
            CompositionUnsupported "composition-unsupported" Error;
            CrdOrder "crd-order" Error Manifests (crd_order: bundle);
            DependencyMissing "dependency-missing" Error Manifests;
            DuplicateKey "duplicate-key" Error;
            EndpointCollides "endpoint-collides" Error (endpoint_collides: cluster);
            EndpointDisagrees "endpoint-disagrees" Error (endpoint_disagrees: cluster);
            EndpointMissing "endpoint-missing" Error Values["it is about what would be rendered"] (endpoint_missing: cluster);
            EndpointNotInSubnet "endpoint-not-in-subnet" Error Values["subnets are an inventory of values"] (endpoint_not_in_subnet: cluster);
            EndpointReplaced "endpoint-replaced" Warning Change (endpoint_replaced: change);
            EndpointSingleHost "endpoint-single-host" Warning Values["hosts are an inventory of values"] (endpoint_single_host: cluster);
            ExpressionError "expression-error" Error;
            ExpressionOrder "expression-order" Warning;
            FactConflict "fact-conflict" Warning;
            FieldNotInVersion "field-not-in-version" Error Manifests;
            FileNotOwned "file-not-owned" Error;
            FormatDiffers "format-differs" Warning (format_differs: cluster);
            FormatMissing "format-missing" Error (format_missing: cluster);
            FormatUnsupported "format-unsupported" Error (format_unsupported: cluster);
            HostsShort "hosts-short" Error Values["hosts are an inventory of values"] (hosts_short: cluster);
            ImageDisagrees "image-disagrees" Error (image_disagrees: cluster);
            ImageIncomplete "image-incomplete" Error;
            ImageNameCollision "image-name-collision" Error;
            ImageNameInvalid "image-name-invalid" Error Values["it is about names in Sylva's catalog"] (image_name_invalid: cluster);
            ImageNotChosen "image-not-chosen" Error Values["a pool of manifests that names no image is skipped, with the reason"] (image_not_chosen: cluster);
            ImageNotEnabled "image-not-enabled" Error Values["images are enabled in values"] (image_not_enabled: cluster);
            ImageOutdated "image-outdated" Off (image_outdated: cluster [MINORS]);
            ImageReplacedInPlace "image-replaced-in-place" Error Change (image_replaced_in_place: change);
            ImageUnstamped "image-unstamped" Error Manifests;
            ImageUnused "image-unused" Warning (image_unused: workspace);
            InstallImage "install-image" Error Values["an image that is installed from is named in values"] (install_image: cluster);
            JudgmentRefused "judgment-refused" Error (judgment_refused: cluster);
            K8sFlavorMismatch "k8s-flavor-mismatch" Error (k8s_flavor_mismatch: cluster);
            K8sVersionIncomplete "k8s-version-incomplete" Error (k8s_version_incomplete: cluster);
            K8sVersionMap "k8s-version-map" Warning Values["the map is one of values"] (k8s_version_map: cluster);
            K8sVersionMismatch "k8s-version-mismatch" Error (k8s_version_mismatch: cluster, change);
            K8sVersionSuspected "k8s-version-suspected" Warning (k8s_version_suspected: cluster);
            K8sVersionUnproven "k8s-version-unproven" Error (k8s_version_unproven: cluster);
            KeyMisspelled "key-misspelled" Error;
            LockConflict "lock-conflict" Error;
            LockInvalid "lock-invalid" Error;
            LockMissingImage "lock-missing-image" Error Values["the catalog is one of values"] (lock_missing_image: cluster);
            LockStale "lock-stale" Error Values["the catalog is one of values"] (lock_stale: cluster, workspace);
            LockTampered "lock-tampered" Error;
            LockUnused "lock-unused" Warning (lock_unused: workspace);
            ManifestInvalid "manifest-invalid" Error;
            MatchingDiffers "matching-differs" Warning Values["selectors are values"] (matching_differs: cluster);
            NamespaceMissing "namespace-missing" Warning Manifests (namespace_missing: bundle);
            NoImageMatches "no-image-matches" Error Values["selectors are values"] (no_image_matches: cluster);
            NothingChecked "nothing-checked" Error;
            ObjectDuplicate "object-duplicate" Error Manifests (object_duplicate: bundle);
            ObjectTooLarge "object-too-large" Error;
            OsUnsupported "os-unsupported" Error (os_unsupported: cluster);
            OutputPathCollision "output-path-collision" Error;
            OutputPathIllegal "output-path-illegal" Error;
            OutputRemoved "output-removed" Error;
            OutputSymlink "output-symlink" Error;
            ProjectFile "project-file" Error;
            ProvenanceUnproven "provenance-unproven" Error;
            ProviderUnknown "provider-unknown" Error Values["manifests name their providers by their kinds"] (provider_unknown: cluster);
            ReferenceDangling "reference-dangling" Error;
            ReferenceUnpinned "reference-unpinned" Warning (reference_unpinned: cluster);
            RegistryUnknown "registry-unknown" Error Values["registries are values"] (registry_unknown: cluster);
            RemovedInVersion "removed-in-version" Error (removed_in_version: cluster);
            SelectorKeyUnknown "selector-key-unknown" Error Values["selectors are values"] (selector_key_unknown: cluster);
            SelectorTooBroad "selector-too-broad" Warning Values["selectors are values"] (selector_too_broad: cluster);
            SelectorsOverlap "selectors-overlap" Error Values["hosts are an inventory of values"] (selectors_overlap: cluster);
            SeveralImagesMatch "several-images-match" Error Values["selectors are values"] (several_images_match: cluster);
            SignatureInvalid "signature-invalid" Error;
            SignatureMissing "signature-missing" Error;
            SignatureUnchecked "signature-unchecked" Error (signature_unchecked: cluster, workspace);
            StorageTooSmall "storage-too-small" Error Values["images are served by what values set up"] (storage_too_small: cluster);
            TagMoved "tag-moved" Error;
            TemplateEditedInPlace "template-edited-in-place" Error Change (template_edited_in_place: change);
            TemplateError "template-error" Error;
            TemplateUnreferenced "template-unreferenced" Warning;
            UnknownImage "unknown-image" Error Values["keys of images are values"] (unknown_image: cluster);
            ValueMissing "value-missing" Error (value_missing: workspace);
            ValueSurprising "value-surprising" Warning;
            ValueType "value-type" Error (value_type: cluster);
            ValuesSchema "values-schema" Error;
            VersionDowngrade "version-downgrade" Error Change (version_downgrade: change);
            VersionNotInClass "version-not-in-class" Error (version_not_in_class: cluster);
            VersionSkew "version-skew" Error (version_skew: cluster, change);
            VersionSkip "version-skip" Error Change (version_skip: change);
            WaiverExpired "waiver-expired" Warning;
            WaiverUnused "waiver-unused" Warning;
            YamlSyntax "yaml-syntax" Error;
        }
    };
}
pub(crate) use rules;

/// Makes the names.
macro_rules! ids {
    ($($rule:ident $id:literal $level:ident $($scope:ident $([$why:literal])?)? $(($($check:tt)*))?;)*) => {
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
    /// Whether something is not read where it finds an error, so that other findings may follow from that.
    pub fn is_cause(self) -> bool {
        matches!(
            self,
            Self::CompositionFailed
                | Self::KeyMisspelled
                | Self::LockInvalid
                | Self::ProjectFile
                | Self::YamlSyntax
        )
    }

    /// Whether it is about the lock, or the signatures or the origin of what is locked.
    pub fn is_of_lock(self) -> bool {
        let id = self.as_str();
        matches!(self, Self::ArtifactOtherImage | Self::ProvenanceUnproven)
            || id.starts_with("lock-")
            || id.starts_with("signature-")
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
