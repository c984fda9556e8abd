//! The rules by name: a misspelled one does not compile.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Makes the names of the rules, sorted by the id that people write.
macro_rules! ids {
    ($($variant:ident = $id:literal,)*) => {
        /// A rule, by its stable id. The order is that of the ids.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "a page of each rule says what it finds")]
        pub enum RuleId {
            $($variant,)*
        }

        impl RuleId {
            /// Every rule, in the order of the ids.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The id in kebab case, as people write it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $id,)*
                }
            }
        }
    };
}

ids! {
    ArchiveRefused = "archive-refused",
    BundleCycle = "bundle-cycle",
    BundleEmpty = "bundle-empty",
    BundleLayout = "bundle-layout",
    BundleUnpinned = "bundle-unpinned",
    BundleUnsupported = "bundle-unsupported",
    CatalogDrift = "catalog-drift",
    ChecksumByUrl = "checksum-by-url",
    ChecksumMalformed = "checksum-malformed",
    ChecksumMissing = "checksum-missing",
    ChoiceConflict = "choice-conflict",
    ComponentContract = "component-contract",
    ComponentMismatch = "component-mismatch",
    CompositionFailed = "composition-failed",
    CompositionUnsupported = "composition-unsupported",
    CrdOrder = "crd-order",
    DependencyMissing = "dependency-missing",
    DuplicateKey = "duplicate-key",
    EndpointCollides = "endpoint-collides",
    EndpointDisagrees = "endpoint-disagrees",
    EndpointMissing = "endpoint-missing",
    EndpointNotInSubnet = "endpoint-not-in-subnet",
    EndpointSingleHost = "endpoint-single-host",
    ExpressionError = "expression-error",
    ExpressionOrder = "expression-order",
    FactConflict = "fact-conflict",
    FileNotOwned = "file-not-owned",
    FormatMissing = "format-missing",
    FormatUnsupported = "format-unsupported",
    HostsShort = "hosts-short",
    ImageIncomplete = "image-incomplete",
    ImageNameCollision = "image-name-collision",
    ImageNameInvalid = "image-name-invalid",
    ImageNotChosen = "image-not-chosen",
    ImageNotEnabled = "image-not-enabled",
    ImageReplacedInPlace = "image-replaced-in-place",
    ImageUnstamped = "image-unstamped",
    ImageUnused = "image-unused",
    K8sFlavorMismatch = "k8s-flavor-mismatch",
    K8sVersionMismatch = "k8s-version-mismatch",
    K8sVersionUnproven = "k8s-version-unproven",
    KeyMisspelled = "key-misspelled",
    LockInvalid = "lock-invalid",
    LockMissingImage = "lock-missing-image",
    LockStale = "lock-stale",
    LockTampered = "lock-tampered",
    LockUnused = "lock-unused",
    ManifestInvalid = "manifest-invalid",
    MatchingDiffers = "matching-differs",
    NamespaceMissing = "namespace-missing",
    NoImageMatches = "no-image-matches",
    NothingChecked = "nothing-checked",
    ObjectDuplicate = "object-duplicate",
    ObjectTooLarge = "object-too-large",
    OutputOrphaned = "output-orphaned",
    OutputPathCollision = "output-path-collision",
    OutputPathIllegal = "output-path-illegal",
    OutputSymlink = "output-symlink",
    ProjectFile = "project-file",
    ProviderUnknown = "provider-unknown",
    ReferenceDangling = "reference-dangling",
    RegistryUnknown = "registry-unknown",
    SelectorKeyUnknown = "selector-key-unknown",
    SelectorTooBroad = "selector-too-broad",
    SelectorsOverlap = "selectors-overlap",
    SeveralImagesMatch = "several-images-match",
    SignatureInvalid = "signature-invalid",
    SignatureMissing = "signature-missing",
    SignatureOtherName = "signature-other-name",
    SignatureUnchecked = "signature-unchecked",
    StorageTooSmall = "storage-too-small",
    TagMoved = "tag-moved",
    TemplateEditedInPlace = "template-edited-in-place",
    TemplateError = "template-error",
    TemplateUnreferenced = "template-unreferenced",
    UnknownImage = "unknown-image",
    ValueMissing = "value-missing",
    ValueSurprising = "value-surprising",
    ValueType = "value-type",
    VersionDowngrade = "version-downgrade",
    VersionSkew = "version-skew",
    VersionSkip = "version-skip",
    WaiverExpired = "waiver-expired",
    WaiverUnused = "waiver-unused",
    YamlSyntax = "yaml-syntax",
}

impl RuleId {
    /// Whether it is about the lock or the signatures of what is locked.
    pub fn is_of_lock(self) -> bool {
        let id = self.as_str();
        id.starts_with("lock-") || id.starts_with("signature-")
    }
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
